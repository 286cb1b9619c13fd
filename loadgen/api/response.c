#include "loadgen/api/response.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/str.h"
#include "common/settings/settings.h"
#include "loadgen/schedule/session.h"

#define MAX_EVENT  ((size_t)4 << 20)
#define MAX_EVENTS ((size_t)1 << 24)
#define MAX_TEXT   ((size_t)16 << 20)

/* Of what a server says about a status; beyond that a report has no room. */
#define MAX_REASON 101

/* A length that was forced may be off by so much, or by one token. */
#define LENGTH_TOLERANCE 0.1

static void fail(struct response *r, enum outcome outcome, int64_t detail,
                 const char *why)
{
    if (r->outcome != OUTCOME_OK)
        return;
    r->outcome = outcome;
    r->detail = detail;
    snprintf(r->why, sizeof(r->why), "%s", why);
}

static void be_over(struct response *r)
{
    if (r->is_over)
        return;
    r->is_over = true;
    r->over_ns = r->now_ns;
}

/* ---- memory ---- */

static int64_t memory_of(const struct response *r)
{
    return (int64_t)(r->sse.line.cap + r->sse.data.cap + r->sse.name.cap +
                     r->body.cap + r->events.cap + r->text.cap + r->label.cap +
                     r->room.cap);
}

/* Called after the buffers may have grown.  Capacity that was not written to
 * costs no memory yet, so the budget is exceeded by one read at most. */
static void charge(struct response *r)
{
    int64_t grown = memory_of(r) - r->charged;

    if (grown <= 0 || r->is_starved)
        return;
    if (budget_take(grown)) {
        r->charged += grown;
        return;
    }
    r->is_starved = true;
    r->outcome = OUTCOME_OK; /* replaces an earlier failure */
    fail(r, OUTCOME_TRUNCATED, RESPONSE_CLIENT_MEMORY,
         "client memory: the responses exceed client.memory");
}

/* ---- what the events say ---- */

static void take_number(int64_t *to, int64_t from)
{
    if (from != TIME_ABSENT)
        *to = from;
}

/* What no answer can hold is not said: a count below 0, or beyond all bounds.
 */
static void check_counts(struct usage *u)
{
    u->prompt = facts_count(u->prompt);
    u->output = facts_count(u->output);
    u->cached = facts_count(u->cached);
    u->reasoning = facts_count(u->reasoning);
}

static void take_usage(struct response *r, const struct piece *p)
{
    take_number(&r->usage.prompt, p->usage.prompt);
    take_number(&r->usage.output, p->usage.output);
    take_number(&r->usage.cached, p->usage.cached);
    take_number(&r->usage.reasoning, p->usage.reasoning);
    if (p->usage.output != TIME_ABSENT && (!p->has_content || p->finish))
        r->has_final_usage = true;
}

/* How many tokens a content event has, with those before it that had no text,
 * such as the first parts of a character; 0: it does not say. */
static int64_t tokens_of(struct response *r, const struct piece *p)
{
    int64_t before = r->counted;

    if (p->usage.output != TIME_ABSENT) {
        r->source = TOKENS_CHUNK_USAGE;
        r->counted = p->usage.output;
        r->silent_ids = 0;
        return r->counted > before ? r->counted - before : 0;
    }
    if (p->ids == TIME_ABSENT)
        return 0;
    before = r->silent_ids;
    r->source = TOKENS_IDS;
    r->counted += before + p->ids;
    r->silent_ids = 0;
    return before + p->ids;
}

static void note_gap(struct facts *f, int64_t gap_ns)
{
    if (f->stall == TIME_ABSENT || gap_ns > f->stall)
        f->stall = gap_ns;
}

static int keep_event(struct response *r, int64_t tokens)
{
    int64_t after_us = r->now_ns / NS_PER_US - r->facts->first / NS_PER_US;
    struct response_event event = {.after_us = after_us,
                                   .tokens = (uint32_t)tokens};

    return buf_add(&r->events, &event, sizeof(event));
}

