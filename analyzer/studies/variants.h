/* variants.h - the summary of a study with variants: each variant at each load,
 * which one is ahead where, and why.  docs/studies.md
 *
 * A round is one run of each variant, with the same arrivals, next to each
 * other in time.  Variants are compared within rounds, by the measure of the
 * SLO.  Two are called different if the interval of their ratio, corrected for
 * the number of pairs and loads, excludes 1, and the ratio itself is large
 * enough to be worth mentioning.  If variants are equal, the report of a study
 * calls some of them different in at most 5 % of studies.
 */
#ifndef ANALYZER_STUDIES_VARIANTS_H
#define ANALYZER_STUDIES_VARIANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/block_contrasts.h"
#include "analyzer/stats/trial_stats.h"
#include "analyzer/studies/trials.h"
#include "analyzer/studies/variant_capacity.h"
#include "analyzer/verdict/conclusion.h"
#include "common/base/str.h"
#include "common/recording/study_set.h"

struct cost_ask;
struct err;

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
    RANKED_BY_SLO,        /* the quantile of the SLO; of several the one that
                             uses most of its limit */
    RANKED_BY_MEDIAN,     /* without such a term, or with too few requests */
    RANKED_BY_MISSES,     /* requests that are not good, or those that are,
                             whichever are fewer */
    RANKED_BY_THROUGHPUT, /* of overloaded servers, whose latencies depend on
                             how long the run was */
    RANKED_BY_COUNT,
};

/* What a run, or a part of its window, says for that. */
struct variant_values {
    double slo_share; /* largest quantile of an SLO term as a share of its
                         limit; INFINITY: among the failures; NAN: there is no
                         such term, or too few requests */
    double median_ns; /* INFINITY and NAN likewise */
    double due;       /* requests */
    double good;
    double throughput_rps;
};

/* With fewer rounds, parts of the windows take their place. */
#define VARIANTS_MIN_ROUNDS 3
#define VARIANTS_PARTS      5

/* A run that can be trusted. */
struct variant_run {
    uint64_t round; /* runs with the same number are compared */
    struct variant_values all;
    struct variant_values parts[VARIANTS_PARTS];
    bool has_parts;       /* they were read */
    bool are_parts_apart; /* each is long enough to depend little on the one
                             before it */
};

/* One variant at one value of the varied setting. */
struct variant_cell {
    size_t runs;
    size_t counted; /* runs that completed and can be trusted; 0: the fields
                       below are unset */
    struct variant_run *rounds;  /* owned; those runs */
    struct uncertain latency_ns; /* median of the measure, or HIST_BEYOND and
                                    the like; mean over several runs */
    double tail_ns;              /* its p99, or HIST_BEYOND and the like */
    struct uncertain goodput_rps;
    double offered_rps;
    struct uncertain throughput_rps;
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
    struct strlist invalid; /* runs that do not count: "trial-2 (lag p99)" */
    char distrust[96];      /* why the first of them does not; "": all count */
};

/* Position in a ranking. */
struct variant_place {
    size_t variant;
    size_t rank; /* 1 + the number of variants that are shown to be better; 0:
                    not ranked */
};

enum standing { STANDING_UNKNOWN, STANDING_AHEAD, STANDING_BEHIND };

/* Two variants at one load. */
struct variant_pair {
    enum ranked_by by;
    struct block_contrast contrast; /* of logarithms; above 0: b is worse */
    bool is_known;                  /* the rest is set */
    double p_value;
    size_t corrected;       /* for how many pairs and loads (Holm) */
    double ratio;           /* b's value / a's */
    struct interval range;  /* at the corrected confidence */
    bool is_same;           /* the range excludes differences that are worth
                               mentioning */
    enum standing standing; /* of a */
};

