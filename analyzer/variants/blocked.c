#include "analyzer/variants/blocked.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/reader.h"
#include "analyzer/summary.h"
#include "common/xalloc.h"

#define CONFIDENCE 0.95

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_of(double *values, size_t n)
{
    qsort(values, n, sizeof(*values), by_size);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static size_t count_blocks(size_t n)
{
    size_t blocks = n / BLOCKED_EACH;

    return blocks < BLOCKED_MOST ? blocks : BLOCKED_MOST;
}

/* On logarithms, since latencies scatter by factors. */
struct uncertain blocked_median(double *values, size_t n, double confidence)
{
    double logs[BLOCKED_MOST];
    size_t blocks = count_blocks(n);
    struct uncertain over = {0};
    struct uncertain u = {.value = NAN};

    for (size_t i = 0; i < blocks; i++) {
        size_t from = n * i / blocks;

        logs[i] = log(median_of(values + from, n * (i + 1) / blocks - from));
    }
    if (blocks >= BLOCKED_LEAST)
        over = trials_mean(logs, blocks, confidence);
    if (n > 0)
        u.value = median_of(values, n);
    u.has_range = over.has_range && isfinite(u.value);
    if (u.has_range) {
        double reach = exp(over.range.high - over.value);

        u.range = (struct interval){u.value / reach, u.value * reach};
    }
    return u;
}

struct due_value {
    int64_t due;
    double value;
};

struct due_values {
    struct due_value *list;
    size_t n;
    size_t cap;
};

static void add(struct due_values *all, const struct facts *f, enum measure m)
{
    int64_t ns = measure_value(m, FROM_DUE, f);
    double value = f->outcome == OUTCOME_OK ? (double)ns : INFINITY;

    if (f->outcome == OUTCOME_OK && ns == TIME_ABSENT)
        return;
    if (all->n == all->cap) {
        all->cap = all->cap ? 2 * all->cap : 256;
        all->list = xrealloc(all->list, all->cap, sizeof(*all->list));
    }
    all->list[all->n++] = (struct due_value){f->due, value};
}

static int by_due(const void *a, const void *b)
{
    const struct due_value *x = a;
    const struct due_value *y = b;

    return (x->due > y->due) - (x->due < y->due);
}

static struct uncertain median_over(struct due_values *all)
{
    double *values = xcalloc(all->n + 1, sizeof(*values));
    struct uncertain u;

    qsort(all->list, all->n, sizeof(*all->list), by_due);
    for (size_t i = 0; i < all->n; i++)
        values[i] = all->list[i].value;
    u = blocked_median(values, all->n, CONFIDENCE);
    free(values);
    return u;
}

int blocked_read(struct recording *rec, const struct summary *s,
                 enum measure measure, struct uncertain *out, struct err *err)
{
    struct window window = summary_window(s);
    struct due_values all = {0};
    const struct facts *rows;
    size_t n;
    int rc = recording_rewind(rec, err);

    while (rc == 0 && (rc = recording_next(rec, &rows, &n, err)) > 0) {
        for (size_t i = 0; i < n; i++) {
            if (window_holds(&window, rows[i].due))
                add(&all, &rows[i], measure);
        }
        rc = 0;
    }
    if (rc == 0 && all.n > 0)
        *out = median_over(&all);
    free(all.list);
    return rc;
}
