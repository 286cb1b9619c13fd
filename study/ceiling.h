/* ceiling.h - the highest rate that passes: what to probe next.  Pure.
 *
 * The rate is doubled until it fails; then the gap between what passed and what
 * failed is halved a few times, by ratio.  A probe that fails is made once more
 * before it counts, since a machine on which others run fails one now and then.
 */
#ifndef STUDY_CEILING_H
#define STUDY_CEILING_H

#include <stdbool.h>

#include "common/spec/calibration.h"

struct ceiling_plan {
    double lowest_rps; /* tried if the start is too much; less is nothing */
    double start_rps;
    double most_rps; /* nobody needs to know more */
    int bisections;
};

enum ceiling_found {
    FOUND_PASSED,
    FOUND_CLIENT, /* it failed, by the client ... */
    FOUND_STUB,   /* ... or by the stub */
};

struct ceiling {
    struct ceiling_plan plan;
    double low_rps;  /* highest that passed; 0: none */
    double high_rps; /* lowest that failed twice; 0: none */
    double next_rps; /* 0: it is over */
    bool is_again;   /* the next one failed once */
    bool is_lowest_tried;
    int bisections;                    /* left */
    enum calibration_limit high_limit; /* what high_rps failed by */
    enum calibration_limit limit;      /* what any rate failed by that counts,
                                          or was not tried a second time */
};

void ceiling_init(struct ceiling *c, const struct ceiling_plan *plan);

/* Is there another rate to probe?  Else, or whenever the caller has had enough,
 * low_rps and limit are the answer. */
bool ceiling_next(const struct ceiling *c, double *rate_rps);

/* What came of that probe. */
void ceiling_note(struct ceiling *c, enum ceiling_found found);

#endif
