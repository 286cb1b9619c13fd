/* stub_text.h - what the APIs of language models share: the length of prompts
 * and answers, and the words of an answer.
 *
 * All tokens are the same word; the id of a token is its position in the
 * answer, from 0.  The length of a prompt is known from its token ids or
 * estimated from its text: one token per word, and one per four bytes of a word
 * longer than seven bytes.
 */
#ifndef SERVER_STUB_API_STUB_TEXT_H
#define SERVER_STUB_API_STUB_TEXT_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct call;
struct json_t;

/* Tokens of a string, a list of token ids, or a list of either. */
int64_t text_prompt_tokens(const struct json_t *prompt);

/* Number of prompts in the same. */
int64_t text_prompts(const struct json_t *prompt);

/* Read the limits of the answer's length by their names in `json`; a value that
 * is missing, or not a number above 0, is ignored.  False, with the reason in
 * call->why, if they cannot be met. */
bool text_read_bounds(const struct json_t *json, const char *max_key,
                      const char *min_key, struct call *call);

/* Is the answer short enough for a stream whose events repeat the text so far?
 * Else false, with the reason in call->why. */
bool text_is_short_enough(struct call *call);

void text_put_words(struct buf *out, int64_t n);

/* Append the ids of n tokens: "1,2,3". */
void text_put_ids(struct buf *out, int64_t first, int64_t n);

/* Does an event with n more tokens hold the last one? */
bool text_is_last(const struct call *call, int64_t n);

/* Why the answer ends: maximum length, end of text, or what a fault says. */
const char *text_reason(const struct call *call, const char *at_length,
                        const char *by_itself);

/* The number of tokens that the server reports. */
long long text_reported(const struct call *call, int64_t produced);

/* Does it report a number at all? */
bool text_gives_usage(const struct call *call);

#endif
