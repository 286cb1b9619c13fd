#include "analyzer/compare/compare.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"

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

/* The first run of each side against the first run of the first side; the other
 * trials must be like the first of their own side. */
static void match_all(struct comparison *c, bool ignores_slo)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct side *s = &c->sides[i];
        struct match match = {
            .vary = c->vary, .ignores_slo = ignores_slo, .side = i};

        if (i > 0)
            matched_find(&c->differences, &c->sides[0].runs[0].conditions,
                         &s->runs[0].conditions, &match);
        match.vary = NULL;
        match.is_must = true;
        for (size_t k = 1; k < s->n; k++)
            matched_find(&c->differences, &s->runs[0].conditions,
                         &s->runs[k].conditions, &match);
    }
    for (size_t i = 0; i < c->differences.len; i++)
        c->vary_differs = c->vary_differs || c->differences.list[i].is_declared;
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

/* The requested quantities share the level (Bonferroni), so a verdict on
 * several is wrong no more often than a verdict on one.  The other quantities
 * are shown with the full level. */
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

/* One worse quantity makes the answer worse, just as one missed term fails a
 * run. */
static enum compare_answer conclude_pair(const struct comparison *c)
{
    bool has_verdict[FINDING_CANNOT_TELL + 1] = {false};
    bool has_regression[REGRESSION_UNKNOWN + 1] = {false};
    bool is_worse, is_unknown;

    for (size_t i = 0; i < c->qs.asked; i++) {
        has_verdict[c->findings[i].verdict] = true;
        has_regression[c->regressions[i]] = true;
    }
    is_worse = c->regression >= 0 ? has_regression[REGRESSION_YES]
                                  : has_verdict[FINDING_WORSE];
    is_unknown = c->regression >= 0 ? has_regression[REGRESSION_UNKNOWN]
                                    : has_verdict[FINDING_CANNOT_TELL];
    if (is_worse)
        return COMPARE_WORSE;
    if (is_unknown)
        return COMPARE_CANNOT_TELL;
    if (has_verdict[FINDING_WORSE])
        return COMPARE_TOLERATED;
    return has_verdict[FINDING_BETTER] ? COMPARE_BETTER : COMPARE_NO_DIFFERENCE;
}

/* ---- more than two sides ---- */

static bool goes_before(const struct placed *a, const struct placed *b,
                        bool more_is_better)
{
    if (a->has_value != b->has_value)
        return a->has_value;
    return more_is_better ? a->value > b->value : a->value < b->value;
}

/* Insertion sort: there are few sides. */
void rank_sort(struct placed *list, size_t n, bool more_is_better)
{
    for (size_t i = 1; i < n; i++) {
        struct placed x = list[i];
        size_t k = i;

        for (; k > 0 && goes_before(&x, &list[k - 1], more_is_better); k--)
            list[k] = list[k - 1];
        list[k] = x;
    }
}

void rank_group(struct placed *list, size_t n,
                const enum finding_verdict *verdicts)
{
    size_t first = 0;

    for (size_t i = 0; i < n; i++) {
        const enum finding_verdict *of_first = &verdicts[list[first].side * n];

        if (!list[i].has_value) {
            list[i].rank = 0;
            continue;
        }
        if (i > 0 && of_first[list[i].side] == FINDING_WORSE)
            first = i;
        list[i].rank = first + 1;
    }
}

/* All pairs of all requested quantities share the level. */
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

