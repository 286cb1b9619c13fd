#include "analyzer/overload.h"

#include <math.h>

#include "analyzer/series.h"
#include "analyzer/stats/trend.h"
#include "common/autocorr.h"

#define PAIRS (OVERLOAD_BLOCKS * (OVERLOAD_BLOCKS - 1) / 2)

/* Steps from which chance is reckoned. */
#define STEPS 60

/* A block is to be so many autocorrelation times long. */
#define BLOCK_TAUS 20

/* A rate that rises by chance would be taken off the growth. */
#define RATE_LEVEL 0.01

/* Of a series that rises the time is far too long; ten blocks are enough for
 * that. */
static size_t blocks_of(const struct flight *f)
{
    double blocks =
        (double)f->n / (BLOCK_TAUS * autocorr_time(f->in_flight, f->n));

    if (blocks < TREND_LEAST_N)
        return TREND_LEAST_N;
    return blocks < OVERLOAD_BLOCKS ? (size_t)blocks : OVERLOAD_BLOCKS;
}

static double sum_of(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* By how much the rate, in requests a second, rises through the window; 0 if
 * that may be chance. */
static double rate_rise(const struct flight *f)
{
    double blocks[TREND_LEAST_N];
    double scratch[PAIRS];
    struct trend_test t;

    series_blocks(f->arrivals, f->n, blocks, TREND_LEAST_N);
    t = trend_test(blocks, TREND_LEAST_N, scratch);
    if (trend_verdict(&t, RATE_LEVEL) != TREND_RISING)
        return 0;
    return trend_slope(blocks, TREND_LEAST_N, 0.95, scratch).slope *
           TREND_LEAST_N / f->bin_s;
}

/* What a server that keeps up has more in flight at the end than at the start:
 * rate x time at a rate that rises, and until the first answers come all that
 * was sent. */
static double explained_of(const struct flight *f, double arrivals)
{
    double length_s = (double)f->n * f->bin_s;
    double end_s = f->start_s + length_s;
    double filling_s = fmin(end_s, f->answer_s) - fmin(f->start_s, f->answer_s);

    return arrivals / length_s * filling_s + rate_rise(f) * f->answer_s;
}

/* The deviation of where a random walk with these steps ends. */
static double chance_of(const struct flight *f)
{
    size_t n = f->n < STEPS ? f->n : STEPS;
    double x[STEPS];
    double drift;
    double squares = 0;

    series_blocks(f->in_flight, f->n, x, n);
    drift = (x[n - 1] - x[0]) / (double)(n - 1);
    for (size_t i = 1; i < n; i++)
        squares += (x[i] - x[i - 1] - drift) * (x[i] - x[i - 1] - drift);
    return sqrt(squares);
}

/* What fills up and is then full has a slope that overstates its growth. */
static bool is_material(const struct overload *o)
{
    double excess = fmin(o->growth, o->rise) - OVERLOAD_MARGIN * o->explained;

    return excess >= OVERLOAD_LEAST && excess >= OVERLOAD_SHARE * o->arrivals &&
           excess >= OVERLOAD_CHANCE * o->chance;
}

struct overload overload_judge(const struct flight *f)
{
    struct overload o = {.blocks = blocks_of(f),
                         .arrivals = sum_of(f->arrivals, f->n),
                         .chance = chance_of(f)};
    double blocks[OVERLOAD_BLOCKS];
    double scratch[PAIRS];
    double count = (double)o.blocks;
    struct trend_test t;
    struct trend_slope slope;

    series_blocks(f->in_flight, f->n, blocks, o.blocks);
    t = trend_test(blocks, o.blocks, scratch);
    slope = trend_slope(blocks, o.blocks, 0.95, scratch);
    o.p = t.p;
    o.is_rising = trend_verdict(&t, OVERLOAD_LEVEL) == TREND_RISING;
    o.growth = slope.slope * count;
    o.rise = blocks[o.blocks - 1] - blocks[0];
    o.has_ci95 = slope.has_range;
    o.ci95.low = slope.range.low * count;
    o.ci95.high = slope.range.high * count;
    o.explained = explained_of(f, o.arrivals);
    o.is_over = o.is_rising && is_material(&o);
    return o;
}
