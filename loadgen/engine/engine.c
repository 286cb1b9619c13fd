/* The life of a request:
 *
 *   on_due() -> pump() -> step() -> issue() -> the transport's start()
 *   the transport -> on_ended() -> retire() -> record()
 *
 * A request that is too late is left unsent instead: step() -> leave_unsent().
 * One whose answer does not come ends with give_up() -> retire().  The run ends
 * with finish(), when everything is answered, or with cut().
 */
#include "loadgen/engine/engine.h"

#include <event2/event.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/api/history.h"
#include "loadgen/engine/handoff.h"
#include "loadgen/engine/inflight.h"
#include "loadgen/engine/pacer.h"
#include "loadgen/engine/timer.h"
#include "loadgen/payload/workload.h"
#include "loadgen/record/answers.h"
#include "loadgen/record/recorder.h"
#include "loadgen/schedule/session.h"
#include "loadgen/schedule/window_limits.h"
#include "loadgen/transport/transport.h"

/* After this many sends in a row the responses get their turn. */
#define PUMP_BATCH 64

/* The heartbeat: a suspension of the client shows as a late beat. */
#define BEAT_NS (100 * NS_PER_MS)

/* How long the body of a stream may stay open after its terminator. */
#define TERMINATED_NS (100 * NS_PER_MS)

/* What fell due less than this before a cut was not yet due: the pacer may
 * always be that late. */
#define CUT_GRACE_NS (2 * NS_PER_MS)

/* At a cut the first LEAVE_EACH due requests are taken one by one; after that
 * all that are due at once are taken at once, and a schedule of different times
 * is followed for LEAVE_NS at most. */
#define LEAVE_EACH (1 << 14)
#define LEAVE_NS   NS_PER_S

/* A line of answers.jsonl: each byte of a long answer may be an escape. */
#define MAX_LINE ((size_t)1 << 30)

struct engine {
    struct engine_env env;
    struct transport_env transport_env;
    void *transport;
    struct handoff *handoff; /* the transport's; NULL: it has no thread */
    const struct source_ops *source_ops;
    void *source;
    struct shard *shard;
    struct buf line; /* of answers that are kept */

    struct timer due;      /* fires when the next request is due */
    struct timer deadline; /* fires when the oldest request times out */
    struct timer beat;     /* fires every BEAT_NS */
    struct timer drain;    /* fires at drain_end_ns, when everything ends */
    int64_t drain_end_ns;  /* INT64_MAX: not set */
    bool has_end;          /* the end of the load is known */
    bool is_stopped;       /* the load was ended, waiting for answers */
    int64_t window_sent; /* requests due in the window, and those of them ... */
    int64_t window_open; /* ... that are in flight */

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
    bool is_full;          /* max_in_flight holds back what is due */
    int64_t full_until_ns; /* what was due by then waited for room */
    int64_t cap_waits;
    int64_t lag_max_ns;  /* since the last observation */
    int64_t n_left_due;  /* requests left unsent at the cut, ... */
    int64_t left_due_ns; /* ... and when the last of them was due */
    struct engine_end end;
    struct failures failures;
};

static int64_t now_ns(const struct engine *e)
{
    return transport_now(&e->transport_env);
}

/* ---- when the run ends ---- */

static void limit_drain(struct engine *e, int64_t end_ns)
{
    if (end_ns >= e->drain_end_ns)
        return;
    e->drain_end_ns = end_ns;
    timer_set(&e->drain, end_ns - now_ns(e));
}

/* Everything ends one drain time after the load, once the end of the load is
 * known; an automatic cool-down is part of the drain time.  Offline the load is
 * nothing but waiting for answers, so that its end is the end of the run. */
static void limit_run(struct engine *e)
{
    const struct load_settings *load = &e->env.settings->load;
    const struct window_limits *limits = source_limits(e->source);
    int64_t end_ns = limits->is_auto ? limits->window_end_ns : limits->end_ns;

    if (end_ns == DUE_UNKNOWN)
        return;
    e->has_end = true;
    if (load->scenario == SCENARIO_OFFLINE)
        limit_drain(e, end_ns);
    else if (load->drain_ns >= 0)
        limit_drain(e, end_ns + load->drain_ns);
}

