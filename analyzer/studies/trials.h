/* trials.h - the summary of a trial set.
 *
 * Over trials: median, minimum and maximum, and an interval of the median that
 * makes no assumption about the distribution.  Never the best trial, and never
 * the requests of all trials in one pool.
 *
 * A trial that cannot be trusted is discarded (valid_runs.h): it is listed, and
 * nothing else.  If too few valid ones remain, those whose client was only late
 * count too, as in the verdict of a run; if these are too few, the set is
 * invalid.
 *
 * An SLO term is observed: is the share of misses of all trials together at
 * most what the term allows?  And it is tested: does the share of each trial,
 * with its effective samples, show that with 95 % confidence (share_trials.h)?
 * A set that did not complete has a verdict only if it is shown by at least
 * half of the trials.
 * docs/trials.md
 */
#ifndef ANALYZER_STUDIES_TRIALS_H
#define ANALYZER_STUDIES_TRIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/share_trials.h"
#include "analyzer/stats/trial_stats.h"
#include "analyzer/studies/set_precision.h"
#include "analyzer/studies/valid_runs.h"
#include "analyzer/tally/summary.h"
#include "analyzer/verdict/conclusion.h"
#include "common/recording/study_set.h"
#include "common/spec/until.h"

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
    enum verdict verdict; /* as observed */
    double measured; /* a quantile in ns (or HIST_BEYOND and the like), a share
                        or a rate; NAN: not measured */
    struct share_sample sample; /* samples whose outcome is known; n 0: the term
                                   is not about a share */
    double open;       /* further samples that kept the limit or missed it */
    bool is_judgeable; /* false: no number of requests is enough */
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
    char discarded[RUN_OBSTACLE]; /* why it does not count; "": it does */
    bool is_late; /* that is only because the client was late, and its verdict
                     allows for it */
    int64_t scheduled; /* ok, failed or never sent */
    int64_t ok;
    int64_t failed;
    int64_t checked;       /* number of checked answers */
    int64_t lost_requests; /* missing from a damaged recording */
    int64_t lost_events;   /* missing content events */
    bool has_tokens;
    bool has_cost;
    bool is_streamed;
    double window_s;
    double within_ns; /* standard error of what study.until asks for, from this
                         trial alone; NAN: unknown */
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
    char *class;             /* request class; NULL: the whole run.  Owned */
    enum verdict verdict;    /* as observed */
    bool is_shown;           /* PASS or FAIL, with 95 % confidence */
    double p;                /* significance of PASS or FAIL; 1: not tested */
    int64_t kept;            /* trials that keep it as observed, ... */
    int64_t missed;          /* ... and that miss it */
    double allowed;          /* share of misses; below 0: not about a share */
    struct share_sample all; /* all trials as one sample */
    struct interval bounds;  /* one-sided, of the share of misses; of a rate if
                                it is not about a share */
    int64_t needed; /* about how many such trials would show it; 0: it is shown,
                       or unknown; TRIALS_MANY: that many or more */
    struct over_trials measured;
};

#define TRIALS_MANY STUDY_MAX_TRIALS

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
    char *name;      /* owned: of the first trial; "": none */
    char *title;     /* owned: name, target and load of the first trial */
    struct study_set set;

    struct trial *trials; /* owned */
    size_t n;
    size_t counted;   /* complete, valid trials; the others are only listed */
    size_t discarded; /* complete trials that cannot be trusted */
    size_t late;      /* trials that count although the client was late */

    int64_t needed;          /* about how many trials like these would show the
                                verdict; 0: it is shown, or unknown */
    double confidence;       /* of the interval of each median */
    int64_t least_scheduled; /* requests of the shortest trial that counts */

    struct over_trials rate[TRIAL_RATES];
    struct over_trials quantile[MEASURE_COUNT][SUMMARY_QUANTILES];
    struct set_term *terms; /* owned */
    size_t n_terms;
    struct odd_trial odd[TRIALS_MAX_ODD];
    size_t n_odd;

    bool has_until; /* a precision was asked for */
    struct until until;
    struct set_precision precision;

    int64_t stopped_by;
    enum verdict verdict;
    bool is_shown;
    bool require_shown; /* a verdict that is not shown is inconclusive */
};

/* Fill from a summary; number and seed are up to the caller. */
void trial_take(struct trial *t, const struct summary *s);

/* Fill for a trial whose manifest is unusable. */
void trial_take_lost(struct trial *t, const char *why);

/* The first readable trial, for what all have in common; NULL: none. */
const struct trial *trials_first(const struct trials_summary *s);

/* Did it complete? */
bool trial_is_whole(const struct trial *t);

/* Is it used: is it complete, and can it be trusted? */
bool trial_counts(const struct trial *t);

/* Are fewer trials complete than were requested? */
bool trials_are_cut(const struct trials_summary *s);

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
