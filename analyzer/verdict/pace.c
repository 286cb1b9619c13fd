#include "analyzer/verdict/pace.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"

void pace_init(struct pace *p, struct window window)
{
    *p = (struct pace){.window = window};
}

void pace_fini(struct pace *p)
{
    free(p->seconds);
    *p = (struct pace){0};
}

/* A window that is no whole number of seconds has a last one that is longer:
 * in a short one few requests would be a large share. */
static int64_t second_of(const struct window *w, int64_t at_ns)
{
    int64_t n = (w->end_ns - w->start_ns) / NS_PER_S;
    int64_t at = (at_ns - w->start_ns) / NS_PER_S;

    return at < n || at == 0 ? at : n - 1;
}

/* NULL: too far to be looked at. */
static struct pace_second *second_at(struct pace *p, int64_t at_ns)
{
    int64_t i = second_of(&p->window, at_ns);

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

static double deviation_percent(const struct pace *p, size_t i)
{
    const struct pace_second *s = &p->seconds[i];
    int64_t off = llabs(s->sent - s->due);
    int64_t of = i > 0 && s[-1].due > s->due ? s[-1].due : s->due;

    if (off <= PACE_SLACK)
        return 0;
    return 100 * (double)off / (double)(of > 0 ? of : 1);
}

double pace_worst_percent(const struct pace *p)
{
    double worst = 0;

    for (size_t i = 0; i < p->len; i++) {
        double percent = deviation_percent(p, i);

        if (percent > worst)
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
