#include "analyzer/search/search_plan.h"

#include <math.h>

#define SECOND 1e9 /* times are computed as doubles and rounded last */

/* ---- one end is open ---- */

/* The first guess, and a load that is certainly light. */
#define FIRST_RPS 1.0

/* A light load, by the number of requests in flight: the one tried first, and
 * the maximum. */
#define LIGHT_FIRST    0.1
#define LIGHT_MAX      0.4
#define LIGHT_STEP     1024.0 /* maximum factor of one step down */
#define LIGHT_MIN_STEP 4.0    /* minimum factor */
#define LIGHT_RPS      4.0 /* not lower because of the client: it takes too long */
#define LIGHT_TRIES    4

/* The limit of the client is known when it is this close to a met value, and
 * significant.  Discarded runs are repeated at once. */
#define CLIENT_RATIO    1.1
#define CLIENT_EASY     0.8
#define CLIENT_ROW      6
#define CLIENT_CHANCE   0.001
#define DISCARDED_TRIES 2

/* A client may not sustain for long what it manages briefly.  If it ran out of
 * resources in a confirmation, or CLIENT_TRIES were disturbed, a lower value is
 * confirmed.  After CLIENT_PROOFS the search ends without confirmation. */
#define CLIENT_TRIES  2
#define CLIENT_LOW    0.75
#define CLIENT_PROOFS 8

/* Number of discarded runs at about this value. */
static size_t count_discarded(const struct search *s, double value)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->results[i].discarded && s->results[i].value >= value &&
             s->results[i].value <= CLIENT_RATIO * value;
    return n;
}

/* Number of requests in flight; below 0: unknown. */
static double in_flight(const struct search *s, const struct search_result *r)
{
    if (s->config.by == SEARCH_CONCURRENCY)
        return r->value;
    return r->answer_ns > 0 ? r->value * (double)r->answer_ns / SECOND : -1;
}

/* ---- the limit of the client ---- */

bool bracket_is_client_limit(const struct evidence *e)
{
    return isfinite(e->client) && e->client_chance <= CLIENT_CHANCE;
}

bool bracket_ends_at_client(const struct evidence *e)
{
    return bracket_is_client_limit(e) && e->met > 0 &&
           (!e->has_fit || e->value >= e->client);
}

/* After discarded confirmations a rougher limit is enough. */
static bool is_near_client(const struct evidence *e)
{
    double ratio = e->confirms_discarded > 0 ? 1 / CLIENT_LOW : CLIENT_RATIO;

    return e->client <= ratio * e->reached;
}

/* Number of discarded confirmations of a value. */
static size_t count_discarded_confirms(const struct search *s, double value)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->results[i].discarded &&
             evidence_is_confirm_at(&s->results[i], value);
    return n;
}

static double bracket_client_value(const struct search *s,
                                   const struct evidence *e)
{
    double value = fmin(e->met, e->reached);

    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        if (r->step == SEARCH_CONFIRM &&
            (evidence_is_spent(r) ||
             count_discarded_confirms(s, r->value) >= CLIENT_TRIES))
            value = fmin(value, CLIENT_LOW * r->value);
    }
    return step_rounded(s, step_whole(s, value));
}

static void prove_at_least(const struct search *s, const struct evidence *e,
                           struct step *out, double value,
                           enum search_outcome outcome)
{
    if (e->confirmed >= (1 - EVIDENCE_SAME) * value ||
        (outcome == SEARCH_CLIENT && e->confirms_discarded >= CLIENT_PROOFS))
        step_end(out, outcome);
    else
        step_confirm(s, e, out, value, outcome);
}

/* A load that is easier for the client, after runs that were discarded; easier
 * with each consecutive one. */
static double easier(const struct search *s, const struct evidence *e)
{
    double row = 0;

    for (size_t i = s->n; i-- > 0 && s->results[i].discarded;)
        row++;
    row = fmin(row, CLIENT_ROW);
    return step_rounded(s, fmin(e->reached, e->client * pow(CLIENT_EASY, row)));
}

/* A load that the client failed is tried again, since it may have been
 * disturbed.  Then the gap to the load that it managed is halved.  Then the two
 * ends take turns until it is clear that the load makes the difference. */
