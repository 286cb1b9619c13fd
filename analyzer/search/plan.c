#include "analyzer/search/plan.h"

#include <math.h>

#include "analyzer/search/marks.h"
#include "analyzer/search/windows.h"

#define SECOND 1e9 /* times are computed as doubles, and rounded last */

#define TOLERANCE 0.04

/* From nothing. */
#define FIRST_RPS 1.0

/* Light is a load with so many requests in flight at once: first tried, and
 * still called so. */
#define LIGHT_FIRST 0.1
#define LIGHT_MOST  0.5
#define LIGHT_STEP  1024.0 /* at most so much lower at once */
#define LIGHT_LEAST 4.0    /* ... and at least */
#define LIGHT_TRIES 4

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

/* The client's limit is known when it is this near to what was met, and chance
 * is out of the question.  What was set aside is tried again at once. */
#define CLIENT_RATIO  1.1
#define CLIENT_CHANCE 0.02
#define ASIDE_TRIES   2

/* If more are set aside than count, and so many besides, it is no use. */
#define NOISE_SLACK 8

/* A confirmation that was disturbed is made in so many pieces. */
#define PIECES 3

/* What a client can do for a moment it need not hold for long: when so many
 * confirmations of that were disturbed, a lower one is made. */
#define CLIENT_TRIES 2
#define CLIENT_LOW   0.75

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

/* ---- what to ask ---- */

static double rounded(const struct search *s, double value)
{
    if (s->config.most > 0)
        value = fmin(value, s->config.most);
    value = fmax(value, s->config.least);
    return s->config.by == SEARCH_CONCURRENCY ? fmax(1, round(value)) : value;
}

/* Down to what can be had. */
static double whole(const struct search *s, double value)
{
    return s->config.by == SEARCH_CONCURRENCY ? floor(value) : value;
}

static void ask(const struct search *s, struct plan *out, enum search_why why,
                double value, double window)
{
    out->ask = (struct search_ask){
        .step = why == SEARCH_PROVING ? SEARCH_CONFIRM : SEARCH_PROBE,
        .why = why,
        .value = rounded(s, value),
        .warmup_ns = llround(windows_warmup(s, window) * SECOND),
        .window_ns = llround(window * SECOND),
        .may_end_early = true};
}

static void end(struct plan *out, enum search_outcome outcome)
{
    out->ask = (struct search_ask){.step = SEARCH_DONE, .why = SEARCH_OVER};
    out->outcome = outcome;
}

/* Short pieces are disturbed less often, and those that were not add up.  What
 * they must add up to is the whole, which is asked for first at each value. */
static double confirm_window(const struct search *s, const struct evidence *e,
                             double value)
{
    double all = windows_confirm(s, e, value);
    struct search_result seen;

    marks_pool(s, value, &seen);
    if (seen.asked_ns == 0)
        return all;
    return fmin(fmax(all / PIECES, windows_short(s, value)),
                fmax(all - (double)seen.window_ns / SECOND, all / PIECES));
}

static void ask_confirm(const struct search *s, const struct evidence *e,
                        struct plan *out, double value)
{
    value = rounded(s, whole(s, value));
    ask(s, out, SEARCH_PROVING, value, confirm_window(s, e, value));
}

/* How often one with about this value was set aside. */
static size_t count_aside(const struct search *s, double value)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->results[i].set_aside && s->results[i].value >= value &&
             s->results[i].value <= CLIENT_RATIO * value;
    return n;
}

/* Requests in flight at once; below 0: not known. */
static double in_flight(const struct search *s, const struct search_result *r)
{
    if (s->config.by == SEARCH_CONCURRENCY)
        return r->value;
    return r->answer_ns > 0 ? r->value * (double)r->answer_ns / SECOND : -1;
}

/* ---- no value was missed yet ---- */

/* A server that is all but idle takes much more. */
static double step_up(const struct search *s, double met)
{
    double flight = -1;

    for (size_t i = 0; i < s->n; i++)
        if (!s->results[i].set_aside && s->results[i].value >= met)
            flight = in_flight(s, &s->results[i]);
    if (s->config.by == SEARCH_CONCURRENCY || flight < 0 || flight > 0.5)
        return 2;
    return flight > 0.1 ? 4 : 8;
}

