/* tally.h - one pass over the requests of a run: every count that the summary,
 * the verdict and the trust checks are based on.  No I/O.
 */
#ifndef ANALYZER_TALLY_TALLY_H
#define ANALYZER_TALLY_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/tally/notes.h"
#include "analyzer/tally/pace.h"
#include "analyzer/tally/tokens.h"
#include "analyzer/tally/window.h"
#include "common/measure/good.h"
#include "common/measure/measure.h"
#include "common/recording/schema.h"
#include "common/spec/shard_id.h"
#include "common/spec/slo.h"
#include "common/stats/dependence.h"
#include "common/stats/hist.h"
#include "common/stats/stats.h"

struct curve;

/* The window is cut into this many slices of equal length.  How much counts
 * differ between slices shows how far requests depend on each other. */
#define TALLY_SLICES 20

/* ---- values of an SLO term ---- */

/* Samples by value and slice, so that a term can be judged again with another
 * limit.  There is a cell for every number of three significant digits, so cell
 * edges are limits as people write them, and counts below an edge are exact.
 *
 * All zero is an empty grid; memory is allocated with the first value. */
struct grid {
    uint32_t (*cells)[TALLY_SLICES]; /* owned */
    size_t begin;                    /* cells in use: begin <= i < end */
    size_t end;
    int64_t never[TALLY_SLICES]; /* keep no limit: failed, out of range, or
                                    more than a cell can count */
};

/* Number of cells, and the lowest value of one.  For the cell after the last
 * one: the lowest value above all cells. */
size_t grid_len(void);
int64_t grid_edge_ns(size_t cell);

/* Counts requests, or for pooled measures the pauses between their events.
 * n = keeps + misses + open.  The samples of one request are not independent:
 * `requests` counts those that have the measure, and `waits` how much they
 * depend on each other. */
struct term_tally {
    int64_t n;
    int64_t keeps;
    int64_t open;        /* unfinished or lost: the value is unknown */
    int64_t lacks;       /* not part of n: ok, but without this measure */
    int64_t client_late; /* misses that a late client may have caused */
    struct batch misses[TALLY_SLICES];
    struct grid grid; /* quantile terms: n without `open`, by value */
    int64_t requests;
    struct dependence
        waits; /* their values as shares of the limit, at most 1 */
};

/* Add `count` samples of one value; below 0: a value that keeps no limit. */
void term_tally_add(struct term_tally *tt, const struct slo_term *term,
                    size_t slice, int64_t ns, int64_t count);

/* Add `count` requests that have one value each, or one mean value; below 0: it
 * keeps no limit.  `place` as in dependence_add(). */
void term_tally_depend(struct term_tally *tt, const struct slo_term *term,
                       double place, int64_t ns, int64_t count);

/* Add `count` samples whose value is unknown. */
void term_tally_add_open(struct term_tally *tt, size_t slice, int64_t count);

/* ---- why requests are not good ---- */

struct limit_misses {
    int64_t limit_ns; /* 0: no limit; the tightest one of several classes */
    int64_t missed;
    int64_t only; /* missed this limit and no other */
};

/* not_good = failed + several + the sum of `only`. */
struct misses {
    int64_t not_good;
    int64_t failed;  /* not ok for any reason, or never sent */
    int64_t several; /* ok, but missed two limits or more */
    struct limit_misses by[GOOD_LIMITS];
};

/* Number of limits that are set. */
int misses_limits(const struct misses *m);

/* "ttft", or "check". */
const char *misses_name(int limit);

/* ---- the tally ---- */

/* How a measure is viewed. */
enum view {
    VIEW_DUE,  /* from due, failures beyond every value: the headline */
    VIEW_OK,   /* from due; measures of the answer: successes only */
    VIEW_SENT, /* from sent, failures beyond every value */
    VIEW_COUNT,
};

/* Requests are numbered without gaps in order of due time, so missing ones can
 * be counted.  An open loop has one sequence, since its workers share one
 * schedule.  In a closed loop each of the n workers has its own: request seq
 * has place seq / n in sequence seq % n. */
struct sequence {
    int64_t max_place;        /* -1: none */
    int64_t max_place_before; /* due before the window; -1: none */
    int64_t before;          /* requests read that were due before the window */
    int64_t inside;          /* requests read that were due in the window */
    int64_t min_place_after; /* due after the window; -1: none */
};

/* A measure that a single request can have, and its properties. */
struct tally_measure {
    enum measure measure;
    bool is_of_answer;
    bool has_sent;
    bool is_added_later; /* see tally_add_later() */
};

