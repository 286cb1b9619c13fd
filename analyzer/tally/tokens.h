/* tokens.h - token counts of a run: sums, lengths, where the counts come from,
 * and whether answers have the expected length.  Pure.
 *
 * Sums are of ok requests due in the window, each over the requests that report
 * the count.  Tokens that arrive in the window count by their arrival time,
 * whenever their request was due.
 */
#ifndef ANALYZER_TALLY_TOKENS_H
#define ANALYZER_TALLY_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/tally/window.h"
#include "common/measure/measure.h"

struct data_settings;
struct note;

/* Over the n requests that report the count. */
struct token_sum {
    int64_t n;
    int64_t sum;
};

struct tokens {
    int64_t requests; /* ok and due in the window */
    struct token_sum prompt_asked;
    struct token_sum prompt;
    struct token_sum cached; /* of counted prompts */
    struct token_sum output_asked;
    struct token_sum output;
    struct token_sum reasoning;
    int64_t source[TOKENS_SOURCE_COUNT]; /* requests */
    int64_t finish[FINISH_COUNT];        /* requests */

    int64_t streams;      /* requests with content events */
    int64_t assumed;      /* of those, tokens per event are a guess */
    int64_t events;       /* content events of these streams */
    int64_t coalesced;    /* events that arrived in one read with another */
    int64_t event_tokens; /* tokens in these events */

    int64_t good_output; /* output tokens of good requests */

    /* Of the whole recording, for tokens_inside(). */
    int64_t in_events;     /* tokens in events, as requests report them */
    int64_t unsplit;       /* of those, it is unknown in which event */
    double unsplit_inside; /* of those, in the window if they came evenly */
    int64_t unary_inside;  /* in answers without events that ended ok in it */
};

/* Any request of the recording. */
void tokens_see(struct tokens *t, const struct window *w,
                const struct facts *f);

/* A request that was due in the window. */
void tokens_add(struct tokens *t, const struct facts *f, bool is_good);

/* Are any tokens counted? */
bool tokens_are_known(const struct tokens *t);

/* Prompt tokens that `cached` is a part of: all of them, since many servers
 * report cached tokens only if there are some; 0 if no request reports any. */
int64_t tokens_cached_of(const struct tokens *t);

/* Is there any output, or was any expected?  Embeddings have none. */
bool tokens_have_output(const struct tokens *t);

/* Do counts come from more than one source? */
bool tokens_are_mixed(const struct tokens *t);

/* Tokens that arrived in the window.  Events of the whole recording hold
 * `in_events` tokens, `inside` of them in the window; tokens that requests
 * report beyond these came evenly between first and last. */
double tokens_inside(const struct tokens *t, int64_t in_events, int64_t inside);

/* Mean per request; below 0: unknown. */
double token_mean(const struct token_sum *s);

/* ---- output length against a reference ----
 *
 * As in MLPerf's TEST09: answers that are cut or padded are different work. */

enum outlen_source {
    OUTLEN_NONE,    /* there is no reference */
    OUTLEN_SETTING, /* data.reference_output_tokens */
    OUTLEN_DATA,    /* from the samples of the data set */
};

struct outlen {
    enum outlen_source source;
    double reference; /* mean tokens per answer */
    double tolerance; /* as a share of the reference */
    double mean;      /* of the answers; below 0: unknown */
    double ratio;     /* mean / reference, if known */
    bool is_ok;       /* within the tolerance */
};

/* `has_lengths`: the samples of the data set state the length of their answers,
 * so the requested lengths are the reference. */
struct outlen outlen_check(const struct tokens *t,
                           const struct data_settings *data, bool has_lengths);

/* Returns whether there is a warning, which is then in *note. */
bool outlen_note(const struct outlen *o, const struct tokens *t,
                 struct note *note);

const char *outlen_source_name(enum outlen_source source);

#endif
