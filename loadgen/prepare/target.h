/* target.h - where requests go, and the bytes they are made of.
 *
 * Several targets take turns, and so do the addresses of each: the place of a
 * request in the schedule decides, whoever sends it.  Built once before the
 * clock starts; const from then on, and shared.
 */
#ifndef LOADGEN_PREPARE_TARGET_H
#define LOADGEN_PREPARE_TARGET_H

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/base/url.h"

struct api;
struct err;
struct request;
struct target_settings;

/* Digits of an id in the request; the header's value has a fixed width. */
#define TARGET_ID_DIGITS 18
#define TARGET_ID_HEADER "x-tailgate-id"

#define TARGET_MAX_REQUEST ((size_t)64 << 20)

/* One URL. */
struct target {
    const char *text; /* the URL, borrowed */
    struct url url;
    bool is_null;
    struct addrinfo *resolved; /* NULL: the way there is not by address */
    struct buf request;        /* head and body, as sent; of an API that makes
                                  bodies the head without its length and end */
    size_t id_at;              /* where the id's digits stand; 0: nowhere */
    size_t first_endpoint;
    size_t n_endpoints;
};

/* One address of one target. */
struct endpoint {
    const struct target *target;
    const struct addrinfo *address; /* NULL: a proxy or unix socket knows */
    size_t place; /* those with the same number share connections */
};

struct targets {
    struct target *items;
    size_t len;
    struct endpoint *endpoints; /* none for the null transport */
    size_t n_endpoints;
    struct strlist headers; /* lines, all but Host; the id's is the last */
    struct buf body;
    bool has_length; /* there is a body, if of length 0, the same for all */
    bool is_head;    /* the method is HEAD: no body comes back */
    int64_t n_lanes; /* of a closed loop, whose workers count by themselves */
};

/* Resolve, read the body's file, write the requests.  ERR_CONFIG for what was
 * asked wrongly, ERR_IO for a name that does not resolve. */
int targets_init(struct targets *ts, const struct target_settings *s,
                 const struct api *api, struct err *err);
void targets_fini(struct targets *ts);

/* Settings for a request to `url` that is not one of the run's: a readiness
 * check, the metrics page, an energy series, a question about the model.  All
 * of `t` is borrowed.  This function alone decides who gets the credentials:
 * the headers, the API key, the client certificate, the unix socket and
 * connect_to are the target's.  They are kept if the URL has the origin
 * (scheme, host, port) of one of the target's URLs, and removed otherwise. */
void target_aim(struct target_settings *t, const struct target_settings *s,
                char **url);

/* The text, or of @FILE what is in the file; NULL: nothing.  ERR_CONFIG. */
int target_read_body(const char *body, struct buf *out, struct err *err);

/* All of that which nobody has to be asked for.  ERR_CONFIG. */
int targets_check(const struct target_settings *s, struct err *err);

/* Try a connection to every endpoint once, which may block, and drop those that
 * do not answer or cannot prove who they are; `said` gets a line for each.
 * ERR_IO if a target has none left. */
int targets_probe(struct targets *ts, const struct target_settings *s,
                  struct strlist *said, struct err *err);

/* Which endpoint the request at this place of the schedule goes to; of sessions
 * it is the session's. */
static inline size_t targets_route(const struct targets *ts, int64_t seq)
{
    size_t place = (size_t)(seq / ts->n_lanes + seq % ts->n_lanes);
    const struct target *t = &ts->items[place % ts->len];

    return t->first_endpoint + place / ts->len % t->n_endpoints;
}

/* Why a request that is larger than that does not go out. */
#define TARGET_TOO_LARGE                                                       \
    "the request would be larger than 64 MiB; nothing of it was sent"

/* Make a request whose body is its own: head and body into `out`, by way of
 * `body`; what was in them is gone.  -1 if it does not fit: then what is there
 * is no request. */
int target_make_request(const struct target *t, const struct api *api,
                        struct request *r, struct buf *body, struct buf *out);

/* Write a request's place over the digits of an id. */
void target_put_id(char *digits, int64_t seq);

#endif
