/* ceiling.h - the highest rate that passes: what to probe next.  Pure.
 *
 * The rate is doubled until it fails; then the gap between what passed and what
 * failed is halved a few times, by ratio.  A probe that fails is repeated once
 * before it counts, since on a shared machine one fails now and then.
 */
#ifndef STUDY_CEILING_H
#define STUDY_CEILING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/spec/calibration.h"

struct ceiling_plan {
    double min_rps; /* tried if the start is too much */
    double start_rps;
    double max_rps;
    int bisections;
};

enum ceiling_found {
    FOUND_PASSED,
    FOUND_CLIENT, /* it failed because of the client ... */
    FOUND_STUB,   /* ... or because of the stub */
};

struct ceiling {
    struct ceiling_plan plan;
    double low_rps;  /* highest that passed; 0: none */
    double high_rps; /* lowest that failed twice; 0: none */
    double next_rps; /* 0: it is over */
    bool is_again;   /* the next one failed once */
    bool is_min_tried;
    int bisections;                    /* left */
    enum calibration_limit high_limit; /* why high_rps failed */
    enum calibration_limit limit;      /* why the last rate that counts failed,
                                          or one that was not repeated */
};

/* The result of one short run against stubs of our own.  Times as in a summary:
 * below 0 they are not known. */
struct probe_result {
    int64_t e2e_p50_ns;  /* from due ... */
    int64_t sent_p50_ns; /* ... and from sent */
    int64_t lag_p50_ns;
    int64_t lag_p99_ns;

    bool is_trusted;     /* no fatal check failed, and the stubs answered */
    const char *reason;  /* name of the first check that failed; "" */
    double client_share; /* share of the time that the client's busiest worker
                            spent on a CPU; 0: not known ... */
    double stub_share;   /* ... and the busiest stub */
    int stopped_by;      /* signal; the rest is then not filled in */
};

/* Did a probe that is not trusted fail because of its stubs? */
bool probe_is_stub_limited(const struct probe_result *r);

void ceiling_init(struct ceiling *c, const struct ceiling_plan *plan);

/* Is there another rate to probe?  If not, and whenever the caller stops,
 * low_rps and limit are the answer. */
bool ceiling_next(const struct ceiling *c, double *rate_rps);

/* What came of that probe. */
void ceiling_note(struct ceiling *c, enum ceiling_found found);

#endif
