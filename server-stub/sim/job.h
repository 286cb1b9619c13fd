/* job.h - a request as the simulated server sees it. */
#ifndef SERVER_STUB_SIM_JOB_H
#define SERVER_STUB_SIM_JOB_H

#include <stdbool.h>
#include <stdint.h>

struct job {
    /* What came with the request; set by whoever hands it in. */
    int64_t arrival_ns;
    int64_t priority;      /* lower goes first */
    int64_t prompt_tokens; /* 0: the model decides */
    int64_t cached_tokens; /* of the prompt, that need not be read again */
    int64_t output_tokens; /* 0: the model decides */
    void *owner;           /* the front's */

    /* What became of it; TIME_ABSENT before. */
    int64_t start_ns;   /* left the queue */
    int64_t first_ns;   /* first token, or the whole answer */
    int64_t finish_ns;  /* last token */
    int64_t service_ns; /* time drawn for its own service; of an LLM: in all */
    int64_t batch;      /* jobs in its batch when it started, itself included */
    int64_t replica;

    /* Where it is; the simulation's own. */
    int64_t prefill_left; /* prompt tokens still to be read */
    int64_t produced;     /* output tokens so far */
    int64_t kv_tokens;    /* held while it runs */
    int64_t step_prefill; /* part in the iteration under way: tokens read */
    bool step_decodes;    /* ... and a token made */
};

static inline bool job_is_done(const struct job *job)
{
    return job->produced >= job->output_tokens;
}

#endif
