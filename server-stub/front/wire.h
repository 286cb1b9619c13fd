/* wire.h - what HTTP and gRPC do each in its own way: how a request is read,
 * and how what the model and the faults say is put on the wire. */
#ifndef SERVER_STUB_FRONT_WIRE_H
#define SERVER_STUB_FRONT_WIRE_H

#include <stdbool.h>
#include <stddef.h>

struct call;
struct exchange;
struct page_view;
struct reply;

/* All required, called on the loop's thread, and never blocking.  `refuse`,
 * `whole` and `end` end the exchange. */
struct wire_ops {
    /* Is it a question about the server itself?  Then answer it, and end the
     * exchange. */
    bool (*page)(struct reply *r, struct exchange *x,
                 const struct page_view *view);

    /* Which API is it, and what does it ask for?  Sets call->api in any case.
     * False: it is refused with 400. */
    bool (*read)(const struct exchange *x, struct call *call);

    /* No answer but this status, of HTTP or of gRPC, or what comes closest to
     * it; sets call->status. */
    void (*refuse)(struct reply *r, struct call *call, int status,
                   const char *why);

    /* The answer in one piece, faults included. */
    void (*whole)(struct reply *r, struct call *call);

    /* A stream was asked for: announce it, if that is to be done already or if
     * there is something to say before the first event. */
    void (*open)(struct reply *r, struct call *call, bool already);

    /* One event of it. */
    void (*event)(struct reply *r, struct call *call, const char *data,
                  size_t len);

    /* In its middle, what is no event: as the faults say, malformed or without
     * an end. */
    void (*spoil)(struct reply *r, struct call *call);

    /* That was all. */
    void (*end)(struct reply *r, struct call *call);
};

extern const struct wire_ops wire_http;
extern const struct wire_ops wire_grpc; /* in a build with gRPC */

/* status_map.h - a status of HTTP and the code of gRPC that says most nearly
 * the same.  Codes are below 100, where HTTP has no statuses; each function
 * leaves what is in its own range as it is.  Pure. */
int status_of_grpc(int status);
int status_of_http(int status);

/* url_path.h - paths with places left open.  Pure. */
/* A star in the pattern stands for one or more characters other than '/'. */
bool path_matches(const char *pattern, const char *path);

#endif