/* HTTP statuses from this one on are not counted. */
#define TALLY_STATUSES 600

/* due = the sum of outcome[], which includes unsent requests.  Counts without a
 * comment on their window are of requests due in the window. */
struct tally {
    struct window window;
    const struct slo *slo;             /* borrowed */
    int64_t limit_ns[GOOD_LIMITS];     /* limits of a good request; 0: none; the
                                          tightest of several classes */
    const struct good_table *by_class; /* borrowed; NULL: no classes */
    struct tally_measure measures[MEASURE_COUNT];
    size_t n_measures;
    int64_t rows; /* requests in the whole recording */
    struct sequence sequences[RECORDING_MAX_SHARDS];
    int n_sequences;
    struct shard_layout shard; /* probe_every 0: see n_sequences */
    int64_t before;            /* due before the window */
    int64_t after;             /* due after the window */
    int64_t due;
    int64_t outcome[OUTCOME_COUNT];
    int64_t status[TALLY_STATUSES]; /* by HTTP status */
    int64_t good;
    int64_t client_late; /* not good, possibly because the client was late */
    int64_t ok_inside;   /* ended ok in the window */
    int64_t fresh;       /* opened a connection */
    int64_t reused;      /* were sent on an open connection */
    int64_t retried;     /* sent again, ... */
    int64_t resends;     /* ... so often all in all */
    int64_t starved;     /* facts_is_starved() */
    int64_t exhausted;   /* facts_is_exhausted() */
    int64_t gaps;        /* between content events */
    int64_t events;      /* content events in the whole recording */
    double bytes_in;     /* of requests that ended in the window */
    double bytes_out;
    double in_flight_ns; /* time in flight inside the window, of all requests */
    struct batch good_slices[TALLY_SLICES];
    struct batch ended_slices[TALLY_SLICES]; /* n: ended; hits: failed */
    struct batch check_slices[TALLY_SLICES]; /* n: checked; hits: passed */
    struct dependence waits; /* of all requests: time to the first content */
    struct misses misses;
    struct curve *curve; /* borrowed; NULL: not wanted */
    struct term_tally terms[SLO_MAX_TERMS];
    struct hist hist[MEASURE_COUNT][VIEW_COUNT]; /* VIEW_OK: tally_view() */
    struct hist buffered; /* minimum time that answers waited in the kernel */
    struct pace pace;
    struct tokens tokens;
    struct oddities oddities;
};

void tally_init(struct tally *t, struct window window, const struct slo *slo);
void tally_fini(struct tally *t);

/* Before the first row: limits depend on the class of a request.  Borrowed. */
void tally_set_good(struct tally *t, const struct good_table *good);

/* Before the first row; the default is one sequence.  More than
 * RECORDING_MAX_SHARDS are treated as one. */
void tally_set_sequences(struct tally *t, int64_t n);

/* The same, for one shard alone of a run with a probe shard. */
void tally_set_shard(struct tally *t, struct shard_layout layout);

/* Before the first row: the caller counts this measure from due itself, for
 * requests due in the window, and adds its histogram after the last row. */
void tally_add_later(struct tally *t, enum measure m);

void tally_add(struct tally *t, const struct facts *f);

/* Add the value that a request has, from due.  A failure is beyond every value
 * of the answer's measures; it has no value of the client's and the network's
 * measures unless the facts include one. */
void tally_add_value(struct hist *h, enum measure m, const struct facts *f);

/* A view of a measure, valid until the next row; the tally keeps its memory. */
struct hist tally_view(const struct tally *t, enum measure m, enum view v);

/* A due time in the window as a share of its length, at least 0 and below 1. */
double tally_place(const struct tally *t, int64_t due_ns);

/* The slice that a due time in the window belongs to. */
size_t tally_slice(const struct tally *t, int64_t due_ns);

/* n: checked answers; hits: those that passed. */
struct batch tally_checks(const struct tally *t);

/* Number of requests that must have existed in a sequence. */
int64_t tally_places(const struct tally *t, int sequence);

/* After the last row: add `count` requests that were issued but are not in the
 * recording.  Places tell how many of them must have been due before the window
 * or after it.  Returns how many were due in the window. */
int64_t tally_add_lost(struct tally *t, int64_t count);

/* Add `count` requests that were due in the window and are otherwise unknown.
 */
void tally_add_unknown(struct tally *t, int64_t count);

/* Share of requests that are good, with its interval; 0 if none was due. */
double tally_attainment(const struct tally *t, struct interval *ci95);

#endif
