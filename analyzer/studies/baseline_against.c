/* A later recording as ratios to the baseline. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare/compare_side.h"
#include "analyzer/read/reader.h"
#include "analyzer/stats/order_stats.h"
#include "analyzer/studies/baseline.h"
#include "analyzer/tally/summary.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"

static const char *const wanted[] = {"throughput", "quality"};
static const enum baseline_quantity quantity_of[] = {BASELINE_THROUGHPUT,
                                                     BASELINE_QUALITY};
#define N_WANTED (sizeof(wanted) / sizeof(wanted[0]))

static void take(struct against *a, enum baseline_quantity q, double value)
{
    const struct baseline_amount *base = &a->baseline->amounts[q];

    if (!base->is_there || !(value > 0) || !(base->median > 0))
        return;
    a->has[q] = true;
    a->value[q] = value;
    a->ratio[q] =
        q == BASELINE_TIME ? base->median / value : value / base->median;
}

static void take_median(struct against *a, enum baseline_quantity q,
                        double *values, size_t n)
{
    if (n > 0)
        take(a, q, order_median(values, n));
}

/* Medians over the trials that count; of what is no offline set no time. */
static void take_all(struct against *a, const struct side *side, size_t first)
{
    double *values = xcalloc(side->n + 1, sizeof(*values));

    for (size_t i = 0; i < N_WANTED; i++)
        take_median(a, quantity_of[i], values,
                    side_values(side, first, i, values));
    for (size_t i = first; i < side->n; i++)
        values[i - first] = side->runs[i].makespan_s;
    take_median(a, BASELINE_TIME, values, side->n - first);
    free(values);
}

/* What must match and does not: a ratio carries what it is a ratio of. */
static void note_differences(struct against *a, const struct side *side)
{
    const struct strmap *then = &a->baseline->conditions;
    const struct strmap *now = &side->runs[0].card;

    for (size_t i = 0; i < then->keys.len; i++) {
        const char *value = strmap_get(now, then->keys.items[i]);
        char *line;

        if (value && strcmp(value, then->values.items[i]) == 0)
            continue;
        line = xasprintf("%s: %s, now %s", then->keys.items[i],
                         then->values.items[i], value ? value : "(none)");
        strlist_add(&a->differences, line);
        free(line);
    }
}

/* Both lists are in the order of the index. */
static int count_answers(struct against *a, const char *dir, struct err *err)
{
    const struct baseline *b = a->baseline;
    struct baseline_answer *now;
    size_t n;
    size_t j = 0;

    if (baseline_read_answers(dir, &now, &n, err))
        return -1;
    for (size_t i = 0; i < b->n_answers; i++) {
        while (j < n && now[j].index < b->answers[i].index)
            j++;
        if (j < n && now[j].index == b->answers[i].index) {
            a->answers++;
            a->agree += strcmp(now[j].hash, b->answers[i].hash) == 0;
        }
    }
    free(now);
    return 0;
}

/* The greatest of all trials is the peak. */
static int see_memory(const char *dir, double *peak, struct err *err)
{
    struct recording rec;
    struct summary s;
    int rc;

    if (recording_open(&rec, dir, err))
        return -1;
    rc = summary_make(&s, &rec, NULL, err);
    if (rc == 0 && s.metered.has_memory)
        *peak = fmax(*peak, (double)s.metered.peak_bytes);
    summary_fini(&s);
    recording_close(&rec);
    return rc;
}

static int take_each(struct against *a, const struct side *side, size_t first,
                     struct err *err)
{
    double peak = 0;

    for (size_t i = first; i < side->n; i++) {
        if (count_answers(a, side->runs[i].dir, err) ||
            see_memory(side->runs[i].dir, &peak, err))
            return -1;
    }
    take(a, BASELINE_MEMORY, peak);
    return 0;
}

int against_make(struct against *a, const struct baseline *b, const char *dir,
                 struct err *err)
{
    struct strlist on = {.items = (char **)wanted, .len = N_WANTED};
    struct quantities qs;
    struct side side = {0};
    int rc = quantities_make(&qs, &on, NULL, err);

    *a = (struct against){.baseline = b};
    if (rc == 0)
        rc = side_load(&side, dir, &(struct side_ask){.qs = &qs}, err);
    if (rc == 0) {
        a->warmup = side_warmup(&side);
        a->trials = side.n - a->warmup;
        take_all(a, &side, a->warmup);
        note_differences(a, &side);
        rc = take_each(a, &side, a->warmup, err);
    }
    side_fini(&side);
    return rc;
}

void against_fini(struct against *a)
{
    strlist_fini(&a->differences);
}
