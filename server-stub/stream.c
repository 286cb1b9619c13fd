#include "server-stub/stream.h"

#include <string.h>

#include "common/fault.h"
#include "common/settings.h"
#include "common/sse_style.h"
#include "server-stub/answer.h"
#include "server-stub/api/api.h"
#include "server-stub/call.h"
#include "server-stub/front.h"
#include "server-stub/reply.h"

/* A stream need not be whole before it goes out. */
#define ENOUGH_TEXT ((size_t)64 << 10)

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

/* Add bytes of the body to what goes out next; the head goes before the
 * first. */
static void add_piece(struct reply *r, struct call *call)
{
    add_head(r, call);
    answer_write_piece(&r->text, call->x->takes_chunks, buf_text(&r->event),
                       r->event.len);
    buf_reset(&r->event);
}

static void add_keepalives(struct reply *r, struct call *call)
{
    sse_style_write_keepalives(r->sse, &r->event);
    add_piece(r, call);
}

static void add_event(struct reply *r, struct call *call, const char *data)
{
    add_keepalives(r, call);
    sse_style_write(r->sse, data, &r->event);
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
    add_head(r, call);
    if (call->x->takes_chunks)
        answer_write_end(&r->text);
    reply_send(r, call->x);
    reply_end(call);
}

/* ---- what goes wrong ---- */

/* An event that begins well and does not end; neither need it be in memory. */
static void add_endless(struct reply *r, struct call *call)
{
    int64_t left = call->faults.param[FAULT_ENDLESS];

    buf_adds(&r->event, "data: {\"text\":\"");
    while (left > 0) {
        size_t n = left < (int64_t)ENOUGH_TEXT ? (size_t)left : ENOUGH_TEXT;

        memset(buf_reserve(&r->event, n), 'x', n);
        buf_commit(&r->event, n);
        left -= (int64_t)n;
        add_piece(r, call);
        reply_send(r, call->x);
    }
}

/* In the middle of a stream. */
static void fail_midway(struct reply *r, struct call *call)
{
    if (has(call, FAULT_INBAND)) {
        api_error(call, 500, REPLY_TOLD, &r->json);
        add_said(r, call);
        end_stream(r, call);
    } else if (has(call, FAULT_ENDLESS)) {
        add_endless(r, call);
        end_stream(r, call);
    } else if (has(call, FAULT_RESET) || has(call, FAULT_TRUNCATED)) {
        reply_send(r, call->x);
        reply_break(call, has(call, FAULT_RESET));
    } else if (has(call, FAULT_MALFORMED)) {
        add_event(r, call, "{\"choices\": [not JSON");
    }
}

/* ---- tokens ---- */

/* The last one is not, or nobody would be told the end. */
static bool is_hidden(const struct reply *r, const struct call *call, int64_t n)
{
    return r->settings->reasoning_as == REASONING_HIDDEN &&
           call->sent_tokens < call->reasoning_tokens &&
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

static int64_t tokens_per_event(const struct reply *r, const struct call *call)
{
    return has(call, FAULT_BUNDLE) ? call->faults.param[FAULT_BUNDLE]
                                   : r->settings->tokens_per_event;
}

static int64_t events_per_write(const struct reply *r, const struct call *call)
{
    return has(call, FAULT_COALESCED) ? call->faults.param[FAULT_COALESCED]
                                      : r->settings->events_per_write;
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
    int64_t bundle = tokens_per_event(r, call);

    while (!call->is_over) {
        int64_t waiting = call->due_tokens - call->sent_tokens;

        if (waiting == 0 || (waiting < bundle && !all))
            return;
        add_tokens(r, call, size_of_event(call, waiting, bundle));
        if (!call->is_over && r->text.len > ENOUGH_TEXT)
            reply_send(r, call->x);
    }
}

/* ---- what is due ---- */

/* Nothing goes out before the end? */
static bool is_held_back(const struct call *call)
{
    return has(call, FAULT_BURST) || has(call, FAULT_EMPTY) ||
           has(call, FAULT_NO_EVENTS) || has(call, FAULT_WRONG_TYPE);
}

void reply_stream_begin(struct reply *r, struct call *call)
{
    if (has(call, FAULT_WRONG_TYPE) || has(call, FAULT_NO_EVENTS))
        return;
    begin_writing(r);
    if (has(call, FAULT_ROLE_FIRST))
        add_role(r, call);
    else
        sse_style_write_keepalives(r->sse, &r->event);
    if (r->event.len > 0)
        add_piece(r, call);
    if (r->text.len > 0)
        reply_send(r, call->x);
}

void reply_stream_token(struct reply *r, struct call *call)
{
    int64_t waiting = call->due_tokens - call->sent_tokens;

    if (is_held_back(call) ||
        waiting / tokens_per_event(r, call) < events_per_write(r, call))
        return;
    begin_writing(r);
    add_due(r, call, false);
    if (!call->is_over && r->text.len > 0)
        reply_send(r, call->x);
}

static void add_done(struct reply *r, struct call *call)
{
    const char *done = call->api->done;

    if (done && !has(call, FAULT_NO_DONE))
        add_event(r, call, done);
    if (done && has(call, FAULT_DOUBLE_DONE))
        add_event(r, call, done);
}

/* Where nothing says that a stream is at its end but the end itself, that is
 * what is missing. */
static bool lacks_its_end(const struct call *call)
{
    return has(call, FAULT_NO_DONE) && !call->api->done &&
           !call->api->marks_last;
}

static void finish_events(struct reply *r, struct call *call)
{
    if (!has(call, FAULT_EMPTY))
        add_due(r, call, true);
    if (call->is_over)
        return;
    if (call->api->last)
        call->api->last(call, r->settings, &r->json);
    add_said(r, call);
    add_done(r, call);
    add_head(r, call);
    if (lacks_its_end(call)) {
        reply_send(r, call->x);
        reply_break(call, false);
    } else {
        end_stream(r, call);
    }
}

void reply_stream_finish(struct reply *r, struct call *call)
{
    begin_writing(r);
    if (has(call, FAULT_WRONG_TYPE)) {
        call->status = 200;
        call->is_over = true;
        api_error(call, 500, REPLY_TOLD, &r->json);
        reply_text(r, call->x, 200, "application/json", buf_text(&r->json),
                   r->json.len);
    } else if (has(call, FAULT_NO_EVENTS)) {
        end_stream(r, call);
    } else {
        finish_events(r, call);
    }
}
