/* request.h - one request, from its due time to its recording. */
#ifndef LOADGEN_ENGINE_REQUEST_H
#define LOADGEN_ENGINE_REQUEST_H

#include <stddef.h>
#include <string.h>

#include "common/measure/measure.h"
#include "loadgen/api/response.h"
#include "loadgen/trace/trace_format.h"

#define REQUEST_KEPT_BODY 512

struct class;
struct session;

struct request {
    struct facts facts;
    const struct class *class;
    struct request *next; /* in flight, ordered by due time; or unused */
    struct request *previous;
    void *conn;          /* the transport's own */
    int64_t deadline_ns; /* its timeout ends then */

    const char *why; /* it failed; valid while the transport reports its end */

    struct session *session; /* whose turn it is; NULL: no session */

    struct row row; /* what the schedule says of it; keeps its memory */

    struct response response; /* keeps its memory for the next request */

    size_t body_len;
    char
        body[REQUEST_KEPT_BODY]; /* beginning of the response's, for failures */
};

/* Some more of the response's body. */
static inline void request_keep_body(struct request *r, const char *data,
                                     size_t len)
{
    size_t room = sizeof(r->body) - r->body_len;

    if (len > room)
        len = room;
    memcpy(r->body + r->body_len, data, len);
    r->body_len += len;
}

/* It ends with a complete answer, whose last byte came at `now`: completes the
 * facts, and says why it failed. */
void request_finish(struct request *r, int status, int64_t now);

/* It ends without one. */
void request_break(struct request *r, int64_t now, enum outcome outcome,
                   int64_t detail, const char *why);

/* Why a request failed that its timeout ended. */
static inline const char *request_timeout_text(bool has_begun)
{
    return has_begun ? "the answer was not complete within the timeout"
                     : "no answer within the timeout";
}

#endif