static void finish(struct engine *e)
{
    struct window_limits *limits = source_limits(e->source);

    if (limits->is_auto) /* a worker without clients ends early */
        window_limits_settle(limits, 0, 0, now_ns(e));
    e->end = (struct engine_end){
        .due_end_ns = e->source_ops->due_end_ns(e->source),
        .window_start_ns = limits->window_start_ns,
        .window_end_ns = limits->window_end_ns,
        .was_cut = e->is_stopped || engine_schedule_error(e) != NULL,
    };
    if (e->env.transport->path)
        e->end.path = e->env.transport->path(e->transport);
    event_base_loopbreak(e->transport_env.base);
}

/* Nothing more will be due: requests in flight get the drain time to end.  A
 * window that ends by the clock has set that limit before. */
static void drain(struct engine *e)
{
    int64_t drain_ns = e->env.settings->load.drain_ns;

    if (!e->has_end)
        limit_run(e);
    if (e->inflight.len == 0)
        finish(e);
    else if (drain_ns >= 0 && e->source_ops->due_end_ns(e->source) <
                                  source_limits(e->source)->end_ns)
        limit_drain(e, now_ns(e) + drain_ns);
}

enum { WARMUP, WINDOW, COOLDOWN };

/* The part of the run that a due time belongs to, as far as is known now. */
static int part_of(const struct engine *e, int64_t due_ns)
{
    const struct window_limits *limits = source_limits(e->source);

    return due_ns < limits->window_start_ns ? WARMUP
           : due_ns < limits->window_end_ns ? WINDOW
                                            : COOLDOWN;
}

/* ---- a request begins ---- */

static struct due take(struct engine *e)
{
    struct due due = e->source_ops->take(e->source);

    if (!e->has_end)
        limit_run(e);
    if (due.at_ns <= e->full_until_ns)
        e->cap_waits++;
    return due;
}

/* Its class, and its turn if it is one of a session.  All turns of a session
 * have the same class.  As long as the start of the window is not known,
 * everything that is due belongs to the warm-up. */
static void classify(const struct engine *e, struct request *r,
                     const struct due *due)
{
    const struct workload *workload = e->env.workload;
    struct session *session = due->session;
    size_t drawn = workload_draw(workload, session ? session->id : due->seq);

    r->class = &workload->classes[drawn];
    r->facts.class = (int64_t)drawn;
    if (workload->warmup &&
        due->at_ns < source_limits(e->source)->window_start_ns)
        r->class = workload->warmup;
    r->session = session;
    if (!session)
        return;
    if (r->class->api)
        history_begin(r->class->api, session);
    r->facts.session = session->id;
    r->facts.turn = session->turn;
    r->facts.turns = session->n_turns;
}

/* The timeout counts from here.  Offline all are due at once, and most wait for
 * each other first. */
static int64_t timeout_start_ns(const struct engine *e, const struct facts *f)
{
    return e->env.settings->load.scenario == SCENARIO_OFFLINE ? f->issued
                                                              : f->due;
}

/* All requests have the same timeout, so the oldest is the first. */
static void arm_deadline(struct engine *e)
{
    const struct request *oldest = inflight_oldest(&e->inflight);

    e->has_deadline = oldest != NULL;
    if (oldest)
        timer_set(&e->deadline, timeout_start_ns(e, &oldest->facts) +
                                    e->env.settings->target.timeout_ns -
                                    now_ns(e));
}

