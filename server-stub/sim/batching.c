/* The four policies, in the order in which policy_find() tries them. */
#include "server-stub/sim/batching.h"

#include <string.h>

static int64_t admit_one(const struct policy_settings *s,
                         const struct policy_view *view, int64_t *again_ns)
{
    (void)s;
    (void)again_ns;
    return view->running == 0 && view->waiting > 0 ? 1 : 0;
}

static int64_t admit_static(const struct policy_settings *s,
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

/* Like static batching, but a preferred size that is available now does not
 * wait. */
static int64_t admit_dynamic(const struct policy_settings *s,
                             const struct policy_view *view, int64_t *again_ns)
{
    int64_t most = view->waiting < s->max_batch ? view->waiting : s->max_batch;

    for (size_t i = s->n_preferred; i > 0 && view->running == 0; i--) {
        if (s->preferred[i - 1] <= most)
            return s->preferred[i - 1];
    }
    return admit_static(s, view, again_ns);
}

/* The simulation, which knows the requests, checks the KV budget. */
static int64_t admit_continuous(const struct policy_settings *s,
                                const struct policy_view *view,
                                int64_t *again_ns)
{
    int64_t room = s->max_running - view->running;

    (void)again_ns;
    if (room <= 0)
        return 0;
    return view->waiting < room ? view->waiting : room;
}

static const struct policy_ops policies[] = {
    {"none", "one request at a time", admit_one},
    {"static", "wait for a full batch or for the maximum delay", admit_static},
    {"dynamic",
     "up to the maximum batch size; a preferred size at once, others after "
     "the maximum delay",
     admit_dynamic},
    {"continuous", "requests join and leave at every step, up to a maximum",
     admit_continuous},
};

const struct policy_ops *policy_find(const char *name)
{
    for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
        if (strcmp(policies[i].name, name) == 0)
            return &policies[i];
    }
    return NULL;
}
