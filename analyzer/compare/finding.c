#include "analyzer/compare/finding.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/stats/sectioning.h"
#include "common/base/xalloc.h"

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

/* ---- the difference with its interval ---- */

/* One side on the scale of the contrast. */
struct estimate {
    double value;
    double below; /* distance to the lower end of its interval; NAN: unknown */
    double above;
};

/* Is it 0 in every unit, or 1 in every unit? */
static bool is_constant(const struct sample *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->units[i] != s->units[0])
            return false;
    }
    return s->units[0] == 0 || s->units[0] == 1;
}

static struct estimate of_constant(enum contrast contrast, double confidence,
                                   const struct sample *s)
{
    /* With a share of `bound`, seeing none in n has half the probability that
     * the confidence leaves: (1 - bound)^n.  About 3.7 / n at 95 %. */
    double bound = -expm1(log((1 - confidence) / 2) / (double)s->counted);
    struct estimate e = {.value = contrast_scale(contrast, s->units[0])};

    if (s->units[0] == 0)
        e.above = contrast_scale(contrast, bound) - e.value;
    else
        e.below = e.value - contrast_scale(contrast, 1 - bound);
    return e;
}

/* Factor by which the interval over slices is widened, at least 1.  Sectioning
 * treats each slice as a sample of its own.  That holds only if at least one
 * independent request of each slice lies beyond the percentile.  If the slices
 * hold fewer by a factor of k, then k of them make one sample, and the error is
 * sqrt(k) times what their scatter suggests.  docs/statistics-compare.md has
 * the false alarms with and without this. */
static double widening(const struct finding_rule *rule, const struct sample *s)
{
    if (rule->basis != BASIS_SLICES || rule->quantile <= 0 || s->beyond <= 0)
        return 1;
    return sqrt(fmax(1, (double)s->n / s->beyond));
}

static struct estimate of_slices(enum contrast contrast,
                                 const struct finding_rule *rule,
                                 const struct sample *s)
{
    double q = rule->quantile > 0 ? rule->quantile : 0.5;
    int64_t min_n = rule->quantile > 0 ? s->min_in_slice : INT64_MAX;
    struct estimate e = {contrast_scale(contrast, s->whole), NAN, NAN};
    double scaled[SECTION_COUNT];
    struct section_quantile sq;

    if (s->n > SECTION_COUNT)
        return e;
    for (size_t i = 0; i < s->n; i++)
        scaled[i] = contrast_scale(contrast, s->units[i]);
    sq = section_combine(scaled, s->n, e.value, q, min_n, rule->confidence);
    if (sq.verdict == SECTION_KNOWN)
        e.below = e.above =
            (sq.quantile.range.high - e.value) * widening(rule, s);
    return e;
}

static struct estimate of_trials(enum contrast contrast, double confidence,
                                 const struct sample *s)
{
    double *scaled = xcalloc(s->n, sizeof(*scaled));
    struct uncertain u;

    for (size_t i = 0; i < s->n; i++)
        scaled[i] = contrast_scale(contrast, s->units[i]);
    u = trials_mean(scaled, s->n, confidence);
    free(scaled);
    return u.has_range ? (struct estimate){u.value, u.value - u.range.low,
                                           u.range.high - u.value}
                       : (struct estimate){u.value, NAN, NAN};
}

static struct estimate estimate_of(enum contrast contrast,
                                   const struct finding_rule *rule,
                                   const struct sample *s)
{
    if (rule->is_share && is_constant(s))
        return of_constant(contrast, rule->confidence, s);
    return rule->basis == BASIS_SLICES
               ? of_slices(contrast, rule, s)
               : of_trials(contrast, rule->confidence, s);
}

/* b against a.  Without a range if the values have none, or if a slice cannot
 * bound its percentile. */
static struct uncertain contrast_of(enum contrast contrast,
                                    const struct finding_rule *rule,
                                    const struct sample *a,
                                    const struct sample *b)
{
    struct estimate of_a, of_b;
    struct uncertain u;
    double gap, below, above;

    if (rule->basis != BASIS_SLICES &&
        !(rule->is_share && (is_constant(a) || is_constant(b))))
        return rule->basis == BASIS_PAIRS
                   ? trials_paired(contrast, a->units, b->units, a->n,
                                   rule->confidence)
                   : trials_contrast(contrast, a->units, a->n, b->units, b->n,
                                     rule->confidence);
    /* The two sides are independent: their errors add as squares. */
    of_a = estimate_of(contrast, rule, a);
    of_b = estimate_of(contrast, rule, b);
    gap = of_b.value - of_a.value;
    below = hypot(of_b.below, of_a.above);
    above = hypot(of_b.above, of_a.below);
    u = (struct uncertain){.value = contrast_back(contrast, gap)};
    u.has_range = isfinite(gap) && isfinite(below) && isfinite(above);
    if (u.has_range)
        u.range = (struct interval){contrast_back(contrast, gap - below),
                                    contrast_back(contrast, gap + above)};
    return u;
}

/* ---- the verdict ---- */

/* Widen by the resolution of a histogram. */
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

