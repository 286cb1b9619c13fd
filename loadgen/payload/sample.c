#include "loadgen/payload/sample.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/classes.h"
#include "common/settings/settings.h"
#include "loadgen/schedule/session.h"

/* Short words that most vocabularies have whole, behind a blank. */
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

/* Bits of a drawn number that choose one; it serves several. */
#define WORD_BITS 7
_Static_assert(SAMPLE_WORDS == 1 << WORD_BITS, "bits choose a word");

/* A prompt that was sent before is one of so many requests before. */
#define REUSE_WITHIN 1000

/* Whose content a cache check repeats: of no request that there is. */
#define REPEATED_PLACE INT64_MAX

static const struct sample_ops *ops_for(const struct settings *settings)
{
    if (settings->data.file)
        return &sample_data;
    return settings->load.scenario == SCENARIO_TRACE ? &sample_trace
                                                     : &sample_synthetic;
}

static int check_ids(const struct sampler *s, struct err *err)
{
    if (s->n_ids < 1)
        return err_set(err, ERR_CONFIG,
                       "data.last_id: below data.first_id, no token is left");
    if (s->n_ids < 2 && (s->data || s->reuse > 0))
        return err_set(err, ERR_CONFIG,
                       "data.last_id: one token is too few to tell prompts "
                       "apart");
    return 0;
}

int sampler_init(struct sampler *s, const struct settings *settings,
                 struct err *err)
{
    const struct data_settings *data = &settings->data;

    *s = (struct sampler){.ops = ops_for(settings),
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
    if (dist_parse_counts(data->documents, &s->documents, err))
        return err_context(err, "data.documents");
    s->own = xcalloc(1, s->ops->own_size + 1);
    if (s->ops->init && s->ops->init(s, settings, err))
        return -1;
    return check_ids(s, err);
}

void sampler_fini(struct sampler *s)
{
    if (s->own && s->ops->fini)
        s->ops->fini(s);
    free(s->own);
    *s = (struct sampler){0};
}

uint64_t sample_content_seed(const struct sampler *s)
{
    return s->is_unique ? s->nonce : s->seed;
}

static int64_t draw_documents(const struct sampler *s, int64_t seq)
{
    struct rng rng = rng_at(s->seed, RNG_DOCUMENTS, seq);

    return dist_draw_count(&s->documents, &rng);
}

/* The last request of this class up to there; -1: none. */
static int64_t last_of_class(const struct sampler *s, int64_t seq)
{
    while (s->workload && seq >= 0 &&
           classes_draw(s->workload, s->seed, seq) != s->class)
        seq--;
    return seq;
}

/* Whose prompt the request has.  The first has its own. */
static int64_t origin_of(const struct sampler *s, int64_t seq)
{
    while (s->reuse > 0 && seq > 0) {
        struct rng rng = rng_at(s->seed, RNG_REUSE, seq);
        int64_t within = seq < REUSE_WITHIN ? seq : REUSE_WITHIN;
        int64_t before;

        if (rng_uniform(&rng) > s->reuse)
            break;
        before = seq - 1 - (int64_t)(rng_next(&rng) % (uint64_t)within);
        before = last_of_class(s, before);
        if (before < 0)
            break;
        seq = before;
    }
    return seq;
}

/* Of two neighbours one repeats, by chance, so that both kinds meet the same
 * server, and the same of several.  All are as long as the first request's
 * would have been. */
static void make_probe(const struct sampler *s, struct sample *sample)
{
    struct rng rng = rng_at(s->seed, RNG_PROBE, sample->seq / 2);

    sample->shape = 0;
    sample->is_repeat = (int64_t)(rng_next(&rng) >> 63) == sample->seq % 2;
    if (sample->is_repeat)
        sample->seq = sample->from = REPEATED_PLACE;
}

struct sample sample_draw(const struct sampler *s, int64_t seq,
                          const struct row *row)
{
    struct sample sample = {.seq = seq, .from = origin_of(s, seq), .row = row};

    if (s->has_sessions)
        sample.turn = seq % SESSION_MAX_TURNS;
    sample.shape = sample.from;
    if (s->checks_cache)
        make_probe(s, &sample);
    sample.rng = rng_at(sample_content_seed(s), RNG_PROMPT, sample.from);
    sample.documents = draw_documents(s, s->checks_cache ? sample.shape : seq);
    s->ops->draw(s, &sample);
    return sample;
}

/* ---- what is put around prompts ---- */

/* No two places have the same: all that is done to them can be undone. */
static uint64_t tag_of(const struct sampler *s, int64_t seq)
{
    struct rng rng = rng_stream(s->nonce, RNG_TAG);

    rng.state += (uint64_t)seq;
    return rng_next(&rng);
}

static void add_tag(const struct sampler *s, int64_t seq, struct buf *out)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    const int bits_a_letter = 5;
    uint64_t tag = tag_of(s, seq);
    char text[64 / 5 + 1];

    for (size_t i = 0; i < sizeof(text); i++) {
        text[i] = letters[tag % (sizeof(letters) - 1)];
        tag >>= bits_a_letter;
    }
    buf_add(out, text, sizeof(text));
}

/* Token ids that it takes to say 64 bits. */
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

static struct rng prefix_rng(const struct sampler *s)
{
    return rng_stream(sample_content_seed(s), RNG_PREFIX);
}

/* A session begins once. */
void sample_add_head(const struct sampler *s, const struct sample *sample,
                     struct buf *out)
{
    if (sample->turn > 0)
        return;
    if (s->shared_prefix > 0) {
        sample_add_words(s, prefix_rng(s), s->shared_prefix, true, out);
        buf_adds(out, " ");
    }
    if (s->has_tags) {
        add_tag(s, sample->from, out);
        buf_adds(out, " ");
    }
}

/* A prompt that was sent before ends in another way: its answer is not known.
 */
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
    if (!sample->said.system.at) /* which has it then */
        sample_add_head(s, sample, out);
    s->ops->put_text(s, sample, out);
    sample_add_tail(s, sample, out);
}

void sample_put_ids(const struct sampler *s, const struct sample *sample,
                    struct buf *out)
{
    if (s->shared_prefix > 0)
        sample_add_ids(s, prefix_rng(s), s->shared_prefix, true, out);
    if (s->has_tags)
        add_tag_ids(s, sample->from, s->shared_prefix == 0, out);
    if (s->shared_prefix > 0 || s->has_tags)
        buf_adds(out, ",");
    s->ops->put_ids(s, sample, out);
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
        p = put_word(p, words[bits % SAMPLE_WORDS]);
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
