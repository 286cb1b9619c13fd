#include "analyzer/scaling/scaling_quality.h"

#include <math.h>

#include "common/stats/stats.h"

/* Qualities are printed decimals: 0.871 - 0.866 is no more than 0.005. */
#define ROUNDING 1e-9

#define MOST_ANSWERS 1e9 /* that anybody could ask for */

/* Newcombe 1998, his method 10. */
static struct interval difference(struct quality_of base, struct quality_of row)
{
    struct interval b = stats_share_interval(base.share, base.n);
    struct interval r = stats_share_interval(row.share, row.n);
    double drift = row.share - base.share;

    return (struct interval){
        .low = drift - hypot(row.share - r.low, b.high - base.share),
        .high = drift + hypot(r.high - row.share, base.share - b.low),
    };
}

static enum quality_verdict by_range(const struct interval *r, double tolerance)
{
    if (r->low >= -tolerance - ROUNDING)
        return QUALITY_HELD;
    return r->high < -tolerance - ROUNDING ? QUALITY_DRIFTED
                                           : QUALITY_NOT_SHOWN;
}

static bool would_hold(struct quality_of base, struct quality_of row, double n,
                       double tolerance)
{
    struct interval r;

    base.n = n;
    row.n = n;
    r = difference(base, row);
    return by_range(&r, tolerance) == QUALITY_HELD;
}

/* As many on both sides; by bisection, to one percent. */
static double needed(struct quality_of base, struct quality_of row,
                     double tolerance)
{
    double few = 1;
    double enough = 2;

    while (!would_hold(base, row, enough, tolerance)) {
        few = enough;
        enough *= 2;
        if (enough > MOST_ANSWERS)
            return NAN;
    }
    while (enough > 1.01 * few && enough - few > 1) {
        double n = floor((few + enough) / 2);

        if (would_hold(base, row, n, tolerance))
            enough = n;
        else
            few = n;
    }
    return enough;
}

struct quality_gate quality_judge(struct quality_of base, struct quality_of row,
                                  double tolerance)
{
    struct quality_gate g = {.needed = NAN,
                             .drift.value = row.share - base.share};

    if (isnan(g.drift.value))
        return g;
    if (!(base.n > 0) || !(row.n > 0)) {
        g.verdict = g.drift.value >= -tolerance - ROUNDING ? QUALITY_HELD
                                                           : QUALITY_DRIFTED;
        return g;
    }
    g.drift.range = difference(base, row);
    g.drift.has_range = true;
    g.verdict = by_range(&g.drift.range, tolerance);
    if (g.verdict == QUALITY_NOT_SHOWN)
        g.needed = needed(base, row, tolerance);
    return g;
}

bool quality_allows(const struct quality_gate *handoff)
{
    return handoff->verdict == QUALITY_HELD ||
           handoff->verdict == QUALITY_UNKNOWN;
}
