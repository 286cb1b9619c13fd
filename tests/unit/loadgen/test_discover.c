/* What is asked of a server before the run, and what becomes of its answer. */
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/settings/settings.h"
#include "loadgen/prepare/discover.h"
#include "loadgen/prepare/show.h"
#include "tests/support/keep.h"
#include "tests/support/metricsserver.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static const char page[] =
    "{\"data\":[{\"id\":\"tiny\"}],\"inputs\":[{\"name\":\"x\","
    "\"datatype\":\"FP32\",\"shape\":[-1,4]}]}";

struct question {
    const char *api;
    const char *path; /* of the requests */
    const char *body; /* or NULL */
    const char *want; /* what is asked for; NULL: nothing is */
};

static void set(struct settings *s, const char *key, const char *value)
{
    char *text = keepf("%s=%s", key, value);
    struct err err = {0};

    if (settings_assign(s, text, &err))
        fail_msg("%s", err.msg);
}

static void ask(const struct metricsserver *server, const struct question *q,
                struct settings *s)
{
    char *url = keepf("%s%s", server->url, q->path);
    struct err err = {0};

    settings_init(s);
    set(s, "target.url", url);
    set(s, "target.api", q->api);
    if (q->body)
        set(s, "target.body", q->body);
    if (discover(s, &err))
        fail_msg("%s: %s", q->path, err.msg);
}

static void must_have_asked(const char *log, const char *path)
{
    struct err err = {0};
    struct buf text;
    char *line = keepf("GET %s HTTP/1.1\r\n", path ? path : "");

    buf_init(&text, 1 << 16);
    assert_int_equal(file_read(log, &text, &err), 0);
    if (!path)
        assert_int_equal(text.len, 0);
    else if (strncmp(buf_text(&text), line, strlen(line)) != 0)
        fail_msg("not %s but %s", path, buf_text(&text));
    buf_fini(&text);
}

TEST(the_place_is_that_of_the_requests)
{
    static const struct question questions[] = {
        {"openai-chat", "/v1/chat/completions", NULL, "/v1/models"},
        {"openai-chat", "/openai/v1/chat/completions?a=/v1/b", NULL,
         "/openai/v1/models"},
        {"openai-embeddings", "/embeddings", NULL, "/v1/models"},
        {"rerank", "/v2/rerank", NULL, "/v1/models"},
        {"openai-chat", "/v1/chat/completions", "{\"model\":\"{{model}}\"}",
         "/v1/models"},
        {"openai-chat", "/v1/chat/completions", "{\"model\":\"mine\"}", NULL},
        {"kserve-http", "/v2/models/m/infer", NULL, "/v2/models/m"},
        {"kserve-http", "/inference/v2/models/infer-1/infer/?a=/infer", NULL,
         "/inference/v2/models/infer-1"},
    };

    for (size_t i = 0; i < COUNT(questions); i++) {
        const struct question *q = &questions[i];
        char *log = tmpdir_path("log");
        struct metricsserver server = metricsserver_start(page, WAY_GOOD, log);
        struct settings s;

        ask(&server, q, &s);
        must_have_asked(log, q->want);
        if (strcmp(q->api, "kserve-http") == 0)
            assert_string_equal(s.data.tensors.items[0], "x FP32 1x4");
        else if (q->want)
            assert_string_equal(s.target.model, "tiny");
        settings_fini(&s);
        metricsserver_stop(&server);
        remove(log);
    }
}

/* ---- prompts of a data set ---- */

/* The metadata, and an answer to a request. */
static const char texts_page[] =
    "{\"inputs\":[{\"name\":\"n\",\"datatype\":\"INT8\",\"shape\":[2]},"
    "{\"name\":\"words\",\"datatype\":\"BYTES\",\"shape\":[-1]}],"
    "\"outputs\":[{\"name\":\"y\",\"datatype\":\"BYTES\",\"shape\":[1],"
    "\"data\":[\"z\"]}]}";

static void add_prompts(struct settings *s)
{
    static const char line[] = "{\"prompt\":\"say something\"}\n";

    set(s, "data.file", tmpdir_write("p.jsonl", line, sizeof(line) - 1));
    set(s, "data.unique", "false");
}

/* Without --tensor: which input takes them is what the server says. */
TEST(prompts_go_where_the_server_says)
{
    struct metricsserver server =
        metricsserver_start(texts_page, WAY_GOOD, tmpdir_path("log"));
    char *url = keepf("%s/v2/models/m/infer", server.url);
    struct err err = {0};
    struct exchange x;
    struct settings s;

    settings_init(&s);
    set(&s, "target.url", url);
    set(&s, "load.rate", "1");
    add_prompts(&s);
    assert_int_equal(settings_resolve(&s, &err), 0);
    if (show_request(&s, &x, &err))
        fail_msg("%s", err.msg);
    assert_non_null(strstr(buf_text(&x.sent.bytes),
                           "{\"name\":\"words\",\"datatype\":\"BYTES\","
                           "\"shape\":[1],\"data\":[\"say something\"]}"));
    exchange_fini(&x);
    settings_fini(&s);
    metricsserver_stop(&server);
}

/* ---- what goes wrong ---- */

struct absence {
    const char *api;
    const char *path;
    bool has_server;
    const char *parts[3]; /* of the message */
};

static void fail_to_ask(const struct absence *a, const char *server,
                        struct err *err)
{
    char *url = keepf("%s%s", server, a->path);
    struct settings s;

    settings_init(&s);
    set(&s, "target.url", url);
    set(&s, "target.api", a->api);
    assert_int_equal(discover(&s, err), -1);
    assert_int_equal(err->code, ERR_IO);
    settings_fini(&s);
}

/* A run that cannot start says which page was asked for, and what would do
 * without it; where no server answers at all, what any run would say. */
TEST(what_is_not_there_is_named)
{
    static const struct absence cases[] = {
        {"openai-chat",
         "/a/v1/chat/completions?key=secret",
         true,
         {"http://127.0.0.1:", "/a/v1/models: ", "--model"}},
        {"kserve-http",
         "/v2/models/m/infer",
         true,
         {"http://127.0.0.1:", "/v2/models/m: ", "--tensor"}},
        {"openai-chat",
         "/v1/chat/completions",
         false,
         {"127.0.0.1:", ": Connection refused", ""}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct metricsserver server =
            metricsserver_start("no JSON", WAY_GOOD, tmpdir_path("log"));
        struct err err = {0};

        if (!cases[i].has_server)
            metricsserver_stop(&server);
        fail_to_ask(&cases[i], server.url, &err);
        for (size_t j = 0; j < COUNT(cases[i].parts); j++)
            assert_non_null(strstr(err.msg, cases[i].parts[j]));
        assert_int_equal(strstr(err.msg, "GET") != NULL, cases[i].has_server);
        if (cases[i].has_server)
            metricsserver_stop(&server);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
