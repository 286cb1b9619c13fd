#include "analyzer/search/search_evidence.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/xalloc.h"

/* ---- single probes ---- */

/* Level at which a miss is significant. */
#define LEVEL 0.01

/* A probe that met the SLO contradicts a significantly missed one at a value
 * lower by this ratio, if it could have shown this many misses. */
#define CONTRADICTION_RATIO  1.1
#define CONTRADICTION_LOST   1.02 /* if the lower one ended early */
#define CONTRADICTION_MISSES 3.0

/* Part of a confirmation that must have been measured. */
#define PROOF_PART 0.9

/* Are there more misses than allowed?  A single miss means nothing, however few
 * the requests are. */
static bool is_missed(const struct search_counts *c, double allowed)
{
    return allowed >= 0 && (double)c->misses > allowed * (double)c->n + 1;
}

/* By the number of independent requests: misses come in clusters. */
bool evidence_is_failed(const struct search_counts *c, double allowed)
{
    double n;
    double share;

    if (!is_missed(c, allowed))
        return false;
    n = ceil((double)c->n / stats_inflation(c->slices, c->n_slices));
    share = (double)c->misses / (double)c->n;
    return stats_binomial_upper_tail(llround(n), allowed,
                                     llround(floor(share * n))) < LEVEL;
}

bool search_is_met(const struct slo *slo, const struct search_result *r)
{
    for (size_t i = 0; i < r->n_terms; i++)
        if (is_missed(&r->terms[i], search_allowed(&slo->terms[i])))
            return false;
    return true;
}

/* Is a term missed significantly? */
static bool is_failed(const struct slo *slo, const struct search_result *r)
{
    for (size_t i = 0; i < r->n_terms; i++)
        if (evidence_is_failed(&r->terms[i], search_allowed(&slo->terms[i])))
            return true;
    return false;
}

/* ---- confirmations ---- */

bool evidence_is_confirm_at(const struct search_result *r, double value)
{
    return r->step == SEARCH_CONFIRM &&
           fabs(r->value - value) <= EVIDENCE_SAME * value;
}

static void add_counts(struct search_counts *sum, const struct search_counts *c)
{
    sum->n += c->n;
    sum->misses += c->misses;
    for (size_t i = 0; i < c->n_slices; i++) {
        sum->slices[i].n += c->slices[i].n;
        sum->slices[i].hits += c->slices[i].hits;
    }
    if (c->n_slices > sum->n_slices)
        sum->n_slices = c->n_slices;
}

void evidence_pool_confirms(const struct search *s, double value,
                            struct search_result *sum)
{
    *sum = (struct search_result){
        .step = SEARCH_CONFIRM, .value = value, .n_terms = s->config.slo->len};
    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        if (!evidence_is_confirm_at(r, value))
            continue;
        if (r->asked_ns > sum->asked_ns)
            sum->asked_ns = r->asked_ns;
        if (r->discarded)
            continue;
        sum->window_ns += r->window_ns;
        for (size_t k = 0; k < r->n_terms; k++)
            add_counts(&sum->terms[k], &r->terms[k]);
    }
}

/* The first undiscarded piece of a confirmation stands for all, since pieces
 * count together. */
static void take_confirm(struct evidence *e, const struct search *s, size_t i)
{
    double value = s->results[i].value;
    struct search_result sum;

    for (size_t k = 0; k < i; k++) {
        if (!s->results[k].discarded &&
            evidence_is_confirm_at(&s->results[k], value))
            return;
    }
    evidence_pool_confirms(s, value, &sum);
    if (is_failed(s->config.slo, &sum)) {
        e->rejections++;
        if (value < e->rejected) {
            e->rejected = value;
            e->rejected_at = i;
        }
    } else if ((double)sum.window_ns >= PROOF_PART * (double)sum.asked_ns &&
               value > e->confirmed) {
        e->confirmed = value;
        e->confirmed_met = search_is_met(s->config.slo, &sum);
    }
}

