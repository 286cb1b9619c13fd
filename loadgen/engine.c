#include "loadgen/engine.h"

#include <event2/event.h>
#include <stdlib.h>

#include "common/err.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/answers.h"
#include "loadgen/api/history.h"
#include "loadgen/inflight.h"
#include "loadgen/mix.h"
#include "loadgen/pacer.h"
#include "loadgen/quota.h"
#include "loadgen/recorder.h"
#include "loadgen/request.h"
#include "loadgen/session.h"
#include "loadgen/source.h"
#include "loadgen/transport/transport.h"

/* After this many sends in a row the responses get their turn. */
#define PUMP_BATCH 64

#define CUT_GRACE_NS (2 * NS_PER_MS)

/* A suspension shows as a beat that is late. */
#define BEAT_NS (100 * NS_PER_MS)

/* An answer may be long, and each of its bytes an escape. */
#define MAX_LINE ((size_t)1 << 30)

/* So long after its terminator the body of a stream may take to end. */
#define TERMINATED_NS (100 * NS_PER_MS)

struct engine {
    struct engine_env env;
    struct transport_env transport_env;
    void *transport;
    const struct source_ops *source_ops;
    void *source;
    struct shard *shard;
    struct buf line; /* of answers that are kept */

    struct event *due_timer;      /* fires when the next request is due */
    struct event *deadline_timer; /* fires when the oldest one times out */
    struct event *heartbeat;      /* fires while the client runs */
    struct event *drain_timer;    /* fires when nobody waits any longer: */
    int64_t drain_end_ns;         /* INT64_MAX: not set */
    bool has_end;                 /* it is known when the load is over */

    struct pacer pacer;
    int64_t armed_ns;      /* the loop must run then for the pacer ... */
    int64_t beat_ns;       /* ... and then for the heartbeat */
    int64_t spin_until_ns; /* an answer may come soon */
    bool is_spinning;      /* since spin_from_ns, unless spin_mark has moved */
    int64_t spin_from_ns;
    int64_t spin_mark;
    int64_t spun_ns;
    int64_t suspended_max_ns; /* since the last observation */

    struct inflight inflight;
    struct engine_counts counts;
    bool is_pumping;
    bool waits_for_end;    /* only the end of a request can make progress */
    bool has_deadline;     /* the deadline timer is set */
    bool is_full;          /* the cap holds back what is due */
    int64_t full_until_ns; /* what was due by then waited for room */
    int64_t cap_waits;
    int64_t lag_max_ns; /* since the last observation */
    struct engine_end end;
    struct failures failures;
};

static int64_t now_ns(const struct engine *e)
{
    return transport_now(&e->transport_env);
}

/* Rounded down: early costs one more look, late is late. */
static void arm(struct event *timer, int64_t wait_ns)
{
    struct timeval tv = clk_timeval(wait_ns);

    event_add(timer, &tv);
}

/* What the loop does now and then is work or it is spinning. */
static int64_t work_done(const struct engine *e)
{
    return e->counts.issued + e->counts.done;
}

/* Within the spin, before a request is due and after one was sent, nobody
 * sleeps, nor for a wait that is shorter than going to sleep takes: a wait of 0
 * polls the sockets and comes back. */
static void arm_due(struct engine *e, int64_t now, int64_t due_ns)
{
    int64_t wait_ns = due_ns - now - e->env.settings->client.spin_ns;

    if (now < e->spin_until_ns || wait_ns < e->env.short_wait_ns)
        wait_ns = 0;
    e->armed_ns = due_ns;
    e->is_spinning = wait_ns <= 0 && due_ns > now;
    e->spin_from_ns = now;
    e->spin_mark = work_done(e);
    arm(e->due_timer, wait_ns);
}

static void end_spin(struct engine *e, int64_t now)
{
    if (e->is_spinning && e->spin_mark == work_done(e))
        e->spun_ns += now - e->spin_from_ns;
    e->is_spinning = false;
}

/* ---- the end of a request ---- */

