#include "server-stub/reply.h"

#include <string.h>

#include "common/fault.h"
#include "common/settings.h"
#include "server-stub/api/api.h"
#include "server-stub/call.h"
#include "server-stub/front.h"
#include "server-stub/stream.h"

#define MAX_TEXT ((size_t)128 << 20)

static const char garbage[] = "\x16\x03\x01this is not HTTP\r\n\r\n";

void reply_init(struct reply *r, const struct stub_settings *settings,
                unsigned sse)
{
    r->settings = settings;
    r->sse = sse;
    for (int keeps_alive = 0; keeps_alive < 2; keeps_alive++)
        answer_init(&r->plain[keeps_alive], settings->body_bytes, keeps_alive);
    buf_init(&r->json, MAX_TEXT);
    buf_init(&r->event, MAX_TEXT);
    buf_init(&r->text, MAX_TEXT);
}

void reply_fini(struct reply *r)
{
    for (int keeps_alive = 0; keeps_alive < 2; keeps_alive++)
        answer_fini(&r->plain[keeps_alive]);
    buf_fini(&r->json);
    buf_fini(&r->event);
    buf_fini(&r->text);
}

static bool has(const struct call *call, enum fault_kind kind)
{
    return fault_has(&call->faults, kind);
}

/* ---- ends ---- */

void reply_send(struct reply *r, struct exchange *x)
{
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

/* ---- an answer in one piece ---- */

void reply_text(struct reply *r, struct exchange *x, int status,
                const char *type, const char *body, size_t len)
{
    buf_reset(&r->text);
    answer_write(&r->text, status, type, x->keeps_alive, body, len);
    if (x->is_head || status == 304)
        r->text.len -= len;
    reply_send(r, x);
    front_end(x);
}

void reply_status(struct reply *r, struct call *call, int status)
{
    const char *why = call->why ? call->why : "refused by the stub";

    call->status = status;
    call->is_over = true;
    buf_reset(&r->json);
    api_error(call, status, why, &r->json);
    reply_text(r, call->x, status, "application/json", buf_text(&r->json),
               r->json.len);
}

static void write_body(struct reply *r, struct call *call)
{
    const struct answer *plain = &r->plain[call->x->keeps_alive];

    buf_reset(&r->json);
    if (has(call, FAULT_EMPTY))
        return;
    if (has(call, FAULT_INBAND))
        api_error(call, 500, REPLY_TOLD, &r->json);
    else if (call->api->whole)
        call->api->whole(call, r->settings, &r->json);
    else
        buf_add(&r->json, plain->text.data + plain->head_len,
                plain->text.len - plain->head_len);
}

/* The text of the whole answer, well formed. */
static void write_whole(struct reply *r, struct call *call)
{
    bool keeps_alive = call->x->keeps_alive;

    write_body(r, call);
    buf_reset(&r->text);
    if (call->json_len > 0)
        answer_write_binary(&r->text, keeps_alive, buf_text(&r->json),
                            r->json.len, call->json_len);
    else
        answer_write(&r->text, 200, "application/json", keeps_alive,
                     buf_text(&r->json), r->json.len);
    if (call->x->is_head)
        r->text.len -= r->json.len;
}

static bool is_plain(const struct call *call)
{
    return !call->api->whole && call->faults.kinds == 0;
}

static void finish_whole(struct reply *r, struct call *call)
{
    const struct answer *plain = &r->plain[call->x->keeps_alive];

    call->status = 200;
    if (is_plain(call)) {
        front_send(call->x, plain->text.data,
                   call->x->is_head ? plain->head_len : plain->text.len);
        reply_end(call);
        return;
    }
    write_whole(r, call);
    if (has(call, FAULT_MALFORMED)) {
        front_send(call->x, garbage, strlen(garbage));
        reply_break(call, false);
    } else if (has(call, FAULT_RESET)) {
        reply_break(call, true);
    } else if (has(call, FAULT_TRUNCATED)) {
        front_send(call->x, r->text.data, r->text.len - r->text.len / 8 - 1);
        reply_break(call, false);
    } else {
        reply_send(r, call->x);
        reply_end(call);
    }
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
        finish_whole(r, call);
}
