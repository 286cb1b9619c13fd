/* The policy of trials: the same run several times, each with its own seed,
 * until there are enough or the result is as precise as study.until asks. */
#include <stdio.h>

#include "analyzer/report/study_doc.h"
#include "analyzer/studies/trials.h"
#include "common/base/err.h"
#include "study/study.h"

static int plan(struct study_arm *arm, struct err *err)
{
    struct study_set *set = &arm->set;

    if (study_resolve(arm, NULL, err))
        return -1;
    set->asked = arm->settings.study.trials;
    for (int64_t n = 1; n <= set->asked; n++)
        study_set_add(set, POINT_TRIAL, 0)->seed =
            study_seed(arm->settings.load.seed, n);
    study_hash(&arm->settings, set->settings_hash);
    return 0;
}

/* 1: the trials so far are as precise as study.until asks, and the set consists
 * of them; 0; -1. */
static int is_precise(struct study_arm *arm, struct err *err)
{
    struct study_set *set = &arm->set;
    int64_t valid =
        (int64_t)(study_set_recorded(set) - study_set_discarded(set));
    struct trials_summary s;
    bool is_reached;
    int rc;

    if (!arm->settings.study.until || valid < SET_PRECISION_TRIALS)
        return 0;
    rc = trials_read(&s, arm->dir, NULL, NULL, err);
    is_reached = rc == 0 && s.precision.is_reached;
    trials_summary_fini(&s);
    if (rc || !is_reached)
        return rc;
    while (set->len > 0 && !set->points[set->len - 1].is_recorded)
        set->len--;
    set->asked = valid;
    return study_set_save(set, arm->dir, err) ? -1 : 1;
}

static int next(struct study_arm *arm, struct study_shot *shot, struct err *err)
{
    static const char again[] = " (replaces a discarded one)";
    bool is_side = arm->study->form == STUDY_TURNS;
    long long asked = (long long)arm->set.asked;
    int rc;

    if (!study_first_open(&arm->set, &shot->i))
        return 0;
    rc = is_precise(arm, err);
    if (rc)
        return rc < 0 ? -1 : 0;
    if (arm->study->form == STUDY_OF_VARIANTS)
        snprintf(shot->title, sizeof(shot->title), "trial %zu of %lld%s",
                 shot->i + 1, asked, (long long)shot->i < asked ? "" : again);
    else
        snprintf(shot->title, sizeof(shot->title),
                 "trial      %s%zu of %lld%s, seed %llu",
                 !is_side                      ? ""
                 : arm == &arm->study->arms[0] ? "A "
                                               : "B ",
                 shot->i + 1, asked, (long long)shot->i < asked ? "" : again,
                 (unsigned long long)arm->set.points[shot->i].seed);
    return 1;
}

static int sum_up(const char *dir, struct buf *out, struct err *err)
{
    struct trials_summary s;
    int rc = trials_read(&s, dir, NULL, NULL, err);

    if (rc == 0)
        doc_put(trials_doc(&s), DOC_AS_JSON, out);
    trials_summary_fini(&s);
    return rc;
}

const struct study_policy study_trials = {
    .name = "trials",
    .one = "a run",
    .kind = STUDY_TRIALS,
    .plan = plan,
    .next = next,
    .sum_up = sum_up,
};
