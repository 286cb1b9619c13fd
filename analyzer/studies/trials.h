/* trials.h - the summary of a trial set.
 *
 * Over trials: median, minimum and maximum, and an interval of the median that
 * makes no assumption about the distribution.  Never the best trial, and never
 * the requests of all trials in one pool.
 *
 * The verdict on an SLO term is a sign test on its median.  The term passes if
 * enough trials meet it for the whole interval of the median to meet it, fails
 * if as many trials miss it, and is undecided otherwise.  Trials that are
 * undecided themselves count for neither.  In a set that did not complete, as
 * many trials must agree as in the full set, so that the missing ones could not
 * change the verdict.  docs/trials.md
 */
#ifndef ANALYZER_STUDIES_TRIALS_H
#define ANALYZER_STUDIES_TRIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/trial_stats.h"
#include "analyzer/tally/summary.h"
#include "analyzer/verdict/conclusion.h"
#include "common/recording/study_set.h"

struct err;
struct strlist;

#define TRIALS_CONFIDENCE 0.95

/* Requests per trial from which on Student's interval over p99 is honest. */
#define TRIALS_HONEST_N 30000

/* The terms of the run, then those of its classes. */
#define TRIALS_MAX_TERMS (SLO_MAX_TERMS * (1 + CLASSES_MAX))

enum trial_rate {
    TRIAL_OFFERED,
    TRIAL_COMPLETED,
    TRIAL_GOODPUT,
    TRIAL_THROUGHPUT, /* finished in the window */
    TRIAL_ATTAINMENT, /* a share */
    TRIAL_TOKENS,     /* per second, like the next, for good requests */
    TRIAL_GOOD_TOKENS,
    TRIAL_QUALITY, /* share of the checked answers */
    TRIAL_USD,     /* per thousand good requests; next: per million of their
                      tokens */
    TRIAL_USD_TOKENS,
    TRIAL_RATES,
};

/* Key as in the summary: "throughput_rps". */
const char *trial_rate_name(enum trial_rate rate);

struct trial;

/* Why a trial does not have this rate. */
const char *trial_why_without(const struct trial *t, enum trial_rate rate);

struct trial_term {
    enum verdict verdict;
    double measured; /* a quantile in ns (or HIST_BEYOND and the like), a share
                        or a rate; NAN: not measured */
};

/* What is kept from the summary of a trial. */
struct trial {
    int64_t number; /* from 1 */
    uint64_t seed;
    enum verdict verdict;
    enum conclusion conclusion;
    int64_t stopped_by; /* signal; 0: it came to its end */
    bool was_killed;
    const char *lost; /* why its manifest is unusable ("is empty"), so that the
                         fields below are unset; NULL: it was read */
    bool was_aborted;
    bool was_overloaded;
    bool is_load_judged; /* it is known whether it was */
    char distrust[48];   /* the first fatal check that failed; "": none */
    int64_t scheduled;   /* ok, failed or never sent */
    int64_t ok;
    int64_t failed;
    int64_t checked;       /* number of checked answers */
    int64_t lost_requests; /* missing from a damaged recording */
    int64_t lost_events;   /* missing content events */
    bool has_tokens;
    bool has_cost;
    bool is_streamed;
    double rate[TRIAL_RATES];
    double e2e_p99_share; /* of the window; below 0: unknown */
    /* From the due time, in ns; below 0: HIST_BEYOND and the like. */
    double quantile_ns[MEASURE_COUNT][SUMMARY_QUANTILES];
    struct trial_term terms[TRIALS_MAX_TERMS];
};

/* One value over all trials that count. */
struct over_trials {
    bool is_known;    /* every trial has a value; else only the next two are
                         set */
    double missing;   /* HIST_TOO_FEW and the like, of the first without one */
    size_t n_missing; /* trials without one */
    double least;     /* minimum; INFINITY: among the failures */
    double greatest;  /* maximum */
    struct trials_median median;
    struct uncertain mean; /* Student's */
};

struct set_term {
    struct slo_term term;
    char *class; /* request class; NULL: the whole run.  Owned */
    enum verdict verdict;
    int64_t kept; /* trials */
    int64_t missed;
    struct over_trials measured;
};

/* A trial far from the others: shown, not dropped. */
struct odd_trial {
    int64_t number;
    char what[32]; /* "e2e p99" */
    double value;
    double median;
    bool is_ns; /* else it is a rate or a share */
};

#define TRIALS_MAX_ODD 8

struct trials_summary {
    const char *dir; /* borrowed */
    char *title;     /* owned: name, target and load of the first trial */
    struct study_set set;

    struct trial *trials; /* owned */
    size_t n;
    size_t counted; /* complete trials; the others are only listed */

    size_t needed;           /* number of trials that must agree */
    double confidence;       /* of the interval of each median */
    int64_t least_scheduled; /* requests of the shortest trial that counts */

    struct over_trials rate[TRIAL_RATES];
    struct over_trials quantile[MEASURE_COUNT][SUMMARY_QUANTILES];
    struct set_term *terms; /* owned */
    size_t n_terms;
    struct odd_trial odd[TRIALS_MAX_ODD];
    size_t n_odd;

    int64_t stopped_by;
    enum verdict verdict;
    int64_t
        withdrawn_by; /* number of a trial that cannot be trusted; 0: none */
};

/* Fill from a summary; number and seed are up to the caller. */
void trial_take(struct trial *t, const struct summary *s);

/* Fill for a trial whose manifest is unusable. */
void trial_take_lost(struct trial *t, const char *why);

/* The first readable trial, for what all have in common; NULL: none. */
const struct trial *trials_first(const struct trials_summary *s);

/* Did it complete?  Only complete trials count. */
bool trial_is_whole(const struct trial *t);

/* Do fewer trials count than were requested? */
bool trials_are_cut(const struct trials_summary *s);

/* How many of n trials must lie on one side of a limit for their median to do
 * so at 95 %, or at the highest confidence that n allows, which is returned. */
size_t trials_needed(size_t n, double *confidence);

/* Computes the rest from trials, n, set and the terms.  Pure. */
void trials_work_out(struct trials_summary *s);

/* Read the set; `slo` and `cost` as for summary_make_priced().
 * trials_summary_fini() in any case. */
int trials_read(struct trials_summary *s, const char *dir,
                const struct strlist *slo, const struct cost_ask *cost,
                struct err *err);

/* Is this rate available (are tokens counted, is there a price)? */
bool trials_have_rate(const struct trials_summary *s, enum trial_rate rate);
void trials_summary_fini(struct trials_summary *s);

/* As summary_conclusion(), of the whole set. */
enum conclusion trials_conclusion(const struct trials_summary *s);

#endif
