/* Answers that are none: each gets its outcome. */
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "tests/support/responserig.h"
#include "tests/support/test.h"

#define MS NS_PER_MS

static const struct {
    const char *name;
    const char *type;
    const char *bytes;
    enum outcome outcome;
    int64_t detail;
} failures[] = {
    {"error", "text/event-stream",
     TOKEN("a") "data: {\"error\":{\"message\":\"out of memory\"}}\n\n" DONE,
     OUTCOME_INBAND, RESPONSE_ERROR_EVENT},
    {"error as text", "text/event-stream",
     "data: {\"error\":\"overloaded\",\"error_type\":\"x\"}\n\n",
     OUTCOME_INBAND, RESPONSE_ERROR_EVENT},
    {"old error", "text/event-stream",
     "data: {\"object\":\"error\",\"message\":\"no\"}\n\n" DONE, OUTCOME_INBAND,
     RESPONSE_ERROR_EVENT},
    {"empty", "text/event-stream", "", OUTCOME_EMPTY, RESPONSE_NO_EVENTS},
    {"keep-alives alone", "text/event-stream",
     ": ping\n\ndata:\n\ndata: : ping\n\n", OUTCOME_EMPTY, RESPONSE_NO_EVENTS},
    {"terminator alone", "text/event-stream", DONE, OUTCOME_EMPTY,
     RESPONSE_NO_CONTENT},
    {"role alone", "text/event-stream", ROLE FINISH("stop") DONE, OUTCOME_EMPTY,
     RESPONSE_NO_CONTENT},
    {"cut", "text/event-stream", TOKEN("a") TOKEN("b"), OUTCOME_TRUNCATED,
     RESPONSE_NO_TERMINATOR},
    {"cut in an event", "text/event-stream",
     TOKEN("a") "data: {\"choices\":[{\"del", OUTCOME_TRUNCATED,
     RESPONSE_NO_TERMINATOR},
    {"named error", "text/event-stream",
     TOKEN("a") "event: error\ndata: {\"message\":\"no\"}\n\n" DONE,
     OUTCOME_INBAND, RESPONSE_ERROR_EVENT},
    {"named error, as text", "text/event-stream",
     TOKEN("a") "event: error\ndata: out of memory\n\n" DONE, OUTCOME_INBAND,
     RESPONSE_ERROR_EVENT},
    {"no JSON", "text/event-stream", TOKEN("a") "data: {\"choi\n\n" DONE,
     OUTCOME_MALFORMED, RESPONSE_BAD_EVENT},
    {"other JSON", "text/event-stream", "data: {\"a\":1}\n\n" DONE,
     OUTCOME_MALFORMED, RESPONSE_BAD_EVENT},
    {"error, no stream", "application/json",
     "{\"error\":{\"message\":\"busy\"}}", OUTCOME_INBAND, RESPONSE_ERROR_BODY},
    {"no stream", "application/json",
     "{\"choices\":[{\"message\":{\"content\":\"a\"}}]}", OUTCOME_MALFORMED,
     RESPONSE_NOT_A_STREAM},
    {"a page", "text/html", "<html>", OUTCOME_MALFORMED, RESPONSE_NOT_A_STREAM},
};

TEST(each_failure_has_its_name)
{
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    for (size_t i = 0; i < COUNT(failures); i++) {
        responserig_begin(&rig, failures[i].type);
        responserig_take(&rig, 5 * MS, failures[i].bytes);
        print_message("%s\n", failures[i].name);
        assert_non_null(responserig_finish(&rig, 6 * MS));
        assert_int_equal(rig.facts.outcome, failures[i].outcome);
        assert_int_equal(rig.facts.detail, failures[i].detail);
    }
    responserig_fini(&rig);
}

TEST(what_is_no_json_is_told_apart)
{
    static const struct {
        const char *bytes;
        const char *why;
    } cases[] = {
        {"data: {\"choi\n\n" DONE, "an event that is not valid JSON"},
        {"data: hello\n\n" DONE, "an event that is not valid JSON"},
        {"data: {\"a\":1}\n\n" DONE, "an event that does not fit the API"},
        {"data: [1]\n\n" DONE, "an event that does not fit the API"},
    };
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    for (size_t i = 0; i < COUNT(cases); i++) {
        responserig_begin_stream(&rig);
        responserig_take(&rig, 5 * MS, cases[i].bytes);
        assert_string_equal(responserig_finish(&rig, 6 * MS), cases[i].why);
    }
    responserig_fini(&rig);
}

TEST(an_error_says_why)
{
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    responserig_begin_stream(&rig);
    responserig_take(&rig, 5 * MS, TOKEN("a"));
    responserig_take(
        &rig, 6 * MS,
        "data: {\"error\":{\"type\":\"x\",\"message\":\"no memory\"}}\n\n");
    responserig_take(&rig, 7 * MS, TOKEN("b") DONE);
    assert_string_equal(responserig_finish(&rig, 9 * MS), "no memory");
    assert_int_equal(rig.facts.end, 6 * MS);
    assert_int_equal(rig.facts.events, 1);
    responserig_fini(&rig);
}

TEST(a_status_is_a_failure)
{
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    responserig_begin(&rig, "application/json");
    response_take(&rig.response, 503, 5 * MS, "{}", 2);
    assert_string_equal(response_finish(&rig.response, 503, 5 * MS),
                        "HTTP status 503");
    assert_int_equal(rig.facts.outcome, OUTCOME_STATUS);
    assert_int_equal(rig.facts.detail, 503);
    responserig_begin(&rig, "text/plain");
    response_take(&rig.response, 503, 5 * MS, "busy\tnow\r\n", 10);
    assert_string_equal(response_finish(&rig.response, 503, 5 * MS),
                        "HTTP status 503: busy now");
    responserig_begin(&rig, "text/html");
    assert_non_null(response_finish(&rig.response, 302, 5 * MS));
    assert_int_equal(rig.facts.outcome, OUTCOME_STATUS);
    responserig_fini(&rig);
}

