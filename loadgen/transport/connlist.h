/* connlist.h - connections that wait in a row: idle ones, the warmest first,
 * and those that are being established, the oldest first.  A connection is in
 * one row at most, and knows which. */
#ifndef LOADGEN_TRANSPORT_CONNLIST_H
#define LOADGEN_TRANSPORT_CONNLIST_H

#include <stddef.h>

struct connlist;

/* To be the first member of a connection. */
struct connlink {
    struct connlist *list; /* NULL: in none */
    struct connlink *next;
    struct connlink *previous;
};

struct connlist {
    struct connlink *first;
    struct connlink *last;
    size_t len;
};

static inline void connlist_add_first(struct connlist *list, struct connlink *l)
{
    *l = (struct connlink){.list = list, .next = list->first};
    if (list->first)
        list->first->previous = l;
    else
        list->last = l;
    list->first = l;
    list->len++;
}

static inline void connlist_add_last(struct connlist *list, struct connlink *l)
{
    *l = (struct connlink){.list = list, .previous = list->last};
    if (list->last)
        list->last->next = l;
    else
        list->first = l;
    list->last = l;
    list->len++;
}

/* Out of whichever list it is in, if any. */
static inline void connlist_remove(struct connlink *l)
{
    struct connlist *list = l->list;

    if (!list)
        return;
    if (l->previous)
        l->previous->next = l->next;
    else
        list->first = l->next;
    if (l->next)
        l->next->previous = l->previous;
    else
        list->last = l->previous;
    list->len--;
    l->list = NULL;
}

#endif
