/* Stalls are met by arithmetic, not one by one: a long service over short
 * stalls costs no more than any other. */
#include "server-stub/timeline.h"

#include <assert.h>

void timeline_init(struct timeline *t, int64_t epoch_ns, int64_t stall_ns,
                   int64_t every_ns)
{
    assert(stall_ns == 0 || stall_ns < every_ns);
    *t = (struct timeline){.epoch_ns = epoch_ns,
                           .stall_ns = stall_ns,
                           .every_ns = every_ns,
                           .free_ns = epoch_ns};
}

int64_t timeline_after(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* The first moment from `at_ns` on at which the server is not stalled. */
static int64_t skip_stall(const struct timeline *t, int64_t at_ns)
{
    int64_t since_ns = at_ns - t->epoch_ns;
    int64_t into_ns;

    if (t->stall_ns == 0 || since_ns < t->every_ns)
        return at_ns;
    into_ns = since_ns % t->every_ns;
    return into_ns < t->stall_ns ? timeline_after(at_ns, t->stall_ns - into_ns)
                                 : at_ns;
}

/* How long the server stands still during `service_ns` of work that starts at
 * `start_ns`, which is outside every stall. */
static int64_t stalled_ns(const struct timeline *t, int64_t start_ns,
                          int64_t service_ns)
{
    int64_t to_stall_ns;
    int64_t left_ns;
    int64_t stalls;
    int64_t sum;

    if (t->stall_ns == 0)
        return 0;
    to_stall_ns = t->every_ns - (start_ns - t->epoch_ns) % t->every_ns;
    left_ns = service_ns - to_stall_ns;
    if (left_ns <= 0)
        return 0;
    stalls = 1 + (left_ns - 1) / (t->every_ns - t->stall_ns);
    return __builtin_mul_overflow(stalls, t->stall_ns, &sum) ? INT64_MAX : sum;
}

struct span timeline_serve(struct timeline *t, int64_t arrival_ns,
                           int64_t service_ns)
{
    struct span span;

    span.start_ns =
        skip_stall(t, arrival_ns > t->free_ns ? arrival_ns : t->free_ns);
    span.finish_ns = timeline_after(timeline_after(span.start_ns, service_ns),
                                    stalled_ns(t, span.start_ns, service_ns));
    t->free_ns = span.finish_ns;
    return span;
}
