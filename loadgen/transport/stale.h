/* stale.h - did the server close the connection before the request came?
 *
 * Then the request may be sent again, and nothing that the server did to it is
 * hidden.  Pure.
 */
#ifndef LOADGEN_TRANSPORT_STALE_H
#define LOADGEN_TRANSPORT_STALE_H

#include <stdbool.h>
#include <stdint.h>

/* What is known when a connection that had been used before breaks under a
 * request, before any byte of the response. */
struct stale_facts {
    int64_t taken; /* bytes of the request that our kernel took */
    int64_t acked; /* of those, that the peer's kernel acknowledged */
    bool is_acked_known;
    bool is_closed;    /* by a FIN, in order; else by a reset */
    int64_t idle_ns;   /* the connection lay idle before the request */
    int64_t waited_ns; /* since the request began to go out */
    int64_t rtt_ns;    /* the smallest round trip seen; 0: not known */
};

bool stale_is(const struct stale_facts *f);

#endif
