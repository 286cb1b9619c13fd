/* lanes.h - a command with the variants of a study: each variant is what the
 * command does, in a lane of its own, and the lanes take turns. */
#ifndef CLI_LANES_H
#define CLI_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/recording/studydir.h"

struct err;
struct study_ask;
struct settings_args;
struct strlist;
struct record_args;
struct study_make;

/* What a command does in one lane; `lane` is its state, zeroed at first. */
struct lane_ops {
    enum study_kind kind;
    size_t size; /* of the state */

    /* Read the settings of the i-th variant and say what is to be done.
     * Nothing is made yet. */
    int (*prepare)(void *lane, void *arg, size_t i, struct err *err);

    /* Make its directory, or take up what is there; `dir` is kept. */
    int (*open)(void *lane, const char *dir, bool resumes, struct err *err);

    /* Recordings that it has. */
    size_t (*made)(void *lane);

    /* About how long the rest will take if one takes `each_ns`; 0: nobody
     * knows, or nothing is left. */
    int64_t (*left_ns)(void *lane, int64_t each_ns);

    /* One more, as in study/turns.h.  `title` is for those who watch. */
    int (*step)(void *lane, const char *title, struct err *err);

    /* Its own summary.json, of what is there. */
    int (*sum_up)(void *lane, struct err *err);

    void (*fini)(void *lane);
};

struct lanes_how {
    const struct lane_ops *ops;
    void *arg;                     /* for prepare() */
    const struct settings_args *a; /* parsed, not resolved: who they are */
    const char *dir;
    bool force;
    bool resumes;
    bool json;
};

/* All of them, and the report; returns the exit status, or -1. */
int lanes_drive(const struct lanes_how *how, struct err *err);

/* What sweep and search do with a settings file that has variants; the rest of
 * the command is its lanes.  STUDY_NO_LANES: it has none, and nothing was done.
 */
#define STUDY_NO_LANES (-2)
int study_lanes(struct study_make *m, struct record_args *own,
                const struct lane_ops *ops, void *arg, struct err *err);

/* A study that is there, as study_report.h has the others.  Returns the exit
 * status, or -1. */
int variants_report(const char *dir, const struct study_ask *ask,
                    struct err *err);

#endif
