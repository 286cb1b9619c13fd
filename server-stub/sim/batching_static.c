#include "server-stub/sim/batching_policy.h"

static int64_t admit(const struct policy_settings *s,
                     const struct policy_view *view, int64_t *again_ns)
{
    if (view->running > 0 || view->waiting == 0)
        return 0;
    if (view->waiting >= s->max_batch)
        return s->max_batch;
    if (view->now_ns - view->oldest_ns >= s->max_delay_ns)
        return view->waiting;
    *again_ns = view->oldest_ns + s->max_delay_ns;
    return 0;
}

const struct policy_ops policy_static = {
    .name = "static",
    .help = "wait for a full batch, or flush after the longest delay",
    .admit = admit,
};
