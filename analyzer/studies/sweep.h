/* sweep.h - the summary of a sweep: latency, completed requests and goodput
 * over the varied setting, the knee of the curve, and where it saturates.
 * docs/sweep.md
 *
 * Several runs at one value count by their median.  Runs that cannot be trusted
 * do not count.
 */
#ifndef ANALYZER_STUDIES_SWEEP_H
#define ANALYZER_STUDIES_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/studies/trials.h"
#include "analyzer/verdict/conclusion.h"
#include "common/recording/study_set.h"

struct cost_ask;
struct err;
struct strlist;

/* A server that completes less than this share of the requests that were due
 * does not keep up.  The clients of a closed loop that complete this share of
 * the maximum saturate it. */
#define SWEEP_KEEPS_UP 0.95

/* A window is long against the latency if e2e p99 is at most this share of it.
 */
#define SWEEP_LONG 0.05

struct sweep_point {
    const struct study_point *at; /* borrowed from the set */
    struct trial run;
    bool counts; /* it completed and can be trusted */
};

/* All runs at one value. */
struct sweep_value {
    double value;
    size_t runs;
    size_t counted; /* runs that count; 0: the fields below are unset */
    double rate[TRIAL_RATES];
    double quantile_ns[MEASURE_COUNT][SUMMARY_QUANTILES]; /* or HIST_BEYOND */
    bool is_overloaded;   /* at least half of the runs */
    bool is_judged;       /* whether they were, of at least half of them */
    double e2e_p99_share; /* of the window; below 0: unknown */
    enum verdict verdict;
};

struct sweep_summary {
    const char *dir;      /* borrowed */
    char *name;           /* owned: "": none */
    char *title;          /* owned: name and target */
    char *load;           /* owned: without the varied setting */
    struct strlist terms; /* SLO terms, as text */
    bool has_rate;        /* the varied setting is the rate */
    bool is_load;         /* it is the rate or the number of clients */
    bool is_streamed;
    bool has_tokens;
    bool has_cost;
    struct study_set set;

    struct sweep_point *points; /* owned; recorded ones, in order of time */
    size_t n;
    struct sweep_value *values; /* owned; ascending */
    size_t n_values;
    size_t withdrawn; /* points that do not count */

    /* Point into values; NULL: none. */
    const struct sweep_value *knee;       /* maximum of completed / latency */
    const struct sweep_value *saturation; /* the lowest that is saturated */
    const char *no_saturation;            /* why it is NULL; static */
    const struct sweep_value *slow;       /* the lowest below saturation with a
                                             window that is not long */
    const struct sweep_value *best;       /* maximum goodput */
    const struct sweep_value *within;     /* the highest below all that missed
                                             the SLO */
    double most_rps; /* maximum that finished in a window */
    double most_completed_rps;
};

/* Computes the rest from set and points.  Pure. */
void sweep_work_out(struct sweep_summary *s);

/* Read it; `slo` and `cost` as for summary_make_priced().
 * sweep_summary_fini() in any case. */
int sweep_read(struct sweep_summary *s, const char *dir,
               const struct strlist *slo, const struct cost_ask *cost,
               struct err *err);
void sweep_summary_fini(struct sweep_summary *s);

/* Open if a value has no run that can be trusted, else yes. */
enum conclusion sweep_conclusion(const struct sweep_summary *s);

#endif
