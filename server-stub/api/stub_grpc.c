#include "server-stub/api/stub_grpc.h"

#include <stddef.h>
#include <string.h>

#include "common/base/buf.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"

static const struct api_ops *const apis[] = {
    &api_grpc_text,           &api_grpc_tensors, &api_grpc_stream_text,
    &api_grpc_stream_tensors, &api_grpc_predict,
};

/* Packages whose methods we know: another one is not there. */
static const char *const known[] = {"/inference.", "/tensorflow.serving."};

static bool is_known(const char *path)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strncmp(path, known[i], strlen(known[i])) == 0)
            return true;
    }
    return false;
}

/* Several may share a method, and then differ in what the message holds. */
bool grpc_api_read(const struct exchange *x, struct call *call)
{
    call->api = &api_grpc_plain;
    for (size_t i = 0; i < sizeof(apis) / sizeof(apis[0]); i++) {
        if (strcmp(apis[i]->paths[0], x->path) != 0)
            continue;
        call->api = apis[i];
        if (apis[i]->read(NULL, x, call) || call->why)
            return !call->why;
    }
    if (!is_known(x->path))
        return api_grpc_plain.read(NULL, x, call);
    call->refusal = 501;
    call->why = "no such method";
    return false;
}

/* ---- any method ---- */

static bool read_any(const struct json_t *json, const struct exchange *x,
                     struct call *call)
{
    (void)json;
    call->streams = strstr(x->path, "Stream") != NULL;
    call->job.output_tokens = 1;
    call->asked_tokens = call->streams ? 0 : 1;
    return true;
}

static void put_same(struct call *call, const struct stub_settings *s,
                     struct buf *out)
{
    (void)s;
    buf_add(out, call->x->body, call->x->body_len);
}

static void put_tokens(const struct call *call, const struct stub_settings *s,
                       int64_t n, struct buf *out)
{
    (void)s;
    (void)n;
    buf_add(out, call->x->body, call->x->body_len);
}

static void put_error(int status, const char *message, struct buf *out)
{
    (void)status;
    buf_adds(out, message);
}

const struct api_ops api_grpc_plain = {
    .name = "grpc",
    .is_single = true,
    .read = read_any,
    .whole = put_same,
    .tokens = put_tokens,
    .error = put_error,
};
