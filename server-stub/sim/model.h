/* model.h - how long the simulated model takes.
 *
 * A batch is served in iterations.  The model says how long the next iteration
 * takes and how far each job gets in it.  Models that return whole answers need
 * one iteration.  A language model needs one or more to read the prompt and one
 * per output token.  Pure.
 */
#ifndef SERVER_STUB_SIM_MODEL_H
#define SERVER_STUB_SIM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/spec/dist.h"

struct rng;

/* A request as the simulated server sees it. */
struct job {
    /* Set by the caller before sim_arrive(). */
    int64_t arrival_ns;
    int64_t priority;      /* the lowest goes first */
    int64_t prompt_tokens; /* 0: the model decides */
    int64_t cached_tokens; /* part of the prompt that need not be read again */
    int64_t output_tokens; /* 0: the model decides */
    void *owner;           /* the caller's */

    /* Results; TIME_ABSENT until known. */
    int64_t start_ns;   /* left the queue */
    int64_t first_ns;   /* first token, or the whole answer */
    int64_t finish_ns;  /* last token */
    int64_t service_ns; /* total length of its iterations */
    int64_t batch;      /* size of its batch when it started */
    int64_t replica;

    /* Progress; private to the simulation and the model. */
    int64_t prefill_left; /* prompt tokens still to be read */
    int64_t produced;     /* output tokens so far */
    int64_t kv_tokens;    /* held while it runs */
    int64_t step_prefill; /* prompt tokens read in the current iteration */
    bool step_decodes;    /* the current iteration makes one token of it */
};

struct model_settings {
    struct dist service;    /* plain: length of an iteration */
    int64_t base_ns;        /* batch: base + per_item * jobs */
    int64_t per_item_ns;    /* batch */
    int64_t prefill_ns;     /* LLM: per prompt token */
    int64_t decode_ns;      /* LLM: per step ... */
    int64_t decode_item_ns; /* ... plus this for each decoding job */
    int64_t chunk_tokens;   /* LLM: prompt tokens per decode step; 0: prefill
                               has iterations of its own and stalls decoding */
    struct dist prompt;     /* LLM: tokens, if the request does not say */
    struct dist output;     /* LLM: the same for the answer */
};

struct model_ops {
    const char *name;
    const char *help;
    bool has_tokens; /* the answer consists of tokens, one per step */

    /* Fill in the demand of a job that has arrived.  Optional: without it the
     * answer is one token. */
    void (*demand)(const struct model_settings *m, struct job *job,
                   struct rng *rng);

    /* Set each job's part in the next iteration and return the iteration's
     * length.  Required. */
    int64_t (*iterate_ns)(const struct model_settings *m,
                          struct job *const *jobs, size_t n, struct rng *rng);
};

extern const struct model_ops model_plain;
extern const struct model_ops model_batch;
extern const struct model_ops model_llm;

#endif