static void bracket_to_client(const struct search *s, const struct evidence *e,
                              struct step *out)
{
    double value = step_rounded(s, sqrt(e->reached * e->client));
    bool is_near = is_near_client(e) || value <= e->reached;

    if (is_near && bracket_is_client_limit(e)) {
        prove_at_least(s, e, out, bracket_client_value(s, e), SEARCH_CLIENT);
        return;
    }
    if (!bracket_is_client_limit(e) &&
        count_discarded(s, e->client) < DISCARDED_TRIES)
        value = e->client;
    else if (is_near)
        value = s->results[s->n - 1].discarded ? easier(s, e) : e->client;
    step_ask(s, out, SEARCH_DOUBLING, value, windows_short(s, value));
}

/* ---- no value was missed yet ---- */

/* A nearly idle server can take much more. */
static void bracket_up(const struct search *s, const struct evidence *e,
                       struct step *out)
{
    double flight = -1;
    double factor, value;

    for (size_t i = 0; i < s->n; i++)
        if (!s->results[i].discarded && s->results[i].value >= e->met)
            flight = in_flight(s, &s->results[i]);
    factor = s->config.by == SEARCH_CONCURRENCY || flight < 0 || flight > 0.5
                 ? 2
             : flight > 0.1 ? 4
                            : 8;
    value = step_rounded(s, e->met * factor);
    if (isfinite(e->client))
        bracket_to_client(s, e, out);
    else if (value <= e->met)
        prove_at_least(s, e, out, e->met, SEARCH_AT_LEAST);
    else
        step_ask(s, out, SEARCH_DOUBLING, value, windows_short(s, value));
}

/* ---- no value was met yet ---- */

/* The result at the lowest value; among equals the last that counts. */
static const struct search_result *lowest(const struct search *s)
{
    const struct search_result *low = &s->results[0];

    for (size_t i = 1; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        if (r->value < low->value || (r->value <= low->value && !r->discarded))
            low = r;
    }
    return low;
}

/* Without answers the load may be too high, or the server hangs at any load. */
static bool is_light(const struct search *s, const struct search_result *r)
{
    double flight = in_flight(s, r);
    bool is = flight < 0 ? r->value <= FIRST_RPS : flight <= LIGHT_MAX;

    return is || r->value <= step_rounded(s, 0);
}

/* Would an idle server miss a term?  With a queue, a share p becomes
 * p^(1 - rho) at a load rho; twice that load is allowed for, if a lower load is
 * possible. */
static bool is_missed_idle(const struct search *s,
                           const struct search_result *low)
{
    bool is_least = low->value <= step_rounded(s, 0);
    double load = is_least ? 0 : fmax(0, in_flight(s, low));

    for (size_t i = 0; i < low->n_terms; i++) {
        double allowed = search_allowed(&s->config.slo->terms[i]);

        if (allowed >= 0 &&
            evidence_is_failed(&low->terms[i], pow(allowed, 1 - 2 * load)))
            return true;
    }
    return false;
}

bool bracket_is_never(const struct search *s, const struct evidence *e)
{
    const struct search_result *low = lowest(s);

    return !low->discarded && is_light(s, low) && e->failed <= low->value &&
           is_missed_idle(s, low);
}

/* A load low enough to be light; or one step lower if it may be too much only
 * for the client. */
static double lower_than(const struct search *s,
                         const struct search_result *low)
{
    double flight = in_flight(s, low);
    double part = flight > 0 ? LIGHT_FIRST / flight : 0;
    double value;

    part = fmin(fmax(part, 1 / LIGHT_STEP), 1 / LIGHT_MIN_STEP);
    value = low->value * part;
    if (flight < 0)
        value = fmin(fmax(value, FIRST_RPS), low->value / LIGHT_MIN_STEP);
    return step_rounded(s, value);
}

/* A discarded run at a light load is repeated, and then a lower load is tried,
 * but none that takes minutes. */
static void bracket_down(const struct search *s, const struct evidence *e,
                         struct step *out)
{
    const struct search_result *low = lowest(s);
    double value = lower_than(s, low);
    bool is_low = low->value < LIGHT_RPS || value >= low->value;

