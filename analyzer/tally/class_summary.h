/* class_summary.h - the results of one class of a workload.
 *
 * The requests of a class are tallied like those of the run, in the same window
 * and with the class's own terms.
 */
#ifndef ANALYZER_TALLY_CLASS_SUMMARY_H
#define ANALYZER_TALLY_CLASS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/tally/distribution.h"
#include "analyzer/tally/tally.h"
#include "analyzer/tally/tiers.h"
#include "analyzer/verdict/judge.h"
#include "common/measure/good.h"
#include "common/settings/classes.h"
#include "common/stats/stats.h"

struct err;

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

    double offered_rps;
    double throughput_rps;
    double goodput_rps;
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
