#include "server-stub/sim/batching_policy.h"

/* What does not fit the KV budget is left to the simulation, which knows the
 * requests. */
static int64_t admit(const struct policy_settings *s,
                     const struct policy_view *view, int64_t *again_ns)
{
    int64_t room = s->max_running - view->running;

    (void)again_ns;
    if (room <= 0)
        return 0;
    return view->waiting < room ? view->waiting : room;
}

const struct policy_ops policy_continuous = {
    .name = "continuous",
    .help = "join and leave at every step, up to the most that may run",
    .admit = admit,
};
