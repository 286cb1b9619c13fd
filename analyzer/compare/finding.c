#include "analyzer/compare/finding.h"

#include <math.h>

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
static int direction(const struct finding *f)
{
    const struct uncertain *u = f->ratio.has_range ? &f->ratio : &f->difference;
    double same = f->ratio.has_range ? 1 : 0;

    return u->range.low > same ? 1 : u->range.high < same ? -1 : 0;
}

static enum finding_verdict by_direction(int more, bool more_is_better)
{
    if (more == 0)
        return FINDING_NO_DIFFERENCE;
    return (more > 0) == more_is_better ? FINDING_BETTER : FINDING_WORSE;
}

/* How far apart they must be to be seen, as a share of a. */
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
    if (basis_is_trials(rule->basis) &&
        (a->n < FINDING_TRIALS || b->n < FINDING_TRIALS))
        return "n too small: at least 5 trials a side";
    if (!a->has_all || !b->has_all)
        return basis_is_trials(rule->basis)
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
        f->why = "n too small";
        return;
    }
    f->verdict = by_direction(direction(f), rule->more_is_better);
    if (visible_share(f) > 0) /* else nothing scatters */
        f->visible = visible_share(f);
}

static bool is_none(const struct sample *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->units[i] != 0)
            return false;
    }
    return true;
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
                        .widened = 1,
                        .visible = -1};

    if (a->n == 0 || b->n == 0) {
        f.why = "not measured";
        return f;
    }
    f.is_measured = true;
    take_values(&f, a, b);
    f.why = too_few(rule, a, b);
    if (f.why)
        return f;
    f.a_is_none = is_none(a);
    f.b_is_none = is_none(b);
    f.difference = difference_contrast(CONTRAST_DIFFERENCE, rule, a, b);
    f.ratio = difference_contrast(CONTRAST_RATIO, rule, a, b);
    if (f.ratio.has_range || f.difference.has_range)
        f.widened =
            fmax(difference_widening(rule, a), difference_widening(rule, b));
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

/* Nothing on either side has no share of itself.  It is not worse if all that
 * there may be is no more than the threshold. */
static bool is_bounded_none(const struct finding *f, bool more_is_better,
                            double threshold)
{
    double most =
        more_is_better ? -f->difference.range.low : f->difference.range.high;

    return f->a_is_none && f->b_is_none && f->difference.has_range &&
           most <= threshold;
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
    if (f->verdict == FINDING_WORSE && (f->a_is_none || !isfinite(f->b)))
        return REGRESSION_YES;
    if (f->verdict == FINDING_BETTER)
        return REGRESSION_NO;
    return is_bounded_none(f, more_is_better, threshold) ? REGRESSION_NO
                                                         : REGRESSION_UNKNOWN;
}