static void add_content(struct response *r, const struct piece *p)
{
    struct facts *f = r->facts;
    int64_t tokens = tokens_of(r, p);

    if (f->events == 0)
        f->first = r->now_ns;
    if (keep_event(r, tokens)) {
        fail(r, OUTCOME_MALFORMED, RESPONSE_MANY_EVENTS,
             "more events than are kept");
        return;
    }
    if (f->events > 0) {
        note_gap(f, r->now_ns - f->last);
        f->coalesced += r->now_ns == f->last;
    }
    if (tokens == 0)
        r->is_counted = false;
    f->last = r->now_ns;
    f->events++;
    r->has_final_usage = false; /* if one came, it was not the last */
    r->shows_reasoning |= p->is_reasoning;
}

/* Text that is told from its beginning each time is new if it has grown. */
static bool is_new(struct response *r, const struct piece *p)
{
    size_t before = r->text_len;

    if (p->is_cumulative || p->text.len > 0)
        r->text_len = p->text.len;
    return p->is_cumulative ? p->text.len > before : p->has_content;
}

static void keep_text(struct response *r, const struct piece *p)
{
    if (!r->api->keeps_text || !p->text.at)
        return;
    if (p->is_cumulative)
        buf_reset(&r->text);
    jtext_decode(p->text, &r->text);
}

static void take_error(struct response *r, const struct piece *p,
                       enum response_detail detail)
{
    char text[sizeof(r->why)];
    size_t len = p->error.at ? p->error.len : 0;

    snprintf(text, sizeof(text), "%.*s",
             (int)(len < sizeof(text) ? len : sizeof(text) - 1),
             len > 0 ? p->error.at : "");
    fail(r, OUTCOME_INBAND, detail,
         text[0] ? text : "an error in the answer, without a text");
    be_over(r);
}

static void take_piece(struct response *r, struct piece *p)
{
    check_counts(&p->usage);
    if (p->is_error) {
        take_error(r, p, RESPONSE_ERROR_EVENT);
        return;
    }
    if (p->may_be_cumulative)
        p->is_cumulative =
            cumulative_see(&r->cumulative, p->text.at, p->text.len);
    if (is_new(r, p)) {
        add_content(r, p);
        keep_text(r, p);
    } else if (p->ids != TIME_ABSENT) {
        r->silent_ids += p->ids;
    }
    take_usage(r, p);
    if (p->finish)
        r->facts->finish = p->finish;
    r->awaits_last = p->is_not_last;
    if (p->is_last)
        be_over(r);
}

static void note_choices(struct facts *f, int64_t now_ns)
{
    if (f->choices++ == 0)
        f->choices_first = now_ns;
    f->choices_last = now_ns;
}

static bool is_terminator(const struct response *r, const struct sse_event *e)
{
    const char *end = r->api->ops->terminator;

    return end && e->len == strlen(end) && memcmp(e->data, end, e->len) == 0;
}

/* Some servers send them as data, not as comments. */
static bool is_keep_alive(const struct sse_event *e)
{
    return e->len == 0 || e->data[0] == ':';
}

static bool is_named(const struct sse_event *e, const char *name)
{
    return e->name_len == strlen(name) &&
           memcmp(e->name, name, e->name_len) == 0;
}

static bool is_json(const struct sse_event *e)
{
    struct jscan s;

    jscan_init(&s, e->data, e->len);
    return jscan_skip(&s) && jscan_end(&s);
}

/* Of an event that the end of the body cut off nobody can say more. */
static void take_unreadable(struct response *r, const struct sse_event *e)
{
    struct piece error = {.is_error = true, .error = {e->data, e->len, false}};

    if (r->is_ending)
        fail(r, OUTCOME_TRUNCATED, RESPONSE_NO_TERMINATOR,
             "the stream ended inside of an event");
    else if (is_named(e, "error"))
        take_error(r, &error, RESPONSE_ERROR_EVENT);
    else
        fail(r, OUTCOME_MALFORMED, RESPONSE_BAD_EVENT,
             is_json(e) ? "an event that the API does not know"
                        : "an event that is no JSON");
}

static void on_event(void *arg, const struct sse_event *e)
{
    struct response *r = arg;
    struct piece piece = piece_none();

    if (r->is_over || is_keep_alive(e))
        return;
    if (r->n_events++ == 0)
        r->facts->opened = r->now_ns;
    if (is_terminator(r, e)) {
        be_over(r);
        return;
    }
    r->facts->closing = r->now_ns;
    if (api_read_event(r->api, e->data, e->len, &piece)) {
        take_unreadable(r, e);
        return;
    }
    if (piece.has_choices)
        note_choices(r->facts, r->now_ns);
    take_piece(r, &piece);
}