static void note_side(struct fairness_facts *f, const struct side *side,
                      bool is_open)
{
    size_t trials = side->is_set ? side->n : 1;

    f->is_one_launch = f->is_one_launch || side->is_one_launch;
    f->min_trials = trials < f->min_trials ? trials : f->min_trials;
    f->max_trials = trials > f->max_trials ? trials : f->max_trials;
    f->is_warmup_too_short =
        f->is_warmup_too_short || 2 * side_cold(side) > side->n;
    for (size_t i = 0; i < side->n; i++) {
        const struct compared_run *run = &side->runs[i];

        f->has_slo = f->has_slo && run->has_slo;
        f->breaks_slo = f->breaks_slo || run->breaks_slo;
        f->has_warmup = f->has_warmup && run->has_warmup;
        f->is_mixed_loop = f->is_mixed_loop || run->is_open_loop != is_open;
        f->is_overloaded = f->is_overloaded || run->is_overloaded;
        f->is_untrusted = f->is_untrusted || run->why[0];
    }
}

/* Every side against the first. */
static enum fairness_quality quality_of(const struct comparison *c)
{
    enum fairness_quality seen = QUALITY_ALIKE;
    size_t at = 0;

    while (at < c->qs.len && c->qs.list[at].kind != QUANTITY_QUALITY)
        at++;
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

static bool some_side_has(const struct comparison *c, const char *key)
{
    for (size_t i = 0; i < c->n; i++) {
        const char *value = strmap_get(&c->sides[i].runs[0].conditions, key);

        if (value && value[0])
            return true;
    }
    return false;
}

static void make_fairness(struct comparison *c)
{
    const struct side *first = &c->sides[0];
    struct fairness_facts f = {
        .mismatches = c->differences.must,
        .is_declared = c->vary != NULL,
        .min_trials = (size_t)-1,
        .baseline_trials = first->is_set ? first->n : 1,
        .baseline_is_trusted = !side_obstacle(first),
        .baseline_breaks_slo = side_missed(first) > 0,
        .has_slo = true,
        .has_warmup = true,
        .quality = quality_of(c),
    };

    f.lacks_hardware = !some_side_has(c, "conditions.hardware");
    f.lacks_precision = !some_side_has(c, "conditions.precision");
    f.lacks_model = !some_side_has(c, "target.model") &&
                    !some_side_has(c, "conditions.model");
    for (size_t i = 0; i < c->n; i++)
        note_side(&f, &c->sides[i], first->runs[0].is_open_loop);
    for (size_t i = 0; i < c->qs.asked; i++)
        f.has_tail = f.has_tail || shows_tail(&c->qs.list[i], f.has_slo);
    for (size_t i = 0; i < c->differences.len; i++)
        f.warnings += c->differences.list[i].kind == DIFFERENCE_WARNS;
    fairness_make(&c->fairness, &f);
}

/* ---- all of it ---- */

static int load(struct comparison *c, const struct compare_ask *ask,
                struct err *err)
{
    const struct side_ask each = {
        .qs = &c->qs, .slo = ask->slo, .cost = ask->cost};
    const struct strmap *conditions[COMPARE_MAX_SIDES];
    bool is_open_loop;

    if (side_slo(ask->dirs->items[0], ask->slo, &c->slo, &is_open_loop, err) ||
        quantities_make(&c->qs, ask->on, &c->slo, is_open_loop, err))
        return -1;
    c->sides = xcalloc(ask->dirs->len, sizeof(*c->sides));
    for (; c->n < ask->dirs->len; c->n++) {
        if (side_load(&c->sides[c->n], ask->dirs->items[c->n], &each, err))
            return -1;
        conditions[c->n] = &c->sides[c->n].runs[0].conditions;
    }
    c->vary = ask->vary ? matched_key(conditions, c->n, ask->vary) : NULL;
    if (ask->vary && !c->vary)
        return matched_refuse(conditions, c->n, ask->vary, err);
    return 0;
}

int compare_make(struct comparison *c, const struct compare_ask *ask,
                 struct err *err)
{
    bool is_trusted = true;

