/* Whole answers in one iteration that grows with the batch. */
#include "server-stub/sim/job.h"
#include "server-stub/sim/model.h"
#include "server-stub/sim/stalls.h"

static int64_t iterate_ns(const struct model_settings *m,
                          struct job *const *jobs, size_t n, struct rng *rng)
{
    (void)rng;
    for (size_t i = 0; i < n; i++)
        jobs[i]->step_decodes = true;
    return time_after(m->base_ns, time_times((int64_t)n, m->per_item_ns));
}

const struct model_ops model_batch = {
    .name = "batch",
    .help = "base + per_item for each request in the batch",
    .iterate_ns = iterate_ns,
};
