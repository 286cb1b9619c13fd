/* Every API of the stub over the network, read as a client would: events by
 * the rules of server-sent events, whatever way they are written in, and JSON
 * by jansson. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "tests/support/httpget.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"

#define MAX_EVENTS 32

/* Two prompt tokens at 10 ms, a token at 5 ms after the first. */
#define LLM                                                                    \
    "stub", "--model", "m/7b", "--service", "llm", "--batching", "continuous", \
        "--prefill=10ms", "--decode=5ms", "--decode-item=0"

/* ---- reading ---- */

/* "choices/0/delta/content"; NULL if it is not there. */
static const json_t *at(const json_t *json, const char *path)
{
    char *copy = xstrdup(path);
    char *rest = copy;
    const char *key;

    while (json && (key = strsep(&rest, "/"))) {
        json = json_is_array(json)
                   ? json_array_get(json, strtoul(key, NULL, 10))
                   : json_object_get(json, key);
    }
    free(copy);
    return json;
}

static const char *text_at(const json_t *json, const char *path)
{
    return json_string_value(at(json, path));
}

static long long count_at(const json_t *json, const char *path)
{
    const json_t *number = at(json, path);

    if (!json_is_integer(number))
        fail_msg("no %s", path);
    return json_integer_value(number);
}

static json_t *parse(const char *text)
{
    json_error_t problem;
    json_t *json = json_loads(text, 0, &problem);

    if (!json)
        fail_msg("%s: %s", problem.text, text);
    return json;
}

struct events {
    char *data[MAX_EVENTS];
    size_t len;
};

/* The next line, without its end, which is \n, \r\n or \r. */
static char *next_line(const char **text)
{
    size_t len = strcspn(*text, "\r\n");
    char *line = xstrndup(*text, len);

    *text += len;
    if (strncmp(*text, "\r\n", 2) == 0)
        ++*text;
    if (**text)
        ++*text;
    return line;
}

/* Lines of data are joined; comments and what is not data are passed over. */
static void take_line(const char *line, struct buf *data, bool *has_data)
{
    if (strncmp(line, "data:", 5) != 0)
        return;
    line += 5;
    if (*has_data)
        buf_adds(data, "\n");
    buf_adds(data, *line == ' ' ? line + 1 : line);
    *has_data = true;
}

/* Events that say nothing are keep-alives, as are pings. */
static void end_event(struct events *events, const struct buf *data)
{
    if (data->len == 0 || data->data[0] == ':')
        return;
    assert_true(events->len < MAX_EVENTS);
    events->data[events->len++] = xstrdup(data->data);
}

static struct events events_of(const char *text)
{
    struct events events = {0};
    bool has_data = false;
    struct buf data;

    buf_init(&data, 1 << 20);
    while (*text) {
        char *line = next_line(&text);

        take_line(line, &data, &has_data);
        if (!line[0]) {
            end_event(&events, &data);
            buf_reset(&data);
            has_data = false;
        }
        free(line);
    }
    assert_false(has_data);
    buf_fini(&data);
    return events;
}

static void events_fini(struct events *events)
{
    for (size_t i = 0; i < events->len; i++)
        free(events->data[i]);
}

/* ---- streams ---- */

#define HELLO "\"messages\":[{\"role\":\"user\",\"content\":\"oh hi\"}]"

static const struct stream {
    const char *path;
    const char *body;
    size_t silent;       /* events without text before the first */
    const char *text;    /* where that is */
    bool repeats;        /* what was said before */
    const char *reason;  /* of the end, in the last event with text */
    const char *finish;  /* what it says */
    const char *counted; /* tokens, in the last event of all; NULL: nowhere */
    bool has_usage;      /* in an event of its own */
    bool has_done;
} streams[] = {
    {"/v1/chat/completions",
     "{" HELLO ",\"max_completion_tokens\":3,\"stream\":true,"
     "\"stream_options\":{\"include_usage\":true}}",
     1, "choices/0/delta/content", false, "choices/0/finish_reason", "length",
     "usage/completion_tokens", true, true},
    {"/v1/completions",
     "{\"prompt\":[1,2],\"max_tokens\":3,\"stream\":true,\"stream_options\":{"
     "\"include_usage\":true,\"continuous_usage_stats\":true}}",
     0, "choices/0/text", false, "choices/0/finish_reason", "length",
     "usage/completion_tokens", true, true},
    {"/generate_stream",
     "{\"inputs\":\"oh hi\",\"parameters\":{\"max_new_tokens\":3,"
     "\"details\":true}}",
     0, "token/text", false, "details/finish_reason", "length",
     "details/generated_tokens", false, false},
    {"/generate",
     "{\"text\":\"oh hi\",\"sampling_params\":{\"max_new_tokens\":3},"
     "\"stream\":true}",
     0, "text", true, "meta_info/finish_reason/type", "length",
     "meta_info/completion_tokens", false, true},
    {"/v2/models/m/generate_stream",
     "{\"text_input\":\"oh hi\",\"parameters\":{\"max_tokens\":3}}", 0,
     "text_output", false, NULL, NULL, NULL, false, false},
};

