#include "loadgen/sample.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/settings.h"
#include "common/xalloc.h"

/* Short words that most vocabularies have whole, behind a blank. */
static const char *const words[] = {
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

#define N_WORDS (sizeof(words) / sizeof(words[0]))
_Static_assert((N_WORDS & (N_WORDS - 1)) == 0, "bits choose a word");

/* Bits of a drawn number that choose one; it serves several. */
#define WORD_BITS 7
_Static_assert(N_WORDS == 1 << WORD_BITS, "");

static const struct sample_ops *ops_for(const struct settings *settings)
{
    return settings->load.scenario == SCENARIO_TRACE ? &sample_trace
                                                     : &sample_synthetic;
}

int sampler_init(struct sampler *s, const struct settings *settings,
                 struct err *err)
{
    const struct data_settings *data = &settings->data;

    *s = (struct sampler){.ops = ops_for(settings),
                          .seed = settings->load.seed,
                          .nonce = data->nonce,
                          .first_id = data->first_id,
                          .n_ids = data->last_id - data->first_id + 1};
    if (dist_parse_counts(data->documents, &s->documents, err))
        return err_context(err, "data.documents");
    if (data->last_id < data->first_id)
        return err_set(err, ERR_CONFIG,
                       "data.last_id: below data.first_id, no token is left");
    s->own = xcalloc(1, s->ops->own_size + 1);
    return s->ops->init ? s->ops->init(s, settings, err) : 0;
}

void sampler_fini(struct sampler *s)
{
    if (s->own && s->ops->fini)
        s->ops->fini(s);
    free(s->own);
    *s = (struct sampler){0};
}

static int64_t draw_documents(const struct sampler *s, int64_t seq)
{
    struct rng rng = rng_stream(s->seed, RNG_DOCUMENTS);

    rng.state += (uint64_t)seq;
    rng.state = rng_next(&rng);
    return dist_draw_count(&s->documents, &rng);
}

/* A stream of its own for each request: the places of a schedule are hashed
 * into it, so that neighbours share nothing. */
struct sample sample_draw(const struct sampler *s, int64_t seq,
                          const struct row *row)
{
    struct sample sample = {
        .seq = seq, .rng = rng_stream(s->nonce, RNG_PROMPT), .row = row};

    sample.rng.state += (uint64_t)seq;
    sample.rng.state = rng_next(&sample.rng);
    sample.documents = draw_documents(s, seq);
    s->ops->draw(s, &sample);
    return sample;
}

void sample_put_text(const struct sampler *s, const struct sample *sample,
                     struct buf *out)
{
    s->ops->put_text(s, sample, out);
}

void sample_put_ids(const struct sampler *s, const struct sample *sample,
                    struct buf *out)
{
    s->ops->put_ids(s, sample, out);
}

/* ---- for those who make prompts up ---- */

static char *put_word(char *p, const char *word)
{
    while (*word)
        *p++ = *word++;
    return p;
}

void sample_add_words(const struct sampler *s, struct rng rng, int64_t n,
                      bool is_first, struct buf *out)
{
    const size_t longest = 8; /* with its blank */
    char *start = buf_reserve(out, (size_t)n * longest);
    char *p = start;
    uint64_t bits = 0;

    (void)s;
    if (!start)
        return; /* buf says that it has overflowed */
    for (int64_t i = 0; i < n; i++) {
        if (i % (64 / WORD_BITS) == 0)
            bits = rng_next(&rng);
        if (i > 0 || !is_first)
            *p++ = ' ';
        p = put_word(p, words[bits % N_WORDS]);
        bits >>= WORD_BITS;
    }
    buf_commit(out, (size_t)(p - start));
}

static char *put_number(char *p, uint64_t number)
{
    char digits[20];
    size_t n = 0;

    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (n > 0)
        *p++ = digits[--n];
    return p;
}

void sample_add_ids(const struct sampler *s, struct rng rng, int64_t n,
                    bool is_first, struct buf *out)
{
    const size_t longest = 21; /* with its comma */
    char *start = buf_reserve(out, (size_t)n * longest);
    char *p = start;

    if (!start)
        return;
    for (int64_t i = 0; i < n; i++) {
        uint64_t id = rng_next(&rng) % (uint64_t)s->n_ids;

        if (i > 0 || !is_first)
            *p++ = ',';
        p = put_number(p, (uint64_t)s->first_id + id);
    }
    buf_commit(out, (size_t)(p - start));
}
