/* studydir.h - the directory of a study: recordings or other studies below it,
 * and study.json, which says what they are.
 *
 * study.json is written before the first recording and after each, so that it
 * is correct however the study ends.
 *
 *   trials    trial-1, trial-2, ...
 *   pair      a, b: two trial sets that took turns
 *   sweep     point-1, point-2, ...
 *   search    look-1, probe-1, ..., confirm-1, ...
 *   variants  one directory per variant, with its name
 *
 * study_set.h reads and writes study.json.
 */
#ifndef COMMON_RECORDING_STUDYDIR_H
#define COMMON_RECORDING_STUDYDIR_H

#include <stdbool.h>

struct err;
struct json_t;
struct settings;

enum study_kind {
    STUDY_TRIALS,
    STUDY_PAIR,
    STUDY_SWEEP,
    STUDY_SEARCH,
    STUDY_VARIANTS,
    STUDY_KINDS,
};

/* "trials", as in study.json. */
const char *study_kind_name(enum study_kind kind);

#define STUDY_HASH 17
#define STUDY_TEXT 512

/* What starts the server again for each recording? */
enum launched_by {
    LAUNCHED_ONCE, /* nothing: one process serves all */
    LAUNCHED_STUB, /* the stub of the run */
    LAUNCHED_RESTART,
    LAUNCHED_SERVER, /* server.start */
};

/* "once", "stub", "restart", "server"; and back, LAUNCHED_ONCE for anything
 * else. */
const char *launched_by_name(enum launched_by launched_by);
enum launched_by launched_by_of(const char *name);

/* Does `dir` hold a study, rather than a recording? */
bool study_is_at(const char *dir);

/* Its kind.  ERR_IO, ERR_FORMAT. */
int study_kind_at(const char *dir, enum study_kind *kind, struct err *err);

/* Hash of the settings as used, so that a resumed study can check whether they
 * are the same. */
void study_hash(const struct settings *s, char out[static STUDY_HASH]);

/* Write study.json, with version and kind added; takes the object.  ERR_IO. */
int study_save_take(const char *dir, enum study_kind kind, struct json_t *json,
                    struct err *err);

/* Read it; the caller owns the object.  ERR_IO, ERR_FORMAT, also for another
 * version. */
int study_load(const char *dir, struct json_t **json, enum study_kind *kind,
               struct err *err);

/* ERR_FORMAT if study.json is missing, empty or damaged and a part of the study
 * is left; the message names that part. */
int study_check_lost(const char *dir, struct err *err);

/* The first part, by name, of the study or of a study in it that has this file;
 * owned by the caller.  NULL: none has. */
char *study_part_with(const char *dir, const char *file);

/* Sets ERR_UNTOLD: no part ("trial") of the study was completed.  The message
 * names one that was begun, if there is one.  Returns -1. */
int study_refuse_empty(const char *dir, const char *part, struct err *err);

/* A study was given where settings are read.  ERR_CONFIG; the message names the
 * kind of study and its first recording. */
int study_refuse_as_run(const char *dir, struct err *err);

/* Make the directory.  If it is not empty: ERR_USAGE, unless `force` is set and
 * it holds a study.  That is set aside in DIR/.replaced, and the caller drops
 * it once the new study has a recording, or restores it. */
int study_make_dir(const char *dir, bool force, struct err *err);

/* Remove the study that was set aside.  0 also if there is none. */
int study_drop_replaced(const char *dir, struct err *err);

/* Remove the new study, and put back the one that was set aside: 1; 0: there is
 * none, and nothing is changed; -1. */
int study_restore_replaced(const char *dir, struct err *err);

/* Remove the study and its directory, which must hold nothing else. */
int study_remove(const char *dir, struct err *err);

#endif
