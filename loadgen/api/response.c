#include "loadgen/api/response.h"

#include <stdio.h>
#include <stdlib.h>
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

/* Longest reason of a server that is kept; a report has no room for more. */
#define MAX_REASON 101

/* A forced length may be off by this share, or by one token. */
#define LENGTH_TOLERANCE 0.1

/* A text this long that repeats the last one does so not by chance. */
#define LONG_TEXT 8

static void fail(struct response *r, enum outcome outcome, int64_t detail,
                 const char *why)
{
    if (r->outcome != OUTCOME_OK)
        return;
    r->outcome = outcome;
    r->detail = detail;
    snprintf(r->why, sizeof(r->why), "%s", why);
}

static void set_over(struct response *r)
{
    if (r->is_over)
        return;
    r->is_over = true;
    r->over_ns = r->now_ns;
}

/* ---- memory ---- */

/* Called after the buffers may have grown.  Capacity that was not written to
 * costs no memory yet, so the budget is exceeded by one read at most. */
static void charge(struct response *r)
{
    size_t used = r->sse.line.cap + r->sse.data.cap + r->sse.name.cap +
                  r->body.cap + r->events.cap + r->text.cap + r->label.cap +
                  r->room.cap;
    int64_t grown = (int64_t)used - r->charged;

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

/* ---- contents of events ---- */

static void take_number(int64_t *to, int64_t from)
{
    if (from != TIME_ABSENT)
        *to = from;
}

/* Impossible counts, below 0 or far too large, count as absent. */
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

/* The number of tokens of a content event, including those before it that had
 * no text, such as the first parts of a character; 0: not known. */
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

static void add_content(struct response *r, const struct piece *p)
{
    struct facts *f = r->facts;
    int64_t tokens = tokens_of(r, p);
    struct response_event event = {.tokens = (uint32_t)tokens};

    if (f->events == 0)
        f->first = r->now_ns;
    event.after_us = r->now_ns / NS_PER_US - f->first / NS_PER_US;
    if (buf_add(&r->events, &event, sizeof(event))) {
        fail(r, OUTCOME_MALFORMED, RESPONSE_MANY_EVENTS, "too many events");
        return;
    }
    if (f->events > 0) {
        int64_t gap_ns = r->now_ns - f->last;

        if (f->stall == TIME_ABSENT || gap_ns > f->stall)
            f->stall = gap_ns;
        f->coalesced += gap_ns == 0;
    }
    if (tokens == 0)
        r->is_counted = false;
    f->last = r->now_ns;
    f->events++;
    r->has_final_usage = false; /* an earlier one was not the last */
    r->shows_reasoning |= p->is_reasoning;
}

/* Is the text all text so far?  In a cumulative stream every text begins with
 * the one before; only the last may be shorter, without its stop string.  A
 * text may grow by chance ("\n", "\n\n"), so if the API does not say that texts
 * are cumulative, it takes two texts that grew, or one after a long text. */
static bool is_cumulative(struct cumulative *c, const struct piece *p)
{
    size_t len = p->text.len;
    size_t shared = len < c->len ? len : c->len;

    if (c->is_not || len == 0)
        return p->is_cumulative && !c->is_not;
    if (shared > sizeof(c->head))
        shared = sizeof(c->head);
    if (memcmp(p->text.at, c->head, shared) != 0 ||
        (len < c->len && !p->finish)) {
        c->is_not = true;
        return false;
    }
    if (c->len > 0 && len > c->len)
        c->growths += c->len >= LONG_TEXT ? 2 : 1;
    if (c->len < sizeof(c->head))
        memcpy(c->head, p->text.at,
               len < sizeof(c->head) ? len : sizeof(c->head));
    c->len = len;
    return p->is_cumulative || c->growths > 1;
}

static void keep_text(struct response *r, const struct piece *p)
{
    if (!r->api->keeps_text || p->text.len == 0)
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
         text[0] ? text : "an error in the answer, without a message");
    set_over(r);
}

static void take_piece(struct response *r, struct piece *p)
{
    size_t before = r->cumulative.len;

    check_counts(&p->usage);
    if (p->is_error) {
        take_error(r, p, RESPONSE_ERROR_EVENT);
        return;
    }
    if (p->may_be_cumulative)
        p->is_cumulative = is_cumulative(&r->cumulative, p);
    if (p->is_cumulative ? p->text.len > before : p->has_content)
        add_content(r, p);
    else if (p->ids != TIME_ABSENT)
        r->silent_ids += p->ids;
    keep_text(r, p);
    take_usage(r, p);
    if (p->finish)
        r->facts->finish = p->finish;
    r->awaits_last = p->is_not_last;
    if (p->is_last)
        set_over(r);
}