    if (low->discarded && (count_discarded(s, low->value) < DISCARDED_TRIES ||
                           (is_light(s, low) && is_low)))
        value = low->value;
    else if (bracket_is_never(s, e)) {
        step_end(out, SEARCH_NEVER);
        return;
    } else if (is_light(s, low) && e->kept > LIGHT_TRIES) {
        step_end(out, SEARCH_UNDECIDED);
        return;
    }
    step_ask(s, out, SEARCH_LIGHT, value, windows_light(s, value));
}

/* ---- both ends are known ---- */

#define TOLERANCE 0.04

/* While the half-width of the interval is larger, short probes halve it. */
#define WIDE     0.12
#define WIDE_MAX 8

/* Minimum number of probes near the boundary, and maximum number in all. */
#define NEAR_MIN   8
#define WHOLE_MIN  3
#define PROBES_MAX 32

/* Maximum distance of the next probe from the estimate: in the log of the load,
 * and as a factor of the share of misses. */
#define AROUND       0.12
#define AROUND_SHARE 2.5
#define CANDIDATES   25

/* The search gives up if more runs are discarded than count plus NOISE_SLACK,
 * or more than NOISE_MAX. */
#define NOISE_SLACK 8
#define NOISE_MAX   32

/* A server that fails intermittently looks like one with a capacity unless
 * loads are tried twice.  So just before the confirmation a load slightly above
 * the estimate is probed again, CHECKS times, and more often if probes
 * contradict each other.  MAX_CONTRADICTIONS make the search undecided. */
#define CHECKS             2
#define CHECK_RATIO        1.15
#define CHECK_LOW          1.10
#define CHECK_HIGH         1.50
#define CHECK_SLACK        1.25
#define MAX_CONTRADICTIONS 2

#define CONFIRM_MAX 3

static double plan_tolerance(const struct search_config *config)
{
    return config->tolerance > 0 ? config->tolerance : TOLERANCE;
}

/* ---- between a met and a missed value ---- */

/* The value at which another probe leaves the smallest variance. */
static double most_telling(const struct search *s, const struct evidence *e,
                           double window)
{
    double around = fmax(fmin(AROUND, log(AROUND_SHARE) / e->fit.slope),
                         evidence_reach(e) / 2);
    double best = e->value;
    double min = INFINITY;

    for (int i = 0; i < CANDIDATES; i++) {
        double u = around * (2.0 * i / (CANDIDATES - 1) - 1);
        double value = e->value * exp(u);
        double n = windows_rate(s, value) * window;
        double variance = fit_variance_with(&e->fit, e->fit.x + u, n);

        if (variance < min) {
            min = variance;
            best = value;
        }
    }
    return best;
}

static size_t count_short(const struct search *s, const struct evidence *e)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += windows_is_short(s, e, &s->results[i]);
    return n;
}

/* As long as a miss may be chance, the regression may lead far below the met
 * values. */
static double within_bracket(const struct evidence *e, double value)
{
    if (isfinite(e->failed) || (value > e->met && value < e->missed))
        return value;
    return sqrt(e->met * e->missed);
}

/* No whole number is left between the two. */
static bool is_decided(const struct search *s, const struct evidence *e)
{
    return s->config.by == SEARCH_CONCURRENCY && e->failed <= e->met + 1;
}

static size_t count_kept_at(const struct search *s, double value)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n +=
            !s->results[i].discarded && fabs(s->results[i].value - value) < 0.5;
    return n;
}

static void plan_near(const struct search *s, const struct evidence *e,
                      struct step *out)
{
    double window = windows_probe(s, e, e->value);
    double value = e->value;

    if (is_decided(s, e)) {
        value = e->met;
    } else if (evidence_reach(e) > WIDE && count_short(s, e) < WIDE_MAX) {
        value = within_bracket(e, value);
        window = windows_short(s, value);
    } else {
        value = most_telling(s, e, window);
    }
    if (value >= e->client && bracket_is_client_limit(e))
        value = is_near_client(e) ? e->reached : sqrt(e->reached * e->client);
    step_ask(s, out, SEARCH_NEAR, value, window);
}

/* Just above the estimate. */
static double check_value(const struct search *s, const struct evidence *e)
{
    double value = e->value * CHECK_RATIO;

    return s->config.by == SEARCH_CONCURRENCY ? ceil(value) : value;
}

