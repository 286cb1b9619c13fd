#include "server-stub/front/reply.h"

#include <string.h>

#include "common/settings/settings.h"
#include "common/spec/fault.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"
#include "server-stub/front/wire.h"

#define MAX_TEXT ((size_t)128 << 20)

/* A stream is sent in pieces of about this size at most. */
#define ENOUGH_TEXT ((size_t)64 << 10)

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
        buf_fini(&r->plain[keeps_alive].text);
    buf_fini(&r->body);
    buf_fini(&r->event);
    buf_fini(&r->text);
}

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

void reply_status(struct reply *r, struct call *call, int status)
{
    call->is_over = true;
    call->wire->refuse(r, call, status,
                       call->why ? call->why : "refused by the stub");
}

/* ---- parts of a stream ---- */

static void begin_writing(struct reply *r)
{
    buf_reset(&r->body);
    buf_reset(&r->event);
    buf_reset(&r->text);
}

/* Turn what the API wrote, if anything, into an event. */
static void add_event(struct reply *r, struct call *call)
{
    if (r->body.len > 0)
        call->wire->event(r, call, buf_text(&r->body), r->body.len);
    buf_reset(&r->body);
}

static void add_role(struct reply *r, struct call *call)
{
    if (call->has_role)
        return;
    call->has_role = true;
    if (call->api->role)
        call->api->role(call, r->settings, &r->body);
    call->wire->open(r, call, true);
    add_event(r, call);
}

/* Apply the faults that occur in the middle of a stream. */
static void fail_midway(struct reply *r, struct call *call)
{
    if (call_has(call, FAULT_INBAND)) {
        api_error(call, 500, REPLY_TOLD, &r->body);
        add_event(r, call);
        call->wire->end(r, call);
    } else if (!call_has(call, FAULT_ENDLESS) &&
               (call_has(call, FAULT_RESET) ||
                call_has(call, FAULT_TRUNCATED))) {
        reply_send(r, call->x);
        reply_break(call, call_has(call, FAULT_RESET));
    } else if (call_has(call, FAULT_ENDLESS) ||
               call_has(call, FAULT_MALFORMED)) {
        call->wire->spoil(r, call);
    }
}

/* An event with the next n tokens.  Hidden reasoning is not written, except for
 * the last token, which tells the client that the answer ends. */
static void add_tokens(struct reply *r, struct call *call, int64_t n)
{
    int64_t half = call->job.output_tokens / 2;
    bool was_before = call->sent_tokens <= half;
    bool is_hidden = r->settings->reasoning_as == REASONING_HIDDEN &&
                     call->sent_tokens < call->reasoning_tokens &&
                     call->sent_tokens + n < call->job.output_tokens;

    if (call->sent_tokens == 0 && call->api->opens_with_role)
        add_role(r, call);
    if (!is_hidden)
        call->api->tokens(call, r->settings, n, &r->body);
    call->sent_tokens += n;
    add_event(r, call);
    if (was_before && call->sent_tokens > half)
        fail_midway(r, call);
}

static int64_t tokens_per_event(const struct reply *r, const struct call *call)
{
    return call_has(call, FAULT_BUNDLE) ? call->faults.param[FAULT_BUNDLE]
                                        : r->settings->tokens_per_event;
}

/* All full events that are due; `all`: also an incomplete one.  Reasoning and
 * the answer do not share an event. */
static void add_due(struct reply *r, struct call *call, bool all)
{
    int64_t bundle = tokens_per_event(r, call);

    while (!call->is_over) {
        int64_t waiting = call->due_tokens - call->sent_tokens;
        int64_t reasoning = call->reasoning_tokens - call->sent_tokens;
        int64_t n = waiting < bundle ? waiting : bundle;

        if (waiting == 0 || (waiting < bundle && !all))
            return;
        add_tokens(r, call, reasoning > 0 && n > reasoning ? reasoning : n);
        if (!call->is_over && r->text.len > ENOUGH_TEXT)
            reply_send(r, call->x);
    }
}

/* ---- what is due ---- */

void reply_begin(struct reply *r, struct call *call)
{
    if (!call->streams || call_has(call, FAULT_WRONG_TYPE) ||
        call_has(call, FAULT_NO_EVENTS))
        return;
    begin_writing(r);
    if (call_has(call, FAULT_ROLE_FIRST))
        add_role(r, call);
    else
        call->wire->open(r, call, false);
    reply_send(r, call->x);
}

void reply_token(struct reply *r, struct call *call)
{
    int64_t waiting = call->due_tokens - call->sent_tokens;
    int64_t events = call_has(call, FAULT_COALESCED)
                         ? call->faults.param[FAULT_COALESCED]
                         : r->settings->events_per_write;
    bool is_held_back =
        call_has(call, FAULT_BURST) || call_has(call, FAULT_EMPTY) ||
        call_has(call, FAULT_NO_EVENTS) || call_has(call, FAULT_WRONG_TYPE);

    if (!call->streams || call->is_over || is_held_back ||
        waiting / tokens_per_event(r, call) < events)
        return;
    begin_writing(r);
    add_due(r, call, false);
    if (!call->is_over)
        reply_send(r, call->x);
}

static void finish_stream(struct reply *r, struct call *call)
{
    const char *done = call->api->done;

    if (!call_has(call, FAULT_EMPTY))
        add_due(r, call, true);
    if (call->is_over)
        return;
    if (call->api->last)
        call->api->last(call, r->settings, &r->body);
    add_event(r, call);
    if (done && !call_has(call, FAULT_NO_DONE))
        call->wire->event(r, call, done, strlen(done));
    if (done && call_has(call, FAULT_DOUBLE_DONE))
        call->wire->event(r, call, done, strlen(done));
    call->wire->open(r, call, true);
    if (call_has(call, FAULT_NO_DONE) && !done &&
        !call->api->probe_marks_last) {
        /* Only the end of the stream itself marks the end: leave that out. */
        reply_send(r, call->x);
        reply_break(call, false);
    } else {
        call->wire->end(r, call);
    }
}

void reply_finish(struct reply *r, struct call *call)
{
    if (call->is_over)
        return;
    if (!call->streams) {
        call->wire->whole(r, call);
        return;
    }
    begin_writing(r);
    if (call_has(call, FAULT_WRONG_TYPE)) {
        call->why = REPLY_TOLD;
        reply_status(r, call, 200);
    } else if (call_has(call, FAULT_NO_EVENTS)) {
        call->wire->end(r, call);
    } else {
        finish_stream(r, call);
    }
}
