#include "analyzer/compare/window_slices.h"

#include <math.h>

#include "analyzer/tally/tally.h"
#include "common/stats/stats.h"

void window_slices_init(struct window_slices *s, struct window window,
                        const struct good_table *good,
                        const struct quantities *qs)
{
    *s = (struct window_slices){.window = window, .good = good};
    for (size_t i = 0; i < qs->len; i++) {
        if (qs->list[i].kind == QUANTITY_QUANTILE)
            s->wants[qs->list[i].measure] = true;
    }
}

void window_slices_fini(struct window_slices *s)
{
    for (int i = 0; i <= SLICES; i++) {
        for (int m = 0; m < MEASURE_COUNT; m++)
            hist_fini(&s->slice[i].hist[m]);
    }
}

static double length_ns(const struct window_slices *s, int i)
{
    double all = (double)(s->window.end_ns - s->window.start_ns);

    return i == SLICES_ALL ? all : all / SLICES;
}

static int slice_at(const struct window_slices *s, int64_t at_ns)
{
    int i = (int)((double)(at_ns - s->window.start_ns) / length_ns(s, 0));

    return i < SLICES ? i : SLICES - 1;
}

static void add_due(const struct window_slices *s, struct slice *to,
                    const struct facts *f)
{
    to->due += facts_n(f);
    to->good += good_is(good_limits_of(s->good, f), f);
    to->failed += f->outcome != OUTCOME_OK ? facts_n(f) : 0;
    to->checked += f->check == CHECK_PASSED || f->check == CHECK_FAILED;
    to->passed += f->check == CHECK_PASSED;
    for (int m = 0; m < MEASURE_COUNT; m++) {
        if (s->wants[m] && !measure_is_pooled((enum measure)m))
            tally_add_value(&to->hist[m], (enum measure)m, f);
    }
}

/* Spread tokens that arrived between two times over the slices. */
static void add_over(struct window_slices *s, double from, double to,
                     double tokens)
{
    double start = fmax(from, (double)s->window.start_ns);
    double end = fmin(to, (double)s->window.end_ns);
    double length = length_ns(s, 0);

    if (!(end > start))
        return;
    s->slice[SLICES_ALL].tokens += tokens * (end - start) / (to - from);
    for (int i = slice_at(s, (int64_t)start); i < SLICES; i++) {
        double begin = (double)s->window.start_ns + length * i;
        double part = fmin(end, begin + length) - fmax(start, begin);

        if (!(part > 0))
            break;
        s->slice[i].tokens += tokens * part / (to - from);
    }
}

/* The number of tokens of each single event is not used. */
static void add_tokens(struct window_slices *s, const struct facts *f)
{
    bool is_stream = facts_count(f->events) > 0;
    int64_t n = facts_count(is_stream ? f->event_tokens : f->output_tokens);
    int64_t last = is_stream ? f->last : f->end;

    if (n == TIME_ABSENT || (!is_stream && f->outcome != OUTCOME_OK))
        return;
    if (is_stream && f->last > f->first) {
        add_over(s, (double)f->first, (double)last, (double)n);
    } else if (window_holds(&s->window, last)) {
        s->slice[slice_at(s, last)].tokens += (double)n;
        s->slice[SLICES_ALL].tokens += (double)n;
    }
}

void window_slices_add(struct window_slices *s, const struct facts *f)
{
    if (f->outcome < 0 || f->outcome >= OUTCOME_COUNT)
        return; /* written by a later version */
    if (window_holds(&s->window, f->due)) {
        add_due(s, &s->slice[slice_at(s, f->due)], f);
        add_due(s, &s->slice[SLICES_ALL], f);
    }
    if (window_holds(&s->window, f->end) && f->outcome == OUTCOME_OK) {
        s->slice[slice_at(s, f->end)].ended_ok++;
        s->slice[SLICES_ALL].ended_ok++;
    }
    add_tokens(s, f);
}

static struct reading rate(double count, double ns)
{
    return ns > 0 ? (struct reading){count * 1e9 / ns, 1, false}
                  : (struct reading){0};
}

static struct reading per(double x, int64_t n)
{
    return n > 0 ? (struct reading){x / (double)n, n, false}
                 : (struct reading){0};
}

struct reading window_slices_reading(const struct window_slices *s,
                                     const struct quantity *q, int i)
{
    const struct slice *k = &s->slice[i];
    const struct hist *h;
    double ns = length_ns(s, i);
    int64_t value;

    switch (q->kind) {
    case QUANTITY_COMPLETED:
        return rate((double)(k->due - k->failed), ns);
    case QUANTITY_THROUGHPUT:
        return rate((double)k->ended_ok, ns);
    case QUANTITY_GOODPUT:
        return rate((double)k->good, ns);
    case QUANTITY_TOKENS:
        return rate(k->tokens, ns);
    case QUANTITY_ATTAINMENT:
        return per((double)k->good, k->due);
    case QUANTITY_QUALITY:
        return per((double)k->passed, k->checked);
    case QUANTITY_COST: /* per thousand good requests */
        return per(s->usd_per_hour * ns / 3600e9 * 1000, k->good);
    case QUANTITY_ERRORS:
        return per((double)k->failed, k->due);
    case QUANTITY_QUANTILE:
        break;
    }
    h = &k->hist[q->measure];
    if (h->n == 0)
        return (struct reading){0};
    value = hist_quantile(h, q->q);
    return (struct reading){
        .value = value >= 0              ? (double)value
                 : value == HIST_TOO_FEW ? 0
                                         : INFINITY,
        .n = h->n,
        .is_too_few = value == HIST_TOO_FEW,
    };
}

/* Slow requests come in clusters.  The scatter of their number over the slices
 * tells how large the clusters are, for any server and load. */
static double independent_beyond(const struct window_slices *s,
                                 const struct quantity *q)
{
    int64_t at =
        hist_rank_quantile(&s->slice[SLICES_ALL].hist[q->measure], q->q);
    struct batch batches[SLICES];
    double n = 0;

    for (int i = 0; i < SLICES; i++) {
        const struct hist *h = &s->slice[i].hist[q->measure];

        batches[i].n = h->n;
        batches[i].hits =
            at < 0 ? h->beyond : h->n - hist_count_below(h, at + 1);
        n += (double)h->n;
    }
    return n * fmin(q->q, 1 - q->q) / stats_inflation(batches, SLICES);
}

void window_slices_readings(const struct window_slices *s,
                            const struct quantity *q,
                            struct slice_readings *out)
{
    *out = (struct slice_readings){.has_all = true, .min_n = INT64_MAX};
    for (int i = 0; i < SLICES; i++) {
        struct reading r = window_slices_reading(s, q, i);

        out->value[i] = r.value;
        out->min_n = r.n < out->min_n ? r.n : out->min_n;
        out->has_all = out->has_all && r.n > 0 && !r.is_too_few;
    }
    if (q->kind == QUANTITY_QUANTILE)
        out->beyond = independent_beyond(s, q);
}
