/* scaling_point.h - what was measured at one number of workers K, and how it
 * compares with the baseline.  Pure.
 *
 * Unknown values are NAN.  Times are seconds for the whole job.  For capacities
 * the time is that of one request on average, 1 / capacity, so that the same
 * arithmetic serves all regimes.
 */
#ifndef ANALYZER_SCALING_SCALING_POINT_H
#define ANALYZER_SCALING_SCALING_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/trial_stats.h"
#include "common/base/str.h"

#define SCALE_CONFIDENCE 0.95

enum scale_regime {
    SCALE_STRONG,   /* one job, more workers */
    SCALE_WEAK,     /* K times the job on K workers */
    SCALE_CAPACITY, /* the largest rate within the SLO */
};

enum scale_answer { SCALE_UNKNOWN, SCALE_YES, SCALE_NO };

/* What a deadline limits. */
enum scale_deadline_on { DEADLINE_TIME, DEADLINE_P50, DEADLINE_P99 };

/* Their names, and a NULL. */
extern const char *const scale_deadline_names[];

/* ---- quality ---- */

enum quality_verdict {
    QUALITY_UNKNOWN,   /* not measured, here or at the baseline */
    QUALITY_HELD,      /* not worse than the tolerance allows */
    QUALITY_DRIFTED,   /* worse than that */
    QUALITY_NOT_SHOWN, /* the interval includes the tolerance: too few answers
                        */
};

struct quality_check {
    enum quality_verdict verdict;
    struct uncertain drift; /* quality minus that of the baseline */
    double needed;          /* answers per side that could show it, if the drift
                               is as measured; NAN: no number can */
};

/* A share, and the number of answers behind it; NAN: unknown. */
struct quality_of {
    double share;
    double n;
};

/* Does a point hold the quality of the baseline?  A test of non-inferiority: it
 * must be shown not to be worse by more than the tolerance.  If both numbers of
 * answers are known, the difference has Newcombe's interval, from the Wilson
 * intervals of both; else the values alone decide. */
struct quality_check quality_judge(struct quality_of base,
                                   struct quality_of point, double tolerance);

/* May it be ranked: is quality held, or was it never measured? */
bool quality_allows(const struct quality_check *check);

/* ---- the end of a fixed set of requests ---- */

/* All requests are due at the start.  While every replica has work, answers
 * come at an even rate, which is measured between the first 10 % and 50 % of
 * them.  With evenly spread work the rest would come at that rate too.  The
 * extra time shows that some replicas are idle.  The rate of the last part is
 * that of the replicas still at work: that of one healthy replica if the work
 * was spread unevenly, and less if a replica is slow. */

#define DRAIN_LAST 0.05 /* share of the answers that form the last part */
#define DRAIN_MIN  40   /* minimum number of answers */

/* Means over the runs of a point. */
struct drain {
    int64_t runs;    /* 0: unknown */
    double bulk_rps; /* while all replicas have work */
    double uneven;   /* share of the time lost to an uneven end */
    double last_rps; /* of the last part */
};

/* One run: the times of its answers after the start, ascending.  The run ends
 * with the last of them. */
struct drain drain_of(const double *ends_s, size_t n);

/* Add a run to the means of a point. */
void drain_add(struct drain *all, const struct drain *run);

/* ---- targets ---- */

/* One of several targets of the runs of a point; means over the runs. */
struct scale_target {
    char *name; /* owned */
    int64_t runs;
    int64_t n; /* requests, in all runs */
    int64_t ok;
    int64_t good;
    double p50_ms; /* latency; NAN: unknown */
    double p99_ms;
    double slower;        /* times that the others take; NAN: unknown */
    int64_t straggler_in; /* number of runs in which it is a straggler */
};

/* Is it a straggler in most runs? */
bool scale_target_is_straggler(const struct scale_target *t);

/* ---- a point ---- */

/* The mean of values of the weight `before`, and of one more. */
double running_mean(double mean, double before, double x, double weight);

