#include "analyzer/search/search_plan.h"

#include <math.h>

#include "analyzer/search/search_tuning.h"

#define SECOND 1e9 /* times are computed as doubles and rounded last */

static const struct search_tuning *const t = &search_tuning;

/* ---- values ---- */

/* The nearest allowed value; a whole number for a concurrency. */
static double rounded(const struct search *s, double value)
{
    double most = s->config.max > 0 ? s->config.max : INFINITY;

    if (s->config.by == SEARCH_CONCURRENCY) {
        value = round(value);
        most = fmax(1, floor(most));
    }
    value = fmax(fmin(value, most), s->config.min);
    return s->config.by == SEARCH_CONCURRENCY ? fmax(1, ceil(value)) : value;
}

static double rounded_down(const struct search *s, double value)
{
    return rounded(s, s->config.by == SEARCH_CONCURRENCY ? floor(value)
                                                         : value);
}

/* Requests per second at a value; 0: unknown. */
static double rate_at(const struct search *s, double value)
{
    if (s->config.by == SEARCH_RATE)
        return value;
    return s->n > 0 ? s->results[s->n - 1].offered_rps : 0;
}

/* Number of requests in flight; below 0: unknown. */
static double in_flight(const struct search *s, const struct search_result *r)
{
    if (s->config.by == SEARCH_CONCURRENCY)
        return r->value;
    return r->answer_ns > 0 ? r->value * (double)r->answer_ns / SECOND : -1;
}

/* ---- lengths of windows, in seconds ---- */

static double longest_limit_s(const struct slo *slo)
{
    double longest = 0;

    for (size_t i = 0; i < slo->len; i++)
        if (slo->terms[i].kind == SLO_QUANTILE ||
            slo->terms[i].kind == SLO_LIMIT)
            longest = fmax(longest, (double)slo->terms[i].limit_ns / SECOND);
    return longest;
}

static double window_for(const struct search *s, double value, double seconds,
                         double limits, double requests)
{
    double rate = rate_at(s, value);
    double window = fmax(seconds, limits * longest_limit_s(s->config.slo));

    if (rate > 0)
        window = fmax(window, requests / rate);
    return fmin(window, fmax(t->longest_s, seconds));
}

/* For a probe that only brackets. */
static double window_short(const struct search *s, double value)
{
    double seconds = t->short_s;

    if (s->config.probe_ns > 0)
        seconds = fmin(seconds, (double)s->config.probe_ns / SECOND);
    return window_for(s, value, seconds, t->short_limits, t->short_requests);
}

/* Near the boundary: several relaxation times, some misses, and such that a
 * number of probes gives the tolerance. */
static double window_near(const struct search *s, const struct evidence *e,
                          double value)
{
    double tolerance = s->config.tolerance > 0 ? s->config.tolerance : t->tolerance;
    double rate = rate_at(s, value);
    double allowed, reach, needed, window;

    if (s->config.probe_ns > 0)
        return (double)s->config.probe_ns / SECOND;
    if (!e->has_fit)
        return window_for(s, value, t->probe_s, t->probe_limits, 0);
    allowed = fmax(search_allowed(&s->config.slo->terms[e->binding]), 1e-5);
    reach = e->fit.slope * tolerance / normal_quantile((1 + SEARCH_CONFIDENCE) / 2);
    needed = e->fit.inflation / allowed / (reach * reach) / t->probe_number;
    window = window_for(s, value,
                        fmax(t->short_s, t->probe_relax * e->fit.relax_s),
                        t->probe_limits, t->probe_misses / allowed);
    if (rate > 0)
        window = fmax(window, fmin(needed / rate,
                                   fmax(t->probe_s, t->probe_relax_max *
                                                        e->fit.relax_s)));
    window = fmin(window, t->longest_s);
    if (s->config.budget_ns > 0)
        window = fmin(window, fmax(window_short(s, value),
                                   t->budget_part *
                                       (double)s->config.budget_ns / SECOND));
    return window;
}

