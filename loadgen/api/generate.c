/* The generate endpoints of Text Generation Inference, SGLang and Triton. */
#include "loadgen/api/api.h"

#include "common/settings/settings.h"

/* ---- Text Generation Inference: /generate_stream sends one token per event,
 * /generate one answer ---- */

static void tgi_write(const struct api *api, const struct sample *sample,
                      struct buf *body)
{
    const struct target_settings *t = &api->settings->target;

    buf_adds(body, "{");
    api_put_prompt(api, sample, "inputs", body);
    buf_addf(body, ",\"parameters\":{\"max_new_tokens\":%lld,\"details\":true",
             (long long)sample->output_tokens);
    if (t->temperature)
        buf_addf(body, ",\"temperature\":%s", t->temperature);
    if (t->ignore_eos)
        buf_adds(body, ",\"ignore_eos_token\":true");
    buf_adds(body, "}");
    api_end_body(api, body);
}

/* {"id":5,"text":" a","logprob":-1,"special":false}; a special token, such as
 * </s>, is not part of the text. */
static void tgi_read_token(struct jscan *s, struct piece *p)
{
    struct jtext key;
    bool is_special = false;

    if (!jscan_object(s))
        return;
    p->ids = 1;
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "text"))
            api_read_text(s, p);
        else if (jtext_is(key, "special"))
            jscan_bool(s, &is_special);
        else
            jscan_skip(s);
    }
    if (is_special) {
        p->text = (struct jtext){0};
        p->has_content = false;
    }
}

static void tgi_read_details(struct jscan *s, struct piece *p)
{
    struct jtext key;

    if (!jscan_object(s))
        return;
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "generated_tokens"))
            jscan_int(s, &p->usage.output);
        else if (jtext_is(key, "finish_reason"))
            api_read_finish(s, p);
        else
            jscan_skip(s);
    }
}

/* In a stream, only the last event has a generated_text that is not null. */
static bool tgi_read_member(struct jscan *s, struct jtext key, struct piece *p)
{
    bool is_known = jtext_is(key, p->is_whole ? "generated_text" : "token");
    struct jtext text;

    if (jtext_is(key, "generated_text") && p->is_whole)
        api_read_text(s, p);
    else if (jtext_is(key, "generated_text"))
        p->is_last |= jscan_string(s, &text);
    else if (is_known)
        tgi_read_token(s, p);
    else if (jtext_is(key, "details"))
        tgi_read_details(s, p);
    else if (jtext_is(key, "error"))
        api_read_error(s, p);
    else
        jscan_skip(s);
    return is_known;
}

const struct api_ops client_tgi = {
    .kind = API_TGI,
    .write = tgi_write,
    .ends_with_piece = true,
    .member = tgi_read_member,
};

/* ---- SGLang: each event has all of the text so far, and the counts; with
 * --incremental-streaming-output it has only the new text ---- */

static void sglang_write(const struct api *api, const struct sample *sample,
                         struct buf *body)
{
    const struct target_settings *t = &api->settings->target;

    buf_adds(body, "{");
    api_put_prompt(api, sample, api->uses_ids ? "input_ids" : "text", body);
    buf_addf(body, ",\"sampling_params\":{\"max_new_tokens\":%lld",
             (long long)sample->output_tokens);
    if (t->temperature)
        buf_addf(body, ",\"temperature\":%s", t->temperature);
    if (t->ignore_eos)
        buf_adds(body, ",\"ignore_eos\":true");
    buf_addf(body, "},\"stream\":%s", api->streams ? "true" : "false");
    api_end_body(api, body);
}

/* {"type":"length","length":16}; null until the end. */
static void sglang_read_finish(struct jscan *s, struct piece *p)
{
    struct jtext key;

    if (!jscan_object(s))
        return;
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "type"))
            api_read_finish(s, p);
        else
            jscan_skip(s);
    }
}

static void sglang_read_meta(struct jscan *s, struct piece *p)
{
    struct jtext key;

    if (!jscan_object(s))
        return;
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "prompt_tokens"))
            jscan_int(s, &p->usage.prompt);
        else if (jtext_is(key, "completion_tokens"))
            jscan_int(s, &p->usage.output);
        else if (jtext_is(key, "cached_tokens"))
            jscan_int(s, &p->usage.cached);
        else if (jtext_is(key, "finish_reason"))
            sglang_read_finish(s, p);
        else
            jscan_skip(s);
    }
}

static bool sglang_read_member(struct jscan *s, struct jtext key,
                               struct piece *p)
{
    bool is_known = jtext_is(key, "text") || jtext_is(key, "meta_info");

    p->is_cumulative = true;
    p->may_be_cumulative = true;
    if (jtext_is(key, "text"))
        api_read_text(s, p);
    else if (jtext_is(key, "meta_info"))
        sglang_read_meta(s, p);
    else if (jtext_is(key, "error"))
        api_read_error(s, p);
    else
        jscan_skip(s);
    return is_known;
}

const struct api_ops client_sglang = {
    .kind = API_SGLANG,
    .takes_ids = true,
    .write = sglang_write,
    .terminator = "[DONE]",
    .member = sglang_read_member,
};

/* ---- Triton: text in, text out; no terminator, no counts ---- */

static void triton_write(const struct api *api, const struct sample *sample,
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

static bool triton_read_member(struct jscan *s, struct jtext key,
                               struct piece *p)
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
    .write = triton_write,
    .member = triton_read_member,
};
