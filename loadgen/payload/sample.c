#include "loadgen/payload/sample.h"

#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/classes.h"
#include "common/settings/settings.h"
#include "loadgen/schedule/session.h"
#include "loadgen/trace/trace_format.h"

/* Short words that are a single token, with the blank before them, in most
 * vocabularies. */
static const char *const words[SAMPLE_WORDS] = {
    "the",     "of",    "and",   "to",     "in",    "is",    "that",
    "for",     "it",    "as",    "was",    "with",  "be",    "by",
    "on",      "not",   "he",    "his",    "but",   "at",    "are",
    "this",    "have",  "from",  "or",     "had",   "an",    "they",
    "which",   "one",   "you",   "were",   "her",   "all",   "she",
    "there",   "would", "their", "we",     "him",   "been",  "has",
    "when",    "who",   "will",  "more",   "no",    "if",    "out",
    "so",      "said",  "what",  "up",     "its",   "about", "into",
    "than",    "them",  "can",   "only",   "other", "new",   "some",
    "time",    "could", "these", "two",    "may",   "then",  "do",
    "first",   "any",   "my",    "now",    "such",  "like",  "our",
    "over",    "man",   "me",    "even",   "most",  "made",  "after",
    "also",    "did",   "many",  "before", "must",  "well",  "back",
    "years",   "where", "much",  "your",   "way",   "down",  "should",
    "because", "long",  "each",  "just",   "state", "those", "people",
    "too",     "mr",    "how",   "little", "good",  "world", "make",
    "very",    "year",  "still", "see",    "work",  "life",  "men",
    "day",     "get",   "here",  "old",    "own",   "both",  "between",
    "being",   "under",
};

/* Each random number chooses several words. */
#define WORD_BITS 7
_Static_assert(SAMPLE_WORDS == 1 << WORD_BITS, "bits choose a word");

/* A prompt that is reused is one of the last REUSE_WITHIN. */
#define REUSE_WITHIN 1000

/* The content that a cache check repeats belongs to no request. */
#define REPEATED_PLACE INT64_MAX

static const struct sample_ops sample_synthetic;
static const struct sample_ops sample_trace;

int sampler_init(struct sampler *s, const struct settings *settings,
                 struct err *err)
{
    const struct data_settings *data = &settings->data;

    *s = (struct sampler){.ops = &sample_synthetic,
                          .seed = settings->load.seed,
                          .nonce = data->nonce,
                          .first_id = data->first_id,
                          .n_ids = data->last_id - data->first_id + 1,
                          .is_unique = data->unique != UNIQUE_FALSE,
                          .shared_prefix = data->shared_prefix,
                          .reuse = data->cache_hit_rate,
                          .checks_cache = data->cache_check,
                          .workload = data->workload,
                          .class = data->class,
                          .has_sessions =
                              settings->load.scenario == SCENARIO_SESSIONS,
                          .forms = {[FORM_TEXT] = true, [FORM_IDS] = true}};
    if (data->file)
        s->ops = &sample_data;
    else if (settings->load.scenario == SCENARIO_TRACE)
        s->ops = &sample_trace;
    if (dist_parse_counts(data->documents, &s->documents, err))
        return err_context(err, "data.documents");
    s->own = xcalloc(1, s->ops->own_size + 1);
    if (s->ops->init && s->ops->init(s, settings, err))
        return -1;
    if (s->n_ids < 1)
        return err_set(err, ERR_CONFIG,
                       "data.last_id must not be below data.first_id");
    if (s->n_ids < 2 && (s->data || s->reuse > 0))
        return err_set(err, ERR_CONFIG,
                       "data.last_id: one token id is too few to make prompts "
                       "distinct");
    return 0;
}

void sampler_fini(struct sampler *s)
{
    if (s->own && s->ops->fini)
        s->ops->fini(s);
    free(s->own);
    *s = (struct sampler){0};
}

/* The seed of contents: the nonce or, if runs may repeat prompts, the seed. */
static uint64_t content_seed(const struct sampler *s)
{
    return s->is_unique ? s->nonce : s->seed;
}

/* The request whose prompt this one has, which must be of the same class.  The
 * first request has its own. */
static int64_t origin_of(const struct sampler *s, int64_t seq)
{
    while (s->reuse > 0 && seq > 0) {
        struct rng rng = rng_at(s->seed, RNG_REUSE, seq);
        int64_t within = seq < REUSE_WITHIN ? seq : REUSE_WITHIN;
        int64_t before;

        if (rng_uniform(&rng) > s->reuse)
            break;
        before = seq - 1 - (int64_t)(rng_next(&rng) % (uint64_t)within);
        while (s->workload && before >= 0 &&
               classes_draw(s->workload, s->seed, before) != s->class)
            before--;
        if (before < 0)
            break;
        seq = before;
    }
    return seq;
}

/* In a cache check one request of each pair, chosen at random, repeats the same
 * prompt, so that both kinds are sent under the same conditions and to the same
 * servers.  All prompts have the length of the first one. */
