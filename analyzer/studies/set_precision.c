#include "analyzer/studies/set_precision.h"

#include <math.h>

#include "analyzer/stats/trial_stats.h"
#include "common/settings/settings.h"
#include "common/stats/stats.h"

#define CONFIDENCE 0.95
#define DOUBLINGS  6 /* of the length of a trial, at most */

/* The smallest number of trials whose interval is that narrow, if one has this
 * standard deviation; both are shares of the mean. */
static int64_t trials_for(double share, double deviation)
{
    int64_t n = SET_PRECISION_TRIALS;

    while (n < STUDY_MAX_TRIALS &&
           student_reach(CONFIDENCE, (double)n - 1) * deviation >
               share * sqrt((double)n))
        n++;
    return n;
}

/* Twice the length halves the variance within, and may need fewer launches. */
static void recommend(const struct set_precision_ask *ask, double deviation,
                      struct set_precision *out)
{
    double best_s = INFINITY;

    for (int i = 0; i <= (out->is_split ? DOUBLINGS : 0); i++) {
        double longer = ldexp(1, i);
        double part = out->is_split ? out->within * out->within / longer : 0;
        double of_one = out->is_split ? sqrt(part + out->between * out->between)
                                      : deviation;
        int64_t n = trials_for(ask->share, of_one);
        double all_s =
            (double)n * (ask->length_s * longer + fmax(0, ask->overhead_s));

        if (!(all_s < best_s) ||
            (n == STUDY_MAX_TRIALS && i < DOUBLINGS && out->is_split))
            continue;
        best_s = all_s;
        out->trials = n;
        out->length_s = ask->length_s * longer;
    }
}

struct set_precision set_precision(const struct set_precision_ask *ask)
{
    struct set_precision out = {0};
    struct uncertain mean;
    double deviation;
    double within = 0;
    double variance;

    for (size_t i = 0; i < ask->n && !out.why; i++) {
        if (isnan(ask->values[i]))
            out.why = "n too small: a trial cannot bound it";
        else if (!isfinite(ask->values[i]))
            out.why = "it falls among the failures of a trial";
    }
    if (ask->n < SET_PRECISION_TRIALS)
        out.why = "fewer than 5 trials";
    if (out.why)
        return out;
    mean = trials_mean_amount(ask->values, ask->n, CONFIDENCE);
    if (!mean.has_range || !(mean.value > 0)) {
        out.why = "it is 0";
        return out;
    }
    out.value = mean.value;
    out.half = (mean.range.high - mean.value) / mean.value;
    out.is_reached = out.half <= ask->share;
    deviation = out.half / student_reach(CONFIDENCE, (double)ask->n - 1) *
                sqrt((double)ask->n);
    for (size_t i = 0; i < ask->n; i++)
        within += ask->within[i] * ask->within[i] / (double)ask->n;
    within /= mean.value * mean.value;
    variance = deviation * deviation;
    out.is_split = isfinite(within);
    if (out.is_split) {
        /* Of few trials the scatter may be less than that of each. */
        out.within = sqrt(fmin(within, variance));
        out.between = sqrt(fmax(0, variance - within));
    }
    recommend(ask, deviation, &out);
    return out;
}
