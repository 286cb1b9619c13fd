#include "analyzer/tally/pace.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"

void pace_fini(struct pace *p)
{
    free(p->seconds);
    *p = (struct pace){0};
}

/* NULL: too late to be counted.  If the window is not a whole number of
 * seconds, its last second is longer: in a short one a few requests would be a
 * large share. */
static struct pace_second *second_at(struct pace *p, int64_t at_ns)
{
    const struct window *w = &p->window;
    int64_t n = (w->end_ns - w->start_ns) / NS_PER_S;
    int64_t i = (at_ns - w->start_ns) / NS_PER_S;

    if (i >= n && i > 0)
        i = n - 1;
    if (i >= PACE_MAX_SECONDS)
        return NULL;
    if ((size_t)i >= p->cap) {
        size_t cap = 2 * (size_t)i + 16;

        p->seconds = xrealloc(p->seconds, cap, sizeof(*p->seconds));
        memset(p->seconds + p->cap, 0, (cap - p->cap) * sizeof(*p->seconds));
        p->cap = cap;
    }
    if ((size_t)i >= p->len)
        p->len = (size_t)i + 1;
    return &p->seconds[i];
}

void pace_add(struct pace *p, const struct facts *f)
{
    bool is_issued =
        facts_issued(f) && f->issued != TIME_ABSENT && f->due != TIME_ABSENT;
    bool is_measured = window_holds(&p->window, f->due);
    struct pace_second *s = is_measured ? second_at(p, f->due) : NULL;
    int64_t at_ns;

    p->due += is_measured ? facts_n(f) : 0;
    if (s)
        s->due += facts_n(f);
    if (!is_issued)
        return;
    at_ns = f->issued - f->due <= PACE_GRACE_NS ? f->due : f->issued;
    p->in_time += is_measured && at_ns < p->window.end_ns;
    s = window_holds(&p->window, at_ns) ? second_at(p, at_ns) : NULL;
    if (s)
        s->sent++;
}

double pace_worst_percent(const struct pace *p)
{
    double worst = 0;

    for (size_t i = 0; i < p->len; i++) {
        const struct pace_second *s = &p->seconds[i];
        int64_t off = llabs(s->sent - s->due);
        int64_t of = i > 0 && s[-1].due > s->due ? s[-1].due : s->due;
        double percent = 100 * (double)off / (double)(of > 0 ? of : 1);

        if (off > PACE_SLACK && percent > worst)
            worst = percent;
    }
    return worst;
}

double pace_sent_percent(const struct pace *p)
{
    if (p->due - p->in_time <= PACE_SLACK)
        return 100;
    return 100 * (double)p->in_time / (double)p->due;
}
