/* run_bins.h - a run in bins that can be drawn: requests over time, latencies
 * by time and size, time to first token against pace and prompt length, and the
 * percentile spectrum.
 *
 * Filled in one pass, rows in any order.  Memory does not depend on the length
 * of the run.  Bins of latency have equal width on a log scale and start at the
 * limit of the SLO, so that the limit is an edge and counts beyond it are
 * exact.
 */
#ifndef ANALYZER_TALLY_RUN_BINS_H
#define ANALYZER_TALLY_RUN_BINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/tally/window.h"
#include "common/measure/good.h"
#include "common/measure/measure.h"

struct facts;
struct judgement;
struct observation;
struct series;
struct steady;
struct tally;

#define BINS_TIME 240 /* maximum number of bins of due time */

/* Latency: 4.4 % per row, a factor of a million to each side of the base.  */
#define BINS_PER_OCTAVE 16
#define BINS_BASE       320 /* row of the base */
#define BINS_ROWS       640

/* Two latencies against each other, or one against a number of tokens. */
#define BINS_CELL_OCTAVE  8
#define BINS_CELL_BASE    96 /* cell of the base */
#define BINS_CELLS        192
#define BINS_TOKEN_ROWS   96
#define BINS_TOKEN_OCTAVE 4

/* Points of the spectrum: 32 per decade of 1 / (1 - p) up to 10 million
 * requests, the quantiles with a name and those of the SLO. */
#define BINS_POINTS 256

/* Values of one measure by due time and size. */
struct value_bins {
    enum measure measure;
    int64_t base_ns;
    bool has_limit;               /* the base is the limit of the SLO */
    float per_ns;                 /* 1 / base_ns */
    uint32_t (*cells)[BINS_ROWS]; /* owned; [time][row]; NULL: no value */
};

enum bins_measure { BINS_TTFT, BINS_TPOT, BINS_E2E, BINS_LAG, BINS_MEASURES };

/* Quantiles in the window.  Values in ns, or HIST_ codes. */
struct spectrum {
    int64_t n;
    int64_t failed;
    bool has_sent;
    size_t len;
    double p[BINS_POINTS]; /* ascending, 0 to below 1 */
    int64_t due_ns[BINS_POINTS];
    int64_t sent_ns[BINS_POINTS];
    double n_effective;          /* independent requests worth as much */
    int64_t low_ns[BINS_POINTS]; /* 95 % band of due_ns */
    int64_t high_ns[BINS_POINTS];
};

/* A mean over the observations in a bin. */
struct bin_mean {
    double sum;
    int64_t n;
};

struct run_bins {
    struct window window;
    int64_t end_ns;  /* the last due time that is shown */
    int64_t step_ns; /* width of a bin */
    size_t n;        /* bins, from the start of the run; 0: nothing to show */
    double per_ns;
    int64_t due[BINS_TIME];
    int64_t ok[BINS_TIME];
    int64_t good[BINS_TIME];
    int64_t outcome[BINS_TIME][OUTCOME_COUNT];
    int64_t lag_max_ns[BINS_TIME];
    struct value_bins values[BINS_MEASURES];
    int64_t limit_ns[GOOD_LIMITS];

    /* Of ok requests in the window. */
    uint32_t (*plane)[BINS_CELLS];  /* owned; [ttft][tpot] */
    uint32_t (*prompt)[BINS_CELLS]; /* owned; [prompt tokens][ttft] */
    int64_t corner[2][2];           /* [ttft is late][tpot is late] */

    /* After run_bins_end(). */
    struct spectrum *spectra;    /* owned; by enum bins_measure, without lag */
    double in_flight[BINS_TIME]; /* mean */
    struct bin_mean running[BINS_TIME]; /* of the server, ... */
    struct bin_mean waiting[BINS_TIME];
    struct bin_mean cache_use[BINS_TIME]; /* ... share of one */
    int64_t preemptions[BINS_TIME];       /* so far; -1: unknown */
    int64_t prompt_tokens[BINS_TIME];     /* so far; -1: unknown, ... */
    int64_t cached_tokens[BINS_TIME];     /* ... and those from the cache */
    struct bin_mean busy[BINS_TIME]; /* of the client's busiest thread, ... */
    struct bin_mean cpu_wait[BINS_TIME]; /* ... shares of one */
    struct bin_mean steal[BINS_TIME];
    bool has_server;
    bool has_client;
    bool is_partial; /* the run goes on: there are no spectra */
};

/* `end_ns`: requests due later are not shown.  `limit_ns` as in struct tally.
 */
void run_bins_init(struct run_bins *b, struct window window, int64_t end_ns,
                   const int64_t limit_ns[static GOOD_LIMITS]);
void run_bins_fini(struct run_bins *b);

void run_bins_add(struct run_bins *b, const struct facts *f, bool is_good);

/* What is known after the last row; borrowed. */
struct run_bins_end {
    const struct tally *tally;         /* has the histograms, ... */
    const struct series *series;       /* requests in flight, ... */
    const struct judgement *judgement; /* what requests are worth to it, ... */
    const struct steady *steady;       /* ... or to the precision of p50 */
    const char *dir; /* recording: what client and server say */
};

void run_bins_end(struct run_bins *b, const struct run_bins_end *end);

/* ---- a run that is still going on ---- */

/* Make every bin twice as wide, so that the run may take twice as long.  What
 * is filled in by run_bins_end() is left out, except for the client. */
void run_bins_widen(struct run_bins *b);

/* What a worker says about itself, and what it said a second before. */
void run_bins_observe(struct run_bins *b, const struct observation *last,
                      const struct observation *seen);

/* A copy of the requests due before end_ns, without spectra.  run_bins_fini().
 */
void run_bins_copy_until(struct run_bins *to, const struct run_bins *from,
                         int64_t end_ns);

/* Add the median, and p90 to p99.9, of the window so far, in place of whole
 * spectra. */
void run_bins_take_quantiles(struct run_bins *b);

/* Add what the server says, from the recording at `dir`. */
void run_bins_read_server(struct run_bins *b, const char *dir);

/* ---- reading ---- */

/* Lower edge of a row in ns. */
double value_bins_edge_ns(const struct value_bins *v, int row);

/* The quantile of the requests due in bins [from, to), interpolated in its row;
 * failures of that time rank after every value.  HIST_BEYOND if it is among
 * them, HIST_EMPTY if there are too few to bound it. */
double run_bins_quantile_ns(const struct run_bins *b, enum bins_measure m,
                            size_t from, size_t to, double q);

/* The same for the window. */
double run_bins_window_quantile_ns(const struct run_bins *b,
                                   enum bins_measure m, double q);

#endif
