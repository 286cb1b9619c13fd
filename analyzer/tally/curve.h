/* curve.h - attainment of one measure as a function of its limit: how many
 * would be within it.  Exact counts at every limit of the curve; what failed or
 * was never sent is within none. */
#ifndef ANALYZER_TALLY_CURVE_H
#define ANALYZER_TALLY_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/tally/grid.h"
#include "common/measure/measure.h"
#include "common/spec/slo.h"
#include "common/stats/stats.h"

#define CURVE_MAX 128

struct curve {
    enum measure measure;
    int64_t limit_ns[CURVE_MAX]; /* growing */
    bool is_slo[CURVE_MAX];      /* a term has this limit */
    size_t len;

    int64_t n[TALLY_BATCHES]; /* samples, failures among them */
    /* Of those, below limit i and not below the one before. */
    int64_t within[CURVE_MAX][TALLY_BATCHES];
};

/* One limit of it. */
struct curve_point {
    int64_t limit_ns;
    bool is_slo;
    int64_t within; /* of curve_n() */
    double share;
    struct interval ci95;
};

/* Ten limits to a power of ten, and those of the SLO on this measure. */
void curve_init(struct curve *c, enum measure measure, const struct slo *slo);

/* A request that was due in the window. */
void curve_add(struct curve *c, size_t batch, const struct facts *f);

/* Samples that are no request's, or all of one value. */
void curve_add_many(struct curve *c, size_t batch, int64_t ns, int64_t count);

/* So many that are within no limit. */
void curve_add_never(struct curve *c, size_t batch, int64_t count);

int64_t curve_n(const struct curve *c);

/* The limits worth a look, those of the SLO and every one but where as many are
 * within the limits on both sides of it.  How many. */
size_t curve_points(const struct curve *c,
                    struct curve_point points[static CURVE_MAX]);

#endif
