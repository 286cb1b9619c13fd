/* What a URL means, which statuses are good, and what is written and read in
 * each API. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/wire/api_names.h"
#include "common/wire/status.h"
#include "loadgen/api/api.h"
#include "tests/support/keep.h"
#include "tests/support/test.h"

TEST(paths_mean_apis)
{
    static const struct {
        const char *path;
        enum api_kind kind;
        const char *hint;
    } cases[] = {
        {"/v1/chat/completions", API_OPENAI_CHAT, NULL},
        {"/proxy/v1/chat/completions/?x=/infer", API_OPENAI_CHAT, NULL},
        {"/v1/completions", API_OPENAI_COMPLETIONS, NULL},
        {"/v1/embeddings", API_OPENAI_EMBEDDINGS, NULL},
        {"/rerank", API_RERANK, NULL},
        {"/generate_stream", API_TGI, NULL},
        {"/v2/models/m/generate_stream", API_TRITON_GENERATE, NULL},
        {"/v2/models/m/versions/1/generate", API_TRITON_GENERATE, NULL},
        {"/v2/models/m/infer", API_KSERVE_HTTP, NULL},
        {"/v1/models/m/versions/3:predict", API_TFSERVING_HTTP, NULL},
        {"/generate", API_HTTP, "tgi or sglang"},
        {"/", API_HTTP, NULL},
        {"/infer", API_HTTP, NULL},
        {"/x?next=/v1/completions", API_HTTP, NULL},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *hint = "";

        if (api_detect(cases[i].path, &hint) != cases[i].kind)
            fail_msg("%s", cases[i].path);
        if (cases[i].hint)
            assert_string_equal(hint, cases[i].hint);
        else
            assert_null(hint);
    }
    assert_int_equal(api_detect_grpc("/"), API_KSERVE_GRPC);
    for (int i = 0; i < API_COUNT; i++) {
        if (api_grpc_method((enum api_kind)i))
            assert_int_equal(api_detect_grpc(api_grpc_method((enum api_kind)i)),
                             i);
    }
    assert_int_equal(api_detect_grpc("/pkg.Service/Method"), API_GRPC);
    assert_true(api_path_is_whole(API_TGI, "/generate"));
    assert_false(api_path_is_whole(API_TGI, "/generate_stream"));
    assert_false(api_path_is_whole(API_SGLANG, "/generate"));
}

/* Paths that are probably mistyped, or of an API that is not supported. */
TEST(paths_are_doubted)
{
    static const struct {
        const char *path;
        const char *want; /* NULL: no doubt */
    } cases[] = {
        {"/v1/chat/completion",
         "'/v1/chat/completion' is not the path of a known API; did you mean "
         "'/v1/chat/completions'?"},
        {"/v1/chat/completitons/?a=b",
         "'/v1/chat/completitons' is not the path of a known API; did you mean "
         "'/v1/chat/completions'?"},
        {"/gateway/v1/embedding",
         "'/gateway/v1/embedding' is not the path of a known API; did you mean "
         "'/gateway/v1/embeddings'?"},
        {"/v2/models/m/infr",
         "'/v2/models/m/infr' is not the path of a known API; did you mean "
         "'/v2/models/m/infer'?"},
        {"/v1/models/m:predicts",
         "'/v1/models/m:predicts' is not the path of a known API; did you mean "
         "'/v1/models/m:predict'?"},
        {"/tgi/genrate", "'/tgi/genrate' is not the path of a known API; did "
                         "you mean '/tgi/generate'?"},
        {"/v1", "'/v1' is not the path of a known API; did you mean "
                "'/v1/chat/completions'?"},
        {"/v1/responses", "the OpenAI Responses API is not supported yet"},
        {"/v1/messages/", "the Anthropic Messages API is not supported yet"},
        {"/api/chat", "the Ollama API is not supported yet"},
        {"/v1/chat/completions", NULL},
        {"/v2/models/m/infer", NULL},
        {"/", NULL},
        {"/healthz", NULL},
        {"/infr", NULL}, /* not below /models/ */
        {"/generate", NULL},
        {"/predict", NULL},
        {"/v1/models/m", NULL},
        {"/v1/models/m:explain", NULL},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf out;

        buf_init(&out, 1000);
        api_doubt_path(cases[i].path, &out);
        assert_string_equal(buf_text(&out), cases[i].want ? cases[i].want : "");
        buf_fini(&out);
    }
}

