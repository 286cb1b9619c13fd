#include "cli/run_lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/tally/summary.h"
#include "cli/settings_args.h"
#include "cli/trials_run.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/recording/trialset.h"
#include "study/child.h"
#include "study/study_point.h"
#include "study/study_points.h"
#include "study/trials_study.h"

#define MAX_TITLE 320

struct run_lane {
    struct run_lanes *with;
    size_t variant;
    struct settings_args base;
    struct trial_set set;
    const char *dir;
    bool has_begun;
};

static int prepare(void *arg, void *with, size_t i, struct err *err)
{
    struct run_lane *lane = arg;
    struct settings *s = &lane->base.settings;

    lane->with = with;
    lane->variant = i;
    if (lane->with->read(lane->with->how.argv, i, &lane->base, err))
        return -1;
    lane->set =
        (struct trial_set){.asked = s->study.trials,
                           .seeds = trial_seeds(s->load.seed, s->study.trials),
                           .launched_by = points_launched_by(s)};
    study_hash(s, lane->set.settings_hash);
    return 0;
}

static int take_up(struct run_lane *lane, struct err *err)
{
    struct trial_set old;
    int rc = trial_set_load(&old, lane->dir, err);

    if (rc == 0 && strcmp(old.settings_hash, lane->set.settings_hash) != 0)
        rc = err_set(err, ERR_USAGE,
                     "--resume: %s was begun with other settings", lane->dir);
    lane->set.recorded = old.recorded;
    trial_set_fini(&old);
    return rc;
}

static int open_lane(void *arg, const char *dir, bool resumes, struct err *err)
{
    struct run_lane *lane = arg;

    lane->dir = dir;
    if (resumes && study_is_at(dir)) {
        if (take_up(lane, err))
            return -1;
    } else if (recording_make_place(dir, err)) {
        return -1;
    }
    return trial_set_save(&lane->set, dir, err);
}

static size_t made(void *arg)
{
    const struct run_lane *lane = arg;

    return (size_t)lane->set.recorded;
}

static int64_t left_ns(void *arg, int64_t each_ns)
{
    const struct run_lane *lane = arg;

    return (lane->set.asked - lane->set.recorded) * each_ns;
}

/* What an attempt has left that was cut, and the server at rest. */
static int clear_the_way(struct run_lane *lane, const char *dir,
                         struct err *err)
{
    const struct study_settings *study = &lane->base.settings.study;

    if (access(dir, F_OK) == 0 && recording_remove(dir, err))
        return -1;
    if (lane->has_begun && lane->set.launched_by == LAUNCHED_ONCE)
        point_settle(study->settle_ns);
    lane->has_begun = true;
    if (atomic_load(&stop_signal))
        return err_set(err, ERR_STOPPED, "interrupted between trials");
    return study->restart ? child_run_command(study->restart, "study.restart",
                                              CHILD_PATIENCE_NS, err)
                          : 0;
}

static int record_trial(struct run_lane *lane, const char *title,
                        const char *dir, struct err *err)
{
    struct run_lanes *with = lane->with;
    char line[MAX_TITLE];
    struct settings_args a;
    int rc = with->read(with->how.argv, lane->variant, &a, err);

    if (rc == 0) {
        trial_reseed(&a.settings, lane->set.recorded + 1);
        snprintf(line, sizeof(line), "%s; trial %lld of %lld", title,
                 (long long)lane->set.recorded + 1, (long long)lane->set.asked);
        log_note("%s", line);
        with->how.title = line;
        rc = record(&a, &with->how, dir, err);
        with->how.title = NULL;
        with->how.is_again = true;
    }
    if (rc == 0)
        rc = point_sum_up(dir, trials_note_result, NULL, err);
    settings_args_fini(&a);
    return rc;
}

static int step(void *arg, const char *title, struct err *err)
{
    struct run_lane *lane = arg;
    char *dir;
    int rc;

    if (lane->set.recorded == lane->set.asked)
        return 0;
    dir = trial_set_path(lane->dir, lane->set.recorded + 1);
    rc = clear_the_way(lane, dir, err);
    if (rc == 0)
        rc = record_trial(lane, title, dir, err);
    free(dir);
    if (rc || atomic_load(&stop_signal))
        return rc ? -1 : 0;
    lane->set.recorded++;
    return trial_set_save(&lane->set, lane->dir, err) ? -1 : 1;
}

static int sum_up(void *arg, struct err *err)
{
    const struct run_lane *lane = arg;

    return trials_sum_up(lane->dir, err);
}

static void fini(void *arg)
{
    struct run_lane *lane = arg;

    settings_args_fini(&lane->base);
    trial_set_fini(&lane->set);
}

const struct lane_ops run_lane_ops = {
    .kind = STUDY_TRIALS,
    .size = sizeof(struct run_lane),
    .prepare = prepare,
    .open = open_lane,
    .made = made,
    .left_ns = left_ns,
    .step = step,
    .sum_up = sum_up,
    .fini = fini,
};
