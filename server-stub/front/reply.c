#include "server-stub/front/reply.h"

#include "common/settings/settings.h"
#include "server-stub/front/answer_stream.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"
#include "server-stub/front/wire.h"

#define MAX_TEXT ((size_t)128 << 20)

void reply_init(struct reply *r, const struct stub_settings *settings,
                unsigned sse)
{
    r->settings = settings;
    r->sse = sse;
    for (int keeps_alive = 0; keeps_alive < 2; keeps_alive++)
        answer_init(&r->plain[keeps_alive], settings->body_bytes, keeps_alive);
    buf_init(&r->body, MAX_TEXT);
    buf_init(&r->event, MAX_TEXT);
    buf_init(&r->text, MAX_TEXT);
}

void reply_fini(struct reply *r)
{
    for (int keeps_alive = 0; keeps_alive < 2; keeps_alive++)
        answer_fini(&r->plain[keeps_alive]);
    buf_fini(&r->body);
    buf_fini(&r->event);
    buf_fini(&r->text);
}

/* ---- ends ---- */

void reply_send(struct reply *r, struct exchange *x)
{
    if (r->text.len > 0)
        front_send(x, r->text.data, r->text.len);
    buf_reset(&r->text);
}

void reply_end(struct call *call)
{
    call->is_over = true;
    front_end(call->x);
}

void reply_break(struct call *call, bool with_reset)
{
    call->is_over = true;
    front_break(call->x, with_reset);
}

/* ---- what is due ---- */

void reply_begin(struct reply *r, struct call *call)
{
    if (call->streams)
        reply_stream_begin(r, call);
}

void reply_token(struct reply *r, struct call *call)
{
    if (call->streams && !call->is_over)
        reply_stream_token(r, call);
}

void reply_finish(struct reply *r, struct call *call)
{
    if (call->is_over)
        return;
    if (call->streams)
        reply_stream_finish(r, call);
    else
        call->wire->whole(r, call);
}

void reply_status(struct reply *r, struct call *call, int status)
{
    call->is_over = true;
    call->wire->refuse(r, call, status,
                       call->why ? call->why : "refused by the stub");
}
