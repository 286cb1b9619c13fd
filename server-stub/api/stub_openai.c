/* OpenAI's chat completions and completions, with the extensions of vLLM and
 * SGLang.  Several prompts in one request get one answer. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/settings/settings.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/api/stub_text.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"

#define CHAT_CHUNK "chat.completion.chunk"
#define TEXT_CHUNK "text_completion"

/* ---- the request ---- */

/* The content of a message is a text, or a list of parts, some with a text. */
static int64_t message_tokens(const json_t *messages)
{
    int64_t tokens = 0;
    const json_t *message;
    const json_t *part;
    size_t i;
    size_t k;

    json_array_foreach(messages, i, message)
    {
        const json_t *content = json_object_get(message, "content");

        if (json_is_string(content))
            tokens += text_prompt_tokens(content);
        json_array_foreach(content, k, part)
        {
            tokens += text_prompt_tokens(json_object_get(part, "text"));
        }
    }
    return tokens;
}

static bool read_options(const json_t *json, struct call *call)
{
    const json_t *stream = json_object_get(json, "stream_options");
    bool is_new =
        json_is_integer(json_object_get(json, "max_completion_tokens"));

    call->streams = json_is_true(json_object_get(json, "stream"));
    call->wants_usage = json_is_true(json_object_get(stream, "include_usage"));
    call->wants_step_usage =
        json_is_true(json_object_get(stream, "continuous_usage_stats"));
    call->wants_ids = json_is_true(json_object_get(json, "return_token_ids"));
    call->ignores_eos = json_is_true(json_object_get(json, "ignore_eos"));
    return text_read_bounds(json,
                            is_new ? "max_completion_tokens" : "max_tokens",
                            "min_tokens", call);
}

static bool read_chat(const struct json_t *json, const struct exchange *x,
                      struct call *call)
{
    const json_t *messages = json_object_get(json, "messages");

    (void)x;
    if (!messages) {
        call->why = "no messages";
        return false;
    }
    call->job.prompt_tokens = message_tokens(messages);
    return read_options(json, call);
}

static bool read_completion(const struct json_t *json, const struct exchange *x,
                            struct call *call)
{
    const json_t *prompt = json_object_get(json, "prompt");

    (void)x;
    if (!prompt) {
        call->why = "no prompt";
        return false;
    }
    call->job.prompt_tokens = text_prompt_tokens(prompt);
    return read_options(json, call);
}

/* ---- the answer ---- */

static long long smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void put_usage(const struct call *call, int64_t produced,
                      struct buf *out)
{
    long long prompt = call->job.prompt_tokens;
    long long completion = text_reported(call, produced);

    buf_addf(out,
             ",\"usage\":{\"prompt_tokens\":%lld,\"completion_tokens\":%lld,"
             "\"total_tokens\":%lld",
             prompt, completion, prompt + completion);
    if (call->job.cached_tokens > 0)
        buf_addf(out, ",\"prompt_tokens_details\":{\"cached_tokens\":%lld}",
                 (long long)call->job.cached_tokens);
    if (call->reasoning_tokens > 0)
        buf_addf(out,
                 ",\"completion_tokens_details\":{\"reasoning_tokens\":%lld}",
                 smaller(call->reasoning_tokens, produced));
    buf_adds(out, "}");
}

static void put_opening(const struct call *call, const char *object,
                        const struct stub_settings *s, struct buf *out)
{
    buf_addf(out,
             "{\"id\":\"stub-%lld\",\"object\":\"%s\",\"created\":0,"
             "\"model\":\"%s\",\"choices\":[",
             (long long)call->nth, object, s->model);
}

/* The end of a choice with the tokens [first, first + n), and the usage. */
static void put_ending(const struct call *call, int64_t first, int64_t n,
                       bool is_last, bool has_usage, struct buf *out)
{
    if (call->wants_ids) {
        buf_adds(out, ",\"token_ids\":[");
        text_put_ids(out, first, n);
        buf_adds(out, "]");
    }
    if (is_last)
        buf_addf(out, ",\"finish_reason\":\"%s\"}]",
                 text_reason(call, "length", "stop"));
    else
        buf_adds(out, ",\"finish_reason\":null}]");
    if (has_usage && text_gives_usage(call))
        put_usage(call, first + n, out);
    buf_adds(out, "}");
}

