/* tiers.h - an objective in tiers, gold and silver: every tier is judged by
 * itself, as if it were all that had been asked.
 *
 * Each has a tally of its own, so that its verdict, goodput and attainment are
 * those of a report with its terms alone.
 */
#ifndef ANALYZER_TALLY_TIERS_H
#define ANALYZER_TALLY_TIERS_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/read/reader.h"
#include "analyzer/tally/fluid.h"
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
    struct slo slo; /* its terms; their tier is its name */
    struct judgement judgement;
    enum verdict verdict; /* of that, as far as it can be believed */
    int64_t good;
    double goodput_rps;
    double goodput_tokens_per_s;
    double attainment; /* if anything was due */
    struct interval attainment_ci95;
    struct fluid_summary fluid; /* of the run alone, not of its classes */
};

/* In the order in which they are listed: the best first. */
struct tiers {
    struct tier_summary items[SLO_MAX_TIERS];
    size_t len;
};

const char *tier_name(const struct tier_summary *t);

/* The terms of each.  ERR_CONFIG. */
int tiers_begin(struct tiers *t, const struct strlist *texts, struct err *err);

/* The first that is met; NULL: none. */
const struct tier_summary *tiers_best(const struct tiers *t);

/* ---- while the recording is read ---- */

struct tier_work {
    struct good_table good;
    struct tally tally;
    struct stream stream;
    struct queries queries;
};

/* Zeroed: there are none. */
struct tier_works {
    struct tier_work *items; /* owned */
    size_t len;
};

/* How a tier of the run, or of one class, is to be read. */
struct tier_plan {
    struct window window;
    int64_t lanes;
    int64_t query_size;
    const struct tiers *run;       /* whose limits count for a class too */
    const struct classes *classes; /* and the other way round */
};

/* Everything is borrowed.  ERR_CONFIG; to be finished in any case. */
int tier_works_init(struct tier_works *w, const struct tiers *tiers,
                    const struct tier_plan *plan, struct err *err);
void tier_works_fini(struct tier_works *w);

void tier_works_add(struct tier_works *w, const struct facts *f);
void tier_works_add_events(struct tier_works *w, const struct event_rows *e);

/* After all of it: of the run, so many requests are lost, of so many; of a
 * class, so many may be its. */
void tier_works_end_run(struct tier_works *w, int64_t lost, int64_t expected);

/* Judge them; the verdicts are not withdrawn by anything yet. */
void tiers_take(struct tiers *t, const struct tier_works *w, double window_s);

/* Those of a class, of which nobody knows whether so many more were its. */
void tiers_take_class(struct tiers *t, struct tier_works *w, double window_s,
                      int64_t unknown);

#endif