TEST(sets_of_statuses)
{
    static const char *const bad[] = {"",     "2x",  "20",      "2000", "600",
                                      "200,", "abc", "2xx 3xx", "099"};
    struct statuses s;
    struct err err = {0};

    assert_int_equal(statuses_parse("201, 3xx,404", &s, &err), 0);
    assert_true(statuses_have(&s, 201) && statuses_have(&s, 300) &&
                statuses_have(&s, 399) && statuses_have(&s, 404));
    assert_false(statuses_have(&s, 200) || statuses_have(&s, 400) ||
                 statuses_have(&s, -1) || statuses_have(&s, 9999));
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct err refused = {0};

        if (statuses_check(bad[i], &refused) == 0)
            fail_msg("'%s' was taken", bad[i]);
    }
}

/* ---- bodies ---- */

struct rig {
    struct settings settings;
    struct api api;
    struct facts facts; /* of the body that was made */
};

static void set(struct rig *rig, const char *assignment)
{
    struct err err = {0};

    if (settings_assign(&rig->settings, assignment, &err))
        fail_msg("%s", err.msg);
}

static void rig_init(struct rig *rig, const char *api)
{
    char *text = keepf("target.api=%s", api);

    *rig = (struct rig){0};
    settings_init(&rig->settings);
    set(rig, text);
    set(rig, "data.input_tokens=3");
    set(rig, "data.output_tokens=5");
    set(rig, "data.nonce=1");
}

static void rig_fini(struct rig *rig)
{
    api_fini(&rig->api);
    settings_fini(&rig->settings);
}

/* The body of request 2, which must be JSON; the caller owns it. */
static json_t *body_of(struct rig *rig)
{
    struct err err = {0};
    struct buf body;
    json_t *json;

    rig->facts = facts_unknown(2, 0);
    if (api_init(&rig->api, &rig->settings, &err))
        fail_msg("%s", err.msg);
    buf_init(&body, 100000);
    api_make_body(&rig->api, &rig->facts, NULL, NULL, &body);
    json = json_loadb(buf_text(&body), body.len, 0, NULL);
    if (!json)
        fail_msg("no JSON: %s", buf_text(&body));
    buf_fini(&body);
    return json;
}

static int64_t int_at(const json_t *json, const char *key)
{
    assert_true(json_is_integer(json_object_get(json, key)));
    return json_integer_value(json_object_get(json, key));
}

TEST(a_chat_asks)
{
    struct rig rig;
    json_t *body;
    const json_t *message;

    rig_init(&rig, "openai-chat");
    set(&rig, "target.model=a \"b\"");
    set(&rig, "target.ignore_eos=true");
    set(&rig, "target.temperature=0.5");
    set(&rig, "target.chunk_usage=true");
    set(&rig, "target.extra_body={\"top_k\": 1, \"x\": [1, {\"y\": 2}]}");
    body = body_of(&rig);
    message = json_array_get(json_object_get(body, "messages"), 0);
    assert_string_equal(json_string_value(json_object_get(body, "model")),
                        "a \"b\"");
    assert_string_equal(json_string_value(json_object_get(message, "role")),
                        "user");
    assert_true(json_is_string(json_object_get(message, "content")));
    assert_int_equal(int_at(body, "max_completion_tokens"), 5);
    assert_int_equal(int_at(body, "min_tokens"), 5);
    assert_int_equal(int_at(body, "top_k"), 1);
    assert_true(json_is_true(json_object_get(body, "ignore_eos")));
    assert_true(json_is_true(json_object_get(body, "stream")));
    assert_true(json_is_true(json_object_get(
        json_object_get(body, "stream_options"), "continuous_usage_stats")));
    json_decref(body);
    rig_fini(&rig);
}

/* Name of the member that holds the prompt, as ids or as text. */
TEST(apis_take_prompts)
{
    static const struct {
        const char *api;
        const char *member;
        bool ids;
    } cases[] = {
        {"openai-completions", "prompt", true},
        {"openai-embeddings", "input", true},
        {"rerank", "query", false},
        {"tgi", "inputs", false},
        {"triton-generate", "text_input", false},
        {"sglang", "input_ids", true},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rig rig;
        json_t *body;
        const json_t *prompt;

        rig_init(&rig, cases[i].api);
        body = body_of(&rig);
        prompt = json_object_get(body, cases[i].member);
        if (cases[i].ids)
            assert_int_equal(json_array_size(prompt), 3);
        else
            assert_true(json_is_string(prompt));
        json_decref(body);
        rig_fini(&rig);
    }
}