static enum finding_verdict by_interval(const struct finding *f,
                                        bool more_is_better)
{
    const struct uncertain *u = f->ratio.has_range ? &f->ratio : &f->difference;
    double same = f->ratio.has_range ? 1 : 0;

    if (u->range.low <= same && u->range.high >= same)
        return FINDING_NO_DIFFERENCE;
    return (u->range.low > same) == more_is_better ? FINDING_BETTER
                                                   : FINDING_WORSE;
}

/* How large a difference must be to be detected, as a share of a. */
static double visible_share(const struct finding *f)
{
    const struct uncertain *d = &f->difference;
    const struct uncertain *r = &f->ratio;

    if (r->has_range)
        return fmax(r->range.high / r->value, r->value / r->range.low) - 1;
    return f->a > 0
               ? fmax(d->range.high - d->value, d->value - d->range.low) / f->a
               : 0;
}

static size_t count_infinite(const struct sample *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += isfinite(s->units[i]) ? 0 : 1;
    return n;
}

/* A percentile among the failures has no number.  But if that happens in every
 * unit of one side and in no unit of the other, it is clear which is worse. */
static void by_failures(struct finding *f, const struct sample *a,
                        const struct sample *b)
{
    size_t bad_a = count_infinite(a);
    size_t bad_b = count_infinite(b);

    f->why = "the percentile falls among the failures";
    if (a->n < FINDING_TRIALS || b->n < FINDING_TRIALS)
        return;
    if (bad_a == 0 && bad_b == b->n)
        f->verdict = FINDING_WORSE;
    else if (bad_a == a->n && bad_b == 0)
        f->verdict = FINDING_BETTER;
}

static const char *too_few(const struct finding_rule *rule,
                           const struct sample *a, const struct sample *b)
{
    if (rule->basis == BASIS_NONE)
        return "one side has trials, the other is a single run: give trials "
               "of both";
    if (basis_is_trials(rule->basis) &&
        (a->n < FINDING_TRIALS || b->n < FINDING_TRIALS))
        return "n too small: at least 5 trials per side are needed";
    if (!a->has_all || !b->has_all)
        return basis_is_trials(rule->basis)
                   ? "n too small: a trial has too few samples for it"
                   : "n too small: one of the 20 slices has too few samples "
                     "for it";
    return NULL;
}

static bool is_zero(const struct sample *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->units[i] != 0)
            return false;
    }
    return true;
}

struct finding finding_make(const struct finding_rule *rule,
                            const struct sample *a, const struct sample *b)
{
    struct finding f = {.verdict = FINDING_CANNOT_TELL,
                        .confidence = rule->confidence,
                        .widened = 1,
                        .visible = -1};

    if (a->n == 0 || b->n == 0) {
        f.why = "not measured";
        return f;
    }
    f.is_measured = true;
    f.has_a = a->has_whole;
    f.has_b = b->has_whole;
    f.a = a->whole;
    f.b = b->whole;
    f.why = too_few(rule, a, b);
    if (f.why)
        return f;
    f.a_is_zero = is_zero(a);
    f.b_is_zero = is_zero(b);
    f.difference = contrast_of(CONTRAST_DIFFERENCE, rule, a, b);
    f.ratio = contrast_of(CONTRAST_RATIO, rule, a, b);
    if (f.ratio.has_range || f.difference.has_range)
        f.widened = fmax(widening(rule, a), widening(rule, b));
    if (rule->quantile > 0)
        blur(&f);
    if (count_infinite(a) > 0 || count_infinite(b) > 0 || !isfinite(a->whole) ||
        !isfinite(b->whole)) {
        by_failures(&f, a, b);
    } else if (!f.difference.has_range) {
        f.why = "n too small";
    } else {
        f.verdict = by_interval(&f, rule->more_is_better);
        if (visible_share(&f) > 0) /* else nothing scatters */
            f.visible = visible_share(&f);
    }
    /* A difference without an interval is not worth printing. */
    if (!f.difference.has_range)
        f.difference = (struct uncertain){0};
    if (!f.ratio.has_range)
        f.ratio = (struct uncertain){0};
    return f;
}

/* Nothing on either side, and what may have gone unseen is at most the
 * threshold. */
static bool is_bounded_zero(const struct finding *f, bool more_is_better,
                            double threshold)
{
    const struct interval *d = &f->difference.range;

    return f->a_is_zero && f->b_is_zero && f->difference.has_range &&
           (more_is_better ? -d->low : d->high) <= threshold;
}

enum regression finding_regression(const struct finding *f, bool more_is_better,
                                   double threshold)
{
    const struct interval *ratio = &f->ratio.range;

    if (f->ratio.has_range) {
        /* The loss as a share of a: for latencies b / a - 1. */
        struct interval loss = {ratio->low - 1, ratio->high - 1};

        if (more_is_better)
            loss = (struct interval){1 - ratio->high, 1 - ratio->low};
        if (loss.low > threshold)
            return REGRESSION_YES;
        return loss.high <= threshold ? REGRESSION_NO : REGRESSION_UNKNOWN;
    }
    if (f->verdict == FINDING_WORSE && (f->a_is_zero || !isfinite(f->b)))
        return REGRESSION_YES;
    if (f->verdict == FINDING_BETTER ||
        is_bounded_zero(f, more_is_better, threshold))
        return REGRESSION_NO;
    return REGRESSION_UNKNOWN;
}
