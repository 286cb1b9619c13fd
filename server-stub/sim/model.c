#include "server-stub/sim/model.h"

#include "server-stub/sim/stalls.h"

/* ---- plain and batch: the whole answer in one iteration ---- */

static int64_t plain_ns(const struct model_settings *m, struct job *const *jobs,
                        size_t n, struct rng *rng)
{
    for (size_t i = 0; i < n; i++)
        jobs[i]->step_decodes = true;
    return dist_draw_ns(&m->service, rng);
}

static int64_t batch_ns(const struct model_settings *m, struct job *const *jobs,
                        size_t n, struct rng *rng)
{
    (void)rng;
    for (size_t i = 0; i < n; i++)
        jobs[i]->step_decodes = true;
    return time_after(m->base_ns, time_times((int64_t)n, m->per_item_ns));
}

/* ---- llm: the prompt, then one token per step ---- */

static void llm_demand(const struct model_settings *m, struct job *job,
                       struct rng *rng)
{
    if (job->prompt_tokens == 0)
        job->prompt_tokens = dist_draw_count(&m->prompt, rng);
    if (job->output_tokens == 0)
        job->output_tokens = dist_draw_count(&m->output, rng);
    job->prefill_left = job->prompt_tokens - job->cached_tokens;
}

/* Prefill either has an iteration of its own, in which no job decodes, or takes
 * part in the decode steps, chunk_tokens at a time.  Prompts are read in the
 * order of the jobs; the end of a prompt makes the first output token. */
static int64_t llm_ns(const struct model_settings *m, struct job *const *jobs,
                      size_t n, struct rng *rng)
{
    bool is_chunked = m->chunk_tokens > 0;
    int64_t budget = is_chunked ? m->chunk_tokens : INT64_MAX;
    int64_t reading = 0;
    int64_t decoding = 0;
    int64_t decode_ns;

    (void)rng;
    for (size_t i = 0; i < n; i++) {
        int64_t part = jobs[i]->prefill_left;

        if (part > budget - reading)
            part = budget - reading;
        jobs[i]->step_prefill = part;
        reading += part;
    }
    for (size_t i = 0; i < n && (is_chunked || reading == 0); i++) {
        jobs[i]->step_decodes = jobs[i]->prefill_left == 0;
        decoding += jobs[i]->step_decodes;
    }
    decode_ns =
        time_after(m->decode_ns, time_times(decoding, m->decode_item_ns));
    return time_after(time_times(reading, m->prefill_ns),
                      decoding > 0 ? decode_ns : 0);
}

const struct model_ops model_plain = {
    .name = "plain",
    .help = "a time from a distribution for each batch",
    .iterate_ns = plain_ns,
};

const struct model_ops model_batch = {
    .name = "batch",
    .help = "base + per_item for each request in the batch",
    .iterate_ns = batch_ns,
};

const struct model_ops model_llm = {
    .name = "llm",
    .help = "prefill by prompt token, decode by step and batch",
    .has_tokens = true,
    .demand = llm_demand,
    .iterate_ns = llm_ns,
};
