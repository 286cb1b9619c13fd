/* window_blocks.h - the quantities of one recording, of all of its window and
 * of blocks of it in time, which stand in for trials where there are none. */
#ifndef ANALYZER_COMPARE_WINDOW_BLOCKS_H
#define ANALYZER_COMPARE_WINDOW_BLOCKS_H

#include <stdint.h>

#include "analyzer/compare/quantity.h"
#include "analyzer/stats/sectioning.h"
#include "analyzer/tally/window.h"
#include "common/measure/good.h"
#include "common/measure/measure.h"
#include "common/stats/hist.h"

#define BLOCKS SECTION_COUNT

/* The place of the whole window behind the blocks. */
#define BLOCKS_ALL BLOCKS

/* Everything by `due` but what ended ok, as in a summary, and tokens. */
struct block {
    int64_t due;
    int64_t good;
    int64_t failed; /* or never sent */
    int64_t checked;
    int64_t passed;
    int64_t ended_ok;
    double tokens; /* of the output, evenly from its first to its last event */
    struct hist hist[MEASURE_COUNT];
};

struct blocks {
    struct window window;
    const struct good_table *good; /* borrowed */
    double usd_per_hour;           /* of all replicas; 0: not known */
    bool wants[MEASURE_COUNT];     /* has its histogram */
    struct block block[BLOCKS + 1];
};

/* Of one recording or block.  A quantile may be INFINITY: among the failures.
 */
struct reading {
    double value;
    int64_t n;       /* that it is of; 0: there is none */
    bool is_too_few; /* n cannot bound it */
};

void blocks_init(struct blocks *b, struct window window,
                 const struct good_table *good, const struct quantities *qs);
void blocks_fini(struct blocks *b);
void blocks_add(struct blocks *b, const struct facts *f);

/* Of block i, or BLOCKS_ALL. */
struct reading blocks_reading(const struct blocks *b, const struct quantity *q,
                              int i);

/* The same of each block. */
struct block_readings {
    double value[BLOCKS];
    bool has_all;  /* each can bound it */
    int64_t least; /* n of the smallest */
    double beyond; /* of a quantile: how many independent requests those beyond
                      it (or, below the median, before it) are worth; else 0 */
};

void blocks_readings(const struct blocks *b, const struct quantity *q,
                     struct block_readings *out);

#endif
