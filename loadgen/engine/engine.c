#include "loadgen/engine/engine.h"

#include <event2/event.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/engine/engine_parts.h"
#include "loadgen/record/recorder.h"
#include "loadgen/schedule/source.h"
#include "loadgen/schedule/window_limits.h"

/* An answer may be long, and each of its bytes an escape. */
#define MAX_LINE ((size_t)1 << 30)

void engine_begin(struct engine *e, struct shard *shard, int64_t start_ns)
{
    handoff_enter(e->handoff);
    e->shard = shard;
    e->transport_env.start_ns = start_ns;
    e->armed_ns = 0;
    engine_limit_whole(e);
    engine_beat(e, engine_now_ns(e));
    timer_set(&e->due, 0); /* the loop must run before it can be broken */
    handoff_leave(e->handoff);
}

int64_t engine_observe_ns(const struct engine *e)
{
    return e->env.observe_ns > 0 ? e->env.observe_ns : NS_PER_S;
}

/* CPU time of this thread or, if it has more, of the one that works for it:
 * whichever is at its limit is the client's. */
static int64_t busiest_ns(const struct engine *e)
{
    const struct transport_ops *ops = e->env.transport;
    int64_t own_ns = clk_thread_cpu_ns();
    int64_t other_ns = ops->cpu_ns ? ops->cpu_ns(e->transport) : 0;

    return own_ns > other_ns ? own_ns : other_ns;
}

struct observation engine_observe(struct engine *e)
{
    int64_t now = engine_now_ns(e);
    struct observation seen = {
        .at = now,
        .unsent = e->counts.unsent,
        .issued = e->counts.issued,
        .done = e->counts.done,
        .connections = e->env.transport->connections(e->transport),
        .lag_max = e->lag_max_ns,
        .cpu = busiest_ns(e),
        .cap_waits = e->cap_waits,
        .record_wait = shard_waited_ns(e->shard),
        .spun = e->spun_ns,
    };

    engine_note_wake(e, now);
    seen.suspended_max = e->suspended_max_ns;
    e->suspended_max_ns = 0;
    e->lag_max_ns = 0;
    return seen;
}

struct handoff *engine_gate(struct engine *e)
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

const struct err *engine_broken_off(const struct engine *e)
{
    return e->source_ops->failure ? e->source_ops->failure(e->source) : NULL;
}

struct engine_end engine_end(const struct engine *e)
{
    return e->end;
}

static int connect_ahead(const struct engine *e, struct err *err)
{
    const struct transport_ops *ops = e->env.transport;
    bool is_wanted = e->env.preconnect > 0 || ops->connects_ahead;

    return is_wanted && ops->preconnect
               ? ops->preconnect(e->transport, e->env.preconnect, err)
               : 0;
}

static int make_parts(struct engine *e, struct err *err)
{
    struct event_base *base = e->transport_env.base;

    if (timer_init(&e->due, base, engine_on_due, e, err) ||
        timer_init(&e->deadline, base, engine_on_deadline, e, err) ||
        timer_init(&e->drain, base, engine_on_drain, e, err) ||
        timer_init(&e->beat, base, engine_on_beat, e, err))
        return -1;
    e->transport = xcalloc(1, e->env.transport->state_size);
    if (e->env.transport->init(e->transport, &e->transport_env, err))
        return -1;
    if (e->env.transport->handoff)
        e->handoff = e->env.transport->handoff(e->transport);
    if (connect_ahead(e, err))
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
        .workload = env->workload,
        .settings = &env->settings->target,
        .max_connections = env->max_connections,
        .channels = lane_share(env->settings->client.channels, env->lane),
        .stamps_all = env->stamps_all,
        .lane = env->lane,
        .ended = engine_on_ended,
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
    timer_fini(&e->due);
    timer_fini(&e->deadline);
    timer_fini(&e->drain);
    timer_fini(&e->beat);
    free(e);
}