/* Without an estimate to be tested, a confirmation is shorter. */
static double window_confirm(const struct search *s, const struct evidence *e,
                             double value, enum search_outcome proves)
{
    double probe = window_near(s, e, value);

    if (s->config.confirm_ns > 0)
        return (double)s->config.confirm_ns / SECOND;
    if (proves == SEARCH_CLIENT)
        return fmax(probe, window_for(s, value, t->probe_s, t->probe_limits,
                                      t->client_requests));
    return fmin(t->confirm_probes * probe, fmax(t->confirm_max_s, probe));
}

size_t plan_count_near(const struct search *s, const struct evidence *e)
{
    double enough = window_near(s, e, e->fit.load) / 2;
    double near = fmax(t->near, 1 + evidence_reach(e));
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];
        double ratio = r->value / e->fit.load;
        /* The next whole number always counts as near. */
        bool is_next = s->config.by == SEARCH_CONCURRENCY &&
                       fabs(r->value - e->fit.load) <= 1;

        n += r->step == SEARCH_PROBE && !r->discarded && !r->ended_early &&
             (double)r->window_ns >= enough * SECOND &&
             (is_next || (ratio < near && ratio > 1 / near));
    }
    return n;
}

bool plan_is_short(const struct search *s, const struct evidence *e)
{
    return e->has_fit && window_near(s, e, e->fit.load) <
                             t->probe_relax / 2 * e->fit.relax_s;
}

/* ---- steps ---- */

static void ask_for(const struct search *s, const struct evidence *e,
                    struct step *out, enum search_why why, double value,
                    double window_s)
{
    double warmup_s = fmax(t->warmup_part * window_s,
                           t->warmup_limits * longest_limit_s(s->config.slo));

    if (why == SEARCH_NEAR || why == SEARCH_PROVING)
        warmup_s = fmax(warmup_s, fmin(t->warmup_relax * e->fit.relax_s,
                                       window_s / 2));
    out->ask = (struct search_ask){
        .step = why == SEARCH_PROVING ? SEARCH_CONFIRM : SEARCH_PROBE,
        .why = why,
        .value = rounded(s, value),
        .warmup_ns = llround(warmup_s * SECOND),
        .window_ns = llround(window_s * SECOND),
        .may_end_early = true};
}

static void end(struct step *out, enum search_outcome outcome)
{
    out->ask = (struct search_ask){.step = SEARCH_DONE, .why = SEARCH_OVER};
    out->outcome = outcome;
}

/* Once disturbed, a confirmation is made in pieces of a third, which are
 * disturbed less often and count together. */
static void ask_confirm(const struct search *s, const struct evidence *e,
                        struct step *out, double value,
                        enum search_outcome proves)
{
    double window;

    value = rounded_down(s, value);
    window = window_confirm(s, e, value, proves);
    if (evidence_discarded_at(s, SEARCH_CONFIRM, value) > 0)
        window /= 3;
    out->proves = proves;
    ask_for(s, e, out, SEARCH_PROVING, value, window);
}

/* ---- the client ---- */

bool plan_ends_at_client(const struct evidence *e)
{
    return isfinite(e->client) && e->met > 0 &&
           (!e->has_fit || e->fit.load >= e->client);
}

bool plan_is_noisy(const struct evidence *e)
{
    size_t noise = e->discarded - e->beyond_client;

    return noise > e->kept + t->noise_slack || noise > t->noise_max;
}

/* What the client can sustain: less than what it cannot confirm. */
static double client_value(const struct search *s, const struct evidence *e)
{
    double value = fmin(e->met, e->reached);

    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        if (r->step == SEARCH_CONFIRM &&
            evidence_discarded_at(s, SEARCH_CONFIRM, r->value) >= t->tries)
            value = fmin(value, t->client_low * r->value);
    }
    return rounded_down(s, value);
}

