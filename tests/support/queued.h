/* queued.h - M/M/1 queues as sides of a comparison, in virtual time: the values
 * of one run and of its blocks, as compare takes them out of a recording. */
#ifndef TESTS_SUPPORT_QUEUED_H
#define TESTS_SUPPORT_QUEUED_H

#include <stddef.h>

#include "analyzer/compare/finding.h"
#include "analyzer/compare/quantity.h"
#include "analyzer/compare/window_slices.h"
#include "tests/support/mm1.h"

struct queued {
    struct reading whole[QUANTITIES_MAX];
    struct slice_readings blocks[QUANTITIES_MAX];
};

/* The next n requests of the queue; its unit of time is a millisecond. */
void queued_run(struct queued *run, struct mm1 *q, size_t n,
                const struct quantities *qs);

/* Over its blocks. */
struct sample queued_sample(const struct queued *run, size_t quantity);

/* Two samples of a quantile at this confidence. */
struct finding queued_finding(enum basis basis, double quantile,
                              double confidence, const struct sample *a,
                              const struct sample *b);

/* Trials, one value each. */
struct sample queued_trials(const double *values, size_t n);

#endif
