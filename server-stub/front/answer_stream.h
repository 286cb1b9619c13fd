/* answer_stream.h - an answer as a stream of events, faults included. */
#ifndef SERVER_STUB_FRONT_ANSWER_STREAM_H
#define SERVER_STUB_FRONT_ANSWER_STREAM_H

struct call;
struct reply;

/* The request was taken in: something may go out at once. */
void reply_stream_begin(struct reply *r, struct call *call);

/* One more token is due. */
void reply_stream_token(struct reply *r, struct call *call);

/* Everything is; what is left of it goes out, and the exchange is ended. */
void reply_stream_finish(struct reply *r, struct call *call);

#endif
