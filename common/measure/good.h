/* good.h - does one request keep its limits?  Pure, and the only definition:
 * the summary and what is shown while a run goes on both ask here. */
#ifndef COMMON_MEASURE_GOOD_H
#define COMMON_MEASURE_GOOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/measure/measure.h"

struct classes;
struct err;
struct slo;

/* A request's limits, per measure; and behind those not 0 if its answer must
 * not be wrong. */
#define GOOD_CHECK  MEASURE_COUNT
#define GOOD_LIMITS (MEASURE_COUNT + 1)

/* Per measure that of the term with the highest quantile, before all a limit
 * that was given as such; 0: none.  Pooled measures have no part in it. */
void good_limits(const struct slo *slo, int64_t limit_ns[static GOOD_LIMITS]);

/* Keep both: of each limit the tighter one. */
void good_merge(int64_t limit_ns[static GOOD_LIMITS],
                const int64_t others[static GOOD_LIMITS]);

/* What makes a request good by its class: its limits and the run's. */
struct good_table {
    int64_t run[GOOD_LIMITS];
    int64_t (*of_class)[GOOD_LIMITS]; /* owned */
    size_t n;                         /* classes; 0: there are none */
};

/* ERR_CONFIG. */
int good_table_init(struct good_table *table, const struct slo *run,
                    const struct classes *classes, struct err *err);

/* The same by one tier of each class (NULL: as above); a class without it has
 * the run's limits alone. */
int good_table_init_tier(struct good_table *table, const struct slo *run,
                         const struct classes *classes, const char *tier,
                         struct err *err);
void good_table_fini(struct good_table *table);

/* The limits of this request. */
static inline const int64_t *good_limits_of(const struct good_table *table,
                                            const struct facts *f)
{
    return f->class >= 0 && f->class < (int64_t)table->n
               ? table->of_class[f->class]
               : table->run;
}

/* Is it ok, but too short a stream to have this measure, or none at all? */
bool good_lacks(enum measure m, const struct facts *f);

/* Is this request one of the n that a term on this measure is about? */
bool good_concerns(enum measure m, const struct facts *f);

/* What its limits are held against; below 0: it keeps none.  One that failed
 * keeps none of the answer's. */
int64_t good_value(enum measure m, const struct facts *f);

/* Does it keep this one limit? */
bool good_keeps(enum measure m, const struct facts *f, int64_t limit_ns);

/* A delay that is a smaller part of a limit is not felt. */
#define GOOD_DELAY 0.1

/* Has it missed this limit, and may the client be why, which began with it
 * late? */
bool good_is_client_late(enum measure m, const struct facts *f, int64_t limit_ns);

/* Ok, and keeps every limit that concerns it. */
bool good_is(const int64_t limit_ns[static GOOD_LIMITS], const struct facts *f);

#endif
