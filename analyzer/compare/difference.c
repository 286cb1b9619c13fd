#include "analyzer/compare/difference.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/stats/sectioning.h"
#include "common/base/xalloc.h"

/* A side by itself, on the scale of the contrast.  NAN: not known. */
struct place {
    double value;
    double below; /* from the value to the ends of its interval */
    double above;
};

/* ---- shares that do not scatter ---- */

/* None of them in every unit, or all. */
static bool is_still(const struct sample *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->units[i] != s->units[0])
            return false;
    }
    return s->units[0] == 0 || s->units[0] == 1;
}

/* The share of which none in n still has half of what the confidence leaves:
 * (1 - bound)^n.  About 3.7 / n at 95 %. */
static double bound_of_none(int64_t n, double confidence)
{
    return -expm1(log((1 - confidence) / 2) / (double)n);
}

static struct place place_of_still(enum contrast contrast, double confidence,
                                   const struct sample *s)
{
    double bound = bound_of_none(s->counted, confidence);
    struct place p = {.value = contrast_scale(contrast, s->units[0])};

    if (s->units[0] == 0)
        p.above = contrast_scale(contrast, bound) - p.value;
    else
        p.below = p.value - contrast_scale(contrast, 1 - bound);
    return p;
}

/* ---- those that do ---- */

double difference_widening(const struct finding_rule *rule,
                           const struct sample *s)
{
    if (rule->basis != BASIS_BLOCKS || rule->quantile <= 0 || s->beyond <= 0)
        return 1;
    return sqrt(fmax(1, (double)s->n / s->beyond));
}

static struct place place_of_blocks(enum contrast contrast,
                                    const struct finding_rule *rule,
                                    const struct sample *s)
{
    double q = rule->quantile > 0 ? rule->quantile : 0.5;
    int64_t least = rule->quantile > 0 ? s->least_in_one : INT64_MAX;
    struct place p = {contrast_scale(contrast, s->whole), NAN, NAN};
    double scaled[SECTION_COUNT];
    struct section_quantile sq;

    if (s->n > SECTION_COUNT)
        return p;
    for (size_t i = 0; i < s->n; i++)
        scaled[i] = contrast_scale(contrast, s->units[i]);
    sq = section_combine(scaled, s->n, p.value, q, least, rule->confidence);
    if (sq.verdict == SECTION_KNOWN)
        p.below = p.above =
            (sq.quantile.range.high - p.value) * difference_widening(rule, s);
    return p;
}

static struct place place_of_trials(enum contrast contrast, double confidence,
                                    const struct sample *s)
{
    double *scaled = xcalloc(s->n, sizeof(*scaled));
    struct uncertain u;

    for (size_t i = 0; i < s->n; i++)
        scaled[i] = contrast_scale(contrast, s->units[i]);
    u = trials_mean(scaled, s->n, confidence);
    free(scaled);
    return u.has_range ? (struct place){u.value, u.value - u.range.low,
                                        u.range.high - u.value}
                       : (struct place){u.value, NAN, NAN};
}

static struct place place_of(enum contrast contrast,
                             const struct finding_rule *rule,
                             const struct sample *s)
{
    if (rule->is_share && is_still(s))
        return place_of_still(contrast, rule->confidence, s);
    return rule->basis == BASIS_BLOCKS
               ? place_of_blocks(contrast, rule, s)
               : place_of_trials(contrast, rule->confidence, s);
}

/* ---- both ---- */

/* The two sides are independent: what each may be off adds by squares. */
static struct uncertain between(enum contrast contrast, struct place a,
                                struct place b)
{
    double apart = b.value - a.value;
    double below = hypot(b.below, a.above);
    double above = hypot(b.above, a.below);
    struct uncertain u = {.value = contrast_back(contrast, apart)};

    u.has_range = isfinite(apart) && isfinite(below) && isfinite(above);
    if (u.has_range) {
        u.range.low = contrast_back(contrast, apart - below);
        u.range.high = contrast_back(contrast, apart + above);
    }
    return u;
}

struct uncertain difference_contrast(enum contrast contrast,
                                     const struct finding_rule *rule,
                                     const struct sample *a,
                                     const struct sample *b)
{
    bool has_still = rule->is_share && (is_still(a) || is_still(b));

    if (rule->basis == BASIS_BLOCKS || has_still)
        return between(contrast, place_of(contrast, rule, a),
                       place_of(contrast, rule, b));
    if (rule->basis == BASIS_PAIRS)
        return trials_paired(contrast, a->units, b->units, a->n,
                             rule->confidence);
    return trials_contrast(contrast, a->units, a->n, b->units, b->n,
                           rule->confidence);
}
