#include "analyzer/tally/distribution.h"

#include <math.h>
#include <string.h>

#include "common/measure/good.h"

/* ---- spread ---- */

const double summary_quantile[SUMMARY_QUANTILES] = {
    [SUMMARY_P50] = 0.5,  [SUMMARY_P90] = 0.9,    [SUMMARY_P95] = 0.95,
    [SUMMARY_P99] = 0.99, [SUMMARY_P999] = 0.999,
};
const char *const summary_quantile_name[SUMMARY_QUANTILES] = {
    [SUMMARY_P50] = "p50", [SUMMARY_P90] = "p90",    [SUMMARY_P95] = "p95",
    [SUMMARY_P99] = "p99", [SUMMARY_P999] = "p99.9",
};

struct spread spread_of(const struct hist *h)
{
    struct spread s = {
        .n = h->n,
        .failed = h->beyond - h->out_of_range,
        .out_of_range = h->out_of_range,
        .mean_ns = hist_mean_ns(h),
        .max_ns = hist_max_ns(h),
    };

    for (int i = 0; i < SUMMARY_QUANTILES; i++)
        s.quantile_ns[i] = hist_quantile(h, summary_quantile[i]);
    return s;
}

/* ---- bars ---- */

/* Values that differ by a smaller factor share one row. */
#define MIN_SPREAD 1.05

/* One edge more than rows, from the smallest value to the largest, and the
 * limit if it lies between.  Returns how many. */
static size_t lay_edges(int64_t low, int64_t high, int64_t limit,
                        int64_t edge[static BARS_MAX + 1])
{
    double spread = (double)high / (double)low;
    size_t rows = spread < MIN_SPREAD ? 1 : BARS_MAX - 1; /* plus the limit */
    size_t n = 0;
    size_t at = 0;

    for (size_t i = 0; i < rows; i++) {
        int64_t ns =
            llround((double)low * pow(spread, (double)i / (double)rows));

        if (n == 0 || ns > edge[n - 1])
            edge[n++] = ns;
    }
    high = high > low ? high : low + 1;
    if (high > edge[n - 1])
        edge[n++] = high;
    while (at < n && edge[at] < limit)
        at++;
    if (at == 0 || at == n || edge[at] == limit)
        return n;
    memmove(&edge[at + 1], &edge[at], (n - at) * sizeof(edge[0]));
    edge[at] = limit;
    return n + 1;
}

void bars_make(const struct hist *h, enum measure m, int64_t limit_ns,
               struct bars *out)
{
    int64_t edge[BARS_MAX + 1];
    int64_t below = 0;
    int64_t low;

    *out = (struct bars){.measure = m,
                         .limit_ns = limit_ns,
                         .failed = h->beyond - h->out_of_range,
                         .out_of_range = h->out_of_range};
    if (h->n == h->beyond)
        return;
    low = hist_at_rank(h, 1);
    if (low < 1)
        low = 1;
    out->len =
        lay_edges(low, h->max_ns > low ? h->max_ns : low, limit_ns, edge) - 1;
    for (size_t i = 0; i < out->len; i++) {
        int64_t upto = i + 1 < out->len ? hist_count_below(h, edge[i + 1])
                                        : h->n - h->beyond;

        out->list[i] = (struct bar){
            .from_ns = edge[i], .to_ns = edge[i + 1], .count = upto - below};
        below = upto;
    }
}

/* ---- curve ---- */

#define DECADES 10 /* from 1 us to more than an hour */

/* The limits stay sorted and unique; an SLO limit stays marked. */
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

void curve_add_many(struct curve *c, size_t slice, int64_t ns, int64_t count)
{
    size_t low = 0;
    size_t high = c->len;

    c->n[slice] += count;
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
        c->within[low][slice] += count;
}

void curve_add(struct curve *c, size_t slice, const struct facts *f)
{
    if (!measure_is_pooled(c->measure) && good_concerns(c->measure, f))
        curve_add_many(c, slice, good_value(c->measure, f), facts_n(f));
}

int64_t curve_n(const struct curve *c)
{
    int64_t n = 0;

    for (int i = 0; i < TALLY_SLICES; i++)
        n += c->n[i];
    return n;
}

/* `within` holds the counts of the limit before and is moved on to limit i. */
static struct curve_point point_at(const struct curve *c, size_t i, int64_t n,
                                   struct batch within[static TALLY_SLICES])
{
    struct curve_point p = {.limit_ns = c->limit_ns[i], .is_slo = c->is_slo[i]};

    for (int k = 0; k < TALLY_SLICES; k++) {
        within[k].hits += c->within[i][k];
        p.within += within[k].hits;
    }
    p.share = (double)p.within / (double)n;
    p.ci95 = stats_share_interval(
        p.share, (double)n / stats_inflation(within, TALLY_SLICES));
    return p;
}

size_t curve_points(const struct curve *c,
                    struct curve_point points[static CURVE_MAX])
{
    struct batch within[TALLY_SLICES] = {{0}};
    struct curve_point all[CURVE_MAX] = {{0}};
    int64_t n = curve_n(c);
    size_t len = 0;

    if (n == 0)
        return 0;
    for (int k = 0; k < TALLY_SLICES; k++)
        within[k].n = c->n[k];
    for (size_t i = 0; i < c->len; i++)
        all[i] = point_at(c, i, n, within);
    for (size_t i = 0; i < c->len; i++) {
        int64_t before = i > 0 ? all[i - 1].within : 0;
        int64_t after = all[i + 1 < c->len ? i + 1 : i].within;

        if (all[i].is_slo || before != after)
            points[len++] = all[i];
    }
    return len;
}
