#include "analyzer/profile/profile_requests.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"

#define FIRST_ROOM 256

struct found_pause {
    struct profile_request *request;
    double ns;
};

int64_t profile_input(const struct facts *f)
{
    int64_t input = facts_count(f->prompt_tokens);

    if (input == TIME_ABSENT)
        input = facts_count(f->prompt_asked);
    return input == TIME_ABSENT ? 0 : input;
}

static double or_zero(double ns)
{
    return isnan(ns) ? 0 : ns;
}

void profile_requests_add(struct profile_requests *list, const struct facts *f,
                          const struct profile_ops *ops,
                          const struct profile_run *run, bool succeeds)
{
    struct profile_request *r;

    if (list->len == list->cap) {
        list->cap = list->cap ? 2 * list->cap : FIRST_ROOM;
        list->items = xrealloc(list->items, list->cap, sizeof(*list->items));
    }
    r = &list->items[list->len++];
    *r = (struct profile_request){
        .seq = f->seq,
        .issued = f->issued,
        .outcome = f->outcome,
        .detail = f->detail,
        .input_tokens = profile_input(f),
        .succeeds = succeeds,
    };
    if (succeeds) {
        r->output_tokens = ops->tokens(f);
        r->ttft_ns = or_zero(ops->value[PROFILE_TTFT](f, run));
        r->e2e_ns = or_zero(ops->value[PROFILE_E2E](f, run));
    } else if (f->choices > 0) { /* a tool that streams knows its beginning */
        r->ttft_ns = (double)(f->choices_first - f->issued);
    }
    if (succeeds ? ops->counts_silent : f->choices > 0)
        r->silent = profile_silent(f);
}

static int by_seq(const void *a, const void *b)
{
    const struct profile_request *x = a;
    const struct profile_request *y = b;

    return (x->seq > y->seq) - (x->seq < y->seq);
}

void profile_requests_sort(struct profile_requests *list)
{
    if (list->len > 0)
        qsort(list->items, list->len, sizeof(*list->items), by_seq);
}

struct profile_request *
profile_requests_find(const struct profile_requests *list, int64_t seq)
{
    struct profile_request key = {.seq = seq};

    return list->len > 0
               ? bsearch(&key, list->items, list->len, sizeof(key), by_seq)
               : NULL;
}

void profile_requests_add_pause(struct profile_requests *list,
                                struct profile_request *r, double ns)
{
    if (list->n_found == list->cap_found) {
        list->cap_found = list->cap_found ? 2 * list->cap_found : FIRST_ROOM;
        list->found =
            xrealloc(list->found, list->cap_found, sizeof(*list->found));
    }
    list->found[list->n_found++] = (struct found_pause){r, ns};
    r->n_pauses++;
}

void profile_requests_finish(struct profile_requests *list)
{
    size_t n = 0;

    for (size_t i = 0; i < list->len; i++) {
        list->items[i].first_pause = n;
        n += list->items[i].n_pauses;
        list->items[i].n_pauses = 0;
    }
    list->pauses = xcalloc(n + 1, sizeof(*list->pauses));
    for (size_t i = 0; i < list->n_found; i++) {
        struct profile_request *r = list->found[i].request;

        list->pauses[r->first_pause + r->n_pauses++] = list->found[i].ns;
    }
    free(list->found);
    list->found = NULL;
}

/* ---- the fullest second ---- */

/* Above this, peaks are not computed: only a damaged file is that long. */
#define MAX_SECONDS 1e7

static void add_events(struct peaks *p, double at_s, int64_t count)
{
    if (at_s >= 0 && at_s < (double)p->n)
        p->events[(size_t)at_s] += count;
}

static void add_listed(struct peaks *p, struct profile_request *r,
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
            add_listed(p, r, (double)r->issued / NS_PER_S - first_s);
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