static void issue(struct engine *e, int64_t now)
{
    struct due due = take(e);
    struct request *r = inflight_add(&e->inflight, due.seq, due.at_ns);
    int64_t lag_ns = now - due.at_ns;

    classify(e, r, &due);
    if (due.row && r->class->api)
        row_copy(&r->row, due.row);
    r->facts.issued = now;
    r->deadline_ns =
        timeout_start_ns(e, &r->facts) + e->env.settings->target.timeout_ns;
    if (lag_ns > e->lag_max_ns)
        e->lag_max_ns = lag_ns;
    e->counts.issued++;
    if (part_of(e, due.at_ns) == WINDOW) {
        e->window_sent++;
        e->window_open++;
    }
    e->spin_until_ns = now + e->env.settings->client.spin_ns;
    if (!e->has_deadline)
        arm_deadline(e);
    if (r->class->api)
        response_begin(&r->response, r->class->api, &r->facts);
    e->env.transport->start(e->transport, r);
}

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

static struct due take_unsent(struct engine *e, struct request *r)
{
    struct due due = take(e);

    r->facts = facts_unknown(due.seq, due.at_ns);
    classify(e, r, &due);
    r->facts.outcome = OUTCOME_UNSENT;
    e->counts.unsent++;
    return due;
}

static void end_unsent(const struct engine *e, const struct request *r)
{
    if (e->source_ops->ended)
        e->source_ops->ended(e->source, r, now_ns(e));
}

static void leave_unsent(struct engine *e)
{
    struct request r = {0};

    take_unsent(e, &r);
    record(e, &r);
    end_unsent(e, &r);
}

/* ---- the loop: send what is due, and wait for what will be ---- */

/* The client is either working or spinning: this counts its work. */
static int64_t work_done(const struct engine *e)
{
    return e->counts.issued + e->counts.done;
}

/* The engine does not sleep shortly before a request is due or after one was
 * sent (client.spin), nor for a wait that is shorter than going to sleep takes.
 * A wait of 0 polls the sockets and comes back. */
static void arm_due(struct engine *e, int64_t now, int64_t due_ns)
{
    int64_t wait_ns = due_ns - now - e->env.settings->client.spin_ns;

    if (now < e->spin_until_ns || wait_ns < e->env.short_wait_ns)
        wait_ns = 0;
    e->armed_ns = due_ns;
    e->is_spinning = wait_ns <= 0 && due_ns > now;
    e->spin_from_ns = now;
    e->spin_mark = work_done(e);
    timer_set(&e->due, wait_ns);
}

/* One step; false when there is nothing to do for now. */
static bool step(struct engine *e, int64_t now)
{
    struct window_limits *limits = source_limits(e->source);
    int64_t due_ns = e->source_ops->peek_ns(e->source);
    bool has_room = (int64_t)e->inflight.len < e->env.max_in_flight &&
                    e->env.transport->has_room(e->transport);

    /* Answers can make further requests due until the window is over. */
    if (limits->is_auto && due_ns >= limits->window_end_ns &&
        (!e->source_ops->ended || now >= limits->window_end_ns)) {
        window_limits_settle(limits, e->window_open, e->window_sent, now);
        due_ns = e->source_ops->peek_ns(e->source);
    }
    switch (pacer_decide(&e->pacer, now, due_ns, has_room)) {
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
        e->is_full = true;
        break;
    case PACE_IDLE:
        break;
    default: /* PACE_OVER */
        drain(e);
    }
    e->waits_for_end = true;
    return false;
}

/* The loop runs now: note a suspension, once, if it had to run earlier. */
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

static void pump(struct engine *e)
{
    int64_t now = now_ns(e);
    int steps = 0;

    note_wake(e, now);
    if (e->is_spinning && e->spin_mark == work_done(e))
        e->spun_ns += now - e->spin_from_ns;
    e->is_spinning = false;
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
    struct engine *e = arg;

    (void)fd;
    (void)what;
    handoff_enter(e->handoff);
    pump(e);
    handoff_leave(e->handoff);
}

/* ---- a request ends ---- */

/* Its facts are complete: record them and make room for the next.  The client
 * that sent it can send again at free_ns; that request may be due before the
 * one that the timer is set for. */