/* All variants at one load. */
struct variants_ranking {
    enum ranked_by by; /* for those that are not overloaded */
    bool are_too_few;  /* requests for the SLO's quantile: by median */
    bool counts_good;  /* misses are more than half: good ones count */
    bool is_within;    /* too few rounds: parts of the runs are compared */
    size_t ranked;     /* number of variants */
    size_t needed;     /* valid runs to be ranked: three, and half of those
                          that were asked for; all if fewer were */
    double *log_value; /* owned; per variant: the mean logarithm of what
                          `by` says; NAN: unknown */
    struct variant_place *places; /* owned; best first */
    struct variant_pair *pairs;   /* owned; see block_pair() */
};

/* One variant is ahead at light load, the other at higher load. */
struct crossover {
    size_t early;
    size_t late;
    size_t from; /* index of the last value at which the first is ahead */
    size_t to;   /* index of the first value at which the other is ahead */
    double at;   /* estimated value between them; NAN: unknown */
    char *why;   /* explanation for the user; owned */
};

struct variants_summary {
    const char *dir; /* borrowed */
    char *title;     /* owned: name and load */
    struct variant_set set;
    struct variant *list; /* owned; one per entry of the set */

    char key[64];  /* the varied setting: "load.rate"; "": none */
    char unit[16]; /* of its values */
    bool is_rate;
    double *values; /* owned; ascending */
    size_t n_values;

    enum measure measure; /* of the first SLO term about a time; else e2e */
    double quantile;      /* of that term; 0: there is none */
    int64_t limit_ns;     /* of that term, if there is only one; else 0 */
    double smallest;      /* smallest difference worth mentioning, as a share */
    size_t asked;         /* runs of each variant at each value, at least */
    bool has_slo;
    bool has_tokens;
    bool has_cost;
    char *terms; /* SLO terms as text; owned */

    struct variants_ranking *rankings; /* owned; one per value */
    double confidence;                 /* of all of them together */
    struct variant_place *capacities;  /* owned; by capacity, largest first */
    bool has_capacity;                 /* of at least one variant */
    struct crossover *crossings;       /* owned */
    size_t n_crossings;
};

/* Of all statements that the report of a study makes, if all variants are
 * equal. The aim is 95 %.  Latencies are not normal: with 0.95, up to 6.7 % of
 * simulated studies told equal servers apart, with 0.96 at most 5 %
 * (bench_variants). */
#define VARIANTS_CONFIDENCE 0.96

/* Computes rankings, crossings and the order of capacities from values and
 * cells.  Pure. */
void variants_work_out(struct variants_summary *s);

/* The rankings alone, at this confidence for all of them together.
 * variants_ranking_fini() releases each of them. */
void variants_rank(struct variants_summary *s, double confidence);
void variants_ranking_fini(struct variants_ranking *r);

/* Are parts of a window long enough to depend little on each other?  From the
 * mean latency in equal bins of time; NAN: no request.  Pure. */
#define VARIANTS_BINS 200
bool variants_parts_are_apart(const double bins[static VARIANTS_BINS]);

/* How a stands against b at one value. */
enum standing variants_standing(const struct variants_summary *s, size_t value,
                                size_t a, size_t b);

/* The pair as seen from a: b's value / a's. */
struct variant_pair variants_pair(const struct variants_summary *s,
                                  size_t value, size_t a, size_t b);

/* "e2e p95": what this ranking is by. */
#define VARIANTS_MEASURE 64
const char *variants_show_measure(const struct variants_summary *s,
                                  enum ranked_by by,
                                  char out[static VARIANTS_MEASURE]);

/* "80/s", into `out`. */
#define VARIANTS_VALUE 48
const char *variants_show_value(const struct variants_summary *s, double value,
                                char out[static VARIANTS_VALUE]);

/* Read it; `slo` and `cost` as for summary_make_priced(), `smallest` as in the
 * summary (below 0: as recorded).  variants_summary_fini() in any case. */
int variants_read(struct variants_summary *s, const char *dir,
                  const struct strlist *slo, const struct cost_ask *cost,
                  double smallest, struct err *err);
void variants_summary_fini(struct variants_summary *s);

/* Failed if a variant could not be run, open if one that was recorded is not
 * ranked, else yes. */
enum conclusion variants_conclusion(const struct variants_summary *s);

#endif
