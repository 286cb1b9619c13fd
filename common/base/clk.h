/* clk.h - the one place where time comes from.
 *
 * Times are int64_t nanoseconds.  What measures takes a struct clk, so that a
 * test can hand it a clock that it moves by hand.
 */
#ifndef COMMON_BASE_CLK_H
#define COMMON_BASE_CLK_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/types.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S  INT64_C(1000000000)

/* A time that never came.  Sorts before every real one. */
#define TIME_ABSENT INT64_MIN

struct clk {
    int64_t (*now_ns)(const struct clk *clk);
};

/* CLOCK_MONOTONIC. */
extern const struct clk clk_monotonic;

/* A clock that stands where the test put it. */
struct clk_fake {
    struct clk clk; /* first, so that &fake.clk is the clock */
    int64_t at_ns;
};

struct clk_fake clk_fake_at(int64_t at_ns);

static inline int64_t clk_now(const struct clk *clk)
{
    return clk->now_ns(clk);
}

/* How long to wait, as libevent takes it: in microseconds, rounded down.  What
 * is past is 0. */
static inline struct timeval clk_timeval(int64_t ns)
{
    return (struct timeval){
        .tv_sec = ns > 0 ? ns / NS_PER_S : 0,
        .tv_usec = ns > 0 ? ns % NS_PER_S / NS_PER_US : 0,
    };
}

/* Nanoseconds since 1970, for people and for joining with other logs. */
int64_t clk_realtime_ns(void);

/* How long the system has been suspended since it was started, to about a
 * millisecond.  CLOCK_MONOTONIC stands still meanwhile. */
int64_t clk_asleep_ns(void);

/* CPU time of the calling thread. */
int64_t clk_thread_cpu_ns(void);

/* CPU time of a thread that runs; 0 if nobody knows. */
int64_t clk_cpu_ns_of(pthread_t thread);

/* CPU time of a process, all threads; TIME_ABSENT if there is none. */
int64_t clk_process_cpu_ns(pid_t pid);

/* Sleep this long, through signals. */
void clk_sleep_ns(int64_t ns);

/* `realtime_ns` as 20261231T235959Z (UTC) for names, or with separators for
 * people.  `size` should be 32 at least. */
void clk_format_utc(int64_t realtime_ns, const char *strftime_format, char *out,
                    size_t size);

#define CLK_NAME_FORMAT "%Y%m%dT%H%M%SZ"
#define CLK_TEXT_FORMAT "%Y-%m-%dT%H:%M:%SZ"

#endif
