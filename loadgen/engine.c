#include "loadgen/engine.h"

#include <event2/event.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/inflight.h"
#include "loadgen/pacer.h"
#include "loadgen/recorder.h"
#include "loadgen/request.h"
#include "loadgen/source.h"
#include "loadgen/transport/transport.h"

/* After this many sends in a row the responses get their turn. */
#define PUMP_BATCH 64

struct engine {
    struct engine_env env;
    struct transport_env transport_env;
    void *transport;
    const struct source_ops *source_ops;
    void *source;
    struct shard *shard;

    struct event *due_timer;      /* fires when the next request is due */
    struct event *deadline_timer; /* fires when the oldest one times out */

    struct inflight inflight;
    struct engine_counts counts;
    bool is_pumping;
    bool waits_for_end; /* only the end of a request can make progress */
    bool has_deadline;  /* the deadline timer is set */
    int64_t held_seq;   /* last request that the cap held back */
    int64_t cap_waits;
    int64_t lag_max_ns; /* since the last observation */
    int64_t due_end_ns;
    struct failures failures;
};

static int64_t now_ns(const struct engine *e)
{
    return transport_now(&e->transport_env);
}

/* Microseconds are rounded down: early costs one more look, late is late.
 * Within the spin nobody sleeps: a wait of 0 polls the sockets and comes back.
 */
static void arm(struct engine *e, struct event *timer, int64_t at_ns)
{
    int64_t wait_ns = at_ns - now_ns(e) - e->env.settings->client.spin_ns;
    struct timeval tv = {0};

    if (wait_ns > 0) {
        tv.tv_sec = wait_ns / NS_PER_S;
        tv.tv_usec = wait_ns % NS_PER_S / NS_PER_US;
    }
    event_add(timer, &tv);
}

/* ---- the end of a request ---- */

static void record(struct engine *e, const struct request *r)
{
    shard_add(e->shard, &r->facts);
    if (r->facts.outcome == OUTCOME_OK || r->facts.outcome == OUTCOME_UNSENT)
        return;
    e->counts.failed++;
    failures_note(&e->failures, r->facts.outcome, r->facts.detail,
                  r->why ? r->why : "", r->body, r->body_len);
}

/* Its facts are complete: write them down, make room for the next. */
static void retire(struct engine *e, struct request *r)
{
    e->counts.done++;
    record(e, r);
    if (e->source_ops->ended)
        e->source_ops->ended(e->source, r->facts.end);
    inflight_remove(&e->inflight, r);
}

static void pump(struct engine *e);

static void on_ended(void *arg, struct request *r)
{
    struct engine *e = arg;

    retire(e, r);
    if (e->waits_for_end && !e->is_pumping)
        pump(e);
}

/* Take one out of flight without waiting for its answer. */
static void give_up(struct engine *e, struct request *r, enum outcome outcome,
                    const char *why)
{
    e->env.transport->cancel(e->transport, r);
    r->facts.end = now_ns(e);
    r->facts.outcome = outcome;
    r->why = why;
    retire(e, r);
}

/* ---- deadlines: all requests have the same, so the oldest is first ---- */

static void arm_deadline(struct engine *e)
{
    const struct request *oldest = inflight_oldest(&e->inflight);

    e->has_deadline = oldest != NULL;
    if (oldest)
        arm(e, e->deadline_timer,
            oldest->facts.due + e->env.settings->target.timeout_ns);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct engine *e = arg;
    int64_t expired = now_ns(e) - e->env.settings->target.timeout_ns;
    struct request *r;

    (void)fd;
    (void)what;
    while ((r = inflight_oldest(&e->inflight)) && r->facts.due <= expired)
        give_up(e, r, OUTCOME_TIMEOUT, "no answer within the timeout");
    arm_deadline(e);
    if (e->waits_for_end)
        pump(e);
}

/* ---- the pacer ---- */

static void issue(struct engine *e)
{
    struct due due = e->source_ops->take(e->source);
    struct request *r = inflight_add(&e->inflight, due.seq, due.at_ns);
    int64_t lag_ns;

    r->facts.issued = now_ns(e);
    lag_ns = r->facts.issued - due.at_ns;
    if (lag_ns > e->lag_max_ns)
        e->lag_max_ns = lag_ns;
    e->counts.issued++;
    if (!e->has_deadline)
        arm_deadline(e);
    e->env.transport->start(e->transport, r);
}

static void leave_unsent(struct engine *e)
{
    struct due due = e->source_ops->take(e->source);
    struct request r = {.facts = facts_unknown(due.seq, due.at_ns)};

    r.facts.outcome = OUTCOME_UNSENT;
    e->counts.unsent++;
    record(e, &r);
    if (e->source_ops->ended)
        e->source_ops->ended(e->source, now_ns(e));
}

