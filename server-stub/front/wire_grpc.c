/* The gRPC wire: an event is a message, an answer in one piece is one message,
 * and an error is a status. */
#include <string.h>

#include "common/spec/fault.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/api/stub_grpc.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"
#include "server-stub/front/reply.h"
#include "server-stub/front/wire.h"

/* Field 15 with an invalid type. */
static const char garbage[] = "\x7f\xff\xff\xff this is no message";

static bool page(struct reply *r, struct exchange *x,
                 const struct page_view *view)
{
    buf_reset(&r->body);
    if (!grpc_page_write(x->path, view, &r->body))
        return false;
    front_send(x, r->body.data, r->body.len);
    front_end(x);
    return true;
}

static void refuse(struct reply *r, struct call *call, int status,
                   const char *why)
{
    (void)r;
    call->status = status_of_grpc(status);
    call->is_over = true;
    call->x->status = call->status;
    call->x->why = why;
    front_end(call->x);
}

/* A message that is longer than a client accepts. */
static void send_long(struct reply *r, struct call *call)
{
    size_t len = (size_t)call->faults.param[FAULT_ENDLESS];

    buf_reset(&r->text);
    memset(buf_reserve(&r->text, len), 'x', len);
    front_send(call->x, r->text.data, len);
}

static void whole(struct reply *r, struct call *call)
{
    call->status = 200;
    if (call_has(call, FAULT_RESET) || call_has(call, FAULT_TRUNCATED)) {
        reply_break(call, call_has(call, FAULT_RESET));
    } else if (call_has(call, FAULT_INBAND)) {
        refuse(r, call, 500, REPLY_TOLD);
    } else if (call_has(call, FAULT_ENDLESS)) {
        send_long(r, call);
        reply_end(call);
    } else {
        buf_reset(&r->body);
        if (call_has(call, FAULT_MALFORMED))
            buf_adds(&r->body, garbage);
        else if (!call_has(call, FAULT_EMPTY))
            call->api->whole(call, r->settings, &r->body);
        front_send(call->x, buf_text(&r->body), r->body.len);
        reply_end(call);
    }
}

/* The head is sent with the first message. */
static void open(struct reply *r, struct call *call, bool already)
{
    (void)r;
    (void)call;
    (void)already;
}

static void event(struct reply *r, struct call *call, const char *data,
                  size_t len)
{
    (void)r;
    call->status = 200;
    front_send(call->x, data, len);
}

static void end(struct reply *r, struct call *call)
{
    (void)r;
    call->status = 200;
    reply_end(call);
}

static void spoil(struct reply *r, struct call *call)
{
    if (call_has(call, FAULT_ENDLESS)) {
        send_long(r, call);
        end(r, call);
    } else {
        event(r, call, garbage, strlen(garbage));
    }
}

const struct wire_ops wire_grpc = {
    .page = page,
    .read = grpc_api_read,
    .refuse = refuse,
    .whole = whole,
    .open = open,
    .event = event,
    .spoil = spoil,
    .end = end,
};
