#include "analyzer/compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"

const char *compare_answer_name(enum compare_answer answer)
{
    static const char *const names[] = {
        [COMPARE_REFUSED] = "refused",
        [COMPARE_NO_DIFFERENCE] = "no difference shown",
        [COMPARE_BETTER] = "better",
        [COMPARE_WORSE] = "worse",
        [COMPARE_TOLERATED] = "worse within the threshold",
        [COMPARE_CANNOT_TELL] = "cannot tell",
        [COMPARE_RANKED] = "ranked",
    };

    return names[answer];
}

/* ---- may they be compared? ---- */

static int resolve_vary(struct comparison *c, const char *vary, struct err *err)
{
    const struct strmap *cards[COMPARE_MAX_SIDES];

    if (!vary)
        return 0;
    for (size_t i = 0; i < c->n; i++)
        cards[i] = &c->sides[i].runs[0].card;
    c->vary = matched_key(cards, c->n, vary);
    if (!c->vary)
        return err_set(err, ERR_USAGE,
                       "--vary: no recording has a condition or a setting "
                       "'%.80s' (batching, load.rate)",
                       vary);
    return 0;
}

/* The first of a side against the first of all; the other trials must be like
 * the first of their own side. */
static void match_side(struct comparison *c, size_t side, bool ignores_slo)
{
    const struct side *s = &c->sides[side];
    struct match match = {
        .vary = c->vary, .ignores_slo = ignores_slo, .side = side};

    if (side > 0)
        matched_find(&c->differences, &c->sides[0].runs[0].card,
                     &s->runs[0].card, &match);
    match.vary = NULL;
    match.is_must = true;
    for (size_t i = 1; i < s->n; i++)
        matched_find(&c->differences, &s->runs[0].card, &s->runs[i].card,
                     &match);
}

static void match_all(struct comparison *c, bool ignores_slo)
{
    for (size_t i = 0; i < c->n; i++)
        match_side(c, i, ignores_slo);
    for (size_t i = 0; i < c->differences.len; i++)
        c->vary_differs = c->vary_differs || c->differences.list[i].is_declared;
}

static bool has_obstacle(const struct comparison *c)
{
    for (size_t i = 0; i < c->n; i++) {
        if (side_obstacle(&c->sides[i]))
            return true;
    }
    return false;
}

/* ---- do they differ? ---- */

static struct finding find(const struct comparison *c, size_t i, size_t j,
                           size_t quantity, double level)
{
    const struct quantity *q = &c->qs.list[quantity];
    const struct finding_rule rule = {
        .basis = basis_of(&c->sides[i], &c->sides[j]),
        .more_is_better = quantity_more_is_better(q),
        .is_share = quantity_is_share(q),
        .quantile = q->kind == QUANTITY_QUANTILE ? q->q : 0,
        .confidence = 1 - level,
    };
    struct sample a = side_sample(&c->sides[i], quantity);
    struct sample b = side_sample(&c->sides[j], quantity);

    return finding_make(&rule, &a, &b);
}

/* What was asked for shares the level (Bonferroni): a verdict on several
 * quantities is wrong no more often than one on one.  The others are shown for
 * themselves. */
static void find_all(struct comparison *c)
{
    for (size_t i = 0; i < c->qs.len; i++) {
        bool is_asked = i < c->qs.asked;
        double level = COMPARE_LEVEL / (is_asked ? (double)c->qs.asked : 1);

        c->findings[i] = find(c, 0, 1, i, level);
        c->regressions[i] =
            c->regression < 0 || !is_asked
                ? REGRESSION_UNKNOWN
                : finding_regression(&c->findings[i],
                                     quantity_more_is_better(&c->qs.list[i]),
                                     c->regression);
    }
}

static bool some_verdict(const struct comparison *c, enum finding_verdict v)
{
    for (size_t i = 0; i < c->qs.asked; i++) {
        if (c->findings[i].verdict == v)
            return true;
    }
    return false;
}

static bool some_regression(const struct comparison *c, enum regression r)
{
    for (size_t i = 0; i < c->qs.asked; i++) {
        if (c->regressions[i] == r)
            return true;
    }
    return false;
}

static enum compare_answer better_or_alike(const struct comparison *c)
{
    return some_verdict(c, FINDING_BETTER) ? COMPARE_BETTER
                                           : COMPARE_NO_DIFFERENCE;
}

