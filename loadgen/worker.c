#include "loadgen/worker.h"

#include <event2/event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

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

struct worker {
    struct worker_env env;
    struct shard *shard;
    struct transport_env transport_env;
    void *transport;
    const struct source_ops *source_ops;
    void *source;

    struct event_base *base;
    struct event *due_timer;      /* fires when the next request is due */
    struct event *deadline_timer; /* fires when the oldest one times out */
    struct event *tick;           /* once a second */
    struct event *cut;
    int cut_fd;

    struct inflight inflight;
    struct worker_counts counts;
    bool is_pumping;
    bool waits_for_end; /* only the end of a request can make progress */
    bool has_deadline;  /* the deadline timer is set */
    int64_t held_seq;   /* last request that the cap held back */
    int64_t cap_waits;
    int64_t lag_max_ns; /* in this second */
    int64_t due_end_ns;
    struct failures failures;

    pthread_t thread;
    atomic_bool is_done;
    atomic_llong seen_issued; /* counts as of the last tick */
    atomic_llong seen_unsent;
    atomic_llong seen_done;
    atomic_llong seen_failed;
};

static int64_t now_ns(const struct worker *w)
{
    return transport_now(&w->transport_env);
}

/* Microseconds are rounded down: early costs one more look, late is late.
 * Within the spin nobody sleeps: a wait of 0 polls the sockets and comes back.
 */
static void arm(struct worker *w, struct event *timer, int64_t at_ns)
{
    int64_t wait_ns = at_ns - now_ns(w) - w->env.settings->client.spin_ns;
    struct timeval tv = {0};

    if (wait_ns > 0) {
        tv.tv_sec = wait_ns / NS_PER_S;
        tv.tv_usec = wait_ns % NS_PER_S / NS_PER_US;
    }
    event_add(timer, &tv);
}

/* ---- the end of a request ---- */

static void record(struct worker *w, const struct request *r)
{
    shard_add(w->shard, &r->facts);
    if (r->facts.outcome == OUTCOME_OK || r->facts.outcome == OUTCOME_UNSENT)
        return;
    w->counts.failed++;
    failures_note(&w->failures, r->facts.outcome, r->facts.detail,
                  r->why ? r->why : "", r->body, r->body_len);
}

/* Its facts are complete: write them down, make room for the next. */
static void retire(struct worker *w, struct request *r)
{
    w->counts.done++;
    record(w, r);
    if (w->source_ops->ended)
        w->source_ops->ended(w->source, r->facts.end);
    inflight_remove(&w->inflight, r);
}

static void pump(struct worker *w);

static void on_ended(void *arg, struct request *r)
{
    struct worker *w = arg;

    retire(w, r);
    if (w->waits_for_end && !w->is_pumping)
        pump(w);
}

/* Take one out of flight without waiting for its answer. */
static void give_up(struct worker *w, struct request *r, enum outcome outcome,
                    const char *why)
{
    w->env.transport->cancel(w->transport, r);
    r->facts.end = now_ns(w);
    r->facts.outcome = outcome;
    r->why = why;
    retire(w, r);
}

/* ---- deadlines: all requests have the same, so the oldest is first ---- */

static void arm_deadline(struct worker *w)
{
    const struct request *oldest = inflight_oldest(&w->inflight);

    w->has_deadline = oldest != NULL;
    if (oldest)
        arm(w, w->deadline_timer,
            oldest->facts.due + w->env.settings->target.timeout_ns);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;
    int64_t expired = now_ns(w) - w->env.settings->target.timeout_ns;
    struct request *r;

    (void)fd;
    (void)what;
    while ((r = inflight_oldest(&w->inflight)) && r->facts.due <= expired)
        give_up(w, r, OUTCOME_TIMEOUT, "no answer within the timeout");
    arm_deadline(w);
    if (w->waits_for_end)
        pump(w);
}

/* ---- the pacer ---- */

