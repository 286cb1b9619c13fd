/* OpenAI's chat completions and completions.  Tokens are words of our own; a
 * prompt's length is guessed from its text, four bytes a token, or known from
 * its token ids. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "server-stub/api.h"
#include "server-stub/call.h"
#include "server-stub/front.h"

#define BYTES_PER_TOKEN 4

/* More is no request that anybody means. */
#define MAX_OUTPUT (INT64_C(1) << 20)

/* ---- the request ---- */

static int64_t text_tokens(const json_t *text)
{
    return (int64_t)(json_string_length(text) + BYTES_PER_TOKEN - 1) /
           BYTES_PER_TOKEN;
}

/* A string, a list of token ids, or a list of either. */
static int64_t prompt_tokens(const json_t *prompt)
{
    int64_t tokens = 0;
    const json_t *item;
    size_t i;

    if (json_is_string(prompt))
        return text_tokens(prompt);
    if (json_is_integer(json_array_get(prompt, 0)))
        return (int64_t)json_array_size(prompt);
    json_array_foreach(prompt, i, item)
    {
        tokens += json_is_string(item) ? text_tokens(item)
                                       : (int64_t)json_array_size(item);
    }
    return tokens;
}

static int64_t message_tokens(const json_t *messages)
{
    int64_t tokens = 0;
    const json_t *message;
    size_t i;

    json_array_foreach(messages, i, message)
    {
        tokens += text_tokens(json_object_get(message, "content"));
    }
    return tokens;
}

static bool read_options(const json_t *json, struct call *call)
{
    const json_t *stream = json_object_get(json, "stream_options");
    const json_t *most = json_object_get(json, "max_completion_tokens");

    if (!json_is_integer(most))
        most = json_object_get(json, "max_tokens");
    if (json_is_integer(most) && json_integer_value(most) > 0)
        call->job.output_tokens = json_integer_value(most);
    call->streams = json_is_true(json_object_get(json, "stream"));
    call->wants_usage = json_is_true(json_object_get(stream, "include_usage"));
    call->wants_step_usage =
        json_is_true(json_object_get(stream, "continuous_usage_stats"));
    return call->job.output_tokens <= MAX_OUTPUT;
}

static bool read_request(const struct exchange *x, struct call *call,
                         const char *key, int64_t (*count)(const json_t *))
{
    json_t *json = json_loadb(x->body, x->body_len, 0, NULL);
    const json_t *prompt = json_object_get(json, key);
    bool is_valid = prompt != NULL;

    if (is_valid) {
        call->job.prompt_tokens = count(prompt);
        is_valid = read_options(json, call);
    }
    json_decref(json);
    return is_valid;
}

static bool read_chat(const struct exchange *x, struct call *call)
{
    return read_request(x, call, "messages", message_tokens);
}

static bool read_completion(const struct exchange *x, struct call *call)
{
    return read_request(x, call, "prompt", prompt_tokens);
}

/* ---- the answer ---- */

static void put_words(struct buf *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        buf_adds(out, " tok");
}

static void put_usage(const struct call *call, int64_t produced,
                      struct buf *out)
{
    long long prompt = call->job.prompt_tokens;

    buf_addf(out,
             ",\"usage\":{\"prompt_tokens\":%lld,\"completion_tokens\":%lld,"
             "\"total_tokens\":%lld}",
             prompt, (long long)produced, prompt + (long long)produced);
}

static bool gives_usage(const struct call *call)
{
    return !fault_has(&call->faults, FAULT_NO_USAGE);
}

static void put_opening(const struct call *call, const char *object,
                        const char *model, struct buf *out)
{
    buf_addf(out,
             "{\"id\":\"stub-%lld\",\"object\":\"%s\",\"created\":0,"
             "\"model\":\"%s\"",
             (long long)call->nth, object, model);
}

/* One event with n tokens; `delta` is the part that the two APIs do not share.
 * The last token brings the reason. */
static void put_chunk(const struct call *call, const char *object,
                      const char *model, const char *delta, int64_t n,
                      struct buf *out)
{
    int64_t so_far = call->sent_tokens + n;
    bool is_last = n > 0 && so_far >= call->job.output_tokens;

    buf_adds(out, "data: ");
    put_opening(call, object, model, out);
    buf_addf(out, ",\"choices\":[{\"index\":0,%s,\"finish_reason\":%s}]", delta,
             is_last ? "\"length\"" : "null");
    if (call->wants_step_usage && gives_usage(call))
        put_usage(call, so_far, out);
    buf_adds(out, "}\n\n");
}

