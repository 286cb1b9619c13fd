/* target.h - where requests go, and the bytes they are made of.
 *
 * Several targets take turns, and so do the addresses of each: the sequence
 * number of a request decides, whichever worker sends it.  Built once before
 * the clock starts; const from then on, and shared.
 */
#ifndef LOADGEN_PREPARE_TARGET_H
#define LOADGEN_PREPARE_TARGET_H

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/text/url.h"

struct api;
struct err;
struct request;
struct target_settings;

/* Digits of the request id; the header's value has a fixed width. */
#define TARGET_ID_DIGITS 18
#define TARGET_ID_HEADER "x-tailgate-id"

#define TARGET_MAX_REQUEST ((size_t)64 << 20)

/* One URL. */
struct target {
    const char *text; /* the URL, borrowed */
    struct url url;
    bool is_null;
    struct addrinfo *resolved; /* NULL: not reached by address */
    struct buf request;        /* head and body, as sent; if the API makes
                                  bodies, the head without its length and end */
    size_t id_at;              /* offset of the id's digits; 0: no id */
    size_t first_endpoint;
    size_t n_endpoints;
};

/* One address of one target. */
struct endpoint {
    const struct target *target;
    const struct addrinfo *address; /* NULL: through a proxy or unix socket */
    size_t place; /* endpoints with the same number share connections */
};

struct targets {
    struct target *items;
    size_t len;
    struct endpoint *endpoints; /* none for the null transport */
    size_t n_endpoints;
    struct strlist
        headers; /* lines, all but Host; that of the id is the last */
    struct buf body;
    bool has_length; /* all requests have the same body, maybe an empty one */
    bool is_head;    /* the method is HEAD: answers have no body */
    int64_t n_lanes; /* workers of a closed loop, which number their requests
                        independently; otherwise 1 */
};

/* Resolve names, read the file of the body, write the requests.  ERR_CONFIG for
 * invalid settings, ERR_IO for a name that does not resolve. */
int targets_init(struct targets *ts, const struct target_settings *s,
                 const struct api *api, struct err *err);
void targets_fini(struct targets *ts);

/* Settings for a request to `url` that is not one of the run's: a readiness
 * check, the metrics page, an energy series, a question about the model.  All
 * of `t` is borrowed.  This function alone decides who gets the credentials:
 * the headers, the API key, the client certificate, the unix socket and
 * connect_to belong to the target.  They are kept if the URL has the origin
 * (scheme, host, port) of one of the target's URLs, and removed otherwise. */
void target_aim(struct target_settings *t, const struct target_settings *s,
                char **url);

/* Append the text or, for @FILE, the contents of the file; NULL: nothing.
 * ERR_CONFIG. */
int target_read_body(const char *body, struct buf *out, struct err *err);

/* The checks of targets_init() that need no network.  ERR_CONFIG. */
int targets_check(const struct target_settings *s, struct err *err);

/* Try to connect to every endpoint once, which may block, and drop those that
 * do not answer or whose certificate is invalid; `notes` gets a line for each.
 * ERR_IO if a target has none left. */
int targets_probe(struct targets *ts, const struct target_settings *s,
                  struct strlist *notes, struct err *err);

/* The endpoint of the request with this sequence number, or session number. */
static inline size_t targets_route(const struct targets *ts, int64_t seq)
{
    size_t place = (size_t)(seq / ts->n_lanes + seq % ts->n_lanes);
    const struct target *t = &ts->items[place % ts->len];

    return t->first_endpoint + place / ts->len % t->n_endpoints;
}

/* The reason of the failure of a request that is too large. */
#define TARGET_TOO_LARGE "the request is larger than 64 MiB and was not sent"

/* Make a request with its own body: head and body are written to `out`, with
 * `body` as scratch space; both are overwritten.  -1 if it does not fit: `out`
 * is invalid then. */
int target_make_request(const struct target *t, const struct api *api,
                        struct request *r, struct buf *body, struct buf *out);

/* Write a sequence number over the digits of an id. */
void target_put_id(char *digits, int64_t seq);

#endif
