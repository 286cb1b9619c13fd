/* studydir.h - the directory of a study: recordings, or other studies, below
 * it, and study.json, which says what they are.
 *
 * study.json is written before the first of them and again after each, so that
 * it is right whatever ends the study.
 *
 *   trials    trial-1, trial-2, ...
 *   pair      a, b: two trial sets that took turns
 *   sweep     point-1, point-2, ...
 *   search    probe-1, ..., confirm-1, ...
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

/* Is there a study, rather than a recording? */
bool study_is_at(const char *dir);

/* Of which kind.  ERR_IO, ERR_FORMAT. */
int study_kind_at(const char *dir, enum study_kind *kind, struct err *err);

/* Of the settings as used, so that a study that goes on can tell whether they
 * are the same. */
void study_hash(const struct settings *s, char out[static STUDY_HASH]);

/* study.json, with its version and kind; takes the object.  ERR_IO. */
int study_save_take(const char *dir, enum study_kind kind, struct json_t *json,
                    struct err *err);

/* The object, of the version that is known; the caller's.  ERR_IO, ERR_FORMAT.
 */
int study_load(const char *dir, struct json_t **json, enum study_kind *kind,
               struct err *err);

/* ERR_FORMAT: study.json is gone, empty or damaged, and a part of the study is
 * still there; it names that. */
int study_check_lost(const char *dir, struct err *err);

/* ERR_UNTOLD: none of its parts ("trial") came to its end; it names what is
 * there of the first. */
int study_refuse_empty(const char *dir, const char *part, struct err *err);

/* A study was given where settings are read.  ERR_CONFIG: it says what kind it
 * is, and names its first recording. */
int study_refuse_as_run(const char *dir, struct err *err);

/* Make the directory.  One that holds anything is refused (ERR_USAGE), unless
 * `force` and it holds a study: that is removed. */
int study_make_dir(const char *dir, bool force, struct err *err);

/* Remove all of it, and the directory, which must hold nothing else. */
int study_remove(const char *dir, struct err *err);

#endif
