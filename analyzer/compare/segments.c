#include "analyzer/compare/segments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/stats/change_points.h"
#include "analyzer/stats/order_stats.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"

#define PERMUTATIONS 999
#define LEAST_RUNS   3 /* of a segment: one odd run is no change */

static struct segment segment_of(const double *x, size_t first, size_t end,
                                 double p, double *scratch)
{
    struct segment s = {.first = first, .n = end - first, .p = p};

    memcpy(scratch, x + first, s.n * sizeof(*x));
    s.median = order_median(scratch, s.n);
    return s;
}

void segments_find(struct segments *s, const double *x, size_t n)
{
    struct rng rng = rng_stream(1, RNG_COMPARE);
    const struct changes rule = {.level = SEGMENTS_LEVEL,
                                 .permutations = PERMUTATIONS,
                                 .min_len = LEAST_RUNS,
                                 .rng = &rng};
    struct change found[SEGMENTS_MAX - 1];
    double *scratch;
    size_t first = 0;
    double p = 1;
    size_t k;

    *s = (struct segments){0};
    if (n < SEGMENTS_LEAST)
        return;
    scratch = xcalloc(n, sizeof(*scratch));
    k = changes_find(&rule, x, n, found, SEGMENTS_MAX - 1, scratch);
    for (size_t i = 0; i <= k; i++) {
        size_t end = i < k ? found[i].at : n;

        s->list[s->len++] = segment_of(x, first, end, p, scratch);
        first = end;
        p = i < k ? found[i].p : 1;
    }
    free(scratch);
}

double segments_loss(const struct segments *s, bool more_is_better)
{
    double before;
    double rise;

    if (s->len < 2)
        return 0;
    before = s->list[s->len - 2].median;
    rise = s->list[s->len - 1].median - before;
    if (before != 0)
        rise /= fabs(before);
    return more_is_better ? -rise : rise;
}
