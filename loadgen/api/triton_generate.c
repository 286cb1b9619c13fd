/* Triton's generate extension: text in, text out; no terminator, no counts. */
#include "loadgen/api/api.h"

#include "common/settings/settings.h"

static void write_body(const struct api *api, const struct sample *sample,
                       struct buf *body)
{
    const struct target_settings *t = &api->settings->target;

    buf_adds(body, "{");
    api_put_prompt(api, sample, "text_input", body);
    buf_addf(body, ",\"max_tokens\":%lld", (long long)sample->output_tokens);
    buf_addf(body, ",\"stream\":%s", api->streams ? "true" : "false");
    if (t->temperature)
        buf_addf(body, ",\"temperature\":%s", t->temperature);
    if (t->ignore_eos)
        buf_addf(body, ",\"min_tokens\":%lld,\"ignore_eos\":true",
                 (long long)sample->output_tokens);
    api_end_body(api, body);
}

static bool read_member(struct jscan *s, struct jtext key, struct piece *p)
{
    bool is_text = jtext_is(key, "text_output");

    if (is_text) {
        api_read_text(s, p);
        p->may_be_cumulative = true; /* TensorRT-LLM's accumulate_tokens */
    } else if (jtext_is(key, "error")) {
        api_read_error(s, p);
    } else {
        jscan_skip(s);
    }
    return is_text;
}

const struct api_ops client_triton_generate = {
    .kind = API_TRITON_GENERATE,
    .write = write_body,
    .member = read_member,
};