#define N_STREAMS (sizeof(streams) / sizeof(streams[0]))

/* The text of three events, one after the other or one in place of the
 * other. */
static void check_text(const struct stream *s, char *const *data)
{
    char text[64] = "";

    for (int i = 0; i < 3; i++) {
        json_t *json = parse(data[i]);
        const char *more = text_at(json, s->text);
        size_t len = s->repeats ? 0 : strlen(text);

        assert_non_null(more);
        snprintf(text + len, sizeof(text) - len, "%s", more);
        if (s->reason && i < 2)
            assert_null(text_at(json, s->reason));
        if (s->reason && i == 2)
            assert_string_equal(text_at(json, s->reason), s->finish);
        json_decref(json);
    }
    assert_string_equal(text, " tok tok tok");
}

static void check_stream(const struct stream *s, const char *body)
{
    struct events events = events_of(body);
    size_t last = s->silent + 2 + s->has_usage;
    json_t *json;

    assert_int_equal(events.len, last + 1 + s->has_done);
    for (size_t i = 0; i < s->silent; i++) {
        json = parse(events.data[i]);
        assert_string_equal(text_at(json, s->text), "");
        json_decref(json);
    }
    check_text(s, events.data + s->silent);
    json = parse(events.data[last]);
    if (s->counted)
        assert_int_equal(count_at(json, s->counted), 3);
    if (s->has_usage)
        assert_int_equal(json_array_size(at(json, "choices")), 0);
    if (s->has_done)
        assert_string_equal(events.data[last + 1], "[DONE]");
    json_decref(json);
    events_fini(&events);
}

static struct http_reply ask(const char *url, const struct stream *s)
{
    struct http_reply reply = HTTP_ASK(url, .path = s->path, .body = s->body);

    assert_int_equal(reply.status, 200);
    assert_int_equal(reply.end, HTTP_WHOLE);
    return reply;
}

/* The first token is not there before its time, nor the last. */
TEST(streams_are_read)
{
    static const char *const flags[] = {
        "--sse=crlf",     "--sse=cr",    "--sse=named,no-space",
        "--sse=split",    "--sse=empty", "--sse=comments,crlf,named",
        "--sse=pings,cr", "--delay=0",   "--events-per-write=2"};

    for (size_t k = 0; k < sizeof(flags) / sizeof(flags[0]); k++) {
        char *url;
        struct proc stub = stub_start(ARGS(LLM, flags[k]), &url);

        for (size_t i = 0; i < N_STREAMS; i++) {
            int64_t sent_ns = clk_now(&clk_monotonic);
            struct http_reply reply = ask(url, &streams[i]);

            assert_true(
                http_has_header(&reply, "Content-Type: text/event-stream"));
            assert_true(reply.end_ns - sent_ns >= 30 * NS_PER_MS);
            if (strcmp(flags[k], "--delay=0") == 0)
                assert_true(reply.first_ns - sent_ns >= 20 * NS_PER_MS);
            check_stream(&streams[i], buf_text(&reply.body));
            http_reply_fini(&reply);
        }
        stub_stop(&stub);
    }
}

/* Usage is in every chunk where that was asked for. */
TEST(usage_counts_up)
{
    char *url;
    struct proc stub = stub_start(ARGS("stub"), &url);
    struct http_reply reply = ask(url, &streams[1]);
    struct events events = events_of(buf_text(&reply.body));

    assert_int_equal(events.len, 5);
    for (int i = 0; i < 4; i++) {
        json_t *json = parse(events.data[i]);
        long long want = i < 3 ? i + 1 : 3;

        assert_int_equal(count_at(json, "usage/prompt_tokens"), 2);
        assert_int_equal(count_at(json, "usage/completion_tokens"), want);
        assert_int_equal(count_at(json, "usage/total_tokens"), 2 + want);
        json_decref(json);
    }
    events_fini(&events);
    http_reply_fini(&reply);
    stub_stop(&stub);
}