static void plan_at_least(const struct search *s, const struct evidence *e,
                          struct plan *out, enum search_outcome outcome)
{
    double value = e->met;
    double lower = floor((double)e->confirms_aside / CLIENT_TRIES);

    if (outcome == SEARCH_CLIENT)
        value = rounded(s, whole(s, value * pow(CLIENT_LOW, lower)));
    if (e->confirmed >= (1 - EVIDENCE_SAME) * value)
        end(out, outcome);
    else
        ask_confirm(s, e, out, value);
}

bool plan_is_client_limit(const struct evidence *e)
{
    return isfinite(e->client) && e->client_chance <= CLIENT_CHANCE;
}

/* What the client could not do is tried a second time, since it may have been
 * disturbed; then the gap to what it could is halved; and then the two ends
 * take turns until it is clear that the load makes the difference. */
static void plan_to_client(const struct search *s, const struct evidence *e,
                           struct plan *out)
{
    double value = rounded(s, sqrt(e->reached * e->client));
    bool is_near =
        e->client <= CLIENT_RATIO * e->reached || value <= e->reached;

    if (is_near && plan_is_client_limit(e)) {
        plan_at_least(s, e, out, SEARCH_CLIENT);
        return;
    }
    if (!plan_is_client_limit(e) && count_aside(s, e->client) < ASIDE_TRIES)
        value = e->client;
    else if (is_near)
        value = s->results[s->n - 1].set_aside
                    ? rounded(s, fmin(e->reached, EVIDENCE_EASY * e->client))
                    : e->client;
    ask(s, out, SEARCH_DOUBLING, value, windows_short(s, value));
}

static void plan_up(const struct search *s, const struct evidence *e,
                    struct plan *out)
{
    double value = rounded(s, e->met * step_up(s, e->met));

    if (isfinite(e->client))
        plan_to_client(s, e, out);
    else if (value <= e->met)
        plan_at_least(s, e, out, SEARCH_AT_LEAST);
    else
        ask(s, out, SEARCH_DOUBLING, value, windows_short(s, value));
}

/* ---- no value was met yet ---- */

/* Of equal ones the last that counts. */
static const struct search_result *lowest(const struct search *s)
{
    const struct search_result *low = &s->results[0];

    for (size_t i = 1; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        if (r->value < low->value || (r->value <= low->value && !r->set_aside))
            low = r;
    }
    return low;
}

/* What was not answered may be too much, or hang at any load. */
static bool is_light(const struct search *s, const struct search_result *r)
{
    double flight = in_flight(s, r);
    bool is = flight < 0 ? r->value <= FIRST_RPS : flight <= LIGHT_MOST;

    return is || r->value <= rounded(s, 0);
}

bool plan_is_never(const struct search *s, const struct evidence *e)
{
    const struct search_result *low = lowest(s);

    return !low->set_aside && is_light(s, low) && e->failed <= low->value;
}

static void plan_down(const struct search *s, const struct evidence *e,
                      struct plan *out)
{
    const struct search_result *low = lowest(s);
    double flight = in_flight(s, low);
    double part = flight > 0 ? LIGHT_FIRST / flight : 0;
    double value;

    if (low->set_aside &&
        (is_light(s, low) || count_aside(s, low->value) < ASIDE_TRIES)) {
        ask(s, out, SEARCH_LIGHT, low->value, windows_light(s, low->value));
        return;
    }
    if (plan_is_never(s, e)) {
        end(out, SEARCH_NEVER);
        return;
    }
    if (is_light(s, low) && e->kept > LIGHT_TRIES) {
        end(out, SEARCH_UNDECIDED);
        return;
    }
    part = fmin(fmax(part, 1 / LIGHT_STEP), 1 / LIGHT_LEAST);
    value = low->value * part;
    if (flight < 0)
        value = fmin(fmax(value, FIRST_RPS), low->value / LIGHT_LEAST);
    value = rounded(s, value);
    ask(s, out, SEARCH_LIGHT, value, windows_light(s, value));
}

/* ---- between the two ---- */

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

static void plan_near(const struct search *s, const struct evidence *e,
                      struct plan *out)
{
    double window = windows_probe(s, e, e->value);
    double value = e->value;

    if (evidence_reach(e) > WIDE && count_short(s, e) < WIDE_MOST) {
        value = within_bracket(e, value);
        window = windows_short(s, value);
    } else {
        value = most_telling(s, e, window);
    }
    if (value >= e->client && plan_is_client_limit(e))
        value = sqrt(e->reached * e->client);
    ask(s, out, SEARCH_NEAR, value, window);
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

