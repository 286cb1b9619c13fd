#include "analyzer/search/search_evidence.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/search/search_tuning.h"
#include "common/base/xalloc.h"
#include "common/measure/measure.h"

#define SECOND 1e9 /* times are computed as doubles */

/* ---- single probes ---- */

bool evidence_is_missed(const struct search_counts *c, double allowed)
{
    return allowed >= 0 && (double)c->misses > allowed * (double)c->n + 1;
}

/* By the number of independent requests: misses come in clusters. */
bool evidence_is_failed(const struct search_counts *c, double allowed)
{
    double n;
    double share;

    if (!evidence_is_missed(c, allowed))
        return false;
    n = ceil((double)c->n / stats_inflation(c->slices, c->n_slices));
    share = (double)c->misses / (double)c->n;
    return stats_binomial_upper_tail(llround(n), allowed,
                                     llround(floor(share * n))) <
           search_tuning.level;
}

/* Is a term missed, by this rule? */
static bool is_any(const struct slo *slo, const struct search_result *r,
                   bool (*rule)(const struct search_counts *, double))
{
    for (size_t i = 0; i < r->n_terms; i++)
        if (rule(&r->terms[i], search_allowed(&slo->terms[i])))
            return true;
    return false;
}

bool evidence_is_at(double a, double b)
{
    return fabs(a - b) <= EVIDENCE_SAME * fmin(a, b);
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

/* ---- confirmations ---- */

void evidence_pool_confirms(const struct search *s, double value,
                            struct search_result *sum)
{
    *sum = (struct search_result){
        .step = SEARCH_CONFIRM, .value = value, .n_terms = s->config.slo->len};
    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        if (r->step != SEARCH_CONFIRM || !evidence_is_at(r->value, value))
            continue;
        if (r->asked_ns > sum->asked_ns)
            sum->asked_ns = r->asked_ns;
        if (r->discarded)
            continue;
        sum->window_ns += r->window_ns;
        for (size_t k = 0; k < r->n_terms; k++) {
            struct search_counts *to = &sum->terms[k];

            to->n += r->terms[k].n;
            to->misses += r->terms[k].misses;
            to->n_slices = r->terms[k].n_slices;
            for (size_t b = 0; b < to->n_slices; b++) {
                to->slices[b].n += r->terms[k].slices[b].n;
                to->slices[b].hits += r->terms[k].slices[b].hits;
            }
        }
    }
}

/* Runs at one value count together, so it does not matter that each of them
 * gets here. */
static void take_confirm(struct evidence *e, const struct search *s, size_t i)
{
    double value = s->results[i].value;
    struct search_result sum;

    evidence_pool_confirms(s, value, &sum);
    if (is_any(s->config.slo, &sum, evidence_is_failed)) {
        e->rejections += !evidence_is_at(value, e->rejected);
        if (value < e->rejected) {
            e->rejected = value;
            e->rejected_at = i;
        }
    } else if ((double)sum.window_ns >=
                   search_tuning.proof_part * (double)sum.asked_ns &&
               value > e->confirmed) {
        e->confirmed = value;
        e->confirmed_met = search_is_met(s->config.slo, &sum);
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
        } else if (r->discarded) {
            e->discarded++;
            e->noise = r->discarded;
        } else {
            e->kept++;
            if (is_any(slo, r, evidence_is_missed))
                e->missed = fmin(e->missed, r->value);
            if (is_any(slo, r, evidence_is_failed))
                e->failed = fmin(e->failed, r->value);
            if (r->step == SEARCH_CONFIRM)
                take_confirm(e, s, i);
        }
    }
    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        if (r->step != SEARCH_LOOK && !r->discarded && r->value < e->missed)
            e->met = fmax(e->met, r->value);
    }
    if (e->confirmed >= e->rejected)
        e->confirmed = 0;
}

/* ---- the limit of the client ---- */

/* If nothing was measured, the server may be the cause. */
static bool is_clients(const struct search_result *r)
{
    return r->discarded && !search_is_discarded_by(r, SEARCH_UNMEASURED);
}

/* Is the client the limit from this value on?  It was tried often enough, there
 * or above, most of the runs there were discarded, and fewer of those below. */
static bool is_limit(const struct search *s, double value)
{
    double all[2] = {0}; /* below, and from it on */
    double lost[2] = {0};
    size_t here = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];
        size_t at = r->value >= (1 - EVIDENCE_SAME) * value;

        if (r->step == SEARCH_LOOK || (r->discarded && !is_clients(r)))
            continue;
        all[at]++;
        lost[at] += r->discarded != NULL;
        here += r->discarded && evidence_is_at(r->value, value);
    }
    return lost[1] >= (double)search_tuning.tries &&
           here + 1 >= search_tuning.tries &&
           lost[1] >= search_tuning.client_share * all[1] &&
           lost[0] < all[0] && lost[0] * all[1] < lost[1] * all[0];
}

