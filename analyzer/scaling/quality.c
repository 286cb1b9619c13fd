#include "analyzer/scaling/quality.h"

#include <math.h>

#include "common/stats.h"

/* Qualities are printed decimals: 0.871 - 0.866 is no more than 0.005. */
#define ROUNDING 1e-9

#define REACH 1.96 /* errors to either side, for the number of answers */

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

/* As many on both sides, by the normal approximation. */
static double needed(struct quality_of base, struct quality_of row,
                     double tolerance)
{
    double room = tolerance + (row.share - base.share);
    double variance =
        base.share * (1 - base.share) + row.share * (1 - row.share);

    return room > 0 ? ceil(REACH * REACH * variance / (room * room)) : NAN;
}

static enum quality_verdict by_range(const struct interval *r, double tolerance)
{
    if (r->low >= -tolerance - ROUNDING)
        return QUALITY_HELD;
    return r->high < -tolerance - ROUNDING ? QUALITY_DRIFTED
                                           : QUALITY_NOT_SHOWN;
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

bool quality_allows(const struct quality_gate *gate)
{
    return gate->verdict == QUALITY_HELD || gate->verdict == QUALITY_UNKNOWN;
}
