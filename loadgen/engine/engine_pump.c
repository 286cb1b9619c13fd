/* The loop: look what is due, send it, and arm the timer for the next. */
#include <event2/event.h>

#include "common/settings/settings.h"
#include "loadgen/engine/engine_parts.h"
#include "loadgen/payload/workload.h"
#include "loadgen/schedule/source.h"

/* After this many sends in a row the responses get their turn. */
#define PUMP_BATCH 64

/* A suspension shows as a beat that is late. */
#define BEAT_NS (100 * NS_PER_MS)

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
    timer_set(&e->due, wait_ns);
}

static void end_spin(struct engine *e, int64_t now)
{
    if (e->is_spinning && e->spin_mark == work_done(e))
        e->spun_ns += now - e->spin_from_ns;
    e->is_spinning = false;
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
        engine_issue(e, now);
        return true;
    case PACE_UNSENT:
        engine_leave_unsent(e);
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
        engine_drain(e);
        return false;
    }
}

/* Has the loop come round when it had to?  It has now, for whatever it had to:
 * a suspension is noted once. */
void engine_note_wake(struct engine *e, int64_t now)
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

void engine_beat(struct engine *e, int64_t now)
{
    e->beat_ns = now + BEAT_NS;
    timer_set(&e->beat, BEAT_NS);
}

void engine_on_beat(evutil_socket_t fd, short what, void *arg)
{
    struct engine *e = arg;
    int64_t now;

    (void)fd;
    (void)what;
    handoff_enter(e->handoff);
    now = engine_now_ns(e);
    engine_note_wake(e, now);
    engine_beat(e, now);
    if (e->env.workload->streams && engine_let_go(e, now) && e->waits_for_end)
        engine_pump(e);
    handoff_leave(e->handoff);
}

void engine_pump(struct engine *e)
{
    int64_t now = engine_now_ns(e);
    int steps = 0;

    engine_note_wake(e, now);
    end_spin(e, now);
    if (e->is_full)
        e->full_until_ns = now;
    e->is_full = false;
    e->armed_ns = INT64_MAX;
    e->is_pumping = true;
    e->waits_for_end = false;
    while (steps < PUMP_BATCH && step(e, now)) {
        steps++;
        now = engine_now_ns(e);
    }
    e->is_pumping = false;
    if (steps == PUMP_BATCH)
        arm_due(e, now, now);
}

void engine_on_due(evutil_socket_t fd, short what, void *arg)
{
    struct engine *e = arg;

    (void)fd;
    (void)what;
    handoff_enter(e->handoff);
    engine_pump(e);
    handoff_leave(e->handoff);
}
