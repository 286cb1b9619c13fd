/* queries.h - requests that are sent together and awaited together: the latency
 * of a query is that of its slowest request.
 *
 * One query is in flight at a time, so its rows are adjacent in the recording.
 * Results go into the tally of the requests.  A query without any row shows as
 * a gap in the numbering; how it ended is unknown.
 */
#ifndef ANALYZER_TALLY_QUERIES_H
#define ANALYZER_TALLY_QUERIES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/tally/tally.h"

struct queries {
    struct tally *tally; /* borrowed */
    int64_t size;        /* requests per query; below 2: no queries */
    int64_t max_id;      /* of those seen; -1: none */

    /* The query whose rows are being read. */
    int64_t id; /* -1: none */
    int64_t n;
    int64_t due_ns;
    int64_t slowest_ns;
    bool has_failed;
    bool is_open; /* a request is unfinished */
};

void queries_init(struct queries *q, struct tally *tally, int64_t size);
void queries_add(struct queries *q, const struct facts *f);

/* After the last row; `expected_rows` requests must have existed in all. */
void queries_finish(struct queries *q, int64_t expected_rows);

#endif
