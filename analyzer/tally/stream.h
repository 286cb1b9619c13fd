/* stream.h - one pass over the content events of a run: the pauses between
 * them, when tokens arrived, and whether they came in time to be read.
 *
 * Pauses go into the tally of the requests, which has the window and the
 * limits.  Memory does not grow with the recording.
 */
#ifndef ANALYZER_TALLY_STREAM_H
#define ANALYZER_TALLY_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/tally/tally.h"
#include "common/measure/measure.h"
#include "common/recording/schema.h"

struct slo;

/* ---- fluidity ----
 *
 * The deadline of the first token is due + ttft limit, of each later one a tpot
 * limit after the one before; a stream that is early may pause.  A late token
 * misses its deadline and one more for every tpot limit that it is late, and
 * deadlines start again from it.  The fluidity index of a request (Etalon's) is
 * deadlines met / (met + missed). */

#define FLUID_INDEX  0.9 /* a request with at least this index is fluid */
#define FLUID_BINS   1001
#define FLUID_FAILED 4096 /* failed streams that can be remembered */

struct fluid_limits {
    int64_t first_ns; /* 0: none, and no fluidity */
    int64_t next_ns;
};

/* A stream that is being read.  Doubles are exact for every run of less than a
 * hundred days and do not overflow on damaged recordings. */
struct fluid_stream {
    double deadline_ns;
    double met; /* deadlines */
    double missed;
    double tokens;
    double late; /* tokens that missed their deadline */
};

void fluid_begin(struct fluid_stream *s, const struct fluid_limits *l,
                 int64_t due_ns);

/* An event with at least one token. */
void fluid_event(struct fluid_stream *s, const struct fluid_limits *l,
                 double at_ns, int64_t tokens);

/* 0 to 1; 0 without any event. */
double fluid_index(const struct fluid_stream *s);

/* All streams of a window: due = ok + failed, ok >= seen. */
struct fluid {
    struct fluid_limits limits;
    int64_t ok;      /* with content events */
    int64_t failed;  /* for any reason; their index is 0 */
    int64_t seen;    /* ok, and their events are in the recording */
    int64_t fluid;   /* of those seen */
    double tokens;   /* of those seen */
    double late;     /* of these tokens, missed their deadline */
    bool is_assumed; /* an event did not say how many tokens it has */
    double sum;      /* of the indices */
    int64_t bins[FLUID_BINS];

    /* Failed requests that have events, so that they do not count as ok. */
    int64_t failed_seqs[FLUID_FAILED];
    size_t n_failed_seqs;
    bool is_sorted;
    int64_t n_forgotten; /* those for which there was no room */
};

/* Limits from an SLO: ttft, and tpot or else gap or itl.  Of several terms on a
 * measure the one with the highest quantile. */
struct fluid_limits fluid_limits_of(const struct slo *slo);

/* Before the events: a request that was due in the window. */
void fluid_see(struct fluid *f, const struct facts *row);

/* After the last event of a request that was due in the window. */
void fluid_end(struct fluid *f, int64_t seq, const struct fluid_stream *s);

struct fluid_summary {
    bool is_there;
    struct fluid_limits limits;
    int64_t due; /* streams */
    int64_t failed;
    int64_t unknown; /* ok, but their events are not in the recording */
    int64_t fluid;   /* with an index of at least FLUID_INDEX */
    double share;    /* fluid / due */
    double fluid_rps;
    double tokens_in_time; /* share, without failures */
    double mean;           /* of the index; failures count 0 */
    double p50;
    double p1; /* 99 % have at least this index */
    bool is_assumed;
};

struct fluid_summary fluid_sum_up(const struct fluid *f, double window_s);

/* ---- the pass ---- */

/* The last event read of a worker. */
struct event_cursor {
    int64_t seq; /* of the request; TIME_ABSENT: none yet */
    int64_t at_us;
    bool is_measured; /* it was due in the window */
    size_t slice;
    bool is_cut; /* its first events may be missing */
    struct fluid_stream fluid;
};

/* An SLO term on gap or itl. */
struct pooled_term {
    struct term_tally *tally;
    const struct slo_term *term;
    bool is_itl;
};

struct stream {
    struct tally *tally; /* borrowed */
    struct event_cursor cursors[RECORDING_MAX_SHARDS];
    struct pooled_term terms[SLO_MAX_TERMS];
    size_t n_terms;
    int64_t start_us; /* the window: start <= at < end */
    int64_t end_us;
    struct fluid fluid; /* by the limits of the tally's SLO */

    int64_t events;        /* in the whole recording */
    int64_t tokens;        /* in the events that say how many they have */
    int64_t tokens_inside; /* of those, arrived in the window */
};

/* `tally` must not move, and its window must be set. */
void stream_init(struct stream *s, struct tally *tally);

/* Before the events: a request. */
void stream_see(struct stream *s, const struct facts *f);

/* The next events of one worker. */
void stream_add(struct stream *s, unsigned shard,
                const struct content_event *events, size_t n);

/* Events are missing here: no pause is measured across the gap. */
void stream_break(struct stream *s);

/* After all events and requests: events that requests had but that are not in
 * the recording are open in every term. */
void stream_finish(struct stream *s);

#endif
