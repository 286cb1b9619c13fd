#include "analyzer/compare/finding.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/stats/boot.h"
#include "analyzer/stats/section.h"
#include "common/rng.h"
#include "common/xalloc.h"

/* Enough for the tails of the strictest of a few quantities and five trials. */
#define RESAMPLES 49999

const char *finding_verdict_name(enum finding_verdict verdict)
{
    static const char *const names[] = {
        [FINDING_NO_DIFFERENCE] = "no difference shown",
        [FINDING_BETTER] = "better",
        [FINDING_WORSE] = "worse",
        [FINDING_CANNOT_TELL] = "cannot tell",
    };

    return names[verdict];
}

/* ---- over trials ---- */

/* The chance that two samples of the same thing lie wholly apart: of all the
 * ways to deal n + m values out, two. */
static double chance_apart(size_t n, size_t m)
{
    double ways = 1;

    for (size_t i = 1; i <= m; i++)
        ways *= (double)(n + i) / (double)i;
    return 2 / ways;
}

/* From the closest to the farthest that a value of b is from one of a. */
static struct interval span(enum contrast contrast, const struct sample *a,
                            const struct sample *b)
{
    struct interval range = {INFINITY, -INFINITY};

    for (size_t i = 0; i < a->n; i++) {
        for (size_t k = 0; k < b->n; k++) {
            double apart = contrast_scale(contrast, b->units[k]) -
                           contrast_scale(contrast, a->units[i]);

            range.low = fmin(range.low, apart);
            range.high = fmax(range.high, apart);
        }
    }
    range.low = contrast_back(contrast, range.low);
    range.high = contrast_back(contrast, range.high);
    return range;
}

/* With few trials a high confidence lies in tails that resampling cannot reach.
 * Then all that the trials span will do, if it is sure enough. */
static void take_span(struct uncertain *u, enum contrast contrast,
                      double confidence, const struct sample *a,
                      const struct sample *b)
{
    if (u->has_range || chance_apart(a->n, b->n) > 1 - confidence)
        return;
    u->range = span(contrast, a, b);
    u->has_range = isfinite(u->range.low) && isfinite(u->range.high);
}

static struct uncertain over_trials(enum contrast contrast, double confidence,
                                    const struct sample *a,
                                    const struct sample *b)
{
    struct rng rng = rng_stream(1, RNG_COMPARE);
    struct boot boot = {
        .statistic = boot_median,
        .contrast = contrast,
        .confidence = confidence,
        .resamples = RESAMPLES,
        .rng = &rng,
    };
    struct uncertain u;

    boot.scratch =
        xcalloc(boot_scratch(RESAMPLES, a->n, b->n), sizeof(*boot.scratch));
    u = boot_contrast(&boot, a->units, a->n, b->units, b->n);
    free(boot.scratch);
    take_span(&u, contrast, confidence, a, b);
    return u;
}

/* ---- over blocks ---- */

/* Half the width of one side's interval, on the scale of the contrast; below 0:
 * there is none. */
static double half_width(enum contrast contrast, double confidence, double q,
                         const struct sample *s)
{
    double scaled[SECTION_COUNT];
    double whole = contrast_scale(contrast, s->whole);
    int64_t least = q > 0 ? s->least_in_one : INT64_MAX;
    struct section_quantile sq;

    if (s->n > SECTION_COUNT)
        return -1;
    for (size_t i = 0; i < s->n; i++)
        scaled[i] = contrast_scale(contrast, s->units[i]);
    sq = section_combine(scaled, s->n, whole, q > 0 ? q : 0.5, least,
                         confidence);
    return sq.verdict == SECTION_KNOWN ? sq.quantile.range.high - whole : -1;
}

/* The two sides are independent: their widths add by squares. */
static struct uncertain over_blocks(enum contrast contrast, double confidence,
                                    double q, const struct sample *a,
                                    const struct sample *b)
{
    double apart =
        contrast_scale(contrast, b->whole) - contrast_scale(contrast, a->whole);
    double of_a = half_width(contrast, confidence, q, a);
    double of_b = half_width(contrast, confidence, q, b);
    struct uncertain u = {.value = contrast_back(contrast, apart)};

    u.has_range = of_a >= 0 && of_b >= 0 && isfinite(apart);
    if (u.has_range) {
        u.range.low = contrast_back(contrast, apart - hypot(of_a, of_b));
        u.range.high = contrast_back(contrast, apart + hypot(of_a, of_b));
    }
    return u;
}

/* ---- what it shows ---- */

/* A histogram's values are only so fine. */
static void blur(struct finding *f)
{
    double step = FINDING_RESOLUTION * fmax(fabs(f->a), fabs(f->b));

    if (f->difference.has_range) {
        f->difference.range.low -= step;
        f->difference.range.high += step;
    }
    if (f->ratio.has_range) {
        f->ratio.range.low *= 1 - FINDING_RESOLUTION;
        f->ratio.range.high *= 1 + FINDING_RESOLUTION;
    }
}

/* Whether there is more of it in b: 1, -1, or 0 if that is not shown. */
static int direction(const struct interval *range)
{
    return range->low > 0 ? 1 : range->high < 0 ? -1 : 0;
}

