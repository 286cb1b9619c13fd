/* call.h - one request to the model on its way through the stub. */
#ifndef SERVER_STUB_FRONT_CALL_H
#define SERVER_STUB_FRONT_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/spec/fault.h"
#include "server-stub/sim/model.h"

struct api_ops;
struct exchange;
struct wire_ops;

struct call {
    struct job job;     /* first: a job's address is that of its call */
    struct exchange *x; /* NULL: the front is done with it */
    int64_t id;         /* x-tailgate-id, or TIME_ABSENT */
    const struct wire_ops *wire;
    const struct api_ops *api;
    struct fault_set faults;
    int64_t nth;        /* from 1, over the life of the stub */
    uint64_t body_hash; /* for the cache */
    int64_t delay_ns;   /* of everything that is sent */
    bool is_simulated;  /* the simulation, or an action, still has it */

    /* What the request wants. */
    bool streams;
    bool wants_usage;      /* at the end of a stream */
    bool wants_step_usage; /* with every chunk */
    bool wants_ids;        /* token ids with every chunk */
    bool ignores_eos;      /* the answer does not end by itself ... */
    int64_t min_tokens;    /* ... or not before this */
    int64_t asked_tokens;  /* maximum length of the answer; 0: not given */
    int64_t items;         /* number of inputs, and so of results */
    int64_t dimensions;    /* of each result; 0: not given */
    int64_t top;           /* number of results to return */
    bool wants_final;      /* gRPC: an empty response after the last token */
    const char *why;       /* why it is refused; NULL: no reason given */
    int refusal;           /* status of the refusal; 0: 400 */

    /* The answer, besides its tokens. */
    int64_t reasoning_tokens; /* this many of the first tokens are reasoning */
    size_t json_len; /* JSON part of a body that continues; 0: all of it */

    /* How much of the answer was sent. */
    bool has_head;
    bool has_role;
    bool is_over; /* nothing more is sent */
    int64_t due_tokens;
    int64_t sent_tokens;
    int status; /* of the answer; 0: none yet */
    int64_t first_due_ns;
    int64_t finish_due_ns;
    int64_t sent_ns;
    struct call *next; /* in the list of unused calls */
};

static inline bool call_has(const struct call *call, enum fault_kind fault)
{
    return fault_has(&call->faults, fault);
}

#endif
