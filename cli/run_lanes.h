/* run_lanes.h - `run` with the variants of a study: a set of trials for each,
 * which may be of one. */
#ifndef CLI_RUN_LANES_H
#define CLI_RUN_LANES_H

#include "cli/lanes.h"
#include "cli/record.h"

struct run_lanes {
    /* Read the settings of the i-th variant, as used. */
    int (*read)(const char *const *argv, size_t i, struct settings_args *a,
                struct err *err);
    struct record_how how; /* its title and is_again are filled in */
};

/* The `arg` of their lanes is a struct run_lanes. */
extern const struct lane_ops run_lane_ops;

#endif
