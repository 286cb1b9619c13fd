/* The ranking of variants at one load: contrasts within rounds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/studies/variants.h"
#include "common/base/xalloc.h"
#include "common/stats/stats.h"

/* A part must be this many times as long as latencies remember (their
 * integrated autocorrelation time).  M/M/1 at load 0.9: with parts of 600
 * requests up to 9 % of studies told equal servers apart, with 2,000 about 5 %
 * (bench_variants). */
#define PARTS_APART 8

/* One load. */
struct at {
    const struct variants_summary *s;
    size_t value;
    struct variants_ranking *r;
};

static const struct variant_cell *cell(const struct at *at, size_t variant)
{
    return &at->s->list[variant].cells[at->value];
}

static bool is_ranked(const struct at *at, size_t variant)
{
    return cell(at, variant)->counted > 0 &&
           cell(at, variant)->counted >= at->r->needed;
}

const char *variants_show_measure(const struct variants_summary *s,
                                  enum ranked_by by,
                                  char out[static VARIANTS_MEASURE])
{
    if (by == RANKED_BY_SLO && s->limit_ns > 0)
        snprintf(out, VARIANTS_MEASURE, "%s p%.6g", measure_name(s->measure),
                 100 * s->quantile);
    else if (by == RANKED_BY_SLO)
        snprintf(out, VARIANTS_MEASURE, "the SLO term closest to its limit");
    else if (by == RANKED_BY_MEDIAN)
        snprintf(out, VARIANTS_MEASURE, "%s p50", measure_name(s->measure));
    else
        snprintf(out, VARIANTS_MEASURE, "%s",
                 by == RANKED_BY_MISSES ? "requests that are not good"
                                        : "throughput");
    return out;
}

bool variants_parts_are_apart(const double bins[static VARIANTS_BINS])
{
    double x[VARIANTS_BINS];
    double last = 0;

    for (size_t i = 0; i < VARIANTS_BINS && !(last > 0); i++)
        last = isnan(bins[i]) ? 0 : bins[i];
    for (size_t i = 0; i < VARIANTS_BINS; i++) {
        last = isnan(bins[i]) ? last : bins[i];
        x[i] = last;
    }
    return PARTS_APART * autocorr_time(x, VARIANTS_BINS) * VARIANTS_PARTS <=
           VARIANTS_BINS;
}

/* ---- values ---- */

/* A run has one value, or one for each part. */
static size_t parts_of(const struct variants_ranking *r)
{
    return r->is_within ? VARIANTS_PARTS : 1;
}

static const struct variant_values *values_of(const struct variants_ranking *r,
                                              const struct variant_run *run,
                                              size_t part)
{
    return r->is_within ? &run->parts[part] : &run->all;
}

static double log_of(double x)
{
    return x > 0 && isfinite(x) ? log(x) : NAN;
}

/* On the scale on which values are compared: logarithms, more is worse.  NAN:
 * there is none.  Half a request is added to counts, so that 0 has a logarithm.
 */
static double scaled(const struct variants_ranking *r, enum ranked_by by,
                     const struct variant_values *v)
{
    switch (by) {
    case RANKED_BY_SLO:
        return log_of(v->slo_share);
    case RANKED_BY_MEDIAN:
        return log_of(v->median_ns);
    case RANKED_BY_MISSES:
        return r->counts_good ? -log((v->good + 0.5) / (v->due + 1))
                              : log((v->due - v->good + 0.5) / (v->due + 1));
    default:
        return -log_of(v->throughput_rps);
    }
}

/* Can this measure be compared?  Within a run latencies depend on those before
 * them, and in an overloaded one they grow; the rate at which answers come does
 * neither.  A quantile may be among the failures. */
static bool has_values(const struct at *at, size_t variant, enum ranked_by by)
{
    const struct variant_cell *c = cell(at, variant);
    bool has = is_ranked(at, variant);

    for (size_t k = 0; has && k < c->counted; k++) {
        const struct variant_run *run = &c->rounds[k];

        if (at->r->is_within)
            has =
                run->has_parts && (by == RANKED_BY_THROUGHPUT ||
                                   (run->are_parts_apart && !c->is_overloaded));
        for (size_t p = 0; has && p < parts_of(at->r); p++)
            has = !isnan(scaled(at->r, by, values_of(at->r, run, p)));
    }
    return has;
}

/* The mean over whole runs; NAN without a value. */
static double mean_of(const struct at *at, size_t variant, enum ranked_by by)
{
    const struct variant_cell *c = cell(at, variant);
    double sum = c->counted > 0 ? 0 : NAN;

    for (size_t k = 0; k < c->counted; k++)
        sum += scaled(at->r, by, &c->rounds[k].all);
    return sum / (double)c->counted;
}

