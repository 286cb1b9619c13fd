#include "common/base/heap.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/base/xalloc.h"

void heap_fini(struct heap *h)
{
    free(h->items);
    *h = (struct heap){0};
}

static bool is_before(const struct heap_item *a, const struct heap_item *b)
{
    return a->key < b->key || (a->key == b->key && a->order < b->order);
}

void heap_push(struct heap *h, int64_t key, void *what)
{
    struct heap_item item = {key, h->pushed++, what};
    size_t at = h->len++;

    if (h->len > h->cap) {
        h->cap = h->cap ? 2 * h->cap : 256;
        h->items = xrealloc(h->items, h->cap, sizeof(*h->items));
    }
    while (at > 0 && is_before(&item, &h->items[(at - 1) / 2])) {
        h->items[at] = h->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    h->items[at] = item;
}

int64_t heap_first_key(const struct heap *h)
{
    return h->len > 0 ? h->items[0].key : INT64_MAX;
}

/* The earlier child of `at`; h->len or more if it has none. */
static size_t earlier_child(const struct heap *h, size_t at)
{
    size_t child = 2 * at + 1;

    if (child + 1 < h->len && is_before(&h->items[child + 1], &h->items[child]))
        child++;
    return child;
}

void *heap_first(const struct heap *h)
{
    assert(h->len > 0);
    return h->items[0].what;
}

void *heap_pop(struct heap *h)
{
    struct heap_item last;
    size_t at = 0;
    void *what;

    assert(h->len > 0);
    what = h->items[0].what;
    last = h->items[--h->len];
    for (size_t child = earlier_child(h, at);
         child < h->len && is_before(&h->items[child], &last);
         child = earlier_child(h, at)) {
        h->items[at] = h->items[child];
        at = child;
    }
    h->items[at] = last;
    return what;
}
