/* class_summary.h - what is said of one class of a mix.
 *
 * The requests of a class are tallied as those of the run are, by the same
 * window and with the class's own terms.
 */
#ifndef ANALYZER_TALLY_CLASS_SUMMARY_H
#define ANALYZER_TALLY_CLASS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/tally/spread.h"
#include "analyzer/tally/tally.h"
#include "analyzer/tally/tiers.h"
#include "analyzer/tally/window.h"
#include "analyzer/verdict/judge.h"
#include "common/measure/good.h"
#include "common/settings/classes.h"
#include "common/stats/stats.h"

struct err;

struct class_summary {
    const char *name; /* borrowed */
    double share;     /* of the requests that were to be of it */
    struct slo slo;   /* its own */

    /* scheduled = issued + unsent; issued = ok + failed.  Of all classes they
     * add up to those of the run, but for what the recording lost. */
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

    bool is_streamed;                    /* some came in events, or should */
    struct spread spread[MEASURE_COUNT]; /* from due, failures beyond */
    struct judgement judgement;
    struct tiers tiers; /* its own */
};

/* While the recording is read; zeroed: there are no classes. */
struct class_tallies {
    struct tally *items;      /* owned */
    struct tier_works *tiers; /* owned, as many */
    size_t len;
};

/* Begin with the terms that each class has; everything is borrowed. */
void class_tallies_init(struct class_tallies *t, struct window window,
                        const struct class_summary *classes, size_t n,
                        const struct good_table *good);

/* The tiers of each class.  ERR_CONFIG. */
int class_tallies_begin_tiers(struct class_tallies *t,
                              const struct class_summary *classes,
                              const struct tier_plan *run, struct err *err);
void class_tallies_fini(struct class_tallies *t);

/* A request goes to its class. */
void class_tallies_add(struct class_tallies *t, const struct facts *f);

/* Name, share and terms.  ERR_CONFIG. */
int class_summary_begin(struct class_summary *c, const struct classes *all,
                        size_t i, struct err *err);

/* The rest.  Of the lost requests, due in the window, nobody knows the class:
 * they are not counted, and each may be one that misses a limit. */
void class_summary_take(struct class_summary *c,
                        const struct class_tallies *all, size_t i,
                        bool asked_stream, int64_t lost);

#endif
