#include "loadgen/engine/inflight.h"

#include <stdlib.h>

#include "common/base/xalloc.h"

#define SLAB_LEN 256

struct slab {
    struct slab *next;
    struct request requests[SLAB_LEN];
};

static void add_slab(struct inflight *f)
{
    struct slab *slab = xcalloc(1, sizeof(*slab));

    slab->next = f->slabs;
    f->slabs = slab;
    for (size_t i = 0; i < SLAB_LEN; i++) {
        slab->requests[i].next = f->unused;
        f->unused = &slab->requests[i];
    }
}

struct request *inflight_add(struct inflight *f, int64_t seq, int64_t due_ns)
{
    struct request *r;

    if (!f->unused)
        add_slab(f);
    r = f->unused;
    f->unused = r->next;
    r->facts = facts_unknown(seq, due_ns);
    r->conn = NULL;
    r->why = NULL;
    r->body_len = 0;
    r->next = NULL;
    r->previous = f->newest;
    if (f->newest)
        f->newest->next = r;
    else
        f->oldest = r;
    f->newest = r;
    f->len++;
    return r;
}

void inflight_remove(struct inflight *f, struct request *r)
{
    if (r->previous)
        r->previous->next = r->next;
    else
        f->oldest = r->next;
    if (r->next)
        r->next->previous = r->previous;
    else
        f->newest = r->previous;
    f->len--;
    r->next = f->unused;
    f->unused = r;
}

void inflight_fini(struct inflight *f)
{
    while (f->slabs) {
        struct slab *slab = f->slabs;

        f->slabs = slab->next;
        for (size_t i = 0; i < SLAB_LEN; i++) {
            response_fini(&slab->requests[i].response);
            row_fini(&slab->requests[i].row);
        }
        free(slab);
    }
    *f = (struct inflight){0};
}
