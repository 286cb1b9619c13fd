#include "analyzer/verdict/slices.h"

#include <math.h>

#include "common/base/clk.h"

static void want(struct slices *s, enum measure m)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->measures[i].measure == m)
            return;
    }
    if (s->n == SLICES_MEASURES || measure_is_pooled(m))
        return;
    s->measures[s->n++] = (struct tally_measure){
        .measure = m, .is_of_answer = measure_is_of_answer(m)};
    tally_add_later(s->tally, m);
}

void slices_init(struct slices *s, struct tally *t, bool asks_stream)
{
    s->tally = t;
    s->per_ns =
        TALLY_SLICES / ((double)t->window.end_ns - (double)t->window.start_ns);
    want(s, MEASURE_E2E);
    if (asks_stream)
        want(s, MEASURE_TTFT);
    for (size_t i = 0; i < t->slo->len; i++) {
        if (t->slo->terms[i].kind == SLO_QUANTILE)
            want(s, t->slo->terms[i].measure);
    }
}

void slices_fini(struct slices *s)
{
    for (size_t i = 0; i < SLICES_MEASURES; i++) {
        for (size_t k = 0; k < TALLY_SLICES; k++)
            hist_fini(&s->hist[i][k]);
    }
}

void slices_add(struct slices *s, const struct facts *f)
{
    double place = (double)(f->due - s->tally->window.start_ns) * s->per_ns;
    size_t at = place < TALLY_SLICES ? (size_t)place : TALLY_SLICES - 1;

    for (size_t i = 0; i < s->n; i++) {
        const struct tally_measure *m = &s->measures[i];
        int64_t ns;

        if (m->is_of_answer && f->outcome != OUTCOME_OK) {
            hist_add_beyond(&s->hist[i][at], facts_n(f));
            continue;
        }
        ns = measure_value(m->measure, FROM_DUE, f);
        if (ns != TIME_ABSENT)
            hist_add(&s->hist[i][at], ns);
    }
}

void slices_end(const struct slices *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct hist *whole = &s->tally->hist[s->measures[i].measure][VIEW_DUE];

        for (size_t k = 0; k < TALLY_SLICES; k++)
            hist_add_all(whole, &s->hist[i][k]);
    }
}

static double or_infinite(int64_t ns)
{
    return ns >= 0 ? (double)ns : INFINITY;
}

/* Values above the quantile that cluster in time are worth fewer samples. */
static double effective_of(const struct hist *slices, int64_t ns, int64_t n)
{
    struct batch above[TALLY_SLICES];

    if (ns < 0)
        return 0;
    for (size_t i = 0; i < TALLY_SLICES; i++)
        above[i] = (struct batch){.n = slices[i].n,
                                  .hits = slices[i].n -
                                          hist_count_below(&slices[i], ns)};
    return (double)n / stats_inflation(above, TALLY_SLICES);
}

static struct within within_of(const struct slices *s, size_t i, double q)
{
    enum measure m = s->measures[i].measure;
    const struct hist *whole = &s->tally->hist[m][VIEW_DUE];
    struct within w = {
        .measure = m, .value_ns = hist_quantile(whole, q), .n = whole->n};
    double quantiles[TALLY_SLICES];
    int64_t min_n = INT64_MAX;

    for (size_t k = 0; k < TALLY_SLICES; k++) {
        const struct hist *h = &s->hist[i][k];

        quantiles[k] = or_infinite(hist_rank_quantile(h, q));
        min_n = h->n < min_n ? h->n : min_n;
    }
    w.section = section_combine(quantiles, TALLY_SLICES,
                                or_infinite(hist_rank_quantile(whole, q)), q,
                                min_n, 0.95);
    w.n_effective = effective_of(s->hist[i], w.value_ns, w.n);
    return w;
}

size_t slices_make(const struct slices *s, struct within out[WITHIN_MAX])
{
    static const struct {
        double q;
        const char *name;
    } quantiles[SLICES_QUANTILES] = {{0.5, "p50"}, {0.99, "p99"}};
    size_t len = 0;

    for (size_t i = 0; i < s->n; i++) {
        for (size_t k = 0; k < SLICES_QUANTILES; k++) {
            out[len] = within_of(s, i, quantiles[k].q);
            out[len++].name = quantiles[k].name;
        }
    }
    return len;
}
