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
    struct job job;     /* first: a job's address is its call's */
    struct exchange *x; /* NULL: the front is through with it */
    int64_t id;         /* x-tailgate-id, or TIME_ABSENT */
    const struct wire_ops *wire;
    const struct api_ops *api;
    struct fault_set faults;
    int64_t nth;        /* from 1, over the stub's life */
    uint64_t body_hash; /* for the cache */
    int64_t delay_ns;   /* of everything that goes out */
    bool is_simulated;  /* the simulation, or an action, still has it */

    /* What the request asked for. */
    bool streams;
    bool wants_usage;      /* at the end of a stream */
    bool wants_step_usage; /* with every chunk */
    bool wants_ids;        /* of tokens, with every chunk */
    bool ignores_eos;      /* the answer does not end by itself ... */
    int64_t min_tokens;    /* ... or not before this */
    int64_t asked_tokens;  /* most that the answer may have; 0: not said */
    int64_t items;         /* inputs: as many results */
    int64_t dimensions;    /* of each; 0: not said */
    int64_t top;           /* results wanted of those */
    bool wants_final;      /* gRPC: an end of its own, after the last token */
    const char *why;       /* it is refused; NULL: not said */
    int refusal;           /* ... with this status; 0: 400 */

    /* What the answer has beside its tokens. */
    int64_t reasoning_tokens; /* the first so many are */
    size_t json_len; /* of a body that goes on after it; 0: it does not */

    /* How much of the answer is out. */
    bool has_head;
    bool has_role;
    bool is_over; /* nothing more goes out */
    int64_t due_tokens;
    int64_t sent_tokens;
    int status; /* of the answer; 0: none yet */
    int64_t first_due_ns;
    int64_t finish_due_ns;
    int64_t sent_ns;
    struct call *next; /* unused ones */
};

#endif
