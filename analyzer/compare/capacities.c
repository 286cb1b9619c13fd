#include "analyzer/compare/capacities.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/studies/study_recordings.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/study_set.h"
#include "common/recording/studydir.h"

bool capacities_are_at(const struct strlist *dirs)
{
    for (size_t i = 0; i < dirs->len; i++) {
        enum study_kind kind;

        if (!study_is_at(dirs->items[i]) ||
            study_kind_at(dirs->items[i], &kind, &(struct err){0}) ||
            kind != STUDY_SEARCH)
            return false;
    }
    return dirs->len > 0;
}

/* ---- conditions ---- */

/* Does the search choose this setting itself, probe by probe? */
static bool is_set_by_search(const char *key)
{
    static const char *const keys[] = {
        "load.rate",     "load.clients",      "load.duration", "load.warmup",
        "load.requests", "load.min_requests", "load.stop"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(key, keys[i]) == 0)
            return true;
    }
    return strncmp(key, "study.", strlen("study.")) == 0;
}

/* The look is a closed loop with another load; without a probe it is all that
 * there is. */
static const struct study_point *first_probe(const struct study_set *set)
{
    const struct study_point *first = NULL;

    for (size_t i = 0; i < set->len; i++) {
        const struct study_point *p = &set->points[i];

        if (p->is_recorded && (!first || first->role == POINT_LOOK))
            first = p;
    }
    return first;
}

/* Conditions and price of the first probe. */
static int load_conditions(struct capacity_side *side,
                           const struct cost_ask *cost, struct err *err)
{
    struct strmap all = {0};
    struct study_run first;
    struct study_set set;
    char *dir = NULL;
    int rc = study_set_load_recorded(&set, side->dir, STUDY_SEARCH, err);

    if (rc == 0) {
        dir = study_point_path(side->dir, first_probe(&set));
        rc = study_run_open(&first, dir, NULL, cost, err);
    }
    if (rc == 0) {
        run_conditions_make(&all, &first.rec, first.summary);
        side->usd_per_hour = first.summary->cost.usd_per_hour;
        study_run_close(&first);
    }
    for (size_t i = 0; i < all.keys.len; i++) {
        if (!is_set_by_search(all.keys.items[i]))
            strmap_put(&side->conditions, all.keys.items[i],
                       all.values.items[i]);
    }
    strmap_fini(&all);
    free(dir);
    study_set_fini(&set);
    return rc;
}

static int find_differences(struct capacities *c, const char *vary,
                            bool ignores_slo, struct err *err)
{
    const struct strmap *conditions[COMPARE_MAX_SIDES] = {NULL};

    for (size_t i = 0; i < c->n; i++)
        conditions[i] = &c->sides[i].conditions;
    c->vary = vary ? matched_key(conditions, c->n, vary) : NULL;
    if (vary && !c->vary)
        return matched_refuse(conditions, c->n, vary, err);
    for (size_t i = 1; i < c->n; i++) {
        const struct match match = {.vary = c->vary,
                                    .ignores_slo = ignores_slo,
                                    .is_must = true,
                                    .side = i};

        matched_find(&c->differences, conditions[0], conditions[i], &match);
    }
    return 0;
}

/* ---- numbers ---- */

static bool is_known(const struct capacity *c)
{
    return c->is_present && !c->is_bracket && c->value > 0 &&
           c->range.low > 0 && isfinite(c->range.high);
}

/* Half the width on a logarithmic scale. */
static double half_width(const struct capacity *c)
{
    return log(c->range.high / c->range.low) / 2;
}

void capacities_contrast(const struct capacity *a, struct capacity_side *b)
{
    double half;

    b->verdict = FINDING_CANNOT_TELL;
    b->has_ratio = is_known(a) && is_known(&b->capacity);
    if (!b->has_ratio) {
        if (capacity_is_above(a, &b->capacity, SEARCH_CONFIDENCE, 0))
            b->verdict = FINDING_WORSE;
        else if (capacity_is_above(&b->capacity, a, SEARCH_CONFIDENCE, 0))
            b->verdict = FINDING_BETTER;
        return;
    }
    half = hypot(half_width(a), half_width(&b->capacity));
    b->ratio = b->capacity.value / a->value;
    b->range = (struct interval){b->ratio * exp(-half), b->ratio * exp(half)};
    b->verdict = b->range.low > 1    ? FINDING_BETTER
                 : b->range.high < 1 ? FINDING_WORSE
                                     : FINDING_NO_DIFFERENCE;
}

static enum compare_answer answer_regression(const struct capacity_side *b,
                                             double threshold)
{
    if (!b->has_ratio)
        return b->verdict == FINDING_BETTER ? COMPARE_BETTER
                                            : COMPARE_CANNOT_TELL;
    if (b->range.high < 1 - threshold)
        return COMPARE_WORSE;
    return b->range.low >= 1 - threshold ? COMPARE_NO_DIFFERENCE
                                         : COMPARE_CANNOT_TELL;
}

static enum compare_answer answer_of(const struct capacities *c)
{
    static const enum compare_answer of[] = {
        [FINDING_NO_DIFFERENCE] = COMPARE_NO_DIFFERENCE,
        [FINDING_BETTER] = COMPARE_BETTER,
        [FINDING_WORSE] = COMPARE_WORSE,
        [FINDING_CANNOT_TELL] = COMPARE_CANNOT_TELL,
    };

    if (c->differences.must > 0)
        return COMPARE_REFUSED;
    if (c->n > 2)
        return COMPARE_RANKED;
    if (c->regression >= 0)
        return answer_regression(&c->sides[1], c->regression);
    return of[c->sides[1].verdict];
}

int capacities_make(struct capacities *c, const struct compare_ask *ask,
                    struct err *err)
{
    int rc = 0;

    *c =
        (struct capacities){.n = ask->dirs->len, .regression = ask->regression};
    c->sides = xcalloc(c->n, sizeof(*c->sides));
    for (size_t i = 0; rc == 0 && i < c->n; i++) {
        struct capacity_side *side = &c->sides[i];

        side->dir = ask->dirs->items[i];
        rc = load_conditions(side, ask->cost, err);
        if (rc == 0)
            rc = capacity_read(&side->capacity, side->dir, ask->slo,
                               side->usd_per_hour, err);
        if (rc == 0 && i > 0)
            capacities_contrast(&c->sides[0].capacity, side);
    }
    if (rc || find_differences(c, ask->vary, ask->slo != NULL, err))
        return -1;
    c->answer = answer_of(c);
    return 0;
}

void capacities_fini(struct capacities *c)
{
    for (size_t i = 0; c->sides && i < c->n; i++)
        strmap_fini(&c->sides[i].conditions);
    free(c->sides);
    free(c->vary);
    differences_fini(&c->differences);
}
