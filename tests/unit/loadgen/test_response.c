/* Streams that are fine, by hand, and whole answers. */
#include <stdio.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "tests/support/responserig.h"
#include "tests/support/test.h"

#define MS NS_PER_MS

/* The stream of the definitions: first token after 100 ms, then 4 events of 4
 * tokens each, 40 ms apart. */
TEST(the_worked_stream)
{
    struct responserig rig;
    char event[256];

    responserig_init(&rig, API_OPENAI_CHAT);
    responserig_begin_stream(&rig);
    responserig_take(&rig, 50 * MS, ROLE);
    for (int i = 0; i < 5; i++) {
        snprintf(event, sizeof(event),
                 "data: {\"choices\":[{\"delta\":{\"content\":\"w\"}}],"
                 "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":%d}}"
                 "\n\n",
                 1 + 4 * i);
        responserig_take(&rig, (100 + 40 * i) * MS, event);
    }
    responserig_take(&rig, 270 * MS, FINISH("length") USAGE("9", "17") DONE);
    assert_null(responserig_finish(&rig, 280 * MS));
    assert_int_equal(rig.facts.outcome, OUTCOME_OK);
    assert_int_equal(rig.facts.first, 100 * MS);
    assert_int_equal(rig.facts.last, 260 * MS);
    assert_int_equal(rig.facts.end, 270 * MS);
    assert_int_equal(rig.facts.events, 5);
    assert_int_equal(rig.facts.coalesced, 0);
    assert_int_equal(rig.facts.stall, 40 * MS);
    assert_int_equal(rig.facts.prompt_tokens, 9);
    assert_int_equal(rig.facts.output_tokens, 17);
    assert_int_equal(rig.facts.token_source, TOKENS_USAGE);
    assert_int_equal(rig.facts.is_split, 1);
    assert_int_equal(rig.facts.event_tokens, 17);
    assert_int_equal(rig.facts.first_tokens, 1);
    assert_int_equal(rig.facts.finish, FINISH_LENGTH);
    assert_int_equal(measure_value(MEASURE_TPOT, FROM_DUE, &rig.facts),
                     10 * MS);
    for (size_t i = 0; i < 5; i++) {
        struct content_event e = response_event(&rig.response, i);

        assert_int_equal(e.seq, 7);
        assert_int_equal(e.at_us, 100000 + 40000 * i);
        assert_int_equal(e.tokens, i == 0 ? 1 : 4);
    }
    responserig_fini(&rig);
}

TEST(tokens_of_events_without_counts_are_spread)
{
    static const int64_t want[] = {1, 2, 3, 3};
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    responserig_begin_stream(&rig);
    for (int i = 0; i < 4; i++)
        responserig_take(&rig, (10 + i) * MS, TOKEN("a"));
    responserig_take(&rig, 20 * MS, USAGE("3", "9") DONE);
    assert_null(responserig_finish(&rig, 20 * MS));
    assert_int_equal(rig.facts.is_split, 0);
    assert_int_equal(rig.facts.output_tokens, 9);
    assert_int_equal(rig.facts.event_tokens, 9);
    assert_int_equal(rig.facts.first_tokens, 1);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(response_event(&rig.response, i).tokens, want[i]);
    responserig_fini(&rig);
}

TEST(events_are_tokens_where_nobody_counts)
{
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    responserig_begin_stream(&rig);
    responserig_take(&rig, 10 * MS, TOKEN("a") TOKEN("b"));
    responserig_take(&rig, 12 * MS, TOKEN("c") DONE);
    assert_null(responserig_finish(&rig, 12 * MS));
    assert_int_equal(rig.facts.token_source, TOKENS_EVENTS);
    assert_int_equal(rig.facts.output_tokens, 3);
    assert_int_equal(rig.facts.coalesced, 1);
    assert_int_equal(rig.facts.prompt_tokens, TIME_ABSENT);
    responserig_fini(&rig);
}

TEST(token_ids_count)
{
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_COMPLETIONS);
    responserig_begin_stream(&rig);
    responserig_take(
        &rig, 10 * MS,
        "data: {\"choices\":[{\"text\":\"a\",\"token_ids\":[5]}]}\n\n");
    responserig_take(
        &rig, 14 * MS,
        "data: {\"choices\":[{\"text\":\"bc\",\"token_ids\":[6,7]}]}\n\n" DONE);
    assert_null(responserig_finish(&rig, 14 * MS));
    assert_int_equal(rig.facts.token_source, TOKENS_IDS);
    assert_int_equal(rig.facts.output_tokens, 3);
    assert_int_equal(rig.facts.is_split, 1);
    assert_int_equal(measure_value(MEASURE_TPOT, FROM_DUE, &rig.facts), 2 * MS);
    responserig_fini(&rig);
}

