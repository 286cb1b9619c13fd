/* tokens.h - what the requests of a run say of their tokens: sums, lengths,
 * where the counts come from.  Pure.
 *
 * Sums are of the ok requests due in the window, each over those that say.
 * Tokens that arrive go by their time, whenever their request was due.
 */
#ifndef ANALYZER_TALLY_TOKENS_H
#define ANALYZER_TALLY_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/tally/window.h"
#include "common/measure/measure.h"

/* Over the n requests that say. */
struct token_sum {
    int64_t n;
    int64_t sum;
};

struct tokens {
    int64_t requests; /* ok and due in the window: these are of them */
    struct token_sum prompt_asked;
    struct token_sum prompt;
    struct token_sum cached; /* of prompts that are counted */
    struct token_sum output_asked;
    struct token_sum output;
    struct token_sum reasoning;
    int64_t source[TOKENS_SOURCE_COUNT]; /* requests */
    int64_t finish[FINISH_COUNT];        /* likewise */

    int64_t streams;      /* requests with content events */
    int64_t assumed;      /* of those, by guess: nobody says what is in one */
    int64_t events;       /* theirs */
    int64_t coalesced;    /* of those, in one read with the one before */
    int64_t event_tokens; /* in them */

    int64_t good_output; /* output tokens of good requests */

    /* Of the whole recording, for tokens_inside(). */
    int64_t in_events;     /* tokens that requests say are in events */
    int64_t unsplit;       /* of those, nobody says in which */
    double unsplit_inside; /* of those in the window, if they came evenly */
    int64_t unary_inside;  /* in answers in one piece that ended ok in it */
};

/* A request of the recording, whenever it was due. */
void tokens_see(struct tokens *t, const struct window *w,
                const struct facts *f);

/* One that was due in the window. */
void tokens_add(struct tokens *t, const struct facts *f, bool is_good);

/* Does anybody count them? */
bool tokens_are_known(const struct tokens *t);

/* Prompt tokens that the cached ones are of: all, since many servers speak of
 * cached ones only where there are some; 0 if none does. */
int64_t tokens_cached_of(const struct tokens *t);

/* Is there any output, or was there to be some?  Embeddings have none. */
bool tokens_have_output(const struct tokens *t);

/* Is there more than one source of counts? */
bool tokens_are_mixed(const struct tokens *t);

/* Tokens that arrived in the window, where the events of the whole recording
 * say that they hold `in_events`, and of those `inside` in the window.  What
 * requests have more than that came evenly between first and last. */
double tokens_inside(const struct tokens *t, int64_t in_events, int64_t inside);

/* A mean a request; below 0: nobody says. */
double token_mean(const struct token_sum *s);

#endif