static void retire(struct engine *e, struct request *r, int64_t free_ns)
{
    e->counts.done++;
    e->window_open -= part_of(e, r->facts.due) == WINDOW;
    record(e, r);
    if (r->session && r->class->api)
        history_add(r->class->api, r->session, &r->facts, &r->response.text);
    if (e->source_ops->ended) {
        int64_t due_ns = e->source_ops->peek_ns(e->source);

        e->source_ops->ended(e->source, r, free_ns);
        if (e->source_ops->peek_ns(e->source) < due_ns)
            e->waits_for_end = true;
    }
    response_release(&r->response);
    inflight_remove(&e->inflight, r);
}

/* The transport calls this, inside the handoff if there is one. */
static void on_ended(void *arg, struct request *r)
{
    struct engine *e = arg;
    int64_t free_ns = r->facts.end;

    if (r->class->api && r->response.now_ns > free_ns)
        free_ns = r->response.now_ns; /* the last byte came after the end */
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
    r->body_len = 0; /* a partial body does not explain the failure */
    request_break(r, now, outcome, 0, why);
    retire(e, r, now);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct engine *e = arg;
    struct request *r;
    int64_t expired_ns;

    (void)fd;
    (void)what;
    handoff_enter(e->handoff);
    expired_ns = now_ns(e) - e->env.settings->target.timeout_ns;
    while ((r = inflight_oldest(&e->inflight)) &&
           timeout_start_ns(e, &r->facts) <= expired_ns)
        give_up(e, r, OUTCOME_TIMEOUT,
                request_timeout_text(r->facts.head != TIME_ABSENT));
    arm_deadline(e);
    if (e->waits_for_end)
        pump(e);
    handoff_leave(e->handoff);
}

/* A server may keep the body of a stream open after its terminator.  The answer
 * is complete, and waiting longer would hold up a client of the closed loop. */
static bool end_terminated(struct engine *e, int64_t now)
{
    struct request *next;
    bool has_any = false;

    for (struct request *r = inflight_oldest(&e->inflight); r; r = next) {
        next = r->next;
        if (!r->class->api || !r->response.is_over ||
            !r->response.head.is_event_stream ||
            r->response.over_ns > now - TERMINATED_NS)
            continue;
        give_up(e, r, OUTCOME_TRUNCATED, "its body does not end");
        has_any = true;
    }
    return has_any;
}

static void arm_beat(struct engine *e, int64_t now)
{
    e->beat_ns = now + BEAT_NS;
    timer_set(&e->beat, BEAT_NS);
}

static void on_beat(evutil_socket_t fd, short what, void *arg)
{
    struct engine *e = arg;
    int64_t now = now_ns(e);

    (void)fd;
    (void)what;
    handoff_enter(e->handoff);
    note_wake(e, now);
    arm_beat(e, now);
    if ((e->env.workload->streams && end_terminated(e, now) &&
         e->waits_for_end) ||
        source_limits(e->source)->is_auto) /* which can end now */
        pump(e);
    handoff_leave(e->handoff);
}

/* ---- the run is cut: nothing is sent any more ---- */

/* Everything that is left, all due at the same time.  The classes are not
 * drawn: each gets its share by weight. */
static void leave_rest(struct engine *e, struct request *r)
{
    const struct workload *workload = e->env.workload;
    size_t n_classes = workload->is_drawn ? workload->drawn->len : 1;
    int64_t n;
    struct due due = e->source_ops->take_rest(e->source, &n);
    int64_t last_seq = due.seq + (n - 1) * e->env.lane.workers;
    int64_t left = n;

    e->counts.unsent += n;
    if (due.at_ns <= e->full_until_ns)
        e->cap_waits += n;
    for (size_t i = 0; i < n_classes; i++) {
        double share =
            i + 1 < n_classes ? classes_share(workload->drawn, i) : 1;
        int64_t part = share < 1 ? (int64_t)((double)n * share) : left;

        if (part <= 0)
            continue;
        left -= part;
        r->facts = facts_unknown(due.seq, due.at_ns);
        r->facts.outcome = OUTCOME_UNSENT;
        r->facts.class = (int64_t)i;
        r->facts.more = part - 1;
        r->facts.last_seq = last_seq;
        shard_add_unsent(e->shard, &r->facts, false);
    }
    end_unsent(e, r);
}

