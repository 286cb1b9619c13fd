#include "analyzer/scaling/bend.h"

#include <math.h>
#include <stdio.h>

#include "analyzer/scaling/scaling_point.h"
#include "common/stats/stats.h"

#define LEVEL     0.01 /* of the test for more scatter than at K = 1 */
#define EXPLAINS  0.5  /* share of a loss that identifies its cause */
#define SLOW      0.75 /* share of the rate of a healthy worker */
#define SHAPE_MIN 3    /* minimum number of points for a shape */

/* Share of a loss due to an uneven end that identifies it: with two workers,
 * one of them slow, it is little more than half. */
#define UNEVEN 0.4

#define MISSING_MIN  0.15 /* part of a worker that is more than chance */
#define MISSING_SAME 1.5  /* max / min of parts that count as the same */

const char *bend_cause_name(enum bend_cause cause)
{
    static const char *const names[] = {
        [BEND_NONE] = "none",           [BEND_COMMUNICATION] = "communication",
        [BEND_STRAGGLER] = "straggler", [BEND_IMBALANCE] = "imbalance",
        [BEND_UNCLEAR] = "unclear",
    };

    return names[cause];
}

/* ---- how fixed sets end ---- */

static bool by_drain(struct bend *b, const struct scale_point *base,
                     const struct scale_point *p)
{
    double kept, share, rate;

    if (base->drain.runs == 0 || p->drain.runs == 0)
        return false;
    /* The part of the lost efficiency that is lost while some workers are idle,
     * beyond that at K = 1. */
    kept = (1 - p->drain.uneven) / (1 - base->drain.uneven);
    share = log(fmin(1, kept)) / log(p->efficiency.value);
    if (!(share >= UNEVEN))
        return false;
    rate = p->drain.last_rps / base->drain.last_rps;
    b->cause = rate < SLOW ? BEND_STRAGGLER : BEND_IMBALANCE;
    snprintf(b->evidence, sizeof(b->evidence),
             "at K = %lld, %.0f%% of the loss is an uneven end, when %s: the "
             "last %.0f%% of the answers come at %.2f times the rate of one "
             "worker alone",
             (long long)p->k, fmin(1, share) * 100,
             b->cause == BEND_STRAGGLER
                 ? "the others wait for a slow worker"
                 : "some workers have more left than others",
             DRAIN_LAST * 100, rate);
    return true;
}

/* ---- how runs scatter ---- */

struct scatter {
    double variance; /* of one run, relative */
    double freedom;
};

static struct scatter pooled(const struct scale_point *points, size_t n)
{
    struct scatter s = {0};

    for (size_t i = 0; i < n; i++) {
        double share = points[i].std_s / points[i].mean_s;

        if (!(points[i].runs >= 2) || isnan(share))
            continue;
        s.variance += share * share * (points[i].runs - 1);
        s.freedom += points[i].runs - 1;
    }
    s.variance = s.freedom > 0 ? s.variance / s.freedom : NAN;
    return s;
}

/* Probability of such a ratio of two equal variances, by the F test. */
static double chance(const struct scatter *wide, const struct scatter *narrow)
{
    double ratio = wide->variance / narrow->variance;

    if (!(narrow->variance > 0))
        return wide->variance > 0 ? 0 : 1;
    return stats_beta(narrow->freedom /
                          (narrow->freedom + wide->freedom * ratio),
                      narrow->freedom / 2, wide->freedom / 2);
}

static bool by_scatter(struct bend *b, const struct scale_point *points,
                       size_t n)
{
    struct scatter one = pooled(points, 1);
    struct scatter more = pooled(points + 1, n - 1);

    if (!(more.freedom > 0) || !(sqrt(more.variance) >= BEND_WIDE))
        return false;
    if (one.freedom > 0 && chance(&more, &one) > LEVEL)
        return false;
    b->cause = BEND_STRAGGLER;
    snprintf(b->evidence, sizeof(b->evidence),
             "runs at the same K scatter widely: by %.1f%% above K = 1%s, as "
             "they do when a worker is slow now and then",
             sqrt(more.variance) * 100,
             one.freedom > 0 ? ", significantly more than at K = 1" : "");
    return true;
}