struct sample sample_draw(const struct sampler *s, int64_t seq,
                          const struct row *row)
{
    struct sample sample = {.seq = seq, .from = origin_of(s, seq), .row = row};
    struct rng rng;

    if (s->has_sessions)
        sample.turn = seq % SESSION_MAX_TURNS;
    sample.shape = sample.from;
    if (s->checks_cache) {
        rng = rng_at(s->seed, RNG_PROBE, seq / 2);
        sample.shape = 0;
        sample.is_repeat = (int64_t)(rng_next(&rng) >> 63) == seq % 2;
        if (sample.is_repeat)
            sample.seq = sample.from = REPEATED_PLACE;
    }
    sample.rng = rng_at(content_seed(s), RNG_PROMPT, sample.from);
    rng = rng_at(s->seed, RNG_DOCUMENTS, s->checks_cache ? sample.shape : seq);
    sample.documents = dist_draw_count(&s->documents, &rng);
    s->ops->draw(s, &sample);
    return sample;
}

/* ---- random tokens ---- */

/* Append n common words, most of them one token for most models, with a blank
 * before each, except before the first if is_first. */
static void add_words(struct rng rng, int64_t n, bool is_first, struct buf *out)
{
    const size_t longest = 8; /* with its blank */
    char *start = buf_reserve(out, (size_t)n * longest);
    char *p = start;
    uint64_t bits = 0;

    if (!start)
        return; /* buf is marked as overflowed */
    for (int64_t i = 0; i < n; i++) {
        if (i % (64 / WORD_BITS) == 0)
            bits = rng_next(&rng);
        if (i > 0 || !is_first)
            *p++ = ' ';
        for (const char *word = words[bits % SAMPLE_WORDS]; *word; word++)
            *p++ = *word;
        bits >>= WORD_BITS;
    }
    buf_commit(out, (size_t)(p - start));
}

/* Append n token ids, with a comma before each in the same way. */
static void add_ids(const struct sampler *s, struct rng rng, int64_t n,
                    bool is_first, struct buf *out)
{
    const size_t longest = 21; /* with its comma */
    char *start = buf_reserve(out, (size_t)n * longest);
    char *p = start;

    if (!start)
        return;
    for (int64_t i = 0; i < n; i++) {
        uint64_t id =
            (uint64_t)s->first_id + rng_next(&rng) % (uint64_t)s->n_ids;
        char digits[20];
        size_t len = 0;

        if (i > 0 || !is_first)
            *p++ = ',';
        do {
            digits[len++] = (char)('0' + id % 10);
            id /= 10;
        } while (id > 0);
        while (len > 0)
            *p++ = digits[--len];
    }
    buf_commit(out, (size_t)(p - start));
}

static void add_tokens(const struct sampler *s, struct rng rng, int64_t n,
                       bool is_ids, bool is_first, struct buf *out)
{
    if (is_ids)
        add_ids(s, rng, n, is_first, out);
    else
        add_words(rng, n, is_first, out);
}

static void add_prefix(const struct sampler *s, bool is_ids, struct buf *out)
{
    add_tokens(s, rng_stream(content_seed(s), RNG_PREFIX), s->shared_prefix,
               is_ids, true, out);
}

/* ---- what surrounds a prompt ---- */

/* Unique for each request: every step of the computation is invertible. */
static uint64_t tag_of(const struct sampler *s, int64_t seq)
{
    struct rng rng = rng_stream(s->nonce, RNG_TAG);

    rng.state += (uint64_t)seq;
    return rng_next(&rng);
}

static void add_tag(const struct sampler *s, int64_t seq, struct buf *out)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    const int bits_per_letter = 5;
    uint64_t tag = tag_of(s, seq);
    char text[64 / 5 + 1];

    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = letters[tag % (sizeof(letters) - 1)];
        tag >>= bits_per_letter;
    }
    buf_add(out, text, sizeof(text));
}

/* How many token ids it takes to encode 64 bits. */
static int tag_ids(const struct sampler *s)
{
    uint64_t left = UINT64_MAX;
    int n = 0;

    for (; left > 0 && s->n_ids > 1; n++)
        left /= (uint64_t)s->n_ids;
    return n;
}

static void add_tag_ids(const struct sampler *s, int64_t seq, bool is_first,
                        struct buf *out)
{
    uint64_t tag = tag_of(s, seq);

    for (int i = tag_ids(s); i > 0; i--) {
        uint64_t id = (uint64_t)s->first_id + tag % (uint64_t)s->n_ids;

        buf_addf(out, "%s%llu", is_first ? "" : ",", (unsigned long long)id);
        tag /= (uint64_t)s->n_ids;
        is_first = false;
    }
}

/* Only the first turn of a session has it. */
void sample_add_head(const struct sampler *s, const struct sample *sample,
                     struct buf *out)
{
    if (sample->turn > 0)
        return;
    if (s->shared_prefix > 0) {
        add_prefix(s, false, out);
        buf_adds(out, " ");
    }
    if (s->has_tags) {
        add_tag(s, sample->from, out);
        buf_adds(out, " ");
    }
}

