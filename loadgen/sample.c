#include "loadgen/sample.h"

#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/settings.h"

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

int sampler_init(struct sampler *s, const struct data_settings *data,
                 uint64_t seed, struct err *err)
{
    *s = (struct sampler){.seed = seed, .nonce = data->nonce};
    if (dist_parse_counts(data->input_tokens, &s->input, err))
        return err_context(err, "data.input_tokens");
    if (dist_parse_counts(data->output_tokens, &s->output, err))
        return err_context(err, "data.output_tokens");
    if (dist_parse_counts(data->documents, &s->documents, err))
        return err_context(err, "data.documents");
    if (data->last_id < data->first_id)
        return err_set(err, ERR_CONFIG,
                       "data.last_id: below data.first_id, no token is left");
    s->first_id = data->first_id;
    s->n_ids = data->last_id - data->first_id + 1;
    return 0;
}

/* A stream of its own for each request: the places of a schedule are hashed
 * into it, so that neighbours share nothing. */
struct sample sample_draw(const struct sampler *s, int64_t seq)
{
    struct rng lengths = rng_stream(s->seed, RNG_LENGTHS);
    struct rng prompt = rng_stream(s->nonce, RNG_PROMPT);
    struct sample sample = {.seq = seq};

    lengths.state += (uint64_t)seq;
    prompt.state += (uint64_t)seq;
    lengths.state = rng_next(&lengths);
    prompt.state = rng_next(&prompt);
    sample.prompt_tokens = dist_draw_count(&s->input, &lengths);
    sample.output_tokens = dist_draw_count(&s->output, &lengths);
    sample.documents = dist_draw_count(&s->documents, &lengths);
    sample.rng = prompt;
    return sample;
}

static char *put_word(char *p, const char *word)
{
    while (*word)
        *p++ = *word++;
    return p;
}

void sample_put_text(const struct sample *sample, struct buf *out)
{
    const size_t longest = 8; /* with its blank */
    struct rng rng = sample->rng;
    size_t n = (size_t)sample->prompt_tokens;
    char *start = buf_reserve(out, n * longest);
    char *p = start;
    uint64_t bits = 0;

    if (!start)
        return; /* buf says that it has overflowed */
    for (size_t i = 0; i < n; i++) {
        if (i % (64 / WORD_BITS) == 0)
            bits = rng_next(&rng);
        if (i > 0)
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

void sample_put_ids(const struct sampler *s, const struct sample *sample,
                    struct buf *out)
{
    const size_t longest = 21; /* with its comma */
    struct rng rng = sample->rng;
    size_t n = (size_t)sample->prompt_tokens;
    char *start = buf_reserve(out, n * longest);
    char *p = start;

    if (!start)
        return;
    for (size_t i = 0; i < n; i++) {
        uint64_t id = rng_next(&rng) % (uint64_t)s->n_ids;

        if (i > 0)
            *p++ = ',';
        p = put_number(p, (uint64_t)s->first_id + id);
    }
    buf_commit(out, (size_t)(p - start));
}
