#include "server-stub/api/api.h"

#include <jansson.h>
#include <stddef.h>

#include "common/buf.h"
#include "server-stub/call.h"
#include "server-stub/front.h"
#include "server-stub/path.h"

static const struct api_ops *const apis[] = {
    &api_openai_chat,
    &api_openai_completions,
    &api_openai_embeddings,
    &api_rerank,
    &api_tgi,
    &api_tgi_stream,
    &api_sglang,
    &api_triton,
    &api_tfserving,
    &api_kserve,
};

#define N_APIS (sizeof(apis) / sizeof(apis[0]))

static bool serves(const struct api_ops *api, const char *path)
{
    for (const char *const *pattern = api->paths; *pattern; pattern++) {
        if (path_matches(*pattern, path))
            return true;
    }
    return false;
}

struct json_t *api_json(const struct exchange *x)
{
    size_t len = x->body_len;

    if (x->json_len >= 0 && (size_t)x->json_len < len)
        len = (size_t)x->json_len;
    return json_loadb(x->body, len, 0, NULL);
}

/* Several may share a path, and then differ in the body's keys. */
static bool read_json(const json_t *json, const struct exchange *x,
                      struct call *call)
{
    for (size_t i = 0; i < N_APIS && json_is_object(json); i++) {
        if (!serves(apis[i], x->path))
            continue;
        if (apis[i]->read(json, x, call) || call->why) {
            call->api = apis[i];
            return !call->why;
        }
    }
    return false;
}

static const struct api_ops *first_for(const char *path)
{
    for (size_t i = 0; i < N_APIS; i++) {
        if (serves(apis[i], path))
            return apis[i];
    }
    return &api_plain;
}

bool api_read(const struct exchange *x, struct call *call)
{
    json_t *json;
    bool is_read;

    call->api = first_for(x->path);
    if (!call->api->read)
        return true;
    json = api_json(x);
    is_read = read_json(json, x, call);
    json_decref(json);
    return is_read;
}

static void error_object(int status, const char *message, struct buf *out)
{
    buf_addf(out,
             "{\"error\":{\"message\":\"%s\",\"type\":\"%s\",\"param\":null,"
             "\"code\":%d}}",
             message, status < 500 ? "invalid_request_error" : "server_error",
             status);
}

void api_error_text(int status, const char *message, struct buf *out)
{
    (void)status;
    buf_addf(out, "{\"error\":\"%s\"}", message);
}

void api_error(const struct call *call, int status, const char *message,
               struct buf *out)
{
    if (call->api->error)
        call->api->error(status, message, out);
    else
        error_object(status, message, out);
}

const struct api_ops api_plain = {
    .name = "plain",
};
