/* trace_survey.h - what a replay will come to: its file read once, as far as
 * the run will go, before anything is sent. */
#ifndef LOADGEN_TRACE_TRACE_SURVEY_H
#define LOADGEN_TRACE_TRACE_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/str.h"
#include "common/stats/hist.h"
#include "loadgen/trace/trace.h"
#include "loadgen/trace/trace_timeline.h"

struct buf;
struct err;
struct load_settings;

#define SURVEY_EXAMPLES 5

struct survey {
    const char *format;      /* its name; static */
    bool was_detected;       /* nobody named it */
    struct trace_counts all; /* of the file up to the end of the replay */
    struct strlist damage;   /* the first of the damaged lines */
    int64_t rows;            /* that are replayed ... */
    int64_t warmup_rows;     /* ... of those, before the window */
    int64_t cooldown_rows;   /* ... after it */
    int64_t tied;            /* ... at the time of the one before */
    int64_t held;            /* ... and with it since the spread is too wide */
    int64_t asked_ns;        /* how long the window was to be; 0: not said */
    int64_t start_ns;        /* of the window, in time of the run */
    int64_t end_ns;          /* of the replay, likewise */
    double peak_rps;         /* most rows within a second of the run */
    struct hist input;       /* tokens, not ns */
    struct hist output;
    bool has_blocks;          /* prompts begin alike */
    struct timeline timeline; /* of rows */
    uint64_t hash;            /* of all that the rows say */
};

/* ERR_CONFIG also where nothing is left to measure; ERR_STOPPED.  survey_fini()
 * may follow either way. */
int survey_make(struct survey *s, const struct load_settings *load,
                struct err *err);
void survey_fini(struct survey *s);

/* Some lines for people: what is replayed, and what is odd about it. */
void survey_describe(const struct survey *s, const struct load_settings *load,
                     struct buf *out);

/* So many rows share their times that the replay comes in bursts which are the
 * clock's of the trace, not its users'. */
bool survey_is_quantised(const struct survey *s);

#endif