static enum finding_verdict by_direction(int more, bool more_is_better)
{
    if (more == 0)
        return FINDING_NO_DIFFERENCE;
    return (more > 0) == more_is_better ? FINDING_BETTER : FINDING_WORSE;
}

static double reach(const struct uncertain *u)
{
    return fmax(u->range.high - u->value, u->value - u->range.low);
}

static bool some_infinite(const struct sample *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (!isfinite(s->units[i]))
            return true;
    }
    return !isfinite(s->whole);
}

static bool all_infinite(const struct sample *s, bool wanted)
{
    for (size_t i = 0; i < s->n; i++) {
        if (!isfinite(s->units[i]) != wanted)
            return false;
    }
    return s->n >= FINDING_TRIALS;
}

/* A percentile among the failures has no number, but where it is there in every
 * unit of one side and in none of the other, it is plain which is worse. */
static void by_failures(struct finding *f, const struct sample *a,
                        const struct sample *b)
{
    f->why = "the percentile falls among the failures";
    f->verdict = FINDING_CANNOT_TELL;
    if (all_infinite(a, false) && all_infinite(b, true))
        f->verdict = FINDING_WORSE;
    else if (all_infinite(a, true) && all_infinite(b, false))
        f->verdict = FINDING_BETTER;
}

static const char *too_few(const struct finding_rule *rule,
                           const struct sample *a, const struct sample *b)
{
    if (rule->basis == BASIS_NONE)
        return "trials on one side and a single run on the other: give trials "
               "of both";
    if (rule->basis == BASIS_TRIALS &&
        (a->n < FINDING_TRIALS || b->n < FINDING_TRIALS))
        return "n too small: at least 5 trials a side";
    if (!a->has_all || !b->has_all)
        return rule->basis == BASIS_TRIALS
                   ? "n too small: each trial must bound it"
                   : "n too small: each of 20 blocks must bound it";
    return NULL;
}

static void conclude(struct finding *f, const struct finding_rule *rule,
                     const struct sample *a, const struct sample *b)
{
    if (rule->quantile > 0)
        blur(f);
    if (some_infinite(a) || some_infinite(b)) {
        by_failures(f, a, b);
        return;
    }
    if (!f->difference.has_range) {
        f->why = rule->basis == BASIS_TRIALS
                     ? "n too small: more trials for this confidence"
                     : "n too small";
        return;
    }
    f->verdict =
        by_direction(direction(&f->difference.range), rule->more_is_better);
    if (f->a > 0 && reach(&f->difference) > 0) /* else nothing scatters */
        f->visible = reach(&f->difference) / f->a;
}

static void take_values(struct finding *f, const struct sample *a,
                        const struct sample *b)
{
    f->has_a = a->has_whole;
    f->has_b = b->has_whole;
    f->a = a->whole;
    f->b = b->whole;
}

/* A contrast without its interval is not worth printing. */
static struct finding without_guesses(struct finding f)
{
    if (!f.difference.has_range)
        f.difference = (struct uncertain){0};
    if (!f.ratio.has_range)
        f.ratio = (struct uncertain){0};
    return f;
}

struct finding finding_make(const struct finding_rule *rule,
                            const struct sample *a, const struct sample *b)
{
    struct finding f = {.verdict = FINDING_CANNOT_TELL,
                        .confidence = rule->confidence,
                        .visible = -1};
    bool is_trials = rule->basis == BASIS_TRIALS;

    if (a->n == 0 || b->n == 0) {
        f.why = "not measured";
        return f;
    }
    f.is_measured = true;
    take_values(&f, a, b);
    f.why = too_few(rule, a, b);
    if (f.why)
        return f;
    if (is_trials) {
        f.difference = over_trials(CONTRAST_DIFFERENCE, rule->confidence, a, b);
        f.ratio = over_trials(CONTRAST_RATIO, rule->confidence, a, b);
    } else {
        f.difference = over_blocks(CONTRAST_DIFFERENCE, rule->confidence,
                                   rule->quantile, a, b);
        f.ratio =
            over_blocks(CONTRAST_RATIO, rule->confidence, rule->quantile, a, b);
    }
    conclude(&f, rule, a, b);
    return without_guesses(f);
}

/* ---- regression ---- */

/* What is lost, as a share of a: for latencies b / a - 1. */
static struct interval loss_of(const struct interval *ratio,
                               bool more_is_better)
{
    return more_is_better ? (struct interval){1 - ratio->high, 1 - ratio->low}
                          : (struct interval){ratio->low - 1, ratio->high - 1};
}

enum regression finding_regression(const struct finding *f, bool more_is_better,
                                   double threshold)
{
    struct interval loss;

    if (f->ratio.has_range) {
        loss = loss_of(&f->ratio.range, more_is_better);
        if (loss.low > threshold)
            return REGRESSION_YES;
        return loss.high <= threshold ? REGRESSION_NO : REGRESSION_UNKNOWN;
    }
    if (f->verdict == FINDING_WORSE && !isfinite(f->b))
        return REGRESSION_YES;
    if (f->verdict == FINDING_BETTER)
        return REGRESSION_NO;
    if (f->difference.has_range && f->difference.range.low == 0 &&
        f->difference.range.high == 0)
        return REGRESSION_NO; /* nothing, in both */
    return REGRESSION_UNKNOWN;
}
