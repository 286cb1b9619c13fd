#include "analyzer/stats/probe_shard.h"

#include <math.h>

#include "common/stats/hist.h"
#include "common/stats/share_test.h"
#include "common/stats/stats.h"

/* Significance of one test.  There are three quantiles and two directions, so
 * that a run without a queue fails in at most 0.6 % of cases. */
#define LEVEL 0.001

/* A difference below these is harmless, like the lag that the trust checks
 * allow. */
static const struct {
    double q;
    double floor_ns;
} quantiles[] = {
    {0.5, 200e3},
    {0.9, 2e6},
    {0.99, 2e6},
};

/* Values in one bucket of a histogram are equal. */
#define BUCKET 0.002

/* If the true share of the probe's latencies above the quantile of the others
 * is the same as theirs, how likely is it to see as few, or as many?  Latencies
 * that are equal to the quantile count against the finding.  Requests of the
 * probe shard lie far apart in the schedule, and the level of the server at a
 * time is the same for both, so that they scatter no more than independent
 * samples. */
static double significance(const struct hist *probe, int64_t at_ns, double q,
                           bool is_probe_slower)
{
    double edge = (double)at_ns * (is_probe_slower ? 1 + BUCKET : 1 - BUCKET);
    int64_t below = hist_count_below(probe, (int64_t)edge);
    const struct share_sample s = {.n = (double)probe->n,
                                   .misses = (double)(probe->n - below),
                                   .n_effective = (double)probe->n};

    return is_probe_slower ? share_fail_p(&s, 1 - q) : share_pass_p(&s, 1 - q);
}

struct probe_shard probe_shard_compare(const struct hist *probe,
                                       const struct hist *rest)
{
    struct probe_shard out = {0};

    for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
        double q = quantiles[i].q;
        int64_t probe_ns = hist_quantile(probe, q);
        int64_t rest_ns = hist_quantile(rest, q);
        bool is_probe_slower = probe_ns > rest_ns;
        double difference = fabs((double)(probe_ns - rest_ns));
        double excess =
            difference / (double)(is_probe_slower ? rest_ns : probe_ns);

        if (probe_ns <= 0 || rest_ns <= 0) /* too few, or failed */
            continue;
        out.is_known = true;
        if (difference < quantiles[i].floor_ns || excess <= out.excess ||
            significance(probe, rest_ns, q, is_probe_slower) > LEVEL)
            continue;
        out.excess = excess;
        out.is_probe_slower = is_probe_slower;
        out.quantile = q;
        out.probe_ns = probe_ns;
        out.rest_ns = rest_ns;
    }
    return out;
}
