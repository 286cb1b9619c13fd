/* series.h - a run in bins of time: what came, what ended, what was in flight,
 * how long it took.  Gathered in one pass, in any order of rows; the memory is
 * the same however long the run is.
 *
 * The window is cut into up to SERIES_WINDOW bins, and what comes before it
 * into bins of the same width, so that none lies across its start.
 */
#ifndef ANALYZER_READ_SERIES_H
#define ANALYZER_READ_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/tally/window.h"

struct facts;

#define SERIES_WINDOW 1200
#define SERIES_MAX    (2 * SERIES_WINDOW + 2)

struct series_bin {
    int64_t due;      /* requests due in it */
    int64_t measured; /* of those, that have the value ... */
    double sum_ns;    /* ... and what they come to */
    int64_t sent;     /* of those due, that were sent ... */
    double flight_ns; /* ... and how long they were in flight */
    double area_ns;   /* in flight, of those not all through it */
    int64_t step;     /* in flight all through it, more than in the one before;
                         then as a sum, how many there are */
};

struct series {
    struct window window;
    double origin_ns; /* start of the first bin, at most 0 */
    double width_ns;
    double per_ns;          /* 1 / width_ns */
    size_t first;           /* bin of the window */
    size_t n;               /* bins; 0: the window is empty */
    double ended;           /* in the window, of those sent ... */
    double ended_flight_ns; /* ... and how long they had been in flight */
    struct series_bin bins[SERIES_MAX];
};

void series_init(struct series *s, struct window window);

/* One request; its value goes to the bin in which it was due, TIME_ABSENT if it
 * has none.  It is in flight from `sent` to `end`, in the part of the run that
 * the series covers. */
void series_add(struct series *s, const struct facts *f, int64_t value_ns);

/* After the last: the mean number in flight in every bin. */
void series_in_flight(const struct series *s, double *out);

/* The mean of `n` values in blocks: block i of `blocks` has those from
 * i n / blocks on. */
void series_blocks(const double *x, size_t n, double *out, size_t blocks);

/* The mean value of the requests due in bins [from, to), in `groups` groups of
 * bins; one without a value has that of the one before.  Returns how many
 * requests had one. */
int64_t series_means(const struct series *s, size_t from, size_t to,
                     double *out, size_t groups);

/* How many groups so that each has `each` requests with a value on average; at
 * most one a bin. */
size_t series_groups(const struct series *s, size_t from, size_t to,
                     int64_t each);

/* Mean time in flight of about the first `count` requests sent, in seconds; 0
 * if none was. */
double series_first_flight_s(const struct series *s, int64_t count);

#endif