static void take_client(struct evidence *e, const struct search *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        if (is_clients(r) && r->value < e->client && is_limit(s, r->value))
            e->client = r->value;
    }
    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        if (r->step == SEARCH_LOOK)
            continue;
        e->beyond_client += is_clients(r) && r->value >= e->client;
        if (!r->discarded && r->value < e->client)
            e->reached = fmax(e->reached, r->value);
    }
}

/* ---- the regression ---- */

/* Range of shares that it can use. */
#define ALLOWED_MIN 1e-5
#define ALLOWED_MAX 0.99

static struct fit_aim aim_of(const struct search *s, const struct evidence *e,
                             size_t term)
{
    const struct slo_term *t = &s->config.slo->terms[term];
    double allowed = search_allowed(t);
    bool is_wait = s->config.by == SEARCH_RATE && t->kind == SLO_QUANTILE &&
                   measure_is_of_answer(t->measure) &&
                   !measure_is_of_stream(t->measure);

    return (struct fit_aim){.allowed =
                                fmin(fmax(allowed, ALLOWED_MIN), ALLOWED_MAX),
                            .max = e->rejected,
                            .limit_s =
                                is_wait ? (double)t->limit_ns / SECOND : 0,
                            .confidence = SEARCH_CONFIDENCE};
}

/* Returns the number of points; 0 if the term was never missed. */
static size_t take_points(struct fit_point *points, const struct search *s,
                          const struct evidence *e, size_t term)
{
    double allowed = search_allowed(&s->config.slo->terms[term]);
    bool is_missed = false;
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];
        const struct search_counts *c = &r->terms[term];
        /* Earlier results above a rejected load no longer count. */
        bool is_outdated = i < e->rejected_at && r->value >= e->rejected;
        /* A successful confirmation tests the estimate and is not part of it.
         */
        bool is_proof = r->step == SEARCH_CONFIRM &&
                        r->value < (1 - EVIDENCE_SAME) * e->rejected;

        if (r->step == SEARCH_LOOK || r->discarded || c->n == 0)
            continue;
        is_missed |= evidence_is_missed(c, allowed);
        if (is_outdated || is_proof)
            continue;
        points[n++] =
            (struct fit_point){.load = r->value,
                               .n = (double)c->n,
                               .misses = (double)c->misses,
                               .warmup_s = (double)r->warmup_ns / SECOND,
                               .window_s = (double)r->window_ns / SECOND,
                               .slices = c->slices,
                               .n_slices = c->n_slices};
    }
    return is_missed ? n : 0;
}

/* The lowest crossing is the capacity. */
static void take_lines(struct evidence *e, const struct search *s)
{
    struct fit_point *points = xcalloc(s->n + 1, sizeof(*points));

    e->ci = (struct interval){INFINITY, INFINITY};
    for (size_t i = 0; i < s->config.slo->len; i++) {
        struct fit_aim aim = aim_of(s, e, i);
        size_t n = search_allowed(&s->config.slo->terms[i]) >= 0
                       ? take_points(points, s, e, i)
                       : 0;
        struct fit f;

        if (n == 0)
            continue;
        fit_make(points, n, &aim, &f);
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

/* Is a term missed significantly at the lower value and met at the higher, in a
 * window that was long enough for some misses? */
static bool contradicts(const struct search *s, const struct evidence *e,
                        const struct search_result *low,
                        const struct search_result *high)
{
    const struct search_tuning *t = &search_tuning;
    double ratio =
        low->ended_early ? t->contradiction_lost : t->contradiction_ratio;

    if (low->discarded || high->discarded || low->step == SEARCH_LOOK ||
        high->step == SEARCH_LOOK || high->value < ratio * low->value)
        return false;
    for (size_t i = 0; i < s->config.slo->len; i++) {
        double allowed = search_allowed(&s->config.slo->terms[i]);
        const struct search_counts *c = &high->terms[i];
        double grown =
            e->has_fit ? fit_grown(allowed, e->fit.relax_s,
                                   (double)high->warmup_ns / SECOND,
                                   (double)high->window_ns / SECOND)
                       : 1;

        if (!evidence_is_missed(c, allowed) &&
            (double)c->n * grown * allowed >= t->contradiction_misses &&
            evidence_is_failed(&low->terms[i], allowed))
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
                !contradicts(s, e, &s->results[i], &s->results[k]))
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

void evidence_take(const struct search *s, struct evidence *out)
{
    *out = (struct evidence){.missed = INFINITY,
                             .failed = INFINITY,
                             .client = INFINITY,
                             .rejected = INFINITY};
    take_all(out, s);
    take_client(out, s);
    take_lines(out, s);
    take_contradictions(out, s);
}