    bool may = value < e->client || !plan_is_client_limit(e);

    return may && count_checks(s, e) < CHECKS * (1 + e->twist) &&
                   rounded(s, value) >= value
               ? value
               : 0;
}

/* What is left to do when the estimate is good enough. */
static void plan_proof(const struct search *s, const struct evidence *e,
                       struct plan *out)
{
    double above = check_above(s, e);

    if (above > 0)
        ask(s, out, SEARCH_NEAR, above, windows_short(s, above));
    else
        ask_confirm(s, e, out, SEARCH_CONFIRM_PART * e->value);
}

/* Can no more probes help? */
static bool is_lost(const struct evidence *e)
{
    return e->confirmed <= 0 &&
           (e->rejections >= CONFIRM_MOST ||
            (e->kept >= PROBES_MOST && evidence_reach(e) > PLAN_WORST_REACH));
}

static void plan_between(const struct search *s, const struct evidence *e,
                         struct plan *out)
{
    if (is_lost(e))
        end(out, SEARCH_UNDECIDED);
    else if (e->confirmed > 0)
        end(out, SEARCH_FOUND);
    else if (e->value >= e->client)
        plan_to_client(s, e, out);
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

static double cost(const struct search *s, const struct search_ask *a)
{
    return (double)a->warmup_ns + (double)a->window_ns + beside(s);
}

/* The last of the time goes into a confirmation, if there is something to
 * confirm, and one of half its length at least. */
static void keep_budget(const struct search *s, const struct evidence *e,
                        struct plan *out)
{
    double left = (double)(s->config.budget_ns - e->took_ns);
    struct plan proof = {0};

    if (s->config.budget_ns <= 0 || s->n == 0 || out->ask.step == SEARCH_DONE)
        return;
    if (e->has_fit && e->met > 0)
        ask_confirm(s, e, &proof, SEARCH_CONFIRM_PART * e->value);
    if (out->ask.step == SEARCH_PROBE &&
        cost(s, &out->ask) + cost(s, &proof.ask) <= left)
        return;
    if (proof.ask.step == SEARCH_CONFIRM && e->confirmed <= 0 &&
        evidence_reach(e) <= PLAN_WORST_REACH && e->near >= NEAR_LEAST / 2 &&
        cost(s, &proof.ask) - (double)proof.ask.window_ns / 2 <= left) {
        double over = fmax(0, cost(s, &proof.ask) - left);

        *out = proof;
        out->ask.window_ns -= llround(over);
        return;
    }
    if (cost(s, &out->ask) > left)
        end(out, SEARCH_BUDGET);
}

bool plan_is_noisy(const struct evidence *e)
{
    return e->set_aside > e->kept + NOISE_SLACK;
}

void plan_make(const struct search *s, const struct evidence *e,
               struct plan *out)
{
    double first = s->config.start > 0 ? s->config.start : FIRST_RPS;

    *out = (struct plan){.outcome = SEARCH_GOES_ON};
    if (s->n == 0)
        ask(s, out, SEARCH_FIRST, first, windows_short(s, rounded(s, first)));
    else if (plan_is_twisted(e))
        end(out, SEARCH_UNDECIDED);
    else if (e->met <= 0)
        plan_down(s, e, out);
    else if (!isfinite(e->missed))
        plan_up(s, e, out);
    else
        plan_between(s, e, out);
    if (out->ask.step != SEARCH_DONE && plan_is_noisy(e))
        end(out, SEARCH_UNDECIDED);
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
                     const struct plan *plan)
{
    struct plan proof = {0};
    double left;

    if (plan->ask.step == SEARCH_DONE || !e->has_fit || e->met <= 0)
        return 0;
    if (plan->ask.step == SEARCH_CONFIRM)
        return llround(cost(s, &plan->ask));
    ask_confirm(s, e, &proof, SEARCH_CONFIRM_PART * e->value);
    left = probes_left(s, e) * cost(s, &plan->ask) + cost(s, &proof.ask);
    if (s->config.budget_ns > 0)
        left = fmin(left, (double)(s->config.budget_ns - e->took_ns));
    return llround(fmax(left, 0));
}