/* Count a request that has to wait for a connection once. */
static void note_cap_wait(struct engine *e)
{
    int64_t seq = e->counts.issued + e->counts.unsent;

    if (e->held_seq != seq)
        e->cap_waits++;
    e->held_seq = seq;
}

static void end_if_idle(struct engine *e)
{
    if (e->inflight.len > 0)
        return;
    e->due_end_ns = e->source_ops->due_end_ns(e->source);
    event_base_loopbreak(e->transport_env.base);
}

/* One step; false when there is nothing to do for now. */
static bool step(struct engine *e)
{
    int64_t due_ns = e->source_ops->peek_ns(e->source);

    switch (pacer_decide(now_ns(e), due_ns, e->env.settings->target.timeout_ns,
                         e->env.transport->has_room(e->transport))) {
    case PACE_ISSUE:
        issue(e);
        return true;
    case PACE_UNSENT:
        leave_unsent(e);
        return true;
    case PACE_WAIT:
        arm(e, e->due_timer, due_ns);
        return false;
    case PACE_FULL:
        e->waits_for_end = true;
        note_cap_wait(e);
        return false;
    default: /* PACE_IDLE */
        e->waits_for_end = true;
        end_if_idle(e);
        return false;
    }
}

static void pump(struct engine *e)
{
    int steps = 0;

    e->is_pumping = true;
    e->waits_for_end = false;
    while (steps < PUMP_BATCH && step(e))
        steps++;
    e->is_pumping = false;
    if (steps == PUMP_BATCH)
        arm(e, e->due_timer, 0);
}

static void on_due(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    pump(arg);
}

/* ---- the rest of the interface ---- */

void engine_begin(struct engine *e, struct shard *shard, int64_t start_ns)
{
    e->shard = shard;
    e->transport_env.start_ns = start_ns;
    arm(e, e->due_timer, 0); /* the loop must run before it can be broken */
}

void engine_cut(struct engine *e)
{
    int64_t cut_ns = now_ns(e);
    struct request *r;

    e->is_pumping = true; /* nothing is sent any more */
    /* A client that leaves one unsent is due again at cut_ns at the earliest.
     */
    while (e->source_ops->peek_ns(e->source) < cut_ns)
        leave_unsent(e);
    while ((r = inflight_oldest(&e->inflight)))
        give_up(e, r, OUTCOME_UNFINISHED, "in flight when the run was cut");
    e->due_end_ns = e->source_ops->due_end_ns(e->source);
    if (e->due_end_ns > cut_ns)
        e->due_end_ns = cut_ns;
    event_base_loopbreak(e->transport_env.base);
}

struct observation engine_observe(struct engine *e)
{
    struct observation seen = {
        .at = now_ns(e),
        .unsent = e->counts.unsent,
        .issued = e->counts.issued,
        .done = e->counts.done,
        .connections = e->env.transport->connections(e->transport),
        .lag_max = e->lag_max_ns,
        .cpu = clk_thread_cpu_ns(),
        .cap_waits = e->cap_waits,
        .record_wait = shard_waited_ns(e->shard),
    };

    e->lag_max_ns = 0;
    return seen;
}

struct engine_counts engine_counts(const struct engine *e)
{
    return e->counts;
}

const struct failures *engine_failures(const struct engine *e)
{
    return &e->failures;
}

int64_t engine_due_end_ns(const struct engine *e)
{
    return e->due_end_ns;
}

static int make_parts(struct engine *e, struct err *err)
{
    e->due_timer = evtimer_new(e->transport_env.base, on_due, e);
    e->deadline_timer = evtimer_new(e->transport_env.base, on_deadline, e);
    e->transport = xcalloc(1, e->env.transport->state_size);
    if (e->env.transport->init(e->transport, &e->transport_env, err))
        return -1;
    e->source_ops = source_for(&e->env.settings->load);
    e->source = xcalloc(1, e->source_ops->state_size);
    return e->source_ops->init(e->source, &e->env.settings->load, err);
}

int engine_new(struct engine **engine, const struct engine_env *env,
               struct event_base *base, struct err *err)
{
    struct engine *e = xcalloc(1, sizeof(*e));

    e->env = *env;
    e->held_seq = -1;
    e->transport_env = (struct transport_env){
        .base = base,
        .clk = env->clk,
        .target = env->target,
        .max_connections = env->max_connections,
        .ended = on_ended,
        .arg = e,
    };
    if (make_parts(e, err)) {
        engine_free(e);
        return -1;
    }
    *engine = e;
    return 0;
}

void engine_free(struct engine *e)
{
    if (!e)
        return;
    if (e->source && e->source_ops->fini)
        e->source_ops->fini(e->source);
    free(e->source);
    if (e->transport)
        e->env.transport->fini(e->transport);
    free(e->transport);
    inflight_fini(&e->inflight);
    event_free(e->due_timer);
    event_free(e->deadline_timer);
    free(e);
}
