/* study_drive.h - how a study of many points is driven from the command line,
 * alone or as one of several variants.  What it is a study of, a sweep or a
 * search, is a table. */
#ifndef CLI_STUDY_DRIVE_H
#define CLI_STUDY_DRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/settings_args.h"
#include "cli/study_make.h"
#include "common/recording/pointset.h"
#include "study/study_points.h"

struct err;
struct study_ask;

/* The state of one; that of a command begins with it. */
struct study_drive {
    const struct study_ops *ops;
    struct record_args *own; /* borrowed, as the command line is */
    struct study_make make;
    struct settings_args base; /* as used, at the first value */
    struct point_set set;
    struct points points;
    char *dir;
    const char *lane; /* whose turn it is, of several variants; NULL: of none */
};

/* All hooks get the command's state.  Those that fail return -1. */
struct study_ops {
    const char *name; /* "sweep" */
    const char *one;  /* of its recordings: "a run" */
    enum study_kind kind;
    enum settings_block block;
    size_t size; /* of the state */

    /* Read the settings into `base` and say in `set` what is to be done, the
     * hash of the settings with it.  Nothing is made yet. */
    int (*prepare)(struct study_drive *d, struct err *err);

    /* `points` are there: whose recordings they are to be, and what is recorded
     * of them. */
    int (*open)(struct study_drive *d, struct err *err);

    /* One more recording: 1; 0 if there is none to make, or a signal came. */
    int (*step)(struct study_drive *d, struct err *err);

    /* About how long the rest will take if one takes `each_ns`. */
    int64_t (*left_ns)(const struct study_drive *d, int64_t each_ns);

    /* As in study_report.h. */
    int (*report)(const char *dir, const struct study_ask *ask,
                  struct err *err);
    int (*sum_up)(const char *dir, struct err *err);

    /* What prepare() and open() have left; works on a zeroed state.  Optional.
     */
    void (*fini)(struct study_drive *d);
};

/* The whole command.  Returns the exit status, or -1. */
int study_drive(const struct study_ops *ops, const char *const *argv,
                struct err *err);

#endif
