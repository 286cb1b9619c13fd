/* completeness.h - which part of a run a recording holds: the measured window,
 * and the requests that must have existed.
 *
 * Missing requests are counted and judged both ways.  Duplicates, or rows of
 * another run, cannot be told apart from the rest: such a recording is refused.
 */
#ifndef ANALYZER_READ_COMPLETENESS_H
#define ANALYZER_READ_COMPLETENESS_H

#include <stdint.h>

#include "analyzer/read/client_log.h"
#include "analyzer/tally/tally.h"
#include "analyzer/tally/window.h"

struct err;
struct recording;

/* ---- the window ---- */

struct extent {
    int64_t start_ns;   /* of the window; INT64_MAX: it never began */
    int64_t end_ns;     /* latest end of the window; INT64_MAX: unknown */
    int64_t due_end_ns; /* the schedule was followed up to here */
};

/* For a killed run this reads all rows and rewinds the recording.  Such a run
 * extends to its last recorded request, and a warm-up given as a number of
 * requests ended with the last of them. */
int extent_find(struct extent *e, struct recording *rec, struct err *err);

/* The planned window, cut where the schedule ended; never negative. */
struct window extent_window(const struct extent *e);

/* ---- the requests ---- */

/* Number of requests that must have existed: from the manifest, or for a killed
 * run from the numbering and the client's log. */
int64_t completeness_expected(const struct tally *t,
                              const struct client *client,
                              const struct recording *rec);

/* Of those missing in a killed offline run, the ones that were probably never
 * sent: all were due at once, and at most the cap was in flight. */
int64_t completeness_never_sent(const struct tally *t,
                                const struct client *client,
                                const struct recording *rec);

/* ERR_FORMAT if there are more requests than expected, or more content events
 * (`events` were read) than the requests have. */
int completeness_check_surplus(const struct tally *t, int64_t events,
                               const struct client *client,
                               const struct recording *rec, struct err *err);

#endif