static void take_all(struct evidence *e, const struct search *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        e->took_ns += r->took_ns;
        e->requests += r->requests;
        if (r->discarded) {
            e->discarded++;
            e->confirms_discarded += r->step == SEARCH_CONFIRM;
            e->noise = r->discarded;
            continue;
        }
        e->kept++;
        if (!search_is_met(s->config.slo, r))
            e->missed = fmin(e->missed, r->value);
        if (is_failed(s->config.slo, r))
            e->failed = fmin(e->failed, r->value);
        if (r->step == SEARCH_CONFIRM)
            take_confirm(e, s, i);
    }
    for (size_t i = 0; i < s->n; i++)
        if (!s->results[i].discarded && s->results[i].value < e->missed)
            e->met = fmax(e->met, s->results[i].value);
    if (e->confirmed >= e->rejected)
        e->confirmed = 0;
}

/* ---- contradictions ---- */

/* Is a term missed significantly at the lower value and met at the higher? */
static bool contradicts(const struct slo *slo, const struct search_result *low,
                        const struct search_result *high)
{
    double ratio = low->ended_early ? CONTRADICTION_LOST : CONTRADICTION_RATIO;

    if (low->discarded || high->discarded || high->value < ratio * low->value)
        return false;
    for (size_t i = 0; i < slo->len; i++) {
        double allowed = search_allowed(&slo->terms[i]);
        const struct search_counts *c = &high->terms[i];

        if (evidence_is_failed(&low->terms[i], allowed) &&
            !is_missed(c, allowed) &&
            (double)c->n * allowed >= CONTRADICTION_MISSES)
            return true;
    }
    return false;
}

/* Each result is in at most one pair. */
static void take_contradictions(struct evidence *e, const struct search *s)
{
    bool *is_used = xcalloc(s->n + 1, sizeof(*is_used));

    for (size_t i = 0; i < s->n; i++) {
        for (size_t k = 0; k < s->n; k++) {
            if (is_used[i] || is_used[k] ||
                !contradicts(s->config.slo, &s->results[i], &s->results[k]))
                continue;
            is_used[i] = true;
            is_used[k] = true;
            e->contradictions++;
            e->contradiction_low = s->results[i].value;
            e->contradiction_high = s->results[k].value;
        }
    }
    free(is_used);
}

/* ---- the limit of the client ---- */

#define SECOND 1e9 /* times are computed as doubles */

/* Disturbances per second: range and steps of the bisection. */
#define RATE_MIN 1e-6
#define RATE_MAX 1e3
#define HALVINGS 30

/* Share of the discarded runs in which the client ran out of resources: by
 * chance, and beyond its limit. */
#define SPENT_BY_CHANCE 0.05
#define SPENT_BEYOND    0.5

struct run {
    double value;
    double seconds;
    bool is_disturbed;
    bool is_spent;
};

bool evidence_is_spent(const struct search_result *r)
{
    return search_is_discarded_by(r, SEARCH_BUSY) ||
           search_is_discarded_by(r, SEARCH_CAPPED) ||
           search_is_discarded_by(r, SEARCH_EXHAUSTED);
}

/* If nothing was measured, the server may be the cause. */
static bool is_clients(const struct search_result *r)
{
    return r->discarded && !search_is_discarded_by(r, SEARCH_UNMEASURED);
}

/* ---- disturbances at a constant rate ---- */

struct range {
    double low;
    double high; /* excluded */
};

static bool is_in(const struct run *run, struct range range)
{
    return run->value >= range.low && run->value < range.high;
}

/* A run of w seconds is undisturbed with probability exp(-rate w): the log
 * likelihood of a rate, and its derivative. */
static double likelihood(const struct run *run, double rate)
{
    return run->is_disturbed ? log(-expm1(-rate * run->seconds))
                             : -rate * run->seconds;
}

static double growth(const struct run *run, double rate)
{
    return run->is_disturbed ? run->seconds / expm1(rate * run->seconds)
                             : -run->seconds;
}

static double sum_of(const struct run *runs, size_t n, struct range range,
                     double (*part)(const struct run *, double), double rate)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        if (is_in(&runs[i], range))
            sum += part(&runs[i], rate);
    return sum;
}

