/* quota.h - what a run may send: until its window is over, and as many in it as
 * were asked for, whichever comes first; or at least so many, the last of them
 * due at least so late.  Requests of the warm-up do not count.
 */
#ifndef LOADGEN_QUOTA_H
#define LOADGEN_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "common/settings.h"
#include "loadgen/source.h"

struct quota {
    int64_t window_start_ns;
    int64_t window_end_ns; /* DUE_UNKNOWN: the count alone ends it */
    int64_t window_left;   /* requests; negative: the time alone ends it */
    int64_t least_end_ns;  /* one due from here on may be the last ... */
    int64_t least_left;    /* ... once so many more were taken */
    bool has_least;        /* those two hold */
    bool is_enough;        /* and are reached */
};

static inline int64_t quota_end_of(const struct load_settings *load)
{
    int64_t longest_ns = load_longest_ns(load);

    return longest_ns > 0 ? load->warmup_ns + longest_ns : DUE_UNKNOWN;
}

static inline struct quota quota_of(const struct load_settings *load)
{
    return (struct quota){
        .window_start_ns = load->warmup_ns,
        .window_end_ns = quota_end_of(load),
        .window_left = load->requests > 0 ? load->requests : -1,
        .least_end_ns = load->warmup_ns + load->min_duration_ns,
        .least_left = load->min_requests,
        .has_least = load->min_duration_ns > 0 || load->min_requests > 0,
    };
}

/* Of this, a lane's share of the requests.  One that is to have none of them
 * has nothing to wait for. */
static inline void quota_share(struct quota *q, struct lane lane)
{
    bool has_count = q->least_left > 0;

    if (q->window_left > 0)
        q->window_left = lane_share(q->window_left, lane);
    q->least_left = lane_share(q->least_left, lane);
    q->is_enough = has_count && q->least_left == 0 &&
                   q->least_end_ns == q->window_start_ns;
}

/* There were as many as were asked for. */
static inline bool quota_is_full(const struct quota *q)
{
    return q->window_left == 0 || q->is_enough;
}

/* May none be due at due_ns any more? */
static inline bool quota_is_spent(const struct quota *q, int64_t due_ns)
{
    return quota_is_full(q) || due_ns >= q->window_end_ns;
}

static inline void quota_take(struct quota *q, int64_t due_ns)
{
    if (due_ns < q->window_start_ns)
        return;
    q->least_left--;
    q->is_enough =
        q->has_least && q->least_left <= 0 && due_ns >= q->least_end_ns;
    if (q->window_left > 0)
        q->window_left--;
}

#endif
