/* The eye on a probe: what it counts, and when it gives up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/search/eye.h"
#include "analyzer/search/read.h"
#include "common/classes.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/settings.h"

#define START  (2 * NS_PER_S)
#define WINDOW (10 * NS_PER_S)

struct rig {
    struct settings settings;
    struct search_terms terms;
    struct search machine;
    struct search_eye eye;
};

static void rig_init(struct rig *rig, const char *slo)
{
    const struct search_ask ask = {.step = SEARCH_PROBE,
                                   .value = 100,
                                   .window_ns = WINDOW,
                                   .may_end_early = true};
    struct search_config config;
    struct err err = {0};

    settings_init(&rig->settings);
    strlist_add(&rig->settings.slo, slo);
    assert_int_equal(search_terms_of(&rig->settings, &rig->terms, &err), 0);
    config = search_config_of(&rig->settings, &rig->terms);
    search_init(&rig->machine, &config);
    assert_int_equal(search_eye_init(&rig->eye, &rig->machine, &ask,
                                     &rig->terms, &rig->settings.classes, &err),
                     0);
}

static void rig_fini(struct rig *rig)
{
    search_eye_fini(&rig->eye);
    search_fini(&rig->machine);
    settings_fini(&rig->settings);
}

static struct facts answer(int64_t due, int64_t took)
{
    struct facts f = facts_unknown(0, due);

    f.outcome = OUTCOME_OK;
    f.issued = f.sent = due;
    f.head = f.first = f.last = f.end = due + took;
    return f;
}

/* 100/s from before the window to beyond its end, each so slow.  Returns how
 * many were seen when it gave up; 0: it did not. */
static int64_t feed(struct rig *rig, int64_t took)
{
    for (int64_t i = 0; i < 1300; i++) {
        struct facts f = answer(i * NS_PER_S / 100, took);

        if (search_eye_see(&rig->eye, START, &f, 1))
            return i + 1;
    }
    return 0;
}

static void all_that_is_due_in_the_window_counts(void **state)
{
    const struct search_counts *c;
    struct rig rig;
    int64_t n = 0;

    (void)state;
    rig_init(&rig, "e2e p99 < 50ms");
    c = &rig.eye.so_far.terms[0];
    assert_int_equal(feed(&rig, 10 * NS_PER_MS), 0);
    assert_int_equal(c->n, 1000);
    assert_int_equal(c->misses, 0);
    for (size_t i = 0; i < SEARCH_BLOCKS; i++)
        n += c->blocks[i].n;
    assert_int_equal(n, 1000);
    assert_int_equal(c->blocks[0].n, 1000 / SEARCH_BLOCKS);
    rig_fini(&rig);
}

/* Every one misses: nobody waits for the end of the window. */
static void it_gives_up_when_all_miss(void **state)
{
    struct rig rig;
    int64_t at;

    (void)state;
    rig_init(&rig, "e2e p99 < 50ms");
    at = feed(&rig, 80 * NS_PER_MS);
    assert_in_range(at, 201, 1000);
    assert_true(rig.eye.is_over);
    rig_fini(&rig);
}

/* Before the window is known, and during the warm-up, nothing is. */
static void the_warm_up_is_not_looked_at(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "e2e p99 < 50ms");
    for (int64_t i = 0; i < 1000; i++) {
        struct facts f = answer(i * NS_PER_MS, 80 * NS_PER_MS);

        assert_false(search_eye_see(&rig.eye, START, &f, 1));
        f.due += START;
        assert_false(search_eye_see(&rig.eye, INT64_MAX, &f, 1));
    }
    assert_int_equal(rig.eye.so_far.requests, 0);
    rig_fini(&rig);
}

static void failures_are_errors(void **state)
{
    struct rig rig;
    struct facts f = answer(START, NS_PER_MS);

    (void)state;
    rig_init(&rig, "errors < 1%");
    search_eye_see(&rig.eye, START, &f, 1);
    f.outcome = OUTCOME_STATUS;
    search_eye_see(&rig.eye, START, &f, 1);
    f.outcome = OUTCOME_UNFINISHED; /* nobody knows */
    search_eye_see(&rig.eye, START, &f, 1);
    assert_int_equal(rig.eye.so_far.terms[0].n, 2);
    assert_int_equal(rig.eye.so_far.terms[0].misses, 1);
    rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_due_in_the_window_counts),
        cmocka_unit_test(it_gives_up_when_all_miss),
        cmocka_unit_test(the_warm_up_is_not_looked_at),
        cmocka_unit_test(failures_are_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
