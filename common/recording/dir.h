/* dir.h - the directory of a recording. */
#ifndef COMMON_RECORDING_DIR_H
#define COMMON_RECORDING_DIR_H

#include <stdbool.h>

struct err;

/* Where recordings go that were given no place. */
#define RECORDING_RUNS "tailgate-runs"

/* Make it, where its parent is there or is RECORDING_RUNS, which is made too.
 *  One that holds anything is refused (ERR_USAGE),
 * unless `force`: then the files of a recording in it are removed, and no
 * others. */
int recording_make_dir(const char *dir, bool force, struct err *err);

/* The directory alone, which may be there. */
int recording_make_place(const char *dir, struct err *err);

/* Is there one? */
bool recording_is_at(const char *dir);

/* 1 if there is anything in it, 0 if not.  ERR_IO. */
int recording_holds_anything(const char *dir, struct err *err);

/* Remove the files of a recording and the directory, which must hold no others.
 * ERR_IO. */
int recording_remove(const char *dir, struct err *err);

#endif
