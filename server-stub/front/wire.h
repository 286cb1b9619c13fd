/* wire.h - what HTTP and gRPC do differently: how a request is read, and how
 * answers and faults are put on the wire. */
#ifndef SERVER_STUB_FRONT_WIRE_H
#define SERVER_STUB_FRONT_WIRE_H

#include <stdbool.h>
#include <stddef.h>

struct call;
struct exchange;
struct page_view;
struct reply;

/* All hooks are required, run on the loop's thread and never block.  `refuse`,
 * `whole` and `end` end the exchange. */
struct wire_ops {
    /* If the request is about the server itself, answer it, end the exchange
     * and return true. */
    bool (*page)(struct reply *r, struct exchange *x,
                 const struct page_view *view);

    /* Find the API and read the request.  Always sets call->api.  Returns false
     * if the request is to be refused with 400. */
    bool (*read)(const struct exchange *x, struct call *call);

    /* Answer with this HTTP or gRPC status, or the closest to it; sets
     * call->status. */
    void (*refuse)(struct reply *r, struct call *call, int status,
                   const char *why);

    /* Send the answer in one piece, faults included. */
    void (*whole)(struct reply *r, struct call *call);

    /* Begin a stream: write its head if `already`, else only what may precede
     * the first event. */
    void (*open)(struct reply *r, struct call *call, bool already);

    /* Write one event of the stream. */
    void (*event)(struct reply *r, struct call *call, const char *data,
                  size_t len);

    /* Write something that is not an event, by the faults: malformed or
     * endless. */
    void (*spoil)(struct reply *r, struct call *call);

    /* End the stream. */
    void (*end)(struct reply *r, struct call *call);
};

extern const struct wire_ops wire_http;
extern const struct wire_ops wire_grpc; /* zeros in a build without gRPC */

/* The gRPC code that is closest to an HTTP status, and the reverse.  gRPC codes
 * are below 100, where HTTP has no statuses; a status that already is of the
 * wanted protocol is returned as it is. */
int status_of_grpc(int status);
int status_of_http(int status);

/* Does the path match?  A star in the pattern stands for one or more characters
 * other than '/'. */
bool path_matches(const char *pattern, const char *path);

#endif
