/* Every fault of a stream in every API that streams, byte by byte.  Three
 * tokens are asked for; the second is the middle, after which things go
 * wrong. */
#include <string.h>

#include "tests/support/keep.h"
#include "tests/support/stubrig.h"
#include "tests/support/test.h"

#define EVENT(data) "data: " data "\n\n"
#define DONE        EVENT("[DONE]")

#define OPENAI_ERROR                                                           \
    "{\"error\":{\"message\":\"the stub was told to fail\",\"type\":"          \
    "\"server_error\",\"param\":null,\"code\":500}}"
#define TEXT_ERROR "{\"error\":\"the stub was told to fail\"}"
#define TGI_ERROR                                                              \
    "{\"error\":\"the stub was told to fail\",\"error_type\":\"generation\"}"

#define OPENAI(object, choices)                                                \
    "{\"id\":\"stub-1\",\"object\":\"" object                                  \
    "\",\"created\":0,\"model\":\"stub\",\"choices\":[" choices "]"
#define CHAT(delta, reason)                                                    \
    EVENT(OPENAI("chat.completion.chunk",                                      \
                 "{\"index\":0,\"delta\":{" delta                              \
                 "},\"finish_reason\":" reason "}") "}")
#define TEXT(reason)                                                           \
    EVENT(OPENAI("text_completion", "{\"index\":0,\"text\":\" tok\","          \
                                    "\"finish_reason\":" reason "}") "}")
#define USAGE(object, completion, total)                                       \
    EVENT(OPENAI(object, "") ",\"usage\":{\"prompt_tokens\":2,"                \
                             "\"completion_tokens\":" completion               \
                             ",\"total_tokens\":" total "}}")
#define TGI(index, id, text, details)                                          \
    EVENT("{\"index\":" index ",\"token\":{\"id\":" id                         \
          ",\"text\":\" tok\",\"logprob\":-0.5,\"special\":false},"            \
          "\"generated_text\":" text ",\"details\":" details "}")
#define TGI_DETAILS(reason, tokens)                                            \
    "{\"finish_reason\":\"" reason "\",\"generated_tokens\":" tokens           \
    ",\"seed\":null,\"input_length\":2}"
#define SGLANG(text, reason, completion)                                       \
    EVENT("{\"text\":\"" text "\",\"meta_info\":{\"id\":\"stub-1\","           \
          "\"finish_reason\":" reason ",\"prompt_tokens\":2,"                  \
          "\"completion_tokens\":" completion ",\"cached_tokens\":0}}")
#define SGLANG_END(type) "{\"type\":\"" type "\",\"length\":3}"
#define TRITON(text)                                                           \
    EVENT("{\"model_name\":\"stub\",\"model_version\":\"1\",\"text_output\":"  \
          "\"" text "\"}")

#define CHAT_CHUNK "chat.completion.chunk"
#define CONTENT    "\"content\":\" tok\""

/* What an API says, and what it says instead where something is wrong. */
struct api {
    const char *flag;
    const char *path;
    const char *body;
    const char *role;
    const char *first;
    const char *second;
    const char *third;
    const char *last; /* after the tokens */
    const char *done;
    const char *error;        /* without its frame */
    const char *unmarked;     /* the third, of a stream without an end */
    const char *wrong_finish; /* the third */
    const char *wrong_usage;  /* the third and the last; 7 more */
    enum http_end no_done;
};

