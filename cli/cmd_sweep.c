#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/lanes.h"
#include "cli/study_make.h"
#include "cli/study_report.h"
#include "common/err.h"
#include "common/log.h"
#include "common/recording/studydir.h"
#include "common/stop.h"
#include "common/xalloc.h"
#include "study/points.h"
#include "study/sweep.h"

struct drive {
    struct study_args *own;
    struct study_make make;
    struct settings_args base; /* at the first value */
    struct point_set set;
    struct points points;
    char *dir;
    const char *lane; /* whose turn it is, of several variants; NULL: of none */
};

/* ---- what to do ---- */

/* Without a value that a run needs, the settings may contradict themselves: so
 * they are read for what is to be varied first, and then at each value. */
static int plan(struct drive *d, struct err *err)
{
    struct settings_args a;
    int rc = study_read_first(&d->make, d->own, &a, err);

    d->set.kind = STUDY_SWEEP;
    if (rc == 0)
        rc = sweep_plan(&d->set, &a.settings.sweep, a.settings.load.seed, err);
    settings_args_fini(&a);
    return rc;
}

static int read_at(const struct drive *d, double value, struct settings_args *a,
                   struct err *err)
{
    char *text = points_assignment(&d->set, value);
    struct strlist over = {0};
    int rc;

    strlist_add(&over, text);
    rc = study_read(&d->make, &over, a, err);
    strlist_fini(&over);
    free(text);
    return rc;
}

/* A value that cannot be is refused before the first run, not in the middle. */
static int check_all(struct drive *d, struct err *err)
{
    int rc = read_at(d, d->set.points[0].value, &d->base, err);

    for (size_t i = 1; rc == 0 && i < d->set.len; i++) {
        struct settings_args a;

        rc = read_at(d, d->set.points[i].value, &a, err);
        settings_args_fini(&a);
    }
    return rc;
}

/* ---- doing it ---- */

static int make_point(void *arg, const struct point *point, struct err *err)
{
    struct drive *d = arg;
    size_t i = (size_t)point->number - 1;
    const struct study_point *at = &d->set.points[i];

    snprintf(d->make.title, sizeof(d->make.title),
             "%s%spoint %zu of %zu: %s, run %lld", d->lane ? d->lane : "",
             d->lane ? "; " : "", i + 1, d->set.len, point->set->items[0],
             (long long)at->repeat);
    log_note("%s", d->make.title);
    return study_make_point(&d->make, point, err);
}

static int conclude(struct drive *d, struct err *err)
{
    int rc = sweep_report(d->dir, NULL, d->own->json, true, err);

    if (rc >= 0)
        log_note("sweep      %s", d->dir);
    return rc;
}

static int prepare(struct drive *d, struct err *err)
{
    if (plan(d, err) || check_all(d, err))
        return -1;
    study_hash(&d->base.settings, d->set.settings_hash);
    d->set.launched_by = points_launched_by(&d->base.settings);
    return 0;
}

static int open_at(struct drive *d, const char *dir, bool force, bool resumes,
                   struct err *err)
{
    d->dir = xstrdup(dir);
    d->points = (struct points){
        .dir = d->dir,
        .study = &d->base.settings.study,
        .set = &d->set,
        .maker = {.make = make_point, .arg = d},
    };
    return points_open(&d->set, dir, force, resumes, err);
}

static int make_all(struct drive *d, struct err *err)
{
    int rc;

    stop_catch_signals();
    do {
        rc = points_step(&d->points, err);
    } while (rc > 0);
    if (point_set_recorded(&d->set) == 0) {
        if (!d->own->resume)
            study_remove(d->dir, &(struct err){0});
        return rc ? rc
                  : err_set(err, ERR_STOPPED,
                            "interrupted before a run came to its end");
    }
    if (rc) {
        conclude(d, &(struct err){0}); /* the error is what it comes to */
        return -1;
    }
    return conclude(d, err);
}

static int drive(struct drive *d, struct err *err)
{
    char *dir;
    int rc = prepare(d, err);

    if (rc)
        return -1;
    dir = d->own->out ? xstrdup(d->own->out)
                      : record_default_dir(d->base.settings.name);
    rc = open_at(d, dir, d->own->force, d->own->resume, err);
    if (rc == 0)
        rc = make_all(d, err);
    free(dir);
    return rc < 0 ? settings_args_blame(&d->base, err) : rc;
}

static void drive_fini(struct drive *d)
{
    settings_args_fini(&d->base);
    point_set_fini(&d->set);
    free(d->dir);
}

/* ---- with variants ---- */

static int prepare_lane(void *arg, void *with, size_t i, struct err *err)
{
    struct drive *d = arg;
    const struct drive *from = with;

    *d = (struct drive){.own = from->own, .make = from->make};
    d->make.variant = i + 1;
    if (prepare(d, err))
        return -1;
    d->make.how.is_again = i > 0;
    return 0;
}

static int open_lane(void *arg, const char *dir, bool resumes, struct err *err)
{
    return open_at(arg, dir, false, resumes, err);
}

static size_t made(void *arg)
{
    const struct drive *d = arg;

    return point_set_recorded(&d->set);
}

static int64_t left_ns(void *arg, int64_t each_ns)
{
    const struct drive *d = arg;

    return (int64_t)(d->set.len - point_set_recorded(&d->set)) * each_ns;
}

static int step(void *arg, const char *title, struct err *err)
{
    struct drive *d = arg;

    d->lane = title;
    return points_step(&d->points, err);
}

static int sum_up(void *arg, struct err *err)
{
    const struct drive *d = arg;

    return sweep_sum_up(d->dir, err);
}

static void fini_lane(void *arg)
{
    drive_fini(arg);
}

static const struct lane_ops lane_ops = {
    .kind = STUDY_SWEEP,
    .size = sizeof(struct drive),
    .prepare = prepare_lane,
    .open = open_lane,
    .made = made,
    .left_ns = left_ns,
    .step = step,
    .sum_up = sum_up,
    .fini = fini_lane,
};

static int run(const char *const *argv, struct err *err)
{
    struct study_args own;
    struct opt_set set = {&study_args_block, &own};
    struct drive d = {.own = &own};
    int rc;

    opt_init(&set);
    d.make = (struct study_make){.argv = argv, .block = BLOCK_SWEEP};
    rc = study_lanes(&d.make, &own, &lane_ops, &d, err);
    if (rc == STUDY_NO_LANES)
        rc = drive(&d, err);
    drive_fini(&d);
    opt_fini(&set);
    return rc;
}

static const struct opt_block *const blocks[] = {
    &study_args_block, &block_sweep, &settings_args_block, &block_top,
    &block_target,     &block_load,  &block_trace,         &block_data,
    &block_client,     &block_study, &block_cost,          NULL,
};

const struct command cmd_sweep = {
    .name = "sweep",
    .usage = "SETTINGS|URL --rates LIST [FLAGS]",
    .help = "a run at each of several loads: the curves, their knee, where it "
            "saturates",
    .run = run,
    .blocks = blocks,
};