static void take_unreadable(struct response *r, const struct sse_event *e)
{
    struct piece error = {.is_error = true, .error = {e->data, e->len, false}};
    struct jscan s;

    jscan_init(&s, e->data, e->len);
    if (r->is_ending)
        fail(r, OUTCOME_TRUNCATED, RESPONSE_NO_TERMINATOR,
             "the stream ended inside an event");
    else if (e->name_len == 5 && memcmp(e->name, "error", 5) == 0)
        take_error(r, &error, RESPONSE_ERROR_EVENT);
    else
        fail(r, OUTCOME_MALFORMED, RESPONSE_BAD_EVENT,
             jscan_skip(&s) && jscan_end(&s)
                 ? "an event that does not fit the API"
                 : "an event that is not valid JSON");
}

static void on_event(void *arg, const struct sse_event *e)
{
    struct response *r = arg;
    struct facts *f = r->facts;
    const char *end = r->api->ops->terminator;
    struct piece piece = piece_none();

    /* Some servers send keep-alives as data, not as comments. */
    if (r->is_over || e->len == 0 || e->data[0] == ':')
        return;
    if (r->n_events++ == 0)
        f->opened = r->now_ns;
    if (end && e->len == strlen(end) && memcmp(e->data, end, e->len) == 0) {
        set_over(r);
        return;
    }
    f->closing = r->now_ns;
    if (api_read_event(r->api, e->data, e->len, &piece)) {
        take_unreadable(r, e);
        return;
    }
    if (piece.has_choices) {
        if (f->choices++ == 0)
            f->choices_first = r->now_ns;
        f->choices_last = r->now_ns;
    }
    take_piece(r, &piece);
}

/* ---- bytes ---- */

static bool is_stream(const struct response *r, int status)
{
    return r->api->streams && r->head.is_event_stream &&
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

/* The name of a known coding; NULL: the body is not compressed. */
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

/* If a stream was requested and the content type is another one, the request
 * fails, but its events are read, since other tools ignore the type. */
void response_take(struct response *r, int status, int64_t now_ns,
                   const char *data, size_t len)
{
    bool streams = is_stream(r, status);
    bool is_mislabelled = r->api->must_stream && !r->head.is_event_stream &&
                          statuses_have(&r->api->success, status);

    r->now_ns = now_ns;
    if (!streams)
        buf_add(&r->body, data, len);
    if ((streams || is_mislabelled) && sse_feed(&r->sse, data, len))
        fail(r, OUTCOME_MALFORMED, RESPONSE_LONG_EVENT, "an event is too long");
    charge(r);
}

void response_expect_messages(struct response *r)
{
    r->head.is_event_stream = true;
}

void response_message(struct response *r, int64_t now_ns, const char *data,
                      size_t len)
{
    struct piece piece = piece_none();

    r->now_ns = now_ns;
    if (r->is_over)
        return;
    r->n_events++;
    if (r->api->ops->read_message(r->api, data, len, &piece)) {
        fail(r, OUTCOME_MALFORMED, RESPONSE_BAD_EVENT,
             "a message that does not fit the API");
        return;
    }
    if (piece.has_content && r->api->keeps_text) { /* checks use the last one */
        buf_reset(&r->body);
        buf_add(&r->body, data, len);
    }
    take_piece(r, &piece);
    charge(r);
}

/* ---- tokens ---- */

static void count_tokens(struct response *r)
{
    struct facts *f = r->facts;
    struct response_event *events = response_events(r);
    bool hides_reasoning =
        r->usage.reasoning != TIME_ABSENT && !r->shows_reasoning;
    int64_t shown;
    int64_t given;

    f->prompt_tokens = r->usage.prompt;
    f->cached_tokens = r->usage.cached;
    f->reasoning_tokens = r->usage.reasoning;
    if (r->usage.output != TIME_ABSENT) {
        f->output_tokens = r->usage.output;
        f->token_source =
            r->has_final_usage ? TOKENS_USAGE : TOKENS_CHUNK_USAGE;
    } else if (f->events > 0 && r->is_counted) {
        f->output_tokens = r->counted + r->silent_ids;
        f->token_source = r->source;
    } else if (f->events > 0) {
        f->output_tokens = f->events;
        f->token_source = TOKENS_EVENTS;
    }
    if (f->events == 0)
        return;
    f->is_split = r->is_counted;
    f->event_tokens = r->counted;
    if (!f->is_split) {
        shown = f->output_tokens - (hides_reasoning ? r->usage.reasoning : 0);
        f->event_tokens = shown > 0 ? shown : 0;
        /* The first event gets one token, the others share the rest. */
        given = f->events > 1 ? 1 : f->event_tokens;
        events[0].tokens = (uint32_t)given;
        for (int64_t i = 1; i < f->events; i++) {
            int64_t until = 1 + (f->event_tokens - 1) * i / (f->events - 1);

            events[i].tokens = (uint32_t)(until > given ? until - given : 0);
            given = until > given ? until : given;
        }
    }
    f->first_tokens = events[0].tokens;
}

/* ---- the end ---- */

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

static void finish_whole(struct response *r)
{
    struct piece piece = piece_none();
    int rc = api_read_whole(r->api, &r->head, buf_text(&r->body), r->body.len,
                            &piece);

    if (!r->is_starved)
        r->outcome = OUTCOME_OK; /* forget events of a mislabelled stream */
    r->is_over = false;
    if (rc == 0 && piece.is_error)
        take_error(r, &piece, RESPONSE_ERROR_BODY);
    else if (r->api->must_stream)
        fail(r, OUTCOME_MALFORMED, RESPONSE_NOT_A_STREAM,
             "expected a stream of events (text/event-stream), got another "
             "answer");
    else if (rc && r->body.len == 0)
        fail(r, OUTCOME_EMPTY, RESPONSE_NO_CONTENT, "an answer without a body");
    else if (rc)
        fail(r, OUTCOME_MALFORMED, RESPONSE_BAD_BODY,
             "an answer that does not fit the API");
    else if (!piece.has_content)
        fail(r, OUTCOME_EMPTY, RESPONSE_NO_CONTENT,
             "an answer without content");
    if (rc || piece.is_error || r->api->must_stream)
        return;
    check_counts(&piece.usage);
    r->facts->first = r->now_ns;
    r->facts->last = r->now_ns;
    take_usage(r, &piece);
    keep_text(r, &piece);
    r->facts->finish = piece.finish;
}

static bool find_tensor(void *arg, const char *name,
                        struct check_tensor *tensor)
{
    struct response *r = arg;

    buf_reset(&r->room);
    return r->api->ops->find_tensor(buf_text(&r->body), r->body.len, name,
                                    tensor, &r->room);
}

/* The content of a stream stands for its body. */
static bool passes_checks(struct response *r)
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
    if (checks_need_label(&r->api->checks)) {
        buf_reset(&r->label);
        sample_add_label(&r->api->sampler, request_key(r->facts), &r->label);
        answer.label = buf_text(&r->label);
        answer.label_len = r->label.len;
    }
    return checks_pass(&r->api->checks, &answer);
}

