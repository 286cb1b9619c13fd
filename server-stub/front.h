/* front.h - the clients' connections: requests in, answers out.
 *
 * A connection serves one request at a time; what a client sends ahead of its
 * answer waits in a buffer of bounded size, then in the socket.  So answers
 * keep the order of requests, and a request's arrival is when its last byte
 * was read or, if it was sent ahead, when its turn came.
 *
 * Each request handed to `request` comes back through `ended` once, after
 * front_end() or front_break().
 */
#ifndef SERVER_STUB_FRONT_H
#define SERVER_STUB_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clk;
struct conn;
struct front;
struct loop;

#define FRONT_MAX_PATH 256
#define FRONT_MAX_BODY ((size_t)4 << 20) /* kept; what is longer is dropped */

/* A request.  Valid from `request` to `ended`. */
struct exchange {
    struct conn *conn;
    char method[16];
    char path[FRONT_MAX_PATH]; /* cut if longer */
    const char *body;
    size_t body_len;
    int64_t id;       /* x-tailgate-id; TIME_ABSENT if none */
    int64_t priority; /* x-priority; 0 if none */
    int64_t json_len; /* inference-header-content-length; TIME_ABSENT if none */
    int64_t arrival_ns;
    bool keeps_alive;  /* the connection goes on after the answer */
    bool takes_chunks; /* HTTP/1.1: an answer need not know its length */
    bool is_head;      /* no body may be sent */
    void *owner;       /* the callee's */
};

/* Both are called on the loop's thread and must not block. */
struct front_hooks {
    /* A whole request is there.  The callee answers, now or later, with
     * front_send() as often as it likes and front_end() or front_break() once,
     * whatever becomes of the client. */
    void (*request)(void *arg, struct exchange *x);

    /* The answer was handed to the kernel whole at `sent_ns`, or never will be
     * (TIME_ABSENT).  `x` is gone afterwards. */
    void (*ended)(void *arg, struct exchange *x, int64_t sent_ns);
};

/* All borrowed for the front's life. */
struct front *front_new(struct loop *loop, const struct clk *clk,
                        const struct front_hooks *hooks, void *arg);

/* Close every connection; requests at hand end as not sent.  Accepts NULL. */
void front_free(struct front *front);

/* Serve a connected non-blocking stream socket from now on. */
void front_take(struct front *front, int fd);

/* Bytes of the answer, head included.  What the socket does not take at once
 * is kept.  Of no effect if the client is gone. */
void front_send(struct exchange *x, const char *data, size_t len);

/* The answer is complete: the connection goes on, or is closed if keeps_alive
 * is not (or no more) set.  `x` may be gone afterwards. */
void front_end(struct exchange *x);

/* Break the connection off, after what was sent so far, with a FIN or a RST.
 * `x` is gone afterwards. */
void front_break(struct exchange *x, bool with_reset);

#endif
