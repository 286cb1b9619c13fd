/* The run ends: when all is answered, a drain after the load, or at a cut. */
#include <event2/event.h>

#include "common/settings/settings.h"
#include "loadgen/engine/engine_parts.h"
#include "loadgen/schedule/source.h"
#include "loadgen/schedule/window_limits.h"

#define CUT_GRACE_NS (2 * NS_PER_MS)

/* The end of whichever limit comes first. */
static void limit_drain(struct engine *e, int64_t end_ns)
{
    if (end_ns >= e->drain_end_ns)
        return;
    e->drain_end_ns = end_ns;
    timer_set(&e->drain, end_ns - engine_now_ns(e));
}

/* When the clock ends the load, as far as known. */
static int64_t end_of_load_ns(const struct engine *e)
{
    return source_limits(e->source)->end_ns;
}

/* Everything ends a drain after that.  Offline is nothing but answers that are
 * waited for: there it is the end. */
void engine_limit_whole(struct engine *e)
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

static void note_window(struct engine *e)
{
    const struct window_limits *q = source_limits(e->source);

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
void engine_drain(struct engine *e)
{
    int64_t drain_ns = e->env.settings->load.drain_ns;

    if (!e->has_end)
        engine_limit_whole(e);
    if (e->inflight.len == 0)
        finish(e);
    else if (drain_ns >= 0 && is_over_by_count(e))
        limit_drain(e, engine_now_ns(e) + drain_ns);
}

static void cut(struct engine *e, int64_t cut_ns)
{
    struct request *r;

    e->is_pumping = true; /* nothing is sent any more */
    cut_ns = engine_leave_due(e, cut_ns);
    while ((r = inflight_oldest(&e->inflight)))
        engine_give_up(e, r, OUTCOME_UNFINISHED,
                       "in flight when the run was cut");
    finish(e);
    e->end.was_cut = true;
    if (e->end.due_end_ns > cut_ns)
        e->end.due_end_ns = cut_ns;
}

/* What fell due a moment ago, as late as the pacer may always be, was not yet
 * due when the cut came; unless everything is due at once. */
static int64_t cut_time_ns(const struct engine *e)
{
    int64_t due_ns = e->source_ops->peek_ns(e->source);
    int64_t now = engine_now_ns(e);

    if (e->source_ops->take_rest)
        return now;
    return due_ns < now && now - due_ns < CUT_GRACE_NS ? due_ns : now;
}

void engine_cut(struct engine *e)
{
    handoff_enter(e->handoff);
    cut(e, cut_time_ns(e));
    handoff_leave(e->handoff);
}

void engine_on_drain(evutil_socket_t fd, short what, void *arg)
{
    struct engine *e = arg;
    int64_t now;

    (void)fd;
    (void)what;
    handoff_enter(e->handoff);
    now = engine_now_ns(e);
    if (now >= e->drain_end_ns)
        cut(e, now);
    else if (e->drain_end_ns != INT64_MAX)
        timer_set(&e->drain, e->drain_end_ns - now);
    handoff_leave(e->handoff);
}