/* The maximum over all rates; 0 if all or none are disturbed. */
static double best_likelihood(const struct run *runs, size_t n,
                              struct range range)
{
    double low = log(RATE_MIN);
    double high = log(RATE_MAX);
    size_t all = 0;
    size_t disturbed = 0;

    for (size_t i = 0; i < n; i++) {
        all += is_in(&runs[i], range);
        disturbed += is_in(&runs[i], range) && runs[i].is_disturbed;
    }
    if (disturbed == 0 || disturbed == all)
        return 0;
    for (int k = 0; k < HALVINGS; k++) {
        double middle = (low + high) / 2;

        if (sum_of(runs, n, range, growth, exp(middle)) > 0)
            low = middle;
        else
            high = middle;
    }
    return sum_of(runs, n, range, likelihood, exp(low));
}

/* ---- the limit ---- */

/* The requested time for a disturbed run, else the time that it lasted. */
static double seen_s(const struct search_result *r)
{
    return (double)(r->discarded ? r->asked_ns : r->window_ns) / SECOND;
}

/* Runs to be explained.  At and above the limit, consecutive discarded runs may
 * share one disturbance, so only the first of them counts. */
static size_t list_runs(const struct search *s, double limit, struct run *runs)
{
    bool is_same = false;
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];
        bool is_beyond = r->discarded && r->value >= limit;

        if ((r->discarded && !is_clients(r)) || seen_s(r) <= 0 ||
            (is_beyond && is_same))
            continue;
        is_same = r->discarded && (is_same || is_beyond);
        runs[n++] = (struct run){.value = r->value,
                                 .seconds = seen_s(r),
                                 .is_disturbed = r->discarded,
                                 .is_spent = evidence_is_spent(r)};
    }
    return n;
}

/* Are most runs disturbed from the limit on, and a smaller part below? */
static bool is_limit(const struct run *runs, size_t n, double limit)
{
    double all[2] = {0}; /* below, and from it on */
    double disturbed[2] = {0};

    for (size_t i = 0; i < n; i++) {
        all[runs[i].value >= limit]++;
        disturbed[runs[i].value >= limit] += runs[i].is_disturbed;
    }
    return 2 * disturbed[1] > all[1] && disturbed[0] < all[0] &&
           disturbed[0] * all[1] < disturbed[1] * all[0];
}

/* Likelihood ratio of chance for the runs that ran out of resources from the
 * limit on; at most 1, since some limits never make a client busy. */
static double spent_by_chance(const struct run *runs, size_t n, double limit)
{
    double chance = 1;

    for (size_t i = 0; i < n; i++) {
        if (!runs[i].is_disturbed || runs[i].value < limit)
            continue;
        chance *= runs[i].is_spent ? SPENT_BY_CHANCE / SPENT_BEYOND
                                   : (1 - SPENT_BY_CHANCE) / (1 - SPENT_BEYOND);
    }
    return fmin(chance, 1);
}

/* Likelihood ratio of a single rate against one below and one from the limit
 * on; INFINITY: not a limit. */
static double chance_of(const struct search *s, double limit, struct run *runs)
{
    size_t n = list_runs(s, limit, runs);

    if (!is_limit(runs, n, limit))
        return INFINITY;
    return spent_by_chance(runs, n, limit) *
           exp(best_likelihood(runs, n, (struct range){0, INFINITY}) -
               best_likelihood(runs, n, (struct range){0, limit}) -
               best_likelihood(runs, n, (struct range){limit, INFINITY}));
}

/* The most likely limit; among equals the lowest. */
static void take_client(struct evidence *e, const struct search *s)
{
    struct run *runs = xcalloc(s->n + 1, sizeof(*runs));

    e->client_chance = INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        double limit = s->results[i].value;
        double chance =
            is_clients(&s->results[i]) ? chance_of(s, limit, runs) : INFINITY;

        if (chance < e->client_chance ||
            (isfinite(chance) && chance <= e->client_chance &&
             limit < e->client)) {
            e->client_chance = chance;
            e->client = limit;
        }
    }
    free(runs);
    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        e->beyond_client += is_clients(r) && r->value >= e->client;
        if (!r->discarded && r->value < e->client)
            e->reached = fmax(e->reached, r->value);
    }
}

