#include "tests/support/sourcerig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "loadgen/engine/request.h"

struct source lane_make(const struct load_settings *load, struct lane lane)
{
    struct source s = {.ops = source_for(load)};
    struct err err = {0};

    s.self = xcalloc(1, s.ops->state_size);
    assert_int_equal(s.ops->init(s.self, load, lane, &err), 0);
    return s;
}

struct source source_make(const struct load_settings *load)
{
    return lane_make(load, (struct lane){.worker = 0, .workers = 1});
}

void source_end(struct source *s)
{
    if (s->ops->fini)
        s->ops->fini(s->self);
    free(s->self);
}

void take_at(struct source *s, int64_t seq, int64_t at_ns)
{
    struct due due;

    assert_int_equal(s->ops->peek_ns(s->self), at_ns);
    due = s->ops->take(s->self);
    assert_int_equal(due.seq, seq);
    assert_int_equal(due.at_ns, at_ns);
}

void end_at(struct source *s, int64_t seq, int64_t at_ns)
{
    const struct request r = {.facts.seq = seq};

    s->ops->ended(s->self, &r, at_ns);
}

void assert_nothing_due(struct source *s)
{
    assert_true(s->ops->peek_ns(s->self) == DUE_UNKNOWN);
}

void assert_over(struct source *s)
{
    assert_true(s->ops->peek_ns(s->self) == DUE_NEVER);
}

int64_t *source_draw_all(const struct load_settings *load, int64_t *n,
                         int64_t *due_end_ns)
{
    struct source s = source_make(load);
    int64_t *due = xcalloc(SOURCE_MOST, sizeof(*due));

    for (*n = 0; s.ops->peek_ns(s.self) != DUE_NEVER; (*n)++) {
        assert_true(*n < SOURCE_MOST);
        due[*n] = s.ops->take(s.self).at_ns;
    }
    *due_end_ns = s.ops->due_end_ns(s.self);
    source_end(&s);
    return due;
}
