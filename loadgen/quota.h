/* quota.h - what a run may send: until its window is over, and as many in it as
 * were asked for, whichever comes first; or until at least so long and so many,
 * whichever comes last.  Requests of the warm-up do not count.
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
    int64_t least_end_ns; /* it may end from here on ...; DUE_UNKNOWN: no ... */
    int64_t least_left;   /* ... once so many more were taken */
};

static inline int64_t quota_end_of(const struct load_settings *load)
{
    int64_t length_ns = load->duration_ns;

    if (load->max_duration_ns > 0 &&
        (length_ns == 0 || length_ns > load->max_duration_ns))
        length_ns = load->max_duration_ns;
    return length_ns > 0 ? load->warmup_ns + length_ns : DUE_UNKNOWN;
}

static inline bool quota_has_least(const struct load_settings *load)
{
    return load->min_duration_ns > 0 || load->min_requests > 0;
}

static inline struct quota quota_of(const struct load_settings *load)
{
    return (struct quota){
        .window_start_ns = load->warmup_ns,
        .window_end_ns = quota_end_of(load),
        .window_left = load->requests > 0 ? load->requests : -1,
        .least_end_ns = quota_has_least(load)
                            ? load->warmup_ns + load->min_duration_ns
                            : DUE_UNKNOWN,
        .least_left = load->min_requests,
    };
}

/* Of this, a lane's share of the requests. */
static inline void quota_share(struct quota *q, struct lane lane)
{
    if (q->window_left > 0)
        q->window_left = lane_share(q->window_left, lane);
    q->least_left = lane_share(q->least_left, lane);
}

/* There were as many as were asked for. */
static inline bool quota_is_full(const struct quota *q, int64_t due_ns)
{
    return q->window_left == 0 ||
           (due_ns >= q->least_end_ns && q->least_left <= 0);
}

/* May none be due at due_ns any more? */
static inline bool quota_is_spent(const struct quota *q, int64_t due_ns)
{
    return quota_is_full(q, due_ns) || due_ns >= q->window_end_ns;
}

static inline void quota_take(struct quota *q, int64_t due_ns)
{
    if (due_ns < q->window_start_ns)
        return;
    q->least_left--;
    if (q->window_left > 0)
        q->window_left--;
}

#endif
