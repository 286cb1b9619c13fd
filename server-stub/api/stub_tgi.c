/* Text Generation Inference: /generate and /generate_stream.  An event has one
 * token; the last one also has the whole text and, if wanted, the details. */
#include <jansson.h>

#include "common/base/buf.h"
#include "common/settings/settings.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/api/stub_text.h"
#include "server-stub/front/call.h"

static bool read_whole(const struct json_t *json, const struct exchange *x,
                       struct call *call)
{
    const json_t *inputs = json_object_get(json, "inputs");
    const json_t *parameters = json_object_get(json, "parameters");

    (void)x;
    if (!json_is_string(inputs))
        return false;
    call->job.prompt_tokens = text_prompt_tokens(inputs);
    call->ignores_eos =
        json_is_true(json_object_get(parameters, "ignore_eos_token"));
    call->wants_usage = json_is_true(json_object_get(parameters, "details"));
    return text_read_bounds(parameters, "max_new_tokens", "min_new_tokens",
                            call);
}

static bool read_stream(const struct json_t *json, const struct exchange *x,
                        struct call *call)
{
    call->streams = true;
    return read_whole(json, x, call);
}

/* To TGI, several tokens in one event are one token. */
static void put_token(int64_t first, int64_t n, struct buf *out)
{
    buf_addf(out, "{\"id\":%lld,\"text\":\"", (long long)first);
    text_put_words(out, n);
    buf_adds(out, "\",\"logprob\":-0.5,\"special\":false}");
}

static void put_details(const struct call *call, struct buf *out)
{
    buf_addf(out,
             "{\"finish_reason\":\"%s\",\"generated_tokens\":%lld,"
             "\"seed\":null",
             text_reason(call, "length", "eos_token"),
             text_reported(call, call->job.output_tokens));
}

static bool gives_details(const struct call *call)
{
    return call->wants_usage && text_gives_usage(call);
}

static void put_tokens(const struct call *call, const struct stub_settings *s,
                       int64_t n, struct buf *out)
{
    bool is_last =
        text_is_last(call, n) && !fault_has(&call->faults, FAULT_NO_DONE);
    long long index = call->sent_tokens + n;

    (void)s;
    buf_addf(out, "{\"index\":%lld,\"token\":", index);
    put_token(call->sent_tokens, n, out);
    buf_adds(out, ",\"generated_text\":");
    if (is_last) {
        buf_adds(out, "\"");
        text_put_words(out, call->job.output_tokens);
        buf_adds(out, "\"");
    } else {
        buf_adds(out, "null");
    }
    buf_adds(out, ",\"details\":");
    if (is_last && gives_details(call)) {
        put_details(call, out);
        buf_addf(out, ",\"input_length\":%lld}}",
                 (long long)call->job.prompt_tokens);
    } else {
        buf_adds(out, "null}");
    }
}

static void put_whole(struct call *call, const struct stub_settings *s,
                      struct buf *out)
{
    (void)s;
    buf_adds(out, "{\"generated_text\":\"");
    text_put_words(out, call->job.produced);
    buf_adds(out, "\"");
    if (gives_details(call)) {
        buf_adds(out, ",\"details\":");
        put_details(call, out);
        buf_adds(out, ",\"prefill\":[],\"tokens\":[");
        for (int64_t i = 0; i < call->job.produced; i++) {
            buf_adds(out, i > 0 ? "," : "");
            put_token(i, 1, out);
        }
        buf_adds(out, "]}");
    }
    buf_adds(out, "}");
}

static void put_error(int status, const char *message, struct buf *out)
{
    const char *type = status == 429  ? "overloaded"
                       : status < 500 ? "validation"
                                      : "generation";

    buf_addf(out, "{\"error\":\"%s\",\"error_type\":\"%s\"}", message, type);
}

const struct api_ops api_tgi = {
    .name = "tgi",
    .paths = (const char *const[]){"/generate", NULL},
    .read = read_whole,
    .whole = put_whole,
    .tokens = put_tokens,
    .error = put_error,
};

const struct api_ops api_tgi_stream = {
    .name = "tgi-stream",
    .paths = (const char *const[]){"/generate_stream", NULL},
    .probe_marks_last = true,
    .read = read_stream,
    .whole = put_whole,
    .tokens = put_tokens,
    .error = put_error,
};
