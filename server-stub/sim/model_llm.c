/* A language model: prompts are read token by token, the end of the prompt
 * gives the first output token, each decode step one more.
 *
 * Prefill either has an iteration of its own, during which nobody decodes, or
 * takes part in the decode steps, some tokens at a time. */
#include "common/base/rng.h"
#include "common/spec/dist.h"
#include "server-stub/sim/job.h"
#include "server-stub/sim/model.h"
#include "server-stub/sim/stalls.h"

static void demand(const struct model_settings *m, struct job *job,
                   struct rng *rng)
{
    if (job->prompt_tokens == 0)
        job->prompt_tokens = dist_draw_count(&m->prompt, rng);
    if (job->output_tokens == 0)
        job->output_tokens = dist_draw_count(&m->output, rng);
    job->prefill_left = job->prompt_tokens - job->cached_tokens;
}

/* Share out at most `budget` prompt tokens, first come first served. */
static int64_t plan_prefill(struct job *const *jobs, size_t n, int64_t budget)
{
    int64_t tokens = 0;

    for (size_t i = 0; i < n; i++) {
        int64_t part = jobs[i]->prefill_left;

        if (part > budget - tokens)
            part = budget - tokens;
        jobs[i]->step_prefill = part;
        tokens += part;
    }
    return tokens;
}

static int64_t plan_decode(struct job *const *jobs, size_t n)
{
    int64_t decoding = 0;

    for (size_t i = 0; i < n; i++) {
        jobs[i]->step_decodes = jobs[i]->prefill_left == 0;
        decoding += jobs[i]->step_decodes;
    }
    return decoding;
}

static int64_t iterate_ns(const struct model_settings *m,
                          struct job *const *jobs, size_t n, struct rng *rng)
{
    bool is_chunked = m->chunk_tokens > 0;
    int64_t reading =
        plan_prefill(jobs, n, is_chunked ? m->chunk_tokens : INT64_MAX);
    int64_t read_ns = time_times(reading, m->prefill_ns);
    int64_t decoding = 0;

    (void)rng;
    if (is_chunked || reading == 0)
        decoding = plan_decode(jobs, n);
    if (decoding == 0)
        return read_ns;
    return time_after(
        read_ns,
        time_after(m->decode_ns, time_times(decoding, m->decode_item_ns)));
}

const struct model_ops model_llm = {
    .name = "llm",
    .help = "prefill by prompt token, decode by step and batch",
    .has_tokens = true,
    .demand = demand,
    .iterate_ns = iterate_ns,
};
