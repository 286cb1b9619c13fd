/* study_recordings.h - the recordings of a study that is trials, a sweep or a
 * search. */
#ifndef ANALYZER_STUDIES_STUDY_RECORDINGS_H
#define ANALYZER_STUDIES_STUDY_RECORDINGS_H

#include <stddef.h>

#include "common/recording/study_set.h"

struct err;

struct listed_one {
    char *dir;             /* owned */
    struct study_point at; /* of a sweep or a search */
    double value;          /* of what was varied; NAN: nothing was */
};

struct listed {
    struct listed_one *list; /* owned */
    size_t n;
    char key[64]; /* what was varied; "": nothing */
    char unit[16];
};

/* Those that came to their end.  listed_fini() in any case.  ERR_IO,
 * ERR_FORMAT. */
int listed_read(struct listed *l, const char *dir, enum study_kind kind,
                struct err *err);
void listed_fini(struct listed *l);

#endif