#define IDS(text, ids)                                                         \
    "data: {\"choices\":[{\"delta\":{\"content\":\"" text                      \
    "\"},\"token_ids\":[" ids "]}]}\n\n"

/* Parts of a character have no text, and come with the event that has it; what
 * ends an answer comes with none. */
TEST(ids_without_text_count)
{
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    responserig_begin_stream(&rig);
    responserig_take(&rig, 10 * MS, IDS("a", "1"));
    responserig_take(&rig, 20 * MS, IDS("", "2"));
    responserig_take(&rig, 30 * MS, IDS("", "3"));
    responserig_take(&rig, 40 * MS, IDS("b", "4"));
    responserig_take(&rig, 50 * MS, IDS("", "5") DONE);
    assert_null(responserig_finish(&rig, 50 * MS));
    assert_int_equal(rig.facts.output_tokens, 5);
    assert_int_equal(rig.facts.token_source, TOKENS_IDS);
    assert_int_equal(rig.facts.event_tokens, 4);
    assert_int_equal(rig.facts.first_tokens, 1);
    assert_int_equal(response_event(&rig.response, 1).tokens, 3);
    assert_int_equal(measure_value(MEASURE_TPOT, FROM_DUE, &rig.facts),
                     10 * MS);
    responserig_fini(&rig);
}

/* A count that comes with the role is one of the running ones. */
TEST(usage_before_content_is_not_the_last)
{
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    responserig_begin_stream(&rig);
    responserig_take(&rig, 10 * MS, USAGE("3", "0"));
    responserig_take(&rig, 20 * MS,
                     "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],"
                     "\"usage\":{\"completion_tokens\":2}}\n\n" DONE);
    assert_null(responserig_finish(&rig, 20 * MS));
    assert_int_equal(rig.facts.output_tokens, 2);
    assert_int_equal(rig.facts.token_source, TOKENS_CHUNK_USAGE);
    responserig_fini(&rig);
}

#define TGI(text, special, more)                                               \
    "data: {\"token\":{\"id\":1,\"text\":\"" text "\",\"special\":" special    \
    "}," more "}\n\n"

/* What ends an answer is a token and no content. */
TEST(special_tokens_are_no_content)
{
    struct responserig rig;

    responserig_init(&rig, API_TGI);
    responserig_begin_stream(&rig);
    responserig_take(&rig, 10 * MS,
                     TGI("a", "false", "\"generated_text\":null"));
    responserig_take(&rig, 20 * MS,
                     TGI("b", "false", "\"generated_text\":null"));
    responserig_take(
        &rig, 90 * MS,
        TGI("</s>", "true",
            "\"generated_text\":\"ab\",\"details\":{\"finish_reason\":"
            "\"eos_token\",\"generated_tokens\":3}"));
    assert_null(responserig_finish(&rig, 91 * MS));
    assert_int_equal(rig.facts.events, 2);
    assert_int_equal(rig.facts.last, 20 * MS);
    assert_int_equal(rig.facts.end, 90 * MS);
    assert_int_equal(rig.facts.output_tokens, 3);
    assert_int_equal(rig.facts.event_tokens, 2);
    responserig_fini(&rig);
}

#define TRITON(text) "data: {\"text_output\":\"" text "\"}\n\n"
#define SGLANG(text, finish)                                                   \
    "data: {\"text\":\"" text "\",\"meta_info\":{\"finish_reason\":" finish    \
    "}}\n\n"
#define MORE "null"
#define STOP "{\"type\":\"stop\"}"

/* TensorRT-LLM may tell all of the text each time, and SGLang usually does:
 * then what does not grow is no content, and the last is the answer. */
