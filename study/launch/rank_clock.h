/* rank_clock.h - how far the clock of another rank is off, from exchanges of
 * four stamps: ours when we ask, theirs when the question comes and when the
 * answer goes, ours when it comes.  The clock was read within the delay of the
 * exchange, so that half of it bounds the error, whatever the two ways took.
 *
 * Of the exchanges before the run and of those after it the one with the
 * shortest delay counts; the line through both has the drift.  Exchanges during
 * the run check that line: what it misses by more than their own delays allow
 * is added to the bound.  Pure. */
#ifndef STUDY_RANK_CLOCK_H
#define STUDY_RANK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Since 1970, each by its own clock. */
struct rank_stamps {
    int64_t asked_ns;
    int64_t got_ns; /* theirs, as is ... */
    int64_t told_ns;
    int64_t back_ns;
};

enum rank_clock_phase {
    RANK_CLOCK_BEFORE,
    RANK_CLOCK_DURING,
    RANK_CLOCK_AFTER
};

struct rank_sample {
    int64_t at_ns;     /* ours */
    int64_t offset_ns; /* theirs minus ours */
    int64_t error_ns;  /* bound, above 0; 0: there is no sample */
};

#define RANK_CLOCK_KEPT 256

/* Zeroed: no exchange. */
struct rank_clock {
    struct rank_sample before; /* the best, as is ... */
    struct rank_sample after;
    struct rank_sample during[RANK_CLOCK_KEPT]; /* the best of each interval */
    int n_during;
    int64_t interval_ns; /* doubled when `during` is full */
    int exchanges;       /* of the current phase, ... */
    int total;           /* ... of all */
    enum rank_clock_phase phase;
};

void rank_clock_begin(struct rank_clock *c, enum rank_clock_phase phase);
void rank_clock_add(struct rank_clock *c, const struct rank_stamps *s);

/* What is known of it.  Without exchanges after the run there is no drift, and
 * those during it only widen the bound. */
struct rank_offset {
    int64_t offset_ns; /* when the run began */
    int64_t error_ns;  /* upper bound, during the whole run; 0: nothing known */
    double drift_ppm;
    int64_t exchanges;
};

struct rank_offset rank_clock_found(const struct rank_clock *c);

#endif
