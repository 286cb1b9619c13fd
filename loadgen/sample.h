/* sample.h - what a request carries: a prompt, and how long an answer it asks
 * for.
 *
 * Pure: the seed, the run's nonce, a request's place in the schedule and what
 * the schedule says of it give everything, so that no request depends on
 * another, or on who sends it.
 */
#ifndef LOADGEN_SAMPLE_H
#define LOADGEN_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/dist.h"
#include "common/rng.h"

struct buf;
struct err;
struct row;
struct sample_ops;
struct settings;

/* Const once it is made, and shared by all threads. */
struct sampler {
    const struct sample_ops *ops;
    void *own;             /* the ops' own, see init(); owned */
    struct dist documents; /* how many, where they are ranked */
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
    struct rng rng;        /* of its own: no other request draws the same */
    const struct row *row; /* what the schedule says of it; NULL: nothing */
};

/* Where samples come from.  Hooks are called from any thread and neither block
 * nor allocate, init and fini and the buffer that is written to aside. */
struct sample_ops {
    const char *name;

    /* Get ready: s->own is zeroed memory of own_size.  ERR_CONFIG.  fini
     * releases what it holds, also after an init that failed.  Optional. */
    size_t own_size;
    int (*init)(struct sampler *s, const struct settings *settings,
                struct err *err);
    void (*fini)(struct sampler *s);

    /* Fill in what is asked for; seq, rng and row are there.  Required. */
    void (*draw)(const struct sampler *s, struct sample *sample);

    /* The prompt as text between quotes of JSON, and as token ids between
     * brackets.  Required. */
    void (*put_text)(const struct sampler *s, const struct sample *sample,
                     struct buf *out);
    void (*put_ids)(const struct sampler *s, const struct sample *sample,
                    struct buf *out);
};

extern const struct sample_ops sample_synthetic;
extern const struct sample_ops sample_trace;

/* The one that fits the settings.  ERR_CONFIG.  sampler_fini() may follow
 * either way. */
int sampler_init(struct sampler *sampler, const struct settings *settings,
                 struct err *err);
void sampler_fini(struct sampler *sampler);

/* `row` is borrowed as long as the sample is used, and may be NULL. */
struct sample sample_draw(const struct sampler *sampler, int64_t seq,
                          const struct row *row);

void sample_put_text(const struct sampler *sampler, const struct sample *sample,
                     struct buf *out);
void sample_put_ids(const struct sampler *sampler, const struct sample *sample,
                    struct buf *out);

/* ---- for those who make prompts up ---- */

/* So many common words, most of which are one token to most models, behind a
 * blank unless they are the first. */
void sample_add_words(const struct sampler *sampler, struct rng rng, int64_t n,
                      bool is_first, struct buf *out);

/* So many token ids, behind a comma unless they are the first. */
void sample_add_ids(const struct sampler *sampler, struct rng rng, int64_t n,
                    bool is_first, struct buf *out);

#endif
