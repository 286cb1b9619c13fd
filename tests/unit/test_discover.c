/* What is asked of a server before the run, and what becomes of its answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/apis.h"
#include "common/buf.h"
#include "common/err.h"
#include "common/file.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/discover.h"
#include "tests/support/metricsserver.h"
#include "tests/support/tmpdir.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

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
    char *text = xasprintf("%s=%s", key, value);
    struct err err = {0};

    if (settings_assign(s, text, &err))
        fail_msg("%s", err.msg);
    free(text);
}

static void ask(const struct metricsserver *server, const struct question *q,
                struct settings *s)
{
    char *url = xasprintf("%s%s", server->url, q->path);
    struct err err = {0};

    settings_init(s);
    set(s, "target.url", url);
    set(s, "target.api", q->api);
    if (q->body)
        set(s, "target.body", q->body);
    if (discover(s, &err))
        fail_msg("%s: %s", q->path, err.msg);
    free(url);
}

static void must_have_asked(const char *log, const char *path)
{
    struct err err = {0};
    struct buf text;
    char *line = xasprintf("GET %s HTTP/1.1\r\n", path ? path : "");

    buf_init(&text, 1 << 16);
    assert_int_equal(file_read(log, &text, &err), 0);
    if (!path)
        assert_int_equal(text.len, 0);
    else if (strncmp(buf_text(&text), line, strlen(line)) != 0)
        fail_msg("not %s but %s", path, buf_text(&text));
    buf_fini(&text);
    free(line);
}

static void the_place_is_that_of_the_requests(void **state)
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

    (void)state;
    for (size_t i = 0; i < COUNT(questions); i++) {
        const struct question *q = &questions[i];
        char *log = xstrdup(tmpdir_path("log"));
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
        free(log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_place_is_that_of_the_requests),
    };

    return cmocka_run_group_tests_name("discover", tests, tmpdir_setup,
                                       tmpdir_teardown);
}