static void record(struct engine *e, const struct request *r)
{
    for (int64_t i = 0; i < r->facts.events; i++) {
        struct content_event event = response_event(&r->response, (size_t)i);

        shard_add_event(e->shard, &event);
    }
    shard_add(e->shard, &r->facts);
    if (e->env.answers)
        answers_add(e->env.answers, r->class->api, r, &e->line);
    if (r->facts.outcome == OUTCOME_OK || r->facts.outcome == OUTCOME_UNSENT)
        return;
    e->counts.failed++;
    failures_note(&e->failures, r->facts.outcome, r->facts.detail,
                  r->why ? r->why : "", r->body, r->body_len);
}

/* Another may be due now, before the one that the timer is set for. */
static void tell_source(struct engine *e, const struct request *r,
                        int64_t end_ns)
{
    int64_t due_ns;

    if (!e->source_ops->ended)
        return;
    due_ns = e->source_ops->peek_ns(e->source);
    e->source_ops->ended(e->source, r, end_ns);
    if (e->source_ops->peek_ns(e->source) < due_ns)
        e->waits_for_end = true;
}

/* Its facts are complete: write them down, make room for the next.  At free_ns
 * its client had its connection back. */
static void retire(struct engine *e, struct request *r, int64_t free_ns)
{
    e->counts.done++;
    record(e, r);
    if (r->session && r->class->api)
        history_add(r->class->api, r->session, &r->facts, &r->response.text);
    tell_source(e, r, free_ns);
    inflight_remove(&e->inflight, r);
}

static void pump(struct engine *e);

static void on_ended(void *arg, struct request *r)
{
    struct engine *e = arg;
    int64_t free_ns = r->facts.end;

    if (r->class->api && r->response.now_ns > free_ns)
        free_ns = r->response.now_ns; /* of the last byte, after its end */
    retire(e, r, free_ns);
    if (e->waits_for_end && !e->is_pumping)
        pump(e);
}

/* Take one out of flight without waiting for its answer. */
static void give_up(struct engine *e, struct request *r, enum outcome outcome,
                    const char *why)
{
    int64_t now = now_ns(e);

    e->env.transport->cancel(e->transport, r);
    r->facts.end = now;
    r->facts.outcome = outcome;
    r->why = r->class->api ? response_break(&r->response, why) : why;
    retire(e, r, now);
}

/* ---- deadlines: all requests have the same, so the oldest is first ---- */

/* From when on the server is waited for.  Where all are due at once, most wait
 * for each other first. */
static int64_t waits_from_ns(const struct engine *e, const struct facts *f)
{
    return e->env.settings->load.scenario == SCENARIO_OFFLINE ? f->issued
                                                              : f->due;
}

static void arm_deadline(struct engine *e)
{
    const struct request *oldest = inflight_oldest(&e->inflight);

    e->has_deadline = oldest != NULL;
    if (oldest)
        arm(e->deadline_timer, waits_from_ns(e, &oldest->facts) +
                                   e->env.settings->target.timeout_ns -
                                   now_ns(e));
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct engine *e = arg;
    int64_t expired = now_ns(e) - e->env.settings->target.timeout_ns;
    struct request *r;

    (void)fd;
    (void)what;
    while ((r = inflight_oldest(&e->inflight)) &&
           waits_from_ns(e, &r->facts) <= expired)
        give_up(e, r, OUTCOME_TIMEOUT, request_late_text(r));
    arm_deadline(e);
    if (e->waits_for_end)
        pump(e);
}

/* ---- streams that are over, and go on ---- */

/* A server may keep the body open after the terminator.  The answer is whole;
 * who waits on holds up a client of the closed loop for nothing.  Was there
 * one? */
static bool let_go(struct engine *e, int64_t now)
{
    struct request *next;
    bool has_any = false;

    for (struct request *r = inflight_oldest(&e->inflight); r; r = next) {
        next = r->next;
        if (!r->class->api || !r->response.is_over ||
            r->response.over_ns > now - TERMINATED_NS)
            continue;
        give_up(e, r, OUTCOME_TRUNCATED, "its body does not end");
        has_any = true;
    }
    return has_any;
}

/* ---- the pacer ---- */

/* The end of whichever limit comes first. */
static void limit_drain(struct engine *e, int64_t end_ns)
{
    if (end_ns >= e->drain_end_ns)
        return;
    e->drain_end_ns = end_ns;
    arm(e->drain_timer, end_ns - now_ns(e));
}