/* An event with n tokens; `before` is the JSON before their words. */
static void put_chunk(const struct call *call, const struct stub_settings *s,
                      const char *object, const char *before, int64_t n,
                      struct buf *out)
{
    put_opening(call, object, s, out);
    buf_addf(out, "{\"index\":0,%s", before);
    text_put_words(out, n);
    buf_adds(out, strcmp(object, CHAT_CHUNK) == 0 ? "\"}" : "\"");
    put_ending(call, call->sent_tokens, n, text_is_last(call, n),
               call->wants_step_usage, out);
}

static void put_last(const struct call *call, const char *object,
                     const struct stub_settings *s, struct buf *out)
{
    if (!call->wants_usage || !text_gives_usage(call))
        return;
    put_opening(call, object, s, out);
    buf_adds(out, "]");
    put_usage(call, call->job.produced, out);
    buf_adds(out, "}");
}

/* ---- chat ---- */

static void chat_role(const struct call *call, const struct stub_settings *s,
                      struct buf *out)
{
    put_chunk(call, s, CHAT_CHUNK,
              "\"delta\":{\"role\":\"assistant\",\"content\":\"", 0, out);
}

/* An event has only reasoning, or none. */
static void chat_tokens(const struct call *call, const struct stub_settings *s,
                        int64_t n, struct buf *out)
{
    bool reasons = call->sent_tokens + n <= call->reasoning_tokens &&
                   s->reasoning_as != REASONING_HIDDEN;
    char before[64];

    snprintf(before, sizeof(before), "\"delta\":{\"%s\":\"",
             reasons ? reasoning_names[s->reasoning_as] : "content");
    put_chunk(call, s, CHAT_CHUNK, before, n, out);
}

static void chat_last(const struct call *call, const struct stub_settings *s,
                      struct buf *out)
{
    put_last(call, CHAT_CHUNK, s, out);
}

static void chat_whole(struct call *call, const struct stub_settings *s,
                       struct buf *out)
{
    int64_t produced = call->job.produced;
    int64_t reasoning = smaller(call->reasoning_tokens, produced);

    put_opening(call, "chat.completion", s, out);
    buf_adds(out, "{\"index\":0,\"message\":{\"role\":\"assistant\"");
    if (reasoning > 0 && s->reasoning_as != REASONING_HIDDEN) {
        buf_addf(out, ",\"%s\":\"", reasoning_names[s->reasoning_as]);
        text_put_words(out, reasoning);
        buf_adds(out, "\"");
    }
    buf_adds(out, ",\"content\":\"");
    text_put_words(out, produced - reasoning);
    buf_adds(out, "\"}");
    put_ending(call, 0, produced, true, true, out);
}

/* ---- completions ---- */

static void text_tokens(const struct call *call, const struct stub_settings *s,
                        int64_t n, struct buf *out)
{
    put_chunk(call, s, TEXT_CHUNK, "\"text\":\"", n, out);
}

static void text_role(const struct call *call, const struct stub_settings *s,
                      struct buf *out)
{
    text_tokens(call, s, 0, out);
}

static void text_last(const struct call *call, const struct stub_settings *s,
                      struct buf *out)
{
    put_last(call, TEXT_CHUNK, s, out);
}

static void text_whole(struct call *call, const struct stub_settings *s,
                       struct buf *out)
{
    put_opening(call, TEXT_CHUNK, s, out);
    buf_adds(out, "{\"index\":0,\"text\":\"");
    text_put_words(out, call->job.produced);
    buf_adds(out, "\"");
    put_ending(call, 0, call->job.produced, true, true, out);
}

const struct api_ops api_openai_chat = {
    .name = "openai-chat",
    .paths = (const char *const[]){"/v1/chat/completions", NULL},
    .opens_with_role = true,
    .can_reason = true,
    .done = "[DONE]",
    .read = read_chat,
    .whole = chat_whole,
    .role = chat_role,
    .tokens = chat_tokens,
    .last = chat_last,
};

const struct api_ops api_openai_completions = {
    .name = "openai-completions",
    .paths = (const char *const[]){"/v1/completions", NULL},
    .done = "[DONE]",
    .read = read_completion,
    .whole = text_whole,
    .role = text_role,
    .tokens = text_tokens,
    .last = text_last,
};