    *c = (struct comparison){.regression = ask->regression,
                             .basis = BASIS_PAIRS};
    if (load(c, ask, err)) {
        compare_fini(c);
        return -1;
    }
    for (size_t i = 0; i < c->n; i++) {
        is_trusted = is_trusted && !side_obstacle(&c->sides[i]);
        for (size_t k = i + 1; k < c->n; k++) {
            enum basis basis = basis_of(&c->sides[i], &c->sides[k]);

            c->basis = basis > c->basis ? basis : c->basis;
        }
    }
    match_all(c, ask->slo != NULL);
    make_fairness(c);
    c->is_compared = c->differences.must == 0 && is_trusted;
    if (!c->is_compared) {
        c->answer =
            c->differences.must > 0 ? COMPARE_REFUSED : COMPARE_CANNOT_TELL;
    } else if (c->n > 2) {
        c->answer = rank_all(c);
    } else {
        find_all(c);
        c->answer = conclude_pair(c);
    }
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
        return CONCLUSION_INVALID;
    case COMPARE_CANNOT_TELL:
        return CONCLUSION_UNDECIDED;
    default:
        return CONCLUSION_YES;
    }
}

/* ---- the claim ---- */

static void put_variable(const struct comparison *c, struct buf *out)
{
    const char *a;
    const char *b;

    if (!c->vary) {
        buf_adds(out, "B against A");
        return;
    }
    a = strmap_get(&c->sides[0].runs[0].conditions, c->vary);
    b = strmap_get(&c->sides[1].runs[0].conditions, c->vary);
    settings_describe_path(c->vary, out);
    buf_adds(out, " ");
    settings_describe_path(b ? b : "(none)", out);
    buf_adds(out, " against ");
    settings_describe_path(a ? a : "(none)", out);
}

static void put_conditions(const struct comparison *c, struct buf *out)
{
    const struct strmap *conditions = &c->sides[0].runs[0].conditions;
    const char *model = strmap_get(conditions, "target.model");

    if (model && model[0]) {
        buf_adds(out, ", model ");
        settings_describe_path(model, out);
    }
    for (size_t i = 0; i < conditions->keys.len; i++) {
        const char *key = conditions->keys.items[i];

        if (strncmp(key, "conditions.", strlen("conditions.")) != 0 ||
            (c->vary && strcmp(key, c->vary) == 0))
            continue;
        buf_adds(out, ", ");
        settings_describe_path(key + strlen("conditions."), out);
        buf_adds(out, " ");
        settings_describe_path(conditions->values.items[i], out);
    }
    for (size_t i = 0; i < c->slo.len; i++)
        buf_addf(out, "%s %s", i ? "," : ", SLO", c->slo.terms[i].text);
}

static bool is_shown(const struct finding *f)
{
    return f->verdict == FINDING_BETTER || f->verdict == FINDING_WORSE;
}

void claim_make(const struct comparison *c, struct buf *out)
{
    size_t shown = 0;

    for (size_t i = 0; c->n == 2 && c->is_compared && i < c->qs.asked; i++) {
        const struct quantity *q = &c->qs.list[i];
        const struct finding *f = &c->findings[i];
        char a[SHOW_TEXT];
        char b[SHOW_TEXT];

        if (!is_shown(f))
            continue;
        if (shown == 0)
            put_variable(c, out);
        buf_addf(out, "%s%s %s against %s", shown++ ? ", " : ": ",
                 quantity_label(q), show_value(q, f->b, b),
                 show_value(q, f->a, a));
        if (f->ratio.has_range)
            buf_addf(out, " (%.4g times, [%.4g, %.4g] at %.4g%%)",
                     f->ratio.value, f->ratio.range.low, f->ratio.range.high,
                     f->confidence * 100);
    }
    if (shown == 0)
        return;
    buf_addf(out, "; %s", c->sides[0].runs[0].load);
    put_conditions(c, out);
    if (c->basis == BASIS_PAIRS)
        buf_addf(out, "; %zu pairs of trials in turn", c->sides[0].n);
    else if (c->basis == BASIS_TRIALS)
        buf_addf(out, "; %zu and %zu trials", c->sides[0].n, c->sides[1].n);
    else
        buf_adds(out, "; one server start per side");
}