static enum compare_answer conclude_regression(const struct comparison *c)
{
    if (some_regression(c, REGRESSION_YES))
        return COMPARE_WORSE;
    if (some_regression(c, REGRESSION_UNKNOWN))
        return COMPARE_CANNOT_TELL;
    return some_verdict(c, FINDING_WORSE) ? COMPARE_TOLERATED
                                          : better_or_alike(c);
}

/* One that is worse makes it worse, as one missed term fails a run. */
static enum compare_answer conclude_pair(const struct comparison *c)
{
    if (c->regression >= 0)
        return conclude_regression(c);
    if (some_verdict(c, FINDING_WORSE))
        return COMPARE_WORSE;
    if (some_verdict(c, FINDING_CANNOT_TELL))
        return COMPARE_CANNOT_TELL;
    return better_or_alike(c);
}

/* ---- more than two ---- */

/* All pairs of all quantities that were asked for share the level. */
static void make_ranking(const struct comparison *c, struct ranking *r)
{
    size_t pairs = c->n * (c->n - 1) / 2;
    double level = COMPARE_LEVEL / (double)(pairs * c->qs.asked);
    const struct quantity *q = &c->qs.list[r->quantity];

    r->list = xcalloc(c->n, sizeof(*r->list));
    r->verdicts = xcalloc(c->n * c->n, sizeof(*r->verdicts));
    for (size_t i = 0; i < c->n; i++) {
        r->list[i].side = i;
        r->list[i].has_value =
            side_value(&c->sides[i], r->quantity, &r->list[i].value);
        for (size_t j = 0; j < c->n; j++) {
            if (i != j)
                r->verdicts[i * c->n + j] =
                    find(c, i, j, r->quantity, level).verdict;
            if (i < j)
                r->unknown += r->verdicts[i * c->n + j] == FINDING_CANNOT_TELL;
        }
    }
    rank_sort(r->list, c->n, quantity_more_is_better(q));
    rank_group(r->list, c->n, r->verdicts);
}

static enum compare_answer rank_all(struct comparison *c)
{
    size_t pairs = c->n * (c->n - 1) / 2;
    size_t unknown = 0;

    c->rankings = xcalloc(c->qs.asked, sizeof(*c->rankings));
    for (size_t i = 0; i < c->qs.asked; i++) {
        c->rankings[i].quantity = i;
        make_ranking(c, &c->rankings[i]);
        unknown += c->rankings[i].unknown;
    }
    return unknown == pairs * c->qs.asked ? COMPARE_CANNOT_TELL
                                          : COMPARE_RANKED;
}

/* ---- is it fair? ---- */

static bool shows_tail(const struct quantity *q, bool has_slo)
{
    switch (q->kind) {
    case QUANTITY_QUANTILE:
        return q->q >= 0.95;
    case QUANTITY_ATTAINMENT:
    case QUANTITY_GOODPUT:
    case QUANTITY_COST:
        return has_slo;
    default:
        return false;
    }
}

static void note_run(struct fairness_facts *f, const struct run_card *run,
                     bool is_open)
{
    f->has_slo = f->has_slo && run->has_slo;
    f->breaks_slo = f->breaks_slo || run->breaks_slo;
    f->has_warmup = f->has_warmup && run->has_warmup;
    f->is_mixed_loop = f->is_mixed_loop || run->is_open_loop != is_open;
    f->is_overloaded = f->is_overloaded || run->is_overloaded;
    f->is_untrusted = f->is_untrusted || run->why[0];
}

static void note_side(struct fairness_facts *f, const struct side *side,
                      bool is_open)
{
    size_t trials = side->is_set ? side->n : 1;

    f->is_one_launch = f->is_one_launch || side->is_one_launch;
    if (trials < f->least_trials)
        f->least_trials = trials;
    if (trials > f->most_trials)
        f->most_trials = trials;
    f->is_warmup_too_short =
        f->is_warmup_too_short || 2 * side_cold(side) > side->n;
    for (size_t i = 0; i < side->n; i++)
        note_run(f, &side->runs[i], is_open);
}

static size_t quality_place(const struct quantities *qs)
{
    size_t i = 0;

    while (i < qs->len && qs->list[i].kind != QUANTITY_QUALITY)
        i++;
    return i;
}

/* Every side against the first. */
static enum fairness_quality quality_of(const struct comparison *c)
{
    size_t at = quality_place(&c->qs);
    enum fairness_quality seen = QUALITY_ALIKE;