TEST(text_may_be_told_from_its_beginning)
{
    static const struct {
        enum api_kind api;
        const char *bytes;
        int64_t events;
        enum answer_check check;
    } cases[] = {
        {API_TRITON_GENERATE,
         TRITON("a") TRITON("a b") TRITON("a b c") TRITON("a b c"), 3,
         CHECK_PASSED},
        {API_TRITON_GENERATE, TRITON("a b") TRITON("a b c") TRITON("d"), 3,
         CHECK_FAILED},
        {API_TRITON_GENERATE, TRITON("a") TRITON(" b") TRITON(" ") TRITON("c"),
         4, CHECK_PASSED},
        {API_TRITON_GENERATE,
         TRITON(" ") TRITON(" a") TRITON(" b") TRITON(" c"), 4, CHECK_PASSED},
        {API_TRITON_GENERATE, TRITON("a b c"), 1, CHECK_PASSED},
        {API_TRITON_GENERATE,
         TRITON("the") TRITON("the the the") TRITON("the the the"), 3,
         CHECK_FAILED},
        {API_TRITON_GENERATE,
         TRITON("the the t") TRITON("the the the") TRITON("the the the"), 2,
         CHECK_FAILED},
        {API_SGLANG,
         SGLANG("a", MORE) SGLANG("a b", MORE) SGLANG("a b c", MORE)
             SGLANG("a b c", STOP) DONE,
         3, CHECK_PASSED},
        {API_SGLANG, SGLANG("a b c", MORE) SGLANG("a b c", STOP) DONE, 1,
         CHECK_PASSED},
        {API_SGLANG, /* without its stop string at the end */
         SGLANG("a b c", MORE) SGLANG("a b c###", MORE) SGLANG("a b c", STOP)
             DONE,
         2, CHECK_PASSED},
        {API_SGLANG, /* --incremental-streaming-output */
         SGLANG("a", MORE) SGLANG(" b", MORE) SGLANG("", MORE)
             SGLANG(" c", MORE) SGLANG("", STOP) DONE,
         3, CHECK_PASSED},
        {API_SGLANG, SGLANG("a b", MORE) SGLANG(" c", STOP) DONE, 2,
         CHECK_PASSED},
        {API_SGLANG, SGLANG("a b ", MORE) SGLANG("c", STOP) DONE, 2,
         CHECK_PASSED},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct settings settings;
        struct responserig rig = {0};
        struct err err = {0};

        settings_init(&settings);
        settings.target.api = (int)cases[i].api;
        strlist_add(&settings.checks, "exact a b c");
        assert_int_equal(api_init(&rig.api, &settings, &err), 0);
        responserig_begin_stream(&rig);
        responserig_take(&rig, 1 * MS, cases[i].bytes);
        assert_null(responserig_finish(&rig, 2 * MS));
        if (rig.facts.events != cases[i].events ||
            rig.facts.check != (int64_t)cases[i].check)
            fail_msg("case %zu: %lld events, check %lld", i,
                     (long long)rig.facts.events, (long long)rig.facts.check);
        response_fini(&rig.response);
        api_fini(&rig.api);
        settings_fini(&settings);
    }
}

TEST(reasoning_that_is_hidden_is_not_delivered)
{
    static const char usage[] =
        "data: {\"choices\":[],\"usage\":{\"completion_tokens\":12,"
        "\"completion_tokens_details\":{\"reasoning_tokens\":10},"
        "\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\n" DONE;
    static const char thought[] =
        "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n";
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    responserig_begin_stream(&rig);
    responserig_take(&rig, 10 * MS, TOKEN("a") TOKEN("b"));
    responserig_take(&rig, 12 * MS, usage);
    assert_null(responserig_finish(&rig, 12 * MS));
    assert_int_equal(rig.facts.reasoning_tokens, 10);
    assert_int_equal(rig.facts.cached_tokens, 4);
    assert_int_equal(rig.facts.event_tokens, 2);
    responserig_begin_stream(&rig);
    responserig_take(&rig, 8 * MS, thought);
    responserig_take(&rig, 10 * MS, TOKEN("a"));
    responserig_take(&rig, 12 * MS, usage);
    assert_null(responserig_finish(&rig, 12 * MS));
    assert_int_equal(rig.facts.first, 8 * MS);
    assert_int_equal(rig.facts.event_tokens, 12);
    responserig_fini(&rig);
}

TEST(tool_calls_are_content_and_nulls_are_not)
{
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    responserig_begin_stream(&rig);
    responserig_take(
        &rig, 5 * MS,
        "data: {\"choices\":[{\"delta\":{\"content\":null,\"tool_calls\":null,"
        "\"reasoning\":null}}],\"usage\":null,\"error\":null}\n\n");
    assert_int_equal(rig.facts.events, 0);
    responserig_take(
        &rig, 6 * MS,
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,"
        "\"function\":{\"arguments\":\"{\"}}]}}]}\n\n");
    responserig_take(&rig, 7 * MS, FINISH("tool_calls") DONE);
    assert_null(responserig_finish(&rig, 7 * MS));
    assert_int_equal(rig.facts.events, 1);
    assert_int_equal(rig.facts.first, 6 * MS);
    assert_int_equal(rig.facts.finish, FINISH_TOOL_CALLS);
    responserig_fini(&rig);
}

