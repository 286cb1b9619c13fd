#include "loadgen/answer.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/clk.h"
#include "common/settings.h"

#define MAX_EVENT  ((size_t)4 << 20)
#define MAX_EVENTS ((size_t)1 << 24)
#define MAX_TEXT   ((size_t)16 << 20)

/* A length that was forced may be off by so much, or by one token. */
#define LENGTH_TOLERANCE 0.1

static void fail(struct answer *a, enum outcome outcome, int64_t detail,
                 const char *why)
{
    if (a->outcome != OUTCOME_OK)
        return;
    a->outcome = outcome;
    a->detail = detail;
    snprintf(a->why, sizeof(a->why), "%s", why);
}

static void be_over(struct answer *a)
{
    if (a->is_over)
        return;
    a->is_over = true;
    a->over_ns = a->now_ns;
}

/* ---- what the events say ---- */

static void take_number(int64_t *to, int64_t from)
{
    if (from != TIME_ABSENT)
        *to = from;
}

static void take_usage(struct answer *a, const struct piece *p)
{
    take_number(&a->usage.prompt, p->usage.prompt);
    take_number(&a->usage.output, p->usage.output);
    take_number(&a->usage.cached, p->usage.cached);
    take_number(&a->usage.reasoning, p->usage.reasoning);
    if (p->usage.output != TIME_ABSENT && (!p->has_content || p->finish))
        a->has_final_usage = true;
}

/* How many tokens a content event has; 0: it does not say. */
static int64_t tokens_of(struct answer *a, const struct piece *p)
{
    if (p->usage.output != TIME_ABSENT) {
        int64_t before = a->counted;

        a->source = TOKENS_CHUNK_USAGE;
        a->counted = p->usage.output;
        return a->counted > before ? a->counted - before : 0;
    }
    if (p->ids == TIME_ABSENT)
        return 0;
    a->source = TOKENS_IDS;
    a->counted += p->ids;
    return p->ids;
}

static void note_gap(struct facts *f, int64_t gap_ns)
{
    if (f->stall == TIME_ABSENT || gap_ns > f->stall)
        f->stall = gap_ns;
}

static void add_content(struct answer *a, const struct piece *p)
{
    struct facts *f = a->facts;
    struct answer_event event = {0};
    int64_t tokens = tokens_of(a, p);

    if (f->events == 0) {
        f->first = a->now_ns;
    } else {
        note_gap(f, a->now_ns - f->last);
        f->coalesced += a->now_ns == f->last;
    }
    if (tokens == 0)
        a->is_counted = false;
    event.after_us = (uint32_t)(a->now_ns / NS_PER_US - f->first / NS_PER_US);
    event.tokens = (uint32_t)tokens;
    buf_add(&a->events, &event, sizeof(event));
    f->last = a->now_ns;
    f->events++;
    a->shows_reasoning |= p->is_reasoning;
}

/* Text that is told from its beginning each time is new if it has grown. */
static bool is_new(struct answer *a, const struct piece *p)
{
    bool has_grown = p->text.len > a->text_len;

    if (!p->is_cumulative)
        return p->has_content;
    a->text_len = p->text.len;
    return has_grown;
}

static void keep_text(struct answer *a, const struct piece *p)
{
    if (!a->api->keeps_text || !p->text.at || p->is_reasoning)
        return;
    if (p->is_cumulative)
        buf_reset(&a->text);
    jtext_decode(p->text, &a->text);
}

static void take_error(struct answer *a, const struct piece *p,
                       enum answer_detail detail)
{
    char text[sizeof(a->why)];
    size_t len = p->error.at ? p->error.len : 0;

    snprintf(text, sizeof(text), "%.*s",
             (int)(len < sizeof(text) ? len : sizeof(text) - 1),
             len > 0 ? p->error.at : "");
    fail(a, OUTCOME_INBAND, detail,
         text[0] ? text : "an error in the answer, without a text");
    be_over(a);
}

static void take_piece(struct answer *a, const struct piece *p)
{
    if (p->is_error) {
        take_error(a, p, ANSWER_ERROR_EVENT);
        return;
    }
    if (is_new(a, p)) {
        add_content(a, p);
        keep_text(a, p);
    }
    take_usage(a, p);
    if (p->finish)
        a->facts->finish = p->finish;
    if (p->is_last)
        be_over(a);
}

static bool is_terminator(const struct answer *a, const struct sse_event *e)
{
    const char *end = a->api->ops->terminator;

    return end && e->len == strlen(end) && memcmp(e->data, end, e->len) == 0;
}

/* Some servers send them as data, not as comments. */
static bool is_keep_alive(const struct sse_event *e)
{
    return e->len == 0 || e->data[0] == ':';
}

