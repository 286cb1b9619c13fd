#include "server-stub/front/reply.h"

#include <string.h>

#include "common/settings/settings.h"
#include "common/spec/fault.h"
#include "server-stub/api/stub_api.h"
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

/* A stream need not be whole before it goes out. */
#define ENOUGH_TEXT ((size_t)64 << 10)

static bool has(const struct call *call, enum fault_kind kind)
{
    return fault_has(&call->faults, kind);
}

static void begin_writing(struct reply *r)
{
    buf_reset(&r->body);
    buf_reset(&r->event);
    buf_reset(&r->text);
}

/* What the API has just said, if anything, is an event. */
static void add_said(struct reply *r, struct call *call)
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
    add_said(r, call);
}

/* In the middle of a stream. */
static void fail_midway(struct reply *r, struct call *call)
{
    if (has(call, FAULT_INBAND)) {
        api_error(call, 500, REPLY_TOLD, &r->body);
        add_said(r, call);
        call->wire->end(r, call);
    } else if (!has(call, FAULT_ENDLESS) &&
               (has(call, FAULT_RESET) || has(call, FAULT_TRUNCATED))) {
        reply_send(r, call->x);
        reply_break(call, has(call, FAULT_RESET));
    } else if (has(call, FAULT_ENDLESS) || has(call, FAULT_MALFORMED)) {
        call->wire->spoil(r, call);
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
        call->api->tokens(call, r->settings, n, &r->body);
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
        call->wire->open(r, call, false);
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
    if (!call->is_over)
        reply_send(r, call->x);
}

static void add_done(struct reply *r, struct call *call)
{
    const char *done = call->api->done;

    if (done && !has(call, FAULT_NO_DONE))
        call->wire->event(r, call, done, strlen(done));
    if (done && has(call, FAULT_DOUBLE_DONE))
        call->wire->event(r, call, done, strlen(done));
}

/* Where nothing says that a stream is at its end but the end itself, that is
 * what is missing. */
static bool lacks_its_end(const struct call *call)
{
    return has(call, FAULT_NO_DONE) && !call->api->done &&
           !call->api->probe_marks_last;
}

static void finish_events(struct reply *r, struct call *call)
{
    if (!has(call, FAULT_EMPTY))
        add_due(r, call, true);
    if (call->is_over)
        return;
    if (call->api->last)
        call->api->last(call, r->settings, &r->body);
    add_said(r, call);
    add_done(r, call);
    call->wire->open(r, call, true);
    if (lacks_its_end(call)) {
        reply_send(r, call->x);
        reply_break(call, false);
    } else {
        call->wire->end(r, call);
    }
}

void reply_stream_finish(struct reply *r, struct call *call)
{
    begin_writing(r);
    if (has(call, FAULT_WRONG_TYPE)) {
        call->why = REPLY_TOLD;
        reply_status(r, call, 200);
    } else if (has(call, FAULT_NO_EVENTS)) {
        call->wire->end(r, call);
    } else {
        finish_events(r, call);
    }
}
