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

/* What a tool that works with streams knows of a request that failed later. */
static void take_failure(struct profile_request *r, const struct facts *f)
{
    if (f->choices <= 0)
        return;
    r->ttft_ns = (double)(f->choices_first - f->issued);
    r->silent = profile_silent(f);
}

static void take_success(struct profile_request *r, const struct facts *f,
                         const struct profile_ops *ops,
                         const struct profile_run *run)
{
    r->output_tokens = ops->tokens(f);
    r->ttft_ns = or_zero(ops->value[PROFILE_TTFT](f, run));
    r->e2e_ns = or_zero(ops->value[PROFILE_E2E](f, run));
    if (ops->counts_silent)
        r->silent = profile_silent(f);
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
    if (succeeds)
        take_success(r, f, ops, run);
    else
        take_failure(r, f);
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
