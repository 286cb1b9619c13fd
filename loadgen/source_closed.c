/* Closed loop: N clients, each sends when its last request has ended. */
#include <stdlib.h>

#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/source.h"

struct closed_loop {
    int64_t *ready_ns; /* ring of the times since which clients are idle */
    size_t n_clients;
    size_t first;
    size_t n_ready;
    int64_t window_start_ns;
    int64_t window_end_ns; /* DUE_UNKNOWN: the count alone ends it */
    int64_t window_left;   /* requests; negative: the time alone ends it */
    int64_t next_seq;
    int64_t last_end_ns;
};

static int closed_init(void *self, const struct load_settings *load,
                       struct err *err)
{
    struct closed_loop *c = self;

    (void)err;
    c->n_clients = (size_t)load->clients;
    c->n_ready = c->n_clients; /* all idle since 0 */
    c->ready_ns = xcalloc(c->n_clients, sizeof(*c->ready_ns));
    c->window_start_ns = load->warmup_ns;
    c->window_end_ns = load->duration_ns > 0
                           ? load->warmup_ns + load->duration_ns
                           : DUE_UNKNOWN;
    c->window_left = load->requests > 0 ? load->requests : -1;
    return 0;
}

static int64_t closed_peek_ns(void *self)
{
    const struct closed_loop *c = self;

    if (c->n_ready == 0 || c->window_left == 0 ||
        c->ready_ns[c->first] >= c->window_end_ns)
        return DUE_UNKNOWN;
    return c->ready_ns[c->first];
}

static struct due closed_take(void *self)
{
    struct closed_loop *c = self;
    struct due due = {.seq = c->next_seq++, .at_ns = c->ready_ns[c->first]};

    c->first = (c->first + 1) % c->n_clients;
    c->n_ready--;
    if (due.at_ns >= c->window_start_ns && c->window_left > 0)
        c->window_left--;
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

    return c->window_left == 0 ? c->last_end_ns + 1 : c->window_end_ns;
}

static void closed_fini(void *self)
{
    struct closed_loop *c = self;

    free(c->ready_ns);
}

const struct source_ops source_closed = {
    .name = "closed",
    .help = "N clients, each sends when its last request has ended",
    .state_size = sizeof(struct closed_loop),
    .init = closed_init,
    .peek_ns = closed_peek_ns,
    .take = closed_take,
    .ended = closed_ended,
    .due_end_ns = closed_due_end_ns,
    .fini = closed_fini,
};
