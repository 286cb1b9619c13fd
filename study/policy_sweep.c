/* The policy of a sweep: one run at each of several values, in a fixed order.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/study_doc.h"
#include "analyzer/studies/sweep.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/text/units.h"
#include "study/study.h"

/* Fisher and Yates.  Points are numbered in the order in which they are made.
 */
static void shuffle(struct study_set *set, uint64_t seed)
{
    struct rng rng = rng_stream(seed, RNG_SWEEP);

    for (size_t i = set->len; i > 1; i--) {
        size_t k = (size_t)floor(rng_uniform(&rng) * (double)i);
        struct study_point kept = set->points[i - 1];

        set->points[i - 1] = set->points[k];
        set->points[k] = kept;
    }
    for (size_t i = 0; i < set->len; i++)
        set->points[i].number = (int64_t)i + 1;
}

int sweep_plan(struct study_set *set, const struct sweep_settings *sweep,
               uint64_t seed, struct err *err)
{
    const char *equals = sweep->vary ? strchr(sweep->vary, '=') : NULL;
    const char *text = equals         ? equals + 1
                       : sweep->rates ? sweep->rates
                                      : sweep->concurrencies;
    struct numlist values;

    if (!text)
        return err_set(err, ERR_USAGE,
                       "nothing to vary: use --rates 10,20,40..200, "
                       "--concurrencies 1,2,4 or --vary KEY=VALUES");
    if (equals)
        snprintf(set->key, sizeof(set->key), "%.*s",
                 (int)(equals - sweep->vary), sweep->vary);
    else
        snprintf(set->key, sizeof(set->key), "%s",
                 sweep->rates ? "load.rate" : "load.clients");
    if (numlist_parse(&values, text, err)) {
        numlist_fini(&values);
        return -1;
    }
    memcpy(set->unit, values.unit, sizeof(set->unit));
    for (int64_t r = 1; r <= sweep->repeats; r++) {
        for (size_t i = 0; i < values.len; i++)
            study_set_add(set, POINT_OF_SWEEP, values.items[i])->repeat = r;
    }
    numlist_fini(&values);
    if (sweep->order == ORDER_RANDOM)
        shuffle(set, seed);
    return 0;
}

static void list_overrides(const struct study_set *set, size_t i,
                           struct strlist *out)
{
    char *text = study_assignment(set, set->points[i].value);

    strlist_add(out, text);
    free(text);
}

/* An impossible value is refused before the first run, not in the middle. */
static int plan(struct study_arm *arm, struct err *err)
{
    const struct settings *asked = arm->source.asked;
    int rc = sweep_plan(&arm->set, &asked->sweep, asked->load.seed, err);

    for (size_t i = 0; rc == 0 && i < arm->set.len; i++) {
        struct strlist over = {0};
        struct settings s;

        list_overrides(&arm->set, i, &over);
        if (i == 0) {
            rc = study_resolve(arm, &over, err);
            if (rc == 0)
                rc = study_check_varied(arm, err);
        } else {
            rc = study_settings(&arm->source, &over, &s, err);
            settings_fini(&s);
        }
        strlist_fini(&over);
    }
    if (rc == 0)
        study_hash(&arm->settings, arm->set.settings_hash);
    return rc;
}

static int next(struct study_arm *arm, struct study_shot *shot, struct err *err)
{
    const struct study_set *set = &arm->set;

    (void)err;
    if (!study_first_open(set, &shot->i))
        return 0;
    list_overrides(set, shot->i, &shot->overrides);
    snprintf(shot->title, sizeof(shot->title), "point %zu of %zu: %s, run %lld",
             shot->i + 1, set->len, shot->overrides.items[0],
             (long long)set->points[shot->i].repeat);
    return 1;
}

static int sum_up(const char *dir, struct buf *out, struct err *err)
{
    struct sweep_summary s;
    int rc = sweep_read(&s, dir, NULL, NULL, err);

    if (rc == 0)
        doc_put(sweep_doc(&s), DOC_AS_JSON, out);
    sweep_summary_fini(&s);
    return rc;
}

const struct study_policy study_sweep = {
    .name = "sweep",
    .one = "a run",
    .kind = STUDY_SWEEP,
    .plan = plan,
    .next = next,
    .sum_up = sum_up,
};
