/* A request begins: what the source has next gets its class and its session,
 * and goes to the transport; or it is too late, and nothing of it goes out. */
#include "common/settings/settings.h"
#include "loadgen/api/history.h"
#include "loadgen/engine/engine_parts.h"
#include "loadgen/payload/workload.h"
#include "loadgen/record/recorder.h"
#include "loadgen/schedule/session.h"
#include "loadgen/schedule/source.h"
#include "loadgen/schedule/window_limits.h"

/* At a cut every request that is due is taken by itself, LEAVE_EACH at a time;
 * after that all that is due at once is taken at once, and a schedule of
 * different times is followed for no longer than LEAVE_NS. */
#define LEAVE_EACH (1 << 14)
#define LEAVE_NS   NS_PER_S

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
    return due_ns < source_limits(e->source)->window_start_ns;
}

/* A session is of one class, with all of its turns. */
static void set_class(const struct engine *e, struct request *r,
                      const struct due *due)
{
    const struct workload *workload = e->env.workload;
    size_t drawn =
        workload_draw(workload, due->session ? due->session->id : due->seq);

    r->class = &workload->classes[drawn];
    r->facts.class = (int64_t)drawn;
    if (workload->warmup && is_in_warmup(e, due->at_ns))
        r->class = workload->warmup;
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

static void be_unsent(const struct engine *e, struct request *r,
                      const struct due *due)
{
    r->facts = facts_unknown(due->seq, due->at_ns);
    set_class(e, r, due);
    note_turn(r, due->session);
    r->facts.outcome = OUTCOME_UNSENT;
}

static void tell_source(const struct engine *e, const struct request *r)
{
    if (e->source_ops->ended)
        e->source_ops->ended(e->source, r, engine_now_ns(e));
}

void engine_leave_unsent(struct engine *e)
{
    struct due due = take(e);
    struct request r = {0};

    be_unsent(e, &r, &due);
    e->counts.unsent++;
    engine_record(e, &r);
    tell_source(e, &r);
}

/* ---- the run is cut: from now on nothing is sent ---- */

/* Answers, queries and `--stop decided` go by single requests. */
static bool has_ranges(const struct engine *e)
{
    const struct load_settings *load = &e->env.settings->load;

    return !e->env.answers && load->scenario != SCENARIO_MULTI_STREAM &&
           load->stop != STOP_DECIDED;
}

/* A range does not cross the start or the end of the window. */
static int phase_of(const struct engine *e, int64_t due_ns)
{
    const struct window_limits *q = source_limits(e->source);

    return (due_ns >= q->window_start_ns) + (due_ns >= q->window_end_ns);
}

static void leave_in_range(struct engine *e, struct request *r)
{
    struct due due = take(e);
    bool is_first = e->n_left_due == 0 ||
                    phase_of(e, e->left_due_ns) != phase_of(e, due.at_ns);

    be_unsent(e, r, &due);
    e->left_due_ns = due.at_ns;
    e->counts.unsent++;
    shard_add_unsent(e->shard, &r->facts, is_first);
    tell_source(e, r);
}

/* Their classes were not drawn, so each class gets its share by weight. */
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
    tell_source(e, r);
}

/* A client that leaves one unsent is due again at cut_ns at the earliest. */
int64_t engine_leave_due(struct engine *e, int64_t cut_ns)
{
    int64_t until_ns = engine_now_ns(e) + LEAVE_NS;
    struct request r = {0}; /* large: cleared once */
    int64_t due_ns;

    while ((due_ns = e->source_ops->peek_ns(e->source)) < cut_ns) {
        if (e->n_left_due % LEAVE_EACH == LEAVE_EACH - 1 &&
            !e->source_ops->take_rest && engine_now_ns(e) >= until_ns)
            return due_ns;
        if (!has_ranges(e))
            engine_leave_unsent(e);
        else if (e->n_left_due >= LEAVE_EACH && e->source_ops->take_rest)
            leave_rest(e, &r);
        else
            leave_in_range(e, &r);
        e->n_left_due++;
    }
    return cut_ns;
}