static const struct api apis[] = {
    {"--delay=0", "/v1/chat/completions",
     "{\"messages\":[{\"content\":\"oh hi\"}],\"max_tokens\":3,\"stream\":true,"
     "\"stream_options\":{\"include_usage\":true}}",
     CHAT("\"role\":\"assistant\",\"content\":\"\"", "null"),
     CHAT(CONTENT, "null"), CHAT(CONTENT, "null"), CHAT(CONTENT, "\"length\""),
     USAGE(CHAT_CHUNK, "3", "5"), DONE, OPENAI_ERROR,
     CHAT(CONTENT, "\"length\""), CHAT(CONTENT, "\"abort\""),
     CHAT(CONTENT, "\"length\"") USAGE(CHAT_CHUNK, "10", "12"), HTTP_WHOLE},
    {"--delay=0", "/v1/completions",
     "{\"prompt\":\"oh hi\",\"max_tokens\":3,\"stream\":true,"
     "\"stream_options\":{\"include_usage\":true}}",
     "", TEXT("null"), TEXT("null"), TEXT("\"length\""),
     USAGE("text_completion", "3", "5"), DONE, OPENAI_ERROR, TEXT("\"length\""),
     TEXT("\"abort\""), TEXT("\"length\"") USAGE("text_completion", "10", "12"),
     HTTP_WHOLE},
    {"--delay=0", "/generate_stream",
     "{\"inputs\":\"oh hi\",\"parameters\":{\"max_new_tokens\":3,"
     "\"details\":true}}",
     "", TGI("1", "0", "null", "null"), TGI("2", "1", "null", "null"),
     TGI("3", "2", "\" tok tok tok\"", TGI_DETAILS("length", "3")), "", "",
     TGI_ERROR, TGI("3", "2", "null", "null"),
     TGI("3", "2", "\" tok tok tok\"", TGI_DETAILS("abort", "3")),
     TGI("3", "2", "\" tok tok tok\"", TGI_DETAILS("length", "10")),
     HTTP_WHOLE},
    {"--delay=0", "/generate",
     "{\"text\":\"oh hi\",\"stream\":true,\"sampling_params\":{"
     "\"max_new_tokens\":3}}",
     "", SGLANG(" tok", "null", "1"), SGLANG(" tok tok", "null", "2"),
     SGLANG(" tok tok tok", SGLANG_END("length"), "3"), "", DONE, OPENAI_ERROR,
     SGLANG(" tok tok tok", SGLANG_END("length"), "3"),
     SGLANG(" tok tok tok", SGLANG_END("abort"), "3"), NULL, HTTP_WHOLE},
    {"--delay=0", "/v2/models/m/generate_stream",
     "{\"text_input\":\"oh hi\",\"max_tokens\":3}", "", TRITON(" tok"),
     TRITON(" tok"), TRITON(" tok"), "", "", TEXT_ERROR, TRITON(" tok"),
     TRITON(" tok"), TRITON(" tok"), HTTP_CUT},
    {"--accumulate", "/v2/models/m/generate_stream",
     "{\"text_input\":\"oh hi\",\"max_tokens\":3}", "", TRITON(" tok"),
     TRITON(" tok tok"), TRITON(" tok tok tok"), "", "", TEXT_ERROR,
     TRITON(" tok tok tok"), TRITON(" tok tok tok"), TRITON(" tok tok tok"),
     HTTP_CUT},
};

#define N_APIS (sizeof(apis) / sizeof(apis[0]))

static struct http_reply ask(const struct api *api, const char *flag)
{
    struct http_reply reply;
    struct stubrig rig;

    STUBRIG_BEGIN(&rig, api->flag, flag);
    reply = stubrig_post(&rig, api->path, "", api->body, strlen(api->body));
    stubrig_end(&rig);
    return reply;
}

/* Texts up to a NULL, one after the other, are the body. */
static void expect(const struct api *api, const char *flag, enum http_end end,
                   const char *const *texts)
{
    struct http_reply reply = ask(api, flag);
    struct buf want;

    buf_init(&want, 1 << 20);
    for (; *texts; texts++)
        buf_adds(&want, *texts);
    assert_int_equal(reply.status, 200);
    if (reply.end != end || strcmp(buf_text(&reply.body), buf_text(&want)) != 0)
        fail_msg("%s with %s: end %d\n%s\n  is not\n%s", api->path, flag,
                 (int)reply.end, buf_text(&reply.body), buf_text(&want));
    assert_true(http_has_header(&reply, "Content-Type: text/event-stream"));
    buf_fini(&want);
    http_reply_fini(&reply);
}

#define EXPECT(api, flag, end, ...)                                            \
    expect(api, flag, end, (const char *const[]){__VA_ARGS__, NULL})

