/* request.h - one request, from its due time to its recording. */
#ifndef LOADGEN_ENGINE_REQUEST_H
#define LOADGEN_ENGINE_REQUEST_H

#include <stddef.h>

#include "common/measure/measure.h"
#include "loadgen/api/response.h"
#include "loadgen/trace/trace_format.h"

struct class;
struct session;

struct request {
    struct facts facts;
    const struct class *class;
    struct request *next; /* in flight, ordered by due time; or unused */
    struct request *previous;
    void *conn;          /* the transport's own */
    int64_t deadline_ns; /* its timeout ends then */

    /* Why it failed; valid while the transport reports its end. */
    const char *why;
    const char *body; /* beginning of a failing response's body */
    size_t body_len;

    struct session *session; /* whose turn it is; NULL: no session */

    struct row row; /* what the schedule says of it; keeps its memory */

    struct response response; /* keeps its memory for the next request */
};

/* Why a request failed that its timeout ended. */
static inline const char *request_timeout_text(bool has_begun)
{
    return has_begun ? "the answer was not complete within the timeout"
                     : "no answer within the timeout";
}

#endif