TEST(documents_are_ranked)
{
    struct rig rig;
    json_t *body;

    rig_init(&rig, "rerank");
    body = body_of(&rig);
    assert_int_equal(json_array_size(json_object_get(body, "documents")), 16);
    json_decref(body);
    rig_fini(&rig);
    rig_init(&rig, "rerank");
    set(&rig, "data.documents=7");
    body = body_of(&rig);
    assert_int_equal(json_array_size(json_object_get(body, "documents")), 7);
    json_decref(body);
    rig_fini(&rig);
}

/* What is noted as asked for is what the body asks for. */
TEST(bodies_ask_for_lengths)
{
    static const struct {
        const char *api;
        const char *more;
        bool prompt;
        bool output;
    } cases[] = {
        {"openai-chat", NULL, true, true},
        {"openai-completions", NULL, true, true},
        {"tgi", NULL, true, true},
        {"triton-generate", NULL, true, true},
        {"sglang", NULL, true, true},
        {"openai-embeddings", NULL, true, false},
        {"rerank", NULL, false, false},
        {"kserve-http", "data.tensors=x FP32 1", false, false},
        {"openai-chat", "target.body={\"n\":{{seq}}}", false, false},
        {"http", "target.body=[\"{{prompt}}\"]", true, false},
        {"http", "target.body=[{{prompt_ids}}]", true, false},
        {"http", "target.body=[{{output_tokens}}]", false, true},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rig rig;

        print_message("%s %s\n", cases[i].api,
                      cases[i].more ? cases[i].more : "");
        rig_init(&rig, cases[i].api);
        if (cases[i].more)
            set(&rig, cases[i].more);
        json_decref(body_of(&rig));
        assert_int_equal(rig.facts.prompt_asked,
                         cases[i].prompt ? 3 : TIME_ABSENT);
        assert_int_equal(rig.facts.output_asked,
                         cases[i].output ? 5 : TIME_ABSENT);
        rig_fini(&rig);
    }
}

TEST(tensors_go_out)
{
    struct rig rig;
    json_t *body;
    const json_t *input;

    rig_init(&rig, "kserve-http");
    set(&rig, "data.tensors=x FP32 2x3");
    body = body_of(&rig);
    input = json_array_get(json_object_get(body, "inputs"), 0);
    assert_int_equal(json_array_size(json_object_get(input, "data")), 6);
    assert_int_equal(json_array_size(json_object_get(input, "shape")), 2);
    json_decref(body);
    rig_fini(&rig);
    rig_init(&rig, "tfserving-http");
    set(&rig, "data.tensors=x INT64 2x3");
    body = body_of(&rig);
    input = json_object_get(json_object_get(body, "inputs"), "x");
    assert_int_equal(json_array_size(input), 2);
    assert_int_equal(json_array_size(json_array_get(input, 1)), 3);
    json_decref(body);
    rig_fini(&rig);
}

TEST(examples_go_out)
{
    static const char *const urls[] = {
        "target.url=http://h/v1/models/m:classify",
        "target.url=http://h/v1/models/m/versions/2:regress/?a=b",
    };

    for (size_t i = 0; i < COUNT(urls); i++) {
        struct rig rig;
        json_t *body;
        const json_t *example;

        rig_init(&rig, "tfserving-http");
        set(&rig, urls[i]);
        set(&rig, "data.tensors=x FP32 2x3");
        body = body_of(&rig);
        example = json_array_get(json_object_get(body, "examples"), 0);
        assert_int_equal(json_array_size(json_object_get(example, "x")), 6);
        assert_null(json_object_get(body, "inputs"));
        json_decref(body);
        rig_fini(&rig);
    }
}

TEST(raw_tensors_stand_behind_the_json)
{
    static const char name[] = "Inference-Header-Content-Length: ";
    struct rig rig;
    struct facts f = facts_unknown(2, 0);
    struct strlist lines = {0};
    struct err err = {0};
    struct buf body;
    size_t json_len = 0;
    json_t *json;

    rig_init(&rig, "kserve-http");
    set(&rig, "data.tensors=x FP16 2x3");
    assert_int_equal(api_init(&rig.api, &rig.settings, &err), -1);
    assert_non_null(strstr(err.msg, "--binary-tensors"));
    api_fini(&rig.api);
    err = (struct err){0};
    set(&rig, "data.binary=true");
    assert_int_equal(api_init(&rig.api, &rig.settings, &err), 0);
    buf_init(&body, 100000);
    api_make_body(&rig.api, &f, NULL, NULL, &body);
    rig.api.ops->add_headers(&rig.api, &lines);
    assert_int_equal(strncmp(lines.items[0], name, strlen(name)), 0);
    json_len = strtoul(lines.items[0] + strlen(name), NULL, 10);
    assert_int_equal(body.len, json_len + 12);
    json = json_loadb(buf_text(&body), json_len, 0, NULL);
    assert_non_null(json);
    json_decref(json);
    strlist_fini(&lines);
    buf_fini(&body);
    rig_fini(&rig);
}

