/* stub_text.h - what the APIs of language models share: how long prompts and
 * answers are, and the words of an answer.
 *
 * Tokens are words of our own, all the same; the id of a token is its place
 * in the answer, from 0.  A prompt's length is guessed from its text, a
 * token a word, of words above seven bytes one for each four, or known from its
 * token ids.
 */
#ifndef SERVER_STUB_API_STUB_TEXT_H
#define SERVER_STUB_API_STUB_TEXT_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct call;
struct json_t;

/* Of a string, a list of token ids, or a list of either. */
int64_t text_prompt_tokens(const struct json_t *prompt);

/* How many prompts that is. */
int64_t text_prompts(const struct json_t *prompt);

/* The request's bounds on its answer, by their names in `json`; what is not
 * there, or no number above 0, was not asked.  False, with the reason, if they
 * cannot be met. */
bool text_read_bounds(const struct json_t *json, const char *most,
                      const char *least, struct call *call);

/* The longest answer of which every event repeats what was sent before. */
bool text_is_short_enough(struct call *call);

void text_put_words(struct buf *out, int64_t n);

/* "1,2,3": of n tokens from this one on. */
void text_put_ids(struct buf *out, int64_t first, int64_t n);

/* Does an event with n more tokens hold the last one? */
bool text_is_last(const struct call *call, int64_t n);

/* Why the answer ends: as long as asked for, by itself, or what a fault says.
 */
const char *text_reason(const struct call *call, const char *at_length,
                        const char *by_itself);

/* How many tokens there were, as the server reports it. */
long long text_reported(const struct call *call, int64_t produced);

/* Does it report them at all? */
bool text_gives_usage(const struct call *call);

#endif
