/* stalls.h - periodic stalls of the server: [k every, k every + stall) after
 * the epoch, for k = 1, 2, ...; and time arithmetic that does not overflow.
 * Pure.
 */
#ifndef SERVER_STUB_SIM_STALLS_H
#define SERVER_STUB_SIM_STALLS_H

#include <stdint.h>

struct stalls {
    int64_t epoch_ns; /* nothing happens before it */
    int64_t stall_ns; /* 0: no stalls; else below every_ns */
    int64_t every_ns;
};

/* The first time from `at_ns` on that is not in a stall. */
int64_t stalls_skip(const struct stalls *s, int64_t at_ns);

/* The end of `work_ns` of work that starts at `start_ns`, outside every stall;
 * stalls prolong it.  At most INT64_MAX. */
int64_t stalls_work(const struct stalls *s, int64_t start_ns, int64_t work_ns);

/* a + b, at most INT64_MAX; b is not negative. */
int64_t time_after(int64_t a, int64_t b);

/* n * ns, at most INT64_MAX; neither is negative. */
int64_t time_times(int64_t n, int64_t ns);

#endif
