#include "loadgen/trace/trace_timeline.h"

#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"

static int64_t last_of(const struct timeline *t)
{
    return t->len > 0 ? t->until[t->len - 1] : 0;
}

static void reach(struct timeline *t, size_t second)
{
    while (t->len <= second) {
        if (t->len == t->cap) {
            t->cap = t->cap > 0 ? 2 * t->cap : 64;
            t->until = xrealloc(t->until, t->cap, sizeof(*t->until));
        }
        t->until[t->len] = last_of(t);
        t->len++;
    }
}

void timeline_add(struct timeline *t, int64_t due_ns)
{
    if (due_ns < 0 || due_ns / NS_PER_S >= TIMELINE_SECONDS)
        return;
    reach(t, (size_t)(due_ns / NS_PER_S));
    t->until[t->len - 1]++;
}

void timeline_fini(struct timeline *t)
{
    free(t->until);
    *t = (struct timeline){0};
}

double timeline_count(const struct timeline *t, double until_ns)
{
    double seconds = until_ns > 0 ? until_ns / 1e9 : 0;
    size_t at;
    double before;

    if (seconds >= (double)t->len)
        return (double)last_of(t);
    at = (size_t)seconds;
    before = at > 0 ? (double)t->until[at - 1] : 0;
    return before + (seconds - (double)at) * ((double)t->until[at] - before);
}
