/* cohorts.h - requests counted by one SLO: those of the run, by each tier of
 * its SLO, and by the terms of each class of the workload.
 *
 * A tier, such as gold or silver, is judged as if it were the whole SLO.  The
 * requests of a class are counted like those of the run, in the same window.
 */
#ifndef ANALYZER_TALLY_COHORTS_H
#define ANALYZER_TALLY_COHORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/read/reader.h"
#include "analyzer/tally/distribution.h"
#include "analyzer/tally/queries.h"
#include "analyzer/tally/stream.h"
#include "analyzer/tally/tally.h"
#include "analyzer/verdict/judge.h"
#include "common/measure/good.h"
#include "common/settings/classes.h"
#include "common/spec/slo.h"
#include "common/stats/stats.h"

struct err;
struct strlist;
struct tiers;

/* ---- one cohort ---- */

/* All requests, counted by one SLO: that of the run, or of one tier. */
struct cohort {
    struct good_table good;
    struct tally tally;
    struct stream stream;
    struct queries queries;
};

/* How the requests of the run, or of one class, are counted; borrowed. */
struct cohort_plan {
    struct window window;
    int64_t sequences;
    struct shard_layout shard; /* of one shard alone, with a probe shard */
    int64_t query_size;
    const struct tiers *run;       /* their limits also apply to classes */
    const struct classes *classes; /* and those of classes to the run */
};

/* Initialise everything but `good`, which must be set. */
void cohort_init(struct cohort *c, const struct slo *slo,
                 const struct cohort_plan *plan);
void cohort_fini(struct cohort *c);

void cohort_add(struct cohort *c, const struct facts *f);
void cohort_add_events(struct cohort *c, const struct event_rows *e);

/* After the last row and event of a run that lost `lost` of its `expected`
 * requests.  Returns how many of the lost ones were due in the window. */
int64_t cohort_end(struct cohort *c, int64_t lost, int64_t expected);

/* ---- tiers ---- */

struct tier_summary {
    struct slo slo; /* its terms, each with the name of the tier */
    struct judgement judgement;
    enum verdict verdict; /* after trust checks and load are considered */
    int64_t good;
    double goodput_rps;
    double goodput_tokens_per_s;
    double attainment; /* if anything was due */
    struct interval attainment_ci95;
    struct fluid_summary fluid; /* tiers of the run only, not of classes */
};

/* In the order in which they are listed: the best first. */
struct tiers {
    struct tier_summary *items; /* owned */
    size_t len;
};

/* Parse the terms of each tier.  ERR_CONFIG, and then there are none. */
int tiers_begin(struct tiers *t, const struct strlist *texts, struct err *err);
void tiers_fini(struct tiers *t);

const char *tier_name(const struct tier_summary *t);

/* The first tier that passes; NULL: none. */
const struct tier_summary *tiers_best(const struct tiers *t);

/* All zero: there are no tiers. */
struct tier_works {
    struct cohort *items; /* owned */
    size_t len;
};

/* Borrows everything.  ERR_CONFIG; call tier_works_fini() in any case. */
int tier_works_init(struct tier_works *w, const struct tiers *tiers,
                    const struct cohort_plan *plan, struct err *err);
void tier_works_fini(struct tier_works *w);

void tier_works_add(struct tier_works *w, const struct facts *f);
void tier_works_add_events(struct tier_works *w, const struct event_rows *e);

/* cohort_end() for every tier of the run. */
void tier_works_end_run(struct tier_works *w, int64_t lost, int64_t expected);

/* Judge the tiers of the run, or of a class to which `unknown` more requests
 * may have belonged.  Trust checks and load are not considered yet. */
void tiers_take(struct tiers *t, const struct tier_works *w, double window_s,
                int64_t unknown);

/* ---- classes ---- */

struct class_summary {
    const char *name; /* borrowed */
    double share;     /* planned share of the requests */
    struct slo slo;   /* its own terms */

    /* scheduled = issued + unsent; issued = ok + failed.  The sum over all
     * classes is that of the run, except for requests that were lost. */
    int64_t scheduled;
    int64_t issued;
    int64_t unsent;
    int64_t ok;
    int64_t failed;
    int64_t good;

    /* As in struct summary. */
    double offered_rps;
    double completed_rps;
    double goodput_rps;
    double throughput_rps;
    double attainment;
    struct interval attainment_ci95;

    bool is_streamed; /* some answers had events, or should have had */
    struct spread spread[MEASURE_COUNT]; /* VIEW_DUE */
    struct judgement judgement;
    struct tiers tiers; /* its own */
};

/* While the recording is read.  All zero: there are no classes. */
struct class_tallies {
    struct tally *items;      /* owned */
    struct tier_works *tiers; /* owned, as many */
    size_t len;
};

/* Borrows everything, with the terms that each class has.  `run` is the plan
 * for the tiers of the run.  ERR_CONFIG; call class_tallies_fini() in any case.
 */
int class_tallies_init(struct class_tallies *t,
                       const struct class_summary *classes, size_t n,
                       const struct good_table *good,
                       const struct cohort_plan *run, struct err *err);
void class_tallies_fini(struct class_tallies *t);

/* Add a request to its class. */
void class_tallies_add(struct class_tallies *t, const struct facts *f);

/* Set name, share and terms.  ERR_CONFIG.  Call class_summary_fini() in any
 * case. */
int class_summary_begin(struct class_summary *c, const struct classes *all,
                        size_t i, struct err *err);
void class_summary_fini(struct class_summary *c);

/* Set the rest.  The class of the `lost` requests that were due in the window
 * is unknown: they are not counted, but each may have missed a limit. */
void class_summary_take(struct class_summary *c,
                        const struct class_tallies *all, size_t i,
                        bool asked_stream, int64_t lost);

#endif
