#include "analyzer/verdict/overload.h"

#include <math.h>

#include "analyzer/read/series.h"
#include "analyzer/stats/trend.h"
#include "common/stats/stats.h"

#define PAIRS (OVERLOAD_BLOCKS * (OVERLOAD_BLOCKS - 1) / 2)

/* Steps from which chance is reckoned. */
#define STEPS 60

/* A block is to be so many autocorrelation times long. */
#define BLOCK_TAUS 20

/* Of a series that rises the time is far too long; ten blocks are enough for
 * that. */
static size_t blocks_of(const double *x, size_t n)
{
    double blocks = (double)n / (BLOCK_TAUS * autocorr_time(x, n));

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

/* Arrivals before a time in bins, given those before each bin; as if they came
 * evenly within one. */
static double arrived(const double *before, double at)
{
    size_t bin = at > 0 ? (size_t)at : 0;

    if (!(at > 0))
        return 0;
    return before[bin] + (at - (double)bin) * (before[bin + 1] - before[bin]);
}

/* What would be in flight in the middle of bins [from, to) if every request
 * took that long: those that came within it. */
static double expected(const double *before, size_t from, size_t to,
                       double answer_bins)
{
    double sum = 0;

    for (size_t i = from; i < to; i++) {
        double at = (double)i + 0.5;

        sum += arrived(before, at) - arrived(before, at - answer_bins);
    }
    return sum / (double)(to - from);
}

/* What a server that keeps up has more in flight in the last block than in the
 * first: a run that fills up, a rate that rises, sessions that have more and
 * more turns. */
static double explained_of(const struct flight *f, size_t blocks)
{
    double before[SERIES_MAX + 1] = {0};
    size_t len = (f->n - f->first) / blocks;
    double first;
    double last;

    for (size_t i = 0; i < f->n; i++)
        before[i + 1] = before[i] + f->arrivals[i];
    first = expected(before, f->first, f->first + len, f->answer_bins);
    last = expected(before, f->n - len, f->n, f->answer_bins);
    return fmax(0, last - first);
}

/* The deviation of where a random walk with these steps ends. */
static double chance_of(const double *in_flight, size_t bins)
{
    size_t n = bins < STEPS ? bins : STEPS;
    double x[STEPS];
    double drift;
    double squares = 0;

    series_blocks(in_flight, bins, x, n);
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
    const double *x = f->in_flight + f->first;
    size_t n = f->n - f->first;
    struct overload o = {.blocks = blocks_of(x, n),
                         .arrivals = sum_of(f->arrivals + f->first, n),
                         .chance = chance_of(x, n)};
    double blocks[OVERLOAD_BLOCKS];
    double scratch[PAIRS];
    double count = (double)o.blocks;
    struct trend_test t;
    struct trend_slope slope;

    series_blocks(x, n, blocks, o.blocks);
    t = trend_test(blocks, o.blocks, scratch);
    slope = trend_slope(blocks, o.blocks, 0.95, scratch);
    o.p = t.p;
    o.is_rising = trend_verdict(&t, OVERLOAD_LEVEL) == TREND_RISING;
    o.growth = slope.slope * count;
    o.rise = blocks[o.blocks - 1] - blocks[0];
    o.has_ci95 = slope.has_range;
    o.ci95.low = slope.range.low * count;
    o.ci95.high = slope.range.high * count;
    o.explained = explained_of(f, o.blocks);
    o.is_over = o.is_rising && is_material(&o);
    return o;
}