/* Nothing is wrong with what is said, only with when. */
TEST(it_is_all_there)
{
    static const char *const flags[] = {
        "--delay=1ms", "--fault=burst", "--fault=coalesced=2",
        "--events-per-write=2", "--fault=double-done p=0"};

    for (size_t i = 0; i < N_APIS; i++) {
        const struct api *a = &apis[i];

        for (size_t k = 0; k < sizeof(flags) / sizeof(flags[0]); k++)
            EXPECT(a, flags[k], HTTP_WHOLE, a->role, a->first, a->second,
                   a->third, a->last, a->done);
    }
}

TEST(an_error_in_the_middle)
{
    static const char garbage[] = EVENT("{\"choices\": [not JSON");

    for (size_t i = 0; i < N_APIS; i++) {
        const struct api *a = &apis[i];

        EXPECT(a, "--fault=inband", HTTP_WHOLE, a->role, a->first, a->second,
               "data: ", a->error, "\n\n");
        EXPECT(a, "--fault=malformed", HTTP_WHOLE, a->role, a->first, a->second,
               garbage, a->third, a->last, a->done);
        EXPECT(a, "--fault=endless=6", HTTP_WHOLE, a->role, a->first, a->second,
               "data: {\"text\":\"xxxxxx");
        EXPECT(a, "--fault=truncated", HTTP_CUT, a->role, a->first, a->second);
    }
}

TEST(an_end_that_is_missing)
{
    for (size_t i = 0; i < N_APIS; i++) {
        const struct api *a = &apis[i];

        EXPECT(a, "--fault=no-done", a->no_done, a->role, a->first, a->second,
               a->unmarked, a->last);
        EXPECT(a, "--fault=double-done", HTTP_WHOLE, a->role, a->first,
               a->second, a->third, a->last, a->done, a->done);
        EXPECT(a, "--fault=no-events", HTTP_WHOLE, "");
        EXPECT(a, "--fault=empty", HTTP_WHOLE, a->last, a->done);
    }
}

TEST(an_end_that_is_wrong)
{
    for (size_t i = 0; i < N_APIS; i++) {
        const struct api *a = &apis[i];

        EXPECT(a, "--fault=wrong-finish", HTTP_WHOLE, a->role, a->first,
               a->second, a->wrong_finish, a->last, a->done);
        if (a->wrong_usage) /* else it is in every event */
            EXPECT(a, "--fault=wrong-usage=7", HTTP_WHOLE, a->role, a->first,
                   a->second, a->wrong_usage, a->done);
    }
}

TEST(usage_is_wrong_in_every_event)
{
    struct http_reply reply = ask(&apis[3], "--fault=wrong-usage=7");

    assert_non_null(strstr(buf_text(&reply.body), "\"completion_tokens\":8,"));
    assert_non_null(strstr(buf_text(&reply.body), "\"completion_tokens\":9,"));
    assert_non_null(strstr(buf_text(&reply.body), "\"completion_tokens\":10,"));
    http_reply_fini(&reply);
}

TEST(json_instead_of_a_stream)
{
    for (size_t i = 0; i < N_APIS; i++) {
        struct http_reply reply = ask(&apis[i], "--fault=wrong-type");

        assert_int_equal(reply.status, 200);
        assert_int_equal(reply.end, HTTP_WHOLE);
        assert_true(http_has_header(&reply, "Content-Type: application/json"));
        assert_string_equal(buf_text(&reply.body), apis[i].error);
        http_reply_fini(&reply);
    }
}

static int count(const char *text, const char *word)
{
    int n = 0;

    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

/* The events are otherwise as they would be. */
TEST(other_lengths)
{
    static const struct {
        const char *flag;
        int events;
        const char *reason; /* as OpenAI has it */
    } cases[] = {
        {"--fault=length=1", 1, "stop"},
        {"--fault=length=5", 5, "length"},
        {"--eos-tokens=2", 2, "stop"},
        {"--eos-tokens=9", 3, "length"},
        {"--tokens-per-event=2", 2, "length"},
        {"--fault=bundle=9", 1, "length"},
    };

    for (size_t i = 0; i < N_APIS; i++) {
        for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
            struct http_reply reply = ask(&apis[i], cases[k].flag);
            int extra = count(apis[i].role, "data: ") +
                        count(apis[i].last, "data: ") +
                        count(apis[i].done, "data: ");
            char *reason = keepf("\"finish_reason\":\"%s\"", cases[k].reason);

            assert_int_equal(reply.end, HTTP_WHOLE);
            assert_int_equal(count(buf_text(&reply.body), "data: "),
                             cases[k].events + extra);
            if (i < 2)
                assert_int_equal(count(buf_text(&reply.body), reason), 1);
            http_reply_fini(&reply);
        }
    }
}

