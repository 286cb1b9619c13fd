/* sample.h - what a request carries: a prompt that nobody has seen before, and
 * how long an answer it asks for.
 *
 * Pure: the seed, the run's nonce and a request's place in the schedule say
 * everything, so that no request depends on another, or on who sends it.
 */
#ifndef LOADGEN_SAMPLE_H
#define LOADGEN_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/dist.h"
#include "common/rng.h"

struct buf;
struct data_settings;
struct err;

struct sampler {
    struct dist input;
    struct dist output;
    struct dist documents;
    uint64_t seed;
    uint64_t nonce;
    int64_t first_id; /* token ids are drawn from these */
    int64_t n_ids;
};

struct sample {
    int64_t seq;
    int64_t prompt_tokens; /* that the prompt is meant to have */
    int64_t output_tokens; /* to ask for */
    int64_t documents;     /* to rank */
    struct rng rng;        /* where its prompt is drawn from */
};

/* ERR_CONFIG. */
int sampler_init(struct sampler *sampler, const struct data_settings *data,
                 uint64_t seed, struct err *err);

struct sample sample_draw(const struct sampler *sampler, int64_t seq);

/* Its prompt, to stand between quotes in JSON: as many common words as it has
 * tokens, most of which are one token to most models. */
void sample_put_text(const struct sample *sample, struct buf *out);

/* Its prompt as token ids, to stand between brackets. */
void sample_put_ids(const struct sampler *sampler, const struct sample *sample,
                    struct buf *out);

#endif