/* ---- bytes ---- */

static bool is_stream(const struct response *r, int status)
{
    return r->api->streams && r->head.is_event_stream &&
           statuses_have(&r->api->success, status);
}

/* Of another content type than the stream that was asked for.  It fails, and
 * its events are read all the same: other tools do not look at the type. */
static bool is_mislabelled(const struct response *r, int status)
{
    return r->api->must_stream && !r->head.is_event_stream &&
           statuses_have(&r->api->success, status);
}

static bool is_name(const char *name, size_t len, const char *wanted)
{
    return len == strlen(wanted) && strncasecmp(name, wanted, len) == 0;
}

static int64_t read_number(const char *text, size_t len)
{
    int64_t n = 0;

    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || n > INT32_MAX)
            return -1;
        n = n * 10 + (text[i] - '0');
    }
    return len > 0 ? n : -1;
}

/* The name of a coding as we write it; NULL: the body is as it is. */
static const char *find_coding(const char *value, size_t len)
{
    static const char *const known[] = {"gzip", "x-gzip", "deflate",
                                        "br",   "zstd",   "compress"};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (is_name(value, len, known[i]))
            return known[i];
    }
    return len == 0 || is_name(value, len, "identity") ? NULL
                                                       : "an unknown coding";
}

void response_header(struct response *r, const char *name, size_t name_len,
                     const char *value, size_t value_len)
{
    static const char stream[] = "text/event-stream";
    const size_t len = sizeof(stream) - 1;

    if (is_name(name, name_len, "content-type"))
        r->head.is_event_stream =
            value_len >= len && strncasecmp(value, stream, len) == 0;
    else if (is_name(name, name_len, "content-encoding"))
        r->head.coding = find_coding(value, value_len);
    else if (is_name(name, name_len, "inference-header-content-length"))
        r->head.json_len = read_number(value, value_len);
}

void response_take(struct response *r, int status, int64_t now_ns,
                   const char *data, size_t len)
{
    bool streams = is_stream(r, status);

    r->now_ns = now_ns;
    if (!streams)
        buf_add(&r->body, data, len);
    if ((streams || is_mislabelled(r, status)) && sse_feed(&r->sse, data, len))
        fail(r, OUTCOME_MALFORMED, RESPONSE_LONG_EVENT,
             "an event that is too long");
    charge(r);
}

void response_expect_messages(struct response *r)
{
    r->head.is_event_stream = true;
}

/* Checks look at the last one that had content. */
static void keep_message(struct response *r, const char *data, size_t len)
{
    if (!r->api->keeps_text)
        return;
    buf_reset(&r->body);
    buf_add(&r->body, data, len);
}

void response_message(struct response *r, int64_t now_ns, const char *data,
                      size_t len)
{
    struct piece piece = piece_none();

    r->now_ns = now_ns;
    if (r->is_over)
        return;
    r->n_events++;
    if (api_read_message(r->api, data, len, &piece)) {
        fail(r, OUTCOME_MALFORMED, RESPONSE_BAD_EVENT,
             "a message that the API does not know");
        return;
    }
    if (piece.has_content)
        keep_message(r, data, len);
    take_piece(r, &piece);
    charge(r);
}

/* ---- the end ---- */

static bool is_far(int64_t got, int64_t asked)
{
    int64_t off = got > asked ? got - asked : asked - got;

    return off > 1 && (double)off > LENGTH_TOLERANCE * (double)asked;
}

/* Events may hold several tokens: few of them do not make it too short. */
static bool has_wrong_length(const struct facts *f)
{
    bool may_be_more = f->token_source == TOKENS_EVENTS;

    if (f->output_tokens == TIME_ABSENT || f->output_asked == TIME_ABSENT ||
        (may_be_more && f->output_tokens < f->output_asked))
        return false;
    return is_far(f->output_tokens, f->output_asked);
}

static void check_length(struct response *r)
{
    const struct facts *f = r->facts;
    char why[80];

    if (!r->api->settings->target.ignore_eos || !has_wrong_length(f))
        return;
    snprintf(why, sizeof(why), "%lld tokens where %lld were forced",
             (long long)f->output_tokens, (long long)f->output_asked);
    fail(r, OUTCOME_MALFORMED, RESPONSE_WRONG_LENGTH, why);
}

