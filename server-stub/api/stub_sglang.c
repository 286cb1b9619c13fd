/* SGLang's own /generate: every event of a stream has the whole text so far.
 * TGI has the same path, but another name for the prompt. */
#include <jansson.h>

#include "common/base/buf.h"
#include "common/settings/settings.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/api/stub_text.h"
#include "server-stub/front/call.h"

static bool read_request(const struct json_t *json, const struct exchange *x,
                         struct call *call)
{
    const json_t *sampling = json_object_get(json, "sampling_params");
    const json_t *prompt = json_object_get(json, "text");

    (void)x;
    if (!prompt)
        prompt = json_object_get(json, "input_ids");
    if (!prompt)
        return false;
    call->job.prompt_tokens = text_prompt_tokens(prompt);
    call->streams = json_is_true(json_object_get(json, "stream"));
    call->ignores_eos = json_is_true(json_object_get(sampling, "ignore_eos"));
    return text_read_bounds(sampling, "max_new_tokens", "min_new_tokens",
                            call) &&
           (!call->streams || text_is_short_enough(call));
}

/* The first `produced` tokens of the answer. */
static void put_answer(const struct call *call, int64_t produced, bool is_last,
                       struct buf *out)
{
    buf_adds(out, "{\"text\":\"");
    text_put_words(out, produced);
    buf_addf(out, "\",\"meta_info\":{\"id\":\"stub-%lld\",\"finish_reason\":",
             (long long)call->nth);
    if (is_last)
        buf_addf(out, "{\"type\":\"%s\",\"length\":%lld}",
                 text_reason(call, "length", "stop"), (long long)produced);
    else
        buf_adds(out, "null");
    if (text_gives_usage(call))
        buf_addf(out,
                 ",\"prompt_tokens\":%lld,\"completion_tokens\":%lld,"
                 "\"cached_tokens\":%lld",
                 (long long)call->job.prompt_tokens,
                 text_reported(call, produced),
                 (long long)call->job.cached_tokens);
    buf_adds(out, "}}");
}

static void put_tokens(const struct call *call, const struct stub_settings *s,
                       int64_t n, struct buf *out)
{
    (void)s;
    put_answer(call, call->sent_tokens + n, text_is_last(call, n), out);
}

static void put_whole(struct call *call, const struct stub_settings *s,
                      struct buf *out)
{
    (void)s;
    put_answer(call, call->job.produced, true, out);
}

const struct api_ops api_sglang = {
    .name = "sglang",
    .paths = (const char *const[]){"/generate", NULL},
    .done = "[DONE]",
    .read = read_request,
    .whole = put_whole,
    .tokens = put_tokens,
};
