#include "tests/support/queued.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/stats/order_stats.h"
#include "common/base/clk.h"
#include "common/base/xalloc.h"

static struct facts row_of(struct mm1 *q, size_t i)
{
    double due_ms;
    double ms = mm1_next(q, &due_ms);
    int64_t due = (int64_t)(due_ms * (double)NS_PER_MS);
    struct facts f = facts_unknown((int64_t)i, due);

    f.issued = f.sent = due;
    f.head = f.first = f.last = f.end = due + (int64_t)(ms * (double)NS_PER_MS);
    f.outcome = OUTCOME_OK;
    return f;
}

static void take(struct queued *run, const struct window_slices *b,
                 const struct quantities *qs)
{
    for (size_t i = 0; i < qs->len; i++) {
        run->whole[i] = window_slices_reading(b, &qs->list[i], SLICES_ALL);
        window_slices_readings(b, &qs->list[i], &run->blocks[i]);
    }
}

void queued_run(struct queued *run, struct mm1 *q, size_t n,
                const struct quantities *qs)
{
    static const struct good_table all_are_good;
    struct facts *rows = xcalloc(n, sizeof(*rows));
    struct window_slices *b = xcalloc(1, sizeof(*b));
    struct window window;

    for (size_t i = 0; i < n; i++)
        rows[i] = row_of(q, i);
    window.start_ns = rows[0].due;
    window.end_ns = rows[n - 1].due + 1;
    window_slices_init(b, window, &all_are_good, qs);
    for (size_t i = 0; i < n; i++)
        window_slices_add(b, &rows[i]);
    take(run, b, qs);
    window_slices_fini(b);
    free(b);
    free(rows);
}

struct sample queued_sample(const struct queued *run, size_t quantity)
{
    const struct slice_readings *r = &run->blocks[quantity];

    return (struct sample){.whole = run->whole[quantity].value,
                           .has_whole = true,
                           .units = r->value,
                           .n = SLICES,
                           .has_all = r->has_all,
                           .counted = run->whole[quantity].n,
                           .min_in_slice = r->min_n,
                           .beyond = r->beyond};
}

struct sample queued_trials(const double *values, size_t n)
{
    double *room = xcalloc(n, sizeof(*room));
    struct sample s = {
        .has_whole = true, .units = values, .n = n, .has_all = true};

    memcpy(room, values, n * sizeof(*room));
    s.whole = order_median(room, n);
    free(room);
    return s;
}

struct finding queued_finding(enum basis basis, double quantile,
                              double confidence, const struct sample *a,
                              const struct sample *b)
{
    const struct finding_rule rule = {
        .basis = basis, .quantile = quantile, .confidence = confidence};

    return finding_make(&rule, a, b);
}
