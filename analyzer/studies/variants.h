/* variants.h - the summary of a study with variants: each variant at each load,
 * which one is ahead where, and why.  docs/studies.md
 *
 * A round is one run of each variant, with the same arrivals, next to each
 * other in time.  Two variants are compared by the ratios of the SLO's measure
 * within rounds.  They are shown to differ if Student's interval of the ratio,
 * corrected for the number of pairs and loads, excludes 1, and the ratio is
 * large enough to be worth mentioning.  If all variants are equal, at most 5 %
 * of studies show a difference.  docs/statistics-trials.md
 */
#ifndef ANALYZER_STUDIES_VARIANTS_H
#define ANALYZER_STUDIES_VARIANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/trial_stats.h"
#include "analyzer/studies/trials.h"
#include "analyzer/studies/valid_runs.h"
#include "analyzer/studies/variant_capacity.h"
#include "analyzer/verdict/conclusion.h"
#include "common/recording/study_set.h"

struct cost_ask;
struct err;
struct strlist;

/* What the time of a request in the server was spent on: from the truth log of
 * a stub server, or from the metrics of other servers.  Means over requests;
 * below 0: unknown. */
enum parts_from { PARTS_NONE, PARTS_TRUTH, PARTS_METRICS };

struct server_parts {
    enum parts_from from;
    double queue_ns;
    double work_ns; /* from the queue to the end of the answer */
    double batch;   /* number of requests processed together */
};

/* "truth", "metrics"; "" for PARTS_NONE. */
const char *parts_from_name(enum parts_from from);

/* What two variants are compared by. */
enum ranked_by {
    RANKED_BY_SLO,        /* quantiles of the SLO as a share of their limits;
                             of several the largest */
    RANKED_BY_MEDIAN,     /* without such a term, or with too few requests */
    RANKED_BY_THROUGHPUT, /* if both are overloaded, or a quantile is among the
                             failures */
    RANKED_BY_COUNT,
};

/* A run that can be trusted. */
struct variant_round {
    uint64_t seed; /* runs with the same one had the same arrivals */
    /* More is worse: a share, ns, seconds per answer.  NAN: unknown; INFINITY:
     * among the failures, or no answer. */
    double value[RANKED_BY_COUNT];
};

/* Fewer rounds show no difference. */
#define VARIANTS_MIN_ROUNDS 3

/* Of all differences that a report shows together.  The aim is 95 %, but the
 * results of runs are not normal: with 0.95 up to 5.7 % of 4,000 studies told
 * equal servers apart, with 0.96 up to 4.8 % (bench_variants 4000). */
#define VARIANTS_CONFIDENCE 0.96

/* One variant at one value of the varied setting. */
struct variant_cell {
    size_t runs;
    size_t counted; /* runs that completed and can be trusted; 0: the fields
                       below are unset */
    struct variant_round *rounds; /* owned; those runs */
    struct uncertain latency_ns;  /* median of the measure, or HIST_BEYOND and
                                    the like; mean over several runs */
    double tail_ns;               /* its p99, or HIST_BEYOND and the like */
    struct uncertain goodput_rps;
    double offered_rps;
    double completed_rps;
    struct uncertain throughput_rps; /* finished in the window */
    double attainment;
    double tokens_per_s;
    bool is_overloaded;   /* at least half of the runs */
    enum verdict verdict; /* FAIL if one run failed, PASS if all passed */
    struct server_parts parts;
    double usd_per_1000_good; /* below 0: unknown */
};

struct variant {
    const struct variant_entry *entry; /* borrowed from the set */
    char *says; /* the settings it changes, as text; owned.  NULL: nothing was
                   recorded */
    struct variant_cell *cells; /* owned; one per value */
    struct capacity capacity;
    char distrust[RUN_OBSTACLE]; /* why a run does not count; "": all count */
};

/* Position in a ranking. */
struct variant_place {
    size_t variant;
    size_t rank; /* 1 + the number of variants that are shown to be better; 0:
                    no data */
};

enum standing { STANDING_UNKNOWN, STANDING_AHEAD, STANDING_BEHIND };

/* Variant b against a at one load. */
struct variant_pair {
    enum ranked_by by;
    size_t rounds;          /* 0: not comparable, and the rest is unset */
    struct uncertain ratio; /* b's value / a's: above 1, b is worse.  The range
                               is at the corrected confidence; none with too
                               few rounds */
    bool is_different;      /* the range excludes 1 */
    bool is_same; /* the range excludes differences worth mentioning */
    enum standing observed; /* of a; unknown if not worth mentioning */
    enum standing shown;    /* the same if is_different, else unknown */
};

/* All variants at one load. */
struct variants_ranking {
    enum ranked_by by;            /* for those that are not overloaded */
    struct variant_place *places; /* owned; best first */
    struct variant_pair *pairs;   /* owned; [a * n + b]; see variants_pair() */
};

/* One variant is ahead at light load, the other at higher load. */
struct crossover {
    size_t early;
    size_t late;
    size_t from;   /* index of the last value at which the first is ahead */
    size_t to;     /* index of the first value at which the other is ahead */
    double at;     /* estimated value between them; NAN: unknown */
    bool is_shown; /* else as observed: there are too few rounds */
    char *why;     /* explanation for the user; owned */
};

struct variants_summary {
    const char *dir;  /* borrowed */
    char *title;      /* owned: name and load */
    bool is_insecure; /* a run did not verify the server's certificate */
    struct variant_set set;
    struct variant *list; /* owned; one per entry of the set */

    char key[64];  /* the varied setting: "load.rate"; "": none */
    char unit[16]; /* of its values */
    bool is_rate;
    double *values; /* owned; ascending */
    size_t n_values;

    enum measure measure; /* of the first SLO term about a time; else e2e */
    char ranked[64];      /* "e2e p95": the SLO's measure; "": there is none */
    int64_t limit_ns;     /* its limit; 0: there are several */
    double smallest;      /* difference worth mentioning, as a share */
    size_t asked;         /* runs of each variant at each value */
    bool has_slo;
    bool has_tokens;
    bool has_cost;
    char *terms; /* SLO terms as text; owned */

    struct variants_ranking *rankings; /* owned; one per value */
    struct variant_place *capacities;  /* owned; by capacity, largest first */
    bool has_capacity;                 /* of at least one variant */
    struct crossover *crossings;       /* owned */
    size_t n_crossings;
};

/* Computes rankings, crossings and the order of capacities from values and
 * cells; variants_results_fini() releases them.  Pure. */
void variants_work_out(struct variants_summary *s);
void variants_results_fini(struct variants_summary *s);

/* The rankings alone. */
void variants_rank(struct variants_summary *s);

const struct variant_pair *variants_pair(const struct variants_summary *s,
                                         size_t value, size_t a, size_t b);

/* Geometric mean over runs; NAN: unknown. */
double variants_value(const struct variant_cell *c, enum ranked_by by);

/* "80/s", into `out`. */
#define VARIANTS_VALUE 48
const char *variants_show_value(const struct variants_summary *s, double value,
                                char out[static VARIANTS_VALUE]);

/* Read it; `slo` and `cost` as for summary_make_priced(), `smallest` is the
 * difference worth mentioning (below 0: as recorded).  variants_summary_fini()
 * in any case. */
int variants_read(struct variants_summary *s, const char *dir,
                  const struct strlist *slo, const struct cost_ask *cost,
                  double smallest, struct err *err);
void variants_summary_fini(struct variants_summary *s);

/* Failed if a variant could not be run, open if one has too few valid runs
 * (valid_runs.h), else yes. */
enum conclusion variants_conclusion(const struct variants_summary *s);

#endif
