#include "analyzer/verdict/sections.h"

#include <math.h>

#include "common/base/clk.h"

static void want(struct sections *s, enum measure m)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->measures[i].measure == m)
            return;
    }
    if (s->n == SECTIONS_MEASURES || measure_is_pooled(m))
        return;
    s->measures[s->n++] = (struct tally_measure){
        .measure = m, .is_of_answer = measure_is_of_answer(m)};
    tally_leave(s->tally, m);
}

void sections_init(struct sections *s, struct tally *t, bool asks_stream)
{
    s->tally = t;
    s->per_ns =
        SECTION_COUNT / ((double)t->window.end_ns - (double)t->window.start_ns);
    want(s, MEASURE_E2E);
    if (asks_stream)
        want(s, MEASURE_TTFT);
    for (size_t i = 0; i < t->slo->len; i++) {
        if (t->slo->terms[i].kind == SLO_QUANTILE)
            want(s, t->slo->terms[i].measure);
    }
}

void sections_fini(struct sections *s)
{
    for (size_t i = 0; i < SECTIONS_MEASURES; i++) {
        for (size_t k = 0; k < SECTION_COUNT; k++)
            hist_fini(&s->hist[i][k]);
    }
}

static size_t section_of(const struct sections *s, int64_t due_ns)
{
    double at = (double)(due_ns - s->tally->window.start_ns) * s->per_ns;

    return at < SECTION_COUNT ? (size_t)at : SECTION_COUNT - 1;
}

void sections_add(struct sections *s, const struct facts *f)
{
    size_t at = section_of(s, f->due);

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

void sections_end(const struct sections *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct hist *whole = &s->tally->hist[s->measures[i].measure][VIEW_DUE];

        for (size_t k = 0; k < SECTION_COUNT; k++)
            hist_add_all(whole, &s->hist[i][k]);
    }
}

static double or_infinite(int64_t ns)
{
    return ns >= 0 ? (double)ns : INFINITY;
}

/* By how much more than chance what lies above the quantile clusters. */
static double effective_of(const struct hist *sections, int64_t ns, int64_t n)
{
    struct batch above[SECTION_COUNT];

    if (ns < 0)
        return 0;
    for (size_t i = 0; i < SECTION_COUNT; i++)
        above[i] = (struct batch){.n = sections[i].n,
                                  .hits = sections[i].n -
                                          hist_count_below(&sections[i], ns)};
    return (double)n / stats_inflation(above, SECTION_COUNT);
}

static struct within within_of(const struct sections *s, size_t i, double q)
{
    enum measure m = s->measures[i].measure;
    const struct hist *whole = &s->tally->hist[m][VIEW_DUE];
    struct within w = {
        .measure = m, .value_ns = hist_quantile(whole, q), .n = whole->n};
    double quantiles[SECTION_COUNT];
    int64_t least = INT64_MAX;

    for (size_t k = 0; k < SECTION_COUNT; k++) {
        const struct hist *h = &s->hist[i][k];

        quantiles[k] = or_infinite(hist_rank_quantile(h, q));
        least = h->n < least ? h->n : least;
    }
    w.section = section_combine(quantiles, SECTION_COUNT,
                                or_infinite(hist_rank_quantile(whole, q)), q,
                                least, 0.95);
    w.n_effective = effective_of(s->hist[i], w.value_ns, w.n);
    return w;
}

size_t sections_make(const struct sections *s, struct within out[WITHIN_MAX])
{
    static const struct {
        double q;
        const char *name;
    } quantiles[SECTIONS_QUANTILES] = {{0.5, "p50"}, {0.99, "p99"}};
    size_t len = 0;

    for (size_t i = 0; i < s->n; i++) {
        for (size_t k = 0; k < SECTIONS_QUANTILES; k++) {
            out[len] = within_of(s, i, quantiles[k].q);
            out[len++].name = quantiles[k].name;
        }
    }
    return len;
}
