/* fluid.h - did the tokens of a stream come in time to be read?
 *
 * The deadline of the first token is due + ttft limit, of each later one a tpot
 * limit after the one before: who was early may pause.  A token that is late
 * misses its deadline and one more for every tpot limit that it is late, and
 * the clock starts again with it.  A request's fluidity index (Etalon's) is
 * deadlines met / (met + missed).  Pure; memory does not grow with the run.
 */
#ifndef ANALYZER_TALLY_FLUID_H
#define ANALYZER_TALLY_FLUID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/tally/window.h"
#include "common/measure/measure.h"

struct slo;

#define FLUID_INDEX  0.9 /* a request is fluid from here on */
#define FLUID_BINS   1001
#define FLUID_FAILED 4096 /* failed streams that can be told from others */

struct fluid_limits {
    int64_t first_ns; /* 0: none; then there is no fluidity */
    int64_t next_ns;
};

/* A stream that is being read.  Doubles are exact for every run of less than a
 * hundred days, and do not overflow on what a damaged recording says. */
struct fluid_stream {
    double deadline_ns;
    double met; /* deadlines */
    double missed;
    double tokens;
    double late; /* of those */
};

void fluid_begin(struct fluid_stream *s, const struct fluid_limits *l,
                 int64_t due_ns);

/* An event with so many tokens, at least one. */
void fluid_event(struct fluid_stream *s, const struct fluid_limits *l,
                 double at_ns, int64_t tokens);

/* 0 to 1; 0 for one without an event. */
double fluid_index(const struct fluid_stream *s);

/* Streams of a window: due = ok + failed, ok >= seen. */
struct fluid {
    struct fluid_limits limits;
    int64_t ok;      /* with content events */
    int64_t failed;  /* of whatever kind; their index is 0 */
    int64_t seen;    /* ok, and their events are in the recording */
    int64_t fluid;   /* of those */
    double tokens;   /* of those seen */
    double late;     /* of those, that missed their deadline */
    bool is_assumed; /* an event did not say how many tokens it has */
    double sum;      /* of the indices */
    int64_t bins[FLUID_BINS];

    /* Failed, and yet with events: not to be taken for ok ones. */
    int64_t failed_seqs[FLUID_FAILED];
    size_t n_failed_seqs;
    bool is_sorted;
    int64_t n_forgotten; /* for which there was no room */
};

/* Limits of an objective: ttft, and tpot or else gap or itl, per measure that
 * of the highest quantile. */
struct fluid_limits fluid_limits_of(const struct slo *slo);

/* Before the events: a request that was due in the window. */
void fluid_see(struct fluid *f, const struct facts *row);

/* After the last event of a stream, of a request that was due in the window. */
void fluid_end(struct fluid *f, int64_t seq, const struct fluid_stream *s);

struct fluid_summary {
    bool is_there;
    struct fluid_limits limits;
    int64_t due; /* streams */
    int64_t failed;
    int64_t unknown; /* ok, and their events are not in the recording */
    int64_t fluid;   /* with an index of FLUID_INDEX or more */
    double share;    /* of those due */
    double fluid_rps;
    double tokens_in_time; /* share; failures not counted */
    double mean;           /* of the index, failures 0 */
    double p50;
    double p1; /* 99 % have at least that */
    bool is_assumed;
};

struct fluid_summary fluid_sum_up(const struct fluid *f, double window_s);

#endif
