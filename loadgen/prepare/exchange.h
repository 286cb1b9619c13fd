/* exchange.h - one request and its answer, on an event base of its own, over
 * the transport that a run would use. */
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

/* The bytes of one direction: the first ones, and the total number. */
struct exchange_side {
    struct buf bytes;
    int64_t total;
};

struct exchange {
    struct facts facts; /* times count from its start */
    char *why;          /* reason of a failure; "": it succeeded; owned */
    int64_t first_byte; /* of the answer; TIME_ABSENT: none came */
    struct exchange_side sent;
    struct exchange_side received;
    struct buf body;       /* of the answer, if an API read it as a whole */
    size_t kept;           /* maximum of bytes kept of each side */
    const char *transport; /* its name */
    bool is_insecure;      /* TLS with an unverified certificate */
};

/* Everything is borrowed. */
struct exchange_plan {
    const struct targets *targets;
    const struct target_settings *settings;
    const struct api *api; /* or NULL */
    const struct transport_ops *transport;
    int64_t seq;           /* selects the endpoint */
    const struct row *row; /* from the schedule, or NULL */
    int64_t timeout_ns;
    bool ends_at_head;         /* do not wait for the body of the answer */
    int64_t cut_ns;            /* of an answer with a good status: how long to
                                  wait for its end, after its head, before it
                                  is taken as ok; 0: until the timeout */
    size_t keep;               /* bytes to keep of each side; 0: none */
    const atomic_bool *cancel; /* another flag that ends it, or NULL */
};

/* Blocks until the request ends, times out, or a flag is set: that of
 * common/base/stop.h or `cancel` (outcome unfinished).  A request that fails is
 * a result, not an error; ERR_IO if it could not be started.  The caller must
 * call exchange_fini() in any case. */
int exchange_run(struct exchange *x, const struct exchange_plan *plan,
                 struct err *err);
void exchange_fini(struct exchange *x);

#endif
