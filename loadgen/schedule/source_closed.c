/* The closed loop: N clients; each sends when its last request has ended and
 * its think time is over.  A lane has its share of the clients and of the
 * requests.
 *
 * The only client of the single-stream scenario sends one request at a time,
 * that of the multi-stream scenario sends a query of several requests and waits
 * for all of them. */
#include "common/base/heap.h"
#include "common/base/rng.h"
#include "common/settings/settings.h"
#include "common/spec/dist.h"
#include "loadgen/engine/request.h"
#include "loadgen/schedule/source.h"
#include "loadgen/schedule/window_limits.h"

struct closed_loop {
    struct window_limits limits; /* of this lane, after the warm-up */
    struct heap ready;           /* when idle clients send next */
    size_t n_clients;
    struct dist think;
    uint64_t seed;
    int64_t query_size;
    int64_t n_taken;     /* of the query that is being sent */
    int64_t n_ended;     /* of the query that is in flight */
    int64_t warmup_left; /* requests; this lane's part */
    bool has_left;       /* this lane's part of the warm-up is complete */
    struct phases own;   /* used until others are published */
    struct lane lane;
    int64_t next_seq;
    int64_t last_end_ns;
};

static int closed_init(void *self, const struct load_settings *load,
                       struct lane lane, struct err *err)
{
    struct closed_loop *c = self;

    if (dist_parse(load->think ? load->think : "none", &c->think, err))
        return -1;
    c->seed = load->seed;
    c->query_size =
        load->scenario == SCENARIO_MULTI_STREAM ? load->query_size : 1;
    c->n_clients = (size_t)lane_share(load->clients, lane);
    for (size_t i = 0; i < c->n_clients; i++)
        heap_push(&c->ready, 0, NULL);
    c->limits = window_limits_of(load);
    c->limits.warmup_left = 0; /* the lanes share the warm-up */
    window_limits_share(&c->limits, lane);
    c->warmup_left = lane_share(load->warmup_requests, lane);
    phases_init(&c->own, load, 1);
    c->limits.phases = &c->own;
    c->lane = lane;
    c->next_seq = lane.worker;
    return 0;
}

/* A query that was begun is sent completely.  A client that waits for an answer
 * may send before those that are thinking now, but not before the last answer.
 */
static int64_t closed_peek_ns(void *self)
{
    struct closed_loop *c = self;
    int64_t due_ns = heap_first_key(&c->ready);

    if (c->n_taken > 0)
        return due_ns;
    if (c->limits.window_start_ns == DUE_UNKNOWN && due_ns != DUE_UNKNOWN) {
        int64_t start_ns;

        if (c->warmup_left <= 0 && !c->has_left) {
            c->has_left = true;
            phases_leave(c->limits.phases, due_ns);
        }
        start_ns = phases_enter(c->limits.phases, due_ns);
        if (start_ns != DUE_UNKNOWN)
            window_limits_begin(&c->limits, start_ns);
    }
    if (window_limits_is_full(&c->limits))
        return DUE_NEVER;
    if (!window_limits_is_spent(&c->limits, due_ns))
        return due_ns;
    return c->ready.len == c->n_clients ||
                   window_limits_is_spent(&c->limits, c->last_end_ns)
               ? DUE_NEVER
               : DUE_UNKNOWN;
}

static struct due closed_take(void *self)
{
    struct closed_loop *c = self;
    struct due due = {.seq = c->next_seq, .at_ns = heap_first_key(&c->ready)};

    c->next_seq += c->lane.workers;
    c->warmup_left--;
    window_limits_take(&c->limits, due.at_ns);
    if (++c->n_taken < c->query_size)
        return due;
    c->n_taken = 0;
    heap_pop(&c->ready);
    return due;
}

/* The think time depends on the request alone, not on the number of lanes. */
static void closed_ended(void *self, const struct request *r, int64_t end_ns)
{
    struct closed_loop *c = self;
    struct rng rng;

    if (end_ns > c->last_end_ns)
        c->last_end_ns = end_ns;
    if (++c->n_ended < c->query_size)
        return;
    c->n_ended = 0;
    rng = rng_at(c->seed, RNG_THINK, r->facts.seq);
    heap_push(&c->ready, end_ns + dist_draw_ns(&c->think, &rng), NULL);
}

static int64_t closed_due_end_ns(void *self)
{
    const struct closed_loop *c = self;
    int64_t end_ns = c->last_end_ns + 1;

    return window_limits_is_full(&c->limits) && end_ns < c->limits.end_ns
               ? end_ns
               : c->limits.end_ns;
}

static void closed_fini(void *self)
{
    struct closed_loop *c = self;

    heap_fini(&c->ready);
}

const struct source_ops source_closed = {
    .state_size = sizeof(struct closed_loop),
    .init = closed_init,
    .peek_ns = closed_peek_ns,
    .take = closed_take,
    .ended = closed_ended,
    .due_end_ns = closed_due_end_ns,
    .fini = closed_fini,
};
