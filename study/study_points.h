/* study_points.h - the recordings of a sweep or a search, one after the other:
 * the server is left alone between them, study.json says after each how far it
 * has got, and what was interrupted goes on where it stopped.
 */
#ifndef STUDY_STUDY_POINTS_H
#define STUDY_STUDY_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/recording/pointset.h"
#include "study/study_point.h"

struct err;
struct settings;
struct strlist;
struct study_settings;

struct points {
    const char *dir; /* is there */
    const struct study_settings *study;
    struct point_set *set;
    struct point_maker maker;
    bool has_begun; /* the server has had load from us */
};

/* How to describe the server's launches. */
enum launched_by points_launched_by(const struct settings *s);

/* Make the i-th of the set, with "load.rate=80" and the like over everything,
 * after the pause and the restart that it needs; what an interrupted attempt
 * has left is removed.  1: it is recorded; 0: somebody said stop, which the set
 * says on disk; -1. */
int points_make(struct points *p, size_t i, struct point *point,
                struct err *err);

/* "load.rate=80" for a value of the set; owned by the caller. */
char *points_assignment(const struct point_set *set, double value);

/* The next point of the set that is not recorded, at its value.  1: it is; 0:
 * all are, or somebody said stop; -1, and the set says why on disk. */
int points_step(struct points *p, struct err *err);

/* Make the directory anew, or take up the set that is there (`resumes`), which
 * must have been begun with the same settings: then *set is replaced by it.
 * study.json is written.  ERR_USAGE, ERR_IO. */
int points_open(struct point_set *set, const char *dir, bool force,
                bool resumes, struct err *err);

#endif
