#include "server-stub/sim/batching_policy.h"

#include <stdbool.h>

/* The largest preferred size that can be made now; 0 if none can. */
static int64_t preferred(const struct policy_settings *s, int64_t waiting)
{
    for (size_t i = s->n_preferred; i > 0; i--) {
        if (s->preferred[i - 1] <= waiting)
            return s->preferred[i - 1];
    }
    return 0;
}

static int64_t admit(const struct policy_settings *s,
                     const struct policy_view *view, int64_t *again_ns)
{
    bool is_full = view->waiting >= s->max_batch;
    int64_t size = preferred(s, is_full ? s->max_batch : view->waiting);

    if (view->running > 0 || view->waiting == 0)
        return 0;
    if (size > 0)
        return size;
    if (is_full)
        return s->max_batch;
    if (view->now_ns - view->oldest_ns >= s->max_delay_ns)
        return view->waiting;
    *again_ns = view->oldest_ns + s->max_delay_ns;
    return 0;
}

const struct policy_ops policy_dynamic = {
    .name = "dynamic",
    .help = "whatever waits, up to the largest batch; a preferred size at "
            "once, others after the longest delay",
    .admit = admit,
};
