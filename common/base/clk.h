/* clk.h - the only source of time.
 *
 * Times are int64_t nanoseconds.  Code that measures takes a struct clk, so
 * that a test can pass a clock that it moves by hand.
 */
#ifndef COMMON_BASE_CLK_H
#define COMMON_BASE_CLK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/types.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)

/* A time that is missing.  Sorts before every real time. */
#define TIME_ABSENT INT64_MIN

struct clk {
    int64_t (*now_ns)(const struct clk *clk);
};

/* CLOCK_MONOTONIC. */
extern const struct clk clk_monotonic;

/* A clock that a test sets. */
struct clk_fake {
    struct clk clk; /* first, so that &fake.clk is the clock */
    int64_t at_ns;
};

struct clk_fake clk_fake_at(int64_t at_ns);

static inline int64_t clk_now(const struct clk *clk)
{
    return clk->now_ns(clk);
}

/* A timeout for libevent: microseconds, rounded down; 0 if negative. */
static inline struct timeval clk_timeval(int64_t ns)
{
    return (struct timeval){
        .tv_sec = ns > 0 ? ns / NS_PER_S : 0,
        .tv_usec = ns > 0 ? ns % NS_PER_S / NS_PER_US : 0,
    };
}

/* For tests: an environment variable with nanoseconds by which that clock is
 * off. */
#define CLK_TEST_OFFSET "TAILGATE_TEST_CLOCK_OFFSET_NS"

/* Nanoseconds since 1970, to show and to match with other logs, and for the
 * common start of several machines. */
int64_t clk_realtime_ns(void);

/* What that clock says at this time of the monotonic clock, by the difference
 * that they have now. */
int64_t clk_realtime_at(int64_t monotonic_ns);

/* How far the kernel believes that clock to be off. */
struct clk_error {
    int64_t max_ns;       /* upper bound, from adjtimex(); 0: unknown */
    bool is_synchronised; /* something keeps it right */
};

struct clk_error clk_realtime_error(void);

/* Total time that the system has been suspended since boot, to about a
 * millisecond.  CLOCK_MONOTONIC does not advance then. */
int64_t clk_asleep_ns(void);

/* CPU time of the calling thread. */
int64_t clk_thread_cpu_ns(void);

/* CPU time of a running thread; 0 if unknown. */
int64_t clk_cpu_ns_of(pthread_t thread);

/* CPU time of all threads of a process; TIME_ABSENT if it does not exist. */
int64_t clk_process_cpu_ns(pid_t pid);

/* Sleep this long, even if signals arrive. */
void clk_sleep_ns(int64_t ns);

/* `realtime_ns` as 20261231T235959Z (UTC) for names, or with separators for
 * people.  `size` should be at least 32. */
void clk_format_utc(int64_t realtime_ns, const char *strftime_format, char *out,
                    size_t size);

#define CLK_NAME_FORMAT "%Y%m%dT%H%M%SZ"
#define CLK_TEXT_FORMAT "%Y-%m-%dT%H:%M:%SZ"

#endif
