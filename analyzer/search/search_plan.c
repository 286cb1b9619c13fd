#include "analyzer/search/search_plan.h"

#include <math.h>

#include "analyzer/search/probe_windows.h"
#include "analyzer/search/search_bracket.h"

#define SECOND 1e9 /* times are computed as doubles, and rounded last */

#define TOLERANCE 0.04

/* While the interval reaches further than this, short probes halve it. */
#define WIDE      0.12
#define WIDE_MOST 8

/* Probes near the boundary before the interval is believed; and in all. */
#define NEAR_LEAST  8
#define WHOLE_LEAST 3
#define PROBES_MOST 32

/* Where the next one may be, from the estimate: the log of the load, and the
 * factor of the share of misses. */
#define AROUND       0.12
#define AROUND_SHARE 2.5
#define CANDIDATES   25

/* If more are set aside than count, and so many besides, or so many at all, it
 * is no use. */
#define NOISE_SLACK 8
#define NOISE_MOST  32

/* A server that is well one moment and ill the next looks like one with a
 * capacity as long as no load is tried twice.  So just before the confirmation
 * a load a little above the estimate is probed again: so often, and more if
 * probes contradict each other; and so many contradictions are one too many. */
#define CHECKS      2
#define CHECK_RATIO 1.15
#define CHECK_LOW   1.10
#define CHECK_HIGH  1.50
#define CHECK_SLACK 1.25
#define TWISTS      2

#define CONFIRM_MOST 3

double plan_tolerance(const struct search_config *config)
{
    return config->tolerance > 0 ? config->tolerance : TOLERANCE;
}

/* ---- between what was met and what was missed ---- */