/* Range of shares that the regression can use. */
#define ALLOWED_MIN 1e-5
#define ALLOWED_MAX 0.99

static bool is_ever_missed(const struct search *s, size_t term, double allowed)
{
    for (size_t i = 0; i < s->n; i++)
        if (!s->results[i].discarded &&
            is_missed(&s->results[i].terms[term], allowed))
            return true;
    return false;
}

static size_t take_points(struct fit_point *points, const struct search *s,
                          const struct evidence *e, size_t term)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];
        const struct search_counts *c = &r->terms[term];
        /* Earlier results above a rejected load no longer count. */
        bool is_outdated = i < e->rejected_at && r->value >= e->rejected;
        /* A successful confirmation tests the estimate and is not part of it.
         */
        bool is_proof = r->step == SEARCH_CONFIRM &&
                        !(r->value >= (1 - EVIDENCE_SAME) * e->rejected);
        /* The offered rate is more accurate than the requested one: with a
         * queue much of the scatter comes from the arrivals. */
        double load = s->config.by == SEARCH_RATE && r->offered_rps > 0
                          ? r->offered_rps
                          : r->value;

        if (r->discarded || c->n == 0 || is_outdated || is_proof)
            continue;
        points[n] = (struct fit_point){.x = log(load),
                                       .n = (double)c->n,
                                       .misses = (double)c->misses,
                                       .slices = c->slices,
                                       .n_slices = c->n_slices};
        n++;
    }
    return n;
}

static void take_term(struct evidence *e, const struct fit *f, size_t term)
{
    struct interval ci = {exp(f->ci.low), exp(f->ci.high)};

    if (!e->has_fit) {
        e->ci = ci;
    } else {
        e->ci.low = fmin(e->ci.low, ci.low);
        e->ci.high = fmin(e->ci.high, ci.high);
    }
    if (!e->has_fit || f->x < e->fit.x) {
        e->fit = *f;
        e->binding = term;
    }
    e->has_fit = true;
}

static void take_lines(struct evidence *e, const struct search *s)
{
    struct fit_point *points = xcalloc(s->n + 1, sizeof(*points));

    for (size_t i = 0; i < s->config.slo->len; i++) {
        double allowed = search_allowed(&s->config.slo->terms[i]);
        struct fit_aim aim = {.allowed =
                                  fmin(fmax(allowed, ALLOWED_MIN), ALLOWED_MAX),
                              .max = log(e->rejected),
                              .confidence = SEARCH_CONFIDENCE};
        struct fit f;
        size_t n;

        if (allowed < 0 || !is_ever_missed(s, i, allowed))
            continue;
        n = take_points(points, s, e, i);
        fit_make(points, n, &aim, &f);
        take_term(e, &f, i);
    }
    free(points);
    e->value = exp(e->fit.x);
}

static void count_near(struct evidence *e, const struct search *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];
        /* The next whole number always counts as near. */
        bool is_next = s->config.by == SEARCH_CONCURRENCY &&
                       fabs(r->value - e->value) <= 1;

        e->near += !r->discarded && !r->ended_early &&
                   (is_next || (r->value < e->value * EVIDENCE_NEAR &&
                                r->value > e->value / EVIDENCE_NEAR));
    }
}

void evidence_take(const struct search *s, struct evidence *out)
{
    *out = (struct evidence){.missed = INFINITY,
                             .failed = INFINITY,
                             .client = INFINITY,
                             .rejected = INFINITY};
    take_all(out, s);
    take_client(out, s);
    take_contradictions(out, s);
    take_lines(out, s);
    if (out->has_fit)
        count_near(out, s);
}

double evidence_reach(const struct evidence *e)
{
    return (e->ci.high - e->ci.low) / 2 / e->value;
}
