/* stalls.h - moments at which the server stands still: [k every, k every +
 * stall) after the epoch, for k = 1, 2, ...  Pure.
 */
#ifndef SERVER_STUB_SIM_STALLS_H
#define SERVER_STUB_SIM_STALLS_H

#include <stdint.h>

struct stalls {
    int64_t epoch_ns; /* nothing happens before it */
    int64_t stall_ns; /* 0: never; else below every_ns */
    int64_t every_ns;
};

/* The first moment from `at_ns` on that is in no stall. */
int64_t stalls_skip(const struct stalls *s, int64_t at_ns);

/* When `work_ns` of work that starts at `start_ns`, outside every stall, is
 * done; longer by the stalls that it meets.  What would pass the end of time
 * stays there. */
int64_t stalls_work(const struct stalls *s, int64_t start_ns, int64_t work_ns);

/* a + b, but never beyond INT64_MAX; b is not negative. */
int64_t time_after(int64_t a, int64_t b);

/* n times ns, likewise; neither is negative. */
int64_t time_times(int64_t n, int64_t ns);

#endif