static bool is_check(const struct search *s, const struct evidence *e,
                     const struct search_result *r)
{
    return r->step == SEARCH_PROBE && r->value >= CHECK_LOW * e->value &&
           r->value <= fmax(check_value(s, e), CHECK_HIGH * e->value);
}

/* Number of consecutive checks at the end, before a running confirmation. */
static size_t count_checks(const struct search *s, const struct evidence *e)
{
    size_t n = 0;

    for (size_t i = s->n; i-- > 0;) {
        const struct search_result *r = &s->results[i];
        bool is_open = r->step == SEARCH_CONFIRM &&
                       r->value < (1 - EVIDENCE_SAME) * e->rejected;

        if (r->discarded || is_open)
            continue;
        if (!is_check(s, e, r))
            break;
        n++;
    }
    return n;
}

/* For a concurrency the whole number is enough.  A check that widens the
 * interval a little is no reason to start again. */
static bool is_narrow(const struct search *s, const struct evidence *e)
{
    double enough = plan_tolerance(&s->config);

    if (is_decided(s, e) && count_kept_at(s, e->met) >= WHOLE_MIN)
        return true;
    if (s->config.by == SEARCH_CONCURRENCY && e->near >= WHOLE_MIN &&
        floor(e->ci.low) >= floor(e->ci.high))
        return true;
    if (count_checks(s, e) > 0)
        enough *= CHECK_SLACK;
    return e->near >= NEAR_MIN && evidence_reach(e) <= enough;
}

bool plan_is_contradictory(const struct evidence *e)
{
    return e->contradictions >= MAX_CONTRADICTIONS;
}

/* What to do when the estimate is good enough: check a load above it, if
 * possible, then confirm it. */
static void plan_proof(const struct search *s, const struct evidence *e,
                       struct step *out)
{
    double above = check_value(s, e);

    if ((above < e->client || !bracket_is_client_limit(e)) &&
        count_checks(s, e) < CHECKS * (1 + e->contradictions) &&
        step_rounded(s, above) >= above)
        step_ask(s, out, SEARCH_NEAR, above, windows_short(s, above));
    else
        step_confirm(s, e, out, SEARCH_CONFIRM_PART * e->value, SEARCH_FOUND);
}

static void plan_between(const struct search *s, const struct evidence *e,
                         struct step *out)
{
    double proof =
        step_rounded(s, step_whole(s, SEARCH_CONFIRM_PART * e->value));
    bool is_lost =
        e->confirmed <= 0 &&
        (e->rejections >= CONFIRM_MAX ||
         (e->kept >= PROBES_MAX && evidence_reach(e) > PLAN_WORST_REACH));

    if (is_lost)
        step_end(out, SEARCH_UNDECIDED);
    else if (e->value >= e->client)
        bracket_to_client(s, e, out);
    else if (e->confirmed >= (1 - EVIDENCE_SAME) * proof)
        step_end(out, SEARCH_FOUND);
    else if (is_narrow(s, e) || e->kept >= PROBES_MAX)
        plan_proof(s, e, out);
    else
        plan_near(s, e, out);
}

/* ---- the time ---- */

/* Expected time of a step, with drain and settling as in the last run; 0 for
 * none. */
static double cost(const struct search *s, const struct search_ask *a)
{
    const struct search_result *last = &s->results[s->n - 1];
    double rest =
        fmax(0, (double)(last->took_ns - last->warmup_ns - last->window_ns));

    return a->window_ns > 0 ? (double)a->warmup_ns + (double)a->window_ns + rest
                            : 0;
}

/* End the search.  If the limit of the client is known, that is the answer. */
static void give_up(const struct evidence *e, struct step *out,
                    enum search_outcome outcome)
{
    step_end(out, bracket_ends_at_client(e) ? SEARCH_CLIENT : outcome);
}

