#include "analyzer/tally/misses.h"

void misses_add_failed(struct misses *m, int64_t count)
{
    m->not_good += count;
    m->failed += count;
}

static bool is_missed(int limit, int64_t limit_ns, const struct facts *f)
{
    if (limit_ns == 0)
        return false;
    if (limit == GOOD_CHECK)
        return f->check == CHECK_FAILED;
    return good_concerns((enum measure)limit, f) &&
           !good_keeps((enum measure)limit, f, limit_ns);
}

void misses_add(struct misses *m, const int64_t limit_ns[static GOOD_LIMITS],
                const struct facts *f)
{
    int count = 0;
    int last = 0;

    if (f->outcome != OUTCOME_OK) {
        misses_add_failed(m, facts_n(f));
        return;
    }
    m->not_good++;
    for (int i = 0; i < GOOD_LIMITS; i++) {
        if (!is_missed(i, limit_ns[i], f))
            continue;
        m->by[i].missed++;
        last = i;
        count++;
    }
    if (count == 1)
        m->by[last].only++;
    else
        m->several++;
}

int misses_limits(const struct misses *m)
{
    int n = 0;

    for (int i = 0; i < GOOD_LIMITS; i++)
        n += m->by[i].limit_ns > 0;
    return n;
}

const char *misses_name(int limit)
{
    return limit == GOOD_CHECK ? "check" : measure_name((enum measure)limit);
}
