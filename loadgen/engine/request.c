#include "loadgen/engine/request.h"

#include <stdio.h>

#include "loadgen/payload/workload.h"

void request_finish(struct request *r, int status, int64_t now)
{
    struct facts *f = &r->facts;

    r->why = NULL;
    if (r->class->api) {
        r->why = response_finish(&r->response, status, now);
        return;
    }
    f->first = f->last = f->end = now;
    f->outcome = status < 400 ? OUTCOME_OK : OUTCOME_STATUS;
    f->detail = status < 400 ? 0 : status;
    if (status < 400)
        return;
    snprintf(r->response.why, sizeof(r->response.why), "HTTP status %d",
             status);
    r->why = r->response.why;
}

void request_break(struct request *r, int64_t now, enum outcome outcome,
                   int64_t detail, const char *why)
{
    r->facts.end = now;
    r->facts.outcome = outcome;
    r->facts.detail = detail;
    r->why = r->class->api ? response_break(&r->response, why) : why;
}
