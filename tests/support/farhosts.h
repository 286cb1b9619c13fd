/* farhosts.h - two hosts, as network namespaces, and a relay between them that
 * keeps each frame for a while: this kernel has no netem. */
#ifndef TESTS_SUPPORT_FARHOSTS_H
#define TESTS_SUPPORT_FARHOSTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FARHOSTS_NET "10.97.0.0/24"

struct farhosts {
    pid_t relay;
    char name[2][32]; /* of the namespaces, and the host names */
};

/* False where that is not allowed, after a message. */
bool farhosts_start(struct farhosts *hosts, int64_t delay_ns);
void farhosts_stop(struct farhosts *hosts);

#endif
