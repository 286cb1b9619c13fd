#include "server-stub/sim/batching_policy.h"

static int64_t admit(const struct policy_settings *s,
                     const struct policy_view *view, int64_t *again_ns)
{
    (void)s;
    (void)again_ns;
    return view->running == 0 && view->waiting > 0 ? 1 : 0;
}

const struct policy_ops policy_none = {
    .name = "none",
    .help = "one request at a time",
    .admit = admit,
};