/* What is common to all variants, before any of them are compared. */
static void begin(const struct at *at)
{
    const struct variants_summary *s = at->s;
    struct variants_ranking *r = at->r;
    size_t asked = s->asked;
    double due = 0;
    double good = 0;

    for (size_t i = 0; i < s->set.n; i++)
        asked = cell(at, i)->counted > asked ? cell(at, i)->counted : asked;
    r->is_within = asked < VARIANTS_MIN_ROUNDS;
    r->needed = r->is_within ? asked : VARIANTS_MIN_ROUNDS;
    if (r->needed < (asked + 1) / 2)
        r->needed = (asked + 1) / 2;
    for (size_t i = 0; i < s->set.n; i++) {
        const struct variant_cell *c = cell(at, i);

        r->ranked += is_ranked(at, i);
        for (size_t k = 0; is_ranked(at, i) && k < c->counted; k++) {
            due += c->rounds[k].all.due;
            good += c->rounds[k].all.good;
            for (size_t p = 0; p < parts_of(r); p++)
                r->are_too_few |=
                    isnan(values_of(r, &c->rounds[k], p)->slo_share);
        }
    }
    r->counts_good = 2 * good < due;
    r->are_too_few &= s->quantile > 0;
    r->by = s->quantile > 0 ? r->are_too_few ? RANKED_BY_MEDIAN : RANKED_BY_SLO
            : s->has_slo    ? RANKED_BY_MISSES
                            : RANKED_BY_MEDIAN;
    for (size_t i = 0; i < s->set.n; i++)
        r->log_value[i] = mean_of(at, i, r->by);
}

/* ---- pairs ---- */

static enum ranked_by choose(const struct at *at, size_t a, size_t b)
{
    int overloaded = cell(at, a)->is_overloaded + cell(at, b)->is_overloaded;

    if (overloaded == 2 || (overloaded == 1 && at->r->is_within))
        return RANKED_BY_THROUGHPUT;
    return has_values(at, a, at->r->by) && has_values(at, b, at->r->by)
               ? at->r->by
               : RANKED_BY_MISSES;
}

/* Which run of b belongs to each run of a: that of the same round, or, since a
 * run that replaces an invalid one has a round of its own, the first of those
 * that are left.  b->counted: none. */
static void match(const struct variant_cell *a, const struct variant_cell *b,
                  size_t *with)
{
    bool *is_taken = xcalloc(b->counted + 1, sizeof(*is_taken));

    for (size_t i = 0; i < a->counted; i++) {
        with[i] = 0;
        while (with[i] < b->counted &&
               b->rounds[with[i]].round != a->rounds[i].round)
            with[i]++;
        is_taken[with[i]] = true;
    }
    for (size_t i = 0; i < a->counted; i++) {
        if (with[i] < b->counted)
            continue;
        with[i] = 0;
        while (with[i] < b->counted && is_taken[with[i]])
            with[i]++;
        is_taken[with[i]] = true;
    }
    free(is_taken);
}

/* Of one request more or less, relative to the count. */
static double noise_of(const struct variants_ranking *r,
                       const struct variant_values *v)
{
    return 1 / ((r->counts_good ? v->good : v->due - v->good) + 0.5);
}

static struct block_contrast contrast(const struct at *at, size_t a, size_t b,
                                      enum ranked_by by)
{
    const struct variant_cell *of_a = cell(at, a);
    const struct variant_cell *of_b = cell(at, b);
    size_t most = of_a->counted * parts_of(at->r);
    double *differences = xcalloc(2 * most + 1, sizeof(*differences));
    double *noise = differences + most;
    size_t *with = xcalloc(of_a->counted + 1, sizeof(*with));
    struct block_contrast c;
    size_t n = 0;

    match(of_a, of_b, with);
    for (size_t i = 0; i < most; i++) {
        size_t run = i / parts_of(at->r);
        size_t part = i % parts_of(at->r);
        const struct variant_values *x =
            values_of(at->r, &of_a->rounds[run], part);
        const struct variant_values *y;

        if (with[run] == of_b->counted)
            continue;
        y = values_of(at->r, &of_b->rounds[with[run]], part);
        differences[n] = scaled(at->r, by, y) - scaled(at->r, by, x);
        noise[n++] = noise_of(at->r, x) + noise_of(at->r, y);
    }
    c = block_contrast(differences, by == RANKED_BY_MISSES ? noise : NULL, n);
    free(with);
    free(differences);
    return c;
}

static void contrast_pairs(const struct at *at)
{
    size_t n = at->s->set.n;

    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            struct variant_pair *p = &at->r->pairs[block_pair(n, i, j)];

            p->by = choose(at, i, j);
            if (!has_values(at, i, p->by) || !has_values(at, j, p->by))
                continue;
            p->contrast = contrast(at, i, j, p->by);
            p->is_known = p->contrast.rounds >= VARIANTS_MIN_ROUNDS;
            p->p_value = block_p_value(&p->contrast);
        }
    }
}

