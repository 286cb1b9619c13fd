/* Stalls are computed, not stepped through: long work over short stalls costs
 * no more than any other. */
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

int64_t stalls_work(const struct stalls *s, int64_t start_ns, int64_t work_ns)
{
    int64_t end_ns = time_after(start_ns, work_ns);
    int64_t to_stall_ns;
    int64_t n;

    if (s->stall_ns == 0)
        return end_ns;
    to_stall_ns = s->every_ns - (start_ns - s->epoch_ns) % s->every_ns;
    if (work_ns <= to_stall_ns)
        return end_ns;
    n = 1 + (work_ns - to_stall_ns - 1) / (s->every_ns - s->stall_ns);
    return time_after(end_ns, time_times(n, s->stall_ns));
}
