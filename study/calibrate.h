/* calibrate.h - which rates this client can send on this machine: measured
 * against our own null stubs, transport by transport. */
#ifndef STUDY_CALIBRATE_H
#define STUDY_CALIBRATE_H

#include <stdbool.h>

#include "common/spec/calibration.h"

struct err;

struct calibrate_options {
    bool is_quick; /* less than 10 s per transport instead of about 30 s */
    bool wants[CALIBRATED_COUNT];

    /* A line of progress.  Optional. */
    void (*say)(const char *line);
};

/* Measure what was wanted, one transport after the other; *measured is how many
 * were finished and are in *out, also after an error or a signal (*stopped_by,
 * else 0).  The rest of *out is left as it is.  ERR_IO, ERR_CONFIG. */
int calibrate(const struct calibrate_options *options, struct calibration *out,
              int *measured, int *stopped_by, struct err *err);

#endif
