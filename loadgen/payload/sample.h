/* sample.h - what a request carries: a prompt, and the length of the answer to
 * request.
 *
 * Pure: the seed, the run's nonce, the request's sequence number and the row of
 * the schedule determine everything, so that no request depends on another or
 * on the worker that sends it.
 */
#ifndef LOADGEN_PAYLOAD_SAMPLE_H
#define LOADGEN_PAYLOAD_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/rng.h"
#include "common/spec/dist.h"
#include "loadgen/payload/dataset.h"

struct row;
struct sample_ops;
struct settings;

/* Number of words that synthetic text is made of. */
#define SAMPLE_WORDS 128

/* Const once it is made, and shared by all threads. */
struct sampler {
    const struct sample_ops *ops;
    void *own;             /* state of the ops, see init(); owned */
    struct dist documents; /* how many there are to rank */
    uint64_t seed;
    uint64_t nonce;
    int64_t first_id; /* token ids are drawn from this range */
    int64_t n_ids;

    bool is_unique;        /* no two prompts are equal, also across runs */
    bool has_tags;         /* to that end each begins with a unique word */
    int64_t shared_prefix; /* tokens before every prompt */
    double reuse;          /* share of prompts that were sent before */
    bool checks_cache;     /* half of the prompts are the same one */
    const struct classes *workload; /* that this class is part of; borrowed, or
                                       NULL */
    size_t class;
    bool has_sessions; /* sequence numbers are keys of turns: session_key() */

    /* Set by init(): the forms that a prompt is available in (default: text and
     * ids), and the mean of its tokens (0: not known). */
    bool forms[FORM_COUNT];
    double mean_tokens;

    const struct dataset
        *data;                /* the data set, if there is one; borrowed ... */
    struct dataset *own_data; /* ... or owned */
};

struct sample {
    int64_t seq;    /* sequence number of the request, or key of a turn */
    int64_t turn;   /* in its session, from 0; 0 outside of one */
    int64_t from;   /* the request whose prompt it has: seq, or an
                       earlier one */
    int64_t shape;  /* the request whose lengths it has: from, except in
                       a cache check, where all have the same */
    bool is_repeat; /* in a cache check: the prompt that is repeated */
    int64_t index;  /* in the data set, if there is one */
    int64_t prompt_tokens; /* intended tokens of the prompt, without what is
                              put before it; TIME_ABSENT: not known */
    int64_t output_tokens; /* to request */
    int64_t documents;     /* to rank */
    struct rng rng;        /* its own: no other request draws the same */
    const struct row *row; /* from the schedule; NULL: none */
    struct conversation_turn conversation; /* of the data set */
    const struct buf *past; /* the history of the session; NULL: none */
};

/* A source of samples.  Hooks are called from any thread; apart from init, fini
 * and growing the output buffer they neither block nor allocate. */
struct sample_ops {
    const char *name;

    /* s->own is zeroed memory of own_size.  ERR_CONFIG.  fini releases what it
     * holds, also after an init that failed.  Optional. */
    size_t own_size;
    int (*init)(struct sampler *s, const struct settings *settings,
                struct err *err);
    void (*fini)(struct sampler *s);

    /* Fill in the lengths; seq, from, shape, rng and row are set.  Required. */
    void (*draw)(const struct sampler *s, struct sample *sample);

    /* Append the prompt: as token ids without brackets, or as the inside of a
     * JSON string.  Required. */
    void (*put)(const struct sampler *s, const struct sample *sample,
                bool is_ids, struct buf *out);

    /* Append all messages of a chat, with brackets, including
     * sample_add_head() and sample_add_tail().  Required for FORM_MESSAGES. */
    void (*put_messages)(const struct sampler *s, const struct sample *sample,
                         struct buf *out);
};

extern const struct sample_ops sample_data; /* of a data set */

/* Choose the source for the settings and initialise it.  ERR_CONFIG.
 * sampler_fini() may follow either way. */
int sampler_init(struct sampler *sampler, const struct settings *settings,
                 struct err *err);
void sampler_fini(struct sampler *sampler);

/* `row` is borrowed as long as the sample is used, and may be NULL. */
struct sample sample_draw(const struct sampler *sampler, int64_t seq,
                          const struct row *row);

/* The prompt with what surrounds it. */
void sample_put_text(const struct sampler *sampler, const struct sample *sample,
                     struct buf *out);
void sample_put_ids(const struct sampler *sampler, const struct sample *sample,
                    struct buf *out);

void sample_put_messages(const struct sampler *sampler,
                         const struct sample *sample, struct buf *out);

/* Tokens that the server should count, as text or as ids; TIME_ABSENT: not
 * known. */
int64_t sample_input_tokens(const struct sampler *sampler,
                            const struct sample *sample, bool is_ids);

/* The share of prompt tokens that a prefix cache can have seen before;
 * negative: not known. */
double sampler_cached_share(const struct sampler *sampler);

/* ---- for data sets ---- */

/* Append a field as it goes into a body: text without its quotes. */
void sample_put_field(const struct sampler *sampler,
                      const struct sample *sample, int column, struct buf *out);

/* Append the expected answer to that request, as plain text. */
void sample_add_label(const struct sampler *sampler, int64_t seq,
                      struct buf *out);

/* Raw tensors: set the bytes per sample.  ERR_CONFIG if the size of the file is
 * not a multiple of it. */
int sampler_set_size(struct sampler *sampler, size_t size, struct err *err);
const char *sample_raw(const struct sampler *sampler,
                       const struct sample *sample);

/* The number of turns of the session's conversation; 0: not limited. */
int64_t sampler_turns(const struct sampler *sampler, int64_t session);

/* The number of samples in use; 0: they are synthetic. */
int64_t sampler_count(const struct sampler *sampler);

/* ---- for sources ---- */

/* What comes before and after the text of a prompt. */
void sample_add_head(const struct sampler *sampler, const struct sample *sample,
                     struct buf *out);
void sample_add_tail(const struct sampler *sampler, const struct sample *sample,
                     struct buf *out);

#endif
