/* A request ends: with its answer, at its deadline, or because nobody waits for
 * it any longer. */
#include "common/settings/settings.h"
#include "loadgen/api/history.h"
#include "loadgen/engine/engine_parts.h"
#include "loadgen/payload/workload.h"
#include "loadgen/record/answers.h"
#include "loadgen/record/recorder.h"
#include "loadgen/schedule/source.h"

/* So long after its terminator the body of a stream may take to end. */
#define TERMINATED_NS (100 * NS_PER_MS)

void engine_record(struct engine *e, const struct request *r)
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
    engine_record(e, r);
    if (r->session && r->class->api)
        history_add(r->class->api, r->session, &r->facts, &r->response.text);
    tell_source(e, r, free_ns);
    response_release(&r->response);
    inflight_remove(&e->inflight, r);
}

void engine_on_ended(void *arg, struct request *r)
{
    struct engine *e = arg;
    int64_t free_ns = r->facts.end;

    if (r->class->api && r->response.now_ns > free_ns)
        free_ns = r->response.now_ns; /* of the last byte, after its end */
    retire(e, r, free_ns);
    if (e->waits_for_end && !e->is_pumping)
        engine_pump(e);
}

/* Take one out of flight without waiting for its answer. */
void engine_give_up(struct engine *e, struct request *r, enum outcome outcome,
                    const char *why)
{
    int64_t now = engine_now_ns(e);

    e->env.transport->cancel(e->transport, r);
    r->facts.end = now;
    r->facts.outcome = outcome;
    r->why = r->class->api ? response_break(&r->response, why) : why;
    retire(e, r, now);
}

/* ---- deadlines: all requests have the same, so the oldest is first ---- */

/* Where all are due at once, most wait for each other first. */
int64_t engine_waits_from_ns(const struct engine *e, const struct facts *f)
{
    return e->env.settings->load.scenario == SCENARIO_OFFLINE ? f->issued
                                                              : f->due;
}

void engine_arm_deadline(struct engine *e)
{
    const struct request *oldest = inflight_oldest(&e->inflight);

    e->has_deadline = oldest != NULL;
    if (oldest)
        timer_set(&e->deadline, engine_waits_from_ns(e, &oldest->facts) +
                                    e->env.settings->target.timeout_ns -
                                    engine_now_ns(e));
}

void engine_on_deadline(evutil_socket_t fd, short what, void *arg)
{
    struct engine *e = arg;
    struct request *r;
    int64_t expired;

    (void)fd;
    (void)what;
    handoff_enter(e->handoff);
    expired = engine_now_ns(e) - e->env.settings->target.timeout_ns;
    while ((r = inflight_oldest(&e->inflight)) &&
           engine_waits_from_ns(e, &r->facts) <= expired)
        engine_give_up(e, r, OUTCOME_TIMEOUT, request_late_text(r));
    engine_arm_deadline(e);
    if (e->waits_for_end)
        engine_pump(e);
    handoff_leave(e->handoff);
}

/* ---- streams that are over, and go on ---- */

/* A server may keep the body open after the terminator.  The answer is whole;
 * who waits on holds up a client of the closed loop for nothing.  Was there
 * one? */
bool engine_let_go(struct engine *e, int64_t now)
{
    struct request *next;
    bool has_any = false;

    for (struct request *r = inflight_oldest(&e->inflight); r; r = next) {
        next = r->next;
        if (!r->class->api || !r->response.is_over ||
            !r->response.head.is_event_stream ||
            r->response.over_ns > now - TERMINATED_NS)
            continue;
        engine_give_up(e, r, OUTCOME_TRUNCATED, "its body does not end");
        has_any = true;
    }
    return has_any;
}
