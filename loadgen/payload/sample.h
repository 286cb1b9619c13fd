/* sample.h - what a request carries: a prompt, and how long an answer it asks
 * for.
 *
 * Pure: the seed, the run's nonce, a request's place in the schedule and what
 * the schedule says of it give everything, so that no request depends on
 * another, or on who sends it.
 */
#ifndef LOADGEN_PAYLOAD_SAMPLE_H
#define LOADGEN_PAYLOAD_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/rng.h"
#include "common/spec/dist.h"
#include "loadgen/payload/conversation.h"
#include "loadgen/payload/dataset.h"

struct buf;
struct err;
struct row;
struct sample_ops;
struct settings;

/* Words that prompts are made of, where they are no token ids. */
#define SAMPLE_WORDS 128

/* Const once it is made, and shared by all threads. */
struct sampler {
    const struct sample_ops *ops;
    void *own;             /* the ops' own, see init(); owned */
    struct dist documents; /* how many, where they are ranked */
    uint64_t seed;
    uint64_t nonce;
    int64_t first_id; /* token ids are drawn from these */
    int64_t n_ids;

    bool is_unique;        /* no two prompts are alike, nor those of two runs */
    bool has_tags;         /* for that, each begins with a word of its own */
    int64_t shared_prefix; /* tokens before all of them */
    double reuse;          /* share of prompts that were sent before */
    bool checks_cache;     /* half of the prompts are the same one */
    const struct classes *workload; /* of which this class; borrowed, or NULL */
    size_t class;
    bool has_sessions; /* places are those of turns: session_key() */

    /* By init(): forms that a prompt can be put in (text and ids, if it does
     * not say), and its tokens on average (0: not known). */
    bool forms[FORM_COUNT];
    double mean_tokens;

    const struct dataset *data; /* where they come from one; borrowed, ... */
    struct dataset *own_data;   /* ... or its own */
};

struct sample {
    int64_t seq;            /* place in the schedule, or of a turn */
    int64_t turn;           /* of its session, from 0; outside of one 0 */
    int64_t from;           /* whose prompt it has: seq, or one before it */
    int64_t shape;          /* whose lengths it has, and sample: from, but in a
                               cache check, where all are alike */
    bool is_repeat;         /* of a cache check: the prompt that is repeated */
    int64_t index;          /* in the data set, if there is one */
    int64_t prompt_tokens;  /* that the prompt is meant to have, without what is
                               put before it; TIME_ABSENT: not known */
    int64_t output_tokens;  /* to ask for */
    int64_t documents;      /* to rank */
    struct rng rng;         /* of its own: no other request draws the same */
    const struct row *row;  /* what the schedule says of it; NULL: nothing */
    struct talk_turn said;  /* of a conversation of the data set */
    const struct buf *past; /* what was said before; NULL: nothing */
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

    /* Fill in what is asked for; seq, from, shape, rng and row are there.
     * Required. */
    void (*draw)(const struct sampler *s, struct sample *sample);

    /* The prompt as text between quotes of JSON, and as token ids between
     * brackets.  Required. */
    void (*put_text)(const struct sampler *s, const struct sample *sample,
                     struct buf *out);
    void (*put_ids)(const struct sampler *s, const struct sample *sample,
                    struct buf *out);

    /* All messages of a chat, with brackets, and in them sample_add_head() and
     * sample_add_tail().  Required of FORM_MESSAGES. */
    void (*put_messages)(const struct sampler *s, const struct sample *sample,
                         struct buf *out);
};

extern const struct sample_ops sample_data;
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
void sample_put_messages(const struct sampler *sampler,
                         const struct sample *sample, struct buf *out);

/* Tokens that the server is to find in it, as text or as ids; TIME_ABSENT: not
 * known. */
int64_t sample_input_tokens(const struct sampler *sampler,
                            const struct sample *sample, bool is_ids);

/* The share of prompt tokens that a cache of prefixes can have seen before;
 * below 0: nobody knows. */
double sampler_cached_share(const struct sampler *sampler);

/* ---- of a data set ---- */

/* A field as it goes into a body: text without its quotes. */
void sample_put_field(const struct sampler *sampler,
                      const struct sample *sample, int column, struct buf *out);

/* The right answer to that request, as text. */
void sample_add_label(const struct sampler *sampler, int64_t seq,
                      struct buf *out);

/* Raw tensors: a sample has so many bytes.  ERR_CONFIG if the file does not
 * come out even. */
int sampler_cut(struct sampler *sampler, size_t size, struct err *err);
const char *sample_raw(const struct sampler *sampler,
                       const struct sample *sample);

/* Turns that the session's conversation has; 0: as many as one likes. */
int64_t sampler_turns(const struct sampler *sampler, int64_t session);

/* How many samples are used; 0: they are made. */
int64_t sampler_count(const struct sampler *sampler);

/* ---- for those who make prompts up ---- */

/* So many common words, most of which are one token to most models, behind a
 * blank unless they are the first. */
void sample_add_words(const struct sampler *sampler, struct rng rng, int64_t n,
                      bool is_first, struct buf *out);

/* So many token ids, behind a comma unless they are the first. */
void sample_add_ids(const struct sampler *sampler, struct rng rng, int64_t n,
                    bool is_first, struct buf *out);

/* What comes before and behind the text of a prompt. */
void sample_add_head(const struct sampler *sampler, const struct sample *sample,
                     struct buf *out);
void sample_add_tail(const struct sampler *sampler, const struct sample *sample,
                     struct buf *out);

/* What content is drawn from: the nonce or, where runs may repeat, the seed. */
uint64_t sample_content_seed(const struct sampler *sampler);

#endif