static void on_event(void *arg, const struct sse_event *e)
{
    struct answer *a = arg;
    struct piece piece = piece_none();

    if (a->is_over || is_keep_alive(e))
        return;
    a->n_events++;
    if (is_terminator(a, e))
        be_over(a);
    else if (a->api->ops->read_event(a->api, e->data, e->len, &piece))
        fail(a, OUTCOME_MALFORMED, ANSWER_BAD_EVENT,
             "an event that the API does not know");
    else
        take_piece(a, &piece);
}

/* ---- bytes ---- */

static bool is_success(int status)
{
    return status >= 200 && status < 300;
}

static bool is_stream(const struct answer *a, int status)
{
    return a->api->streams && a->head.is_event_stream && is_success(status);
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

void answer_header(struct answer *a, const char *name, size_t name_len,
                   const char *value, size_t value_len)
{
    static const char stream[] = "text/event-stream";
    const size_t len = sizeof(stream) - 1;

    if (is_name(name, name_len, "content-type"))
        a->head.is_event_stream =
            value_len >= len && strncasecmp(value, stream, len) == 0;
    else if (is_name(name, name_len, "inference-header-content-length"))
        a->head.json_len = read_number(value, value_len);
}

void answer_take(struct answer *a, int status, int64_t now_ns, const char *data,
                 size_t len)
{
    a->now_ns = now_ns;
    if (!is_stream(a, status))
        buf_add(&a->body, data, len);
    else if (sse_feed(&a->sse, data, len))
        fail(a, OUTCOME_MALFORMED, ANSWER_LONG_EVENT,
             "an event that is too long");
}

/* ---- the end ---- */

static struct answer_event *events_of(const struct answer *a)
{
    return (struct answer_event *)(void *)a->events.data;
}

/* Nobody says how many tokens an event has: the first has one, the others the
 * rest in equal parts. */
static void spread_tokens(const struct answer *a, int64_t tokens)
{
    struct answer_event *events = events_of(a);
    int64_t n = a->facts->events;
    int64_t given = n > 1 ? 1 : tokens;

    events[0].tokens = (uint32_t)given;
    for (int64_t i = 1; i < n; i++) {
        int64_t until = 1 + (tokens - 1) * i / (n - 1);

        events[i].tokens = (uint32_t)(until > given ? until - given : 0);
        given = until > given ? until : given;
    }
}

/* Those that come in content events: not what was thought and not shown. */
static int64_t delivered_of(const struct answer *a, int64_t output)
{
    bool hides = a->usage.reasoning != TIME_ABSENT && !a->shows_reasoning;
    int64_t shown = hides ? output - a->usage.reasoning : output;

    return shown > 0 ? shown : 0;
}

static void count_output(struct answer *a)
{
    struct facts *f = a->facts;
    bool is_counted = f->events > 0 && a->is_counted;

    if (a->usage.output != TIME_ABSENT) {
        f->output_tokens = a->usage.output;
        f->token_source =
            a->has_final_usage ? TOKENS_USAGE : TOKENS_CHUNK_USAGE;
    } else if (is_counted) {
        f->output_tokens = a->counted;
        f->token_source = a->source;
    } else if (f->events > 0) {
        f->output_tokens = f->events;
        f->token_source = TOKENS_EVENTS;
    }
}

static void split_tokens(struct answer *a)
{
    struct facts *f = a->facts;

    if (f->events == 0)
        return;
    f->is_split = a->is_counted;
    if (f->is_split)
        f->event_tokens = a->counted;
    else {
        f->event_tokens = delivered_of(a, f->output_tokens);
        spread_tokens(a, f->event_tokens);
    }
    f->first_tokens = events_of(a)[0].tokens;
}

static void complete_tokens(struct answer *a)
{
    struct facts *f = a->facts;

    f->prompt_tokens = a->usage.prompt;
    f->cached_tokens = a->usage.cached;
    f->reasoning_tokens = a->usage.reasoning;
    count_output(a);
    split_tokens(a);
}

static bool is_far(int64_t got, int64_t asked)
{
    int64_t off = got > asked ? got - asked : asked - got;

    return off > 1 && (double)off > LENGTH_TOLERANCE * (double)asked;
}

static void check_length(struct answer *a)
{
    const struct facts *f = a->facts;
    char why[64];

    if (!a->api->settings->target.ignore_eos ||
        f->output_tokens == TIME_ABSENT || f->output_asked == TIME_ABSENT ||
        !is_far(f->output_tokens, f->output_asked))
        return;
    snprintf(why, sizeof(why), "%lld tokens where %lld were forced",
             (long long)f->output_tokens, (long long)f->output_asked);
    fail(a, OUTCOME_MALFORMED, ANSWER_WRONG_LENGTH, why);
}

static void finish_stream(struct answer *a)
{
    bool has_end = a->api->ops->terminator || a->api->ops->ends_with_piece;

    sse_finish(&a->sse);
    if (a->n_events == 0)
        fail(a, OUTCOME_EMPTY, ANSWER_NO_EVENTS, "a stream without an event");
    else if (has_end && !a->is_over)
        fail(a, OUTCOME_TRUNCATED, ANSWER_NO_TERMINATOR,
             "the stream ended without its terminator");
    else if (a->facts->events == 0)
        fail(a, OUTCOME_EMPTY, ANSWER_NO_CONTENT, "a stream without content");
}

/* An answer in one piece has its content when its last byte is there. */
static void take_whole(struct answer *a, const struct piece *p)
{
    a->facts->first = a->now_ns;
    a->facts->last = a->now_ns;
    take_usage(a, p);
    keep_text(a, p);
    a->facts->finish = p->finish;
    if (!p->has_content)
        fail(a, OUTCOME_EMPTY, ANSWER_NO_CONTENT, "an answer without content");
}

static void finish_whole(struct answer *a)
{
    const struct api_ops *ops = a->api->ops;
    struct piece piece = piece_none();
    int rc = ops->read_whole(a->api, &a->head, buf_text(&a->body), a->body.len,
                             &piece);

    if (rc == 0 && piece.is_error)
        take_error(a, &piece, ANSWER_ERROR_BODY);
    else if (a->api->must_stream)
        fail(a, OUTCOME_MALFORMED, ANSWER_NOT_A_STREAM,
             "a stream was asked for, and this is no text/event-stream");
    else if (rc)
        fail(a, OUTCOME_MALFORMED, ANSWER_BAD_BODY,
             "an answer that the API does not know");
    else
        take_whole(a, &piece);
}

/* It takes what the API's answer comes to, once it is known to be whole. */
static const char *conclude(struct answer *a)
{
    struct facts *f = a->facts;

    complete_tokens(a);
    check_length(a);
    f->end = a->is_over ? a->over_ns : a->now_ns;
    f->outcome = a->outcome;
    f->detail = a->detail;
    return a->outcome == OUTCOME_OK ? NULL : a->why;
}

const char *answer_finish(struct answer *a, int status, int64_t now_ns)
{
    char why[32];

    a->now_ns = now_ns;
    if (!is_success(status)) {
        snprintf(why, sizeof(why), "HTTP status %d", status);
        fail(a, OUTCOME_STATUS, status, why);
        a->facts->first = now_ns;
        a->facts->last = now_ns;
    } else if (is_stream(a, status)) {
        finish_stream(a);
    } else {
        finish_whole(a);
    }
    return conclude(a);
}

const char *answer_break(struct answer *a, const char *why)
{
    if (a->is_over)
        return conclude(a);
    complete_tokens(a);
    return why;
}

struct content_event answer_event(const struct answer *a, size_t i)
{
    const struct answer_event *event = &events_of(a)[i];

    return (struct content_event){
        .seq = a->facts->seq,
        .due = a->facts->due,
        .at_us = a->facts->first / NS_PER_US + event->after_us,
        .tokens = event->tokens,
    };
}

/* ---- its own beginning and end ---- */

static void make_parts(struct answer *a)
{
    sse_init(&a->sse, MAX_EVENT, on_event, a);
    buf_init(&a->body, (size_t)a->api->settings->target.max_response);
    buf_init(&a->events, MAX_EVENTS * sizeof(struct answer_event));
    buf_init(&a->text, MAX_TEXT);
    a->is_ready = true;
}

/* Everything but the memory starts anew. */
void answer_begin(struct answer *a, const struct api *api, struct facts *facts)
{
    a->api = api;
    if (!a->is_ready)
        make_parts(a);
    sse_begin(&a->sse);
    buf_reset(&a->body);
    buf_reset(&a->events);
    buf_reset(&a->text);
    *a = (struct answer){
        .api = api,
        .facts = facts,
        .is_ready = true,
        .head = {.json_len = -1},
        .sse = a->sse,
        .body = a->body,
        .events = a->events,
        .text = a->text,
        .usage = piece_none().usage,
        .is_counted = true,
    };
}

void answer_fini(struct answer *a)
{
    if (!a->is_ready)
        return;
    sse_fini(&a->sse);
    buf_fini(&a->body);
    buf_fini(&a->events);
    buf_fini(&a->text);
}
