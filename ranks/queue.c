#include "ranks/queue.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"

void queue_add(struct queue *q, const struct talk *talk)
{
    struct queued *one;

    if (talk->kind == TALK_ROWS && q->n >= QUEUE_MAX_ROWS) {
        q->is_lossy = true;
        return;
    }
    one = xcalloc(1, sizeof(*one));
    memcpy(&one->talk, talk, talk_size(talk->kind));
    if (talk->kind == TALK_ROWS)
        one->talk.is.rows.is_lossy |= q->is_lossy;
    if (q->last)
        q->last->next = one;
    else
        q->first = one;
    q->last = one;
    q->n++;
}

struct queued *queue_take(struct queue *q)
{
    struct queued *first = q->first;

    if (!first)
        return NULL;
    q->first = first->next;
    if (!q->first)
        q->last = NULL;
    q->n--;
    return first;
}

void queue_fini(struct queue *q)
{
    while (q->first)
        free(queue_take(q));
    q->is_lossy = false;
}