/* The value at which another probe leaves the least variance. */
static double most_telling(const struct search *s, const struct evidence *e,
                           double window)
{
    double around = fmax(fmin(AROUND, log(AROUND_SHARE) / e->fit.slope),
                         evidence_reach(e) / 2);
    double best = e->value;
    double least = INFINITY;

    for (int i = 0; i < CANDIDATES; i++) {
        double u = around * (2.0 * i / (CANDIDATES - 1) - 1);
        double value = e->value * exp(u);
        double n = windows_rate(s, value) * window;
        double variance = fit_variance_with(&e->fit, e->fit.x + u, n);

        if (variance < least) {
            least = variance;
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

/* As long as a miss may be chance, the line that it makes may lead far below
 * what was met. */
static double within_bracket(const struct evidence *e, double value)
{
    if (isfinite(e->failed) || (value > e->met && value < e->missed))
        return value;
    return sqrt(e->met * e->missed);
}

/* Between two whole numbers there is nothing left to find. */
static bool is_decided(const struct search *s, const struct evidence *e)
{
    return s->config.by == SEARCH_CONCURRENCY && e->failed <= e->met + 1;
}

static size_t count_kept_at(const struct search *s, double value)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n +=
            !s->results[i].set_aside && fabs(s->results[i].value - value) < 0.5;
    return n;
}

static void plan_near(const struct search *s, const struct evidence *e,
                      struct step *out)
{
    double window = windows_probe(s, e, e->value);
    double value = e->value;

    if (is_decided(s, e)) {
        value = e->met;
    } else if (evidence_reach(e) > WIDE && count_short(s, e) < WIDE_MOST) {
        value = within_bracket(e, value);
        window = windows_short(s, value);
    } else {
        value = most_telling(s, e, window);
    }
    if (value >= e->client && bracket_is_client_limit(e))
        value = bracket_below_client(e);
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

/* The last so many were checks, before a confirmation that is under way. */
static size_t count_checks(const struct search *s, const struct evidence *e)
{
    size_t n = 0;

    for (size_t i = s->n; i-- > 0;) {
        const struct search_result *r = &s->results[i];
        bool is_open = r->step == SEARCH_CONFIRM &&
                       r->value < (1 - EVIDENCE_SAME) * e->rejected;

        if (r->set_aside || is_open)
            continue;
        if (!is_check(s, e, r))
            break;
        n++;
    }
    return n;
}

/* Of a concurrency it is enough to know the whole number.  What a check adds is
 * no reason to begin again. */
static bool is_narrow(const struct search *s, const struct evidence *e)
{
    double enough = plan_tolerance(&s->config);

    if (is_decided(s, e) && count_kept_at(s, e->met) >= WHOLE_LEAST)
        return true;
    if (s->config.by == SEARCH_CONCURRENCY && e->near >= WHOLE_LEAST &&
        floor(e->ci.low) >= floor(e->ci.high))
        return true;
    if (count_checks(s, e) > 0)
        enough *= CHECK_SLACK;
    return e->near >= NEAR_LEAST && evidence_reach(e) <= enough;
}

bool plan_is_twisted(const struct evidence *e)
{
    return e->twist >= TWISTS;
}

/* The load to check; 0: none, or none that may be tried. */
static double check_above(const struct search *s, const struct evidence *e)
{
    double value = check_value(s, e);
    bool may = value < e->client || !bracket_is_client_limit(e);

    return may && count_checks(s, e) < CHECKS * (1 + e->twist) &&
                   step_rounded(s, value) >= value
               ? value
               : 0;
}

/* What is left to do when the estimate is good enough. */
static void plan_proof(const struct search *s, const struct evidence *e,
                       struct step *out)
{
    double above = check_above(s, e);

    if (above > 0)
        step_ask(s, out, SEARCH_NEAR, above, windows_short(s, above));
    else
        step_confirm(s, e, out, SEARCH_CONFIRM_PART * e->value, SEARCH_FOUND);
}

/* Was it the estimate that was confirmed?  What the client was held to is less.
 */
static bool is_proven(const struct search *s, const struct evidence *e)
{
    double value =
        step_rounded(s, step_whole(s, SEARCH_CONFIRM_PART * e->value));

    return e->confirmed >= (1 - EVIDENCE_SAME) * value;
}

/* Can no more probes help? */
static bool is_lost(const struct evidence *e)
{
    return e->confirmed <= 0 &&
           (e->rejections >= CONFIRM_MOST ||
            (e->kept >= PROBES_MOST && evidence_reach(e) > PLAN_WORST_REACH));
}

static void plan_between(const struct search *s, const struct evidence *e,
                         struct step *out)
{
    if (is_lost(e))
        step_end(out, SEARCH_UNDECIDED);
    else if (e->value >= e->client)
        bracket_to_client(s, e, out);
    else if (is_proven(s, e))
        step_end(out, SEARCH_FOUND);
    else if (is_narrow(s, e) || e->kept >= PROBES_MOST)
        plan_proof(s, e, out);
    else
        plan_near(s, e, out);
}

/* ---- the time ---- */

/* What a run takes beside its window and warm-up: drain and settle. */
static double beside(const struct search *s)
{
    const struct search_result *last = &s->results[s->n - 1];

    return fmax(0, (double)(last->took_ns - last->warmup_ns - last->window_ns));
}

/* Of nothing it is 0. */
static double cost(const struct search *s, const struct search_ask *a)
{
    return a->window_ns > 0
               ? (double)a->warmup_ns + (double)a->window_ns + beside(s)
               : 0;
}

/* It cannot go on.  Where the client's limit is known, that is the answer. */
static void give_up(const struct evidence *e, struct step *out,
                    enum search_outcome outcome)
{
    step_end(out, bracket_ends_at_client(e) ? SEARCH_CLIENT : outcome);
}

/* The confirmation for which time is kept; none if there is nothing to confirm.
 */
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

/* Is there something to confirm that is worth it? */
static bool is_worth_proving(const struct evidence *e, const struct step *proof)
{
    if (proof->ask.step != SEARCH_CONFIRM || e->confirmed > 0)
        return false;
    return !e->has_fit || bracket_ends_at_client(e) ||
           (evidence_reach(e) <= PLAN_WORST_REACH && e->near >= NEAR_LEAST / 2);
}

/* The last of the time goes into a confirmation, of half its length at least;
 * pieces must add up to the whole. */
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

/* What the client cannot do is no noise. */
bool plan_is_noisy(const struct evidence *e)
{
    size_t known = bracket_is_client_limit(e) ? e->beyond_client : 0;
    size_t noise = e->set_aside - known;

    return noise > e->kept + NOISE_SLACK || noise > NOISE_MOST;
}

void plan_make(const struct search *s, const struct evidence *e,
               struct step *out)
{
    double first = s->config.start > 0 ? s->config.start : BRACKET_FIRST_RPS;

    *out = (struct step){.outcome = SEARCH_GOES_ON};
    if (s->n == 0)
        step_ask(s, out, SEARCH_FIRST, first,
                 windows_short(s, step_rounded(s, first)));
    else if (plan_is_twisted(e))
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
    double left = fmax(near * (ratio * ratio - 1), NEAR_LEAST - near);

    return fmin(fmax(left, 1), fmax(1, PROBES_MOST - (double)e->kept));
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
