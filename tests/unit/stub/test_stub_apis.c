/* What each API answers, byte by byte. */
#include <stdio.h>
#include <string.h>

#include "tests/support/stubrig.h"
#include "tests/support/test.h"

#define CHAT    "/v1/chat/completions"
#define TEXT    "/v1/completions"
#define EMBED   "/v1/embeddings"
#define RERANK  "/v1/rerank"
#define TRITON  "/v2/models/m/generate"
#define INFER   "/v2/models/m/infer"
#define PREDICT "/v1/models/m:predict"

#define EVENT(data) "data: " data "\n\n"
#define DONE        EVENT("[DONE]")

#define CHUNK(choices)                                                         \
    "{\"id\":\"stub-1\",\"object\":\"chat.completion.chunk\",\"created\":0,"   \
    "\"model\":\"stub\",\"choices\":[" choices "]"
#define DELTA(delta, more)                                                     \
    EVENT(CHUNK("{\"index\":0,\"delta\":{" delta "}," more "}") "}")
#define ROLE                                                                   \
    DELTA("\"role\":\"assistant\",\"content\":\"\"", "\"finish_reason\":null")
#define USAGE(prompt, completion, total)                                       \
    "\"usage\":{\"prompt_tokens\":" prompt                                     \
    ",\"completion_tokens\":" completion ",\"total_tokens\":" total "}"

#define COMPLETION(text, more)                                                 \
    "{\"id\":\"stub-1\",\"object\":\"text_completion\",\"created\":0,"         \
    "\"model\":\"stub\",\"choices\":[{\"index\":0,\"text\":\"" text "\"" more  \
    ",\"finish_reason\":\"length\"}]"

#define GENERATED(text)                                                        \
    "{\"model_name\":\"stub\",\"model_version\":\"1\",\"text_output\":\"" text \
    "\"}"
#define TGI_TOKEN(id)                                                          \
    "{\"id\":" id ",\"text\":\" tok\",\"logprob\":-0.5,\"special\":false}"
#define SGLANG(text, reason, prompt, completion)                               \
    "{\"text\":\"" text "\",\"meta_info\":{\"id\":\"stub-1\","                 \
    "\"finish_reason\":" reason ",\"prompt_tokens\":" prompt                   \
    ",\"completion_tokens\":" completion ",\"cached_tokens\":0}}"
#define INVALID(message)                                                       \
    "{\"error\":{\"message\":\"" message                                       \
    "\",\"type\":\"invalid_request_error\",\"param\":null,\"code\":400}}"
#define INFERRED(outputs)                                                      \
    "{\"model_name\":\"stub\",\"model_version\":\"1\",\"outputs\":[" outputs   \
    "]}"

