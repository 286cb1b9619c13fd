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

    if (s->config.by == SEARCH_RATE)
        return fmax(fmin(value, most), s->config.min);
    return fmax(
        1, ceil(fmax(fmin(round(value), fmax(1, floor(most))), s->config.min)));
}

static double rounded_down(const struct search *s, double value)
{
    return rounded(s,
                   s->config.by == SEARCH_CONCURRENCY ? floor(value) : value);
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

static double tolerance(const struct search *s)
{
    return s->config.tolerance > 0 ? s->config.tolerance : t->tolerance;
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

/* Near the boundary: several relaxation times, some misses, and as long as it
 * takes for a few probes to reach the tolerance. */
static double window_near(const struct search *s, const struct evidence *e)
{
    double value = e->fit.load;
    double rate = rate_at(s, value);
    double relax_s = e->fit.relax_s;
    double allowed, reach, window;

    if (s->config.probe_ns > 0)
        return (double)s->config.probe_ns / SECOND;
    if (!e->has_fit)
        return window_for(s, value, t->near_s, t->near_limits, 0);
    allowed = fmax(slo_allowed(&s->config.slo->terms[e->binding]), 1e-5);
    window = window_for(s, value, fmax(t->short_s, t->near_relax * relax_s),
                        t->near_limits, t->near_misses / allowed);
    reach = e->fit.slope * tolerance(s) /
            normal_quantile((1 + SEARCH_CONFIDENCE) / 2);
    if (rate > 0)
        window =
            fmax(window, fmin(e->fit.inflation / allowed / (reach * reach) /
                                  t->near_worth / rate,
                              fmax(t->near_s, t->near_relax_max * relax_s)));
    window = fmin(window, t->longest_s);
    if (s->config.budget_ns > 0)
        window = fmin(window, fmax(window_short(s, value),
                                   t->budget_part *
                                       (double)s->config.budget_ns / SECOND));
    return window;
}

bool plan_is_short(const struct search *s, const struct evidence *e)
{
    return e->has_fit && window_near(s, e) < t->near_relax / 2 * e->fit.relax_s;
}

/* Number of probes near the estimate whose windows were long enough. */
static size_t count_near(const struct search *s, const struct evidence *e)
{
    double enough = window_near(s, e) / 2;
    double near = fmax(t->near_ratio, 1 + evidence_reach(e));
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

/* ---- steps ---- */

static void ask_for(const struct search *s, const struct evidence *e,
                    struct step *out, enum search_why why, double value,
                    double window_s)
{
    double warmup_s = fmax(t->warmup_part * window_s,
                           t->warmup_limits * longest_limit_s(s->config.slo));

    if (why == SEARCH_NEAR || why == SEARCH_PROVING)
        warmup_s = fmax(warmup_s,
                        fmin(t->warmup_relax * e->fit.relax_s, window_s / 2));
    out->ask = (struct search_ask){
        .step = why == SEARCH_PROVING ? SEARCH_CONFIRM : SEARCH_PROBE,
        .why = why,
        .value = rounded(s, value),
        .warmup_ns = llround(warmup_s * SECOND),
        .window_ns = llround(window_s * SECOND),
        .may_end_early = true};
}

static void ask_short(const struct search *s, const struct evidence *e,
                      struct step *out, enum search_why why, double value)
{
    ask_for(s, e, out, why, value, window_short(s, rounded(s, value)));
}

static void end(struct step *out, enum search_outcome outcome)
{
    out->ask = (struct search_ask){.step = SEARCH_DONE, .why = SEARCH_OVER};
    out->outcome = outcome;
}

bool plan_ends_at_client(const struct evidence *e)
{
    return isfinite(e->client) && e->met > 0 &&
           (!e->has_fit || e->fit.load >= e->client);
}

/* End the search.  If the limit of the client is known, that is the answer. */
static void give_up(const struct evidence *e, struct step *out,
                    enum search_outcome outcome)
{
    end(out, plan_ends_at_client(e) ? SEARCH_CLIENT : outcome);
}

/* Confirm a value, unless that is done or the client failed too often. */
static void prove(const struct search *s, const struct evidence *e,
                  struct step *out, double value, enum search_outcome proves)
{
    double window = window_near(s, e);

    value = rounded_down(s, value);
    if (e->confirmed > 0 &&
        (e->confirmed > value || evidence_is_at(e->confirmed, value))) {
        end(out, proves);
        return;
    }
    if (evidence_discarded_at(s, SEARCH_CONFIRM, value) >= t->tries) {
        give_up(e, out, SEARCH_UNDECIDED);
        return;
    }
    if (s->config.confirm_ns > 0)
        window = (double)s->config.confirm_ns / SECOND;
    else if (proves == SEARCH_FOUND)
        window =
            fmin(t->confirm_windows * window, fmax(t->confirm_max_s, window));
    else
        window = fmax(window, window_for(s, value, t->near_s, t->near_limits,
                                         t->client_requests));
    out->proves = proves;
    ask_for(s, e, out, SEARCH_PROVING, value, window);
}

/* An invalid probe is repeated twice, a lost one was repeated by the launcher.
 * False: it need not be. */
static bool plan_again(const struct search *s, const struct evidence *e,
                       struct step *out)
{
    const struct search_result *last = &s->results[s->n - 1];

    if (!last->discarded || last->step != SEARCH_PROBE ||
        search_is_discarded_by(last, SEARCH_LOST) ||
        evidence_discarded_at(s, SEARCH_PROBE, last->value) >= t->tries)
        return false;
    ask_for(s, e, out, SEARCH_AGAIN, last->value,
            (double)last->asked_ns / SECOND);
    out->ask.warmup_ns = last->warmup_ns;
    return true;
}

/* ---- one end is open ---- */

static void plan_first(const struct search *s, const struct evidence *e,
                       struct step *out)
{
    double first = s->config.start > 0 ? s->config.start : t->first_rps;

    if (e->look && e->look->throughput_rps > 0)
        first = t->look_part * e->look->throughput_rps;
    if (e->look || s->config.start > 0 || s->config.no_look ||
        s->config.by != SEARCH_RATE)
        ask_short(s, e, out, SEARCH_FIRST, first);
    else
        out->ask = (struct search_ask){
            .step = SEARCH_LOOK,
            .why = SEARCH_LOOKING,
            .value = t->look_clients,
            .window_ns = llround(t->look_s * SECOND),
            .requests = llround(t->look_clients * t->look_answers)};
}

/* The gap between what the client managed and what it did not is halved, then
 * the lower end is confirmed. */
static void plan_client(const struct search *s, const struct evidence *e,
                        struct step *out)
{
    double value = rounded(s, sqrt(e->reached * e->client));

    if (e->client <= t->client_ratio * e->reached || value <= e->reached ||
        value >= e->client)
        prove(s, e, out, fmin(e->met, e->reached), SEARCH_CLIENT);
    else
        ask_short(s, e, out, SEARCH_DOUBLING, value);
}

/* A nearly idle server can take much more. */
static void plan_up(const struct search *s, const struct evidence *e,
                    struct step *out)
{
    double flight = -1;
    double factor = 2;
    double value;

    for (size_t i = 0; i < s->n; i++)
        if (evidence_counts(&s->results[i]) && s->results[i].value >= e->met)
            flight = in_flight(s, &s->results[i]);
    if (s->config.by == SEARCH_RATE && flight >= 0 && flight <= 0.5)
        factor = flight > 0.1 ? 4 : 8;
    value = rounded(s, e->met * factor);
    if (isfinite(e->client))
        plan_client(s, e, out);
    else if (value <= e->met)
        prove(s, e, out, e->met, SEARCH_AT_LEAST);
    else
        ask_short(s, e, out, SEARCH_DOUBLING, value);
}

/* Without answers the load may be too high, or the server hangs at any load. */
static bool is_light(const struct search *s, const struct search_result *r)
{
    double flight = in_flight(s, r);

    return r->value <= rounded(s, 0) ||
           (flight < 0 ? r->value <= t->first_rps : flight <= t->light_max);
}

/* How often an idle server missed a term.  With a queue, a share p of an idle
 * server becomes p^(1 - rho) at a load rho; twice that load is allowed for, if
 * a lower load is possible. */
static size_t count_idle_misses(const struct search *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];
        double load = r->value <= rounded(s, 0) ? 0 : fmax(0, in_flight(s, r));
        bool is_missed = false;

        if (!evidence_counts(r) || !is_light(s, r))
            continue;
        for (size_t k = 0; k < r->n_terms; k++) {
            double allowed = slo_allowed(&s->config.slo->terms[k]);

            is_missed |=
                allowed >= 0 &&
                evidence_is_failed(&r->terms[k], pow(allowed, 1 - 2 * load));
        }
        n += is_missed;
    }
    return n;
}

bool plan_is_never(const struct search *s, const struct evidence *e)
{
    return e->met <= 0 && count_idle_misses(s) >= t->never_tries;
}

/* One step down, then to a light load at once, if it is known which one that
 * is. */
static void plan_down(const struct search *s, const struct evidence *e,
                      struct step *out)
{
    const struct search_result *low = &s->results[s->n - 1];
    double flight, part, value;

    for (size_t i = 0; i < s->n; i++)
        if (s->results[i].step != SEARCH_LOOK &&
            s->results[i].value <= low->value)
            low = &s->results[i];
    flight = in_flight(s, low);
    part = low->ended_early || low->discarded ? 0.25 : 0.5;
    if (e->kept > 1)
        part =
            fmin(fmax(flight > 0 ? t->light_first / flight : 0, 0.001), 0.25);
    value = rounded(s, low->value * part);
    if (flight < 0)
        value = rounded(s, fmin(fmax(value, t->first_rps), low->value / 4));
    if (count_idle_misses(s) > 0)
        value = low->value;
    if (plan_is_never(s, e))
        end(out, SEARCH_NEVER);
    else if (is_light(s, low) &&
             (low->discarded ? low->value < t->light_rps || value >= low->value
                             : e->kept > t->light_tries))
        end(out, SEARCH_UNDECIDED);
    else
        ask_short(s, e, out, SEARCH_LIGHT, value);
}

/* ---- between a met and a missed value ---- */

bool plan_is_contradictory(const struct evidence *e)
{
    return e->contradictions >= t->contradictions;
}

/* No whole number is left between the two. */
static bool is_decided(const struct search *s, const struct evidence *e)
{
    return s->config.by == SEARCH_CONCURRENCY && e->failed <= e->met + 1;
}

/* A wide bracket is halved by short probes.  Then loads on either side of the
 * estimate take turns. */
static void plan_near(const struct search *s, const struct evidence *e,
                      struct step *out)
{
    double value = e->fit.load;
    double aside = fmin(t->aside / e->fit.slope, t->aside_max);

    if (is_decided(s, e))
        value = e->met;
    else if (e->missed > t->wide * e->met) {
        ask_short(s, e, out, SEARCH_DOUBLING, sqrt(e->met * e->missed));
        return;
    } else
        value *= e->kept % 2 == 0 ? 1 - aside : 1 + aside;
    if (value >= e->client)
        value = fmax(e->reached, sqrt(e->reached * e->client));
    ask_for(s, e, out, SEARCH_NEAR, value, window_near(s, e));
}

/* For a concurrency the whole number is enough. */
static bool is_narrow(const struct search *s, const struct evidence *e,
                      size_t near)
{
    if (s->config.by == SEARCH_CONCURRENCY && near >= t->whole_min &&
        (is_decided(s, e) || floor(e->ci.low) >= floor(e->ci.high)))
        return true;
    return near >= t->near_min && evidence_reach(e) <= tolerance(s);
}

/* A load above the estimate is tried until it has been tried often enough: a
 * server that fails now and then looks like one with a capacity. */
static bool plan_check(const struct search *s, const struct evidence *e,
                       struct step *out)
{
    double above = e->fit.load * t->check_ratio;
    size_t checks = 0;

    if (s->config.by == SEARCH_CONCURRENCY)
        above = ceil(above);
    for (size_t i = s->n; i-- > 0;) {
        const struct search_result *r = &s->results[i];

        if (!evidence_counts(r) || r->step == SEARCH_CONFIRM)
            continue;
        if (r->value < t->check_low * e->fit.load)
            break;
        checks++;
    }
    if (above >= e->client || rounded(s, above) < above ||
        checks >= t->checks * (1 + e->contradictions))
        return false;
    ask_short(s, e, out, SEARCH_NEAR, above);
    return true;
}

/* The load whose confirmation shows the estimate. */
static double proof_value(const struct search *s, const struct evidence *e)
{
    return rounded_down(
        s, fmin(search_tuning.confirm_part * e->fit.load, e->ci.low));
}

static void plan_between(const struct search *s, const struct evidence *e,
                         struct step *out)
{
    size_t near = count_near(s, e);
    double far = evidence_reach(e) / t->worst_reach;
    bool is_full = e->kept >= t->probes_max || near >= t->near_max;
    /* A flat curve: not even the last probe would make the interval narrow. */
    bool is_flat = s->config.budget_ns <= 0 && near >= t->flat_min &&
                   (double)near * far * far > 2 * (double)t->near_max;
    bool is_wide = !is_narrow(s, e, near);

    if (e->confirmed > 0 && e->confirmed >= proof_value(s, e) &&
        (far <= 1 || !is_wide))
        end(out, SEARCH_FOUND);
    else if (e->rejections >= t->rejections ||
             (is_wide && (is_flat || (is_full && far > 1))))
        end(out, SEARCH_UNDECIDED);
    else if (e->fit.load >= e->client)
        plan_client(s, e, out);
    else if (is_wide && !is_full)
        plan_near(s, e, out);
    else if (!plan_check(s, e, out))
        prove(s, e, out, proof_value(s, e), SEARCH_FOUND);
}

/* ---- the time ---- */

/* Expected time of a step, with drain and settling as in the last run. */
static double cost(const struct search *s, const struct search_ask *a)
{
    const struct search_result *last = &s->results[s->n - 1];

    return (double)(a->warmup_ns + a->window_ns) +
           fmax(0, (double)(last->took_ns - last->warmup_ns - last->window_ns));
}

/* The confirmation for which time is reserved.  False: none is worthwhile. */
static bool has_proof(const struct search *s, const struct evidence *e,
                      struct step *proof)
{
    *proof = (struct step){0};
    if (s->config.no_confirm || e->confirmed > 0 || e->met <= 0)
        return false;
    if (plan_ends_at_client(e))
        prove(s, e, proof, fmin(e->met, e->reached), SEARCH_CLIENT);
    else if (e->has_fit && evidence_reach(e) <= t->worst_reach)
        prove(s, e, proof, proof_value(s, e), SEARCH_FOUND);
    return proof->ask.step == SEARCH_CONFIRM;
}

/* A step that takes longer than the remaining time is cut to it, down to a
 * short window.  False: it cannot be. */
static bool fit_in(const struct search *s, struct search_ask *a, double left)
{
    double over = cost(s, a) - left;
    double least =
        fmin(window_short(s, a->value) * SECOND, (double)a->window_ns);

    if (over > 0 && (double)a->window_ns - over < least)
        return false;
    a->window_ns -= llround(fmax(over, 0));
    return true;
}

/* The rest of the budget is used for a confirmation. */
static void keep_budget(const struct search *s, const struct evidence *e,
                        struct step *out)
{
    double left = (double)(s->config.budget_ns - e->took_ns);
    struct step proof;

    if (s->config.budget_ns <= 0 || s->n == 0 || out->ask.step == SEARCH_DONE)
        return;
    if (out->ask.step == SEARCH_PROBE && has_proof(s, e, &proof)) {
        if (fit_in(s, &out->ask,
                   left -
                       fmin(cost(s, &proof.ask),
                            t->budget_confirm * (double)s->config.budget_ns)))
            return;
        *out = proof;
    }
    if (!fit_in(s, &out->ask, left))
        give_up(e, out, SEARCH_BUDGET);
}

void plan_make(const struct search *s, const struct evidence *e,
               struct step *out)
{
    size_t noise = e->discarded - e->beyond_client;

    *out = (struct step){.outcome = SEARCH_GOES_ON};
    if (e->kept + e->discarded == 0)
        plan_first(s, e, out);
    else if (plan_is_contradictory(e))
        end(out, SEARCH_UNDECIDED);
    else if (noise > e->kept + t->noise_slack)
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
        end(out, out->proves == SEARCH_FOUND ? SEARCH_ESTIMATED : out->proves);
    keep_budget(s, e, out);
}

/* As if the interval needed no more than the usual number of probes. */
int64_t plan_left_ns(const struct search *s, const struct evidence *e,
                     const struct step *plan)
{
    double probes = 1;

    if (plan->ask.step == SEARCH_DONE || !e->has_fit || e->met <= 0)
        return 0;
    if (plan->ask.step == SEARCH_PROBE)
        probes = fmax(1, (double)t->near_min - (double)count_near(s, e)) +
                 t->confirm_windows;
    return llround(probes * cost(s, &plan->ask));
}
