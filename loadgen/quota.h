/* quota.h - what a run may send: until its window is over, and as many in it as
 * were asked for, whichever comes first.  Requests of the warm-up do not count.
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
};

static inline struct quota quota_of(const struct load_settings *load)
{
    return (struct quota){
        .window_start_ns = load->warmup_ns,
        .window_end_ns = load->duration_ns > 0
                             ? load->warmup_ns + load->duration_ns
                             : DUE_UNKNOWN,
        .window_left = load->requests > 0 ? load->requests : -1,
    };
}

/* May none be due at due_ns any more? */
static inline bool quota_is_spent(const struct quota *q, int64_t due_ns)
{
    return q->window_left == 0 || due_ns >= q->window_end_ns;
}

static inline void quota_take(struct quota *q, int64_t due_ns)
{
    if (due_ns >= q->window_start_ns && q->window_left > 0)
        q->window_left--;
}

#endif
