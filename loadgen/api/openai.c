/* OpenAI's chat completions and completions, as spoken by vLLM, SGLang, TGI,
 * Dynamo, llama.cpp and others; embeddings and reranking. */
#include "loadgen/api/api.h"

#include "common/settings/settings.h"
#include "loadgen/api/history.h"

/* ---- requests ---- */

static void put_options(const struct api *api, const struct sample *sample,
                        const char *length, struct buf *body)
{
    const struct target_settings *t = &api->settings->target;

    buf_addf(body, ",\"%s\":%lld", length, (long long)sample->output_tokens);
    if (t->ignore_eos)
        buf_addf(body, ",\"ignore_eos\":true,\"min_tokens\":%lld",
                 (long long)sample->output_tokens);
    if (t->temperature)
        buf_addf(body, ",\"temperature\":%s", t->temperature);
    buf_addf(body, ",\"stream\":%s", api->streams ? "true" : "false");
    if (api->streams)
        buf_addf(body, ",\"stream_options\":{\"include_usage\":true%s}",
                 t->chunk_usage ? ",\"continuous_usage_stats\":true" : "");
    api_end_body(api, body);
}

static void write_chat(const struct api *api, const struct sample *sample,
                       struct buf *body)
{
    api_put_model(api, body);
    buf_adds(body, "\"messages\":");
    if (api->sampler.has_sessions) {
        history_put_messages(api, sample, body);
    } else if (api->uses_messages) {
        sample_put_messages(&api->sampler, sample, body);
    } else {
        buf_adds(body, "[{\"role\":\"user\",");
        api_put_prompt(api, sample, "content", body);
        buf_adds(body, "}]");
    }
    put_options(api, sample, "max_completion_tokens", body);
}

static void write_completions(const struct api *api,
                              const struct sample *sample, struct buf *body)
{
    api_put_model(api, body);
    api_put_prompt(api, sample, "prompt", body);
    put_options(api, sample, "max_tokens", body);
}

/* ---- answers ---- */

static void read_usage(struct jscan *s, struct usage *u)
{
    struct jtext key;

    if (!jscan_object(s))
        return;
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "prompt_tokens"))
            jscan_int(s, &u->prompt);
        else if (jtext_is(key, "completion_tokens"))
            jscan_int(s, &u->output);
        else if (jtext_is(key, "prompt_tokens_details"))
            api_read_number(s, "cached_tokens", &u->cached);
        else if (jtext_is(key, "completion_tokens_details"))
            api_read_number(s, "reasoning_tokens", &u->reasoning);
        else
            jscan_skip(s);
    }
}

/* A text that counts as content, but is not the text that is checked. */
static bool read_other_text(struct jscan *s, struct piece *p)
{
    struct jtext text;

    if (!jscan_string(s, &text) || text.len == 0)
        return false;
    p->has_content = true;
    return true;
}

static void read_message(struct jscan *s, struct piece *p)
{
    struct jtext key;

    if (!jscan_object(s))
        return;
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "content"))
            api_read_text(s, p);
        else if (jtext_is(key, "reasoning_content") ||
                 jtext_is(key, "reasoning"))
            p->is_reasoning |= read_other_text(s, p);
        else if (jtext_is(key, "tool_calls"))
            p->has_content |= api_count_items(s) > 0;
        else if (jtext_is(key, "refusal"))
            read_other_text(s, p);
        else {
            if (jtext_is(key, "function_call")) /* of older servers */
                p->has_content |= jscan_peek(s) == JSCAN_OBJECT;
            jscan_skip(s);
        }
    }
}

static void read_choice(struct jscan *s, struct piece *p)
{
    struct jtext key;

    if (!jscan_object(s))
        return;
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "delta") || jtext_is(key, "message"))
            read_message(s, p);
        else if (jtext_is(key, "text"))
            api_read_text(s, p);
        else if (jtext_is(key, "finish_reason"))
            api_read_finish(s, p);
        else if (jtext_is(key, "token_ids"))
            p->ids = api_count_items(s);
        else
            jscan_skip(s);
    }
}

/* Older servers send {"object":"error","message":...}. */
static bool read_member(struct jscan *s, struct jtext key, struct piece *p)
{
    bool is_known = true;
    struct jtext text;

    if (jtext_is(key, "choices")) {
        if (!jscan_array(s))
            return true;
        while (jscan_item(s)) {
            p->has_choices = true;
            read_choice(s, p);
        }
    } else if (jtext_is(key, "usage")) {
        read_usage(s, &p->usage);
    } else if (jtext_is(key, "error")) {
        api_read_error(s, p);
    } else if (jtext_is(key, "object")) {
        p->is_error |= jscan_string(s, &text) && jtext_is(text, "error");
        is_known = false;
    } else if (jtext_is(key, "message")) {
        jscan_string(s, &p->error);
        is_known = false;
    } else {
        jscan_skip(s);
        is_known = false;
    }
    return is_known;
}

const struct api_ops client_openai_chat = {
    .kind = API_OPENAI_CHAT,
    .takes_messages = true,
    .write = write_chat,
    .terminator = "[DONE]",
    .member = read_member,
};

const struct api_ops client_openai_completions = {
    .kind = API_OPENAI_COMPLETIONS,
    .takes_ids = true,
    .write = write_completions,
    .terminator = "[DONE]",
    .member = read_member,
};

/* ---- embeddings and reranking: one list in, one list out ---- */

static void write_embeddings(const struct api *api, const struct sample *sample,
                             struct buf *body)
{
    api_put_model(api, body);
    api_put_prompt(api, sample, "input", body);
    api_end_body(api, body);
}

static void write_rerank(const struct api *api, const struct sample *sample,
                         struct buf *body)
{
    struct sample document = *sample;

    document.row = NULL; /* documents do not share the prefixes of prompts */
    api_put_model(api, body);
    api_put_prompt(api, sample, "query", body);
    buf_adds(body, ",\"documents\":[");
    for (int64_t i = 0; i < sample->documents; i++) {
        document.rng.state = rng_next(&document.rng);
        buf_adds(body, i > 0 ? ",\"" : "\"");
        sample_put_text(&api->sampler, &document, body);
        buf_adds(body, "\"");
    }
    buf_adds(body, "]");
    api_end_body(api, body);
}

static bool list_member(struct jscan *s, struct jtext key, struct piece *p)
{
    if (jtext_is(key, "data") || jtext_is(key, "results")) {
        p->has_content = api_count_items(s) > 0;
        return true;
    }
    if (jtext_is(key, "usage"))
        api_read_number(s, "prompt_tokens", &p->usage.prompt);
    else if (jtext_is(key, "error"))
        api_read_error(s, p);
    else
        jscan_skip(s);
    return false;
}

const struct api_ops client_openai_embeddings = {
    .kind = API_OPENAI_EMBEDDINGS,
    .takes_ids = true,
    .write = write_embeddings,
    .member = list_member,
};

const struct api_ops client_rerank = {
    .kind = API_RERANK,
    .takes_more = true,
    .write = write_rerank,
    .member = list_member,
};