static const struct {
    const char *flag; /* NULL: none */
    const char *path;
    const char *body;
    int status;
    const char *answer;
} cases[] = {
    /* OpenAI: chat */
    {NULL, CHAT, "{\"messages\":[{\"content\":\"oh hi\"}],\"max_tokens\":1}",
     200,
     "{\"id\":\"stub-1\",\"object\":\"chat.completion\",\"created\":0,"
     "\"model\":\"stub\",\"choices\":[{\"index\":0,\"message\":{\"role\":"
     "\"assistant\",\"content\":\" "
     "tok\"},\"finish_reason\":\"length\"}]," USAGE("2", "1", "3") "}"},
    {NULL, CHAT,
     "{\"messages\":[],\"stream\":true,\"max_completion_tokens\":2,"
     "\"max_tokens\":9}",
     200,
     ROLE DELTA("\"content\":\" tok\"", "\"finish_reason\":null")
         DELTA("\"content\":\" tok\"", "\"finish_reason\":\"length\"") DONE},
    {NULL, CHAT,
     "{\"messages\":[{\"content\":[{\"type\":\"text\",\"text\":\"12 45\"},"
     "{\"type\":\"image_url\"},{\"type\":\"text\",\"text\":\"1\"}]}],"
     "\"stream\":true,\"max_tokens\":1,\"return_token_ids\":true,"
     "\"stream_options\":{\"include_usage\":true}}",
     200,
     DELTA("\"role\":\"assistant\",\"content\":\"\"",
           "\"token_ids\":[],\"finish_reason\":null")
         DELTA("\"content\":\" tok\"",
               "\"token_ids\":[0],\"finish_reason\":\"length\"")
             EVENT(CHUNK("") "," USAGE("3", "1", "4") "}") DONE},
    {"--reasoning-tokens=1", CHAT,
     "{\"messages\":[],\"stream\":true,\"max_tokens\":2,\"stream_options\":"
     "{\"include_usage\":true}}",
     200,
     ROLE DELTA("\"reasoning_content\":\" tok\"", "\"finish_reason\":null")
         DELTA("\"content\":\" tok\"", "\"finish_reason\":\"length\"") EVENT(
             CHUNK("") ",\"usage\":{\"prompt_tokens\":0,\"completion_tokens\":"
                       "2,\"total_tokens\":2,\"completion_tokens_details\":{"
                       "\"reasoning_tokens\":1}}}") DONE},
    {NULL, CHAT, "{\"prompt\":\"x\"}", 400, INVALID("no messages")},
    {NULL, CHAT, "[]", 400, INVALID("refused by the stub")},

    /* OpenAI: completions */
    {NULL, TEXT,
     "{\"prompt\":\"oh hi\",\"max_tokens\":2,\"return_token_ids\":true}", 200,
     COMPLETION(" tok tok", ",\"token_ids\":[0,1]") "," USAGE("2", "2",
                                                              "4") "}"},
    {NULL, TEXT, "{\"prompt\":[\"oh hi\",\"you\"],\"max_tokens\":1}", 200,
     COMPLETION(" tok", "") "," USAGE("3", "1", "4") "}"},
    {NULL, TEXT, "{\"prompt\":[7,8,9],\"max_tokens\":1}", 200,
     COMPLETION(" tok", "") "," USAGE("3", "1", "4") "}"},
    {NULL, TEXT, "{\"prompt\":[[7,8],[9],[1,2]],\"max_tokens\":1}", 200,
     COMPLETION(" tok", "") "," USAGE("5", "1", "6") "}"},
    {NULL, TEXT,
     "{\"prompt\":[1],\"max_tokens\":1,\"stream\":true,\"stream_options\":"
     "{\"continuous_usage_stats\":true}}",
     200, EVENT(COMPLETION(" tok", "") "," USAGE("1", "1", "2") "}") DONE},
    {NULL, TEXT, "{\"prompt\":\"x\",\"max_tokens\":2,\"min_tokens\":3}", 400,
     INVALID("the minimum is above the maximum of tokens")},
    {NULL, TEXT, "{\"prompt\":\"x\",\"max_tokens\":2000000}", 400,
     INVALID("too many tokens for the stub")},

    /* embeddings and reranking */
    {"--embedding-size=2", EMBED, "{\"input\":[\"a\",\"12 45\"]}", 200,
     "{\"object\":\"list\",\"model\":\"stub\",\"data\":[{\"object\":"
     "\"embedding\",\"index\":0,\"embedding\":[0.25,-0.5]},{\"object\":"
     "\"embedding\",\"index\":1,\"embedding\":[-0.5,0.125]}],\"usage\":{"
     "\"prompt_tokens\":3,\"total_tokens\":3}}"},
    {NULL, EMBED, "{\"input\":[1,2,3],\"dimensions\":1}", 200,
     "{\"object\":\"list\",\"model\":\"stub\",\"data\":[{\"object\":"
     "\"embedding\",\"index\":0,\"embedding\":[0.25]}],\"usage\":{"
     "\"prompt_tokens\":3,\"total_tokens\":3}}"},
    {"--embedding-size=1", EMBED, "{\"input\":[[1],[2,3]]}", 200,
     "{\"object\":\"list\",\"model\":\"stub\",\"data\":[{\"object\":"
     "\"embedding\",\"index\":0,\"embedding\":[0.25]},{\"object\":"
     "\"embedding\",\"index\":1,\"embedding\":[-0.5]}],\"usage\":{"
     "\"prompt_tokens\":3,\"total_tokens\":3}}"},
    {"--embedding-size=1", EMBED, "{\"input\":\"oh hi\"}", 200,
     "{\"object\":\"list\",\"model\":\"stub\",\"data\":[{\"object\":"
     "\"embedding\",\"index\":0,\"embedding\":[0.25]}],\"usage\":{"
     "\"prompt_tokens\":2,\"total_tokens\":2}}"},
    {NULL, EMBED, "{\"input\":[]}", 400, INVALID("no inputs")},
    {"--embedding-size=1", EMBED,
     "{\"input\":\" because  of\\nthe internationality \"}", 200,
     "{\"object\":\"list\",\"model\":\"stub\",\"data\":[{\"object\":"
     "\"embedding\",\"index\":0,\"embedding\":[0.25]}],\"usage\":{"
     "\"prompt_tokens\":7,\"total_tokens\":7}}"},
    {NULL, EMBED, "{\"text\":\"a\"}", 400, INVALID("no input")},
    {NULL, EMBED, "{\"input\":\"a\",\"dimensions\":8193}", 400,
     INVALID("dimensions must be at most 8192")},
    {NULL, RERANK,
     "{\"query\":\"1234\",\"documents\":[\"a\",{\"text\":\"12 45\"}]}", 200,
     "{\"id\":\"stub-1\",\"model\":\"stub\",\"results\":[{\"index\":1,"
     "\"relevance_score\":1.000000},{\"index\":0,\"relevance_score\":"
     "0.500000}],\"usage\":{\"prompt_tokens\":5,\"total_tokens\":5}}"},
    {NULL, "/rerank",
     "{\"query\":\"1234\",\"documents\":[\"a\",\"b\"],\"top_n\":1}", 200,
     "{\"id\":\"stub-1\",\"model\":\"stub\",\"results\":[{\"index\":1,"
     "\"relevance_score\":1.000000}],\"usage\":{\"prompt_tokens\":4,"
     "\"total_tokens\":4}}"},
    {NULL, RERANK, "{\"documents\":[\"a\"]}", 400, INVALID("no query")},
    {NULL, RERANK, "{\"query\":\"a\"}", 400, INVALID("no inputs")},

    /* TGI */
    {NULL, "/generate",
     "{\"inputs\":\"oh hi\",\"parameters\":{\"max_new_tokens\":2}}", 200,
     "{\"generated_text\":\" tok tok\"}"},
    {NULL, "/generate",
     "{\"inputs\":\"oh hi\",\"parameters\":{\"max_new_tokens\":1,"
     "\"details\":true}}",
     200,
     "{\"generated_text\":\" tok\",\"details\":{\"finish_reason\":\"length\","
     "\"generated_tokens\":1,\"seed\":null,\"prefill\":[],\"tokens\":"
     "[" TGI_TOKEN("0") "]}}"},
    {NULL, "/generate_stream",
     "{\"inputs\":\"oh hi\",\"parameters\":{\"max_new_tokens\":2,"
     "\"details\":true}}",
     200,
     EVENT("{\"index\":1,\"token\":" TGI_TOKEN(
         "0") ",\"generated_text\":null,\"details\":null}")
         EVENT("{\"index\":2,\"token\":" TGI_TOKEN(
             "1") ",\"generated_text\":\" tok tok\",\"details\":{"
                  "\"finish_reason\":\"length\",\"generated_tokens\":2,"
                  "\"seed\":"
                  "null,\"input_length\":2}}")},
    {NULL, "/generate_stream", "{\"inputs\":\"oh hi\"}", 200,
     EVENT("{\"index\":1,\"token\":" TGI_TOKEN(
         "0") ",\"generated_text\":\" tok\",\"details\":null}")},
    {NULL, "/generate_stream", "{\"text\":\"oh hi\"}", 400,
     "{\"error\":\"refused by the stub\",\"error_type\":\"validation\"}"},

    /* SGLang */
    {NULL, "/generate",
     "{\"text\":\"oh hi\",\"sampling_params\":{\"max_new_tokens\":2}}", 200,
     SGLANG(" tok tok", "{\"type\":\"length\",\"length\":2}", "2", "2")},
    {NULL, "/generate",
     "{\"input_ids\":[1,2,3],\"stream\":true,\"sampling_params\":{"
     "\"max_new_tokens\":2}}",
     200,
     EVENT(SGLANG(" tok", "null", "3", "1")) EVENT(SGLANG(
         " tok tok", "{\"type\":\"length\",\"length\":2}", "3", "2")) DONE},
    {NULL, "/generate",
     "{\"text\":\"x\",\"stream\":true,\"sampling_params\":{"
     "\"max_new_tokens\":16385}}",
     400, INVALID("too many tokens for events that repeat the text")},
    {NULL, "/generate", "{\"prompt\":\"oh hi\"}", 400,
     "{\"error\":\"refused by the stub\",\"error_type\":\"validation\"}"},

    /* Triton's generate */
    {NULL, TRITON,
     "{\"text_input\":\"oh hi\",\"parameters\":{\"max_tokens\":2}}", 200,
     GENERATED(" tok tok")},
    {NULL, "/v2/models/m/versions/1/generate",
     "{\"text_input\":\"oh hi\",\"max_tokens\":2}", 200, GENERATED(" tok tok")},
    {NULL, TRITON "_stream",
     "{\"text_input\":\"oh hi\",\"parameters\":{\"max_tokens\":2}}", 200,
     EVENT(GENERATED(" tok")) EVENT(GENERATED(" tok"))},
    {"--accumulate", "/v2/models/m/versions/1/generate_stream",
     "{\"text_input\":\"oh hi\",\"parameters\":{\"max_tokens\":2}}", 200,
     EVENT(GENERATED(" tok")) EVENT(GENERATED(" tok tok"))},
    {NULL, TRITON, "{\"text\":\"oh hi\"}", 400,
     "{\"error\":\"no text_input\"}"},

    /* TensorFlow Serving */
    {NULL, PREDICT, "{\"instances\":[[1,2.5],[\"a\",{\"b64\":\"eA==\"}]]}", 200,
     "{\"predictions\":[[1,2.5],[\"a\",{\"b64\":\"eA==\"}]]}"},
    {NULL, "/v1/models/m/versions/7:predict", "{\"inputs\":{\"x\":[1]}}", 200,
     "{\"outputs\":{\"x\":[1]}}"},
    {NULL, "/v1/models/m/labels/l:predict", "{\"inputs\":3}", 200,
     "{\"outputs\":3}"},
    {NULL, "/v1/models/m:classify", "{\"examples\":[{\"x\":1},{\"x\":2}]}", 200,
     "{\"results\":[[[\"a\",0.75],[\"b\",0.25]],[[\"a\",0.75],[\"b\",0.25]]]}"},
    {NULL, "/v1/models/m:regress", "{\"examples\":[{\"x\":1},{\"x\":2}]}", 200,
     "{\"results\":[0.5,0.5]}"},
    {NULL, PREDICT, "{\"instances\":[1],\"inputs\":[1]}", 400,
     "{\"error\":\"requires either instances or inputs\"}"},
    {NULL, PREDICT, "{\"instances\":[]}", 400,
     "{\"error\":\"instances must be a list of at least one\"}"},
    {NULL, "/v1/models/m:regress", "{\"instances\":[1]}", 400,
     "{\"error\":\"no examples\"}"},

    /* KServe */
    {NULL, INFER,
     "{\"id\":\"a\\\"b\",\"inputs\":[{\"name\":\"x\",\"datatype\":\"INT32\","
     "\"shape\":[2,1],\"data\":[[1],[-2]]},{\"name\":\"y\",\"datatype\":"
     "\"BYTES\",\"shape\":[1],\"data\":[\"t\"]}]}",
     200,
     "{\"model_name\":\"stub\",\"model_version\":\"1\",\"id\":\"a\\\"b\","
     "\"outputs\":[{\"name\":\"output0\",\"datatype\":\"INT32\",\"shape\":"
     "[2,1],\"data\":[1,-2]},{\"name\":\"output1\",\"datatype\":\"BYTES\","
     "\"shape\":[1],\"data\":[\"t\"]}]}"},
    {NULL, "/v2/models/m/versions/1/infer",
     "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"BOOL\",\"shape\":[1],"
     "\"data\":[true]},{\"name\":\"y\",\"datatype\":\"FP32\",\"shape\":[1],"
     "\"data\":[0.5]}],\"outputs\":[{\"name\":\"output1\"}]}",
     200,
     INFERRED("{\"name\":\"output1\",\"datatype\":\"FP32\",\"shape\":[1],"
              "\"data\":[0.5]}")},
    {NULL, INFER, "{", 400, "{\"error\":\"refused by the stub\"}"},
    {NULL, INFER, "{\"inputs\":[]}", 400, "{\"error\":\"no inputs\"}"},
    {NULL, INFER, "{\"inputs\":[{\"datatype\":\"BOOL\"}]}", 400,
     "{\"error\":\"inputs: a name is missing\"}"},
    {NULL, INFER, "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP8\"}]}", 400,
     "{\"error\":\"inputs: unknown datatype\"}"},
    {NULL, INFER,
     "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"INT8\",\"shape\":[-1],"
     "\"data\":[1]}]}",
     400, "{\"error\":\"inputs: invalid shape\"}"},
    {NULL, INFER,
     "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"INT8\",\"shape\":[2],"
     "\"data\":[1]}]}",
     400, "{\"error\":\"inputs: data does not match datatype and shape\"}"},
    {NULL, INFER,
     "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP16\",\"shape\":[1],"
     "\"data\":[1]}]}",
     400, "{\"error\":\"inputs: FP16 and BF16 require binary data\"}"},
    {NULL, INFER,
     "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"INT8\",\"shape\":[1]}]}", 400,
     "{\"error\":\"inputs: requires either data or binary_data_size\"}"},
    {NULL, INFER,
     "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"INT8\",\"shape\":[1],"
     "\"parameters\":{\"binary_data_size\":1}}]}",
     400, "{\"error\":\"inputs: fewer bytes than binary_data_size\"}"},
    {NULL, INFER,
     "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"INT8\",\"shape\":[1],"
     "\"data\":[1]}],\"outputs\":[{\"name\":\"output1\"}]}",
     400, "{\"error\":\"outputs: unknown output\"}"},
};

