/* OpenAI's embeddings, and reranking as in vLLM, SGLang and Cohere: a result
 * for each input, no output tokens. */
#include <jansson.h>

#include "common/base/buf.h"
#include "common/settings/settings.h"
#include "common/text/json.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/api/stub_text.h"
#include "server-stub/front/call.h"

/* The limit of OpenAI. */
#define MAX_INPUTS 2048

/* The prompt is read; there is nothing else to do. */
static bool take_inputs(struct call *call, int64_t n, int64_t tokens)
{
    call->items = n;
    call->job.prompt_tokens = tokens;
    call->job.output_tokens = 1;
    if (n < 1)
        call->why = "no inputs";
    else if (n > MAX_INPUTS)
        call->why = "more than 2048 inputs";
    return !call->why;
}

static void put_usage(const struct call *call, struct buf *out)
{
    long long tokens = text_reported(call, call->job.prompt_tokens);

    if (text_gives_usage(call))
        buf_addf(out,
                 ",\"usage\":{\"prompt_tokens\":%lld,\"total_tokens\":"
                 "%lld}",
                 tokens, tokens);
}

static bool read_embeddings(const struct json_t *json, const struct exchange *x,
                            struct call *call)
{
    const json_t *input = json_object_get(json, "input");
    int64_t dimensions = json_get_int(json, "dimensions", 0);

    (void)x;
    if (!input) {
        call->why = "no input";
        return false;
    }
    if (dimensions < 0 || dimensions > STUB_MAX_EMBEDDING) {
        call->why = "dimensions must be at most 8192";
        return false;
    }
    call->dimensions = dimensions;
    return take_inputs(call, text_prompts(input), text_prompt_tokens(input));
}

static void embeddings_whole(struct call *call, const struct stub_settings *s,
                             struct buf *out)
{
    static const char *const numbers[] = {"0.25", "-0.5", "0.125"};
    int64_t size = call->dimensions > 0 ? call->dimensions : s->embedding_size;

    buf_addf(out, "{\"object\":\"list\",\"model\":\"%s\",\"data\":[", s->model);
    for (int64_t i = 0; i < call->items; i++) {
        buf_addf(out,
                 "%s{\"object\":\"embedding\",\"index\":%lld,\"embedding\":[",
                 i > 0 ? "," : "", (long long)i);
        for (int64_t k = 0; k < size; k++) { /* each input differs */
            buf_adds(out, k > 0 ? "," : "");
            buf_adds(out, numbers[(i + k) % 3]);
        }
        buf_adds(out, "]}");
    }
    buf_adds(out, "]");
    put_usage(call, out);
    buf_adds(out, "}");
}

/* A document is a text, or an object with one; each is read together with the
 * query. */
static bool read_rerank(const struct json_t *json, const struct exchange *x,
                        struct call *call)
{
    const json_t *documents = json_object_get(json, "documents");
    int64_t query = text_prompt_tokens(json_object_get(json, "query"));
    int64_t top = json_get_int(json, "top_n", 0);
    int64_t n = (int64_t)json_array_size(documents);
    int64_t tokens = query * n;
    const json_t *document;
    size_t i;

    (void)x;
    if (!json_is_string(json_object_get(json, "query"))) {
        call->why = "no query";
        return false;
    }
    json_array_foreach(documents, i, document)
    {
        tokens += text_prompt_tokens(json_is_object(document)
                                         ? json_object_get(document, "text")
                                         : document);
    }
    call->top = top > 0 && top < n ? top : n;
    return take_inputs(call, n, tokens);
}

/* The last document is the best and comes first. */
static void rerank_whole(struct call *call, const struct stub_settings *s,
                         struct buf *out)
{
    buf_addf(out, "{\"id\":\"stub-%lld\",\"model\":\"%s\",\"results\":[",
             (long long)call->nth, s->model);
    for (int64_t i = 0; i < call->top; i++) {
        long long index = call->items - 1 - i;

        buf_addf(out, "%s{\"index\":%lld,\"relevance_score\":%.6f}",
                 i > 0 ? "," : "", index,
                 (double)(index + 1) / (double)call->items);
    }
    buf_adds(out, "]");
    put_usage(call, out);
    buf_adds(out, "}");
}

const struct api_ops api_openai_embeddings = {
    .name = "openai-embeddings",
    .paths = (const char *const[]){"/v1/embeddings", NULL},
    .read = read_embeddings,
    .whole = embeddings_whole,
};

const struct api_ops api_rerank = {
    .name = "rerank",
    .paths = (const char *const[]){"/v1/rerank", "/rerank", NULL},
    .read = read_rerank,
    .whole = rerank_whole,
};
