/* SGLang's own /generate: each event tells all of the text so far, and counts.
 */
#include "loadgen/api/api.h"

#include "common/settings/settings.h"

static void write_body(const struct api *api, const struct sample *sample,
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
static void read_finish(struct jscan *s, struct piece *p)
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

static void read_meta(struct jscan *s, struct piece *p)
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
            read_finish(s, p);
        else
            jscan_skip(s);
    }
}

static bool read_member(struct jscan *s, struct jtext key, struct piece *p)
{
    bool is_theirs = jtext_is(key, "text") || jtext_is(key, "meta_info");

    p->is_cumulative = true;
    if (jtext_is(key, "text"))
        api_read_text(s, p);
    else if (jtext_is(key, "meta_info"))
        read_meta(s, p);
    else if (jtext_is(key, "error"))
        api_read_error(s, p);
    else
        jscan_skip(s);
    return is_theirs;
}

const struct api_ops client_sglang = {
    .kind = API_SGLANG,
    .takes_ids = true,
    .write = write_body,
    .terminator = "[DONE]",
    .member = read_member,
};