    for (size_t i = 0; i < c->n; i++) {
        if (at == c->qs.len || c->sides[i].runs[0].checked == 0)
            return QUALITY_NOT_CHECKED;
    }
    for (size_t i = 1; i < c->n; i++) {
        enum finding_verdict v = find(c, 0, i, at, COMPARE_LEVEL).verdict;

        if (v == FINDING_WORSE || v == FINDING_BETTER)
            return QUALITY_DIFFERS;
        if (v == FINDING_CANNOT_TELL)
            seen = QUALITY_CANNOT_TELL;
    }
    return seen;
}

static void make_fairness(struct comparison *c)
{
    const struct side *first = &c->sides[0];
    bool is_open = first->runs[0].is_open_loop;
    struct fairness_facts f = {
        .mismatches = c->differences.must,
        .is_declared = c->vary != NULL,
        .least_trials = (size_t)-1,
        .baseline_trials = first->is_set ? first->n : 1,
        .baseline_is_trusted = !side_obstacle(first),
        .baseline_breaks_slo = side_missed(first) > 0,
        .has_slo = true,
        .has_warmup = true,
        .quality = quality_of(c),
    };

    for (size_t i = 0; i < c->n; i++)
        note_side(&f, &c->sides[i], is_open);
    for (size_t i = 0; i < c->qs.asked; i++)
        f.has_tail = f.has_tail || shows_tail(&c->qs.list[i], f.has_slo);
    for (size_t i = 0; i < c->differences.len; i++)
        f.warnings += c->differences.list[i].kind == DIFFERENCE_WARNS;
    fairness_make(&c->fairness, &f);
}

/* ---- all of it ---- */

static int load_sides(struct comparison *c, const struct compare_ask *ask,
                      struct err *err)
{
    const struct side_ask each = {
        .qs = &c->qs, .slo = ask->slo, .cost = ask->cost};

    c->sides = xcalloc(ask->dirs->len, sizeof(*c->sides));
    for (; c->n < ask->dirs->len; c->n++) {
        if (side_load(&c->sides[c->n], ask->dirs->items[c->n], &each, err))
            return -1;
    }
    return 0;
}

static int load_all(struct comparison *c, const struct compare_ask *ask,
                    struct err *err)
{
    if (side_slo(ask->dirs->items[0], ask->slo, &c->slo, err) ||
        quantities_make(&c->qs, ask->on, &c->slo, err) ||
        load_sides(c, ask, err))
        return -1;
    return resolve_vary(c, ask->vary, err);
}

static enum basis weakest(const struct comparison *c)
{
    enum basis basis = BASIS_PAIRS;

    for (size_t i = 0; i < c->n; i++) {
        for (size_t k = i + 1; k < c->n; k++) {
            enum basis of = basis_of(&c->sides[i], &c->sides[k]);

            basis = of > basis ? of : basis;
        }
    }
    return basis;
}

static enum compare_answer answer_of(struct comparison *c)
{
    if (!c->is_compared)
        return c->differences.must > 0 ? COMPARE_REFUSED : COMPARE_CANNOT_TELL;
    if (c->n > 2)
        return rank_all(c);
    find_all(c);
    return conclude_pair(c);
}

int compare_make(struct comparison *c, const struct compare_ask *ask,
                 struct err *err)
{
    *c = (struct comparison){.regression = ask->regression};
    if (load_all(c, ask, err)) {
        compare_fini(c);
        return -1;
    }
    c->basis = weakest(c);
    match_all(c, ask->slo != NULL);
    make_fairness(c);
    c->is_compared = c->differences.must == 0 && !has_obstacle(c);
    c->answer = answer_of(c);
    return 0;
}

void compare_fini(struct comparison *c)
{
    for (size_t i = 0; c->rankings && i < c->qs.asked; i++) {
        free(c->rankings[i].list);
        free(c->rankings[i].verdicts);
    }
    free(c->rankings);
    for (size_t i = 0; i < c->n; i++)
        side_fini(&c->sides[i]);
    free(c->sides);
    free(c->vary);
    differences_fini(&c->differences);
    *c = (struct comparison){0};
}

enum conclusion compare_conclusion(enum compare_answer answer)
{
    switch (answer) {
    case COMPARE_WORSE:
        return CONCLUSION_NO;
    case COMPARE_REFUSED:
    case COMPARE_CANNOT_TELL:
        return CONCLUSION_OPEN;
    default:
        return CONCLUSION_YES;
    }
}