static size_t confirms_discarded(const struct search *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->results[i].step == SEARCH_CONFIRM && s->results[i].discarded;
    return n;
}

static void prove_at_least(const struct search *s, const struct evidence *e,
                           struct step *out, double value,
                           enum search_outcome outcome)
{
    if (e->confirmed >= (1 - EVIDENCE_SAME) * value ||
        (outcome == SEARCH_CLIENT && confirms_discarded(s) >= t->client_proofs))
        end(out, outcome);
    else
        ask_confirm(s, e, out, value, outcome);
}

/* The gap between what the client managed and what it did not is halved, then
 * the lower end is confirmed. */
static void plan_client(const struct search *s, const struct evidence *e,
                        struct step *out)
{
    double value = rounded(s, sqrt(e->reached * e->client));
    bool is_near = e->client <= t->client_ratio * e->reached ||
                   value <= e->reached || value >= e->client ||
                   confirms_discarded(s) > 0;

    if (is_near)
        prove_at_least(s, e, out, client_value(s, e), SEARCH_CLIENT);
    else
        ask_for(s, e, out, SEARCH_DOUBLING, value, window_short(s, value));
}

/* An invalid run is repeated twice.  False: it need not be. */
static bool plan_again(const struct search *s, const struct evidence *e,
                       struct step *out)
{
    const struct search_result *last = &s->results[s->n - 1];
    size_t n = evidence_discarded_at(s, last->step, last->value);

    if (!last->discarded || last->step == SEARCH_LOOK ||
        last->value >= e->client || n >= t->tries)
        return false;
    if (last->step == SEARCH_CONFIRM)
        ask_confirm(s, e, out, last->value,
                    plan_ends_at_client(e) ? SEARCH_CLIENT : SEARCH_FOUND);
    else
        ask_for(s, e, out, SEARCH_NEAR, last->value,
                (double)last->asked_ns / SECOND);
    return true;
}

/* ---- one end is open ---- */

/* A nearly idle server can take much more. */
static void plan_up(const struct search *s, const struct evidence *e,
                    struct step *out)
{
    double flight = -1;
    double factor, value;

    for (size_t i = 0; i < s->n; i++)
        if (s->results[i].step != SEARCH_LOOK && !s->results[i].discarded &&
            s->results[i].value >= e->met)
            flight = in_flight(s, &s->results[i]);
    factor = s->config.by == SEARCH_CONCURRENCY || flight < 0 || flight > 0.5
                 ? 2
             : flight > 0.1 ? 4
                            : 8;
    value = rounded(s, e->met * factor);
    if (isfinite(e->client))
        plan_client(s, e, out);
    else if (value <= e->met)
        prove_at_least(s, e, out, e->met, SEARCH_AT_LEAST);
    else
        ask_for(s, e, out, SEARCH_DOUBLING, value, window_short(s, value));
}

/* The result at the lowest value; among equals the last that counts. */
static const struct search_result *lowest(const struct search *s)
{
    const struct search_result *low = NULL;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        if (r->step != SEARCH_LOOK &&
            (!low || r->value < low->value ||
             (r->value <= low->value && !r->discarded)))
            low = r;
    }
    return low;
}

/* Without answers the load may be too high, or the server hangs at any load. */
static bool is_light(const struct search *s, const struct search_result *r)
{
    double flight = in_flight(s, r);

    return r->value <= rounded(s, 0) ||
           (flight < 0 ? r->value <= t->first_rps : flight <= t->light_max);
}

/* With a queue, a share p of an idle server becomes p^(1 - rho) at a load rho;
 * twice that load is allowed for, if a lower load is possible. */
