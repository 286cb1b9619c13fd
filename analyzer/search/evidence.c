#include "analyzer/search/evidence.h"

#include <math.h>
#include <stdlib.h>

#include "common/xalloc.h"

/* To be sure is to be wrong once in a hundred. */
#define SURE 0.01

/* Shares outside cannot be put on a line. */
#define ALLOWED_LEAST 1e-5
#define ALLOWED_MOST  0.99

/* A value that is so much higher than another and met, where that was missed
 * for sure, contradicts it; it must have had as many misses to find. */
#define TWIST_RATIO  1.1
#define TWIST_MISSES 3.0

/* One stray miss says nothing, however few the requests are. */
static bool counts_miss(const struct search_counts *c, double allowed)
{
    return allowed >= 0 && (double)c->misses > allowed * (double)c->n + 1;
}

/* As many requests as are independent: misses come in clusters. */
static bool counts_fail(const struct search_counts *c, double allowed)
{
    double n;
    double share;

    if (!counts_miss(c, allowed))
        return false;
    n = ceil((double)c->n / stats_inflation(c->blocks, c->n_blocks));
    share = (double)c->misses / (double)c->n;
    return stats_binomial_upper_tail(llround(n), allowed,
                                     llround(floor(share * n))) < SURE;
}

bool evidence_is_met(const struct slo *slo, const struct search_result *r)
{
    for (size_t i = 0; i < r->n_terms; i++)
        if (counts_miss(&r->terms[i], search_allowed(&slo->terms[i])))
            return false;
    return true;
}

bool evidence_is_failed(const struct slo *slo, const struct search_result *r)
{
    for (size_t i = 0; i < r->n_terms; i++)
        if (counts_fail(&r->terms[i], search_allowed(&slo->terms[i])))
            return true;
    return false;
}

/* ---- what was met ---- */

static void take_mark(struct evidence *e, const struct search *s, size_t i)
{
    const struct slo *slo = s->config.slo;
    const struct search_result *r = &s->results[i];
    bool is_failed = evidence_is_failed(slo, r);

    if (!evidence_is_met(slo, r))
        e->missed = fmin(e->missed, r->value);
    if (is_failed)
        e->failed = fmin(e->failed, r->value);
    if (r->step == SEARCH_CONFIRM && is_failed && r->value < e->rejected) {
        e->rejected = r->value;
        e->rejected_at = i;
    }
    if (r->step == SEARCH_CONFIRM && !is_failed)
        e->confirmed = fmax(e->confirmed, r->value);
}

/* A client that was disturbed once is no limit where it got further another
 * time. */
static void take_client(struct evidence *e, const struct search *s)
{
    double most = 0;

    for (size_t i = 0; i < s->n; i++)
        if (!s->results[i].is_client_limited)
            most = fmax(most, s->results[i].value);
    for (size_t i = 0; i < s->n; i++)
        if (s->results[i].is_client_limited && s->results[i].value > most)
            e->client = fmin(e->client, s->results[i].value);
}

static void take_marks(struct evidence *e, const struct search *s)
{
    for (size_t i = 0; i < s->n; i++) {
        e->took_ns += s->results[i].took_ns;
        e->requests += s->results[i].requests;
        if (!s->results[i].is_client_limited)
            take_mark(e, s, i);
    }
    for (size_t i = 0; i < s->n; i++)
        if (!s->results[i].is_client_limited && s->results[i].value < e->missed)
            e->met = fmax(e->met, s->results[i].value);
    if (e->confirmed >= e->rejected)
        e->confirmed = 0;
}

/* Is a term missed for sure at the lower value and met at the higher? */
static bool is_twisted(const struct slo *slo, const struct search_result *low,
                       const struct search_result *high)
{
    if (low->is_client_limited || high->is_client_limited ||
        high->value < TWIST_RATIO * low->value)
        return false;
    for (size_t i = 0; i < slo->len; i++) {
        double allowed = search_allowed(&slo->terms[i]);
        const struct search_counts *c = &high->terms[i];

        if (counts_fail(&low->terms[i], allowed) && !counts_miss(c, allowed) &&
            (double)c->n * allowed >= TWIST_MISSES)
            return true;
    }
    return false;
}

/* Each result is in one pair at most. */
static void take_twists(struct evidence *e, const struct search *s)
{
    bool *is_used = xcalloc(s->n + 1, sizeof(*is_used));

    for (size_t i = 0; i < s->n; i++) {
        for (size_t k = 0; k < s->n; k++) {
            if (is_used[i] || is_used[k] ||
                !is_twisted(s->config.slo, &s->results[i], &s->results[k]))
                continue;
            is_used[i] = true;
            is_used[k] = true;
            e->twist++;
            e->twist_low = s->results[i].value;
            e->twist_high = s->results[k].value;
        }
    }
    free(is_used);
}

/* ---- the lines ---- */

static bool is_ever_missed(const struct search *s, size_t term, double allowed)
{
    for (size_t i = 0; i < s->n; i++)
        if (!s->results[i].is_client_limited &&
            counts_miss(&s->results[i].terms[term], allowed))
            return true;
    return false;
}

/* What was really offered tells more than what was asked for: with a queue much
 * of the scatter is that of the arrivals. */
static double load_of(const struct search *s, const struct search_result *r)
{
    return s->config.by == SEARCH_RATE && r->offered_rps > 0 ? r->offered_rps
                                                             : r->value;
}

/* What was seen above a load before that was rejected is no longer believed. */
static bool is_outdated(const struct search *s, const struct evidence *e,
                        size_t i)
{
    return i < e->rejected_at && s->results[i].value >= e->rejected;
}

/* A confirmation that held is a test of the estimate, and no part of it. */
static bool is_proof(const struct search *s, const struct search_result *r)
{
    return r->step == SEARCH_CONFIRM && !evidence_is_failed(s->config.slo, r);
}

static size_t take_points(struct fit_point *points, const struct search *s,
                          const struct evidence *e, size_t term)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_counts *c = &s->results[i].terms[term];

        if (s->results[i].is_client_limited || c->n == 0 ||
            is_outdated(s, e, i) || is_proof(s, &s->results[i]))
            continue;
        points[n] = (struct fit_point){.x = log(load_of(s, &s->results[i])),
                                       .n = (double)c->n,
                                       .misses = (double)c->misses,
                                       .blocks = c->blocks,
                                       .n_blocks = c->n_blocks};
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
        struct fit_aim aim = {
            .allowed = fmin(fmax(allowed, ALLOWED_LEAST), ALLOWED_MOST),
            .most = log(e->rejected),
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

/* The next whole number is near, however few there are. */
static bool is_near(const struct search *s, double value, double estimate)
{
    if (s->config.by == SEARCH_CONCURRENCY && fabs(value - estimate) <= 1)
        return true;
    return value < estimate * EVIDENCE_NEAR && value > estimate / EVIDENCE_NEAR;
}

static void count_near(struct evidence *e, const struct search *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        e->near += !r->is_client_limited && !r->ended_early &&
                   is_near(s, r->value, e->value);
    }
}

void evidence_take(const struct search *s, struct evidence *out)
{
    *out = (struct evidence){.missed = INFINITY,
                             .failed = INFINITY,
                             .client = INFINITY,
                             .rejected = INFINITY};
    take_marks(out, s);
    take_client(out, s);
    take_twists(out, s);
    take_lines(out, s);
    if (out->has_fit)
        count_near(out, s);
}

double evidence_reach(const struct evidence *e)
{
    return (e->ci.high - e->ci.low) / 2 / e->value;
}
