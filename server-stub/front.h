/* front.h - the clients' connections: requests in, answers out.
 *
 * A connection serves one request at a time; what a client sends ahead of its
 * answer waits in a buffer of bounded size, then in the socket.  So answers
 * keep the order of requests, and a request's arrival is when its last byte
 * was read or, if it was sent ahead, when its turn came.
 *
 * Each request handed to `request` comes back through `answered` once.
 */
#ifndef SERVER_STUB_FRONT_H
#define SERVER_STUB_FRONT_H

#include <stdbool.h>
#include <stdint.h>

struct answers;
struct clk;
struct conn;
struct front;
struct loop;
struct truth;

/* Both are called on the loop's thread and must not block. */
struct front_hooks {
    /* A whole request is there: id and arrival are filled in, and stay on
     * `conn` with what this adds.  True: answer it now; false: the callee
     * calls front_answer() or front_abandon() later, whatever becomes of the
     * client. */
    bool (*request)(void *arg, struct conn *conn, struct truth *truth);

    /* The answer was handed to the kernel at truth->sent, or could not be
     * (TIME_ABSENT).  Optional. */
    void (*answered)(void *arg, const struct truth *truth);
};

/* All borrowed for the front's life. */
struct front *front_new(struct loop *loop, const struct clk *clk,
                        const struct answers *answers,
                        const struct front_hooks *hooks, void *arg);

/* Close every connection; requests without answer come back as not sent.
 * Accepts NULL. */
void front_free(struct front *front);

/* Serve a connected non-blocking stream socket from now on. */
void front_take(struct front *front, int fd);

/* Send the answer that `request` put off, or close the connection without it;
 * `conn` may be gone afterwards. */
void front_answer(struct conn *conn);
void front_abandon(struct conn *conn);

#endif
