#include "analyzer/search/search_evidence.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/search/search_tuning.h"
#include "common/base/xalloc.h"
#include "common/measure/measure.h"

#define SECOND 1e9 /* times are computed as doubles */

/* ---- single probes ---- */

/* Are there more misses than allowed?  Not if there is only one more, however
 * few the requests are. */
static bool is_missed(const struct search_counts *c, double allowed)
{
    return allowed >= 0 && (double)c->misses > allowed * (double)c->n + 1;
}

/* By the number of independent requests: misses come in clusters. */
bool evidence_is_failed(const struct search_counts *c, double allowed)
{
    double n;

    if (!is_missed(c, allowed))
        return false;
    n = ceil((double)c->n / stats_inflation(c->slices, c->n_slices));
    return stats_binomial_upper_tail(
               llround(n), allowed,
               llround(floor((double)c->misses * n / (double)c->n))) <
           search_tuning.level;
}

/* Is a term missed, by this rule? */
static bool is_any(const struct slo *slo, const struct search_result *r,
                   bool (*rule)(const struct search_counts *, double))
{
    for (size_t i = 0; i < r->n_terms; i++)
        if (rule(&r->terms[i], slo_allowed(&slo->terms[i])))
            return true;
    return false;
}

bool evidence_is_at(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fmin(a, b);
}

bool evidence_counts(const struct search_result *r)
{
    return r->step != SEARCH_LOOK && !r->discarded;
}

size_t evidence_discarded_at(const struct search *s, enum search_step step,
                             double value)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->results[i].discarded && s->results[i].step == step &&
             evidence_is_at(s->results[i].value, value);
    return n;
}

static void take_confirm(struct evidence *e, const struct slo *slo,
                         const struct search_result *r, size_t i)
{
    if (r->ended_early || is_any(slo, r, evidence_is_failed)) {
        e->rejections++;
        if (r->value < e->rejected) {
            e->rejected = r->value;
            e->rejected_at = i;
        }
    } else if (r->value > e->confirmed) {
        e->confirmed = r->value;
        e->confirmed_met = search_is_met(slo, r);
    }
}

static void take_all(struct evidence *e, const struct search *s)
{
    const struct slo *slo = s->config.slo;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        e->took_ns += r->took_ns;
        e->requests += r->requests;
        if (r->step == SEARCH_LOOK) {
            e->look = r;
            continue;
        }
        e->noise = r->discarded;
        if (r->discarded) {
            e->discarded++;
        } else {
            e->kept++;
            e->reached = fmax(e->reached, r->value);
            if (search_is_met(slo, r))
                e->met_to = fmax(e->met_to, r->value);
            else
                e->missed_from = fmin(e->missed_from, r->value);
            if (is_any(slo, r, is_missed))
                e->missed = fmin(e->missed, r->value);
            if (is_any(slo, r, evidence_is_failed))
                e->failed = fmin(e->failed, r->value);
            if (r->step == SEARCH_CONFIRM)
                take_confirm(e, slo, r, i);
        }
    }
    for (size_t i = 0; i < s->n; i++)
        if (evidence_counts(&s->results[i]) && s->results[i].value < e->missed)
            e->met = fmax(e->met, s->results[i].value);
    if (e->confirmed >= e->rejected)
        e->confirmed = 0;
}

/* If nothing was measured, the server may be the cause, and a launcher is no
 * client. */
static void take_client(struct evidence *e, const struct search *s)
{
    for (size_t i = 0; i < s->n && e->reached > 0; i++) {
        const struct search_result *r = &s->results[i];

        if (r->discarded && !search_is_discarded_by(r, SEARCH_UNMEASURED) &&
            !search_is_discarded_by(r, SEARCH_LOST) &&
            r->step == SEARCH_PROBE && r->value > e->reached &&
            evidence_discarded_at(s, SEARCH_PROBE, r->value) >=
                search_tuning.tries)
            e->client = fmin(e->client, r->value);
    }
    for (size_t i = 0; i < s->n; i++)
        e->beyond_client +=
            s->results[i].discarded && s->results[i].value >= e->client;
}

/* ---- the regression ---- */

/* Earlier results above a rejected load no longer count. */
static bool is_outdated(const struct evidence *e, const struct search_result *r,
                        size_t i)
{
    return i < e->rejected_at && r->value >= e->rejected;
}

/* Returns the number of points; 0 if the term was never missed.  The offered
 * rate counts, not the requested one: much of the scatter of a queue comes from
 * the arrivals. */