/* A reused prompt ends differently, so that its answer cannot be cached. */
void sample_add_tail(const struct sampler *s, const struct sample *sample,
                     struct buf *out)
{
    if (sample->from == sample->seq)
        return;
    buf_adds(out, " ");
    add_tag(s, sample->seq, out);
}

void sample_put_text(const struct sampler *s, const struct sample *sample,
                     struct buf *out)
{
    if (!sample->conversation.system.at) /* otherwise that has it */
        sample_add_head(s, sample, out);
    s->ops->put(s, sample, false, out);
    sample_add_tail(s, sample, out);
}

void sample_put_ids(const struct sampler *s, const struct sample *sample,
                    struct buf *out)
{
    if (s->shared_prefix > 0)
        add_prefix(s, true, out);
    if (s->has_tags)
        add_tag_ids(s, sample->from, s->shared_prefix == 0, out);
    if (s->shared_prefix > 0 || s->has_tags)
        buf_adds(out, ",");
    s->ops->put(s, sample, true, out);
    if (sample->from != sample->seq)
        add_tag_ids(s, sample->seq, false, out);
}

void sample_put_messages(const struct sampler *s, const struct sample *sample,
                         struct buf *out)
{
    s->ops->put_messages(s, sample, out);
}

int64_t sample_input_tokens(const struct sampler *s,
                            const struct sample *sample, bool is_ids)
{
    int64_t n = sample->prompt_tokens;

    if (n == TIME_ABSENT)
        return n;
    if (sample->turn == 0)
        n += s->shared_prefix;
    if (is_ids)
        n +=
            (int64_t)tag_ids(s) * (s->has_tags + (sample->from != sample->seq));
    return n;
}

double sampler_cached_share(const struct sampler *s)
{
    double prefix = (double)s->shared_prefix;

    if (s->has_sessions || !s->is_unique || s->checks_cache ||
        (prefix > 0 && !(s->mean_tokens > 0)))
        return -1;
    if (prefix > 0)
        prefix /= s->mean_tokens + prefix;
    return s->reuse + (1 - s->reuse) * prefix;
}

/* ---- prompts with lengths from distributions ---- */

struct synthetic {
    struct dist input;
    struct dist output;
};

static int synthetic_init(struct sampler *s, const struct settings *settings,
                          struct err *err)
{
    struct synthetic *own = s->own;

    if (dist_parse_lengths(settings->data.input_tokens, &own->input, err))
        return err_context(err, "data.input_tokens");
    if (dist_parse_lengths(settings->data.output_tokens, &own->output, err))
        return err_context(err, "data.output_tokens");
    s->mean_tokens = dist_mean(&own->input);
    return 0;
}

static void synthetic_fini(struct sampler *s)
{
    struct synthetic *own = s->own;

    dist_fini(&own->input);
    dist_fini(&own->output);
}

/* Lengths depend on the seed alone, so that they are the same with another
 * nonce. */
static void synthetic_draw(const struct sampler *s, struct sample *sample)
{
    const struct synthetic *own = s->own;
    struct rng lengths = rng_at(s->seed, RNG_LENGTHS, sample->shape);

    sample->prompt_tokens = dist_draw_count(&own->input, &lengths);
    sample->output_tokens = dist_draw_count(&own->output, &lengths);
}

static void synthetic_put(const struct sampler *s, const struct sample *sample,
                          bool is_ids, struct buf *out)
{
    add_tokens(s, sample->rng, sample->prompt_tokens, is_ids, true, out);
}

static const struct sample_ops sample_synthetic = {
    .name = "synthetic",
    .own_size = sizeof(struct synthetic),
    .init = synthetic_init,
    .fini = synthetic_fini,
    .draw = synthetic_draw,
    .put = synthetic_put,
};

/* ---- prompts with the lengths of a trace.  If it names the blocks of a
 * prompt, each name stands for the same tokens throughout the run, and for
 * others in another run: prompts that shared a prefix share one again ---- */

static void trace_draw(const struct sampler *s, struct sample *sample)
{
    static const struct row nothing = {.input = 1, .output = 1};

    (void)s;
    if (!sample->row)
        sample->row = &nothing;
    sample->prompt_tokens = sample->row->input;
    sample->output_tokens = sample->row->output;
}

/* The blocks, up to the length, and then the request's own text. */
static void trace_put(const struct sampler *s, const struct sample *sample,
                      bool is_ids, struct buf *out)
{
    const struct row *row = sample->row;
    int64_t left = sample->prompt_tokens;

    for (size_t i = 0; row && i < row->n_blocks && left > 0; i++) {
        struct rng rng = rng_at(content_seed(s), RNG_BLOCK, row->blocks[i]);
        int64_t n = left < row->block_tokens ? left : row->block_tokens;

        add_tokens(s, rng, n, is_ids, i == 0, out);
        left -= n;
    }
    if (left > 0)
        add_tokens(s, sample->rng, left, is_ids, left == sample->prompt_tokens,
                   out);
}

static const struct sample_ops sample_trace = {
    .name = "trace",
    .draw = trace_draw,
    .put = trace_put,
};
