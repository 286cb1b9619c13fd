/* heap.h - things in the order of a number: answers by the time at which they
 * are due, requests by their priority.
 *
 * A binary heap; things of the same number come out as they went in.
 */
#ifndef COMMON_BASE_HEAP_H
#define COMMON_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct heap_item {
    int64_t key;
    uint64_t order;
    void *what; /* borrowed */
};

struct heap {
    struct heap_item *items; /* owned */
    size_t len;
    size_t cap;
    uint64_t pushed;
};

/* A zeroed struct is an empty heap. */
void heap_fini(struct heap *h);

void heap_push(struct heap *h, int64_t key, void *what);

/* The smallest; INT64_MAX if there is none. */
int64_t heap_first_key(const struct heap *h);

/* The first one, which must be there; heap_pop() also removes it. */
void *heap_first(const struct heap *h);
void *heap_pop(struct heap *h);

#endif
