/* variants.h - the summary of a study with variants: each variant at each load,
 * which one is ahead where, and why.  docs/studies.md
 *
 * At one load, variants that meet the SLO are ranked by their median latency.
 * The others come after them, ranked by goodput, or by throughput if goodput
 * does not distinguish them.  Variants share a rank if neither intervals nor
 * (with identical arrivals) pairs of requests can tell them apart.
 */
#ifndef ANALYZER_STUDIES_VARIANTS_H
#define ANALYZER_STUDIES_VARIANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/trial_stats.h"
#include "analyzer/studies/short_run_median.h"
#include "analyzer/studies/trials.h"
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

/* One variant at one value of the varied setting. */
struct variant_cell {
    size_t runs;
    size_t counted; /* runs that completed and can be trusted; 0: the fields
                       below are unset */
    struct uncertain latency_ns; /* median of the measure, or HIST_BEYOND and
                                    the like; mean over several runs */
    double tail_ns;              /* its p99, or HIST_BEYOND and the like */
    struct uncertain goodput_rps;
    double offered_rps;
    struct uncertain throughput_rps;
    double attainment;
    double tokens_per_s;
    bool is_overloaded;         /* at least half of the runs */
    enum verdict verdict;       /* FAIL if one run failed, PASS if all passed */
    struct latencies latencies; /* of a single run; empty for several */
    struct server_parts parts;
    double usd_per_1000_good; /* below 0: unknown */
};

struct variant {
    const struct variant_entry *entry; /* borrowed from the set */
    char *says; /* the settings it changes, as text; owned.  NULL: nothing was
                   recorded */
    struct variant_cell *cells; /* owned; one per value */
    struct capacity capacity;
    char distrust[96]; /* why a run does not count; "": all count */
};

/* Position in a ranking. */
struct variant_place {
    size_t variant;
    size_t rank; /* from 1; 0: no data */
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

    enum measure measure; /* the latency that ranks the variants */
    bool has_slo;
    bool has_tokens;
    bool has_cost;
    char *terms; /* SLO terms as text; owned */

    struct variant_place *places;     /* owned; [value * n + place] */
    struct variant_place *capacities; /* owned; by capacity, largest first */
    bool has_capacity;                /* of at least one variant */
    struct crossover *crossings;      /* owned */
    size_t n_crossings;
};

/* Computes places and crossings from values and cells.  Pure. */
void variants_work_out(struct variants_summary *s);

enum standing { STANDING_UNKNOWN, STANDING_AHEAD, STANDING_BEHIND };

/* How a stands against b at one load; unknown also if intervals overlap.
 * Pure. */
enum standing variants_standing(const struct variant_cell *a,
                                const struct variant_cell *b);

/* "80/s", into `out`. */
#define VARIANTS_VALUE 48
const char *variants_show_value(const struct variants_summary *s, double value,
                                char out[static VARIANTS_VALUE]);

/* Read it; `slo` and `cost` as for summary_make_priced().
 * variants_summary_fini() in any case. */
int variants_read(struct variants_summary *s, const char *dir,
                  const struct strlist *slo, const struct cost_ask *cost,
                  struct err *err);
void variants_summary_fini(struct variants_summary *s);

/* Failed if a variant could not be run, open if one has no run that can be
 * trusted, else yes. */
enum conclusion variants_conclusion(const struct variants_summary *s);

#endif