static void issue(struct worker *w)
{
    struct due due = w->source_ops->take(w->source);
    struct request *r = inflight_add(&w->inflight, due.seq, due.at_ns);
    int64_t lag_ns;

    r->facts.issued = now_ns(w);
    lag_ns = r->facts.issued - due.at_ns;
    if (lag_ns > w->lag_max_ns)
        w->lag_max_ns = lag_ns;
    w->counts.issued++;
    if (!w->has_deadline)
        arm_deadline(w);
    w->env.transport->start(w->transport, r);
}

static void leave_unsent(struct worker *w)
{
    struct due due = w->source_ops->take(w->source);
    struct request r = {0};

    request_reset(&r, due.seq, due.at_ns);
    r.facts.outcome = OUTCOME_UNSENT;
    w->counts.unsent++;
    record(w, &r);
    if (w->source_ops->ended)
        w->source_ops->ended(w->source, now_ns(w));
}

/* Count a request that has to wait for a connection once. */
static void note_cap_wait(struct worker *w)
{
    int64_t seq = w->counts.issued + w->counts.unsent;

    if (w->held_seq != seq)
        w->cap_waits++;
    w->held_seq = seq;
}

static void end_if_idle(struct worker *w)
{
    if (w->inflight.len > 0)
        return;
    w->due_end_ns = w->source_ops->due_end_ns(w->source);
    event_base_loopbreak(w->base);
}

/* One step; false when there is nothing to do for now. */
static bool step(struct worker *w)
{
    int64_t due_ns = w->source_ops->peek_ns(w->source);

    switch (pacer_decide(now_ns(w), due_ns, w->env.settings->target.timeout_ns,
                         w->env.transport->has_room(w->transport))) {
    case PACE_ISSUE:
        issue(w);
        return true;
    case PACE_UNSENT:
        leave_unsent(w);
        return true;
    case PACE_WAIT:
        arm(w, w->due_timer, due_ns);
        return false;
    case PACE_FULL:
        w->waits_for_end = true;
        note_cap_wait(w);
        return false;
    default: /* PACE_IDLE */
        w->waits_for_end = true;
        end_if_idle(w);
        return false;
    }
}

static void pump(struct worker *w)
{
    int steps = 0;

    w->is_pumping = true;
    w->waits_for_end = false;
    while (steps < PUMP_BATCH && step(w))
        steps++;
    w->is_pumping = false;
    if (steps == PUMP_BATCH)
        arm(w, w->due_timer, 0);
}

static void on_due(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    pump(arg);
}

/* ---- once a second ---- */

static void publish(struct worker *w)
{
    atomic_store(&w->seen_issued, w->counts.issued);
    atomic_store(&w->seen_unsent, w->counts.unsent);
    atomic_store(&w->seen_done, w->counts.done);
    atomic_store(&w->seen_failed, w->counts.failed);
}

static void observe(struct worker *w)
{
    struct observation seen = {
        .at = now_ns(w),
        .unsent = w->counts.unsent,
        .issued = w->counts.issued,
        .done = w->counts.done,
        .connections = w->env.transport->connections(w->transport),
        .lag_max = w->lag_max_ns,
        .cpu = clk_thread_cpu_ns(),
        .cap_waits = w->cap_waits,
        .record_wait = shard_waited_ns(w->shard),
    };

    w->lag_max_ns = 0;
    publish(w);
    shard_observe(w->shard, &seen);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    observe(arg);
}

/* ---- the cut ---- */

static void on_cut(evutil_socket_t fd, short what, void *arg)
{
    struct worker *w = arg;
    int64_t cut_ns = now_ns(w);
    struct request *r;

    (void)fd;
    (void)what;
    w->is_pumping = true; /* nothing is sent any more */
    while (w->source_ops->peek_ns(w->source) < cut_ns && !w->source_ops->ended)
        leave_unsent(w);
    while ((r = inflight_oldest(&w->inflight)))
        give_up(w, r, OUTCOME_UNFINISHED, "in flight when the run was cut");
    w->due_end_ns = w->source_ops->due_end_ns(w->source);
    if (w->due_end_ns > cut_ns)
        w->due_end_ns = cut_ns;
    event_base_loopbreak(w->base);
}

