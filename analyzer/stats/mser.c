#include "analyzer/stats/mser.h"

#include <math.h>

#define LEAST_LEFT 5 /* batches */

static double batch_mean(const double *x)
{
    double sum = 0;

    for (size_t i = 0; i < MSER_BATCH; i++)
        sum += x[i];
    return sum / MSER_BATCH;
}

/* From the end backwards, so that the sum of squares grows by one batch at a
 * time.  Of equals the earliest wins. */
struct mser mser_truncate(const double *x, size_t n)
{
    size_t batches = n / MSER_BATCH;
    double mean = 0;
    double squares = 0;
    double least = INFINITY;
    size_t at = batches;

    for (size_t d = batches; d-- > 0;) {
        double left = (double)(batches - d);
        double off = batch_mean(x + d * MSER_BATCH) - mean;

        mean += off / left;
        squares += off * off * (left - 1) / left;
        if (batches - d >= LEAST_LEFT && squares / (left * left) <= least) {
            least = squares / (left * left);
            at = d;
        }
    }
    return (struct mser){.is_found = n >= MSER_LEAST_N && at <= batches / 2,
                         .drop = at * MSER_BATCH};
}
