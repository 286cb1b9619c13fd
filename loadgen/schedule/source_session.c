/* Sessions: conversations arrive like requests of the open loop; within one, a
 * turn is due when the answer to the last has come and the think time is over.
 * Arrival times, numbers of turns and think times depend on the seed alone.
 *
 * Every worker walks all arrivals and keeps its own sessions until they end.
 * It numbers its requests by itself, as in a closed loop. */
#include <stdlib.h>

#include "common/base/heap.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/spec/dist.h"
#include "loadgen/engine/request.h"
#include "loadgen/schedule/session.h"
#include "loadgen/schedule/source.h"
#include "loadgen/schedule/window_limits.h"

struct sessions {
    struct window_limits limits;   /* of this lane */
    struct load_settings arrivals; /* without counts, which are of requests */
    void *open;                    /* the source of arrivals; owned */
    struct heap due;               /* later turns */
    struct session *unused;
    struct session *all; /* owned */
    struct dist turns;
    bool has_turns; /* false: the data set decides how many */
    struct dist think;
    uint64_t seed;
    struct lane lane;
    int64_t next_seq;
    int64_t in_flight;
    int64_t last_due_ns;
    int64_t last_end_ns;
};

static int session_init(void *self, const struct load_settings *load,
                        struct lane lane, struct err *err)
{
    struct sessions *s = self;

    s->arrivals = *load;
    s->arrivals.requests = 0;
    s->arrivals.min_requests = 0;
    s->arrivals.min_duration_ns = 0;
    s->seed = load->seed;
    s->has_turns = load->turns != NULL;
    s->limits = window_limits_of(load);
    window_limits_share(&s->limits, lane);
    s->lane = lane;
    s->next_seq = lane.worker;
    s->last_due_ns = -1;
    s->open = xcalloc(1, source_open.state_size);
    if (dist_parse(load->think ? load->think : "none", &s->think, err) ||
        (load->turns && dist_parse_counts(load->turns, &s->turns, err)))
        return -1;
    return source_open.init(s->open, &s->arrivals, lane, err);
}

static struct session *begin_session(struct sessions *s, int64_t id)
{
    struct rng rng = rng_at(s->seed, RNG_TURNS, id);
    int64_t n =
        s->has_turns ? dist_draw_count(&s->turns, &rng) : SESSION_MAX_TURNS;
    struct session *c = s->unused;

    if (c) {
        s->unused = c->next_free;
    } else {
        c = xcalloc(1, sizeof(*c));
        c->next = s->all;
        s->all = c;
    }
    c->id = id;
    c->turn = 0;
    c->n_turns = n < SESSION_MAX_TURNS ? n : SESSION_MAX_TURNS;
    c->past_tokens = 0;
    buf_init(&c->past, SESSION_MAX_PAST);
    return c;
}

static void free_past(struct session *c)
{
    buf_fini(&c->past);
    budget_give(c->charged);
    c->charged = 0;
}

static void end_session(struct sessions *s, struct session *c)
{
    free_past(c);
    c->next_free = s->unused;
    s->unused = c;
}

/* DUE_NEVER or later: none is known. */
static int64_t first_due_ns(const struct sessions *s)
{
    int64_t arrival_ns = source_open.peek_ns(s->open);
    int64_t turn_ns = heap_first_key(&s->due);

    return arrival_ns < turn_ns ? arrival_ns : turn_ns;
}

/* A turn is due no earlier than the answer that it waits for, and the answers
 * still to come end no earlier than the last one. */
static int64_t session_peek_ns(void *self)
{
    const struct sessions *s = self;
    int64_t due_ns = first_due_ns(s);

    if (window_limits_is_full(&s->limits))
        return DUE_NEVER;
    if (due_ns < DUE_NEVER && !window_limits_is_spent(&s->limits, due_ns))
        return due_ns;
    return s->in_flight == 0 ||
                   window_limits_is_spent(&s->limits, s->last_end_ns)
               ? DUE_NEVER
               : DUE_UNKNOWN;
}

static struct due session_take(void *self)
{
    struct sessions *s = self;
    struct due due = {.seq = s->next_seq, .at_ns = first_due_ns(s)};

    if (heap_first_key(&s->due) == due.at_ns)
        due.session = heap_pop(&s->due);
    else
        due.session = begin_session(s, source_open.take(s->open).seq);
    s->next_seq += s->lane.workers;
    s->in_flight++;
    s->last_due_ns = due.at_ns;
    window_limits_take(&s->limits, due.at_ns);
    return due;
}

/* A turn that failed ends its session: there is no answer to continue from. */
static void session_ended(void *self, const struct request *r, int64_t end_ns)
{
    struct sessions *s = self;
    struct session *c = r->session;
    struct rng rng;
    int64_t due_ns;

    s->in_flight--;
    if (end_ns > s->last_end_ns)
        s->last_end_ns = end_ns;
    if (r->facts.outcome != OUTCOME_OK || ++c->turn >= c->n_turns) {
        end_session(s, c);
        return;
    }
    rng = rng_at(s->seed, RNG_THINK, session_key(c->id, c->turn));
    due_ns = end_ns + dist_draw_ns(&s->think, &rng);
    if (window_limits_is_spent(&s->limits, due_ns))
        end_session(s, c);
    else
        heap_push(&s->due, due_ns, c);
}

/* A window that ended by its count reaches to the last request. */
static int64_t session_due_end_ns(void *self)
{
    const struct sessions *s = self;

    return window_limits_is_full(&s->limits) &&
                   s->last_due_ns < s->limits.end_ns
               ? s->last_due_ns + 1
               : s->limits.end_ns;
}

static void session_fini(void *self)
{
    struct sessions *s = self;

    while (s->all) {
        struct session *c = s->all;

        s->all = c->next;
        free_past(c);
        free(c);
    }
    heap_fini(&s->due);
    dist_fini(&s->turns);
    if (s->open)
        source_open.fini(s->open);
    free(s->open);
}

const struct source_ops source_session = {
    .state_size = sizeof(struct sessions),
    .init = session_init,
    .peek_ns = session_peek_ns,
    .take = session_take,
    .ended = session_ended,
    .due_end_ns = session_due_end_ns,
    .fini = session_fini,
};