static size_t take_points(struct fit_point *points, const struct search *s,
                          const struct evidence *e, size_t term)
{
    double allowed = slo_allowed(&s->config.slo->terms[term]);
    bool is_ever_missed = false;
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];
        const struct search_counts *c = &r->terms[term];
        /* A confirmation that holds tests the estimate and is not part of it.
         */
        bool is_proof = r->step == SEARCH_CONFIRM && r->value < e->rejected;

        if (!evidence_counts(r) || c->n == 0)
            continue;
        is_ever_missed |= is_missed(c, allowed);
        if (is_outdated(e, r, i) || is_proof)
            continue;
        points[n] = (struct fit_point){
            .load = s->config.by == SEARCH_RATE && r->offered_rps > 0
                        ? r->offered_rps
                        : r->value,
            .n = (double)c->n,
            .misses = (double)c->misses,
            .warmup_s = (double)r->warmup_ns / SECOND,
            .window_s = (double)r->window_ns / SECOND,
            .slices = c->slices,
            .n_slices = c->n_slices};
        n++;
    }
    return is_ever_missed ? n : 0;
}

/* That of the lightest load. */
static double shortest_answer_s(const struct search *s)
{
    double shortest = INFINITY;

    for (size_t i = 0; i < s->n; i++)
        if (evidence_counts(&s->results[i]) && s->results[i].answer_ns > 0)
            shortest = fmin(shortest, (double)s->results[i].answer_ns / SECOND);
    return isfinite(shortest) ? shortest : 0;
}

/* The lowest crossing is the capacity. */
static void take_lines(struct evidence *e, const struct search *s)
{
    struct fit_point *points = xcalloc(s->n + 1, sizeof(*points));

    e->ci = (struct interval){INFINITY, INFINITY};
    for (size_t i = 0; i < s->config.slo->len; i++) {
        const struct slo_term *t = &s->config.slo->terms[i];
        double allowed = slo_allowed(t);
        bool is_wait = s->config.by == SEARCH_RATE && t->kind == SLO_QUANTILE &&
                       measure_is_of_answer(t->measure) &&
                       !measure_is_of_stream(t->measure);
        struct fit_aim aim = {
            .allowed = fmin(fmax(allowed, search_tuning.allowed_min),
                            search_tuning.allowed_max),
            .max = e->rejected,
            .limit_s = is_wait ? (double)t->limit_ns / SECOND : 0,
            .answer_s = is_wait ? shortest_answer_s(s) : 0,
            .confidence = SEARCH_CONFIDENCE};
        size_t n = allowed >= 0 ? take_points(points, s, e, i) : 0;
        struct fit f;

        if (n == 0)
            continue;
        fit_make(points, n, &aim, &f);
        e->fits[i] = f;
        e->ci.low = fmin(e->ci.low, f.ci.low);
        e->ci.high = fmin(e->ci.high, f.ci.high);
        if (!e->has_fit || f.load < e->fit.load) {
            e->fit = f;
            e->binding = i;
        }
        e->has_fit = true;
    }
    free(points);
}

double evidence_reach(const struct evidence *e)
{
    return (e->ci.high - e->ci.low) / 2 / e->fit.load;
}

/* ---- contradictions ---- */

/* Did it meet all terms, in a window that was long enough for some misses? */
static bool is_clearly_met(const struct search *s, const struct evidence *e,
                           const struct search_result *r)
{
    for (size_t i = 0; i < s->config.slo->len; i++) {
        double allowed = slo_allowed(&s->config.slo->terms[i]);
        double grown = e->has_fit ? fit_grown(allowed, e->fit.relax_s,
                                              (double)r->warmup_ns / SECOND,
                                              (double)r->window_ns / SECOND)
                                  : 1;

        if (allowed >= 0 && (is_missed(&r->terms[i], allowed) ||
                             (double)r->terms[i].n * grown * allowed <
                                 search_tuning.contradiction_misses))
            return false;
    }
    return true;
}

/* Pairs of a significantly missed value and a higher one that was met.  Each
 * result is in at most one of them. */
static void take_contradictions(struct evidence *e, const struct search *s)
{
    bool *is_used = xcalloc(s->n + 1, sizeof(*is_used));

    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *low = &s->results[i];
        double from =
            low->value * (low->ended_early ? search_tuning.contradiction_lost
                                           : search_tuning.contradiction_ratio);

        if (!evidence_counts(low) || is_outdated(e, low, i) ||
            !is_any(s->config.slo, low, evidence_is_failed))
            continue;
        for (size_t k = 0; k < s->n; k++) {
            const struct search_result *high = &s->results[k];

            if (is_used[k] || is_outdated(e, high, k) ||
                !evidence_counts(high) || high->value < from ||
                !is_clearly_met(s, e, high))
                continue;
            is_used[k] = true;
            e->contradictions++;
            e->contradiction_low = low->value;
            e->contradiction_high = high->value;
            break;
        }
    }
    free(is_used);
}

void evidence_take(const struct search *s, struct evidence *out)
{
    *out = (struct evidence){.missed = INFINITY,
                             .missed_from = INFINITY,
                             .failed = INFINITY,
                             .client = INFINITY,
                             .rejected = INFINITY};
    take_all(out, s);
    take_client(out, s);
    take_lines(out, s);
    take_contradictions(out, s);
}