/* An answer of no bytes is empty where the API has content to promise. */
TEST(no_body_is_empty)
{
    static const struct {
        enum api_kind kind;
        const char *setting;
        enum outcome outcome;
        enum response_detail detail;
    } cases[] = {
        {API_OPENAI_EMBEDDINGS, "name=x", OUTCOME_EMPTY, RESPONSE_NO_CONTENT},
        {API_RERANK, "name=x", OUTCOME_EMPTY, RESPONSE_NO_CONTENT},
        {API_KSERVE_HTTP, "data.tensors=x FP32 1", OUTCOME_EMPTY,
         RESPONSE_NO_CONTENT},
        {API_OPENAI_CHAT, "target.stream=off", OUTCOME_EMPTY,
         RESPONSE_NO_CONTENT},
        {API_OPENAI_CHAT, "name=x", OUTCOME_MALFORMED, RESPONSE_NOT_A_STREAM},
        {API_HTTP, "name=x", OUTCOME_OK, RESPONSE_FINE},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct responserig rig = {0};
        struct err err = {0};

        settings_init(&rig.settings);
        rig.settings.target.api = (int)cases[i].kind;
        assert_int_equal(settings_assign(&rig.settings, cases[i].setting, &err),
                         0);
        assert_int_equal(api_init(&rig.api, &rig.settings, &err), 0);
        responserig_begin(&rig, "application/json");
        responserig_finish(&rig, 5 * MS);
        assert_int_equal(rig.facts.outcome, cases[i].outcome);
        if (cases[i].outcome != OUTCOME_OK)
            assert_int_equal(rig.facts.detail, cases[i].detail);
        responserig_fini(&rig);
    }
}

TEST(a_length_that_was_forced_is_kept)
{
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    for (int forced = 0; forced < 2; forced++) {
        rig.settings.target.ignore_eos = forced;
        responserig_begin_stream(&rig);
        rig.facts.output_asked = 20;
        responserig_take(&rig, 5 * MS, TOKEN("a") USAGE("1", "17") DONE);
        assert_int_equal(responserig_finish(&rig, 5 * MS) == NULL, !forced);
        assert_int_equal(rig.facts.detail,
                         forced ? RESPONSE_WRONG_LENGTH : RESPONSE_FINE);
        responserig_begin_stream(&rig);
        rig.facts.output_asked = 20;
        responserig_take(&rig, 5 * MS, TOKEN("a") USAGE("1", "19") DONE);
        assert_null(responserig_finish(&rig, 5 * MS));
    }
    responserig_fini(&rig);
}

/* It is not known how many tokens an event has: two of them may be twenty
 * tokens, but twenty are no two. */
TEST(few_events_may_be_a_length_that_was_forced)
{
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    rig.settings.target.ignore_eos = true;
    responserig_begin_stream(&rig);
    rig.facts.output_asked = 20;
    responserig_take(&rig, 5 * MS, TOKEN("a b c") TOKEN("d e f") DONE);
    assert_null(responserig_finish(&rig, 5 * MS));
    responserig_begin_stream(&rig);
    rig.facts.output_asked = 2;
    responserig_take(&rig, 5 * MS,
                     TOKEN("a") TOKEN("b") TOKEN("c") TOKEN("d") TOKEN("e")
                         DONE);
    assert_non_null(responserig_finish(&rig, 5 * MS));
    assert_int_equal(rig.facts.detail, RESPONSE_WRONG_LENGTH);
    responserig_fini(&rig);
}

/* It was not asked for, and the body means nothing then. */
TEST(a_compressed_answer_is_named)
{
    static const struct {
        const char *type;
        const char *coding;
        const char *body;
        int status;
        const char *why; /* NULL: it is fine */
    } cases[] = {
        {"application/json", "gzip", "\x1f\x8b\b", 200,
         "the answer is compressed (gzip), which is not supported"},
        {"text/event-stream", "br", "\x1f\x8b\b", 200,
         "the answer is compressed (br), which is not supported"},
        {"text/event-stream", "zstd", "\x28\xb5\x2f\xfd", 200,
         "the answer is compressed (zstd), which is not supported"},
        {"text/event-stream", "\x1b[31m", "x", 200,
         "the answer is compressed (an unknown coding), which is not "
         "supported"},
        {"application/json", "Deflate", "\x1f\x8b\b", 400,
         "HTTP status 400: the body is compressed (deflate)"},
        {"text/event-stream", "identity", TOKEN("a") DONE, 200, NULL},
        {"text/event-stream", "gzip", TOKEN("a") DONE, 200, NULL},
    };
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *why;

        responserig_begin(&rig, cases[i].type);
        response_header(&rig.response, "Content-Encoding", 16, cases[i].coding,
                        strlen(cases[i].coding));
        response_take(&rig.response, cases[i].status, 5 * MS, cases[i].body,
                      strlen(cases[i].body));
        why = response_finish(&rig.response, cases[i].status, 5 * MS);
        if (cases[i].why)
            assert_string_equal(why, cases[i].why);
        else
            assert_null(why);
        if (cases[i].why && cases[i].status == 200)
            assert_int_equal(rig.facts.outcome, OUTCOME_MALFORMED);
    }
    responserig_fini(&rig);
}
