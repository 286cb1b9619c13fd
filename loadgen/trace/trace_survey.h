/* trace_survey.h - what a replay will send: the file is read once, as far as
 * the run will go, before anything is sent. */
#ifndef LOADGEN_TRACE_TRACE_SURVEY_H
#define LOADGEN_TRACE_TRACE_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/str.h"
#include "common/stats/hist.h"
#include "loadgen/trace/trace.h"

struct load_settings;

/* ---- the timeline: how many rows are due up to a time ---- */

/* Longer timelines are not kept: this is eleven days, and 8 MB. */
#define TIMELINE_SECONDS 1000000

struct timeline {
    int64_t *until; /* rows due before the end of each second; owned */
    size_t len;
    size_t cap;
};

/* Due times must not decrease. */
void timeline_add(struct timeline *t, int64_t due_ns);
void timeline_fini(struct timeline *t);

/* How many rows are due before until_ns; evenly spread within a second. */
double timeline_count(const struct timeline *t, double until_ns);

/* ---- the survey ---- */

#define SURVEY_EXAMPLES 5

struct survey {
    const char *format;      /* its name; static */
    bool was_detected;       /* the settings do not name it */
    struct trace_counts all; /* of the file up to the end of the replay */
    struct strlist damage;   /* the first damaged lines */
    int64_t rows;            /* that are replayed ... */
    int64_t warmup_rows;     /* ... of those, before the window */
    int64_t cooldown_rows;   /* ... after it */
    int64_t tied;            /* ... with the same time as the row before */
    int64_t held;            /* ... sent together with the row before, because
                                the spread is too wide */
    int64_t asked_ns;        /* load.duration as configured; 0: not set */
    int64_t start_ns;        /* of the window, in time of the run */
    int64_t end_ns;          /* of the replay, in time of the run */
    double peak_rps;         /* maximum of rows within a second of the run */
    struct hist input;       /* tokens, not ns */
    struct hist output;
    bool has_blocks; /* prompts share prefixes */
    struct timeline timeline;
    uint64_t hash; /* of the contents of all rows */
};

/* ERR_CONFIG, also if nothing is left to measure; ERR_STOPPED.  survey_fini()
 * may follow either way. */
int survey_make(struct survey *s, const struct load_settings *load,
                struct err *err);
void survey_fini(struct survey *s);

/* A few lines of text: what is replayed, and what is unusual about it. */
void survey_describe(const struct survey *s, const struct load_settings *load,
                     struct buf *out);

/* Do enough rows share their times that the bursts of the replay come from the
 * clock of the trace, not from its users? */
bool survey_is_quantised(const struct survey *s);

#endif
