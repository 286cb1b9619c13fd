/* conversation.h - a conversation as the data set keeps it for a session: a
 * list of messages of JSON, [system,] user, assistant, user, assistant, ... */
#ifndef LOADGEN_PAYLOAD_CONVERSATION_H
#define LOADGEN_PAYLOAD_CONVERSATION_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/jscan.h"

/* What is said in one turn; .at NULL: nothing. */
struct talk_turn {
    struct jtext system; /* before the first turn alone */
    struct jtext question;
    struct jtext answer;
};

/* Of a turn from 0; nothing if there are not as many. */
struct talk_turn talk_turn(const char *messages, size_t len, int64_t turn);

/* How many there are. */
int64_t talk_count(const char *messages, size_t len);

#endif
