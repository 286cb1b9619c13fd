/* reply.h - what goes out for a call, and when; how it is put on the wire is
 * the protocol's. */
#ifndef SERVER_STUB_FRONT_REPLY_H
#define SERVER_STUB_FRONT_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/buf.h"
#include "server-stub/front/http_answer.h"

struct call;
struct exchange;
struct reply;
struct stub_settings;

struct reply {
    const struct stub_settings *settings; /* borrowed */
    unsigned sse;                         /* how events are written */
    struct answer plain[2]; /* [1]: and the connection stays open */
    struct buf body;        /* scratch: what the API has to say */
    struct buf event;       /* scratch: the same as an event */
    struct buf text;        /* scratch: what goes out */
};

/* `sse`: common/wire/sse_style.h. */
void reply_init(struct reply *r, const struct stub_settings *settings,
                unsigned sse);
void reply_fini(struct reply *r);

/* The request was taken in: a stream may be announced. */
void reply_begin(struct reply *r, struct call *call);

/* One more token is due; call->due_tokens counts it already. */
void reply_token(struct reply *r, struct call *call);

/* The whole answer is due: what is left of it goes out, and the exchange is
 * ended. */
void reply_finish(struct reply *r, struct call *call);

/* Refuse it with this status. */
void reply_status(struct reply *r, struct call *call, int status);

/* For whoever makes the answer: send what was put into r->text, if anything;
 * that was all; break the connection off, with a RST or a FIN. */
void reply_send(struct reply *r, struct exchange *x);
void reply_end(struct call *call);
void reply_break(struct call *call, bool with_reset);

/* What an error says that was told to be made. */
#define REPLY_TOLD "the stub was told to fail"

/* answer_stream.h - an answer as a stream of events, faults included. */
/* The request was taken in: something may go out at once. */
void reply_stream_begin(struct reply *r, struct call *call);

/* One more token is due. */
void reply_stream_token(struct reply *r, struct call *call);

/* Everything is; what is left of it goes out, and the exchange is ended. */
void reply_stream_finish(struct reply *r, struct call *call);

#endif
