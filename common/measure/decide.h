/* decide.h - is the verdict known, so that a run may stop early?  Pure:
 * requests in, pass, fail or "not yet" out, the same during a run and from its
 * recording.
 *
 * It is the test of the verdict (common/stats/share_test.h), made again and
 * again while the run goes on: when the window is 5 s, 10 s, 20 s ... long.
 * Looking more often makes errors more likely, so each look has a part of the
 * allowed error, the k-th 6 / (pi k)^2 of it, and only looks count that could
 * decide.
 */
#ifndef COMMON_MEASURE_DECIDE_H
#define COMMON_MEASURE_DECIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/measure/measure.h"
#include "common/spec/slo.h"

struct err;

enum decision { DECISION_NONE, DECISION_PASS, DECISION_FAIL };

#define DECIDE_TEXT 256

struct decide_cell;
struct decide_row;

struct decide {
    const struct slo *slo; /* borrowed */
    int64_t start_ns;      /* of the window; INT64_MAX: not known yet */
    int64_t end_ns;        /* the same */

    /* Rows arrive as requests end.  A slot of time is used when all its rows
     * have arrived, so that the result does not depend on their order. */
    struct decide_row *waiting; /* ring by seq; owned */
    int64_t n_waiting;          /* its size, a power of two */
    int64_t next_seq;
    bool has_given_up; /* a row seems to be missing: no further decision */

    struct decide_cell *cells; /* one per slot and term; owned */
    size_t n_slots;
    size_t cap;        /* in slots */
    size_t settled;    /* slots whose requests have all arrived */
    size_t next_check; /* at this number of settled slots */

    int pass_looks; /* number of checks that could have passed, and failed */
    int fail_looks;

    enum decision decision;
    char why[DECIDE_TEXT]; /* once there is a decision */
};

/* Accepts only terms on quantiles of requests and on errors.  ERR_CONFIG. */
int decide_init(struct decide *d, const struct slo *slo, int64_t start_ns,
                struct err *err);
void decide_fini(struct decide *d);

/* Set the window as far as it is known, before adding requests that are due in
 * it. */
void decide_window(struct decide *d, int64_t start_ns, int64_t end_ns);

/* Add a request that has ended, in any order.  All requests of a run must be
 * added, including those of the warm-up and the cool-down.  An unfinished one
 * that may still have kept a limit counts as a miss for a pass, and as kept for
 * a fail. */
void decide_add(struct decide *d, const struct facts *f);

/* After the last request of a run that was not decided early: look once more,
 * at the whole window.  Not for a run of which anything is missing. */
void decide_end(struct decide *d);

#endif