/* Leave everything unsent that is due before cut_ns.  Returns the time up to
 * which the schedule was followed: less than cut_ns if that would take too
 * long.  A client that leaves a request unsent is due again at cut_ns at the
 * earliest. */
static int64_t leave_due(struct engine *e, int64_t cut_ns)
{
    const struct load_settings *load = &e->env.settings->load;
    /* Answers, queries and `--stop decided` need single requests. */
    bool has_ranges = !e->env.answers &&
                      load->scenario != SCENARIO_MULTI_STREAM &&
                      load->stop != STOP_DECIDED;
    int64_t until_ns = now_ns(e) + LEAVE_NS;
    struct request r = {0}; /* large: cleared once */
    int64_t due_ns;

    while ((due_ns = e->source_ops->peek_ns(e->source)) < cut_ns) {
        if (e->n_left_due % LEAVE_EACH == LEAVE_EACH - 1 &&
            !e->source_ops->take_rest && now_ns(e) >= until_ns)
            return due_ns;
        if (!has_ranges) {
            leave_unsent(e);
        } else if (e->n_left_due >= LEAVE_EACH && e->source_ops->take_rest) {
            leave_rest(e, &r);
        } else {
            struct due due = take_unsent(e, &r);
            /* Ranges do not cross the start or the end of the window. */
            bool is_first = e->n_left_due == 0 ||
                            part_of(e, e->left_due_ns) != part_of(e, due.at_ns);

            e->left_due_ns = due.at_ns;
            shard_add_unsent(e->shard, &r.facts, is_first);
            end_unsent(e, &r);
        }
        e->n_left_due++;
    }
    return cut_ns;
}

static void cut(struct engine *e, int64_t cut_ns)
{
    struct request *r;

    e->is_pumping = true; /* nothing is sent any more */
    cut_ns = leave_due(e, cut_ns);
    while ((r = inflight_oldest(&e->inflight)))
        give_up(e, r, OUTCOME_UNFINISHED, "in flight when the run was cut");
    finish(e);
    e->end.was_cut = true;
    if (e->end.due_end_ns > cut_ns)
        e->end.due_end_ns = cut_ns;
}

/* A request that fell due within the grace was not yet due when the end came,
 * unless everything is due at once. */
void engine_cut(struct engine *e, bool waits)
{
    int64_t now = now_ns(e);
    int64_t due_ns;

    handoff_enter(e->handoff);
    due_ns = e->source_ops->peek_ns(e->source);
    if (!e->source_ops->take_rest && due_ns < now &&
        now - due_ns < CUT_GRACE_NS)
        now = due_ns;
    if (!waits)
        cut(e, now);
    else if (!e->is_stopped) {
        e->is_stopped = e->is_pumping = true; /* pump() ends the latter */
        window_limits_stop(source_limits(e->source), leave_due(e, now));
        limit_run(e);
        pump(e);
    }
    handoff_leave(e->handoff);
}

static void on_drain(evutil_socket_t fd, short what, void *arg)
{
    struct engine *e = arg;
    int64_t now = now_ns(e);

    (void)fd;
    (void)what;
    handoff_enter(e->handoff);
    if (now >= e->drain_end_ns)
        cut(e, now);
    else if (e->drain_end_ns != INT64_MAX)
        timer_set(&e->drain, e->drain_end_ns - now);
    handoff_leave(e->handoff);
}

/* ---- what others want to know ---- */

