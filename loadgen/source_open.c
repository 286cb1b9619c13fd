/* Open loop: due times are a pure function of settings and seed. */
#include <math.h>
#include <stdlib.h>

#include "common/rng.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/arrival/arrival.h"
#include "loadgen/source.h"

struct open_loop {
    const struct arrival_ops *arrival;
    void *arrival_self;
    struct rng rng;
    int64_t window_start_ns;
    int64_t window_end_ns; /* DUE_UNKNOWN: the count alone ends it */
    int64_t window_left;   /* requests; negative: the time alone ends it */
    double at_ns;          /* exact; rounded when given out */
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

    o->arrival = arrival_find(arrival_names[load->arrival]);
    o->arrival_self = xcalloc(1, o->arrival->state_size);
    if (o->arrival->init(o->arrival_self, load->rate_rps, err))
        return -1;
    o->rng = rng_stream(load->seed, RNG_ARRIVAL);
    o->window_start_ns = load->warmup_ns;
    o->window_end_ns = load->duration_ns > 0
                           ? load->warmup_ns + load->duration_ns
                           : DUE_UNKNOWN;
    o->window_left = load->requests > 0 ? load->requests : -1;
    o->next_ns = draw(o);
    return 0;
}

static bool is_over(const struct open_loop *o)
{
    return o->next_ns >= o->window_end_ns || o->window_left == 0;
}

static int64_t open_peek_ns(void *self)
{
    const struct open_loop *o = self;

    return is_over(o) ? DUE_UNKNOWN : o->next_ns;
}

/* Requests of the warm-up do not count towards those asked for. */
static struct due open_take(void *self)
{
    struct open_loop *o = self;
    struct due due = {.seq = o->next_seq++, .at_ns = o->next_ns};

    if (due.at_ns >= o->window_start_ns && o->window_left > 0)
        o->window_left--;
    o->next_ns = draw(o);
    return due;
}

/* Ended by its count, the window reaches to the first arrival left out. */
static int64_t open_due_end_ns(void *self)
{
    const struct open_loop *o = self;

    return o->next_ns < o->window_end_ns ? o->next_ns : o->window_end_ns;
}

static void open_fini(void *self)
{
    struct open_loop *o = self;

    free(o->arrival_self);
}

const struct source_ops source_open = {
    .name = "open",
    .help = "requests are due at the times of an arrival process",
    .state_size = sizeof(struct open_loop),
    .init = open_init,
    .peek_ns = open_peek_ns,
    .take = open_take,
    .due_end_ns = open_due_end_ns,
    .fini = open_fini,
};