/* What its events come to. */
static void judge_stream(struct response *r)
{
    bool has_end = r->api->ops->terminator || r->api->ops->ends_with_piece ||
                   r->awaits_last;

    if (r->n_events == 0)
        fail(r, OUTCOME_EMPTY, RESPONSE_NO_EVENTS, "a stream without an event");
    else if (has_end && !r->is_over)
        fail(r, OUTCOME_TRUNCATED, RESPONSE_NO_TERMINATOR,
             "the stream ended without its terminator");
    else if (r->facts->events == 0)
        fail(r, OUTCOME_EMPTY, RESPONSE_NO_CONTENT, "a stream without content");
}

static void finish_stream(struct response *r)
{
    r->is_ending = true;
    sse_finish(&r->sse);
    judge_stream(r);
}

/* An answer in one piece has its content when its last byte is there. */
static void take_whole(struct response *r, struct piece *p)
{
    check_counts(&p->usage);
    r->facts->first = r->now_ns;
    r->facts->last = r->now_ns;
    take_usage(r, p);
    keep_text(r, p);
    r->facts->finish = p->finish;
    if (!p->has_content)
        fail(r, OUTCOME_EMPTY, RESPONSE_NO_CONTENT,
             "an answer without content");
}

static void finish_whole(struct response *r)
{
    struct piece piece = piece_none();
    int rc = api_read_whole(r->api, &r->head, buf_text(&r->body), r->body.len,
                            &piece);

    if (!r->is_starved)
        r->outcome = OUTCOME_OK; /* whatever events of a mislabelled one say */
    r->is_over = false;
    if (rc == 0 && piece.is_error)
        take_error(r, &piece, RESPONSE_ERROR_BODY);
    else if (r->api->must_stream)
        fail(r, OUTCOME_MALFORMED, RESPONSE_NOT_A_STREAM,
             "a stream was asked for, and this is no text/event-stream");
    else if (rc && r->body.len == 0)
        fail(r, OUTCOME_EMPTY, RESPONSE_NO_CONTENT, "an answer without a body");
    else if (rc)
        fail(r, OUTCOME_MALFORMED, RESPONSE_BAD_BODY,
             "an answer that the API does not know");
    else
        take_whole(r, &piece);
}

/* Which sample it was, is known again by its place. */
static void find_label(struct response *r, struct check_answer *answer)
{
    if (!checks_need_label(&r->api->checks))
        return;
    buf_reset(&r->label);
    sample_add_label(&r->api->sampler, request_key(r->facts), &r->label);
    answer->label = buf_text(&r->label);
    answer->label_len = r->label.len;
}

static bool find_tensor(void *arg, const char *name,
                        struct check_tensor *tensor)
{
    struct response *r = arg;

    buf_reset(&r->room);
    return r->api->ops->find_tensor(buf_text(&r->body), r->body.len, name,
                                    tensor, &r->room);
}

/* A stream has no body but what its content comes to. */
static bool is_right(struct response *r)
{
    bool has_raw =
        r->head.json_len >= 0 && (size_t)r->head.json_len <= r->body.len;
    size_t json_len = has_raw ? (size_t)r->head.json_len : r->body.len;
    struct check_answer answer = {
        .text = buf_text(&r->text),
        .text_len = r->text.len,
        .body = buf_text(&r->body),
        .body_len = json_len,
        .raw = buf_text(&r->body) + json_len,
        .raw_len = r->body.len - json_len,
        .output_tokens = r->facts->output_tokens,
    };

    if (r->body.len == 0) {
        answer.body = answer.text;
        answer.body_len = answer.text_len;
    }
    if (r->api->ops->find_tensor) {
        answer.find_tensor = find_tensor;
        answer.arg = r;
    }
    find_label(r, &answer);
    return checks_pass(&r->api->checks, &answer);
}

/* Whatever could not be read of a compressed body, that is why. */
static void name_coding(struct response *r)
{
    if (!r->head.coding || r->is_starved || r->outcome == OUTCOME_OK ||
        r->outcome == OUTCOME_STATUS)
        return;
    r->outcome = OUTCOME_MALFORMED;
    r->detail = RESPONSE_BAD_BODY;
    snprintf(r->why, sizeof(r->why),
             "the answer is compressed (%s), which is not read",
             r->head.coding);
}

