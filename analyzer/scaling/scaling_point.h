/* scaling_point.h - what was measured at one number of workers, and how it
 * stands to the baseline.  Pure.
 *
 * A value that nobody gave is NAN.  Times are seconds for the whole job; of
 * capacities a time is what one request takes on the average, 1 / capacity, so
 * that one arithmetic does for all regimes.
 */
#ifndef ANALYZER_SCALING_SCALING_POINT_H
#define ANALYZER_SCALING_SCALING_POINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/scaling/drain.h"
#include "analyzer/scaling/scaling_quality.h"
#include "analyzer/stats/trial_stats.h"
#include "common/base/str.h"

#define SCALE_CONFIDENCE 0.95

enum scale_regime {
    SCALE_STRONG,   /* one job, more workers */
    SCALE_WEAK,     /* K times the job on K workers */
    SCALE_CAPACITY, /* the largest rate within the objective */
};

enum scale_answer { SCALE_UNKNOWN, SCALE_YES, SCALE_NO };

struct scale_point {
    int64_t k;
    char *config;  /* what it was made with; "": nobody says.  Owned */
    char *where;   /* "times.csv:3", or a directory; owned */
    char *machine; /* of one worker, by a table; NULL: nobody says.  Owned */

    /* As measured. */
    double *times_s; /* run by run; NULL: only what follows.  Owned */
    size_t n_times;
    double mean_s;
    double std_s;
    double runs;
    double known_error; /* of the mean, as a share, where it is not from runs */
    double work;        /* units of a run */
    double tokens;      /* of a run */
    double usd_per_hour; /* of all K */
    double joules;       /* of a run */
    double quality;      /* a share */
    double quality_n;    /* answers that it is of, as if independent */
    double p50_ms;       /* latency */
    double p99_ms;
    enum scale_answer keeps_slo;
    enum scale_answer is_warm; /* warm-up and setup are not in the time */
    struct drain drain;        /* how its runs came to their end */
    struct strmap card; /* conditions, of the first of its recordings; owned */

    /* Worked out. */
    struct uncertain time_s;
    struct uncertain speedup; /* of K times the job: K T(1) / T(K) */
    struct uncertain efficiency;
    bool is_below; /* the threshold */
    struct quality_gate handoff;
    double usd; /* of a run */
    double usd_per_unit;
    double units_per_usd;
    double joules_per_unit;
    double units_per_s;
    double mfu;         /* model FLOPs utilisation, a share */
    double law_speedup; /* as Amdahl's or Gustafson's law has it */
    double usl_speedup;
};

/* Nothing is known but these. */
void scale_point_init(struct scale_point *p, int64_t k, const char *config,
                      const char *where);
void scale_point_fini(struct scale_point *p);

/* The double at that offset, for tables of columns. */
double scale_point_number(const struct scale_point *p, size_t offset);

/* One more run: its time, and mean and spread of all. */
void scale_point_add_time(struct scale_point *p, double seconds);

/* How far the mean may be off, as a share of it; NAN: one run, or no spread.
 * And the degrees of freedom of that. */
double scale_point_error(const struct scale_point *p);
double scale_point_freedom(const struct scale_point *p);

/* Time, speedup and efficiency against the baseline, with Student's intervals
 * (Welch's of a ratio, on logarithms). */
void scale_point_rate(struct scale_point *p, const struct scale_point *base,
                      enum scale_regime regime);

#endif