/* The server may keep the connection open after its terminator. */
TEST(what_is_over_was_whole)
{
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    responserig_begin_stream(&rig);
    responserig_take(&rig, 10 * MS, TOKEN("a") DONE);
    rig.facts.outcome = OUTCOME_TIMEOUT;
    rig.facts.end = 999 * MS;
    assert_null(response_break(&rig.response, "no answer within the timeout"));
    assert_int_equal(rig.facts.outcome, OUTCOME_OK);
    assert_int_equal(rig.facts.end, 10 * MS);
    responserig_begin_stream(&rig);
    responserig_take(&rig, 10 * MS, TOKEN("a"));
    rig.facts.outcome = OUTCOME_TIMEOUT;
    rig.facts.end = 999 * MS;
    assert_string_equal(response_break(&rig.response, "late"), "late");
    assert_int_equal(rig.facts.outcome, OUTCOME_TIMEOUT);
    assert_int_equal(rig.facts.end, 999 * MS);
    assert_int_equal(rig.facts.events, 1);
    assert_int_equal(rig.facts.output_tokens, 1);
    responserig_fini(&rig);
}

/* What comes after the terminator makes no content of none. */
TEST(what_is_over_and_empty_is_no_success)
{
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    responserig_begin_stream(&rig);
    responserig_take(&rig, 10 * MS, ROLE DONE);
    rig.facts.outcome = OUTCOME_RESET;
    assert_non_null(response_break(&rig.response, "closed"));
    assert_int_equal(rig.facts.outcome, OUTCOME_EMPTY);
    assert_int_equal(rig.facts.detail, RESPONSE_NO_CONTENT);
    assert_int_equal(rig.facts.end, 10 * MS);
    responserig_fini(&rig);
}

/* A count that no answer can have is not said at all. */
TEST(counts_beyond_all_bounds_are_none)
{
    static const char *const numbers[] = {"9223372036854775807", "2147483648",
                                          "-1", "-9223372036854775807"};
    struct responserig rig;
    char usage[256];

    responserig_init(&rig, API_OPENAI_CHAT);
    for (size_t i = 0; i < COUNT(numbers); i++) {
        snprintf(usage, sizeof(usage),
                 "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],"
                 "\"usage\":{\"prompt_tokens\":%s,\"completion_tokens\":%s,"
                 "\"completion_tokens_details\":{\"reasoning_tokens\":%s}}}"
                 "\n\n",
                 numbers[i], numbers[i], numbers[3 - i]);
        responserig_begin_stream(&rig);
        responserig_take(&rig, 1 * MS, TOKEN("a") TOKEN("b"));
        responserig_take(&rig, 2 * MS, usage);
        responserig_take(&rig, 3 * MS, DONE);
        assert_null(responserig_finish(&rig, 3 * MS));
        assert_int_equal(rig.facts.output_tokens, 3);
        assert_int_equal(rig.facts.token_source, TOKENS_EVENTS);
        assert_int_equal(rig.facts.prompt_tokens, TIME_ABSENT);
        assert_int_equal(rig.facts.reasoning_tokens, TIME_ABSENT);
    }
    responserig_fini(&rig);
}

/* Memory is bounded, and what does not fit is not handed out. */
TEST(events_beyond_the_bound_are_a_failure)
{
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    responserig_begin_stream(&rig);
    rig.response.events.max = 3 * sizeof(struct response_event);
    for (int i = 0; i < 100; i++)
        responserig_take(&rig, (10 + i) * MS, TOKEN("a"));
    responserig_take(&rig, 200 * MS, DONE);
    assert_non_null(responserig_finish(&rig, 200 * MS));
    assert_int_equal(rig.facts.outcome, OUTCOME_MALFORMED);
    assert_int_equal(rig.facts.detail, RESPONSE_MANY_EVENTS);
    assert_int_equal(rig.facts.events, 3);
    assert_int_equal(rig.facts.last, 12 * MS);
    assert_int_equal(response_event(&rig.response, 2).at_us, 12000);
    responserig_fini(&rig);
}

