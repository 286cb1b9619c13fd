/* exchange.h - one request and its answer, alone on an event base of its own,
 * over the transport that a run would use. */
#ifndef LOADGEN_PREPARE_EXCHANGE_H
#define LOADGEN_PREPARE_EXCHANGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/measure/measure.h"

struct api;
struct err;
struct row;
struct target_settings;
struct targets;
struct transport_ops;

/* What passed in one direction: the first bytes, and how many in all. */
struct exchange_side {
    struct buf bytes;
    int64_t total;
};

struct exchange {
    struct facts facts; /* times count from its start */
    char *why;          /* it failed; "" if it did not; owned */
    int64_t first_byte; /* of the answer; TIME_ABSENT if none came */
    struct exchange_side sent;
    struct exchange_side received;
    struct buf body;       /* of the answer, if an API read it as a whole */
    size_t kept;           /* bytes of each side, at most */
    const char *transport; /* its name */
    bool is_insecure;      /* TLS, and nobody verified the certificate */
};

/* Everything is borrowed. */
struct exchange_plan {
    const struct targets *targets;
    const struct target_settings *settings;
    const struct api *api; /* or NULL */
    const struct transport_ops *transport;
    int64_t seq;           /* decides which endpoint it goes to */
    const struct row *row; /* what the schedule says of it, or NULL */
    int64_t timeout_ns;
    bool ends_at_head;         /* the answer's body is not waited for */
    size_t keep;               /* bytes of each side; 0: it is not looked at */
    const atomic_bool *cancel; /* another flag to end it, or NULL */
};

/* Blocks until it is over, its time is, or a flag is set, common/base/stop.h's
 * or `cancel` (unfinished).  A request that fails is an exchange; ERR_IO if
 * there could be none.  The caller calls exchange_fini() in any case. */
int exchange_run(struct exchange *x, const struct exchange_plan *plan,
                 struct err *err);
void exchange_fini(struct exchange *x);

#endif
