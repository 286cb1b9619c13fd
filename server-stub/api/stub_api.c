#include "server-stub/api/stub_api.h"

#include <jansson.h>
#include <stddef.h>

#include "common/base/buf.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"
#include "server-stub/front/wire.h"

/* By the first letter of the path, so that a plain request is recognized
 * quickly. */
static const struct {
    char letter;
    const struct api_ops *apis[8]; /* NULL-terminated */
} groups[] = {
    {'g', {&api_tgi, &api_tgi_stream, &api_sglang}},
    {'r', {&api_rerank}},
    {'v',
     {&api_openai_chat, &api_openai_completions, &api_openai_embeddings,
      &api_rerank, &api_triton, &api_tfserving, &api_kserve}},
};

static const struct api_ops *const *group_for(const char *path)
{
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        if (path[0] == '/' && path[1] == groups[i].letter)
            return groups[i].apis;
    }
    return NULL;
}

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

static int append(const char *data, size_t len, void *arg)
{
    return buf_add(arg, data, len);
}

void api_put_json(const struct json_t *json, struct buf *out)
{
    json_dump_callback(json, append, out, JSON_COMPACT | JSON_ENCODE_ANY);
}

/* Several APIs may share a path; then the keys of the body decide. */
bool api_read(const struct exchange *x, struct call *call)
{
    const struct api_ops *const *api = group_for(x->path);
    bool is_read = false;
    json_t *json;

    while (api && *api && !serves(*api, x->path))
        api++;
    call->api = api && *api ? *api : &api_plain;
    if (!call->api->read)
        return true;
    json = api_json(x);
    for (; *api && json_is_object(json) && !is_read && !call->why; api++) {
        if (!serves(*api, x->path))
            continue;
        is_read = (*api)->read(json, x, call);
        if (is_read || call->why)
            call->api = *api;
    }
    json_decref(json);
    return is_read && !call->why;
}

void api_error_text(int status, const char *message, struct buf *out)
{
    (void)status;
    buf_addf(out, "{\"error\":\"%s\"}", message);
}

void api_error(const struct call *call, int status, const char *message,
               struct buf *out)
{
    const char *type = status < 500 ? "invalid_request_error" : "server_error";

    if (call->api->error)
        call->api->error(status, message, out);
    else
        buf_addf(out,
                 "{\"error\":{\"message\":\"%s\",\"type\":\"%s\",\"param\":"
                 "null,\"code\":%d}}",
                 message, type, status);
}

const struct api_ops api_plain = {
    .name = "plain",
};
