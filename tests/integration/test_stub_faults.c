/* Every fault of the stub, as a client sees it on the wire. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "tests/support/httpget.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"

#define CHAT "/v1/chat/completions"
#define TEXT "/v1/completions"

/* Three tokens, of which the second is the middle. */
#define ASK(more)                                                              \
    "{\"messages\":[{\"role\":\"user\",\"content\":\"oh hi\"}],"               \
    "\"prompt\":\"oh hi\",\"max_tokens\":3" more "}"
#define STREAM                                                                 \
    ASK(",\"stream\":true,\"stream_options\":{\"include_usage\":true}")
#define WHOLE ASK("")

/* Events, without the id, which each answer has its own of. */
#define CHAT_EVENT(choices)                                                    \
    "{\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":\"stub\","  \
    "\"choices\":[" choices "]"
#define DELTA(delta, reason)                                                   \
    CHAT_EVENT("{\"index\":0,\"delta\":" delta ",\"finish_reason\":" reason    \
               "}")                                                            \
    "}"
#define ROLE      DELTA("{\"role\":\"assistant\",\"content\":\"\"}", "null")
#define TOK       DELTA("{\"content\":\" tok\"}", "null")
#define TOK2      DELTA("{\"content\":\" tok tok\"}", "null")
#define TOK_LAST  DELTA("{\"content\":\" tok\"}", "\"length\"")
#define TOK3_LAST DELTA("{\"content\":\" tok tok tok\"}", "\"length\"")
#define COUNTED(completion, total)                                             \
    ",\"usage\":{\"prompt_tokens\":2,\"completion_tokens\":" completion        \
    ",\"total_tokens\":" total "}}"
#define NUMBERS COUNTED("3", "5")
#define USAGE   CHAT_EVENT("") NUMBERS
#define DONE    "[DONE]"
#define FAILURE(message, type, code)                                           \
    "{\"error\":{\"message\":\"" message "\",\"type\":\"" type                 \
    "\",\"param\":null,\"code\":" code "}}"
#define ERROR   FAILURE("the stub was told to fail", "server_error", "500")
#define GARBAGE "{\"choices\": [not JSON"

#define CHAT_WHOLE_HEAD                                                        \
    "{\"object\":\"chat.completion\",\"created\":0,\"model\":\"stub\","        \
    "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","           \
    "\"content\":\" tok tok tok\"},\"finish_reason\":\"length\"}]"
#define TEXT_DELTA(text, reason)                                               \
    "{\"object\":\"text_completion\",\"created\":0,\"model\":\"stub\","        \
    "\"choices\":[{\"index\":0,\"text\":\"" text                               \
    "\",\"finish_reason\":" reason "}]}"
#define TEXT_USAGE                                                             \
    "{\"object\":\"text_completion\",\"created\":0,\"model\":\"stub\","        \
    "\"choices\":[]" NUMBERS
#define PLAIN               "{\"pad\":\"xxxxxxxxxxxxxxxxxxxxxx\"}"
#define REFUSED(type, code) FAILURE("refused by the stub", type, code)

struct wire {
    const char *fault; /* NULL: none */
    const char *path;
    const char *body;
    int status;
    enum http_end end;
    const char *events[8]; /* of a stream; else [0] is the body */
};