/* Answers end by themselves, but not before and not for those that asked. */
TEST(the_end_by_itself)
{
    static const struct {
        const char *path;
        const char *body;
        int tokens;
    } cases[] = {
        {"/v1/completions", "{\"prompt\":\"x\"}", 4},
        {"/v1/completions", "{\"prompt\":\"x\",\"max_tokens\":9}", 4},
        {"/v1/completions", "{\"prompt\":\"x\",\"max_tokens\":3}", 3},
        {"/v1/completions",
         "{\"prompt\":\"x\",\"max_tokens\":9,\"ignore_eos\":true}", 9},
        {"/v1/completions",
         "{\"prompt\":\"x\",\"max_tokens\":9,\"min_tokens\":7}", 7},
        {"/v1/chat/completions", "{\"messages\":[],\"min_tokens\":7}", 7},
        {"/generate",
         "{\"text\":\"x\",\"sampling_params\":{\"max_new_tokens\":9,"
         "\"ignore_eos\":true}}",
         9},
        {"/generate",
         "{\"text\":\"x\",\"sampling_params\":{\"max_new_tokens\":9,"
         "\"min_new_tokens\":7}}",
         7},
        {"/generate",
         "{\"inputs\":\"x\",\"parameters\":{\"max_new_tokens\":9}}", 4},
        {"/v2/models/m/generate",
         "{\"text_input\":\"x\",\"parameters\":{\"max_tokens\":9,"
         "\"ignore_eos\":true}}",
         9},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct http_reply reply;
        struct stubrig rig;

        STUBRIG_BEGIN(&rig, "--eos-tokens=4");
        reply = stubrig_post(&rig, cases[i].path, "", cases[i].body,
                             strlen(cases[i].body));
        assert_int_equal(count(buf_text(&reply.body), " tok"), cases[i].tokens);
        http_reply_fini(&reply);
        stubrig_end(&rig);
    }
}

/* Hidden reasoning takes its time and leaves no event but the role's. */
TEST(reasoning_may_be_hidden)
{
    static const struct {
        const char *flag;
        int content;
        int reasoning;
    } cases[] = {
        {"--reasoning-as=hidden", 1, 0},
        {"--reasoning-as=reasoning", 1, 2},
        {"--reasoning-as=reasoning_content", 1, 2},
        {"--tokens-per-event=9", 1, 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct http_reply reply;
        struct stubrig rig;

        STUBRIG_BEGIN(&rig, "--reasoning-tokens=2", cases[i].flag);
        reply = stubrig_post(&rig, apis[0].path, "", apis[0].body,
                             strlen(apis[0].body));
        assert_int_equal(count(buf_text(&reply.body), "\"content\":\" tok"),
                         cases[i].content);
        assert_int_equal(
            count(buf_text(&reply.body), "\"reasoning\":\" tok") +
                count(buf_text(&reply.body), "\"reasoning_content\":\" tok"),
            cases[i].reasoning);
        assert_non_null(
            strstr(buf_text(&reply.body),
                   "\"completion_tokens\":3,\"total_tokens\":5,"
                   "\"completion_tokens_details\":{\"reasoning_tokens\":2}"));
        http_reply_fini(&reply);
        stubrig_end(&rig);
    }
}

/* Ends of lines and keep-alives are the same for all. */
TEST(events_in_other_ways)
{
    for (size_t i = 0; i < N_APIS; i++) {
        struct http_reply reply = ask(&apis[i], "--sse=crlf,comments");
        const char *text = buf_text(&reply.body);
        int events = count(text, "data: ");

        assert_int_equal(count(text, "\n"), 4 * events);
        assert_int_equal(count(text, "\r\n"), 4 * events);
        assert_int_equal(count(text, ": ping\r\n\r\ndata: "), events);
        http_reply_fini(&reply);
    }
}
