/* front.h - the connections of the clients: requests in, answers out.
 *
 * There are two fronts: HTTP here, and gRPC in front_grpc.h.  A connection may
 * have TLS.  It speaks HTTP/2 (front_http2.h) if that was agreed on, or if it
 * begins with HTTP/2's preface, else HTTP/1.  An HTTP/1
 * connection serves one request at a time.  What a client sends ahead waits in
 * a buffer of limited size, then in the socket.  So answers keep the order of
 * the requests, and a request arrives when its last byte was read or, if it was
 * sent ahead, when its turn comes.
 *
 * Each request that is passed to `request` comes back through `ended` once,
 * after front_end() or front_break().
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
struct front_tls;
struct loop;

#define FRONT_MAX_PATH 256
#define FRONT_MAX_BODY ((size_t)4 << 20) /* the rest is dropped */

/* The operations of a front; see front_send() and the functions after it. */
struct front_ops {
    void (*send)(struct exchange *x, const char *data, size_t len);
    void (*end)(struct exchange *x);
    void (*break_off)(struct exchange *x, bool with_reset);
};

/* A request.  Valid from `request` to `ended`. */
struct exchange {
    const struct front_ops *ops;
    struct conn *conn; /* HTTP/1 only */
    char method[16];
    char path[FRONT_MAX_PATH]; /* cut if longer */
    const char *body;
    size_t body_len;
    int64_t id;       /* x-tailgate-id, or TIME_ABSENT */
    int64_t priority; /* x-priority, or 0 */
    int64_t json_len; /* inference-header-content-length, or TIME_ABSENT */
    int64_t arrival_ns;
    bool keeps_alive;  /* the connection stays open after the answer */
    bool takes_chunks; /* HTTP/1.1: the answer may be chunked */
    bool is_head;      /* no body may be sent */
    int status;        /* gRPC, for front_end(); 0: OK */
    const char *why;   /* gRPC: message of another status */
    void *owner;       /* set by the callee */
};

/* Both run on the loop's thread and must not block. */
struct front_hooks {
    /* A request is complete.  The callee answers, now or later, with any number
     * of calls of front_send() and one of front_end() or front_break(), even if
     * the client is gone. */
    void (*request)(void *arg, struct exchange *x);

    /* The whole answer was passed to the kernel at `sent_ns`, or never will be
     * (TIME_ABSENT).  `x` is invalid afterwards. */
    void (*ended)(void *arg, struct exchange *x, int64_t sent_ns);
};

/* All arguments are borrowed for the life of the front. */
struct front *front_new(struct loop *loop, const struct clk *clk,
                        const struct front_hooks *hooks, void *arg);

/* Speak TLS with clients that are taken from now on.  Borrowed. */
void front_use_tls(struct front *front, struct front_tls *tls);

/* Close every connection; open requests end as not sent.  Accepts NULL. */
void front_free(struct front *front);

/* Serve a connected non-blocking stream socket from now on. */
void front_take(struct front *front, int fd);

/* Copy text into `size` bytes, cut if it is longer. */
void front_copy(char *out, size_t size, const char *s, size_t len);

/* Keep a header that an exchange has a place for. */
void front_take_header(struct exchange *x, const char *name, size_t name_len,
                       const char *value, size_t value_len);

/* Send bytes of the answer, head included; with gRPC one message.  What the
 * socket does not accept at once is kept.  No effect if the client is gone. */
static inline void front_send(struct exchange *x, const char *data, size_t len)
{
    x->ops->send(x, data, len);
}

/* The answer is complete: the connection stays open, or is closed if
 * keeps_alive is not set.  `x` may be invalid afterwards. */
static inline void front_end(struct exchange *x)
{
    x->ops->end(x);
}

/* Break the connection off, after what was sent so far, with a FIN or a RST.
 * `x` may be invalid afterwards. */
static inline void front_break(struct exchange *x, bool with_reset)
{
    x->ops->break_off(x, with_reset);
}

#endif