/* When the clock ends the load, as far as known.  A source without a quota goes
 * by the settings alone. */
static int64_t end_of_load_ns(const struct engine *e)
{
    return e->source_ops->quota ? e->source_ops->quota(e->source)->end_ns
                                : quota_end_of(&e->env.settings->load);
}

/* Everything ends a drain after that.  Offline is nothing but answers that are
 * waited for: there it is the end. */
static void limit_whole(struct engine *e)
{
    const struct load_settings *load = &e->env.settings->load;
    int64_t end_ns = end_of_load_ns(e);

    if (end_ns == DUE_UNKNOWN)
        return;
    e->has_end = true;
    if (load->scenario == SCENARIO_OFFLINE)
        limit_drain(e, end_ns);
    else if (load->drain_ns >= 0)
        limit_drain(e, end_ns + load->drain_ns);
}

static struct due take(struct engine *e)
{
    struct due due = e->source_ops->take(e->source);

    if (!e->has_end && e->source_ops->quota)
        limit_whole(e);
    if (due.at_ns <= e->full_until_ns)
        e->cap_waits++;
    return due;
}

/* As far as known; else nothing that is due now is in it. */
static int64_t window_start_ns(const struct engine *e)
{
    return e->source_ops->quota
               ? e->source_ops->quota(e->source)->window_start_ns
               : quota_of(&e->env.settings->load).window_start_ns;
}

/* Sessions stay what they are, and everything else has a class of its own. */
static void set_class(const struct engine *e, struct request *r,
                      const struct due *due)
{
    const struct mix *mix = e->env.mix;
    size_t drawn = mix_draw(mix, due->session ? due->session->id : due->seq);

    r->class = &mix->classes[drawn];
    r->facts.class = (int64_t)drawn;
    if (mix->warmup && r->facts.due < window_start_ns(e))
        r->class = mix->warmup;
}

/* Which turn of which session it is, if it is one. */
static void note_turn(struct request *r, struct session *session)
{
    r->session = session;
    if (!session)
        return;
    if (r->class->api)
        history_begin(r->class->api, session);
    r->facts.session = session->id;
    r->facts.turn = session->turn;
    r->facts.turns = session->n_turns;
}

static void issue(struct engine *e, int64_t now)
{
    struct due due = take(e);
    struct request *r = inflight_add(&e->inflight, due.seq, due.at_ns);
    int64_t lag_ns;

    set_class(e, r, &due);
    note_turn(r, due.session);
    if (due.row && r->class->api)
        row_copy(&r->row, due.row);
    r->facts.issued = now;
    lag_ns = now - due.at_ns;
    if (lag_ns > e->lag_max_ns)
        e->lag_max_ns = lag_ns;
    e->counts.issued++;
    e->spin_until_ns = now + e->env.settings->client.spin_ns;
    if (!e->has_deadline)
        arm_deadline(e);
    if (r->class->api)
        response_begin(&r->response, r->class->api, &r->facts);
    e->env.transport->start(e->transport, r);
}

static void leave_unsent(struct engine *e)
{
    struct due due = take(e);
    struct request r = {.facts = facts_unknown(due.seq, due.at_ns)};

    set_class(e, &r, &due);
    note_turn(&r, due.session);
    r.facts.outcome = OUTCOME_UNSENT;
    e->counts.unsent++;
    record(e, &r);
    if (e->source_ops->ended)
        e->source_ops->ended(e->source, &r, now_ns(e));
}

static void note_window(struct engine *e)
{
    const struct quota planned = quota_of(&e->env.settings->load);
    const struct quota *q =
        e->source_ops->quota ? e->source_ops->quota(e->source) : &planned;

    e->end.window_start_ns = q->window_start_ns;
    e->end.window_end_ns = q->window_end_ns;
}

/* Whatever is left to do, it ends here. */
static void finish(struct engine *e)
{
    e->end.due_end_ns = e->source_ops->due_end_ns(e->source);
    note_window(e);
    e->end.was_cut = engine_broken_off(e) != NULL;
    if (e->env.transport->path)
        e->end.path = e->env.transport->path(e->transport);
    event_base_loopbreak(e->transport_env.base);
}