static const struct wire wires[] = {
    {NULL,
     CHAT,
     STREAM,
     200,
     HTTP_WHOLE,
     {ROLE, TOK, TOK, TOK_LAST, USAGE, DONE}},
    {"status=418",
     CHAT,
     STREAM,
     418,
     HTTP_WHOLE,
     {REFUSED("invalid_request_error", "418")}},
    {"inband", CHAT, STREAM, 200, HTTP_WHOLE, {ROLE, TOK, TOK, ERROR}},
    {"reset", CHAT, STREAM, 200, HTTP_RESET, {ROLE, TOK, TOK}},
    {"hang=250ms",
     CHAT,
     STREAM,
     200,
     HTTP_WHOLE,
     {ROLE, TOK, TOK, TOK_LAST, USAGE, DONE}},
    {"truncated", CHAT, STREAM, 200, HTTP_CUT, {ROLE, TOK, TOK}},
    {"malformed",
     CHAT,
     STREAM,
     200,
     HTTP_WHOLE,
     {ROLE, TOK, TOK, GARBAGE, TOK_LAST, USAGE, DONE}},
    {"empty", CHAT, STREAM, 200, HTTP_WHOLE, {USAGE, DONE}},
    {"double-done",
     CHAT,
     STREAM,
     200,
     HTTP_WHOLE,
     {ROLE, TOK, TOK, TOK_LAST, USAGE, DONE, DONE}},
    {"no-done",
     CHAT,
     STREAM,
     200,
     HTTP_WHOLE,
     {ROLE, TOK, TOK, TOK_LAST, USAGE}},
    {"role-first",
     CHAT,
     STREAM,
     200,
     HTTP_WHOLE,
     {ROLE, TOK, TOK, TOK_LAST, USAGE, DONE}},
    {"bundle=2",
     CHAT,
     STREAM,
     200,
     HTTP_WHOLE,
     {ROLE, TOK2, TOK_LAST, USAGE, DONE}},
    {"bundle=8", CHAT, STREAM, 200, HTTP_WHOLE, {ROLE, TOK3_LAST, USAGE, DONE}},
    {"burst",
     CHAT,
     STREAM,
     200,
     HTTP_WHOLE,
     {ROLE, TOK, TOK, TOK_LAST, USAGE, DONE}},
    {"coalesced=2",
     CHAT,
     STREAM,
     200,
     HTTP_WHOLE,
     {ROLE, TOK, TOK, TOK_LAST, USAGE, DONE}},
    {"no-events", CHAT, STREAM, 200, HTTP_WHOLE, {NULL}},
    {"wrong-type", CHAT, STREAM, 200, HTTP_WHOLE, {ERROR}},
    {"endless=1MiB", TEXT, STREAM, 200, HTTP_WHOLE, {NULL}},
    {"wrong-finish",
     CHAT,
     STREAM,
     200,
     HTTP_WHOLE,
     {ROLE, TOK, TOK, DELTA("{\"content\":\" tok\"}", "\"abort\""), USAGE,
      DONE}},
    {"wrong-usage=7",
     CHAT,
     STREAM,
     200,
     HTTP_WHOLE,
     {ROLE, TOK, TOK, TOK_LAST, CHAT_EVENT("") COUNTED("10", "12"), DONE}},
    {"length=2",
     CHAT,
     STREAM,
     200,
     HTTP_WHOLE,
     {ROLE, TOK, DELTA("{\"content\":\" tok\"}", "\"stop\""),
      CHAT_EVENT("") COUNTED("2", "4"), DONE}},
    {"no-usage",
     CHAT,
     STREAM,
     200,
     HTTP_WHOLE,
     {ROLE, TOK, TOK, TOK_LAST, DONE}},

    {NULL, CHAT, WHOLE, 200, HTTP_WHOLE, {CHAT_WHOLE_HEAD NUMBERS}},
    {"status=500",
     CHAT,
     WHOLE,
     500,
     HTTP_WHOLE,
     {REFUSED("server_error", "500")}},
    {"inband", CHAT, WHOLE, 200, HTTP_WHOLE, {ERROR}},
    {"reset", CHAT, WHOLE, 0, HTTP_RESET, {NULL}},
    {"hang=250ms", CHAT, WHOLE, 200, HTTP_WHOLE, {CHAT_WHOLE_HEAD NUMBERS}},
    {"truncated", CHAT, WHOLE, 200, HTTP_CUT, {NULL}},
    {"malformed", CHAT, WHOLE, 0, HTTP_NOT_HTTP, {NULL}},
    {"empty", CHAT, WHOLE, 200, HTTP_WHOLE, {""}},
    {"no-usage", CHAT, WHOLE, 200, HTTP_WHOLE, {CHAT_WHOLE_HEAD "}"}},

    {NULL,
     TEXT,
     STREAM,
     200,
     HTTP_WHOLE,
     {TEXT_DELTA(" tok", "null"), TEXT_DELTA(" tok", "null"),
      TEXT_DELTA(" tok", "\"length\""), TEXT_USAGE, DONE}},
    {"role-first",
     TEXT,
     STREAM,
     200,
     HTTP_WHOLE,
     {TEXT_DELTA("", "null"), TEXT_DELTA(" tok", "null"),
      TEXT_DELTA(" tok", "null"), TEXT_DELTA(" tok", "\"length\""), TEXT_USAGE,
      DONE}},
    {NULL,
     TEXT,
     WHOLE,
     200,
     HTTP_WHOLE,
     {"{\"object\":\"text_completion\",\"created\":0,\"model\":\"stub\","
      "\"choices\":[{\"index\":0,\"text\":\" tok tok tok\",\"finish_reason\":"
      "\"length\"}]" NUMBERS}},

    {NULL, "/", "anything", 200, HTTP_WHOLE, {PLAIN}},
    {"status=503",
     "/",
     "anything",
     503,
     HTTP_WHOLE,
     {REFUSED("server_error", "503")}},
    {"inband", "/", "anything", 200, HTTP_WHOLE, {ERROR}},
    {"reset", "/", "anything", 0, HTTP_RESET, {NULL}},
    {"truncated", "/", "anything", 200, HTTP_CUT, {NULL}},
    {"malformed", "/", "anything", 0, HTTP_NOT_HTTP, {NULL}},
    {"empty", "/", "anything", 200, HTTP_WHOLE, {""}},
};

#define N_WIRES (sizeof(wires) / sizeof(wires[0]))

/* Both are the same text, or the same JSON but for the id, which must be that
 * of the nth answer. */
static void expect_json(const char *got, const char *want, int nth)
{
    json_t *x = json_loads(got, 0, NULL);
    json_t *y = json_loads(want, 0, NULL);
    const json_t *id = json_object_get(x, "id");
    char text[24];

    if (id) {
        snprintf(text, sizeof(text), "stub-%d", nth);
        assert_string_equal(json_string_value(id), text);
        json_object_del(x, "id");
    }
    if (!json_equal(x, y) && strcmp(got, want) != 0)
        fail_msg("%s\n  is not\n%s", got, want);
    json_decref(x);
    json_decref(y);
}

