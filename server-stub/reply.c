#include "server-stub/reply.h"

#include <string.h>

#include "common/fault.h"
#include "common/settings.h"
#include "server-stub/api/api.h"
#include "server-stub/call.h"
#include "server-stub/front.h"

/* A stream need not be whole before it goes out. */
#define ENOUGH_TEXT ((size_t)64 << 10)

#define MAX_TEXT ((size_t)128 << 20)

/* What was told to go wrong. */
#define TOLD "the stub was told to fail"

static const char garbage[] = "\x16\x03\x01this is not HTTP\r\n\r\n";

void reply_init(struct reply *r, const struct stub_settings *settings)
{
    r->settings = settings;
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

static void begin_writing(struct reply *r)
{
    buf_reset(&r->json);
    buf_reset(&r->event);
    buf_reset(&r->text);
}

/* ---- ends ---- */

static void send_text(struct reply *r, struct exchange *x)
{
    front_send(x, r->text.data, r->text.len);
    buf_reset(&r->text);
}

static void end(struct call *call)
{
    call->is_over = true;
    front_end(call->x);
}

static void break_off(struct call *call, bool with_reset)
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
    send_text(r, x);
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
        api_error(call, 500, TOLD, &r->json);
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
        end(call);
        return;
    }
    write_whole(r, call);
    if (has(call, FAULT_MALFORMED)) {
        front_send(call->x, garbage, strlen(garbage));
        break_off(call, false);
    } else if (has(call, FAULT_RESET)) {
        break_off(call, true);
    } else if (has(call, FAULT_TRUNCATED)) {
        front_send(call->x, r->text.data, r->text.len - r->text.len / 8 - 1);
        break_off(call, false);
    } else {
        send_text(r, call->x);
        end(call);
    }
}

/* ---- a stream ---- */

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

/* Add bytes of the body to what goes out next; the head goes before the
 * first. */
static void add_piece(struct reply *r, struct call *call)
{
    add_head(r, call);
    answer_write_piece(&r->text, call->x->takes_chunks, buf_text(&r->event),
                       r->event.len);
    buf_reset(&r->event);
}

static void add_event(struct reply *r, struct call *call, const char *data)
{
    buf_adds(&r->event, "data: ");
    buf_adds(&r->event, data);
    buf_adds(&r->event, "\n\n");
    add_piece(r, call);
}

/* What the API has just said, if anything, is an event. */
static void add_said(struct reply *r, struct call *call)
{
    if (r->json.len > 0)
        add_event(r, call, buf_text(&r->json));
    buf_reset(&r->json);
}

static void add_role(struct reply *r, struct call *call)
{
    if (call->has_role)
        return;
    call->has_role = true;
    if (call->api->role)
        call->api->role(call, r->settings, &r->json);
    add_head(r, call);
    add_said(r, call);
}

static void end_stream(struct reply *r, struct call *call)
{
    if (call->x->takes_chunks)
        answer_write_end(&r->text);
    send_text(r, call->x);
    end(call);
}

/* What goes wrong in the middle of a stream. */
static void fail_midway(struct reply *r, struct call *call)
{
    if (has(call, FAULT_INBAND)) {
        api_error(call, 500, TOLD, &r->json);
        add_said(r, call);
        end_stream(r, call);
    } else if (has(call, FAULT_RESET) || has(call, FAULT_TRUNCATED)) {
        send_text(r, call->x);
        break_off(call, has(call, FAULT_RESET));
    } else if (has(call, FAULT_MALFORMED)) {
        add_event(r, call, "{\"choices\": [not JSON");
    }
}

static bool is_reasoning(const struct call *call)
{
    return call->sent_tokens < call->reasoning_tokens;
}

/* The last one is not, or nobody would be told the end. */
static bool is_hidden(const struct reply *r, const struct call *call, int64_t n)
{
    return r->settings->reasoning_as == REASONING_HIDDEN &&
           is_reasoning(call) &&
           call->sent_tokens + n < call->job.output_tokens;
}

/* Words for the tokens that are due and not out; the middle of the answer is
 * where things go wrong. */
static void add_tokens(struct reply *r, struct call *call, int64_t n)
{
    int64_t half = call->job.output_tokens / 2;
    bool was_before = call->sent_tokens <= half;

    if (call->sent_tokens == 0 && call->api->opens_with_role)
        add_role(r, call);
    if (!is_hidden(r, call, n))
        call->api->tokens(call, r->settings, n, &r->json);
    call->sent_tokens += n;
    add_said(r, call);
    if (was_before && call->sent_tokens > half)
        fail_midway(r, call);
}

static int64_t bundle_of(const struct call *call)
{
    return has(call, FAULT_BUNDLE) ? call->faults.param[FAULT_BUNDLE] : 1;
}

/* Tokens of the next event: reasoning and what follows it do not share one. */
static int64_t size_of_event(const struct call *call, int64_t waiting,
                             int64_t bundle)
{
    int64_t n = waiting < bundle ? waiting : bundle;
    int64_t reasoning = call->reasoning_tokens - call->sent_tokens;

    return reasoning > 0 && n > reasoning ? reasoning : n;
}

/* Everything that is due, a bundle an event; `all`: also what is less. */
static void add_due(struct reply *r, struct call *call, bool all)
{
    int64_t bundle = bundle_of(call);

    while (!call->is_over) {
        int64_t waiting = call->due_tokens - call->sent_tokens;

        if (waiting == 0 || (waiting < bundle && !all))
            return;
        add_tokens(r, call, size_of_event(call, waiting, bundle));
        if (!call->is_over && r->text.len > ENOUGH_TEXT)
            send_text(r, call->x);
    }
}

void reply_begin(struct reply *r, struct call *call)
{
    if (!call->streams || !has(call, FAULT_ROLE_FIRST))
        return;
    begin_writing(r);
    add_role(r, call);
    send_text(r, call->x);
}

void reply_token(struct reply *r, struct call *call)
{
    if (!call->streams || call->is_over || has(call, FAULT_BURST) ||
        has(call, FAULT_EMPTY))
        return;
    begin_writing(r);
    add_due(r, call, false);
    if (!call->is_over && r->text.len > 0)
        send_text(r, call->x);
}

static void add_done(struct reply *r, struct call *call)
{
    const char *done = call->api->done;

    if (done && !has(call, FAULT_NO_DONE))
        add_event(r, call, done);
    if (done && has(call, FAULT_DOUBLE_DONE))
        add_event(r, call, done);
}

static void finish_stream(struct reply *r, struct call *call)
{
    begin_writing(r);
    if (!has(call, FAULT_EMPTY))
        add_due(r, call, true);
    if (call->is_over)
        return;
    if (call->api->last)
        call->api->last(call, r->settings, &r->json);
    add_said(r, call);
    add_done(r, call);
    end_stream(r, call);
}

void reply_finish(struct reply *r, struct call *call)
{
    if (call->is_over)
        return;
    if (call->streams)
        finish_stream(r, call);
    else
        finish_whole(r, call);
}