bool plan_is_never(const struct search *s, const struct evidence *e)
{
    const struct search_result *low = lowest(s);
    double load;

    if (!low || low->discarded || !is_light(s, low) || e->failed > low->value)
        return false;
    load = low->value <= rounded(s, 0) ? 0 : fmax(0, in_flight(s, low));
    for (size_t i = 0; i < low->n_terms; i++) {
        double allowed = search_allowed(&s->config.slo->terms[i]);

        if (allowed >= 0 &&
            evidence_is_failed(&low->terms[i], pow(allowed, 1 - 2 * load)))
            return true;
    }
    return false;
}

/* To a light load at once, if it is known which one that is. */
static void plan_down(const struct search *s, const struct evidence *e,
                      struct step *out)
{
    const struct search_result *low = lowest(s);
    double flight = in_flight(s, low);
    double part = flight > 0 ? t->light_first / flight : 0;
    double value = low->value * fmin(fmax(part, 0.001), 0.25);

    if (flight < 0)
        value = fmin(fmax(value, t->first_rps), low->value / 4);
    value = rounded(s, value);
    if (plan_is_never(s, e))
        end(out, SEARCH_NEVER);
    else if (is_light(s, low) &&
             (low->discarded ? low->value < t->light_rps || value >= low->value
                             : e->kept > t->light_tries))
        end(out, SEARCH_UNDECIDED);
    else
        ask_for(s, e, out, SEARCH_LIGHT, value,
                fmin(window_short(s, value), t->light_s));
}

/* ---- between a met and a missed value ---- */

/* No whole number is left between the two. */
static bool is_decided(const struct search *s, const struct evidence *e)
{
    return s->config.by == SEARCH_CONCURRENCY && e->failed <= e->met + 1;
}

static size_t count_kept_at(const struct search *s, double value)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->results[i].step != SEARCH_LOOK && !s->results[i].discarded &&
             evidence_is_at(s->results[i].value, value);
    return n;
}

/* The value of the last probe that counts. */
static double last_value(const struct search *s)
{
    for (size_t i = s->n; i-- > 0;)
        if (!s->results[i].discarded && s->results[i].step == SEARCH_PROBE)
            return s->results[i].value;
    return 0;
}

/* A wide bracket is halved by short probes.  Then loads on either side of the
 * estimate take turns. */
static void plan_near(const struct search *s, const struct evidence *e,
                      struct step *out)
{
    double value = e->fit.load;
    double window = window_near(s, e, value);

    if (is_decided(s, e)) {
        value = e->met;
    } else if (e->missed > t->wide * e->met) {
        value = sqrt(e->met * e->missed);
        window = window_short(s, value);
    } else {
        double aside = fmax(fmin(t->aside / e->fit.slope, t->aside_max),
                            evidence_reach(e) / 2);

        value *= last_value(s) > value ? 1 - aside : 1 + aside;
    }
    if (value >= e->client)
        value = fmax(e->reached, sqrt(e->reached * e->client));
    ask_for(s, e, out, SEARCH_NEAR, value, window);
}

/* Just above the estimate. */
static double check_value(const struct search *s, const struct evidence *e)
{
    double value = e->fit.load * t->check_ratio;

    return s->config.by == SEARCH_CONCURRENCY ? ceil(value) : value;
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
        if (r->step != SEARCH_PROBE || r->value < 1.1 * e->fit.load ||
            r->value > fmax(check_value(s, e), 1.5 * e->fit.load))
            break;
        n++;
    }
    return n;
}

/* For a concurrency the whole number is enough.  A check that widens the
 * interval a little is no reason to start again. */
static bool is_narrow(const struct search *s, const struct evidence *e)
{
    double enough = s->config.tolerance > 0 ? s->config.tolerance : t->tolerance;
    size_t near = plan_count_near(s, e);

    if (is_decided(s, e) && count_kept_at(s, e->met) >= 3)
        return true;
    if (s->config.by == SEARCH_CONCURRENCY && near >= 3 &&
        floor(e->ci.low) >= floor(e->ci.high))
        return true;
    if (count_checks(s, e) > 0)
        enough *= 1.25;
    /* a steep curve needs fewer probes */
    return evidence_reach(e) <= enough &&
           (near >= t->near_min ||
            (near >= t->near_few && evidence_reach(e) <= enough / 2));
}

