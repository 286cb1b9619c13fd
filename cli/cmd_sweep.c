#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/study_drive.h"
#include "cli/study_report.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "study/sweep_study.h"

/* ---- what to do ---- */

/* Without a value that a run needs, the settings may contradict themselves: so
 * they are read for what is to be varied first, and then at each value. */
static int plan(struct study_drive *d, struct err *err)
{
    struct settings_args a;
    int rc = study_read_first(&d->make, d->own, &a, err);

    if (rc == 0)
        rc = sweep_plan(&d->set, &a.settings.sweep, a.settings.load.seed, err);
    settings_args_fini(&a);
    return rc;
}

static int read_at(const struct study_drive *d, double value,
                   struct settings_args *a, struct err *err)
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
static int check_all(struct study_drive *d, struct err *err)
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
    struct study_drive *d = arg;
    size_t i = (size_t)point->number - 1;
    const struct study_point *at = &d->set.points[i];

    snprintf(d->make.title, sizeof(d->make.title),
             "%s%spoint %zu of %zu: %s, run %lld", d->lane ? d->lane : "",
             d->lane ? "; " : "", i + 1, d->set.len, point->set->items[0],
             (long long)at->repeat);
    log_note("%s", d->make.title);
    return study_make_point(&d->make, point, err);
}

static int prepare(struct study_drive *d, struct err *err)
{
    if (plan(d, err) || check_all(d, err))
        return -1;
    study_hash(&d->base.settings, d->set.settings_hash);
    return 0;
}

static int open_points(struct study_drive *d, struct err *err)
{
    (void)err;
    d->points.maker = (struct point_maker){.make = make_point, .arg = d};
    return 0;
}

static int step(struct study_drive *d, struct err *err)
{
    return points_step(&d->points, err);
}

static int64_t left_ns(const struct study_drive *d, int64_t each_ns)
{
    return (int64_t)(d->set.len - point_set_recorded(&d->set)) * each_ns;
}

static const struct study_ops ops = {
    .name = "sweep",
    .one = "a run",
    .kind = STUDY_SWEEP,
    .block = BLOCK_SWEEP,
    .size = sizeof(struct study_drive),
    .prepare = prepare,
    .open = open_points,
    .step = step,
    .left_ns = left_ns,
    .report = sweep_report,
    .sum_up = sweep_sum_up,
};

static int run(const char *const *argv, struct err *err)
{
    return study_drive(&ops, argv, err);
}

static const struct opt_block *const blocks[] = {
    &record_args_block, &block_sweep, &settings_args_block, &block_top,
    &block_target,      &block_load,  &block_trace,         &block_data,
    &block_client,      &block_study, &block_cost,          NULL,
};

const struct command cmd_sweep = {
    .name = "sweep",
    .usage = "SETTINGS|URL --rates LIST [FLAGS]",
    .help = "make a run at each of several loads and show where the server "
            "saturates",
    .run = run,
    .blocks = blocks,
};
