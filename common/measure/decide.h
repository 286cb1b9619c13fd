/* decide.h - is the answer known, so that a run may stop?  Pure: the requests
 * of a window in, pass or fail or nothing yet out, the same whether they come
 * while the run goes on or from its recording.
 *
 * Misses cluster, so requests do not count one by one.  The window is cut into
 * batches of at least ten times the autocorrelation time of the requests in
 * flight; a t test on the batches' misses asks whether their share is above or
 * below what a term allows.  It asks when the window is 5 s, 10 s, 20 s ...
 * long, each time with half of the error that is left.  To fail is allowed at
 * each of these looks, to pass only with 15 batches; and either only if as many
 * independent requests would also prove it.
 */
#ifndef COMMON_MEASURE_DECIDE_H
#define COMMON_MEASURE_DECIDE_H

#include <stddef.h>
#include <stdint.h>

#include "common/measure/measure.h"
#include "common/spec/slo.h"

struct err;

enum decision { DECISION_NONE, DECISION_PASS, DECISION_FAIL };

#define DECIDE_TEXT 160

struct decide_slot;
struct decide_row;

struct decide {
    const struct slo *slo; /* borrowed */
    int64_t start_ns;      /* of the window; INT64_MAX: not known yet */
    int64_t end_ns;        /* likewise */

    /* Rows come as requests end; they are taken in the order of the schedule,
     * so that what is known at a time does not depend on who wrote first. */
    struct decide_row *waiting; /* ring by place; owned */
    int64_t n_waiting;          /* its size, a power of two */
    int64_t next_seq;

    struct decide_slot *slots; /* owned */
    size_t n_slots;
    size_t cap;
    size_t settled;   /* slots whose requests have all been taken */
    size_t next_look; /* at so many */

    /* To be spent at the next look that may pass, where all terms must; or that
     * may fail, for which one is enough, so that each has a part of it. */
    double pass_error;
    double fail_error;

    enum decision decision;
    char why[DECIDE_TEXT]; /* once it is there */
};

/* Terms on quantiles of requests, and on errors; no others.  ERR_CONFIG. */
int decide_init(struct decide *d, const struct slo *slo, int64_t start_ns,
                struct err *err);
void decide_fini(struct decide *d);

/* What is known of the window now, before requests are added that were due in
 * it. */
void decide_window(struct decide *d, int64_t start_ns, int64_t end_ns);

/* A request that is over, in any order; all of a run must come, those of the
 * warm-up and the cool-down too. */
void decide_add(struct decide *d, const struct facts *f);

#endif