TEST(each_api_answers)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct http_reply reply;
        struct stubrig rig;

        STUBRIG_BEGIN(&rig, cases[i].flag ? cases[i].flag : "--delay=0");
        reply = stubrig_post(&rig, cases[i].path, "", cases[i].body,
                             strlen(cases[i].body));
        if (reply.status != cases[i].status ||
            strcmp(buf_text(&reply.body), cases[i].answer) != 0)
            fail_msg("%s %s: %d\n%s\n  is not\n%s", cases[i].path,
                     cases[i].body, reply.status, buf_text(&reply.body),
                     cases[i].answer);
        assert_true(
            http_has_header(&reply, strncmp(cases[i].answer, "data: ", 6) == 0
                                        ? "Content-Type: text/event-stream"
                                        : "Content-Type: application/json"));
        http_reply_fini(&reply);
        stubrig_end(&rig);
    }
}

/* ---- binary tensors ---- */

#define BINARY(name, type, size)                                               \
    "{\"name\":\"" name "\",\"datatype\":\"" type                              \
    "\",\"shape\":[2],\"parameters\":{\"binary_data_size\":" size "}}"
#define ALL_BINARY ",\"parameters\":{\"binary_data_output\":true}}"

static const struct {
    const char *json;
    const char *bytes;
    size_t len;
    int status;
    const char *answer; /* up to the bytes */
    const char *answer_bytes;
    size_t answer_len; /* 0: it is JSON alone */
} binaries[] = {
    /* bytes in, values out */
    {"{\"inputs\":[" BINARY("x", "INT16", "4") "]}", "\1\0\377\377", 4, 200,
     INFERRED("{\"name\":\"output0\",\"datatype\":\"INT16\",\"shape\":[2],"
              "\"data\":[1,-1]}"),
     "", 0},
    /* bytes in, bytes out; two tensors, of which JSON has no form for one */
    {"{\"inputs\":[" BINARY("x", "FP16", "4") "," BINARY("y", "BYTES",
                                                         "9") "]" ALL_BINARY,
     "\0\1\2\3\0\0\0\0\1\0\0\0z", 13, 200,
     INFERRED(
         BINARY("output0", "FP16", "4") "," BINARY("output1", "BYTES", "9")),
     "\0\1\2\3\0\0\0\0\1\0\0\0z", 13},
    /* values in, bytes out; only the one */
    {"{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[2],"
     "\"data\":[0.5,1]},{\"name\":\"y\",\"datatype\":\"INT8\",\"shape\":[2],"
     "\"data\":[1,2]}],\"outputs\":[{\"name\":\"output1\"},{\"name\":"
     "\"output0\",\"parameters\":{\"binary_data\":true}}]}",
     "", 0, 200,
     INFERRED("{\"name\":\"output1\",\"datatype\":\"INT8\",\"shape\":[2],"
              "\"data\":[1,2]}," BINARY("output0", "FP32", "8")),
     "\0\0\0\77\0\0\200\77", 8},
    {"{\"inputs\":[" BINARY("x", "INT16", "4") "]}", "\1\0\377", 3, 400,
     "{\"error\":\"inputs: fewer bytes than binary_data_size\"}", "", 0},
    {"{\"inputs\":[" BINARY("x", "INT16", "4") "]}", "\1\0\377\377\0", 5, 400,
     "{\"error\":\"more bytes than the inputs describe\"}", "", 0},
    {"{\"inputs\":[" BINARY("x", "INT16", "2") "]}", "\1\0", 2, 400,
     "{\"error\":\"inputs: the number of bytes does not match the shape\"}", "",
     0},
    {"{\"inputs\":[" BINARY("x", "FP16", "4") "]}", "\1\0\1\0", 4, 400,
     "{\"error\":\"outputs: FP16 and BF16 require binary data\"}", "", 0},
};

