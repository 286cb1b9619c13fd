/* front_grpc.h - clients that speak gRPC: the second front, on C-core.
 *
 * Each message that a client sends is a request, and is answered like one of
 * HTTP: front_send() sends a message, and front_end() says that it was the last
 * for this request.  A call with one message ends with that; one whose
 * method has "Stream" in its name goes on until the client has said all and
 * every request has its answer.  A request whose status is not OK ends its
 * call.
 */
#ifndef SERVER_STUB_FRONT_FRONT_GRPC_H
#define SERVER_STUB_FRONT_FRONT_GRPC_H

#include <stdbool.h>
#include <stdint.h>

struct clk;
struct err;
struct front_grpc;
struct front_hooks;
struct grpc_completion_queue;
struct grpc_queue;
struct loop;
struct stub_settings;

struct front_grpc_env {
    struct loop *loop;
    const struct clk *clk;
    const struct stub_settings *settings;
    const struct front_hooks *hooks;

    /* A client has connected, and front_grpc_take() or close() is the callee's;
     * with TLS it is not asked. */
    void (*accepted)(void *arg, int fd);
    void *arg; /* of both */
};

/* Listen.  All borrowed for the front's life.  NULL with ERR_CONFIG for
 * certificates that are none, ERR_IO if the system refuses. */
struct front_grpc *front_grpc_new(const struct front_grpc_env *env,
                                  struct err *err);

/* Close every connection; requests at hand end as not sent.  Accepts NULL. */
void front_grpc_free(struct front_grpc *front);

/* Serve a connected non-blocking stream socket from now on. */
void front_grpc_take(struct front_grpc *front, int fd);

/* "grpc://127.0.0.1:8001", or "grpcs://..." */
const char *front_grpc_url(const struct front_grpc *front);

/* front_grpc_queue.h - a completion queue of gRPC on the stub's loop: a thread
 * of its own waits for it, and hands over what happened through an eventfd, so
 * that everything else stays on the loop's one thread. */
/* Called on the loop's thread: the operation of this tag is over, well or not,
 * and the queue knew at `at_ns`. */
typedef void grpc_queue_hook(void *arg, void *tag, bool ok, int64_t at_ns);

/* All borrowed.  NULL and ERR_IO if the system refuses. */
struct grpc_queue *grpc_queue_new(struct loop *loop, const struct clk *clk,
                                  grpc_queue_hook *hook, void *arg,
                                  struct err *err);

/* Wait for something to happen, and handle it; for when the loop is over. */
void grpc_queue_wait(struct grpc_queue *q);

/* Nothing may be under way any more.  Accepts NULL. */
void grpc_queue_free(struct grpc_queue *q);

/* Borrowed. */
struct grpc_completion_queue *grpc_queue_of(const struct grpc_queue *q);

#endif
