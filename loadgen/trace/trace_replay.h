/* trace_replay.h - the due times of the rows of a trace: cut to trace.from and
 * trace.to, spread over the steps of its clock, at trace.time_scale times its
 * speed.
 *
 * A pure function of the file, the settings and the seed, in memory that does
 * not grow with the file.
 */
#ifndef LOADGEN_TRACE_TRACE_REPLAY_H
#define LOADGEN_TRACE_TRACE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "loadgen/trace/trace.h"

struct load_settings;

struct replay {
    struct trace trace;
    const struct trace_settings *settings; /* borrowed */
    uint64_t seed;
    bool has_begun;
    int64_t origin_ns; /* time of the first row */
    bool reached_to;   /* ended by trace.to, not by the file */

    /* For trace.spread: the rows that have the same time. */
    struct trace ahead; /* the same file, to count these rows */
    const struct row
        *peek; /* the first row with a later time; NULL: not read */
    int64_t time_ns;
    int64_t left;     /* how many of these rows are still to come */
    double place;     /* of the last one in the step, 0 to 1 */
    int64_t moved_ns; /* spread time of the last row */
    bool is_held;     /* it would have come before the previous row */
};

struct replay_row {
    int64_t due_ns; /* after the start of the run; never decreasing */
    const struct row *row;
    bool is_tied; /* has the same time in the trace as the previous row */
    bool is_held; /* its spread time is before that of the previous row, so it
                     is sent together with it */
};

/* ERR_CONFIG.  replay_fini() may follow either way, and is safe on zeroed
 * memory. */
int replay_open(struct replay *r, const struct load_settings *load,
                struct err *err);
void replay_fini(struct replay *r);

/* As trace_next(): 1, 0 after the last row to replay, or -1; also ERR_STOPPED
 * while rows before trace.from are skipped. */
int replay_next(struct replay *r, struct replay_row *out, struct err *err);

/* Copy the first row of a trace; other scenarios have none, and `row` stays as
 * it is.  ERR_CONFIG. */
int replay_first(const struct load_settings *load, struct row *row,
                 struct err *err);

/* Reading a large file takes long: -1 and ERR_STOPPED if the flag of
 * common/base/stop.h is set. */
int replay_check_stop(const struct replay *r, struct err *err);

/* Converts time of the trace to time of the run. */
int64_t replay_scale_ns(const struct trace_settings *s, int64_t ns);

#endif