TEST(tensors_come_and_go_as_bytes)
{
    for (size_t i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++) {
        size_t json_len = strlen(binaries[i].answer);
        char text[80];
        struct http_reply reply;
        struct stubrig rig;
        struct buf body;

        buf_init(&body, 4096);
        buf_adds(&body, binaries[i].json);
        buf_add(&body, binaries[i].bytes, binaries[i].len);
        snprintf(text, sizeof(text), "Inference-Header-Content-Length: %zu\r\n",
                 strlen(binaries[i].json));
        STUBRIG_BEGIN(&rig, "--delay=0");
        reply = stubrig_post(&rig, INFER, text, body.data, body.len);
        assert_int_equal(reply.status, binaries[i].status);
        assert_int_equal(reply.body.len, json_len + binaries[i].answer_len);
        assert_memory_equal(reply.body.data, binaries[i].answer, json_len);
        assert_memory_equal(reply.body.data + json_len,
                            binaries[i].answer_bytes, binaries[i].answer_len);
        snprintf(text, sizeof(text), "Inference-Header-Content-Length: %zu",
                 json_len);
        assert_int_equal(http_has_header(&reply, text),
                         binaries[i].answer_len > 0);
        assert_int_equal(
            http_has_header(&reply, "Content-Type: application/octet-stream"),
            binaries[i].answer_len > 0);
        http_reply_fini(&reply);
        stubrig_end(&rig);
        buf_fini(&body);
    }
}

/* The second time the whole prompt was in the cache. */
TEST(what_was_cached_is_said)
{
    static const struct {
        const char *path;
        const char *body;
        const char *first;
        const char *second;
    } asked[] = {
        {TEXT, "{\"prompt\":[1,2,3],\"max_tokens\":1}", "\"total_tokens\":4}}",
         "\"total_tokens\":4,\"prompt_tokens_details\":{\"cached_tokens\":3}"},
        {"/generate", "{\"input_ids\":[1,2,3]}", "\"cached_tokens\":0}",
         "\"cached_tokens\":3}"},
    };

    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        struct stubrig rig;

        STUBRIG_BEGIN(&rig, "--cache");
        for (int is_again = 0; is_again < 2; is_again++) {
            struct http_reply reply = stubrig_post(
                &rig, asked[i].path, "", asked[i].body, strlen(asked[i].body));

            assert_non_null(
                strstr(buf_text(&reply.body),
                       is_again ? asked[i].second : asked[i].first));
            http_reply_fini(&reply);
        }
        stubrig_end(&rig);
    }
}
