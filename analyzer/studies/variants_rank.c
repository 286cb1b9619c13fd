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

/* The values of one load on the scale on which they are compared: logarithms,
 * more is worse.  [variant * columns + column]; NAN: there is none. */
struct table {
    const struct variants_summary *s;
    size_t value;
    struct variants_ranking *r;
    uint64_t *rounds; /* the distinct ones ... */
    size_t *joined;   /* ... and the rounds that they become */
    size_t n_rounds;
    size_t parts; /* of a run: 1, or VARIANTS_PARTS */
    size_t columns;
    double *x[RANKED_BY_COUNT];
    double *noise; /* of misses, which are counts */
    double due;    /* of all of them */
    double good;
};

static const struct variant_cell *cell(const struct table *t, size_t variant)
{
    return &t->s->list[variant].cells[t->value];
}

static bool is_ranked(const struct table *t, size_t variant)
{
    return cell(t, variant)->counted > 0 &&
           cell(t, variant)->counted >= t->r->needed;
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

/* ---- the table ---- */

static size_t find_round(const struct table *t, uint64_t round)
{
    size_t i = 0;

    while (i < t->n_rounds && t->rounds[i] != round)
        i++;
    return i;
}

static bool has_values(const struct table *t, const struct variant_run *run)
{
    return t->parts == 1 || run->has_parts;
}

/* Calls for each run, or part of one, of the variants that are ranked. */
static void each_values(struct table *t,
                        void (*visit)(struct table *t, size_t variant,
                                      size_t column,
                                      const struct variant_run *run,
                                      const struct variant_values *v))
{
    for (size_t i = 0; i < t->s->set.n; i++) {
        for (size_t k = 0; is_ranked(t, i) && k < cell(t, i)->counted; k++) {
            const struct variant_run *run = &cell(t, i)->rounds[k];
            size_t column = t->joined[find_round(t, run->round)] * t->parts;

            for (size_t p = 0; p < t->parts && has_values(t, run); p++)
                visit(t, i, column + p, run,
                      t->parts > 1 ? &run->parts[p] : &run->all);
        }
    }
}

static void count_good(struct table *t, size_t variant, size_t column,
                       const struct variant_run *run,
                       const struct variant_values *v)
{
    (void)variant;
    (void)column;
    (void)run;
    t->good += v->good;
    t->due += v->due;
    t->r->are_too_few |= isnan(v->slo_share);
}

static double log_of(double x)
{
    return x > 0 && isfinite(x) ? log(x) : NAN;
}

/* Half a request is added to counts, so that 0 has a logarithm. */
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

/* Within a run latencies depend on those before them, and in an overloaded one
 * they grow; the rate at which answers come does neither. */
static void fill_in(struct table *t, size_t variant, size_t column,
                    const struct variant_run *run,
                    const struct variant_values *v)
{
    bool is_usable = t->parts == 1 ||
                     (run->are_parts_apart && !cell(t, variant)->is_overloaded);
    size_t at = variant * t->columns + column;

    t->noise[at] = 1 / ((t->r->counts_good ? v->good : v->due - v->good) + 0.5);
    for (int by = 0; by < RANKED_BY_COUNT; by++) {
        if (is_usable || by == RANKED_BY_THROUGHPUT)
            t->x[by][at] = scaled(t->r, (enum ranked_by)by, v);
    }
}

/* A variant of which one run has no value, because too much failed, is compared
 * otherwise. */
static void drop_incomplete(const struct table *t, enum ranked_by by)
{
    for (size_t i = 0; i < t->s->set.n; i++) {
        double *x = t->x[by] + i * t->columns;
        bool is_whole = true;

        for (size_t c = 0; c < t->columns; c++)
            is_whole &= !isnan(x[c]) ||
                        isnan(t->x[RANKED_BY_MISSES][i * t->columns + c]);
        for (size_t c = 0; !is_whole && c < t->columns; c++)
            x[c] = NAN;
    }
}

static double *empty(const struct table *t)
{
    double *x = xcalloc(t->s->set.n * t->columns + 1, sizeof(*x));

    for (size_t i = 0; i < t->s->set.n * t->columns; i++)
        x[i] = NAN;
    return x;
}

/* A run that replaces an invalid one has a number of its own.  Two rounds that
 * have no variant in common become one: the earlier one. */
static void join_rounds(struct table *t)
{
    bool *has = xcalloc(t->n_rounds * t->s->set.n + 1, sizeof(*has));
    size_t n = t->s->set.n;

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; is_ranked(t, i) && k < cell(t, i)->counted; k++)
            has[find_round(t, cell(t, i)->rounds[k].round) * n + i] = true;
    }
    for (size_t r = 0; r < t->n_rounds; r++) {
        size_t to = 0;

        for (bool is_free = false; to < r && !is_free; to += !is_free) {
            is_free = t->joined[to] == to;
            for (size_t i = 0; i < n; i++)
                is_free &= !(has[to * n + i] && has[r * n + i]);
        }
        t->joined[r] = to;
        for (size_t i = 0; to < r && i < n; i++)
            has[to * n + i] |= has[r * n + i];
    }
    free(has);
}

static void find_rounds(struct table *t)
{
    size_t total = 0;

    for (size_t i = 0; i < t->s->set.n; i++)
        total += cell(t, i)->counted;
    t->rounds = xcalloc(total + 1, sizeof(*t->rounds));
    t->joined = xcalloc(total + 1, sizeof(*t->joined));
    for (size_t i = 0; i < t->s->set.n; i++) {
        for (size_t k = 0; is_ranked(t, i) && k < cell(t, i)->counted; k++) {
            uint64_t round = cell(t, i)->rounds[k].round;

            if (find_round(t, round) == t->n_rounds)
                t->rounds[t->n_rounds++] = round;
        }
    }
    join_rounds(t);
}

