#include "server-stub/api/stub_api.h"

#include <jansson.h>
#include <stddef.h>

#include "common/base/buf.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"
#include "server-stub/front/wire.h"

/* By the first letter of their paths, so that it takes a glance to see that a
 * request is plain. */
static const struct {
    char letter;
    const struct api_ops *apis[8]; /* up to a NULL */
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

/* Several may share a path, and then differ in the body's keys. */
static bool read_json(const json_t *json, const struct exchange *x,
                      struct call *call)
{
    const struct api_ops *const *api = group_for(x->path);

    for (; *api && json_is_object(json); api++) {
        if (!serves(*api, x->path))
            continue;
        if ((*api)->read(json, x, call) || call->why) {
            call->api = *api;
            return !call->why;
        }
    }
    return false;
}

static const struct api_ops *first_for(const char *path)
{
    const struct api_ops *const *api = group_for(path);

    for (; api && *api; api++) {
        if (serves(*api, path))
            return *api;
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
