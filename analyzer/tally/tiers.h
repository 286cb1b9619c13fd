/* tiers.h - an SLO in tiers, such as gold and silver: every tier is judged as
 * if it were the whole SLO.
 *
 * Each tier has a tally of its own, so its verdict, goodput and attainment are
 * those of a report with only its terms.
 */
#ifndef ANALYZER_TALLY_TIERS_H
#define ANALYZER_TALLY_TIERS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/read/reader.h"
#include "analyzer/tally/queries.h"
#include "analyzer/tally/stream.h"
#include "analyzer/tally/tally.h"
#include "analyzer/verdict/judge.h"
#include "common/measure/good.h"
#include "common/spec/slo.h"
#include "common/stats/stats.h"

struct classes;
struct err;
struct strlist;

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

/* ---- while the recording is read ---- */

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

/* Judge the tiers.  Trust checks and load are not considered yet. */
void tiers_take(struct tiers *t, const struct tier_works *w, double window_s);

/* The same for the tiers of a class, which `unknown` more requests may have
 * belonged to. */
void tiers_take_class(struct tiers *t, struct tier_works *w, double window_s,
                      int64_t unknown);

#endif
