/* link.h - messages between ranks, over MPI.  Only the thread that opened it
 * uses it.  Nothing here waits, since waiting in MPI takes a whole CPU. */
#ifndef RANKS_LINK_H
#define RANKS_LINK_H

#include <stdbool.h>

struct err;
struct sending;
struct talk;

struct link {
    int rank;
    int size;
    struct sending *sending; /* owned; on their way */
    int n_sending;
};

/* With so many on their way, what can wait should. */
#define LINK_BUSY 64

/* Joins the other ranks, which may take a while.  ERR_IO. */
int link_open(struct link *l, struct err *err);

/* The message is copied.  One that cannot be delivered is lost: its receiver is
 * missed by its silence. */
void link_send(struct link *l, int to, const struct talk *talk);

/* Call often: forgets messages that have arrived. */
void link_settle(struct link *l);

/* The next message, from any rank; false: there is none now. */
bool link_receive(struct talk *talk);

/* All ranks leave together; waits for the others.  Not called where one is
 * lost. */
void link_close(struct link *l);

#endif
