/* history.h - what was said in a session before a turn, and how it goes into
 * the turn's body: as messages of a chat, or as one text, a line feed after
 * each prompt and each answer.
 */
#ifndef LOADGEN_API_HISTORY_H
#define LOADGEN_API_HISTORY_H

#include <stdint.h>

struct api;
struct buf;
struct err;
struct facts;
struct sample;
struct session;

/* Can the API have sessions?  ERR_CONFIG. */
int history_check(const struct api *api, struct err *err);

/* A turn of it is about to be sent: before the first, a conversation of the
 * data set says how many there can be. */
void history_begin(const struct api *api, struct session *session);

/* Tokens that a turn's prompt is to have with all that was said before it, of
 * which its own has `own`; TIME_ABSENT: not known. */
int64_t history_tokens(const struct session *session, int64_t own);

/* The turn is over: if it went well and another is to come, that was said. */
void history_add(const struct api *api, struct session *session,
                 const struct facts *facts, const struct buf *answer);

/* Of a sample with its session: all messages, with brackets; and what stands
 * before its own prompt, as text between quotes. */
void history_put_messages(const struct api *api, const struct sample *sample,
                          struct buf *body);
void history_put_past(const struct api *api, const struct sample *sample,
                      struct buf *body);

#endif
