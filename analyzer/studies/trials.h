/* trials.h - everything that is said of a trial set, in one struct.
 *
 * Over trials: the median, the least and the greatest, and an interval of the
 * median that assumes nothing of how they scatter.  Never the best of them, and
 * never their requests in one pool.
 *
 * The verdict of a term is a sign test on its median: it holds when so many
 * trials keep it that the whole interval of the median does; it is missed when
 * as many miss it; else it is undecided.  Trials that are undecided themselves
 * count for neither.  Of a set that did not come to its end as many must agree
 * as of all that were asked for: the others could not change the verdict then.
 * docs/trials.md
 */
#ifndef ANALYZER_STUDIES_TRIALS_H
#define ANALYZER_STUDIES_TRIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/trial_stats.h"
#include "analyzer/tally/summary.h"
#include "common/recording/study_set.h"

struct err;
struct strlist;

#define TRIALS_CONFIDENCE 0.95

/* From so many requests a trial Student's interval over p99 is honest. */
#define TRIALS_HONEST_N 30000

/* Those of the run, then those of its classes, one after the other. */
#define TRIALS_MAX_TERMS (SLO_MAX_TERMS * (1 + CLASSES_MAX))

enum trial_rate {
    TRIAL_OFFERED,
    TRIAL_THROUGHPUT,
    TRIAL_GOODPUT,
    TRIAL_ATTAINMENT, /* a share */
    TRIAL_TOKENS,     /* a second; the same of good requests below */
    TRIAL_GOOD_TOKENS,
    TRIAL_QUALITY, /* a share of the answers that were checked */
    TRIAL_USD, /* of a thousand good requests, of a million tokens of them */
    TRIAL_USD_TOKENS,
    TRIAL_RATES,
};

/* "throughput_rps", as in a summary. */
const char *trial_rate_name(enum trial_rate rate);

struct trial;

/* Why this one lacks that rate. */
const char *trial_why_without(const struct trial *t, enum trial_rate rate);

struct trial_term {
    enum verdict verdict;
    double measured; /* ns of a quantile, which may be HIST_BEYOND and the like;
                        a share or a rate; NAN: nothing was measured */
};

/* What is kept of a trial's summary. */
struct trial {
    int64_t number; /* from 1 */
    uint64_t seed;
    enum verdict verdict;
    int exit_code;
    int64_t stopped_by; /* signal; 0: it came to its end */
    bool was_killed;
    const char *lost; /* "is empty", ...: its manifest, and so nothing below but
                         what is not there; NULL: it was read */
    bool was_aborted;
    bool was_overloaded;
    char distrust[48]; /* the first check that withdraws it; "": none */
    int64_t scheduled; /* ok, failed or never sent */
    int64_t ok;
    int64_t failed;
    int64_t checked;       /* answers */
    int64_t lost_requests; /* not in its recording, which is damaged ... */
    int64_t lost_events;   /* ... likewise content events */
    bool has_tokens;
    bool has_cost;
    bool is_streamed;
    double rate[TRIAL_RATES];
    /* From due, in ns; HIST_BEYOND and the like below 0. */
    double quantile_ns[MEASURE_COUNT][SUMMARY_QUANTILES];
    struct trial_term terms[TRIALS_MAX_TERMS];
};

/* One value of each trial that counts. */
struct over_trials {
    bool is_known;    /* every trial has one; else nothing below but: */
    double missing;   /* HIST_TOO_FEW and the like, of the first without */
    size_t n_missing; /* trials without */
    double least;     /* INFINITY: among the failures, and so on */
    double greatest;
    struct trials_median median;
    struct uncertain mean; /* Student's */
};

struct set_term {
    struct slo_term term;
    char *class; /* whose it is; NULL: the run's.  Owned */
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
    bool is_ns; /* else a rate or a share */
};

#define TRIALS_MAX_ODD 8

struct trials_summary {
    const char *dir; /* borrowed */
    char *title;     /* owned: name, target and load of the first */
    struct study_set set;

    struct trial *trials; /* owned */
    size_t n;
    size_t counted; /* that came to their end: the others are shown alone */

    size_t needed;           /* trials that must agree */
    double confidence;       /* of the interval of each median */
    int64_t least_scheduled; /* requests of the shortest trial that counts */

    struct over_trials rate[TRIAL_RATES];
    struct over_trials quantile[MEASURE_COUNT][SUMMARY_QUANTILES];
    struct set_term terms[TRIALS_MAX_TERMS];
    size_t n_terms;
    struct odd_trial odd[TRIALS_MAX_ODD];
    size_t n_odd;

    int64_t stopped_by;
    enum verdict verdict;
    int64_t withdrawn_by; /* number of a trial that is not to be trusted; 0 */
};

/* What is kept of a summary; its number and seed are the caller's. */
void trial_take(struct trial *t, const struct summary *s);

/* Its manifest is lost: there is nothing to take. */
void trial_take_lost(struct trial *t, const char *why);

/* The first that was read, for what all have in common; NULL: none. */
const struct trial *trials_first(const struct trials_summary *s);

/* Does it count? */
bool trial_is_whole(const struct trial *t);

/* Do fewer count than were asked for? */
bool trials_are_cut(const struct trials_summary *s);

/* Of n trials, how many must lie on one side of a limit, for their median to
 * do so at 95 %, or as near as they come to it; with its real confidence. */
size_t trials_needed(size_t n, double *confidence);

/* From trials, n, set and the terms' texts to all the rest.  Pure. */
void trials_work_out(struct trials_summary *s);

/* Read the set; `slo` and `cost` as for summary_make_priced().
 * trials_summary_fini() in any case. */
int trials_read(struct trials_summary *s, const char *dir,
                const struct strlist *slo, const struct cost_ask *cost,
                struct err *err);

/* Is there something of this to be said: does anybody count tokens, is there a
 * price? */
bool trials_have_rate(const struct trials_summary *s, enum trial_rate rate);
void trials_summary_fini(struct trials_summary *s);

/* As that of a run. */
int trials_exit_code(const struct trials_summary *s);

#endif
