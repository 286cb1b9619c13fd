/* sweep.h - everything that is said of a sweep, in one struct: the curves of
 * latency, throughput and goodput over what was varied, its knee, and where it
 * saturates.  docs/sweep.md
 *
 * Of several runs at a value the median counts, and a run that is not to be
 * trusted counts for nothing.
 */
#ifndef ANALYZER_STUDIES_SWEEP_H
#define ANALYZER_STUDIES_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/studies/trials.h"
#include "common/recording/study_set.h"

struct cost_ask;
struct err;
struct strlist;

/* A throughput below this share of what was offered, or of the most there was,
 * has fallen behind. */
#define SWEEP_KEEPS_UP 0.95

struct sweep_point {
    const struct study_point *at; /* borrowed from the set */
    struct trial run;
    bool counts; /* it came to its end, and is to be trusted */
};

/* All runs at one value. */
struct sweep_value {
    double value;
    size_t runs;
    size_t counted; /* 0: nothing below */
    double rate[TRIAL_RATES];
    double quantile_ns[MEASURE_COUNT][SUMMARY_QUANTILES]; /* or HIST_BEYOND */
    bool is_overloaded; /* half of the runs, or more */
    enum verdict verdict;
};

struct sweep_summary {
    const char *dir;      /* borrowed */
    char *title;          /* owned: name and target; and the load, */
    char *load;           /* without what was varied */
    struct strlist terms; /* of the objective, as text */
    bool has_rate;        /* what was varied is a rate ... */
    bool is_load;         /* ... or at least how much is asked */
    bool is_streamed;
    bool has_tokens;
    bool has_cost;
    struct study_set set;

    struct sweep_point *points; /* owned; those recorded, as they were made */
    size_t n;
    struct sweep_value *values; /* owned; in their order */
    size_t n_values;
    size_t withdrawn; /* points that do not count */

    /* Of values; NULL: there is none. */
    const struct sweep_value *knee;       /* most throughput / latency */
    const struct sweep_value *saturation; /* the lowest that fell behind */
    const struct sweep_value *best;       /* most goodput */
    const struct sweep_value *within;     /* the highest below all that missed
                                             the objective */
    double most_rps;                      /* throughput, over all values */
};

/* From set and points to all the rest.  Pure. */
void sweep_work_out(struct sweep_summary *s);

/* Read it; `slo` and `cost` as for summary_make_priced().
 * sweep_summary_fini() in any case. */
int sweep_read(struct sweep_summary *s, const char *dir,
               const struct strlist *slo, const struct cost_ask *cost,
               struct err *err);
void sweep_summary_fini(struct sweep_summary *s);

/* 0; 4 where a value has no run to be trusted, 130/143 interrupted. */
int sweep_exit_code(const struct sweep_summary *s);

#endif
