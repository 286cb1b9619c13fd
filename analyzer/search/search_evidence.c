#include "analyzer/search/search_evidence.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/search/probe_marks.h"
#include "common/base/xalloc.h"

/* Shares outside cannot be put on a line. */
#define ALLOWED_LEAST 1e-5
#define ALLOWED_MOST  0.99

/* ---- the lines ---- */

static bool is_ever_missed(const struct search *s, size_t term, double allowed)
{
    for (size_t i = 0; i < s->n; i++)
        if (!s->results[i].set_aside &&
            probe_marks_is_missed(&s->results[i].terms[term], allowed))
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
static bool is_proof(const struct evidence *e, const struct search_result *r)
{
    return r->step == SEARCH_CONFIRM &&
           !(r->value >= (1 - EVIDENCE_SAME) * e->rejected);
}

static size_t take_points(struct fit_point *points, const struct search *s,
                          const struct evidence *e, size_t term)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_counts *c = &s->results[i].terms[term];

        if (s->results[i].set_aside || c->n == 0 || is_outdated(s, e, i) ||
            is_proof(e, &s->results[i]))
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

        e->near +=
            !r->set_aside && !r->ended_early && is_near(s, r->value, e->value);
    }
}

void evidence_take(const struct search *s, struct evidence *out)
{
    *out = (struct evidence){.missed = INFINITY,
                             .failed = INFINITY,
                             .client = INFINITY,
                             .rejected = INFINITY};
    probe_marks_take(out, s);
    take_lines(out, s);
    if (out->has_fit)
        count_near(out, s);
}

double evidence_reach(const struct evidence *e)
{
    return (e->ci.high - e->ci.low) / 2 / e->value;
}
