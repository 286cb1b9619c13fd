/* pointset.h - the directory of a sweep or a search: point-1, point-2, ... or
 * probe-1, ..., confirm-1, ..., each an ordinary recording, at a value of what
 * is varied. */
#ifndef COMMON_RECORDING_POINTSET_H
#define COMMON_RECORDING_POINTSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/recording/studydir.h"

struct err;

enum point_role { POINT_OF_SWEEP, POINT_PROBE, POINT_CONFIRM, POINT_ROLES };

struct study_point {
    enum point_role role;
    int64_t number; /* in the name of its directory, from 1 */
    double value;
    int64_t repeat;   /* of a sweep: which one at this value, from 1 */
    bool is_recorded; /* to its end, or to where the study ended it */
    double took_s;    /* all of it, with what stands before the next */
    char failed[160]; /* why there is no recording; "": it is not known */
};

#define POINT_SET_KEY 64

struct point_set {
    enum study_kind kind;    /* STUDY_SWEEP or STUDY_SEARCH */
    char key[POINT_SET_KEY]; /* what is varied: "load.rate" */
    char unit[16];           /* behind its values in the settings; "": none */
    char settings_hash[STUDY_HASH]; /* of the settings, points apart */
    enum launched_by launched_by;
    struct study_point *points; /* owned; in the order they are made */
    size_t len;
    int64_t budget_ns;  /* of a search: all the time it may take, in its last
                           attempt; 0: no end; -1: older, not known */
    int64_t stopped_by; /* signal; 0: none */
    char failed[STUDY_TEXT]; /* why no more were made; "": all were */
};

/* Append one; its number follows those of its role. */
struct study_point *point_set_add(struct point_set *set, enum point_role role,
                                  double value);

/* DIR/probe-3, owned by the caller. */
char *point_set_path(const char *dir, const struct study_point *point);

int point_set_save(const struct point_set *set, const char *dir,
                   struct err *err);

/* ERR_IO, ERR_FORMAT.  point_set_fini() in any case. */
int point_set_load(struct point_set *set, const char *dir, struct err *err);
void point_set_fini(struct point_set *set);

/* The same of one of this kind, of which something is recorded: ERR_UNTOLD if
 * nothing is. */
int point_set_load_recorded(struct point_set *set, const char *dir,
                            enum study_kind kind, struct err *err);

/* How many are recorded. */
size_t point_set_recorded(const struct point_set *set);

#endif
