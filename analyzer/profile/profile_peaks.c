#include "analyzer/profile/profile_peaks.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"

/* Above this, peaks are not computed: only a damaged file is that long. */
#define MAX_SECONDS 1e7

static void add_events(struct peaks *p, double at_s, int64_t count)
{
    if (at_s >= 0 && at_s < (double)p->n)
        p->events[(size_t)at_s] += count;
}

static void add_request(struct peaks *p, struct profile_request *r,
                        double start_s)
{
    double end_s = start_s + r->e2e_ns / NS_PER_S;

    r->at_s = start_s + r->ttft_ns / NS_PER_S;
    add_events(p, r->at_s, 1);
    r->at_s += r->silent.before_ns / NS_PER_S;
    add_events(p, r->at_s, r->silent.n_before);
    if (end_s < start_s)
        return; /* damaged */
    p->started[(size_t)start_s]++;
    p->started[(size_t)end_s + 1]--;
}

void peaks_init(struct peaks *p, struct profile_requests *list)
{
    double first_s = INFINITY;
    double last_s = -INFINITY;

    *p = (struct peaks){0};
    for (size_t i = 0; i < list->len; i++) {
        double start_s = (double)list->items[i].issued / NS_PER_S;

        if (!list->items[i].succeeds)
            continue;
        first_s = fmin(first_s, start_s);
        last_s = fmax(last_s, start_s);
        last_s = fmax(last_s, start_s + list->items[i].e2e_ns / NS_PER_S);
    }
    if (!(last_s >= first_s && last_s - first_s < MAX_SECONDS))
        return;
    p->n = (size_t)ceil(last_s - first_s) + 1;
    p->events = xcalloc(p->n, sizeof(*p->events));
    /* An end may round up to the next second; its -1 is one further. */
    p->started = xcalloc(p->n + 2, sizeof(*p->started));
    for (size_t i = 0; i < list->len; i++) {
        struct profile_request *r = &list->items[i];

        if (r->succeeds)
            add_request(p, r, (double)r->issued / NS_PER_S - first_s);
    }
}

void peaks_fini(struct peaks *p)
{
    free(p->events);
    free(p->started);
}

void peaks_add_pause(struct peaks *p, struct profile_request *r, double ns)
{
    if (!r->succeeds)
        return;
    r->at_s += ns / NS_PER_S;
    add_events(p, r->at_s, 1);
}

struct profile_peaks peaks_finish(struct peaks *p,
                                  struct profile_requests *list)
{
    struct profile_peaks peaks = {0};
    int64_t in_flight = 0;

    for (size_t i = 0; i < list->len; i++) {
        struct profile_request *r = &list->items[i];

        if (!r->succeeds)
            continue;
        add_events(p, r->at_s, r->silent.n_between);
        r->at_s += r->silent.after_ns / NS_PER_S;
        add_events(p, r->at_s, r->silent.n_after);
    }
    for (size_t i = 0; i < p->n; i++) {
        in_flight += p->started[i];
        if (p->events[i] > peaks.events)
            peaks.events = p->events[i];
        if (in_flight > peaks.requests)
            peaks.requests = in_flight;
    }
    return peaks;
}
