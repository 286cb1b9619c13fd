/* Text Generation Inference: /generate_stream has a token an event, /generate
 * an answer. */
#include "loadgen/api/api.h"

#include "common/settings/settings.h"

static void write_body(const struct api *api, const struct sample *sample,
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

/* {"id":5,"text":" a","logprob":-1,"special":false}; a special one, such as
 * </s>, is a token and no text of the answer. */
static void read_token(struct jscan *s, struct piece *p)
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

static void read_details(struct jscan *s, struct piece *p)
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

/* All of the text.  Of the last event alone it is no null. */
static void read_generated(struct jscan *s, struct piece *p)
{
    struct jtext text;

    if (p->is_whole)
        api_read_text(s, p);
    else
        p->is_last |= jscan_string(s, &text);
}

static bool read_member(struct jscan *s, struct jtext key, struct piece *p)
{
    bool is_theirs = jtext_is(key, p->is_whole ? "generated_text" : "token");

    if (jtext_is(key, "generated_text"))
        read_generated(s, p);
    else if (is_theirs)
        read_token(s, p);
    else if (jtext_is(key, "details"))
        read_details(s, p);
    else if (jtext_is(key, "error"))
        api_read_error(s, p);
    else
        jscan_skip(s);
    return is_theirs;
}

const struct api_ops client_tgi = {
    .kind = API_TGI,
    .write = write_body,
    .ends_with_piece = true,
    .member = read_member,
};