struct observation engine_observe(struct engine *e)
{
    const struct transport_ops *ops = e->env.transport;
    int64_t own_cpu_ns = clk_thread_cpu_ns();
    int64_t other_cpu_ns = ops->cpu_ns ? ops->cpu_ns(e->transport) : 0;
    int64_t now = now_ns(e);
    struct observation seen = {
        .at = now,
        .unsent = e->counts.unsent,
        .issued = e->counts.issued,
        .done = e->counts.done,
        .connections = ops->connections(e->transport),
        .lag_max = e->lag_max_ns,
        /* The busier of its two threads is the client's limit. */
        .cpu = own_cpu_ns > other_cpu_ns ? own_cpu_ns : other_cpu_ns,
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

struct handoff *engine_handoff(struct engine *e)
{
    return e->handoff;
}

struct engine_counts engine_counts(const struct engine *e)
{
    return e->counts;
}

const struct failures *engine_failures(const struct engine *e)
{
    return &e->failures;
}

const struct err *engine_schedule_error(const struct engine *e)
{
    return e->source_ops->failure ? e->source_ops->failure(e->source) : NULL;
}

struct engine_end engine_end(const struct engine *e)
{
    return e->end;
}

/* ---- making, beginning and freeing ---- */

static int make_parts(struct engine *e, struct err *err)
{
    struct event_base *base = e->transport_env.base;
    const struct transport_ops *ops = e->env.transport;

    if (timer_init(&e->due, base, on_due, e, err) ||
        timer_init(&e->deadline, base, on_deadline, e, err) ||
        timer_init(&e->drain, base, on_drain, e, err) ||
        timer_init(&e->beat, base, on_beat, e, err))
        return -1;
    e->transport = xcalloc(1, ops->state_size);
    if (ops->init(e->transport, &e->transport_env, err))
        return -1;
    if (ops->handoff)
        e->handoff = ops->handoff(e->transport);
    if (ops->preconnect && (e->env.preconnect > 0 || ops->connects_ahead) &&
        ops->preconnect(e->transport, e->env.preconnect, err))
        return -1;
    e->source_ops = source_for(&e->env.settings->load);
    e->source = xcalloc(1, e->source_ops->state_size);
    if (e->source_ops->init(e->source, &e->env.settings->load, e->env.lane,
                            err))
        return -1;
    if (e->env.phases)
        window_limits_publish(source_limits(e->source), e->env.phases);
    return 0;
}

int engine_new(struct engine **engine, const struct engine_env *env,
               struct event_base *base, struct err *err)
{
    const struct settings *s = env->settings;
    struct engine *e = xcalloc(1, sizeof(*e));

    e->env = *env;
    buf_init(&e->line, MAX_LINE);
    e->full_until_ns = INT64_MIN;
    e->spin_until_ns = INT64_MIN;
    e->armed_ns = INT64_MAX;
    e->beat_ns = INT64_MAX;
    e->drain_end_ns = INT64_MAX;
    /* How late a request may be sent at all, and how many of them at once after
     * a suspension.  Offline all are as late as the server makes them, and none
     * fell due during a suspension. */
    e->pacer = s->load.scenario == SCENARIO_OFFLINE
                   ? pacer_make(INT64_MAX, INT64_MAX)
                   : pacer_make(s->target.timeout_ns,
                                lane_share(s->client.max_burst, env->lane));
    e->transport_env = (struct transport_env){
        .base = base,
        .clk = env->clk,
        .workload = env->workload,
        .settings = &s->target,
        .max_connections = env->max_connections,
        .channels = lane_share(s->client.channels, env->lane),
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

void engine_begin(struct engine *e, struct shard *shard, int64_t start_ns)
{
    handoff_enter(e->handoff);
    e->shard = shard;
    e->transport_env.start_ns = start_ns;
    e->armed_ns = 0;
    limit_run(e);
    arm_beat(e, now_ns(e));
    timer_set(&e->due, 0); /* the loop must run before it can be broken */
    handoff_leave(e->handoff);
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
    timer_fini(&e->due);
    timer_fini(&e->deadline);
    timer_fini(&e->drain);
    timer_fini(&e->beat);
    free(e);
}
