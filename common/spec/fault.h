/* fault.h - faults that a server injects, and when.
 *
 *   status=503 p=1%              one request in a hundred
 *   reset every=100              every hundredth
 *   truncated n=7                the seventh
 *   hang=2s from=10s to=12s      all that arrive in that time
 *
 * All conditions of a fault must hold.  Pure.
 */
#ifndef COMMON_SPEC_FAULT_H
#define COMMON_SPEC_FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/str.h"

struct err;
struct rng;

/* Append only: the numbers are in truth logs. */
enum fault_kind {
    FAULT_STATUS = 0,  /* =N: an HTTP status, or (1 to 16) a gRPC status */
    FAULT_INBAND,      /* an error inside a 200 */
    FAULT_RESET,       /* of the connection; in a stream, in its middle */
    FAULT_HANG,        /* =DURATION: the answer is delayed */
    FAULT_TRUNCATED,   /* the connection ends in the middle of the answer */
    FAULT_MALFORMED,   /* not HTTP; in a stream, not JSON */
    FAULT_EMPTY,       /* a 200 without content */
    FAULT_DOUBLE_DONE, /* streams only, as those below: two [DONE] */
    FAULT_NO_DONE,
    FAULT_ROLE_FIRST, /* an immediate chunk without content */
    FAULT_BUNDLE,     /* =N: tokens per chunk */
    FAULT_BURST,      /* all chunks at the end */
    FAULT_NO_USAGE,
    FAULT_SLOW_ACCEPT,  /* =DURATION: per connection, not per request */
    FAULT_NO_EVENTS,    /* a stream that ends immediately */
    FAULT_WRONG_TYPE,   /* a JSON error instead of the requested stream */
    FAULT_COALESCED,    /* =N: events per write */
    FAULT_ENDLESS,      /* =SIZE: an event of that length that never ends */
    FAULT_WRONG_USAGE,  /* =N: the reported tokens are too many by N */
    FAULT_WRONG_FINISH, /* an unknown finish reason */
    FAULT_LENGTH,       /* =N: tokens per answer, whatever was requested */
    FAULT_KINDS,
};

struct fault {
    enum fault_kind kind;
    int64_t param; /* status, nanoseconds, bytes, events or tokens */
    double share;  /* probability; 1 if not given */
    int64_t nth;   /* from 1; 0: any */
    int64_t every; /* 0: any */
    int64_t from_ns;
    int64_t to_ns; /* INT64_MAX if not given */
};

#define FAULT_MAX 16

struct fault_plan {
    struct fault faults[FAULT_MAX];
    size_t len;
};

/* The faults of one request. */
struct fault_set {
    uint32_t kinds; /* bit 1 << kind */
    int64_t param[FAULT_KINDS];
};

static inline bool fault_has(const struct fault_set *set, enum fault_kind kind)
{
    return (set->kinds >> kind & 1) != 0;
}

const char *fault_name(enum fault_kind kind);

int fault_parse(const char *text, struct fault *fault, struct err *err);

/* For an option table. */
int fault_check(const char *text, struct err *err);

int fault_plan_parse(const struct strlist *texts, struct fault_plan *plan,
                     struct err *err);

/* The faults of the nth request (from 1), `since_ns` after the server's start.
 * One random number is drawn per fault with a probability, even if its other
 * conditions do not hold. */
struct fault_set fault_draw(const struct fault_plan *plan, int64_t nth,
                            int64_t since_ns, struct rng *rng);

#endif
