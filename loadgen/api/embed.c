/* Embeddings and reranking: one list in, one list out. */
#include "loadgen/api/api.h"

#include "common/settings/settings.h"

/* ---- requests ---- */

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

    document.row = NULL; /* what prompts have in common documents do not */
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

/* ---- answers ---- */

static void read_usage(struct jscan *s, struct usage *u)
{
    struct jtext key;

    if (!jscan_object(s))
        return;
    while (jscan_key(s, &key)) {
        if (jtext_is(key, "prompt_tokens"))
            jscan_int(s, &u->prompt);
        else
            jscan_skip(s);
    }
}

static bool read_list(struct jscan *s, struct piece *p)
{
    p->has_content = api_count_items(s) > 0;
    return true;
}

static bool read_member(struct jscan *s, struct jtext key, struct piece *p)
{
    if (jtext_is(key, "data") || jtext_is(key, "results"))
        return read_list(s, p);
    if (jtext_is(key, "usage"))
        read_usage(s, &p->usage);
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
    .member = read_member,
};

const struct api_ops client_rerank = {
    .kind = API_RERANK,
    .takes_more = true,
    .write = write_rerank,
    .member = read_member,
};