/* The confirmation for which time is reserved, if any. */
static struct step proof_of(const struct search *s, const struct evidence *e,
                            const struct step *next)
{
    struct step proof = {0};

    if (next->ask.step == SEARCH_CONFIRM)
        return *next;
    if (s->config.no_confirm)
        return proof;
    if (bracket_ends_at_client(e))
        step_confirm(s, e, &proof, bracket_client_value(s, e), SEARCH_CLIENT);
    else if (e->has_fit && e->met > 0)
        step_confirm(s, e, &proof, SEARCH_CONFIRM_PART * e->value,
                     SEARCH_FOUND);
    return proof;
}

/* Is the confirmation worthwhile? */
static bool is_worth_proving(const struct evidence *e, const struct step *proof)
{
    if (proof->ask.step != SEARCH_CONFIRM || e->confirmed > 0)
        return false;
    return !e->has_fit || bracket_ends_at_client(e) ||
           (evidence_reach(e) <= PLAN_WORST_REACH && e->near >= NEAR_MIN / 2);
}

/* The rest of the budget is used for a confirmation of at least half its
 * length; pieces must add up to the whole. */
static void keep_budget(const struct search *s, const struct evidence *e,
                        struct step *out)
{
    double left = (double)(s->config.budget_ns - e->took_ns);
    struct step proof;
    double over;

    if (s->config.budget_ns <= 0 || s->n == 0 || out->ask.step == SEARCH_DONE)
        return;
    proof = proof_of(s, e, out);
    if (out->ask.step == SEARCH_PROBE &&
        cost(s, &out->ask) + cost(s, &proof.ask) <= left)
        return;
    over = fmax(0, cost(s, &proof.ask) - left);
    if (is_worth_proving(e, &proof) &&
        over <= (proof.is_piece ? 0 : (double)proof.ask.window_ns / 2)) {
        *out = proof;
        out->ask.window_ns -= llround(over);
    } else if (cost(s, &out->ask) > left) {
        give_up(e, out, SEARCH_BUDGET);
    }
}

/* Runs beyond the limit of the client are not noise. */
bool plan_is_noisy(const struct evidence *e)
{
    size_t known = bracket_is_client_limit(e) ? e->beyond_client : 0;
    size_t noise = e->discarded - known;

    return noise > e->kept + NOISE_SLACK || noise > NOISE_MAX;
}

void plan_make(const struct search *s, const struct evidence *e,
               struct step *out)
{
    double first = s->config.start > 0 ? s->config.start : FIRST_RPS;

    *out = (struct step){.outcome = SEARCH_GOES_ON};
    if (s->n == 0)
        step_ask(s, out, SEARCH_FIRST, first,
                 windows_short(s, step_rounded(s, first)));
    else if (plan_is_contradictory(e))
        step_end(out, SEARCH_UNDECIDED);
    else if (e->met <= 0)
        bracket_down(s, e, out);
    else if (!isfinite(e->missed))
        bracket_up(s, e, out);
    else
        plan_between(s, e, out);
    if (out->ask.step == SEARCH_CONFIRM && s->config.no_confirm)
        step_end(out,
                 out->proves == SEARCH_FOUND ? SEARCH_ESTIMATED : out->proves);
    if (out->ask.step != SEARCH_DONE && plan_is_noisy(e))
        give_up(e, out, SEARCH_UNDECIDED);
    keep_budget(s, e, out);
}

/* The variance falls as probes near the boundary add up. */
static double probes_left(const struct search *s, const struct evidence *e)
{
    double near = fmax(1, (double)e->near);
    double ratio = evidence_reach(e) / plan_tolerance(&s->config);
    double left = fmax(near * (ratio * ratio - 1), NEAR_MIN - near);

    return fmin(fmax(left, 1), fmax(1, PROBES_MAX - (double)e->kept));
}

int64_t plan_left_ns(const struct search *s, const struct evidence *e,
                     const struct step *plan)
{
    struct step proof;
    double left;

    if (plan->ask.step == SEARCH_DONE || !e->has_fit || e->met <= 0)
        return 0;
    if (plan->ask.step == SEARCH_CONFIRM)
        return llround(cost(s, &plan->ask));
    proof = proof_of(s, e, plan);
    left = probes_left(s, e) * cost(s, &plan->ask) + cost(s, &proof.ask);
    if (s->config.budget_ns > 0)
        left = fmin(left, (double)(s->config.budget_ns - e->took_ns));
    return llround(fmax(left, 0));
}