static bool is_over_by_count(const struct engine *e)
{
    return e->source_ops->due_end_ns(e->source) < end_of_load_ns(e);
}

/* Nothing is due any more: what is in flight has so much time to end.  A
 * window that ends by the clock has set this before. */
static void drain(struct engine *e)
{
    int64_t drain_ns = e->env.settings->load.drain_ns;

    if (!e->has_end)
        limit_whole(e);
    if (e->inflight.len == 0)
        finish(e);
    else if (drain_ns >= 0 && is_over_by_count(e))
        limit_drain(e, now_ns(e) + drain_ns);
}

static bool has_room(const struct engine *e)
{
    return (int64_t)e->inflight.len < e->env.max_in_flight &&
           e->env.transport->has_room(e->transport);
}

/* One step; false when there is nothing to do for now. */
static bool step(struct engine *e, int64_t now)
{
    int64_t due_ns = e->source_ops->peek_ns(e->source);

    switch (pacer_decide(&e->pacer, now, due_ns, has_room(e))) {
    case PACE_ISSUE:
        issue(e, now);
        return true;
    case PACE_UNSENT:
        leave_unsent(e);
        return true;
    case PACE_WAIT:
        arm_due(e, now, due_ns);
        return false;
    case PACE_FULL:
        e->waits_for_end = true;
        e->is_full = true;
        return false;
    case PACE_IDLE:
        e->waits_for_end = true;
        return false;
    default: /* PACE_OVER */
        e->waits_for_end = true;
        drain(e);
        return false;
    }
}

/* Has the loop come round when it had to?  It has now, for whatever it had to:
 * a suspension is noted once. */
static void note_wake(struct engine *e, int64_t now)
{
    int64_t wake_ns = e->armed_ns < e->beat_ns ? e->armed_ns : e->beat_ns;
    int64_t suspended_ns = pacer_wake(&e->pacer, now, wake_ns);

    if (suspended_ns > e->suspended_max_ns)
        e->suspended_max_ns = suspended_ns;
    if (e->armed_ns < now)
        e->armed_ns = now;
    if (e->beat_ns < now)
        e->beat_ns = now;
}

static void beat(struct engine *e, int64_t now)
{
    e->beat_ns = now + BEAT_NS;
    arm(e->heartbeat, BEAT_NS);
}

static void on_beat(evutil_socket_t fd, short what, void *arg)
{
    struct engine *e = arg;
    int64_t now = now_ns(e);

    (void)fd;
    (void)what;
    note_wake(e, now);
    beat(e, now);
    if (e->env.mix->streams && let_go(e, now) && e->waits_for_end)
        pump(e);
}

static void pump(struct engine *e)
{
    int64_t now = now_ns(e);
    int steps = 0;

    note_wake(e, now);
    end_spin(e, now);
    if (e->is_full)
        e->full_until_ns = now;
    e->is_full = false;
    e->armed_ns = INT64_MAX;
    e->is_pumping = true;
    e->waits_for_end = false;
    while (steps < PUMP_BATCH && step(e, now)) {
        steps++;
        now = now_ns(e);
    }
    e->is_pumping = false;
    if (steps == PUMP_BATCH)
        arm_due(e, now, now);
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
    e->armed_ns = 0;
    limit_whole(e);
    beat(e, now_ns(e));
    arm(e->due_timer, 0); /* the loop must run before it can be broken */
}

static void cut(struct engine *e, int64_t cut_ns)
{
    struct request *r;

    e->is_pumping = true; /* nothing is sent any more */
    /* A client that leaves one unsent is due again at cut_ns at the earliest.
     */
    while (e->source_ops->peek_ns(e->source) < cut_ns)
        leave_unsent(e);
    while ((r = inflight_oldest(&e->inflight)))
        give_up(e, r, OUTCOME_UNFINISHED, "in flight when the run was cut");
    finish(e);
    e->end.was_cut = true;
    if (e->end.due_end_ns > cut_ns)
        e->end.due_end_ns = cut_ns;
}

/* What fell due a moment ago, as late as the pacer may always be, was not yet
 * due when the cut came. */
