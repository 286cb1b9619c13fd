#include "cli/study_drive.h"

#include <stdlib.h>
#include <string.h>

#include "cli/lanes.h"
#include "cli/study_report.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/recording/studydir.h"

static int prepare(struct study_drive *d, struct err *err)
{
    d->set.kind = d->ops->kind;
    if (d->ops->prepare(d, err))
        return -1;
    d->set.launched_by = points_launched_by(&d->base.settings);
    return 0;
}

static int open_at(struct study_drive *d, const char *dir, bool force,
                   bool resumes, struct err *err)
{
    d->dir = xstrdup(dir);
    d->points = (struct points){
        .dir = d->dir,
        .study = &d->base.settings.study,
        .set = &d->set,
        .maker = {.make = study_make_point, .arg = &d->make},
    };
    return points_open(&d->set, dir, force, resumes, err) ||
                   d->ops->open(d, err)
               ? -1
               : 0;
}

static void drive_fini(struct study_drive *d)
{
    if (d->ops->fini)
        d->ops->fini(d);
    settings_args_fini(&d->base);
    point_set_fini(&d->set);
    free(d->dir);
}

/* ---- alone ---- */

static int conclude(struct study_drive *d, struct err *err)
{
    const struct study_ask ask = {.json = d->own->json, .saves = true};
    int rc = d->ops->report(d->dir, &ask, err);

    if (rc >= 0)
        log_note("%-10s %s", d->ops->name, d->dir);
    return rc;
}

static int make_all(struct study_drive *d, struct err *err)
{
    int rc = 1;

    stop_catch_signals();
    while (rc > 0)
        rc = d->ops->step(d, err);
    if (point_set_recorded(&d->set) == 0) {
        if (!d->own->resume)
            study_remove(d->dir, &(struct err){0});
        return rc ? rc
                  : err_set(err, ERR_STOPPED,
                            "interrupted before %s came to its end",
                            d->ops->one);
    }
    if (rc) {
        conclude(d, &(struct err){0}); /* the error is what it comes to */
        return -1;
    }
    return conclude(d, err);
}

static int drive_alone(struct study_drive *d, struct err *err)
{
    char *dir;
    int rc = prepare(d, err);

    if (rc)
        return -1;
    dir = record_args_dir(d->own, d->base.settings.name);
    rc = open_at(d, dir, d->own->force,
                 record_args_resumes(d->own->resume, dir), err);
    if (rc == 0)
        rc = make_all(d, err);
    free(dir);
    return rc < 0 ? settings_args_blame(&d->base, err) : rc;
}

/* ---- with variants ---- */

static int prepare_lane(void *arg, void *with, size_t i, struct err *err)
{
    struct study_drive *d = arg;
    const struct study_drive *from = with;

    d->ops = from->ops;
    d->own = from->own;
    d->make = from->make;
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
    const struct study_drive *d = arg;

    return point_set_recorded(&d->set);
}

static int64_t left_ns(void *arg, int64_t each_ns)
{
    const struct study_drive *d = arg;

    return d->ops->left_ns(d, each_ns);
}

static int step(void *arg, const char *title, struct err *err)
{
    struct study_drive *d = arg;

    d->lane = title;
    return d->ops->step(d, err);
}

static int sum_up(void *arg, struct err *err)
{
    const struct study_drive *d = arg;

    return d->ops->sum_up(d->dir, err);
}

/* One that was never prepared has no table. */
static void fini_lane(void *arg)
{
    struct study_drive *d = arg;

    if (d->ops)
        drive_fini(d);
}

/* ---- either ---- */

int study_drive(const struct study_ops *ops, const char *const *argv,
                struct err *err)
{
    const struct lane_ops lane_ops = {
        .kind = ops->kind,
        .size = ops->size,
        .prepare = prepare_lane,
        .open = open_lane,
        .made = made,
        .left_ns = left_ns,
        .step = step,
        .sum_up = sum_up,
        .fini = fini_lane,
    };
    struct record_args own;
    const struct opt_set set = {&record_args_block, &own};
    struct study_drive *d = xcalloc(1, ops->size);
    int rc;

    opt_init(&set);
    d->ops = ops;
    d->own = &own;
    d->make = (struct study_make){.argv = argv, .block = ops->block};
    rc = study_lanes(&d->make, &own, &lane_ops, d, err);
    if (rc == STUDY_NO_LANES)
        rc = drive_alone(d, err);
    drive_fini(d);
    free(d);
    opt_fini(&set);
    return rc;
}