TEST(a_body_of_the_users_is_filled_in)
{
    struct rig rig;
    json_t *body;
    struct err err = {0};

    rig_init(&rig, "http");
    set(&rig, "target.body={\"q\":\"{{prompt}}\",\"i\":[{{prompt_ids}}],"
              "\"n\":{{ seq}},\"o\":{{  output_tokens }},\"{{\":\"}}\"}");
    body = body_of(&rig);
    assert_int_equal(int_at(body, "n"), 2);
    assert_int_equal(int_at(body, "o"), 5);
    assert_int_equal(json_array_size(json_object_get(body, "i")), 3);
    json_decref(body);
    rig_fini(&rig);
    rig_init(&rig, "http");
    set(&rig, "target.body={{ promt }}");
    assert_int_equal(api_init(&rig.api, &rig.settings, &err), -1);
    assert_non_null(strstr(err.msg, "{{promt}}"));
    rig_fini(&rig);
    err = (struct err){0};
    rig_init(&rig, "http");
    set(&rig, "target.body={\"model\":\"{{model}}\"}");
    assert_int_equal(api_init(&rig.api, &rig.settings, &err), -1);
    assert_non_null(strstr(err.msg, "--model"));
    rig_fini(&rig);
}

/* What a body of the user's asks for is his to know. */
TEST(a_stream_must_come_where_one_was_asked_for)
{
    static const struct {
        const char *setting;
        bool streams;
        bool must;
    } cases[] = {
        {"name=x", true, true},
        {"target.stream=off", false, false},
        {"target.body={}", true, false},
        {"target.body={\"n\":{{seq}}}", true, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rig rig;
        struct err err = {0};

        rig_init(&rig, "openai-chat");
        set(&rig, cases[i].setting);
        assert_int_equal(api_init(&rig.api, &rig.settings, &err), 0);
        assert_int_equal(rig.api.streams, cases[i].streams);
        assert_int_equal(rig.api.must_stream, cases[i].must);
        rig_fini(&rig);
    }
}

TEST(a_model_in_a_body_is_escaped)
{
    struct rig rig;
    json_t *body;

    rig_init(&rig, "openai-chat");
    set(&rig, "target.model=a\"b\\c");
    set(&rig, "target.body={\"model\":\"{{model}}\"}");
    body = body_of(&rig);
    assert_string_equal(json_string_value(json_object_get(body, "model")),
                        "a\"b\\c");
    json_decref(body);
    rig_fini(&rig);
}

TEST(what_contradicts_itself_is_refused)
{
    static const struct {
        const char *api;
        const char *setting;
        const char *part;
    } cases[] = {
        {"openai-chat", "target.extra_body=[1]", "target.extra_body"},
        {"openai-chat", "target.extra_body={\"a\":}", "target.extra_body"},
        {"openai-chat", "target.extra_body=@/nowhere", "/nowhere"},
        {"openai-chat", "target.extra_body={\"a\":1,\"max_tokens\":1,\"a\":2}",
         "'a'"},
        {"openai-chat", "target.extra_body={\"max_completion_tokens\":3}",
         "--output-len"},
        {"openai-chat", "target.extra_body={\"stream\":false}", "--stream"},
        {"openai-chat", "target.extra_body={\"stream_options\":{}}", "--body"},
        {"openai-completions", "target.extra_body={\"x\":1,\"prompt\":[]}",
         "'prompt'"},
        {"tgi", "target.extra_body={\"parameters\":{}}", "'parameters'"},
        {"openai-chat", "data.prompts=ids", "does not accept token ids"},
        {"kserve-http", "data.binary=true", "data.tensors"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rig rig;
        struct err err = {0};

        rig_init(&rig, cases[i].api);
        set(&rig, cases[i].setting);
        assert_int_equal(api_init(&rig.api, &rig.settings, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_non_null(strstr(err.msg, cases[i].part));
        rig_fini(&rig);
    }
}

/* ---- answers ---- */

TEST(whole_answers)
{
    static const struct {
        const char *api;
        const char *text;
        int rc;
        bool has_content;
        bool is_error;
    } cases[] = {
        {"openai-embeddings", "{\"data\":[{\"embedding\":[1]}]}", 0, true,
         false},
        {"openai-embeddings", "{\"data\":[]}", 0, false, false},
        {"openai-embeddings", "{\"x\":1}", -1, false, false},
        {"rerank", "{\"results\":[{\"index\":0}]}", 0, true, false},
        {"rerank", "{\"error\":{\"message\":\"no\"}}", 0, false, true},
        {"tgi", "{\"generated_text\":\"a\"}", 0, true, false},
        {"tgi", "{\"error\":\"x\",\"error_type\":\"y\"}", 0, false, true},
        {"triton-generate", "{\"text_output\":\"a\"}", 0, true, false},
        {"sglang", "{\"text\":\"a\",\"meta_info\":{}}", 0, true, false},
        {"tfserving-http", "{\"predictions\":[1]}", 0, true, false},
        {"tfserving-http", "{\"error\":\"x\"}", 0, false, true},
        {"kserve-http", "{\"outputs\":[{\"name\":\"y\",\"data\":[1]}]}", 0,
         true, false},
        {"kserve-http", "{\"outputs\":[]}", 0, false, false},
        {"kserve-http",
         "{\"outputs\":[{\"parameters\":{\"binary_data_size\":4}}]}", -1, true,
         false},
        {"kserve-http", /* their sum is 2^64 */
         "{\"outputs\":[{\"parameters\":{\"binary_data_size\":"
         "9223372036854775807}},{\"parameters\":{\"binary_data_size\":"
         "9223372036854775807}},{\"parameters\":{\"binary_data_size\":2}}]}",
         -1, true, false},
        {"kserve-http", "[]", -1, false, false},
        {"openai-chat",
         "{\"choices\":[{\"message\":{\"content\":null,\"refusal\":null,"
         "\"function_call\":null}}]}",
         0, false, false},
        {"openai-chat",
         "{\"choices\":[{\"message\":{\"content\":null,\"refusal\":\"no\"}}]}",
         0, true, false},
        {"openai-chat",
         "{\"choices\":[{\"message\":{\"content\":null,\"function_call\":{"
         "\"name\":\"f\",\"arguments\":\"{}\"}}}]}",
         0, true, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct response_head head = {.json_len = -1};
        struct rig rig;
        struct piece p = piece_none();
        struct err err = {0};

        rig_init(&rig, cases[i].api);
        set(&rig, "data.tensors=x FP32 1");
        assert_int_equal(api_init(&rig.api, &rig.settings, &err), 0);
        print_message("%s: %s\n", cases[i].api, cases[i].text);
        assert_int_equal(api_read_whole(&rig.api, &head, cases[i].text,
                                        strlen(cases[i].text), &p),
                         cases[i].rc);
        if (cases[i].rc == 0) {
            assert_int_equal(p.has_content, cases[i].has_content);
            assert_int_equal(p.is_error, cases[i].is_error);
        }
        rig_fini(&rig);
    }
}

/* Where the body of a refusal says why. */
TEST(refusals_have_reasons)
{
    static const struct {
        const char *body;
        const char *reason;
    } cases[] = {
        {"{\"error\":{\"message\":\"too long\",\"type\":\"x\"}}", "too long"},
        {"{\"object\":\"error\",\"message\":\"no model m\"}", "no model m"},
        {"{\"error\":\"overloaded\",\"error_type\":\"x\"}", "overloaded"},
        {"{\"detail\":\"Not Found\"}", "Not Found"},
        {"{\"detail\":[{\"loc\":[\"body\",1],\"msg\":\"field required\"},"
         "{\"msg\":\"second\"}]}",
         "field required"},
        {" busy", "busy"},
        {"{\"broken", "{\"broken"},
        {"{\"other\":1}", ""},
        {"[1]", ""},
        {"<html>a page</html>", ""},
        {"", ""},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct jtext got =
            api_find_reason(cases[i].body, strlen(cases[i].body));

        assert_int_equal(got.len, strlen(cases[i].reason));
        if (got.len > 0)
            assert_memory_equal(got.at, cases[i].reason, got.len);
    }
}