/* The weights of the means of a point so far: the number of runs that have the
 * value; of quality, the number of answers, or 1 per run if it is unknown. */
struct scale_weights {
    double comm_s;
    double tokens;
    double prompt_tokens;
    double output_tokens;
    double egress_gb;
    double joules;
    double quality;
    double p50_ms;
    double p99_ms;
    double usd_storage;
    double usd_egress;
};

/* Add a value to a mean of this weight; NAN is ignored. */
void scale_blend(double *mean, double *weight, double x, double added);

struct scale_point {
    int64_t k;
    char *config;  /* configuration; "": unknown.  Owned */
    char *where;   /* "times.csv:3", or a directory; owned */
    char *machine; /* machine of one worker, from a table; NULL: unknown.
                      Owned */

    /* As measured. */
    double *times_s; /* run by run; NULL: only the mean is known.  Owned */
    size_t n_times;
    double mean_s;
    double std_s;
    double runs;
    double known_error;   /* relative error of the mean, if not from runs */
    double comm_s;        /* part of the mean spent on communication */
    double work;          /* units per run */
    double tokens;        /* processed per run: prompts and output */
    double prompt_tokens; /* of those, of prompts; cached ones excluded */
    double output_tokens;
    double usd_per_hour; /* of all K */
    double egress_gb;    /* sent by the server per run; 1e9 bytes each */
    double storage_gb;   /* stored for all K */
    double joules;       /* per run */
    double quality;      /* a share */
    double quality_n;    /* effective number of independent answers */
    double p50_ms;       /* latency */
    double p99_ms;
    enum scale_answer keeps_slo;
    enum scale_answer is_warm;    /* the time excludes warm-up and setup */
    struct drain drain;           /* how its runs end */
    struct scale_target *targets; /* owned; none if the runs have one each */
    size_t n_targets;
    struct strmap conditions; /* of its first recording; owned */
    struct scale_weights weights;

    /* Computed. */
    struct uncertain time_s;
    struct uncertain speedup; /* for K times the job: K T(1) / T(K) */
    struct uncertain efficiency;
    bool is_below; /* efficiency is below the threshold */
    struct quality_check quality_check;
    double usd;         /* per run: machines, storage and egress */
    double usd_storage; /* part of usd */
    double usd_egress;  /* part of usd */
    double usd_per_unit;
    double units_per_usd;
    double joules_per_unit;
    double energy_ratio;            /* joules per unit, to those at K = 1 */
    enum scale_answer keeps_energy; /* within the tolerance; SCALE_UNKNOWN also
                                       if no limit was set */
    double units_per_s;
    double mfu;         /* model FLOPs utilisation, a share */
    double law_speedup; /* by Amdahl's or Gustafson's law */
    double usl_speedup;
    double communication_s; /* of a run, measured or by the fit */
    double computation_s;   /* the rest, in the same way */
};

/* All other values are unknown. */
void scale_point_init(struct scale_point *p, int64_t k, const char *config,
                      const char *where);
void scale_point_fini(struct scale_point *p);

/* What a deadline limits, in seconds; NAN: unknown. */
double scale_point_delay(const struct scale_point *p,
                         enum scale_deadline_on on);

/* The target with this name, added if needed. */
struct scale_target *scale_point_target(struct scale_point *p,
                                        const char *name);

/* The double at that offset, for tables of columns. */
double scale_point_number(const struct scale_point *p, size_t offset);

/* Add the time of a run; updates mean and spread. */
void scale_point_add_time(struct scale_point *p, double seconds);

/* Relative standard error of the mean; NAN: one run, or no spread.  And its
 * degrees of freedom. */
double scale_point_error(const struct scale_point *p);
double scale_point_freedom(const struct scale_point *p);

/* Set time, speedup and efficiency against the baseline, with Student's
 * intervals (Welch's for a ratio, on logarithms). */
void scale_point_rate(struct scale_point *p, const struct scale_point *base,
                      enum scale_regime regime);

#endif