static void table_init(struct table *t)
{
    const struct variants_summary *s = t->s;
    struct variants_ranking *r = t->r;
    size_t asked = s->asked;

    for (size_t i = 0; i < s->set.n; i++)
        asked = cell(t, i)->counted > asked ? cell(t, i)->counted : asked;
    r->is_within = asked < VARIANTS_MIN_ROUNDS;
    r->needed = r->is_within ? asked : VARIANTS_MIN_ROUNDS;
    if (r->needed < (asked + 1) / 2)
        r->needed = (asked + 1) / 2;
    for (size_t i = 0; i < s->set.n; i++)
        r->ranked += is_ranked(t, i);
    find_rounds(t);
    t->parts = r->is_within ? VARIANTS_PARTS : 1;
    t->columns = t->n_rounds * t->parts;
    each_values(t, count_good);
    r->counts_good = 2 * t->good < t->due;
    r->are_too_few &= s->quantile > 0;
    r->by = s->quantile > 0 ? r->are_too_few ? RANKED_BY_MEDIAN : RANKED_BY_SLO
            : s->has_slo    ? RANKED_BY_MISSES
                            : RANKED_BY_MEDIAN;
    t->noise = empty(t);
    for (int by = 0; by < RANKED_BY_COUNT; by++)
        t->x[by] = empty(t);
    each_values(t, fill_in);
    drop_incomplete(t, r->by);
}

static void table_fini(struct table *t)
{
    for (int by = 0; by < RANKED_BY_COUNT; by++)
        free(t->x[by]);
    free(t->noise);
    free(t->joined);
    free(t->rounds);
}

/* ---- pairs ---- */

/* NAN without a value. */
static double mean_of(const struct table *t, enum ranked_by by, size_t variant)
{
    double sum = 0;
    double n = 0;

    for (size_t c = 0; c < t->columns; c++) {
        double x = t->x[by][variant * t->columns + c];

        if (!isnan(x)) {
            sum += x;
            n++;
        }
    }
    return n > 0 ? sum / n : NAN;
}

static enum ranked_by choose(const struct table *t, size_t a, size_t b)
{
    size_t overloaded =
        (size_t)cell(t, a)->is_overloaded + cell(t, b)->is_overloaded;

    if (overloaded == 2 || (overloaded == 1 && t->parts > 1))
        return RANKED_BY_THROUGHPUT;
    return isnan(mean_of(t, t->r->by, a)) || isnan(mean_of(t, t->r->by, b))
               ? RANKED_BY_MISSES
               : t->r->by;
}

static void contrast_pairs(const struct table *t)
{
    size_t n = t->s->set.n;

    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            struct variant_pair *p = &t->r->pairs[block_pair(n, i, j)];
            struct blocks b;

            if (!is_ranked(t, i) || !is_ranked(t, j))
                continue;
            p->by = choose(t, i, j);
            b = (struct blocks){.x = t->x[p->by],
                                .noise =
                                    p->by == RANKED_BY_MISSES ? t->noise : NULL,
                                .n = n,
                                .rounds = t->columns};
            p->contrast = block_contrast(&b, i, j);
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
static bool is_before(const struct table *t, const struct variant_place *p,
                      const struct variant_place *q)
{
    enum ranked_by by;
    double x;
    double y;

    if (p->rank != q->rank)
        return q->rank == 0 || (p->rank > 0 && p->rank < q->rank);
    if (cell(t, p->variant)->is_overloaded !=
        cell(t, q->variant)->is_overloaded)
        return cell(t, q->variant)->is_overloaded;
    by = choose(t, p->variant, q->variant);
    x = mean_of(t, by, p->variant);
    y = mean_of(t, by, q->variant);
    return x < y;
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

static void make_places(const struct table *t)
{
    struct variant_place *places = t->r->places;
    size_t n = t->s->set.n;

    for (size_t i = 0; i < n; i++) {
        struct variant_place p = {.variant = i, .rank = is_ranked(t, i)};
        size_t at = i;

        for (size_t k = 0; k < n; k++)
            p.rank += standing_of(t->r, n, i, k) == STANDING_BEHIND;
        for (; at > 0 && is_before(t, &p, &places[at - 1]); at--)
            places[at] = places[at - 1];
        places[at] = p;
    }
}

static void note_values(const struct table *t)
{
    struct variants_ranking *r = t->r;

    for (size_t i = 0; i < t->s->set.n; i++) {
        const struct variant_cell *c = cell(t, i);

        r->log_value[i] = c->counted > 0 ? 0 : NAN;
        for (size_t k = 0; k < c->counted; k++)
            r->log_value[i] +=
                scaled(r, r->by, &c->rounds[k].all) / (double)c->counted;
    }
}

void variants_rank(struct variants_summary *s, double confidence)
{
    struct table *tables = xcalloc(s->n_values + 1, sizeof(*tables));
    size_t n = s->set.n;

    s->confidence = confidence;
    s->rankings = xcalloc(s->n_values + 1, sizeof(*s->rankings));
    for (size_t i = 0; i < s->n_values; i++) {
        struct variants_ranking *r = &s->rankings[i];

        r->log_value = xcalloc(n + 1, sizeof(*r->log_value));
        r->places = xcalloc(n + 1, sizeof(*r->places));
        r->pairs = xcalloc(block_pairs(n) + 1, sizeof(*r->pairs));
        tables[i] = (struct table){.s = s, .value = i, .r = r};
        table_init(&tables[i]);
        contrast_pairs(&tables[i]);
        note_values(&tables[i]);
    }
    decide_pairs(s);
    for (size_t i = 0; i < s->n_values; i++) {
        make_places(&tables[i]);
        table_fini(&tables[i]);
    }
    free(tables);
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
