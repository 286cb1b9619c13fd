/* fault.h - what a server does wrong, and when; as people write it.
 *
 *   status=503 p=1%              one request in a hundred
 *   reset every=100              each hundredth
 *   truncated n=7                the seventh
 *   hang=2s from=10s to=12s      those that arrive in that time
 *
 * Conditions are joined: all must hold.  Pure.
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
    FAULT_STATUS = 0,  /* =N: another status, of HTTP or (1 to 16) gRPC */
    FAULT_INBAND,      /* an error inside a 200 */
    FAULT_RESET,       /* of the connection; in the middle of a stream */
    FAULT_HANG,        /* =DURATION: the answer comes that much later */
    FAULT_TRUNCATED,   /* the connection ends in the middle of the answer */
    FAULT_MALFORMED,   /* not HTTP; in a stream, not JSON */
    FAULT_EMPTY,       /* a 200 without content */
    FAULT_DOUBLE_DONE, /* of a stream, as are those below: two [DONE] */
    FAULT_NO_DONE,
    FAULT_ROLE_FIRST, /* a chunk without content, at once */
    FAULT_BUNDLE,     /* =N: so many tokens a chunk */
    FAULT_BURST,      /* every chunk at the end */
    FAULT_NO_USAGE,
    FAULT_SLOW_ACCEPT,  /* =DURATION: of the connection, not of a request */
    FAULT_NO_EVENTS,    /* a stream that ends as it begins */
    FAULT_WRONG_TYPE,   /* an error in JSON where a stream was asked for */
    FAULT_COALESCED,    /* =N: so many events a write */
    FAULT_ENDLESS,      /* =SIZE: an event of that length, without its end */
    FAULT_WRONG_USAGE,  /* =N: so many tokens more than there were */
    FAULT_WRONG_FINISH, /* a reason that nobody expects */
    FAULT_LENGTH,       /* =N: so many tokens, whatever was asked for */
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

/* Those that hit one request. */
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

/* What befalls the nth request (from 1), `since_ns` after the server's start?
 * One draw a fault with a probability, whether or not the rest holds. */
struct fault_set fault_draw(const struct fault_plan *plan, int64_t nth,
                            int64_t since_ns, struct rng *rng);

#endif
