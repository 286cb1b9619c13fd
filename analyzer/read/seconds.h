/* seconds.h - a run second by second, by when requests were due.
 *
 * A recording is in the order in which requests ended, so it is read twice: to
 * see which row is the last of each second, and then to fill the seconds, each
 * of which is rendered and let go when its last row is there.  What is held at
 * a time goes by how long answers take, not by how long the run is.
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
    int64_t start_ns; /* of the run; the first and the last may be shorter */
    int64_t end_ns;
    int64_t scheduled;
    int64_t measured; /* of those, due in the window */
    int64_t issued;
    int64_t ok;
    int64_t failed;
    int64_t good;
    int64_t in_flight; /* at its end, whenever they were due */
    int64_t tokens;    /* of output, where somebody counts them */
    double bytes_in;
    double bytes_out;
    struct hist hist[MEASURE_COUNT]; /* from due, failures beyond */
};

struct seconds_ask {
    struct window range;  /* of the run: what is due outside is left out */
    struct window window; /* that is measured */
    uint32_t measures;    /* bit 1 << enum measure; pooled ones have nothing */
    const struct good_table *good; /* what makes a request good */

    /* Append what is to be said of a second. */
    int (*render)(const struct second *s, struct buf *out, struct err *err);

    /* Gets what was rendered, in the order of time. */
    int (*put)(const char *text, struct err *err);
};

/* From the recording's beginning. */
int seconds_read(struct recording *rec, const struct seconds_ask *ask,
                 struct err *err);

#endif
