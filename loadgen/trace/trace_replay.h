/* trace_replay.h - when the rows of a trace are due: cut to trace.from and
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
    int64_t origin_ns; /* the first row's time */
    bool reached_to;   /* ended by trace.to, not by the file */

    /* Of the rows of one time, which are spread: */
    struct trace ahead;     /* the same file, to know how many there are */
    const struct row *peek; /* the first of the next time; NULL: none yet */
    int64_t time_ns;
    int64_t left;     /* that are still to come */
    double place;     /* of the last one in the step, 0 to 1 */
    int64_t moved_ns; /* time of the last row, as moved */
    bool is_held;     /* it would have overtaken the one before */
};

struct replay_row {
    int64_t due_ns; /* after the start of the run; never decreasing */
    const struct row *row;
    bool is_tied; /* the trace has it at the same time as the one before */
    bool is_held; /* its place in the spread is before that one's: with it */
};

/* ERR_CONFIG.  replay_fini() may follow either way, and after all zero. */
int replay_open(struct replay *r, const struct load_settings *load,
                struct err *err);
void replay_fini(struct replay *r);

/* As trace_next(): 1, 0 after the last that is to be replayed, or -1.  On the
 * way to trace.from also ERR_STOPPED, see below. */
int replay_next(struct replay *r, struct replay_row *out, struct err *err);

/* A large file takes long: -1 and ERR_STOPPED if common/base/stop.h's flag was
 * set.
 */
int replay_check_stop(const struct replay *r, struct err *err);

/* Trace time as time of the run. */
int64_t replay_scale_ns(const struct trace_settings *s, int64_t ns);

#endif