/* Complete the facts.  If a compressed body could not be read, the compression
 * is the reason. */
static const char *conclude(struct response *r)
{
    struct facts *f = r->facts;
    int64_t off;
    char why[80];

    if (r->head.coding && !r->is_starved && r->outcome != OUTCOME_OK &&
        r->outcome != OUTCOME_STATUS) {
        r->outcome = OUTCOME_MALFORMED;
        r->detail = RESPONSE_BAD_BODY;
        snprintf(r->why, sizeof(r->why),
                 "the answer is compressed (%s), which is not supported",
                 r->head.coding);
    }
    count_tokens(r);
    /* With target.ignore_eos the length is forced.  An event may hold several
     * tokens, so that few events do not mean that the answer is too short. */
    if (r->api->settings->target.ignore_eos &&
        f->output_tokens != TIME_ABSENT && f->output_asked != TIME_ABSENT &&
        !(f->token_source == TOKENS_EVENTS &&
          f->output_tokens < f->output_asked)) {
        off = llabs(f->output_tokens - f->output_asked);
        if (off > 1 &&
            (double)off > LENGTH_TOLERANCE * (double)f->output_asked) {
            snprintf(why, sizeof(why), "%lld tokens instead of the %lld forced",
                     (long long)f->output_tokens, (long long)f->output_asked);
            fail(r, OUTCOME_MALFORMED, RESPONSE_WRONG_LENGTH, why);
        }
    }
    f->end = r->is_over ? r->over_ns : r->now_ns;
    f->outcome = r->outcome;
    f->detail = r->detail;
    if (r->outcome == OUTCOME_OK && r->api->checks.len > 0)
        f->check = passes_checks(r) ? CHECK_PASSED : CHECK_FAILED;
    return r->outcome == OUTCOME_OK ? NULL : r->why;
}

/* The status, with the reason, in one line, if the body gives one. */
static void finish_refused(struct response *r, int status)
{
    struct jtext text;
    char reason[MAX_REASON];
    char why[sizeof(r->why)];
    size_t len;

    if (r->head.coding) {
        snprintf(reason, sizeof(reason), "the body is compressed (%s)",
                 r->head.coding);
    } else {
        text = api_find_reason(buf_text(&r->body), r->body.len);
        len = text.len < sizeof(reason) ? text.len : sizeof(reason) - 1;
        for (size_t i = 0; i < len; i++)
            reason[i] = (char)(strchr("\r\n\t", text.at[i]) ? ' ' : text.at[i]);
        printable(reason, len, "");
        while (len > 0 && reason[len - 1] == ' ')
            len--;
        reason[len] = '\0';
    }
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
        r->is_ending = true;
        sse_finish(&r->sse);
        judge_stream(r);
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
    count_tokens(r);
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

/* ---- construction and destruction ---- */

/* Everything but the buffers is reset. */
void response_begin(struct response *r, const struct api *api,
                    struct facts *facts)
{
    if (!r->is_ready) {
        sse_init(&r->sse, MAX_EVENT, on_event, r);
        buf_init(&r->body, (size_t)api->settings->target.max_response);
        buf_init(&r->events, MAX_EVENTS * sizeof(struct response_event));
        buf_init(&r->text, MAX_TEXT);
        buf_init(&r->label, MAX_TEXT);
        buf_init(&r->room, (size_t)api->settings->target.max_response);
    }
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