/* ---- the thread ---- */

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct timeval second = {.tv_sec = 1};

    prctl(PR_SET_TIMERSLACK, 1UL);
    event_add(w->cut, NULL);
    event_add(w->tick, &second);
    pump(w);
    event_base_dispatch(w->base);
    observe(w);
    shard_flush(w->shard);
    atomic_store(&w->is_done, true);
    return NULL;
}

int worker_start(struct worker *w, struct shard *shard, int64_t start_ns,
                 struct err *err)
{
    w->shard = shard;
    w->transport_env.start_ns = start_ns;
    if (pthread_create(&w->thread, NULL, worker_main, w))
        return err_set(err, ERR_IO, "cannot start a thread");
    return 0;
}

void worker_cut(struct worker *w)
{
    uint64_t one = 1;

    if (write(w->cut_fd, &one, sizeof(one)) < 0)
        return; /* it has been asked already */
}

bool worker_is_done(const struct worker *w)
{
    return atomic_load(&w->is_done);
}

struct worker_counts worker_progress(const struct worker *w)
{
    return (struct worker_counts){
        .issued = atomic_load(&w->seen_issued),
        .unsent = atomic_load(&w->seen_unsent),
        .done = atomic_load(&w->seen_done),
        .failed = atomic_load(&w->seen_failed),
    };
}

void worker_join(struct worker *w)
{
    pthread_join(w->thread, NULL);
}

struct worker_counts worker_counts(const struct worker *w)
{
    return w->counts;
}

const struct failures *worker_failures(const struct worker *w)
{
    return &w->failures;
}

int64_t worker_due_end_ns(const struct worker *w)
{
    return w->due_end_ns;
}

/* ---- making and ending ---- */

static struct event_base *base_new(void)
{
    struct event_config *config = event_config_new();
    struct event_base *base;

    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    event_config_set_flag(config, EVENT_BASE_FLAG_NO_CACHE_TIME);
    base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

static int make_events(struct worker *w, struct err *err)
{
    w->base = base_new();
    w->cut_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (!w->base || w->cut_fd < 0)
        return err_set(err, ERR_IO, "cannot make an event base");
    w->due_timer = evtimer_new(w->base, on_due, w);
    w->deadline_timer = evtimer_new(w->base, on_deadline, w);
    w->tick = event_new(w->base, -1, EV_PERSIST, on_tick, w);
    w->cut = event_new(w->base, w->cut_fd, EV_READ, on_cut, w);
    return 0;
}

static int make_parts(struct worker *w, struct err *err)
{
    if (make_events(w, err))
        return -1;
    w->transport_env = (struct transport_env){
        .base = w->base,
        .clk = w->env.clk,
        .target = w->env.target,
        .max_connections = w->env.max_connections,
        .ended = on_ended,
        .arg = w,
    };
    w->transport = xcalloc(1, w->env.transport->state_size);
    if (w->env.transport->init(w->transport, &w->transport_env, err))
        return -1;
    w->source_ops = source_for(&w->env.settings->load);
    w->source = xcalloc(1, w->source_ops->state_size);
    return w->source_ops->init(w->source, &w->env.settings->load, err);
}

int worker_new(struct worker **worker, const struct worker_env *env,
               struct err *err)
{
    struct worker *w = xcalloc(1, sizeof(*w));

    w->env = *env;
    w->cut_fd = -1;
    w->held_seq = -1;
    if (make_parts(w, err)) {
        worker_free(w);
        return -1;
    }
    *worker = w;
    return 0;
}

static void free_event(struct event *e)
{
    if (e)
        event_free(e);
}

void worker_free(struct worker *w)
{
    if (!w)
        return;
    if (w->source && w->source_ops->fini)
        w->source_ops->fini(w->source);
    free(w->source);
    if (w->transport)
        w->env.transport->fini(w->transport);
    free(w->transport);
    inflight_fini(&w->inflight);
    free_event(w->due_timer);
    free_event(w->deadline_timer);
    free_event(w->tick);
    free_event(w->cut);
    if (w->base)
        event_base_free(w->base);
    if (w->cut_fd >= 0)
        close(w->cut_fd);
    free(w);
}
