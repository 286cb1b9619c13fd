#include "loadgen/schedule/phases.h"

#include "common/settings/settings.h"
#include "loadgen/schedule/source.h"

void phases_init(struct phases *p, const struct load_settings *load,
                 int64_t lanes)
{
    atomic_init(&p->begin,
                load->warmup_requests > 0 ? 0 : 2 * load->warmup_ns + 1);
    atomic_init(&p->end_ns, DUE_UNKNOWN);
    atomic_init(&p->lanes_left, lanes);
    p->longest_ns = load_longest_ns(load);
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void phases_begin(struct phases *p, int64_t start_ns)
{
    int64_t seen = atomic_load(&p->begin);

    while (seen % 2 == 0 &&
           !atomic_compare_exchange_weak(&p->begin, &seen,
                                         2 * later(seen / 2, start_ns) + 1))
        ;
}

int64_t phases_enter(struct phases *p, int64_t due_ns)
{
    int64_t seen = atomic_load(&p->begin);

    while (seen % 2 == 0 &&
           !atomic_compare_exchange_weak(&p->begin, &seen,
                                         later(seen, 2 * (due_ns + 1))))
        ;
    return seen % 2 ? seen / 2 : DUE_UNKNOWN;
}

void phases_leave(struct phases *p, int64_t due_ns)
{
    if (atomic_fetch_sub(&p->lanes_left, 1) == 1)
        phases_begin(p, due_ns);
}

void phases_end(struct phases *p, int64_t end_ns)
{
    atomic_store(&p->end_ns, end_ns);
}

int64_t phases_start_ns(const struct phases *p)
{
    int64_t seen = atomic_load(&p->begin);

    return seen % 2 ? seen / 2 : DUE_UNKNOWN;
}

int64_t phases_end_ns(const struct phases *p)
{
    int64_t start_ns = phases_start_ns(p);
    int64_t counted_ns = atomic_load(&p->end_ns);

    if (p->longest_ns == 0 || start_ns == DUE_UNKNOWN)
        return counted_ns;
    return counted_ns - start_ns < p->longest_ns ? counted_ns
                                                 : start_ns + p->longest_ns;
}
