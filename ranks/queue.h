/* queue.h - messages that wait, in order. */
#ifndef RANKS_QUEUE_H
#define RANKS_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "study/launch/rank_talk.h"

/* Rows above this number are dropped, 12 MB: at 50 bytes a row, some 200,000.
 */
#define QUEUE_MAX_ROWS 4096

struct queued {
    struct queued *next;
    struct talk talk;
};

/* Zeroed: empty. */
struct queue {
    struct queued *first; /* owned; NULL: empty */
    struct queued *last;
    size_t n;
    bool is_lossy; /* rows were dropped; the messages with rows after that say
                      so */
};

/* Copies the message. */
void queue_add(struct queue *q, const struct talk *talk);

/* The first one, now owned by the caller; NULL: it is empty. */
struct queued *queue_take(struct queue *q);

/* It is then empty, as a new one. */
void queue_fini(struct queue *q);

#endif
