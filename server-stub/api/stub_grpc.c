#include "server-stub/api/stub_grpc.h"

#include <stddef.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/config.h"
#include "common/proto/inference.pb-c.h"
#include "common/proto/predict.pb-c.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"
#include "server-stub/stub_page.h"

static const struct api_ops *const apis[] = {
    &api_grpc_text,           &api_grpc_tensors, &api_grpc_stream_text,
    &api_grpc_stream_tensors, &api_grpc_predict,
};

/* Packages whose methods are known: any other method of theirs is missing. */
static const char *const known[] = {"/inference.", "/tensorflow.serving."};

/* Several APIs may share a method; then the contents of the message decide. */
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
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strncmp(x->path, known[i], strlen(known[i])) == 0) {
            call->refusal = 501;
            call->why = "no such method";
            return false;
        }
    }
    return api_grpc_plain.read(NULL, x, call);
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

/* ---- methods about the server: health and metadata ---- */

#define KSERVE "/inference.GRPCInferenceService/"

typedef Inference__ModelMetadataResponse__TensorMetadata tensor_metadata;

/* The answers of ServerLive, ServerReady, ModelReady and grpc.health.v1 have
 * the same form: field 1 has the value 1. */
static void put_yes(const struct page_view *view, struct buf *out)
{
    Inference__ServerReadyResponse yes = INFERENCE__SERVER_READY_RESPONSE__INIT;

    (void)view;
    yes.ready = 1;
    grpc_pack(&yes.base, out);
}

static void put_server(const struct page_view *view, struct buf *out)
{
    Inference__ServerMetadataResponse server =
        INFERENCE__SERVER_METADATA_RESPONSE__INIT;

    (void)view;
    server.name = grpc_text("tailgate_stub");
    server.version = grpc_text(TAILGATE_VERSION);
    grpc_pack(&server.base, out);
}

static tensor_metadata tensor_named(const char *name, int64_t *shape)
{
    tensor_metadata tensor =
        INFERENCE__MODEL_METADATA_RESPONSE__TENSOR_METADATA__INIT;

    tensor.name = grpc_text(name);
    tensor.datatype = grpc_text("FP32");
    tensor.n_shape = 1;
    tensor.shape = shape;
    return tensor;
}

/* There may be more tensors than the one. */
static void put_model(const struct page_view *view, struct buf *out)
{
    Inference__ModelMetadataResponse model =
        INFERENCE__MODEL_METADATA_RESPONSE__INIT;
    int64_t any = -1;
    tensor_metadata input = tensor_named("input0", &any);
    tensor_metadata output = tensor_named("output0", &any);
    char *versions[] = {grpc_text("1")};

    model.name = grpc_text(view->model);
    model.n_versions = 1;
    model.versions = versions;
    model.platform = grpc_text("tailgate_stub");
    model.n_inputs = model.n_outputs = 1;
    model.inputs = (tensor_metadata *[]){&input};
    model.outputs = (tensor_metadata *[]){&output};
    grpc_pack(&model.base, out);
}

static void put_status(const struct page_view *view, struct buf *out)
{
    Serving__GetModelStatusResponse response =
        SERVING__GET_MODEL_STATUS_RESPONSE__INIT;
    Serving__ModelVersionStatus status = SERVING__MODEL_VERSION_STATUS__INIT;

    (void)view;
    status.version = 1;
    status.state = SERVING__MODEL_VERSION_STATUS__STATE__AVAILABLE;
    response.n_model_version_status = 1;
    response.model_version_status = (Serving__ModelVersionStatus *[]){&status};
    grpc_pack(&response.base, out);
}

static const struct {
    const char *path;
    void (*put)(const struct page_view *view, struct buf *out);
} pages[] = {
    {KSERVE "ServerLive", put_yes},
    {KSERVE "ServerReady", put_yes},
    {KSERVE "ModelReady", put_yes},
    {KSERVE "ServerMetadata", put_server},
    {KSERVE "ModelMetadata", put_model},
    {"/tensorflow.serving.ModelService/GetModelStatus", put_status},
    {"/grpc.health.v1.Health/Check", put_yes},
};

bool grpc_page_write(const char *path, const struct page_view *view,
                     struct buf *out)
{
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        if (strcmp(pages[i].path, path) == 0) {
            pages[i].put(view, out);
            return true;
        }
    }
    return false;
}