static void put_last(const struct call *call, const char *object,
                     const char *model, struct buf *out)
{
    if (call->wants_usage && gives_usage(call)) {
        buf_adds(out, "data: ");
        put_opening(call, object, model, out);
        buf_adds(out, ",\"choices\":[]");
        put_usage(call, call->job.produced, out);
        buf_adds(out, "}\n\n");
    }
    if (!fault_has(&call->faults, FAULT_NO_DONE))
        buf_adds(out, "data: [DONE]\n\n");
    if (fault_has(&call->faults, FAULT_DOUBLE_DONE))
        buf_adds(out, "data: [DONE]\n\n");
}

static void put_error(const struct call *call, struct buf *out)
{
    (void)call;
    buf_adds(out, "data: {\"error\":{\"message\":\"the stub was told to fail\","
                  "\"type\":\"server_error\",\"code\":500}}\n\n");
}

#define CHAT_CHUNK "chat.completion.chunk"
#define TEXT_CHUNK "text_completion"

static void chat_role(const struct call *call, const char *model,
                      struct buf *out)
{
    put_chunk(call, CHAT_CHUNK, model,
              "\"delta\":{\"role\":\"assistant\",\"content\":\"\"}", 0, out);
}

/* n words with this around them as the delta. */
static void put_tokens(const struct call *call, const char *object,
                       const char *model, const char *const around[2],
                       int64_t n, struct buf *out)
{
    struct buf delta;

    buf_init(&delta, (size_t)1 << 24);
    buf_adds(&delta, around[0]);
    put_words(&delta, n);
    buf_adds(&delta, around[1]);
    put_chunk(call, object, model, buf_text(&delta), n, out);
    buf_fini(&delta);
}

static void chat_tokens(const struct call *call, const char *model, int64_t n,
                        struct buf *out)
{
    static const char *const around[2] = {"\"delta\":{\"content\":\"", "\"}"};

    put_tokens(call, CHAT_CHUNK, model, around, n, out);
}

static void text_tokens_out(const struct call *call, const char *model,
                            int64_t n, struct buf *out)
{
    static const char *const around[2] = {"\"text\":\"", "\""};

    put_tokens(call, TEXT_CHUNK, model, around, n, out);
}

static void text_role(const struct call *call, const char *model,
                      struct buf *out)
{
    put_chunk(call, TEXT_CHUNK, model, "\"text\":\"\"", 0, out);
}

static void chat_last(const struct call *call, const char *model,
                      struct buf *out)
{
    put_last(call, CHAT_CHUNK, model, out);
}

static void text_last(const struct call *call, const char *model,
                      struct buf *out)
{
    put_last(call, TEXT_CHUNK, model, out);
}

static void put_whole(const struct call *call, const char *object,
                      const char *model, const char *const around[2],
                      struct buf *out)
{
    put_opening(call, object, model, out);
    buf_addf(out, ",\"choices\":[{\"index\":0,%s", around[0]);
    put_words(out, call->job.produced);
    buf_addf(out, "%s,\"finish_reason\":\"length\"}]", around[1]);
    if (gives_usage(call))
        put_usage(call, call->job.produced, out);
    buf_adds(out, "}");
}

static void chat_whole(const struct call *call, const char *model,
                       struct buf *out)
{
    static const char *const around[2] = {
        "\"message\":{\"role\":\"assistant\",\"content\":\"", "\"}"};

    put_whole(call, "chat.completion", model, around, out);
}

static void text_whole(const struct call *call, const char *model,
                       struct buf *out)
{
    static const char *const around[2] = {"\"text\":\"", "\""};

    put_whole(call, TEXT_CHUNK, model, around, out);
}

const struct api_ops api_openai_chat = {
    .name = "openai-chat",
    .path = "/v1/chat/completions",
    .opens_with_role = true,
    .read = read_chat,
    .whole = chat_whole,
    .role = chat_role,
    .tokens = chat_tokens,
    .last = chat_last,
    .error = put_error,
};

const struct api_ops api_openai_completions = {
    .name = "openai-completions",
    .path = "/v1/completions",
    .read = read_completion,
    .whole = text_whole,
    .role = text_role,
    .tokens = text_tokens_out,
    .last = text_last,
    .error = put_error,
};
