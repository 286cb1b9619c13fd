#include "analyzer/tally/curve.h"

#include "common/base/clk.h"
#include "common/measure/good.h"

#define DECADES 10 /* from 1 us to beyond an hour */

/* Keep them sorted, each once; one of the SLO remains one. */
static void insert(struct curve *c, int64_t limit_ns, bool is_slo)
{
    size_t at = 0;

    while (at < c->len && c->limit_ns[at] < limit_ns)
        at++;
    if (at < c->len && c->limit_ns[at] == limit_ns) {
        c->is_slo[at] |= is_slo;
        return;
    }
    if (c->len == CURVE_MAX)
        return;
    for (size_t i = c->len++; i > at; i--) {
        c->limit_ns[i] = c->limit_ns[i - 1];
        c->is_slo[i] = c->is_slo[i - 1];
    }
    c->limit_ns[at] = limit_ns;
    c->is_slo[at] = is_slo;
}

void curve_init(struct curve *c, enum measure measure, const struct slo *slo)
{
    static const int64_t steps[] = {1000, 1250, 1600, 2000, 2500,
                                    3200, 4000, 5000, 6300, 8000};
    int64_t scale = 1;

    *c = (struct curve){.measure = measure};
    for (int d = 0; d < DECADES; d++, scale *= 10) {
        for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
            insert(c, steps[i] * scale, false);
    }
    for (size_t i = 0; i < slo->len; i++) {
        const struct slo_term *term = &slo->terms[i];

        if ((term->kind == SLO_QUANTILE || term->kind == SLO_LIMIT) &&
            term->measure == measure)
            insert(c, term->limit_ns, true);
    }
}

void curve_add_never(struct curve *c, size_t batch, int64_t count)
{
    c->n[batch] += count;
}

void curve_add_many(struct curve *c, size_t batch, int64_t ns, int64_t count)
{
    size_t low = 0;
    size_t high = c->len;

    c->n[batch] += count;
    if (ns < 0)
        return;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ns < c->limit_ns[middle])
            high = middle;
        else
            low = middle + 1;
    }
    if (low < c->len)
        c->within[low][batch] += count;
}

void curve_add(struct curve *c, size_t batch, const struct facts *f)
{
    if (measure_is_pooled(c->measure) || !good_concerns(c->measure, f))
        return;
    curve_add_many(c, batch, good_value(c->measure, f), facts_n(f));
}

int64_t curve_n(const struct curve *c)
{
    int64_t n = 0;

    for (int b = 0; b < TALLY_BATCHES; b++)
        n += c->n[b];
    return n;
}

/* Those within move on to the next limit. */
static struct curve_point point_at(const struct curve *c, size_t i, int64_t n,
                                   struct batch within[static TALLY_BATCHES])
{
    struct curve_point p = {.limit_ns = c->limit_ns[i], .is_slo = c->is_slo[i]};

    for (int b = 0; b < TALLY_BATCHES; b++) {
        within[b].hits += c->within[i][b];
        p.within += within[b].hits;
    }
    p.share = (double)p.within / (double)n;
    p.ci95 = stats_share_interval(
        p.share, (double)n / stats_inflation(within, TALLY_BATCHES));
    return p;
}

size_t curve_points(const struct curve *c,
                    struct curve_point points[static CURVE_MAX])
{
    struct batch within[TALLY_BATCHES] = {{0}};
    struct curve_point all[CURVE_MAX] = {{0}};
    int64_t n = curve_n(c);
    size_t len = 0;

    for (int b = 0; b < TALLY_BATCHES; b++)
        within[b].n = c->n[b];
    for (size_t i = 0; n > 0 && i < c->len; i++)
        all[i] = point_at(c, i, n, within);
    for (size_t i = 0; n > 0 && i < c->len; i++) {
        int64_t before = i > 0 ? all[i - 1].within : 0;
        int64_t behind = all[i + 1 < c->len ? i + 1 : i].within;

        if (all[i].is_slo || before != behind)
            points[len++] = all[i];
    }
    return len;
}