/* ---- faults ---- */

/* An error object in a stream, or instead of it. */
TEST(errors_are_objects)
{
    static const char *const faults[] = {"inband", "wrong-type"};

    for (size_t k = 0; k < 2; k++) {
        char *url;
        struct proc stub = stub_start(ARGS("stub", "--fault", faults[k]), &url);

        for (size_t i = 0; i < N_STREAMS; i++) {
            struct http_reply reply = ask(url, &streams[i]);
            bool is_stream =
                http_has_header(&reply, "Content-Type: text/event-stream");
            struct events events = {0};
            json_t *json;

            assert_int_equal(is_stream, k == 0);
            if (is_stream)
                events = events_of(buf_text(&reply.body));
            json = parse(is_stream ? events.data[events.len - 1]
                                   : buf_text(&reply.body));
            assert_non_null(at(json, "error"));
            json_decref(json);
            events_fini(&events);
            http_reply_fini(&reply);
        }
        stub_stop(&stub);
    }
}

/* A client that reads events must find no JSON in one, none at all, or no end
 * of one. */
TEST(streams_that_are_none)
{
    static const struct {
        const char *fault;
        size_t events; /* of Triton's */
        size_t bytes;  /* at least */
    } cases[] = {
        {"no-events", 0, 0},
        {"malformed", 4, 0},
        {"endless=3MiB", 2, (size_t)3 << 20},
    };

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        char *url;
        struct proc stub =
            stub_start(ARGS("stub", "--fault", cases[k].fault), &url);
        struct http_reply reply = ask(url, &streams[N_STREAMS - 1]);
        const char *text = buf_text(&reply.body);
        size_t events = 0;

        for (; (text = strstr(text, "\n\n")); text += 2)
            events++;
        assert_int_equal(events, cases[k].events);
        assert_true(reply.body.len >= cases[k].bytes);
        http_reply_fini(&reply);
        stub_stop(&stub);
    }
}

/* ---- answers in one piece ---- */

static const struct {
    const char *path;
    const char *body;
    const char *where;
    const char *want; /* JSON */
} wholes[] = {
    {"/v1/chat/completions", "{" HELLO ",\"max_tokens\":3}",
     "choices/0/message/content", "\" tok tok tok\""},
    {"/v1/completions", "{\"prompt\":[[1,2],[3]],\"max_tokens\":3}", "usage",
     "{\"prompt_tokens\":3,\"completion_tokens\":3,\"total_tokens\":6}"},
    {"/v1/completions",
     "{\"prompt\":[1],\"max_tokens\":3,\"return_token_ids\":true}",
     "choices/0/token_ids", "[0,1,2]"},
    {"/v1/embeddings", "{\"input\":[\"a\",\"b\",\"c\"],\"dimensions\":2}",
     "data/2",
     "{\"object\":\"embedding\",\"index\":2,\"embedding\":[0.125,"
     "0.25]}"},
    {"/v1/rerank", "{\"query\":\"q\",\"documents\":[\"a\",\"b\"]}", "results/0",
     "{\"index\":1,\"relevance_score\":1.0}"},
    {"/generate",
     "{\"inputs\":\"x\",\"parameters\":{\"max_new_tokens\":3,\"details\":true}"
     "}",
     "details/generated_tokens", "3"},
    {"/generate",
     "{\"input_ids\":[1,2],\"sampling_params\":{\"max_new_tokens\":3}}",
     "meta_info/prompt_tokens", "2"},
    {"/v2/models/m/versions/2/generate",
     "{\"text_input\":\"x\",\"max_tokens\":3}", "text_output",
     "\" tok tok tok\""},
    {"/v1/models/m:predict", "{\"instances\":[[1.5],[2]]}", "predictions",
     "[[1.5],[2]]"},
    {"/v1/models/m/labels/l:classify", "{\"examples\":[{\"x\":1}]}",
     "results/0/0", "[\"a\",0.75]"},
    {"/v1/models/m/versions/2:regress", "{\"examples\":[{\"x\":1}]}", "results",
     "[0.5]"},
    {"/v2/models/m/infer",
     "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[2],"
     "\"data\":[0.5,2.0]}]}",
     "outputs/0",
     "{\"name\":\"output0\",\"datatype\":\"FP32\",\"shape\":[2],\"data\":[0.5,"
     "2.0]}"},
};

