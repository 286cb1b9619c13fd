#include "analyzer/verdict/precision.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/stats/sectioning.h"
#include "common/base/xalloc.h"
#include "common/stats/stats.h"

#define CONFIDENCE 0.95
#define GROWTH     1.2 /* of the requests, between two checks */

void precision_init(struct precision *p, const struct until *ask,
                    int64_t start_ns, int64_t end_ns)
{
    *p = (struct precision){
        .ask = *ask,
        .start_ns = start_ns,
        .end_ns = end_ns,
        .next_check = SECTION_COUNT * (size_t)stats_min_n(ask->quantile),
    };
}

void precision_fini(struct precision *p)
{
    free(p->values);
    *p = (struct precision){0};
}

void precision_add(struct precision *p, const struct facts *f)
{
    bool is_failed =
        f->outcome != OUTCOME_OK && measure_is_of_answer(p->ask.measure);
    int64_t ns = measure_value(p->ask.measure, FROM_DUE, f);

    if (f->end != TIME_ABSENT && f->end - f->due > p->longest_ns)
        p->longest_ns = f->end - f->due;
    if (f->due < p->start_ns || f->due >= p->end_ns ||
        f->outcome == OUTCOME_UNFINISHED || /* when the run was ended */
        (ns == TIME_ABSENT && !is_failed) || p->n == PRECISION_MAX)
        return;
    if (p->n == p->cap) {
        p->cap = 2 * p->cap + 1024;
        p->values = xrealloc(p->values, p->cap, sizeof(*p->values));
    }
    p->values[p->n++] = (struct precision_value){
        .due_ns = f->due, .ns = is_failed ? (double)INFINITY : (double)ns};
}

static int by_due(const void *a, const void *b)
{
    int64_t x = ((const struct precision_value *)a)->due_ns;
    int64_t y = ((const struct precision_value *)b)->due_ns;

    return (x > y) - (x < y);
}

/* By how much the interval is widened, at least 1: slices that hold fewer than
 * one independent request beyond the quantile are not samples of their own. */
static double widening(const double *x, size_t n, double value, double q)
{
    struct batch slices[SECTION_COUNT] = {0};
    double beyond;

    for (size_t i = 0; i < n; i++) {
        struct batch *s = &slices[i * SECTION_COUNT / n];

        s->n++;
        s->hits += x[i] > value;
    }
    beyond =
        (double)n * fmin(q, 1 - q) / stats_inflation(slices, SECTION_COUNT);
    return sqrt(fmax(1, SECTION_COUNT / beyond));
}

/* Of the requests that were due before a time. */
static struct precision_found find(const struct precision *p, int64_t until_ns)
{
    struct precision_found found = {
        .is_asked = true, .why = "n too small", .wanted = p->ask.share};
    double q = p->ask.quantile;
    struct precision_value *sorted = xcalloc(p->n + 1, sizeof(*sorted));
    double *x = xcalloc(2 * p->n + SECTION_COUNT, sizeof(*x));
    struct section_quantile s;
    size_t n = 0;

    if (p->n > 0)
        memcpy(sorted, p->values, p->n * sizeof(*sorted));
    qsort(sorted, p->n, sizeof(*sorted), by_due);
    for (; n < p->n && sorted[n].due_ns < until_ns; n++)
        x[n] = sorted[n].ns;
    free(sorted);
    if (n >= SECTION_COUNT) {
        s = section_quantile(x, n, q, SECTION_COUNT, CONFIDENCE, x + n);
        found.value_ns = s.quantile.value;
        found.is_known = s.verdict == SECTION_KNOWN && found.value_ns > 0;
        if (s.verdict == SECTION_BEYOND)
            found.why = "the quantile falls among the failures";
    }
    if (found.is_known) {
        double half = (s.quantile.range.high - s.quantile.range.low) / 2 *
                      widening(x, n, found.value_ns, q);

        found.why = NULL;
        found.half = half / found.value_ns;
        found.is_reached = found.half <= p->ask.share;
        found.within = half / student_reach(CONFIDENCE, SECTION_COUNT - 1);
    }
    free(x);
    return found;
}

bool precision_is_reached(struct precision *p, int64_t followed_ns)
{
    if (p->n < p->next_check)
        return false;
    p->next_check = (size_t)(GROWTH * (double)p->n);
    return find(p, followed_ns - p->longest_ns).is_reached;
}

struct precision_found precision_find(const struct precision *p)
{
    return find(p, INT64_MAX);
}