/* ---- the shape ---- */

/* If work goes to any free worker, a slow one costs the same part of a worker
 * at every K. */
static bool by_missing(struct bend *b, const struct scale_point *points,
                       size_t n)
{
    double min = INFINITY;
    double max = 0;

    for (size_t i = 1; i < n; i++) {
        double missing = (double)points[i].k * (1 - points[i].efficiency.value);

        min = fmin(min, missing);
        max = fmax(max, missing);
    }
    if (n < SHAPE_MIN || min < MISSING_MIN || max > 1 ||
        max > MISSING_SAME * min)
        return false;
    b->cause = BEND_STRAGGLER;
    snprintf(b->evidence, sizeof(b->evidence),
             "the same part of one worker, %.2f to %.2f, is missing at every "
             "K, as if one worker were slow and the others did its work",
             min, max);
    return true;
}

static bool by_small_k(struct bend *b, const struct scale_point *small,
                       const struct scale_point *worst)
{
    double early = 1 - small->efficiency.value;
    double max = 1 - worst->efficiency.value;

    if (small == worst || small->efficiency.value >= BEND_VISIBLE ||
        early < EXPLAINS * max)
        return false;
    b->cause = BEND_IMBALANCE;
    snprintf(b->evidence, sizeof(b->evidence),
             "efficiency is already %.3f at K = %lld, %.0f%% of the largest "
             "loss, %s",
             small->efficiency.value, (long long)small->k, early / max * 100,
             small->runs >= 2 ? "and in every repeat"
                              : "but in a single run: repeats could rule out "
                                "chance");
    return true;
}

static void by_shape(struct bend *b, const struct scale_point *points, size_t n,
                     double residual)
{
    struct scatter s = pooled(points, n);
    char runs[80];

    b->cause = BEND_UNCLEAR;
    if (n < SHAPE_MIN) {
        snprintf(b->evidence, sizeof(b->evidence),
                 "%zu points are too few for a shape: measure more", n);
        return;
    }
    if (!(residual <= BEND_SMOOTH)) {
        snprintf(b->evidence, sizeof(b->evidence),
                 "the curve is not smooth (%.1f%% off the best law), and runs "
                 "do not scatter",
                 residual * 100);
        return;
    }
    b->cause = BEND_COMMUNICATION;
    if (s.freedom > 0)
        snprintf(runs, sizeof(runs), "runs scatter by only %.1f%%",
                 sqrt(s.variance) * 100);
    else
        snprintf(runs, sizeof(runs), "%s",
                 "with single runs a straggler would not "
                 "show");
    snprintf(b->evidence, sizeof(b->evidence),
             "the loss grows smoothly with K (%.1f%% off the best law), and "
             "%s: shared resources or communication",
             residual * 100, runs);
}

struct bend bend_find(const struct scale_point *points, size_t n,
                      double residual)
{
    const struct scale_point *worst = &points[0];
    struct bend b = {.cause = BEND_NONE};

    for (size_t i = 1; i < n; i++) {
        if (points[i].efficiency.value < worst->efficiency.value)
            worst = &points[i];
        if (b.k == 0 && points[i].efficiency.value < BEND_VISIBLE)
            b.k = points[i].k;
    }
    if (b.k == 0) {
        snprintf(b.evidence, sizeof(b.evidence),
                 "efficiency is at least %.2f at every K", BEND_VISIBLE);
        return b;
    }
    if (!by_drain(&b, &points[0], worst) && !by_scatter(&b, points, n) &&
        !by_missing(&b, points, n) && !by_small_k(&b, &points[1], worst))
        by_shape(&b, points, n, residual);
    return b;
}