TEST(whole_answers_are_read)
{
    char *url;
    struct proc stub = stub_start(ARGS("stub"), &url);

    for (size_t i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++) {
        struct http_reply reply =
            HTTP_ASK(url, .path = wholes[i].path, .body = wholes[i].body);
        json_t *json = parse(buf_text(&reply.body));
        json_t *want = json_loads(wholes[i].want, JSON_DECODE_ANY, NULL);

        assert_int_equal(reply.status, 200);
        if (!json_equal(at(json, wholes[i].where), want))
            fail_msg("%s: %s", wholes[i].path, buf_text(&reply.body));
        json_decref(want);
        json_decref(json);
        http_reply_fini(&reply);
    }
    stub_stop(&stub);
}

TEST(pages_are_read)
{
    static const struct {
        const char *path;
        const char *where;
        const char *want;
    } cases[] = {
        {"/v1/models", "data/0/id", "m/7b"},
        {"/v1/models/m", "model_version_status/0/state", "AVAILABLE"},
        {"/v1/models/m/versions/1", "model_version_status/0/status/error_code",
         "OK"},
        {"/v2", "extensions/0", "binary_tensor_data"},
        {"/v2/models/m", "inputs/0/datatype", "FP32"},
        {"/v2/models/m/versions/1", "name", "m/7b"},
        {"/v2/models/m/ready", "status", "ok"},
        {"/info", "model_id", "m/7b"},
        {"/health", "status", "ok"},
    };
    char *url;
    struct proc stub = stub_start(ARGS(LLM), &url);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct http_reply reply = HTTP_ASK(url, .path = cases[i].path);
        json_t *json = parse(buf_text(&reply.body));

        assert_int_equal(reply.status, 200);
        assert_string_equal(text_at(json, cases[i].where), cases[i].want);
        json_decref(json);
        http_reply_fini(&reply);
    }
    stub_stop(&stub);
}

/* ---- binary tensors ---- */

/* The request's head and JSON, then the bytes. */
static void send_tensor(int fd, const char *json, const void *bytes, size_t len)
{
    char *head = keepf("POST /v2/models/m/infer HTTP/1.1\r\n"
                       "Inference-Header-Content-Length: %zu\r\n"
                       "Content-Length: %zu\r\n\r\n%s",
                       strlen(json), strlen(json) + len, json);

    assert_int_equal(send(fd, head, strlen(head), MSG_NOSIGNAL), strlen(head));
    assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
}

static size_t json_len_of(const struct http_reply *reply)
{
    static const char name[] = "Inference-Header-Content-Length: ";
    const char *header = strstr(buf_text(&reply->head), name);

    assert_non_null(header);
    return strtoul(header + strlen(name), NULL, 10);
}

/* An image of 3 x 224 x 224 there and back, twice on one connection. */
TEST(an_image_goes_there_and_back)
{
    enum { N = 3 * 224 * 224 };
    static const char ask_json[] =
        "{\"id\":\"42\",\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\","
        "\"shape\":[3,224,224],\"parameters\":{\"binary_data_size\":602112}}],"
        "\"outputs\":[{\"name\":\"output0\",\"parameters\":{\"binary_data\":"
        "true}}]}";
    float *image = xcalloc(N, sizeof(*image));
    char *url;
    struct proc stub = stub_start(ARGS("stub"), &url);
    int fd = http_connect(url);

    for (int i = 0; i < N; i++)
        image[i] = (float)i / 3;
    for (int i = 0; i < 2; i++) {
        struct http_reply reply;
        char *text;
        json_t *json;
        size_t len;

        send_tensor(fd, ask_json, image, N * sizeof(*image));
        reply = http_read(fd);
        assert_int_equal(reply.status, 200);
        len = json_len_of(&reply);
        assert_int_equal(reply.body.len, len + N * sizeof(*image));
        assert_memory_equal(reply.body.data + len, image, N * sizeof(*image));
        text = xstrndup(reply.body.data, len);
        json = parse(text);
        assert_string_equal(text_at(json, "id"), "42");
        assert_string_equal(text_at(json, "outputs/0/name"), "output0");
        assert_int_equal(
            count_at(json, "outputs/0/parameters/binary_data_size"), 602112);
        assert_int_equal(count_at(json, "outputs/0/shape/2"), 224);
        json_decref(json);
        free(text);
        http_reply_fini(&reply);
    }
    close(fd);
    stub_stop(&stub);
    free(image);
}
