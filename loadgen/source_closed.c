/* Closed loop: N clients, each sends when its last request has ended.  A lane
 * has its share of the clients and of the requests. */
#include <stdlib.h>

#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/quota.h"
#include "loadgen/source.h"

struct closed_loop {
    int64_t *ready_ns; /* ring of the times since which clients are idle */
    size_t n_clients;
    size_t first;
    size_t n_ready;
    struct quota quota; /* of this lane */
    struct lane lane;
    int64_t next_seq;
    int64_t last_end_ns;
};

static int closed_init(void *self, const struct load_settings *load,
                       struct lane lane, struct err *err)
{
    struct closed_loop *c = self;

    (void)err;
    c->n_clients = (size_t)lane_share(load->clients, lane);
    c->n_ready = c->n_clients; /* all idle since 0 */
    c->ready_ns = xcalloc(c->n_clients, sizeof(*c->ready_ns));
    c->quota = quota_of(load);
    if (c->quota.window_left > 0)
        c->quota.window_left = lane_share(load->requests, lane);
    c->lane = lane;
    c->next_seq = lane.worker;
    return 0;
}

static int64_t closed_peek_ns(void *self)
{
    const struct closed_loop *c = self;

    if (c->quota.window_left == 0)
        return DUE_NEVER;
    if (c->n_ready == 0)
        return DUE_UNKNOWN;
    return quota_is_spent(&c->quota, c->ready_ns[c->first])
               ? DUE_NEVER
               : c->ready_ns[c->first];
}

static struct due closed_take(void *self)
{
    struct closed_loop *c = self;
    struct due due = {.seq = c->next_seq, .at_ns = c->ready_ns[c->first]};

    c->next_seq += c->lane.workers;
    c->first = (c->first + 1) % c->n_clients;
    c->n_ready--;
    quota_take(&c->quota, due.at_ns);
    return due;
}

/* Ends come in order of time, so the ring stays sorted. */
static void closed_ended(void *self, int64_t end_ns)
{
    struct closed_loop *c = self;

    c->ready_ns[(c->first + c->n_ready) % c->n_clients] = end_ns;
    c->n_ready++;
    c->last_end_ns = end_ns;
}

static int64_t closed_due_end_ns(void *self)
{
    const struct closed_loop *c = self;

    return c->quota.window_left == 0 ? c->last_end_ns + 1
                                     : c->quota.window_end_ns;
}

static void closed_fini(void *self)
{
    struct closed_loop *c = self;

    free(c->ready_ns);
}

const struct source_ops source_closed = {
    .name = "closed",
    .state_size = sizeof(struct closed_loop),
    .init = closed_init,
    .peek_ns = closed_peek_ns,
    .take = closed_take,
    .ended = closed_ended,
    .due_end_ns = closed_due_end_ns,
    .fini = closed_fini,
};
