/* server_time_parts.h - what a request's time at the server went into: waiting,
 * and being worked on with others.  Of a stub that ran beside, from its truth
 * log; of other servers, as far as they say it of themselves. */
#ifndef ANALYZER_STUDIES_SERVER_TIME_PARTS_H
#define ANALYZER_STUDIES_SERVER_TIME_PARTS_H

#include <stddef.h>

struct recording;
struct summary;

enum parts_from { PARTS_NONE, PARTS_TRUTH, PARTS_METRICS };

/* Means over requests; below 0: not known. */
struct server_parts {
    enum parts_from from;
    double queue_ns;
    double work_ns; /* from the queue to the end of the answer */
    double batch;   /* requests that were worked on together */
};

/* "truth", "metrics"; "" of PARTS_NONE. */
const char *parts_from_name(enum parts_from from);

/* Of the requests that arrived in the window. */
struct server_parts parts_read(const struct recording *rec,
                               const struct summary *s);

/* The mean of those that are known. */
struct server_parts parts_mean(const struct server_parts *list, size_t n);

#endif
