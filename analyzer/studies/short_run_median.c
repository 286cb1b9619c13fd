#include "analyzer/studies/short_run_median.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/read/reader.h"
#include "analyzer/tally/summary.h"
#include "common/base/xalloc.h"

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Some values may be NAN, so order_median() cannot be used. */
static double median_of(double *values, size_t n)
{
    qsort(values, n, sizeof(*values), by_size);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* On logarithms, since latencies scatter by factors. */
struct uncertain sliced_median(double *values, size_t n, double confidence)
{
    size_t slices = n / SHORT_RUN_PER_SLICE < SHORT_RUN_MAX_SLICES
                        ? n / SHORT_RUN_PER_SLICE
                        : SHORT_RUN_MAX_SLICES;
    double logs[SHORT_RUN_MAX_SLICES];
    struct uncertain over = {0};
    struct uncertain u = {.value = NAN};

    for (size_t i = 0; i < slices; i++) {
        size_t from = n * i / slices;

        logs[i] = log(median_of(values + from, n * (i + 1) / slices - from));
    }
    if (slices >= SHORT_RUN_MIN_SLICES)
        over = trials_mean(logs, slices, confidence);
    if (n > 0)
        u.value = median_of(values, n);
    u.has_range = over.has_range && isfinite(u.value);
    if (u.has_range) {
        double reach = exp(over.range.high - over.value);

        u.range = (struct interval){u.value / reach, u.value * reach};
    }
    return u;
}

struct uncertain latencies_median(const struct latencies *l, double confidence)
{
    double *values = xcalloc(l->n + 1, sizeof(*values));
    struct uncertain u;

    for (size_t i = 0; i < l->n; i++)
        values[i] = l->list[i].ns;
    u = sliced_median(values, l->n, confidence);
    free(values);
    return u;
}

struct uncertain latencies_ratio(const struct latencies *a,
                                 const struct latencies *b, double confidence)
{
    double *ratios;
    struct uncertain u = {.value = NAN};

    if (a->n != b->n)
        return u;
    ratios = xcalloc(a->n + 1, sizeof(*ratios));
    for (size_t i = 0; i < a->n; i++) {
        if (a->list[i].due_ns != b->list[i].due_ns) {
            free(ratios);
            return u;
        }
        ratios[i] = b->list[i].ns / a->list[i].ns; /* NAN for two failures */
    }
    u = sliced_median(ratios, a->n, confidence);
    free(ratios);
    return u;
}

/* ---- from a recording ---- */

static void add(struct latencies *l, size_t *cap, const struct facts *f,
                enum measure m)
{
    int64_t ns = measure_value(m, FROM_DUE, f);
    bool is_ok = f->outcome == OUTCOME_OK;

    if (is_ok && ns == TIME_ABSENT)
        return;
    if (l->n == *cap) {
        *cap = *cap ? 2 * *cap : 256;
        l->list = xrealloc(l->list, *cap, sizeof(*l->list));
    }
    l->list[l->n++] = (struct latency){f->due, is_ok ? (double)ns : INFINITY};
}

static int by_due(const void *a, const void *b)
{
    const struct latency *x = a;
    const struct latency *y = b;

    return (x->due_ns > y->due_ns) - (x->due_ns < y->due_ns);
}

void latencies_fini(struct latencies *l)
{
    free(l->list);
    *l = (struct latencies){0};
}

int latencies_read(struct recording *rec, const struct summary *s,
                   enum measure measure, struct latencies *out, struct err *err)
{
    struct window window = summary_window(s);
    const struct facts *rows;
    bool has_range = false;
    size_t cap = 0;
    size_t n;
    int rc = recording_rewind(rec, err);

    *out = (struct latencies){0};
    while (rc == 0 && (rc = recording_next(rec, &rows, &n, err)) > 0) {
        for (size_t i = 0; i < n; i++) {
            has_range |= rows[i].more > 0;
            if (window_holds(&window, rows[i].due))
                add(out, &cap, &rows[i], measure);
        }
        rc = 0;
    }
    if (has_range)
        latencies_fini(out); /* sampled rows cannot be paired */
    if (out->n > 0)
        qsort(out->list, out->n, sizeof(*out->list), by_due);
    return rc;
}
