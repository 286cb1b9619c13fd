/* pending.h - what is due when: a binary heap in the order of (time, push).
 *
 * One timer for the earliest serves them all; items of the same time come out
 * as they went in.
 */
#ifndef SERVER_STUB_PENDING_H
#define SERVER_STUB_PENDING_H

#include <stddef.h>
#include <stdint.h>

struct pending_item {
    int64_t due_ns;
    uint64_t order;
    void *what; /* borrowed */
};

struct pending {
    struct pending_item *items; /* owned */
    size_t len;
    size_t cap;
    uint64_t pushed;
};

/* A zeroed struct is an empty heap. */
void pending_fini(struct pending *p);

void pending_push(struct pending *p, int64_t due_ns, void *what);

/* When the earliest is due; INT64_MAX if there is none. */
int64_t pending_next_ns(const struct pending *p);

/* Remove the earliest and return it; there must be one. */
void *pending_pop(struct pending *p);

#endif
