/* timeline.h - the one FIFO server, on an ideal timeline.
 *
 * Pure: when a request starts and finishes follows from its arrival, the
 * requests before it and its drawn service time, never from when a timer got
 * round to it.  The server stands still inside stalls: [k every, k every +
 * stall) after the epoch, for k = 1, 2, ...
 */
#ifndef SERVER_STUB_TIMELINE_H
#define SERVER_STUB_TIMELINE_H

#include <stdint.h>

struct timeline {
    int64_t epoch_ns;
    int64_t stall_ns; /* 0: never; else below every_ns */
    int64_t every_ns;
    int64_t free_ns; /* when the last request finishes */
};

struct span {
    int64_t start_ns;
    int64_t finish_ns;
};

/* An idle server.  Nothing arrives before the epoch. */
void timeline_init(struct timeline *t, int64_t epoch_ns, int64_t stall_ns,
                   int64_t every_ns);

/* Serve the next request in the order of the queue.  A start within a stall
 * moves to its end; a service that meets stalls is longer by them.  What would
 * pass the end of time stays there. */
struct span timeline_serve(struct timeline *t, int64_t arrival_ns,
                           int64_t service_ns);

/* a + b, but never beyond INT64_MAX; b is not negative. */
int64_t timeline_after(int64_t a, int64_t b);

#endif