/* 2^32 microseconds are 71.6 minutes. */
TEST(event_times_do_not_wrap)
{
    static const int64_t at_us[] = {1000, INT64_C(4294967295) + 1000,
                                    INT64_C(4294967296) + 1000,
                                    INT64_C(90000000000)};
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    responserig_begin_stream(&rig);
    for (size_t i = 0; i < COUNT(at_us); i++)
        responserig_take(&rig, at_us[i] * NS_PER_US, TOKEN("a"));
    responserig_take(&rig, at_us[COUNT(at_us) - 1] * NS_PER_US, DONE);
    assert_null(responserig_finish(&rig, at_us[COUNT(at_us) - 1] * NS_PER_US));
    for (size_t i = 0; i < COUNT(at_us); i++)
        assert_int_equal(response_event(&rig.response, i).at_us, at_us[i]);
    responserig_fini(&rig);
}

/* ---- whole answers ---- */

TEST(a_whole_answer_is_read)
{
    struct responserig rig;

    responserig_init(&rig, API_OPENAI_CHAT);
    rig.api.streams = false;
    rig.api.must_stream = false;
    responserig_begin(&rig, "application/json");
    responserig_take(&rig, 4 * MS,
                     "{\"choices\":[{\"message\":{\"content\":\"Hi\"},");
    responserig_take(
        &rig, 6 * MS,
        "\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":3,"
        "\"completion_tokens\":2}}");
    assert_null(responserig_finish(&rig, 6 * MS));
    assert_int_equal(rig.facts.first, 6 * MS);
    assert_int_equal(rig.facts.last, 6 * MS);
    assert_int_equal(rig.facts.events, 0);
    assert_int_equal(rig.facts.output_tokens, 2);
    assert_int_equal(rig.facts.finish, FINISH_STOP);
    responserig_begin(&rig, "application/json");
    responserig_take(&rig, 4 * MS,
                     "{\"choices\":[{\"message\":{\"content\":\"\"}}]}");
    assert_non_null(responserig_finish(&rig, 6 * MS));
    assert_int_equal(rig.facts.outcome, OUTCOME_EMPTY);
    responserig_begin(&rig, "application/json");
    responserig_take(&rig, 4 * MS,
                     "{\"choices\":[{\"message\":{\"content\":\"Hi\"}}");
    assert_non_null(responserig_finish(&rig, 6 * MS));
    assert_int_equal(rig.facts.detail, RESPONSE_BAD_BODY);
    responserig_fini(&rig);
}

/* ---- checks ---- */

/* One check of an answer in one piece. */
static int64_t checked(enum api_kind kind, const char *rule, const char *header,
                       const char *body)
{
    struct settings settings;
    struct responserig rig = {0};
    struct err err = {0};
    int64_t check;

    settings_init(&settings);
    settings.target.api = (int)kind;
    settings.target.stream = STREAM_OFF;
    strlist_add(&settings.checks, rule);
    strlist_add(&settings.data.tensors, "x FP32 1");
    assert_int_equal(api_init(&rig.api, &settings, &err), 0);
    responserig_begin(&rig, "application/json");
    if (header)
        response_header(&rig.response, "inference-header-content-length", 31,
                        header, strlen(header));
    responserig_take(&rig, 1 * MS, body);
    responserig_finish(&rig, 1 * MS);
    check = rig.facts.check;
    response_fini(&rig.response);
    api_fini(&rig.api);
    settings_fini(&settings);
    return check;
}

TEST(answers_are_checked)
{
    static const char thought[] =
        "{\"choices\":[{\"message\":{\"content\":\"4\\n2\","
        "\"reasoning_content\":\"well\"}}]}";
    static const char path[] = "{\"path\":\"C:\\\\temp\"}";

    assert_int_equal(checked(API_OPENAI_CHAT, "exact 4\n2", NULL, thought),
                     CHECK_PASSED);
    assert_int_equal(checked(API_OPENAI_CHAT, "contains well", NULL, thought),
                     CHECK_FAILED);
    /* Of plain HTTP the body is the answer, as it stands. */
    assert_int_equal(
        checked(API_HTTP, "exact {\"path\":\"C:\\\\temp\"}", NULL, path),
        CHECK_PASSED);
    assert_int_equal(
        checked(API_HTTP, "json /path = \"C:\\\\temp\"", NULL, path),
        CHECK_PASSED);
    /* Whatever the header says, there are no bytes behind the body. */
    assert_int_equal(checked(API_HTTP, "json /path = 1", "99999", path),
                     CHECK_FAILED);
    assert_int_equal(checked(API_HTTP, "tensor y = 1", "99999", path),
                     CHECK_FAILED);
}
