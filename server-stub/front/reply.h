/* reply.h - what is sent for a call, and when, faults included.  How it is put
 * on the wire is up to the protocol (wire.h). */
#ifndef SERVER_STUB_FRONT_REPLY_H
#define SERVER_STUB_FRONT_REPLY_H

#include <stdbool.h>

#include "common/base/buf.h"
#include "server-stub/front/http_answer.h"

struct call;
struct exchange;
struct stub_settings;

struct reply {
    const struct stub_settings *settings; /* borrowed */
    unsigned sse;                         /* style bits, common/wire/sse.h */
    struct answer plain[2]; /* [1] keeps the connection open, [0] does not */
    struct buf body;        /* scratch: what the API writes */
    struct buf event;       /* scratch: the same as an event */
    struct buf text;        /* scratch: what is sent next */
};

void reply_init(struct reply *r, const struct stub_settings *settings,
                unsigned sse);
void reply_fini(struct reply *r);

/* The request was accepted: a stream may be announced. */
void reply_begin(struct reply *r, struct call *call);

/* One more token is due; call->due_tokens already counts it. */
void reply_token(struct reply *r, struct call *call);

/* The whole answer is due: send what is left of it and end the exchange. */
void reply_finish(struct reply *r, struct call *call);

/* Refuse the request with this status. */
void reply_status(struct reply *r, struct call *call, int status);

/* For the wires: send r->text, if it is not empty; end the exchange; break the
 * connection off, with a RST or a FIN. */
void reply_send(struct reply *r, struct exchange *x);
void reply_end(struct call *call);
void reply_break(struct call *call, bool with_reset);

/* Message of an error that a fault causes. */
#define REPLY_TOLD "the stub was told to fail"

#endif
