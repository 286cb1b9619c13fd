/* Triton's generate extension: text in, text out, no usage and no last event.
 */
#include <jansson.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/settings/settings.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/api/stub_text.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"

/* The vLLM backend has the limits among the parameters, TensorRT-LLM as inputs
 * of their own. */
static bool read_request(const struct json_t *json, const struct exchange *x,
                         struct call *call)
{
    const json_t *input = json_object_get(json, "text_input");
    const json_t *parameters = json_object_get(json, "parameters");
    bool are_inputs = json_object_get(json, "max_tokens") != NULL;

    if (!json_is_string(input)) {
        call->why = "no text_input";
        return false;
    }
    call->job.prompt_tokens = text_prompt_tokens(input);
    call->streams = strcmp(strrchr(x->path, '/'), "/generate_stream") == 0;
    call->ignores_eos = json_is_true(
        json_object_get(are_inputs ? json : parameters, "ignore_eos"));
    return text_read_bounds(are_inputs ? json : parameters, "max_tokens",
                            "min_tokens", call) &&
           (!call->streams || text_is_short_enough(call));
}

static void put_text(const struct stub_settings *s, int64_t n, struct buf *out)
{
    buf_addf(out,
             "{\"model_name\":\"%s\",\"model_version\":\"1\",\"text_output\":"
             "\"",
             s->model);
    text_put_words(out, n);
    buf_adds(out, "\"}");
}

static void put_tokens(const struct call *call, const struct stub_settings *s,
                       int64_t n, struct buf *out)
{
    put_text(s, s->accumulate ? call->sent_tokens + n : n, out);
}

static void put_whole(struct call *call, const struct stub_settings *s,
                      struct buf *out)
{
    put_text(s, call->job.produced, out);
}

const struct api_ops api_triton = {
    .name = "triton-generate",
    .paths =
        (const char *const[]){"/v2/models/*/generate",
                              "/v2/models/*/generate_stream",
                              "/v2/models/*/versions/*/generate",
                              "/v2/models/*/versions/*/generate_stream", NULL},
    .read = read_request,
    .whole = put_whole,
    .tokens = put_tokens,
    .error = api_error_text,
};
