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

#endif
