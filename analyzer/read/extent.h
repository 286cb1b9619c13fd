/* extent.h - from when to when a run was measured: what its end says of it, and
 * where it was killed what its rows say. */
#ifndef ANALYZER_READ_EXTENT_H
#define ANALYZER_READ_EXTENT_H

#include <stdint.h>

#include "analyzer/tally/window.h"

struct err;
struct recording;

struct extent {
    int64_t start_ns;   /* of the window; INT64_MAX: it never began */
    int64_t end_ns;     /* likewise, at the latest; INT64_MAX: nobody says */
    int64_t due_end_ns; /* how far the schedule got */
};

/* Of a run that was killed this takes a reading of all rows, which are then to
 * be read again.  Such a run got as far as its last request in the recording;
 * a warm-up of so many requests ended with the last of them. */
int extent_find(struct extent *e, struct recording *rec, struct err *err);

/* The window as planned, or as far as the schedule got; never before its
 * start. */
struct window extent_window(const struct extent *e);

#endif