/* It takes what the API's answer comes to, once it is known to be whole. */
static const char *conclude(struct response *r)
{
    struct facts *f = r->facts;

    name_coding(r);
    response_count_tokens(r);
    check_length(r);
    f->end = r->is_over ? r->over_ns : r->now_ns;
    f->outcome = r->outcome;
    f->detail = r->detail;
    if (r->outcome == OUTCOME_OK && r->api->checks.len > 0)
        f->check = is_right(r) ? CHECK_PASSED : CHECK_FAILED;
    return r->outcome == OUTCOME_OK ? NULL : r->why;
}

/* On one line. */
static void put_text(char *out, size_t size, struct jtext text)
{
    size_t len = text.len < size ? text.len : size - 1;

    for (size_t i = 0; i < len; i++)
        out[i] = (char)(strchr("\r\n\t", text.at[i]) ? ' ' : text.at[i]);
    printable(out, len, "");
    while (len > 0 && out[len - 1] == ' ')
        len--;
    out[len] = '\0';
}

/* The status, and why, if the body says so. */
static void finish_refused(struct response *r, int status)
{
    char reason[MAX_REASON];
    char why[sizeof(r->why)];

    if (r->head.coding)
        snprintf(reason, sizeof(reason), "the body is compressed (%s)",
                 r->head.coding);
    else
        put_text(reason, sizeof(reason),
                 api_find_reason(buf_text(&r->body), r->body.len));
    snprintf(why, sizeof(why), "HTTP status %d%s%s", status,
             reason[0] ? ": " : "", reason);
    fail(r, OUTCOME_STATUS, status, why);
    r->facts->first = r->now_ns;
    r->facts->last = r->now_ns;
}

const char *response_finish(struct response *r, int status, int64_t now_ns)
{
    r->now_ns = now_ns;
    if (!statuses_have(&r->api->success, status)) {
        finish_refused(r, status);
    } else if (is_stream(r, status)) {
        finish_stream(r);
    } else {
        finish_whole(r);
    }
    charge(r);
    return conclude(r);
}

const char *response_break(struct response *r, const char *why)
{
    if (r->is_starved)
        return conclude(r);
    if (r->is_over && r->head.is_event_stream) {
        judge_stream(r);
        return conclude(r);
    }
    response_count_tokens(r);
    return why;
}

struct content_event response_event(const struct response *r, size_t i)
{
    const struct response_event *event = &response_events(r)[i];

    return (struct content_event){
        .seq = r->facts->seq,
        .due = r->facts->due,
        .at_us = r->facts->first / NS_PER_US + event->after_us,
        .tokens = event->tokens,
    };
}

/* ---- its own beginning and end ---- */

static void make_parts(struct response *r)
{
    sse_init(&r->sse, MAX_EVENT, on_event, r);
    buf_init(&r->body, (size_t)r->api->settings->target.max_response);
    buf_init(&r->events, MAX_EVENTS * sizeof(struct response_event));
    buf_init(&r->text, MAX_TEXT);
    buf_init(&r->label, MAX_TEXT);
    buf_init(&r->room, (size_t)r->api->settings->target.max_response);
    r->is_ready = true;
}

/* Everything but the memory starts anew. */
void response_begin(struct response *r, const struct api *api,
                    struct facts *facts)
{
    r->api = api;
    if (!r->is_ready)
        make_parts(r);
    sse_begin(&r->sse);
    buf_reset(&r->body);
    buf_reset(&r->events);
    buf_reset(&r->text);
    *r = (struct response){
        .api = api,
        .facts = facts,
        .is_ready = true,
        .head = {.json_len = -1},
        .sse = r->sse,
        .body = r->body,
        .events = r->events,
        .text = r->text,
        .label = r->label,
        .room = r->room,
        .charged = r->charged,
        .usage = piece_none().usage,
        .is_counted = true,
    };
}

void response_fini(struct response *r)
{
    if (!r->is_ready)
        return;
    sse_fini(&r->sse);
    buf_fini(&r->body);
    buf_fini(&r->events);
    buf_fini(&r->text);
    buf_fini(&r->label);
    buf_fini(&r->room);
    budget_give(r->charged);
    r->charged = 0;
    r->is_ready = false;
}

void response_release(struct response *r)
{
    if (r->is_starved || budget_is_tight())
        response_fini(r);
}
