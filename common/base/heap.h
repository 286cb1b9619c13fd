/* heap.h - a priority queue: answers by due time, requests by priority.
 *
 * A binary heap.  Items with the same key come out in the order of insertion.
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

/* The smallest key, or INT64_MAX if the heap is empty. */
int64_t heap_first_key(const struct heap *h);

/* The item with the smallest key; heap_pop() also removes it.  The heap must
 * not be empty. */
void *heap_first(const struct heap *h);
void *heap_pop(struct heap *h);

#endif
