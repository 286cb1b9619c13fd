/* Open loop: due times are a pure function of settings and seed. */
#include <math.h>
#include <stdlib.h>

#include "common/rng.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/arrival/arrival.h"
#include "loadgen/quota.h"
#include "loadgen/source.h"

struct open_loop {
    const struct arrival_ops *arrival;
    void *arrival_self;
    struct rng rng;
    struct quota quota;
    double at_ns; /* exact; rounded when given out */
    int64_t next_ns;
    int64_t next_seq;
};

/* Beyond what 64 bits can count (a rate near 0) nothing is due. */
static int64_t draw(struct open_loop *o)
{
    o->at_ns += o->arrival->gap_ns(o->arrival_self, &o->rng);
    return o->at_ns < 0x1p62 ? llround(o->at_ns) : DUE_UNKNOWN;
}

static int open_init(void *self, const struct load_settings *load,
                     struct err *err)
{
    struct open_loop *o = self;

    o->arrival = arrival_of((enum arrival)load->arrival);
    o->arrival_self = xcalloc(1, o->arrival->state_size);
    if (o->arrival->init(o->arrival_self, load->rate_rps, err))
        return -1;
    o->rng = rng_stream(load->seed, RNG_ARRIVAL);
    o->quota = quota_of(load);
    o->next_ns = draw(o);
    return 0;
}

static int64_t open_peek_ns(void *self)
{
    const struct open_loop *o = self;

    return quota_is_spent(&o->quota, o->next_ns) ? DUE_UNKNOWN : o->next_ns;
}

static struct due open_take(void *self)
{
    struct open_loop *o = self;
    struct due due = {.seq = o->next_seq++, .at_ns = o->next_ns};

    quota_take(&o->quota, due.at_ns);
    o->next_ns = draw(o);
    return due;
}

/* Ended by its count, the window reaches to the first arrival left out. */
static int64_t open_due_end_ns(void *self)
{
    const struct open_loop *o = self;

    return o->next_ns < o->quota.window_end_ns ? o->next_ns
                                               : o->quota.window_end_ns;
}

static void open_fini(void *self)
{
    struct open_loop *o = self;

    free(o->arrival_self);
}

const struct source_ops source_open = {
    .name = "open",
    .state_size = sizeof(struct open_loop),
    .init = open_init,
    .peek_ns = open_peek_ns,
    .take = open_take,
    .due_end_ns = open_due_end_ns,
    .fini = open_fini,
};
