/* Stalls are met by arithmetic, not one by one: long work over short stalls
 * costs no more than any other. */
#include "server-stub/sim/stalls.h"

int64_t time_after(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t time_times(int64_t n, int64_t ns)
{
    int64_t product;

    return __builtin_mul_overflow(n, ns, &product) ? INT64_MAX : product;
}

int64_t stalls_skip(const struct stalls *s, int64_t at_ns)
{
    int64_t since_ns = at_ns - s->epoch_ns;
    int64_t into_ns;

    if (s->stall_ns == 0 || since_ns < s->every_ns)
        return at_ns;
    into_ns = since_ns % s->every_ns;
    return into_ns < s->stall_ns ? time_after(at_ns, s->stall_ns - into_ns)
                                 : at_ns;
}

static int64_t stalled_ns(const struct stalls *s, int64_t start_ns,
                          int64_t work_ns)
{
    int64_t to_stall_ns;
    int64_t left_ns;

    if (s->stall_ns == 0)
        return 0;
    to_stall_ns = s->every_ns - (start_ns - s->epoch_ns) % s->every_ns;
    left_ns = work_ns - to_stall_ns;
    if (left_ns <= 0)
        return 0;
    return time_times(1 + (left_ns - 1) / (s->every_ns - s->stall_ns),
                      s->stall_ns);
}

int64_t stalls_work(const struct stalls *s, int64_t start_ns, int64_t work_ns)
{
    return time_after(time_after(start_ns, work_ns),
                      stalled_ns(s, start_ns, work_ns));
}