/* "data: ...\n\n", again and again, and nothing else. */
static void expect_events(const char *body, const char *const *events, int nth)
{
    for (; *events; events++) {
        const char *end = strstr(body, "\n\n");
        char *event;

        assert_non_null(end);
        assert_memory_equal(body, "data: ", 6);
        event = xstrndup(body + 6, (size_t)(end - body - 6));
        expect_json(event, *events, nth);
        free(event);
        body = end + 2;
    }
    assert_string_equal(body, "");
}

/* What is not to come before a time must not; nothing is said of how late it
 * may be. */
static void expect_times(const struct wire *w, const struct http_reply *r,
                         int64_t sent_ns)
{
    bool is_fault = w->fault && w->end == HTTP_WHOLE;

    if (is_fault && strncmp(w->fault, "hang", 4) == 0)
        assert_true(r->first_ns - sent_ns >= 250 * NS_PER_MS);
    /* Two tokens are to be read, three to be made. */
    if (is_fault && strcmp(w->fault, "burst") == 0)
        assert_true(r->first_ns - sent_ns >= 60 * NS_PER_MS);
}

static void check(const struct wire *w, const char *url, int nth)
{
    int64_t sent_ns = clk_now(&clk_monotonic);
    struct http_reply r = HTTP_ASK(url, .path = w->path, .body = w->body);
    bool is_stream = http_has_header(&r, "Content-Type: text/event-stream");

    if (r.status != w->status || r.end != w->end)
        fail_msg("%s on %s: status %d, end %d", w->fault, w->path, r.status,
                 (int)r.end);
    if (w->fault && strncmp(w->fault, "endless", 7) == 0)
        assert_true(r.body.len > 1 << 20);
    else if (is_stream)
        expect_events(buf_text(&r.body), w->events, nth);
    else if (w->events[0])
        expect_json(buf_text(&r.body), w->events[0], nth);
    assert_int_equal(is_stream,
                     w->status == 200 && strstr(w->body, "stream") != NULL &&
                         !(w->fault && strcmp(w->fault, "wrong-type") == 0));
    assert_int_equal(http_has_header(&r, "Retry-After: 1"), w->status == 503);
    expect_times(w, &r, sent_ns);
    http_reply_fini(&r);
}

/* Prefill takes 2 x 20 ms, a token after the first 10 ms. */
#define STUB                                                                   \
    "stub", "--service", "llm", "--batching", "continuous", "--prefill=20ms",  \
        "--decode=10ms", "--decode-item=0", "--prompt-tokens=2",               \
        "--output-tokens=3"
#define STUB_ARGC 11 /* with the program's name */

/* Each fault strikes the request that it was told to, and no other: a dozen a
 * stub, one after the other. */
TEST(each_fault_by_number)
{
    enum { AT_ONCE = 12 };
    for (size_t first = 0; first < N_WIRES; first += AT_ONCE) {
        const char *argv[STUB_ARGC + 2 * AT_ONCE + 1] = {"tailgate", STUB};
        char texts[AT_ONCE][40];
        size_t argc = STUB_ARGC;
        struct proc stub;
        char *url;

        for (size_t i = 0; i < AT_ONCE && first + i < N_WIRES; i++) {
            if (!wires[first + i].fault)
                continue;
            snprintf(texts[i], sizeof(texts[i]), "%s n=%zu",
                     wires[first + i].fault, i + 1);
            argv[argc++] = "--fault";
            argv[argc++] = texts[i];
        }
        stub = stub_start(argv, &url);
        for (size_t i = 0; i < AT_ONCE && first + i < N_WIRES; i++)
            check(&wires[first + i], url, (int)i + 1);
        stub_stop(&stub);
    }
}

TEST(each_fault_by_probability)
{
    for (size_t i = 0; i < N_WIRES; i++) {
        struct proc stub;
        char *text;
        char *url;

        if (!wires[i].fault)
            continue;
        text = keepf("%s p=100%%", wires[i].fault);
        stub = stub_start(ARGS(STUB, "--fault", text), &url);
        check(&wires[i], url, 1);
        check(&wires[i], url, 2);
        stub_stop(&stub);
    }
}

/* The connection is there, but is not accepted yet; the second is quick, so
 * that it overtakes the first. */
TEST(a_slow_accept)
{
    char *url;
    struct proc stub =
        stub_start(ARGS("stub", "--fault", "slow-accept=2s n=1"), &url);
    int64_t start_ns = clk_now(&clk_monotonic);
    int fd = http_connect(url);
    struct http_reply first;
    struct http_reply second;

    http_send(fd, &(struct http_request){0});
    second = HTTP_ASK(url, 0);
    first = http_read(fd);
    assert_int_equal(first.status, 200);
    assert_int_equal(second.status, 200);
    assert_true(first.end_ns - start_ns >= 2 * NS_PER_S);
    assert_true(second.end_ns < first.end_ns);
    http_reply_fini(&first);
    http_reply_fini(&second);
    close(fd);
    stub_stop(&stub);
}
