/* study_set.h - study.json: what a study consists of and how far it has got.
 *
 * A set of trials, a sweep and a search are the same thing on disk: points,
 * each an ordinary recording in a directory of its own (trial-1, point-1,
 * look-1, probe-1, confirm-1, ...).  A pair and a study with variants consist
 * of several such sets, each in a directory of its own.
 */
#ifndef COMMON_RECORDING_STUDY_SET_H
#define COMMON_RECORDING_STUDY_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/recording/studydir.h"

struct err;

enum point_role {
    POINT_OF_SWEEP,
    POINT_PROBE,
    POINT_CONFIRM,
    POINT_LOOK, /* of a search: a short closed loop before the first probe */
    POINT_TRIAL,
    POINT_ROLES,
};

struct study_point {
    enum point_role role;
    int64_t number;      /* in the name of its directory, from 1 */
    double value;        /* of a sweep or a search: of what is varied */
    int64_t repeat;      /* of a sweep: which run at this value, from 1 */
    uint64_t seed;       /* of a trial */
    bool is_recorded;    /* completely, or until the study ended it */
    double took_s;       /* with the pause and the restart before it */
    char failed[160];    /* why there is no recording; "": not known */
    char discarded[160]; /* why the recording does not count, so that another
                            point replaces it; "": it counts */
};

/* The reason for which a point without a recording is discarded, while the
 * study goes on: the launcher failed, `failed` says how. */
#define STUDY_LOST "launch"

#define STUDY_KEY 64

struct study_set {
    enum study_kind kind; /* STUDY_TRIALS, STUDY_SWEEP or STUDY_SEARCH */
    char key[STUDY_KEY];  /* what is varied: "load.rate"; "" for trials */
    char unit[16];        /* behind its values in the settings; "": none */
    char settings_hash[STUDY_HASH]; /* of the settings without the points */
    enum launched_by launched_by;
    struct study_point *points; /* owned; in the order they are made */
    size_t len;
    int64_t asked;            /* of trials: how many were asked for, ... */
    int64_t recorded;         /* ... and how many have a recording, those that
                                 were discarded included */
    int64_t replaced;         /* discarded points for which one was added */
    char against[STUDY_TEXT]; /* of trials: the set that this one took turns
                                 with, relative to this one; "": none */
    int64_t budget_ns;  /* of a search: maximum time for all of it in the last
                           attempt; 0: no maximum; -1: older, not known */
    int64_t stopped_by; /* signal; 0: none */
    char failed[STUDY_TEXT]; /* why no more were made; "": all were */
};

/* Append a point; its number follows those of its role. */
struct study_point *study_set_add(struct study_set *set, enum point_role role,
                                  double value);

/* How many points are recorded, and how many of those are discarded. */
size_t study_set_recorded(const struct study_set *set);
size_t study_set_discarded(const struct study_set *set);

/* How many processes of the server were measured. */
int64_t study_set_launches(const struct study_set *set);

/* Is it the name of the directory of a point, such as probe-12? */
bool study_is_point_name(const char *name);

/* DIR/probe-3, owned by the caller. */
char *study_point_path(const char *dir, const struct study_point *point);

/* DIR/trial-3, owned by the caller; and whether that directory exists. */
char *study_trial_path(const char *dir, int64_t number);
bool study_has_trial(const char *dir, int64_t number);

int study_set_save(const struct study_set *set, const char *dir,
                   struct err *err);

/* ERR_CONFIG if it is a pair, ERR_IO, ERR_FORMAT.  study_set_fini() in any
 * case. */
int study_set_load(struct study_set *set, const char *dir, struct err *err);
void study_set_fini(struct study_set *set);

/* The same; ERR_FORMAT if it is of another kind. */
int study_set_load_kind(struct study_set *set, const char *dir,
                        enum study_kind kind, struct err *err);

/* Load a sweep or a search: ERR_CONFIG if it is of another kind, ERR_UNTOLD if
 * nothing is recorded. */
int study_set_load_recorded(struct study_set *set, const char *dir,
                            enum study_kind kind, struct err *err);

/* ---- several sets ---- */

struct variant_entry {
    char *name;              /* owned */
    char failed[STUDY_TEXT]; /* why it got no further; "": it has not failed */
};

struct variant_set {
    enum study_kind of;         /* what each of them is */
    struct variant_entry *list; /* owned */
    size_t n;
    int64_t stopped_by; /* signal; 0: none */
};

void variant_set_add(struct variant_set *set, const char *name);

/* DIR/NAME, owned by the caller. */
char *variant_set_path(const char *dir, const struct variant_entry *variant);

int variant_set_save(const struct variant_set *set, const char *dir,
                     struct err *err);

/* ERR_CONFIG if there is another kind of study, ERR_IO, ERR_FORMAT.
 * variant_set_fini() in any case. */
int variant_set_load(struct variant_set *set, const char *dir, struct err *err);
void variant_set_fini(struct variant_set *set);

/* The two sets of a pair are in DIR/a and DIR/b; `order` is "ABBA...". */
int study_save_pair(const char *dir, const char *order, struct err *err);

#endif
