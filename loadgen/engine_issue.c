/* A request begins: what the source has next gets its class and its session,
 * and goes to the transport; or it is too late, and nothing of it goes out. */
#include "common/settings.h"
#include "loadgen/api/history.h"
#include "loadgen/engine_parts.h"
#include "loadgen/mix.h"
#include "loadgen/quota.h"
#include "loadgen/session.h"
#include "loadgen/source.h"

static struct due take(struct engine *e)
{
    struct due due = e->source_ops->take(e->source);

    if (!e->has_end)
        engine_limit_whole(e);
    if (due.at_ns <= e->full_until_ns)
        e->cap_waits++;
    return due;
}

/* Is it known yet when that begins?  If not, nothing that is due now is in it.
 */
static bool is_in_warmup(const struct engine *e, int64_t due_ns)
{
    return due_ns < e->source_ops->quota(e->source)->window_start_ns;
}

/* A session is of one class, with all of its turns. */
static void set_class(const struct engine *e, struct request *r,
                      const struct due *due)
{
    const struct mix *mix = e->env.mix;
    size_t drawn = mix_draw(mix, due->session ? due->session->id : due->seq);

    r->class = &mix->classes[drawn];
    r->facts.class = (int64_t)drawn;
    if (mix->warmup && is_in_warmup(e, due->at_ns))
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

void engine_issue(struct engine *e, int64_t now)
{
    struct due due = take(e);
    struct request *r = inflight_add(&e->inflight, due.seq, due.at_ns);
    int64_t lag_ns;

    set_class(e, r, &due);
    note_turn(r, due.session);
    if (due.row && r->class->api)
        row_copy(&r->row, due.row);
    r->facts.issued = now;
    r->deadline_ns =
        engine_waits_from_ns(e, &r->facts) + e->env.settings->target.timeout_ns;
    lag_ns = now - due.at_ns;
    if (lag_ns > e->lag_max_ns)
        e->lag_max_ns = lag_ns;
    e->counts.issued++;
    e->spin_until_ns = now + e->env.settings->client.spin_ns;
    if (!e->has_deadline)
        engine_arm_deadline(e);
    if (r->class->api)
        response_begin(&r->response, r->class->api, &r->facts);
    e->env.transport->start(e->transport, r);
}

void engine_leave_unsent(struct engine *e)
{
    struct due due = take(e);
    struct request r = {.facts = facts_unknown(due.seq, due.at_ns)};

    set_class(e, &r, &due);
    note_turn(&r, due.session);
    r.facts.outcome = OUTCOME_UNSENT;
    e->counts.unsent++;
    engine_record(e, &r);
    if (e->source_ops->ended)
        e->source_ops->ended(e->source, &r, engine_now_ns(e));
}
