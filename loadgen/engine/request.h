/* request.h - one request on its way. */
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
    const struct class *class; /* that it is of */
    struct request *next;      /* in flight, in the order of due; or free */
    struct request *previous;
    void *conn;          /* the transport's own */
    int64_t deadline_ns; /* when nobody waits for it any longer */

    /* Why it failed, valid while the transport reports its end. */
    const char *why;
    const char *body; /* beginning of a failing response's body */
    size_t body_len;

    struct session *session; /* whose turn it is; NULL: nobody's */

    struct row row; /* what the schedule says of it; keeps its memory */

    struct response response; /* keeps its memory for the next */
};

/* What is to be said of one that its timeout ends. */
static inline const char *request_late_text(const struct request *r)
{
    return r->facts.head == TIME_ABSENT
               ? "no answer within the timeout"
               : "an answer that was not over within the timeout";
}

#endif
