/* exit_status.h - the only place where exit statuses are computed. */
#ifndef CLI_EXIT_STATUS_H
#define CLI_EXIT_STATUS_H

#include <stdint.h>

#include "analyzer/verdict/conclusion.h"

struct err;
struct summary;
struct trials_summary;

/* If several apply, the first of 2, 3, 130/143, 4 (invalid), 1, 4 (undecided),
 * 0 is used. */
enum exit_code {
    EXIT_YES = 0,
    EXIT_NO = 1,
    EXIT_USAGE = 2,
    EXIT_CANNOT = 3,
    EXIT_INVALID = 4,
    EXIT_SIGNAL = 128, /* plus the number of the signal that ended the run */
};

/* `stopped_by` is the signal that interrupted what was measured, 0 if none. */
int exit_status_of(enum conclusion conclusion, int64_t stopped_by);

/* The status of a command that failed with this error. */
int exit_status_of_error(const struct err *err);

int exit_status_of_run(const struct summary *s);
int exit_status_of_trials(const struct trials_summary *s);

#endif
