/* slices.h - how precise the main quantiles of one run are: the window is cut
 * into slices of time, each with its own distribution.  Weaker than trials. */
#ifndef ANALYZER_VERDICT_SLICES_H
#define ANALYZER_VERDICT_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/sectioning.h"
#include "analyzer/tally/tally.h"

#define SLICES_MEASURES  4
#define SLICES_QUANTILES 2 /* p50, p99 */

/* Histograms by slice of e2e, of ttft if answers stream, and of the measures in
 * the SLO, as far as there is room.  They replace those of the tally, which
 * gets their sum at the end: counting twice would make reports a tenth slower.
 */
struct slices {
    struct tally *tally; /* borrowed */
    struct tally_measure measures[SLICES_MEASURES];
    size_t n;
    double per_ns;                                   /* slices */
    struct hist hist[SLICES_MEASURES][TALLY_SLICES]; /* VIEW_DUE */
};

/* A quantile and its interval from this run alone. */
struct within {
    enum measure measure;
    const char *name; /* "p99" */
    int64_t value_ns; /* of the window; below 0: HIST_BEYOND or another HIST_ */
    struct section_quantile section;
    int64_t n;
    double n_effective; /* allows for clusters of large values; 0: unknown */
};

#define WITHIN_MAX (SLICES_MEASURES * SLICES_QUANTILES)

/* *s must be zeroed. */
void slices_init(struct slices *s, struct tally *t, bool asks_stream);
void slices_fini(struct slices *s);

/* A request that is due in the window. */
void slices_add(struct slices *s, const struct facts *f);

/* Once, after the last request: add the histograms to the tally. */
void slices_end(const struct slices *s);

/* After slices_end(); returns how many there are. */
size_t slices_make(const struct slices *s, struct within out[WITHIN_MAX]);

#endif
