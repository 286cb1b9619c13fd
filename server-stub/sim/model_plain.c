/* Whole answers in one iteration, of a length drawn from a distribution
 * whatever the batch. */
#include "common/spec/dist.h"
#include "server-stub/sim/job.h"
#include "server-stub/sim/model.h"

static int64_t iterate_ns(const struct model_settings *m,
                          struct job *const *jobs, size_t n, struct rng *rng)
{
    for (size_t i = 0; i < n; i++)
        jobs[i]->step_decodes = true;
    return dist_draw_ns(&m->service, rng);
}

const struct model_ops model_plain = {
    .name = "plain",
    .help = "a time from a distribution for each batch",
    .iterate_ns = iterate_ns,
};
