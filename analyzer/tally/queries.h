/* queries.h - requests that were sent together and are waited for together: the
 * latency of a query is that of its slowest request.
 *
 * One query is in flight at a time, so that its rows stand side by side in the
 * recording.  What it comes to goes into the tally of the requests.  Queries of
 * which no row is left show by the places that are missing: nobody knows how
 * they ended.
 */
#ifndef ANALYZER_TALLY_QUERIES_H
#define ANALYZER_TALLY_QUERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/tally/tally.h"

struct queries {
    struct tally *tally; /* borrowed */
    int64_t size;        /* requests of a query; below 2: there are none */

    int64_t max_id; /* of those seen; -1: none was */

    /* The one whose rows are being read. */
    int64_t id; /* -1: none */
    int64_t n;
    int64_t due_ns;
    int64_t slowest_ns;
    bool has_failed;
    bool is_open; /* of one nobody knows how it ended */
};

void queries_init(struct queries *q, struct tally *tally, int64_t size);
void queries_add(struct queries *q, const struct facts *f);

/* After the last row; so many requests there must have been in all. */
void queries_finish(struct queries *q, int64_t expected_rows);

#endif
