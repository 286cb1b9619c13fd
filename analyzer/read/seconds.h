/* seconds.h - a run second by second, by due time.
 *
 * A recording is in the order in which requests ended, so it is read twice:
 * first to find the last row of each second, then to fill the seconds, each of
 * which is rendered and released after its last row.  Memory depends on how
 * long answers take, not on the length of the run.
 */
#ifndef ANALYZER_READ_SECONDS_H
#define ANALYZER_READ_SECONDS_H

#include <stdint.h>

#include "analyzer/tally/window.h"
#include "common/measure/good.h"
#include "common/measure/measure.h"
#include "common/stats/hist.h"

struct buf;
struct err;
struct recording;

/* scheduled = issued + unsent, and issued = ok + failed. */
struct second {
    int64_t start_ns; /* in the run; the first and last may be shorter */
    int64_t end_ns;
    int64_t scheduled;
    int64_t measured; /* of those, due in the window */
    int64_t issued;
    int64_t ok;
    int64_t failed;
    int64_t good;
    int64_t in_flight; /* at its end, whenever due */
    int64_t tokens;    /* of output, if known */
    double bytes_in;
    double bytes_out;
    struct hist hist[MEASURE_COUNT]; /* VIEW_DUE */
};

struct seconds_ask {
    struct window range;           /* of the run; other requests are ignored */
    struct window window;          /* the measured window */
    uint32_t measures;             /* bits 1 << enum measure; not pooled ones */
    const struct good_table *good; /* what makes a request good */

    /* Append the text for a second. */
    int (*render)(const struct second *s, struct buf *out, struct err *err);

    /* Takes the texts in order of time. */
    int (*put)(const char *text, struct err *err);
};

/* Reads the recording from its beginning. */
int seconds_read(struct recording *rec, const struct seconds_ask *ask,
                 struct err *err);

#endif
