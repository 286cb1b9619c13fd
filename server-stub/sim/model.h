/* model.h - how long the simulated model takes.
 *
 * A batch is served in iterations.  The model says how long the next one takes
 * and what part each job has in it.  Models for whole answers need one
 * iteration; a language model needs one to read the prompt and one a token.
 */
#ifndef SERVER_STUB_SIM_MODEL_H
#define SERVER_STUB_SIM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/spec/dist.h"

struct err;
struct job;
struct rng;

struct model_settings {
    struct dist service;    /* of one iteration of a plain model */
    int64_t base_ns;        /* batch-linear: base + per_item * jobs */
    int64_t per_item_ns;    /* likewise */
    int64_t prefill_ns;     /* LLM: a prompt token */
    int64_t decode_ns;      /* LLM: a step, whatever the batch ... */
    int64_t decode_item_ns; /* ... and for each job in it */
    int64_t chunk_tokens;   /* LLM: prompt tokens a step beside decoding; 0:
                               prefill stalls decoding */
    struct dist prompt;     /* LLM: tokens, where the request does not say */
    struct dist output;     /* likewise */
};

struct model_ops {
    const char *name;
    const char *help;
    bool has_tokens; /* answers are made of tokens, one a step */

    /* The demand of a job that has arrived, where it is the model's to say.
     * Optional. */
    void (*demand)(const struct model_settings *m, struct job *job,
                   struct rng *rng);

    /* Length of the next iteration of these jobs, and each job's part in it.
     * Required. */
    int64_t (*iterate_ns)(const struct model_settings *m,
                          struct job *const *jobs, size_t n, struct rng *rng);
};

extern const struct model_ops model_plain;
extern const struct model_ops model_batch;
extern const struct model_ops model_llm;

#endif
