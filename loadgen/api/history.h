/* history.h - the history of a session: what was said before a turn, and how it
 * goes into the turn's body: as messages of a chat, or as one text with a line
 * feed after each prompt and each answer.
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

/* Does the API support sessions?  ERR_CONFIG. */
int history_check(const struct api *api, struct err *err);

/* Called before a turn is sent.  Before the first one, a conversation of the
 * data set limits the number of turns. */
void history_begin(const struct api *api, struct session *session);

/* Expected tokens of a turn's prompt including the history; `own` are those of
 * the turn itself.  TIME_ABSENT: not known. */
int64_t history_tokens(const struct session *session, int64_t own);

/* The turn is over: append it to the history, if it succeeded and another turn
 * follows.  One whose history does not fit into the memory is the last. */
void history_add(const struct api *api, struct session *session,
                 const struct facts *facts, const struct buf *answer);

/* For a sample of a session: append all messages, with brackets; or the text
 * before its own prompt, escaped for JSON. */
void history_put_messages(const struct api *api, const struct sample *sample,
                          struct buf *body);
void history_put_past(const struct api *api, const struct sample *sample,
                      struct buf *body);

#endif
