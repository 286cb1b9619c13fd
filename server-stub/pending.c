#include "server-stub/pending.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/xalloc.h"

void pending_fini(struct pending *p)
{
    free(p->items);
    *p = (struct pending){0};
}

static bool is_before(const struct pending_item *a,
                      const struct pending_item *b)
{
    return a->due_ns < b->due_ns ||
           (a->due_ns == b->due_ns && a->order < b->order);
}

void pending_push(struct pending *p, int64_t due_ns, void *what)
{
    struct pending_item item = {due_ns, p->pushed++, what};
    size_t at = p->len++;

    if (p->len > p->cap) {
        p->cap = p->cap ? 2 * p->cap : 256;
        p->items = xrealloc(p->items, p->cap, sizeof(*p->items));
    }
    while (at > 0 && is_before(&item, &p->items[(at - 1) / 2])) {
        p->items[at] = p->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    p->items[at] = item;
}

int64_t pending_next_ns(const struct pending *p)
{
    return p->len > 0 ? p->items[0].due_ns : INT64_MAX;
}

/* The earlier child of `at`; p->len or more if it has none. */
static size_t earlier_child(const struct pending *p, size_t at)
{
    size_t child = 2 * at + 1;

    if (child + 1 < p->len && is_before(&p->items[child + 1], &p->items[child]))
        child++;
    return child;
}

void *pending_pop(struct pending *p)
{
    struct pending_item last;
    size_t at = 0;
    void *what;

    assert(p->len > 0);
    what = p->items[0].what;
    last = p->items[--p->len];
    for (size_t child = earlier_child(p, at);
         child < p->len && is_before(&p->items[child], &last);
         child = earlier_child(p, at)) {
        p->items[at] = p->items[child];
        at = child;
    }
    p->items[at] = last;
    return what;
}
