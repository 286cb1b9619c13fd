/* The HTTP/1 wire: answers with a head, and streams of server-sent events. */
#include <string.h>

#include "common/settings/settings.h"
#include "common/spec/fault.h"
#include "common/wire/sse.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"
#include "server-stub/front/http_answer.h"
#include "server-stub/front/reply.h"
#include "server-stub/front/wire.h"
#include "server-stub/stub_page.h"

/* An endless event is sent in pieces of this size. */
#define ENOUGH_TEXT ((size_t)64 << 10)

#define MAX_PAGE ((size_t)64 << 20)

static const char garbage[] = "\x16\x03\x01this is not HTTP\r\n\r\n";

/* ---- answers in one piece ---- */

static void give_text(struct reply *r, struct exchange *x, int status,
                      const char *type, const struct buf *body)
{
    buf_reset(&r->text);
    answer_write(&r->text, status, type, x->keeps_alive, buf_text(body),
                 body->len);
    if (x->is_head || status == 304)
        r->text.len -= body->len;
    reply_send(r, x);
    front_end(x);
}

static bool page(struct reply *r, struct exchange *x,
                 const struct page_view *view)
{
    const char *type;
    struct buf body;
    bool found;

    if (strcmp(x->method, "GET") != 0 && strcmp(x->method, "HEAD") != 0)
        return false;
    buf_init(&body, MAX_PAGE);
    found = page_write(x->path, view, &body, &type);
    if (found)
        give_text(r, x, 200, type, &body);
    buf_fini(&body);
    return found;
}

/* An error that is sent with a 200 is still described as a server error. */
static void refuse(struct reply *r, struct call *call, int status,
                   const char *why)
{
    status = call->status = status_of_http(status);
    buf_reset(&r->body);
    api_error(call, status == 200 ? 500 : status, why, &r->body);
    give_text(r, call->x, status, "application/json", &r->body);
}

/* Write the whole answer, well formed, to r->text. */
static void write_whole(struct reply *r, struct call *call)
{
    bool keeps_alive = call->x->keeps_alive;
    const struct answer *plain = &r->plain[keeps_alive];

    buf_reset(&r->body);
    buf_reset(&r->text);
    if (call_has(call, FAULT_INBAND) && !call_has(call, FAULT_EMPTY))
        api_error(call, 500, REPLY_TOLD, &r->body);
    else if (call->api->whole && !call_has(call, FAULT_EMPTY))
        call->api->whole(call, r->settings, &r->body);
    else if (!call_has(call, FAULT_EMPTY))
        buf_add(&r->body, plain->text.data + plain->head_len,
                plain->text.len - plain->head_len);
    if (call->json_len > 0)
        answer_write_binary(&r->text, keeps_alive, buf_text(&r->body),
                            r->body.len, call->json_len);
    else
        answer_write(&r->text, 200, "application/json", keeps_alive,
                     buf_text(&r->body), r->body.len);
    if (call->x->is_head)
        r->text.len -= r->body.len;
}

static void whole(struct reply *r, struct call *call)
{
    const struct answer *plain = &r->plain[call->x->keeps_alive];

    call->status = 200;
    if (!call->api->whole && call->faults.kinds == 0) {
        front_send(call->x, plain->text.data,
                   call->x->is_head ? plain->head_len : plain->text.len);
        reply_end(call);
        return;
    }
    write_whole(r, call);
    if (call_has(call, FAULT_MALFORMED)) {
        front_send(call->x, garbage, strlen(garbage));
        reply_break(call, false);
    } else if (call_has(call, FAULT_RESET)) {
        reply_break(call, true);
    } else if (call_has(call, FAULT_TRUNCATED)) {
        front_send(call->x, r->text.data, r->text.len - r->text.len / 8 - 1);
        reply_break(call, false);
    } else {
        reply_send(r, call->x);
        reply_end(call);
    }
}

/* ---- the parts of a stream ---- */

static void add_head(struct reply *r, struct call *call)
{
    bool chunked = call->x->takes_chunks;

    if (call->has_head)
        return;
    if (!chunked)
        call->x->keeps_alive = false;
    answer_write_stream(&r->text, chunked, call->x->keeps_alive);
    call->has_head = true;
    call->status = 200;
}

/* Move r->event to the text that is sent next; the head precedes the first. */
static void add_piece(struct reply *r, struct call *call)
{
    add_head(r, call);
    answer_write_piece(&r->text, call->x->takes_chunks, buf_text(&r->event),
                       r->event.len);
    buf_reset(&r->event);
}

static void open(struct reply *r, struct call *call, bool already)
{
    if (already)
        add_head(r, call);
    else
        sse_style_write_keepalives(r->sse, &r->event);
    if (r->event.len > 0)
        add_piece(r, call);
}

static void event(struct reply *r, struct call *call, const char *data,
                  size_t len)
{
    (void)len; /* it is text that ends with a NUL */
    sse_style_write_keepalives(r->sse, &r->event);
    add_piece(r, call);
    sse_style_write(r->sse, data, &r->event);
    add_piece(r, call);
}

static void end(struct reply *r, struct call *call)
{
    add_head(r, call);
    if (call->x->takes_chunks)
        answer_write_end(&r->text);
    reply_send(r, call->x);
    reply_end(call);
}

static void spoil(struct reply *r, struct call *call)
{
    static const char broken[] = "{\"choices\": [not JSON";
    int64_t left = call->faults.param[FAULT_ENDLESS];

    if (!call_has(call, FAULT_ENDLESS)) {
        event(r, call, broken, strlen(broken));
        return;
    }
    buf_adds(&r->event, "data: {\"text\":\""); /* never closed */
    while (left > 0) {
        size_t n = left < (int64_t)ENOUGH_TEXT ? (size_t)left : ENOUGH_TEXT;

        memset(buf_reserve(&r->event, n), 'x', n);
        buf_commit(&r->event, n);
        left -= (int64_t)n;
        add_piece(r, call);
        reply_send(r, call->x);
    }
    end(r, call);
}

const struct wire_ops wire_http = {
    .page = page,
    .read = api_read,
    .refuse = refuse,
    .whole = whole,
    .open = open,
    .event = event,
    .spoil = spoil,
    .end = end,
};
