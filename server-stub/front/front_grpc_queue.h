/* front_grpc_queue.h - a completion queue of gRPC on the stub's loop: a thread
 * of its own waits for it, and hands over what happened through an eventfd, so
 * that everything else stays on the loop's one thread. */
#ifndef SERVER_STUB_FRONT_FRONT_GRPC_QUEUE_H
#define SERVER_STUB_FRONT_FRONT_GRPC_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct clk;
struct err;
struct grpc_completion_queue;
struct grpc_queue;
struct loop;

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
