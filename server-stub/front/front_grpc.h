/* front_grpc.h - the front for gRPC clients, on C-core.
 *
 * Each message of a client is a request and is answered like an HTTP request:
 * front_send() sends a message, and front_end() says that it was the last one
 * for this request.  A unary call ends with that.  A call whose method has
 * "Stream" in its name continues until the client has sent everything and every
 * request is answered.  A status other than OK ends the call.
 */
#ifndef SERVER_STUB_FRONT_FRONT_GRPC_H
#define SERVER_STUB_FRONT_FRONT_GRPC_H

struct clk;
struct err;
struct front_grpc;
struct front_hooks;
struct loop;
struct stub_settings;

struct front_grpc_env {
    struct loop *loop;
    const struct clk *clk;
    const struct stub_settings *settings;
    const struct front_hooks *hooks;

    /* A client has connected; the callee must call front_grpc_take() or
     * close(). Not called for TLS clients. */
    void (*accepted)(void *arg, int fd);
    void *arg; /* of hooks and accepted */
};

/* Listen.  `env` is borrowed for the life of the front.  NULL with ERR_CONFIG
 * for an unreadable certificate, ERR_IO if the system refuses. */
struct front_grpc *front_grpc_new(const struct front_grpc_env *env,
                                  struct err *err);

/* Close every connection; open requests end as not sent.  Accepts NULL. */
void front_grpc_free(struct front_grpc *front);

/* Serve a connected non-blocking stream socket from now on. */
void front_grpc_take(struct front_grpc *front, int fd);

/* "grpc://127.0.0.1:8001", or "grpcs://..." */
const char *front_grpc_url(const struct front_grpc *front);

#endif
