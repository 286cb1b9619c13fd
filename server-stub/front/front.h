/* front.h - the clients' connections: requests in, answers out.
 *
 * There are two fronts: HTTP/1 here, and gRPC in front_grpc.h.  A connection of
 * HTTP serves one request at a time; what a client sends ahead of its
 * answer waits in a buffer of bounded size, then in the socket.  So answers
 * keep the order of requests, and a request's arrival is when its last byte
 * was read or, if it was sent ahead, when its turn came.
 *
 * Each request handed to `request` comes back through `ended` once, after
 * front_end() or front_break().
 */
#ifndef SERVER_STUB_FRONT_FRONT_H
#define SERVER_STUB_FRONT_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clk;
struct conn;
struct exchange;
struct front;
struct loop;

#define FRONT_MAX_PATH 256
#define FRONT_MAX_BODY ((size_t)4 << 20) /* kept; what is longer is dropped */

/* How one front answers; see front_send() and those after it. */
struct front_ops {
    void (*send)(struct exchange *x, const char *data, size_t len);
    void (*end)(struct exchange *x);
    void (*break_off)(struct exchange *x, bool with_reset);
};

/* A request.  Valid from `request` to `ended`. */
struct exchange {
    const struct front_ops *ops;
    struct conn *conn; /* of HTTP */
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
    int status;        /* of gRPC, for front_end(); 0: OK */
    const char *why;   /* ... and what it says, if it is not */
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

/* A header that is decimal digits; `absent` for anything else. */
int64_t front_digits(const char *s, size_t len, int64_t absent);

/* Bytes of the answer, head included; of gRPC one message.  What the socket
 * does not take at once is kept.  Of no effect if the client is gone. */
static inline void front_send(struct exchange *x, const char *data, size_t len)
{
    x->ops->send(x, data, len);
}

/* The answer is complete: the connection goes on, or is closed if keeps_alive
 * is not (or no more) set.  `x` may be gone afterwards. */
static inline void front_end(struct exchange *x)
{
    x->ops->end(x);
}

/* Break the connection off, after what was sent so far, with a FIN or a RST.
 * `x` may be gone afterwards. */
static inline void front_break(struct exchange *x, bool with_reset)
{
    x->ops->break_off(x, with_reset);
}

#endif
