/* good.h - does a request keep its limits?  Pure, and the only definition: both
 * the summary and the live view use it. */
#ifndef COMMON_MEASURE_GOOD_H
#define COMMON_MEASURE_GOOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/measure/measure.h"

struct classes;
struct err;
struct slo;

/* The limits of a request, per measure; the last element is not 0 if its answer
 * must pass the answer check. */
#define GOOD_CHECK  MEASURE_COUNT
#define GOOD_LIMITS (MEASURE_COUNT + 1)

/* Per measure the limit of the SLO term with the highest quantile; a limit on
 * every request counts as the highest.  0: none.  Pooled measures have none. */
void good_limits(const struct slo *slo, int64_t limit_ns[static GOOD_LIMITS]);

/* Combine two sets of limits: the tighter one of each counts. */
void good_merge(int64_t limit_ns[static GOOD_LIMITS],
                const int64_t others[static GOOD_LIMITS]);

/* The limits by class: those of the class and of the run. */
struct good_table {
    int64_t run[GOOD_LIMITS];
    int64_t (*of_class)[GOOD_LIMITS]; /* owned */
    size_t n;                         /* number of classes, maybe 0 */
};

/* ERR_CONFIG. */
int good_table_init(struct good_table *table, const struct slo *run,
                    const struct classes *classes, struct err *err);

/* The same for one tier of each class (NULL: as above); a class without it has
 * only the limits of the run. */
int good_table_init_tier(struct good_table *table, const struct slo *run,
                         const struct classes *classes, const char *tier,
                         struct err *err);
void good_table_fini(struct good_table *table);

/* The limits that every request has: those of the run, or those on which all
 * classes agree.  0: none. */
void good_shared(const struct good_table *table,
                 int64_t limit_ns[static GOOD_LIMITS]);

/* The limits of this request. */
static inline const int64_t *good_limits_of(const struct good_table *table,
                                            const struct facts *f)
{
    return f->class >= 0 && f->class < (int64_t)table->n
               ? table->of_class[f->class]
               : table->run;
}

/* Is it ok, but without this measure: not a stream, or too short a one? */
bool good_lacks(enum measure m, const struct facts *f);

/* Does an SLO term on this measure count this request? */
bool good_concerns(enum measure m, const struct facts *f);

/* The value to compare with a limit; below 0: it misses every limit.  A failed
 * request misses the limits of measures of the answer. */
int64_t good_value(enum measure m, const struct facts *f);

/* Does it keep this limit? */
bool good_keeps(enum measure m, const struct facts *f, int64_t limit_ns);

/* Is it unfinished, and could it still have kept this limit? */
bool good_is_open(enum measure m, const struct facts *f, int64_t limit_ns);

/* A delay by the client that is a smaller share of the limit is ignored. */
#define GOOD_DELAY 0.1

/* Did it miss this limit, possibly because the client sent it late? */
bool good_is_client_late(enum measure m, const struct facts *f,
                         int64_t limit_ns);

/* Is it ok, and does it keep every limit that concerns it? */
bool good_is(const int64_t limit_ns[static GOOD_LIMITS], const struct facts *f);

#endif
