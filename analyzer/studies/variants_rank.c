/* The ranking of variants at each load: ratios within rounds, Holm's correction
 * for the number of pairs and loads. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/studies/variants.h"
#include "common/base/xalloc.h"

static const struct variant_cell *cell(const struct variants_summary *s,
                                       size_t value, size_t variant)
{
    return &s->list[variant].cells[value];
}

/* ---- what they are compared by ---- */

/* The SLO's measure, unless it is not known for a run. */
static enum ranked_by choose_latency(const struct variants_summary *s,
                                     size_t value)
{
    for (size_t v = 0; v < s->set.n; v++) {
        const struct variant_cell *c = cell(s, value, v);

        for (size_t i = 0; i < c->counted; i++) {
            if (isnan(c->rounds[i].value[RANKED_BY_SLO]))
                return RANKED_BY_MEDIAN;
        }
    }
    return RANKED_BY_SLO;
}

static bool has_all(const struct variant_cell *c, enum ranked_by by)
{
    bool has = c->counted > 0;

    for (size_t i = 0; i < c->counted; i++)
        has = has && isfinite(c->rounds[i].value[by]);
    return has;
}

/* Latencies of an overloaded server depend on how long the run is. */
static enum ranked_by choose(const struct variant_cell *a,
                             const struct variant_cell *b, enum ranked_by by)
{
    bool is_latency = has_all(a, by) && has_all(b, by) &&
                      !(a->is_overloaded && b->is_overloaded);

    return is_latency ? by : RANKED_BY_THROUGHPUT;
}

double variants_value(const struct variant_cell *c, enum ranked_by by)
{
    double sum = 0;

    if (!has_all(c, by))
        return NAN;
    for (size_t i = 0; i < c->counted; i++)
        sum += log(c->rounds[i].value[by]);
    return exp(sum / (double)c->counted);
}

/* ---- pairs ---- */

/* The runs of both variants as pairs: those with the same seed had the same
 * arrivals; the others (one replaces a discarded run) in order.  Returns how
 * many; x and y have room for all runs of a. */
static size_t match(const struct variant_cell *a, const struct variant_cell *b,
                    enum ranked_by by, double *x, double *y)
{
    bool *is_taken = xcalloc(a->counted + b->counted, sizeof(*is_taken));
    bool *is_taken_b = is_taken + a->counted;
    size_t n = 0;

    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < a->counted * b->counted; k++) {
            size_t i = k / b->counted;
            size_t j = k % b->counted;
            bool is_pair = pass > 0 || a->rounds[i].seed == b->rounds[j].seed;

            if (is_taken[i] || is_taken_b[j] || !is_pair)
                continue;
            is_taken[i] = is_taken_b[j] = true;
            x[n] = a->rounds[i].value[by];
            y[n++] = b->rounds[j].value[by];
        }
    }
    free(is_taken);
    return n;
}

/* The pair with this index. */
static void compare(const struct variants_summary *s, size_t value,
                    size_t index, double confidence)
{
    const struct variant_cell *a = cell(s, value, index / s->set.n);
    const struct variant_cell *b = cell(s, value, index % s->set.n);
    struct variant_pair *p = &s->rankings[value].pairs[index];
    double *x;

    if (a == b)
        return;
    p->by = choose(a, b, s->rankings[value].by);
    if (!has_all(a, p->by) || !has_all(b, p->by))
        return;
    x = xcalloc(2 * a->counted, sizeof(*x));
    p->rounds = match(a, b, p->by, x, x + a->counted);
    p->ratio =
        trials_paired(CONTRAST_RATIO, x, x + a->counted, p->rounds, confidence);
    p->ratio.has_range &= p->rounds >= VARIANTS_MIN_ROUNDS;
    free(x);
}

static enum standing beyond(double ratio, double smallest)
{
    return ratio >= 1 + smallest         ? STANDING_AHEAD
           : ratio <= 1 / (1 + smallest) ? STANDING_BEHIND
                                         : STANDING_UNKNOWN;
}

static void conclude(struct variant_pair *p, double smallest)
{
    const struct interval *r = &p->ratio.range;

    p->observed =
        p->rounds > 0 ? beyond(p->ratio.value, smallest) : STANDING_UNKNOWN;
    p->shown = p->is_different ? p->observed : STANDING_UNKNOWN;
    p->is_same = p->ratio.has_range && r->high < 1 + smallest &&
                 r->low > 1 / (1 + smallest);
}

/* Holm's procedure over all pairs at all loads: those that differ at a
 * confidence that is corrected for all that are left are put aside, until no
 * more are found.  Each pair is counted in both directions. */
static void compare_all(const struct variants_summary *s)
{
    size_t each = s->set.n * s->set.n;
    size_t left = 0;

    for (size_t k = 0; k < s->n_values * each; k++) {
        compare(s, k / each, k % each, VARIANTS_CONFIDENCE);
        left += s->rankings[k / each].pairs[k % each].ratio.has_range;
    }
    for (size_t before = left + 1; left > 0 && left < before;) {
        double confidence = 1 - (1 - VARIANTS_CONFIDENCE) * 2 / (double)left;

        before = left;
        for (size_t k = 0; k < s->n_values * each; k++) {
            struct variant_pair *p = &s->rankings[k / each].pairs[k % each];

            if (p->is_different || !p->ratio.has_range)
                continue;
            compare(s, k / each, k % each, confidence);
            p->is_different = p->ratio.range.low > 1 || p->ratio.range.high < 1;
            left -= p->is_different;
        }
    }
    for (size_t k = 0; k < s->n_values * each; k++)
        conclude(&s->rankings[k / each].pairs[k % each], s->smallest);
}

/* ---- places ---- */

/* Of the same rank: those that are overloaded last, else as observed. */
static bool is_before(const struct variants_summary *s, size_t value,
                      const struct variant_place *p,
                      const struct variant_place *q)
{
    bool is_over = cell(s, value, p->variant)->is_overloaded;

    if (p->rank != q->rank)
        return q->rank == 0 || (p->rank > 0 && p->rank < q->rank);
    if (p->rank == 0 || is_over != cell(s, value, q->variant)->is_overloaded)
        return p->rank > 0 && !is_over;
    return variants_pair(s, value, p->variant, q->variant)->ratio.value > 1;
}

static void make_places(const struct variants_summary *s, size_t value)
{
    struct variant_place *places = s->rankings[value].places;

    for (size_t i = 0; i < s->set.n; i++) {
        struct variant_place p = {
            .variant = i,
            .rank = cell(s, value, i)->counted > 0,
        };
        size_t to = i;

        for (size_t k = 0; k < s->set.n; k++)
            p.rank += variants_pair(s, value, i, k)->shown == STANDING_BEHIND;
        for (; to > 0 && is_before(s, value, &p, &places[to - 1]); to--)
            places[to] = places[to - 1];
        places[to] = p;
    }
}

void variants_rank(struct variants_summary *s)
{
    size_t n = s->set.n;

    s->rankings = xcalloc(s->n_values + 1, sizeof(*s->rankings));
    for (size_t i = 0; i < s->n_values; i++)
        s->rankings[i] = (struct variants_ranking){
            .by = choose_latency(s, i),
            .places = xcalloc(n, sizeof(struct variant_place)),
            .pairs = xcalloc(n * n, sizeof(struct variant_pair))};
    compare_all(s);
    for (size_t i = 0; i < s->n_values; i++)
        make_places(s, i);
}

const struct variant_pair *variants_pair(const struct variants_summary *s,
                                         size_t value, size_t a, size_t b)
{
    return &s->rankings[value].pairs[a * s->set.n + b];
}
