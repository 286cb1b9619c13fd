/* calibrate.h - what this client on this machine can be trusted with: against
 * null stubs of our own, transport by transport. */
#ifndef STUDY_CALIBRATE_H
#define STUDY_CALIBRATE_H

#include <stdbool.h>

#include "common/spec/calibration.h"

struct err;

struct calibrate_options {
    bool is_quick; /* under 10 s a transport instead of about half a minute */
    bool wants[CALIBRATED_COUNT];

    /* A line of progress.  Optional. */
    void (*say)(const char *line);
};

/* Measure and fill in what was wanted; the rest of *out is left as it is.
 * After a signal (*stopped_by, else 0) what is in *out is not to be used.
 * ERR_IO, ERR_CONFIG. */
int calibrate(const struct calibrate_options *options, struct calibration *out,
              int *stopped_by, struct err *err);

#endif
