/* cpu_wait.h - how long a thread was ready to run and did not get a CPU: what a
 * client that is starved knows of it, in an open loop and in a closed one. */
#ifndef LOADGEN_OBSERVE_CPU_WAIT_H
#define LOADGEN_OBSERVE_CPU_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct observation;

struct cpu_wait {
    int fd; /* -1: the kernel does not tell */
};

/* Of the thread that calls this; it alone may ask. */
struct cpu_wait cpu_wait_of_this_thread(void);
void cpu_wait_fini(struct cpu_wait *q);

/* Its two fields; TIME_ABSENT where the kernel does not tell. */
void cpu_wait_read(const struct cpu_wait *q, struct observation *seen);

/* /proc/thread-self/schedstat: nanoseconds on a CPU, nanoseconds waited for
 * one, times that it got one.  False if the text is not that, or if the kernel
 * does not count. */
bool cpu_wait_parse(const char *text, int64_t *wait_ns, int64_t *turns);

#endif