bool plan_is_contradictory(const struct evidence *e)
{
    return e->contradictions >= t->contradictions;
}

/* The load whose confirmation shows the estimate. */
static double proof_value(const struct search *s, const struct evidence *e)
{
    return rounded_down(s, fmin(SEARCH_CONFIRM_PART * e->fit.load, e->ci.low));
}

static void plan_between(const struct search *s, const struct evidence *e,
                         struct step *out)
{
    double above = check_value(s, e);
    double near = (double)plan_count_near(s, e);
    double far = evidence_reach(e) / t->worst_reach;
    bool is_full = e->kept >= t->probes_max || near >= (double)t->near_max;
    /* A flat curve: not even the last probe would make the interval narrow. */
    bool is_flat = near >= (double)t->near_few &&
                   near * far * far > (double)t->near_max;
    bool is_lost =
        e->rejections >= t->rejections || is_flat || (is_full && far > 1);

    if (e->confirmed >= (1 - EVIDENCE_SAME) * proof_value(s, e))
        end(out, SEARCH_FOUND);
    else if (is_lost)
        end(out, SEARCH_UNDECIDED);
    else if (e->fit.load >= e->client)
        plan_client(s, e, out);
    else if (!is_narrow(s, e) && !is_full)
        plan_near(s, e, out);
    else if (above < e->client && rounded(s, above) >= above &&
             count_checks(s, e) < t->checks * (1 + e->contradictions))
        /* A server that fails intermittently looks like one with a capacity
         * unless loads are tried twice. */
        ask_for(s, e, out, SEARCH_NEAR, above, window_short(s, above));
    else if (evidence_discarded_at(s, SEARCH_CONFIRM, proof_value(s, e)) >=
             t->client_proofs)
        end(out, SEARCH_UNDECIDED);
    else
        ask_confirm(s, e, out, proof_value(s, e), SEARCH_FOUND);
}

/* ---- the time ---- */

/* Expected time of a step, with drain and settling as in the last run. */
static double cost(const struct search *s, const struct search_ask *a)
{
    const struct search_result *last = &s->results[s->n - 1];

    return (double)(a->warmup_ns + a->window_ns) +
           fmax(0, (double)(last->took_ns - last->warmup_ns - last->window_ns));
}

/* End the search.  If the limit of the client is known, that is the answer. */
static void give_up(const struct evidence *e, struct step *out,
                    enum search_outcome outcome)
{
    end(out, plan_ends_at_client(e) ? SEARCH_CLIENT : outcome);
}

/* The confirmation for which time is reserved, if any is worthwhile. */
static bool has_proof(const struct search *s, const struct evidence *e,
                      struct step *proof)
{
    *proof = (struct step){0};
    if (s->config.no_confirm || e->confirmed > 0 || e->met <= 0)
        return false;
    if (plan_ends_at_client(e))
        ask_confirm(s, e, proof, client_value(s, e), SEARCH_CLIENT);
    else if (e->has_fit && evidence_reach(e) <= t->worst_reach)
        ask_confirm(s, e, proof, proof_value(s, e), SEARCH_FOUND);
    return proof->ask.step == SEARCH_CONFIRM;
}

/* A step that takes longer than the remaining time is cut to it, down to a
 * short window.  False: it cannot be. */
static bool fit_in(const struct search *s, struct search_ask *a, double left)
{
    double over = cost(s, a) - left;
    double least = fmin(window_short(s, a->value) * SECOND,
                        (double)a->window_ns);

    if (over <= 0)
        return true;
    if ((double)a->window_ns - over < least)
        return false;
    a->window_ns -= llround(over);
    return true;
}

