/* trials_study.h - the same run several times, each with a seed of its own; or
 * two in turns, so that what drifts touches both alike.
 *
 * What one trial is, the caller says: it is handed a directory and a place.
 */
#ifndef STUDY_TRIALS_STUDY_H
#define STUDY_TRIALS_STUDY_H

#include <stdint.h>

#include "common/recording/trialset.h"

struct err;
struct settings;
struct study_settings;

/* The seed of a trial, from 1: the first has `seed` itself, the others are a
 * pure function of it and their number, below 2^48. */
uint64_t trial_seed(uint64_t seed, int64_t number);

/* Of n trials, owned by the caller. */
uint64_t *trial_seeds(uint64_t seed, int64_t n);

/* The settings of one trial: every seed in them but that of the first trial
 * becomes another, that of the stub too, else each launch of it would draw the
 * same service times. */
void trial_reseed(struct settings *s, int64_t number);

#define TRIALS_SIDES 2

struct trial_place {
    int side;       /* 0: A, 1: B */
    int64_t number; /* from 1 */
};

/* Which comes i-th, from 0: A1 B1 B2 A2 A3 B3 ..., so that neither is always
 * the first of its pair.  Of one side just 1, 2, 3. */
struct trial_place trials_place(int64_t i, int n_sides);

/* The same as text: "ABBAAB"; owned by the caller. */
char *trials_order(int64_t n, int n_sides);

struct trials_side {
    const char *dir; /* is there, and empty */
    const struct study_settings *study;
    struct trial_set set; /* all but recorded, stopped_by and failed given */
};

struct trials {
    int64_t n;
    int n_sides;
    struct trials_side sides[TRIALS_SIDES];

    /* Make one, into a directory that is not there yet.  0 if it was
     * recorded, also if a signal cut it. */
    int (*run)(void *arg, struct trial_place place, const char *dir,
               struct err *err);
    void *arg;
};

/* All of them, each after its side's pause and restart.  Stops at the first
 * that fails (-1, and its error) or with common/base/stop.h's flag (0); the
 * sets say so on disk, and what was recorded is kept. */
int trials_run(struct trials *t, struct err *err);

#endif
