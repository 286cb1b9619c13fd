/* turns.h - several that take turns, recording by recording: A B C C B A ...,
 * so that what drifts touches all alike, and none is always the first.
 *
 * One that fails gets no more turns, and the others go on.
 */
#ifndef STUDY_TURNS_H
#define STUDY_TURNS_H

#include <stddef.h>

#include "common/recording/studydir.h"

struct err;

struct turn {
    /* How many recordings it has; those of an earlier attempt too. */
    size_t (*made)(void *arg);

    /* One more.  1: it is there; 0: all are, or somebody said stop; -1: it
     * cannot be, and err says why. */
    int (*step)(void *arg, struct err *err);
    void *arg;

    char failed[STUDY_TEXT]; /* "": it has not */
    size_t failed_after;     /* recordings; if it has */
    bool is_done;            /* all are made; filled in */
};

struct turns {
    struct turn *list;
    size_t n;

    /* Called after each failure and at the end: keep what is known.  -1 ends
     * everything.  Optional. */
    int (*save)(void *arg, struct err *err);
    void *arg;
};

/* Until all are done or have failed, or somebody says stop.  In the r-th round,
 * from 0, whoever has r recordings gets one more.  0; -1 if nothing can be
 * saved. */
int turns_take(struct turns *t, struct err *err);

/* Who is at the i-th place, from 0, of a round of n. */
size_t turns_place(size_t round, size_t i, size_t n);

#endif
