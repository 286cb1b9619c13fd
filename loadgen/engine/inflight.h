/* inflight.h - the requests in flight, ordered by due time, and a store of
 * unused ones, so that nothing is allocated once the run is warm. */
#ifndef LOADGEN_ENGINE_INFLIGHT_H
#define LOADGEN_ENGINE_INFLIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "loadgen/engine/request.h"

struct slab;

struct inflight {
    struct request *oldest;
    struct request *newest;
    size_t len;
    struct request *unused; /* singly linked through next */
    struct slab *slabs;     /* owned */
};

void inflight_fini(struct inflight *f);

/* A request with no facts except seq and due, as the newest. */
struct request *inflight_add(struct inflight *f, int64_t seq, int64_t due_ns);

/* It may be reused at once. */
void inflight_remove(struct inflight *f, struct request *r);

static inline struct request *inflight_oldest(const struct inflight *f)
{
    return f->oldest;
}

#endif
