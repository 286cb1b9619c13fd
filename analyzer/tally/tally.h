/* tally.h - one pass over the facts of a run: every count that the summary,
 * the verdict and the trust checks are made of.  Pure but for its histograms.
 */
#ifndef ANALYZER_TALLY_TALLY_H
#define ANALYZER_TALLY_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/tally/grid.h"
#include "analyzer/tally/misses.h"
#include "analyzer/tally/notes.h"
#include "analyzer/tally/tokens.h"
#include "analyzer/tally/window.h"
#include "analyzer/verdict/pace.h"
#include "common/measure/good.h"
#include "common/measure/measure.h"
#include "common/recording/schema.h"
#include "common/spec/slo.h"
#include "common/stats/hist.h"
#include "common/stats/stats.h"

struct curve;

/* How a measure is looked at. */
enum view {
    VIEW_DUE,  /* from due, failures beyond: the headline */
    VIEW_OK,   /* from due, successes alone, of the answer's measures */
    VIEW_SENT, /* from sent, failures beyond */
    VIEW_COUNT,
};

/* n = keeps + misses + open.  Of requests, or of pauses between the events of
 * all of them. */
struct term_tally {
    int64_t n;
    int64_t keeps;
    int64_t open;   /* unfinished or lost: nobody knows */
    int64_t lacks;  /* beside the n: ok, but without the measure */
    int64_t spoilt; /* of the misses: the client may be why */
    struct batch misses[TALLY_BATCHES];
    struct grid grid; /* of a quantile: the n without those open, by value */
};

/* Places in a lane have no gaps and grow with due, so that what is missing
 * shows.  Request seq has place seq / n in lane seq % n of n.  The open loop is
 * one lane however many workers there are, since they share its schedule; in a
 * closed loop each worker numbers its own. */
struct place_lane {
    int64_t max_place;        /* -1: none */
    int64_t max_place_before; /* of those due before the window; -1: none */
    int64_t before;           /* seen, due before the window */
    int64_t inside;           /* seen, due in it */
    int64_t min_place_after;  /* of those due after it; -1: none */
};

/* A measure that a request can have, and what is asked of it for each. */
struct tally_measure {
    enum measure measure;
    bool is_of_answer;
    bool has_sent;
    bool is_elsewhere; /* others count it from due: tally_leave() */
};

/* HTTP statuses that are counted; what is beyond is none. */
#define TALLY_STATUSES 600

/* due = sum of outcome[], unsent among them. */
struct tally {
    struct window window;
    const struct slo *slo;         /* borrowed */
    int64_t limit_ns[GOOD_LIMITS]; /* a good request keeps them; 0: none.  Of
                                      several classes the tightest */
    const struct good_table *by_class; /* borrowed; NULL: there are none */
    struct tally_measure measures[MEASURE_COUNT];
    size_t n_measures;
    int64_t rows; /* requests read, in the whole recording */
    struct place_lane lanes[RECORDING_MAX_SHARDS];
    int n_lanes;
    int64_t before;                 /* due before the window */
    int64_t after;                  /* due after it */
    int64_t due;                    /* due in the window */
    int64_t outcome[OUTCOME_COUNT]; /* of those */
    int64_t status[TALLY_STATUSES]; /* of those, that had an HTTP status */
    int64_t good;                   /* of those */
    int64_t ok_inside;              /* ended ok in the window */
    int64_t fresh;                  /* opened a connection */
    int64_t reused;                 /* were sent on one that was there */
    int64_t retried;                /* sent again after a stale connection */
    int64_t starved;                /* facts_is_starved() */
    int64_t exhausted;              /* facts_is_exhausted() */
    int64_t gaps;                   /* between events of those due in it */
    int64_t events;                 /* of the whole recording */
    double bytes_in;                /* of those that ended in the window */
    double bytes_out;
    double
        in_flight_ns; /* of all that were sent, the time of it in the window */
    struct batch good_batches[TALLY_BATCHES];
    struct batch ended_batches[TALLY_BATCHES]; /* ended; hits: failed */
    struct batch check_batches[TALLY_BATCHES]; /* checked answers that passed */
    struct misses misses;                      /* of those that are not good */
    struct curve *curve; /* borrowed; NULL: nobody asked for one */
    struct term_tally terms[SLO_MAX_TERMS];
    struct hist hist[MEASURE_COUNT][VIEW_COUNT]; /* VIEW_OK: tally_view() */
    struct hist buffered; /* how long answers lay in the kernel, at least */
    struct pace pace;
    struct tokens tokens;
    struct oddities oddities;
};

void tally_init(struct tally *t, struct window window, const struct slo *slo);
void tally_fini(struct tally *t);

/* Before the first row: what is good depends on a request's class.  Borrowed.
 */
void tally_set_good(struct tally *t, const struct good_table *good);

/* Before the first row; one lane unless told.  More than RECORDING_MAX_SHARDS
 * are not told apart. */
void tally_set_lanes(struct tally *t, int64_t n);
void tally_add(struct tally *t, const struct facts *f);

/* What a request has of a measure, from due.  A failure is beyond every limit
 * of the answer; it has no part in measures of the client and the network,
 * unless the facts give them. */
void tally_add_value(struct hist *h, enum measure m, const struct facts *f);

/* Before the first row: somebody else counts this measure from due, of the
 * requests that are due in the window, and adds it all after the last row. */
void tally_leave(struct tally *t, enum measure m);

/* How a measure looks, until the next row; its memory is the tally's.  The
 * successes alone are those from due without what failed, and not counted a
 * second time. */
struct hist tally_view(const struct tally *t, enum measure m, enum view v);

/* Samples of a term: all of one value, or that keep no limit (below 0). */
void term_tally_add(struct term_tally *tt, const struct slo_term *term,
                    size_t batch, int64_t ns, int64_t count);

/* Of which nobody knows. */
void term_tally_add_open(struct term_tally *tt, size_t batch, int64_t count);

/* In which batch of the window is what is due in it? */
size_t tally_batch(const struct tally *t, int64_t due_ns);

/* Answers that were checked, and of those passed. */
struct batch tally_checks(const struct tally *t);

/* Requests that there must have been in a lane, by the places seen. */
int64_t tally_places(const struct tally *t, int lane);

/* Requests that the recording lost: issued, and nobody knows how they ended.
 * After all the others: those whose place is before the first one seen in the
 * window, in their lane, were due before it, and those whose place is behind
 * the first one seen after the window were due after it.  Returns how many were
 * neither. */
int64_t tally_add_lost(struct tally *t, int64_t count);

/* So many of which nothing is known but that they were due in the window. */
void tally_add_unknown(struct tally *t, int64_t count);

/* The share of what was due that is good, and what chance makes of it; 0 if
 * nothing was due. */
double tally_attainment(const struct tally *t, struct interval *ci95);

#endif