/* The rest of the budget is used for a confirmation. */
static void keep_budget(const struct search *s, const struct evidence *e,
                        struct step *out)
{
    double left = (double)(s->config.budget_ns - e->took_ns);
    struct step proof;
    double reserved;

    if (s->config.budget_ns <= 0 || s->n == 0 || out->ask.step == SEARCH_DONE)
        return;
    if (out->ask.step == SEARCH_CONFIRM) {
        if (!fit_in(s, &out->ask, left))
            give_up(e, out, SEARCH_BUDGET);
        return;
    }
    if (!has_proof(s, e, &proof)) {
        if (!fit_in(s, &out->ask, left))
            give_up(e, out, SEARCH_BUDGET);
        return;
    }
    reserved = fmin(cost(s, &proof.ask),
                    2 * t->budget_part * (double)s->config.budget_ns);
    if (fit_in(s, &out->ask, left - reserved))
        return;
    *out = proof;
    if (!fit_in(s, &out->ask, left))
        give_up(e, out, SEARCH_BUDGET);
}

static void plan_first(const struct search *s, const struct evidence *e,
                       struct step *out)
{
    double first = s->config.start > 0 ? s->config.start : t->first_rps;

    if (e->look && e->look->answer_ns > 0 && s->config.start <= 0)
        first = t->look_part * e->look->value * SECOND /
                (double)e->look->answer_ns;
    if (!e->look && s->config.by == SEARCH_RATE && s->config.start <= 0 &&
        !s->config.no_look)
        out->ask = (struct search_ask){
            .step = SEARCH_LOOK,
            .why = SEARCH_LOOKING,
            .value = t->look_clients,
            .window_ns = llround(t->look_s * SECOND),
            .enough = llround(t->look_clients * t->look_answers),
            .may_end_early = true};
    else
        ask_for(s, e, out, SEARCH_FIRST, first,
                window_short(s, rounded(s, first)));
}

void plan_make(const struct search *s, const struct evidence *e,
               struct step *out)
{
    *out = (struct step){.outcome = SEARCH_GOES_ON};
    if (e->kept + e->discarded == 0)
        plan_first(s, e, out);
    else if (plan_is_contradictory(e))
        end(out, SEARCH_UNDECIDED);
    else if (plan_is_noisy(e))
        give_up(e, out, SEARCH_UNDECIDED);
    else if (plan_again(s, e, out))
        ;
    else if (e->met <= 0)
        plan_down(s, e, out);
    else if (!isfinite(e->missed))
        plan_up(s, e, out);
    else
        plan_between(s, e, out);
    if (out->ask.step == SEARCH_CONFIRM && s->config.no_confirm)
        end(out,
            out->proves == SEARCH_FOUND ? SEARCH_ESTIMATED : out->proves);
    keep_budget(s, e, out);
}

/* The variance falls as probes near the boundary add up. */
int64_t plan_left_ns(const struct search *s, const struct evidence *e,
                     const struct step *plan)
{
    double tolerance = s->config.tolerance > 0 ? s->config.tolerance : t->tolerance;
    struct step proof;
    double near, ratio, left;

    if (plan->ask.step == SEARCH_DONE || !e->has_fit || e->met <= 0)
        return 0;
    if (plan->ask.step == SEARCH_CONFIRM)
        return llround(cost(s, &plan->ask));
    near = fmax(1, (double)plan_count_near(s, e));
    ratio = evidence_reach(e) / tolerance;
    left = fmax(near * (ratio * ratio - 1), (double)t->near_min - near);
    left = fmin(fmax(left, 1), fmax(1, (double)t->near_max - near)) *
           cost(s, &plan->ask);
    if (has_proof(s, e, &proof))
        left += cost(s, &proof.ask);
    if (s->config.budget_ns > 0)
        left = fmin(left, (double)(s->config.budget_ns - e->took_ns));
    return llround(fmax(left, 0));
}
