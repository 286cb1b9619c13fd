/* variants.h - everything that is said of a study with variants, in one struct:
 * each at each load, who is ahead where, and why.  docs/studies.md
 *
 * At one load those that keep the objective stand by their median latency, the
 * others behind them by their goodput, and where that tells nothing by their
 * throughput.  Two that neither intervals nor, under the very same arrivals,
 * pairs of requests can tell apart share a place.
 */
#ifndef ANALYZER_STUDIES_VARIANTS_H
#define ANALYZER_STUDIES_VARIANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/trial_stats.h"
#include "analyzer/studies/server_time_parts.h"
#include "analyzer/studies/short_run_median.h"
#include "analyzer/studies/trials.h"
#include "analyzer/studies/variant_capacity.h"
#include "common/recording/study_set.h"

struct cost_ask;
struct err;
struct strlist;

/* One variant at one value of what was varied. */
struct variant_cell {
    size_t runs;
    size_t counted; /* that came to their end and are to be trusted; 0: nothing
                       below */
    struct uncertain latency_ns; /* median of the measure, or HIST_BEYOND and
                                    the like; of several runs their mean */
    double tail_ns;              /* its p99, or HIST_BEYOND and the like */
    struct uncertain goodput_rps;
    double offered_rps;
    struct uncertain throughput_rps;
    double attainment;
    double tokens_per_s;
    bool is_overloaded;   /* half of the runs, or more */
    enum verdict verdict; /* FAIL if one of them failed, PASS if all passed */
    struct latencies latencies; /* of the one run; none where there are more */
    struct server_parts parts;
    double usd_per_1000_good; /* below 0: not known */
};

struct variant {
    const struct variant_entry *entry; /* borrowed from the set */
    char *says; /* what it says over the study, as text; owned.  NULL: nothing
                   was recorded */
    struct variant_cell *cells; /* owned; as many as there are values */
    struct capacity capacity;
    char distrust[96]; /* why a run does not count; "": all do */
};

/* A place at one value. */
struct variant_place {
    size_t variant;
    size_t rank; /* from 1; 0: nothing is known of it */
};

/* One is ahead at light load, the other at more of it. */
struct crossover {
    size_t early;
    size_t late;
    size_t from; /* value: the last at which the first is ahead ... */
    size_t to;   /* ... and the first at which the other is */
    double at;   /* about where, between them; NAN: not known */
    char *why;   /* one sentence or more, fit for the user; owned */
};

struct variants_summary {
    const char *dir; /* borrowed */
    char *title;     /* owned: name and load */
    struct variant_set set;
    struct variant *list; /* owned; as many as in the set */

    char key[64];  /* what was varied: "load.rate"; "": nothing */
    char unit[16]; /* behind its values */
    bool is_rate;
    double *values; /* owned; ascending */
    size_t n_values;

    enum measure measure; /* of the latency that they are ranked by */
    bool has_slo;
    bool has_tokens;
    bool has_cost;
    char *terms; /* of the objective, as text; owned */

    struct variant_place *places;     /* owned; [value * n + place] */
    struct variant_place *capacities; /* owned; by capacity, largest first */
    bool has_capacity;                /* of one of them at least */
    struct crossover *crossings;      /* owned */
    size_t n_crossings;
};

/* From values and cells to places and crossings.  Pure. */
void variants_work_out(struct variants_summary *s);

enum standing { STANDING_UNKNOWN, STANDING_AHEAD, STANDING_BEHIND };

/* How a stands against b at one load; unknown also if intervals do not tell.
 * Pure. */
enum standing variants_standing(const struct variant_cell *a,
                                const struct variant_cell *b);

/* Why the crossover is where it is, as far as the parts show.  The caller owns
 * it.  Pure. */
char *variants_explain(const struct variants_summary *s,
                       const struct crossover *x);

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

/* 0; 3 where a variant could not be run, 4 where one has no run to be trusted,
 * 130/143 interrupted. */
int variants_exit_code(const struct variants_summary *s);

#endif
