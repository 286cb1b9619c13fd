#include "common/base/clk.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/timex.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t clk_process_cpu_ns(pid_t pid)
{
    clockid_t id;

    return clock_getcpuclockid(pid, &id) ? TIME_ABSENT : read_clock(id);
}

static int64_t monotonic_now(const struct clk *clk)
{
    (void)clk;
    return read_clock(CLOCK_MONOTONIC);
}

const struct clk clk_monotonic = {.now_ns = monotonic_now};

static int64_t fake_now(const struct clk *clk)
{
    return ((const struct clk_fake *)clk)->at_ns;
}

struct clk_fake clk_fake_at(int64_t at_ns)
{
    return (struct clk_fake){.clk = {.now_ns = fake_now}, .at_ns = at_ns};
}

struct clk_error clk_realtime_error(void)
{
    struct timex t = {0};

    if (adjtimex(&t) < 0)
        return (struct clk_error){0};
    return (struct clk_error){.max_ns = (int64_t)t.maxerror * NS_PER_US,
                              .is_synchronised = !(t.status & STA_UNSYNC)};
}

static int64_t test_offset_ns(void)
{
    const char *off = getenv(CLK_TEST_OFFSET);

    return off ? strtoll(off, NULL, 10) : 0;
}

int64_t clk_realtime_ns(void)
{
    return read_clock(CLOCK_REALTIME) + test_offset_ns();
}

/* A clock minus the monotonic one.  They cannot be read at the same time, so
 * keep the reading with the shortest interval. */
static int64_t ahead_of_monotonic(clockid_t id, int64_t good_enough_ns)
{
    int64_t shortest_ns = INT64_MAX;
    int64_t ahead_ns = 0;

    for (int i = 0; i < 10 && shortest_ns > good_enough_ns; i++) {
        int64_t from_ns = read_clock(CLOCK_MONOTONIC);
        int64_t other_ns = read_clock(id);
        int64_t took_ns = read_clock(CLOCK_MONOTONIC) - from_ns;

        if (took_ns < shortest_ns) {
            shortest_ns = took_ns;
            ahead_ns = other_ns - from_ns;
        }
    }
    return ahead_ns;
}

int64_t clk_asleep_ns(void)
{
    return ahead_of_monotonic(CLOCK_BOOTTIME, NS_PER_MS);
}

int64_t clk_realtime_at(int64_t monotonic_ns)
{
    return monotonic_ns + ahead_of_monotonic(CLOCK_REALTIME, NS_PER_US) +
           test_offset_ns();
}

int64_t clk_thread_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clk_cpu_ns_of(pthread_t thread)
{
    clockid_t clock;

    return pthread_getcpuclockid(thread, &clock) ? 0 : read_clock(clock);
}

void clk_sleep_ns(int64_t ns)
{
    struct timespec ts = {.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};

    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
        continue;
}

void clk_format_utc(int64_t realtime_ns, const char *strftime_format, char *out,
                    size_t size)
{
    time_t t = (time_t)(realtime_ns / NS_PER_S);
    struct tm tm;

    if (!gmtime_r(&t, &tm) || strftime(out, size, strftime_format, &tm) == 0)
        out[0] = '\0';
}
