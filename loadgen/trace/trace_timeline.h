/* trace_timeline.h - how many rows of a replay are due up to a time: a count
 * for each of its seconds. */
#ifndef LOADGEN_TRACE_TRACE_TIMELINE_H
#define LOADGEN_TRACE_TRACE_TIMELINE_H

#include <stddef.h>
#include <stdint.h>

/* Longer ones are not kept: this is eleven days, and 8 MB. */
#define TIMELINE_SECONDS 1000000

struct timeline {
    int64_t *until; /* rows due before the end of a second; owned */
    size_t len;
    size_t cap;
};

/* In the order of time. */
void timeline_add(struct timeline *t, int64_t due_ns);
void timeline_fini(struct timeline *t);

/* Within a second they count as evenly spread. */
double timeline_count(const struct timeline *t, double until_ns);

#endif
