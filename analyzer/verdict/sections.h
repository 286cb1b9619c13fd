/* sections.h - how sure the main quantiles are, from one run: the window in
 * sections of time, each with its own distribution.  Weaker than trials. */
#ifndef ANALYZER_VERDICT_SECTIONS_H
#define ANALYZER_VERDICT_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/stats/sectioning.h"
#include "analyzer/tally/tally.h"

#define SECTIONS_MEASURES  4
#define SECTIONS_QUANTILES 2 /* p50, p99 */

/* What is gathered, instead of in the tally, which has their sum in the end:
 * counting it twice would make a report a tenth slower.  e2e, ttft of streams,
 * and what the SLO asks for, as far as there is room. */
struct sections {
    struct tally *tally; /* borrowed: the window, and the whole of it */
    struct tally_measure measures[SECTIONS_MEASURES];
    size_t n;
    double per_ns;                                      /* sections */
    struct hist hist[SECTIONS_MEASURES][SECTION_COUNT]; /* from due */
};

/* A quantile, and within this run how sure it is. */
struct within {
    enum measure measure;
    const char *name; /* "p99" */
    int64_t value_ns; /* of the whole window; below 0: HIST_BEYOND ... */
    struct section_quantile section;
    int64_t n;
    double n_effective; /* by how what lies above it clusters; 0: not known */
};

#define WITHIN_MAX (SECTIONS_MEASURES * SECTIONS_QUANTILES)

/* All zero to begin with. */
void sections_init(struct sections *s, struct tally *t, bool asks_stream);
void sections_fini(struct sections *s);

/* One request that is due in the window. */
void sections_add(struct sections *s, const struct facts *f);

/* After the last request, once: the tally has what was gathered. */
void sections_end(const struct sections *s);

/* After that; returns how many there are. */
size_t sections_make(const struct sections *s, struct within out[WITHIN_MAX]);

#endif
