/* dir.h - the directory of a recording. */
#ifndef COMMON_RECORDING_DIR_H
#define COMMON_RECORDING_DIR_H

#include <stdbool.h>

struct err;

/* Parent of the recordings for which no directory was given. */
#define RECORDING_RUNS "tailgate-runs"

/* Create the directory.  The parent must exist, except RECORDING_RUNS, which is
 * created.  A directory that is not empty is refused (ERR_USAGE), unless
 * `force`: then the files of a recording in it are removed, and no others. */
int recording_make_dir(const char *dir, bool force, struct err *err);

/* Create only the directory, which may exist already. */
int recording_make_place(const char *dir, struct err *err);

/* Is there a recording in this directory? */
bool recording_is_at(const char *dir);

/* The same, with the reason if there is none.  ERR_CONFIG. */
int recording_check(const char *dir, struct err *err);

/* 1 if the directory is not empty, 0 if it is.  ERR_IO. */
int recording_holds_anything(const char *dir, struct err *err);

/* Remove the files of a recording and the directory, which must contain no
 * other files.  ERR_IO. */
int recording_remove(const char *dir, struct err *err);

#endif