static void decide(struct variant_pair *p, double confidence, double smallest)
{
    const struct block_contrast *c = &p->contrast;
    double half = block_half_width(c, p->corrected, confidence);
    double margin = log1p(smallest);

    p->ratio = exp(c->mean);
    p->range = (struct interval){exp(c->mean - half), exp(c->mean + half)};
    p->is_same = fabs(c->mean) + half < margin;
    if (p->p_value <= (1 - confidence) / (double)p->corrected &&
        fabs(c->mean) >= margin)
        p->standing = c->mean > 0 ? STANDING_AHEAD : STANDING_BEHIND;
}

/* All pairs at all values are one family. */
static void decide_pairs(struct variants_summary *s)
{
    size_t pairs = block_pairs(s->set.n);
    size_t most = s->n_values * pairs;
    struct variant_pair **list =
        xcalloc(most + 1, sizeof(struct variant_pair *));
    double *p_values = xcalloc(most + 1, sizeof(*p_values));
    size_t *corrected = xcalloc(most + 1, sizeof(*corrected));
    size_t n = 0;

    for (size_t i = 0; i < most; i++) {
        struct variant_pair *p = &s->rankings[i / pairs].pairs[i % pairs];

        if (p->is_known) {
            p_values[n] = p->p_value;
            list[n++] = p;
        }
    }
    holm_correct(p_values, n, s->confidence, corrected);
    for (size_t i = 0; i < n; i++) {
        list[i]->corrected = corrected[i];
        decide(list[i], s->confidence, s->smallest);
    }
    free(corrected);
    free(p_values);
    free((void *)list);
}

/* ---- places ---- */

/* Better first among variants of the same rank: those that are overloaded
 * follow the others. */
static bool is_before(const struct at *at, const struct variant_place *p,
                      const struct variant_place *q)
{
    enum ranked_by by;

    if (p->rank != q->rank)
        return q->rank == 0 || (p->rank > 0 && p->rank < q->rank);
    if (cell(at, p->variant)->is_overloaded !=
        cell(at, q->variant)->is_overloaded)
        return cell(at, q->variant)->is_overloaded;
    by = choose(at, p->variant, q->variant);
    return mean_of(at, p->variant, by) < mean_of(at, q->variant, by);
}

static enum standing standing_of(const struct variants_ranking *r, size_t n,
                                 size_t a, size_t b)
{
    enum standing s;

    if (a == b)
        return STANDING_UNKNOWN;
    s = r->pairs[a < b ? block_pair(n, a, b) : block_pair(n, b, a)].standing;
    if (a < b || s == STANDING_UNKNOWN)
        return s;
    return s == STANDING_AHEAD ? STANDING_BEHIND : STANDING_AHEAD;
}

static void make_places(const struct at *at)
{
    struct variant_place *places = at->r->places;
    size_t n = at->s->set.n;

    for (size_t i = 0; i < n; i++) {
        struct variant_place p = {.variant = i, .rank = is_ranked(at, i)};
        size_t to = i;

        for (size_t k = 0; k < n; k++)
            p.rank += standing_of(at->r, n, i, k) == STANDING_BEHIND;
        for (; to > 0 && is_before(at, &p, &places[to - 1]); to--)
            places[to] = places[to - 1];
        places[to] = p;
    }
}

void variants_rank(struct variants_summary *s, double confidence)
{
    size_t n = s->set.n;

    s->confidence = confidence;
    s->rankings = xcalloc(s->n_values + 1, sizeof(*s->rankings));
    for (size_t i = 0; i < s->n_values; i++) {
        struct variants_ranking *r = &s->rankings[i];
        const struct at at = {s, i, r};

        r->log_value = xcalloc(n + 1, sizeof(*r->log_value));
        r->places = xcalloc(n + 1, sizeof(*r->places));
        r->pairs = xcalloc(block_pairs(n) + 1, sizeof(*r->pairs));
        begin(&at);
        contrast_pairs(&at);
    }
    decide_pairs(s);
    for (size_t i = 0; i < s->n_values; i++) {
        const struct at at = {s, i, &s->rankings[i]};

        make_places(&at);
    }
}

void variants_ranking_fini(struct variants_ranking *r)
{
    free(r->log_value);
    free(r->places);
    free(r->pairs);
    *r = (struct variants_ranking){0};
}

/* ---- questions ---- */

enum standing variants_standing(const struct variants_summary *s, size_t value,
                                size_t a, size_t b)
{
    return standing_of(&s->rankings[value], s->set.n, a, b);
}

struct variant_pair variants_pair(const struct variants_summary *s,
                                  size_t value, size_t a, size_t b)
{
    struct variant_pair p;

    if (a < b)
        return s->rankings[value].pairs[block_pair(s->set.n, a, b)];
    p = s->rankings[value].pairs[block_pair(s->set.n, b, a)];
    p.contrast.mean = -p.contrast.mean;
    p.ratio = 1 / p.ratio;
    p.range = (struct interval){1 / p.range.high, 1 / p.range.low};
    p.standing = variants_standing(s, value, a, b);
    return p;
}