static int64_t cut_time_ns(const struct engine *e)
{
    int64_t due_ns = e->source_ops->peek_ns(e->source);
    int64_t now = now_ns(e);

    return due_ns < now && now - due_ns < CUT_GRACE_NS ? due_ns : now;
}

void engine_cut(struct engine *e)
{
    cut(e, cut_time_ns(e));
}

static void on_drain(evutil_socket_t fd, short what, void *arg)
{
    struct engine *e = arg;
    int64_t left_ns = e->drain_end_ns - now_ns(e);

    (void)fd;
    (void)what;
    if (left_ns > 0)
        arm(e->drain_timer, left_ns);
    else
        cut(e, now_ns(e));
}

int64_t engine_observe_ns(const struct engine *e)
{
    return e->env.observe_ns > 0 ? e->env.observe_ns : NS_PER_S;
}

struct observation engine_observe(struct engine *e)
{
    int64_t now = now_ns(e);
    struct observation seen = {
        .at = now,
        .unsent = e->counts.unsent,
        .issued = e->counts.issued,
        .done = e->counts.done,
        .connections = e->env.transport->connections(e->transport),
        .lag_max = e->lag_max_ns,
        .cpu = clk_thread_cpu_ns(),
        .cap_waits = e->cap_waits,
        .record_wait = shard_waited_ns(e->shard),
        .spun = e->spun_ns,
    };

    note_wake(e, now);
    seen.suspended_max = e->suspended_max_ns;
    e->suspended_max_ns = 0;
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

const struct err *engine_broken_off(const struct engine *e)
{
    return e->source_ops->failure ? e->source_ops->failure(e->source) : NULL;
}

struct engine_end engine_end(const struct engine *e)
{
    return e->end;
}

static int make_parts(struct engine *e, struct err *err)
{
    e->due_timer = evtimer_new(e->transport_env.base, on_due, e);
    e->deadline_timer = evtimer_new(e->transport_env.base, on_deadline, e);
    e->drain_timer = evtimer_new(e->transport_env.base, on_drain, e);
    e->heartbeat = evtimer_new(e->transport_env.base, on_beat, e);
    e->transport = xcalloc(1, e->env.transport->state_size);
    if (e->env.transport->init(e->transport, &e->transport_env, err))
        return -1;
    if (e->env.preconnect > 0 && e->env.transport->preconnect &&
        e->env.transport->preconnect(e->transport, e->env.preconnect, err))
        return -1;
    e->source_ops = source_for(&e->env.settings->load);
    e->source = xcalloc(1, e->source_ops->state_size);
    if (e->source_ops->init(e->source, &e->env.settings->load, e->env.lane,
                            err))
        return -1;
    if (e->env.phases && e->source_ops->share)
        e->source_ops->share(e->source, e->env.phases);
    return 0;
}

/* How late a request may be sent at all, and how many of them at once after a
 * suspension.  Offline all are as late as the server makes them, and none of
 * them fell due meanwhile. */
static struct pacer make_pacer(const struct settings *s, struct lane lane)
{
    if (s->load.scenario == SCENARIO_OFFLINE)
        return pacer_make(INT64_MAX, INT64_MAX);
    return pacer_make(s->target.timeout_ns,
                      lane_share(s->client.max_burst, lane));
}

int engine_new(struct engine **engine, const struct engine_env *env,
               struct event_base *base, struct err *err)
{
    struct engine *e = xcalloc(1, sizeof(*e));

    e->env = *env;
    buf_init(&e->line, MAX_LINE);
    e->full_until_ns = INT64_MIN;
    e->spin_until_ns = INT64_MIN;
    e->armed_ns = INT64_MAX;
    e->beat_ns = INT64_MAX;
    e->drain_end_ns = INT64_MAX;
    e->pacer = make_pacer(env->settings, env->lane);
    e->transport_env = (struct transport_env){
        .base = base,
        .clk = env->clk,
        .mix = env->mix,
        .settings = &env->settings->target,
        .max_connections = env->max_connections,
        .stamps_all = env->stamps_all,
        .lane = env->lane,
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
    buf_fini(&e->line);
    event_free(e->due_timer);
    event_free(e->deadline_timer);
    event_free(e->drain_timer);
    event_free(e->heartbeat);
    free(e);
}
