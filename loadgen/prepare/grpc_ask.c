#include "loadgen/prepare/grpc_ask.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/proto/health.pb-c.h"
#include "common/proto/inference.pb-c.h"
#include "common/proto/predict.pb-c.h"
#include "common/settings/settings.h"
#include "common/text/redact.h"
#include "common/wire/api_names.h"
#include "common/wire/status.h"
#include "loadgen/api/grpc_message.h"
#include "loadgen/prepare/fetch.h"

#define TIMEOUT_NS  (10 * NS_PER_S)
#define MAX_REQUEST ((size_t)64 << 10)
#define MAX_TENSOR  400

#define KSERVE(method) "/inference.GRPCInferenceService/" method

/* One call. */
struct question {
    struct buf request;
    struct buf reply;
    int64_t status; /* enum rpc_status */
};

static void question_init(struct question *q)
{
    *q = (struct question){.status = RPC_OK};
    buf_init(&q->request, MAX_REQUEST);
}

static void question_fini(struct question *q)
{
    buf_fini(&q->request);
    buf_fini(&q->reply);
}

static int ask(struct question *q, const struct target_settings *s,
               const char *method, int64_t timeout_ns, struct err *err)
{
    struct fetch_message m = {.method = method,
                              .message = &q->request,
                              .timeout_ns = timeout_ns,
                              .reply = &q->reply,
                              .status = &q->status};

    return fetch_message(s, &m, err);
}

static const uint8_t *bytes_of(const struct buf *b)
{
    return (const uint8_t *)buf_text(b);
}

/* ---- the inputs of the model ---- */

static int read_metadata(struct strlist *tensors, const struct buf *reply,
                         struct err *err)
{
    Inference__ModelMetadataResponse *m =
        inference__model_metadata_response__unpack(NULL, reply->len,
                                                   bytes_of(reply));
    struct buf text; /* "x FP32 1x16" */

    if (!m)
        return err_set(err, ERR_IO, "the answer is not a KServe message");
    buf_init(&text, MAX_TENSOR);
    for (size_t i = 0; i < m->n_inputs; i++) {
        const Inference__ModelMetadataResponse__TensorMetadata *t =
            m->inputs[i];

        buf_reset(&text);
        buf_addf(&text, "%s %s ", t->name, t->datatype);
        for (size_t k = 0; k < t->n_shape; k++)
            buf_addf(&text, "%s%lld", k ? "x" : "",
                     t->shape[k] > 0 ? (long long)t->shape[k] : 1LL);
        strlist_add(tensors, buf_text(&text));
    }
    buf_fini(&text);
    if (m->n_inputs == 0)
        err_set(err, ERR_IO, "the model has no inputs");
    inference__model_metadata_response__free_unpacked(m, NULL);
    return err->code ? -1 : 0;
}

int grpc_ask_tensors(struct settings *s, struct err *err)
{
    Inference__ModelMetadataRequest m = INFERENCE__MODEL_METADATA_REQUEST__INIT;
    struct err problem = {0};
    struct question q;
    int rc;

    if (!s->target.model)
        return err_set(err, ERR_CONFIG, "target.model is required (--model)");
    question_init(&q);
    m.name = s->target.model;
    if (s->target.model_version)
        m.version = s->target.model_version;
    message_pack(&m.base, &q.request);
    rc = ask(&q, &s->target, KSERVE("ModelMetadata"), TIMEOUT_NS, &problem);
    if (rc == 0)
        rc = read_metadata(&s->data.tensors, &q.reply, &problem);
    question_fini(&q);
    if (rc) {
        char *url = fetch_url(&s->target, "");
        char *shown = redact_url(url);

        err_set(err, problem.code,
                "%s: ModelMetadata: %s (called because no --tensor is given)",
                shown, problem.msg);
        free(shown);
        free(url);
    }
    return rc;
}

/* ---- readiness ---- */

static void put_model(const struct target_settings *s, struct buf *out)
{
    Inference__ModelReadyRequest m = INFERENCE__MODEL_READY_REQUEST__INIT;

    if (s->model)
        m.name = s->model;
    if (s->model_version)
        m.version = s->model_version;
    message_pack(&m.base, out);
}

static bool is_server_ready(const struct buf *reply)
{
    Inference__ServerReadyResponse *m =
        inference__server_ready_response__unpack(NULL, reply->len,
                                                 bytes_of(reply));
    bool is_ready = m && m->ready;

    if (m)
        inference__server_ready_response__free_unpacked(m, NULL);
    return is_ready;
}

static void put_spec(const struct target_settings *s, struct buf *out)
{
    Serving__GetModelStatusRequest m = SERVING__GET_MODEL_STATUS_REQUEST__INIT;
    Serving__ModelSpec spec = SERVING__MODEL_SPEC__INIT;

    if (s->model)
        spec.name = s->model;
    m.model_spec = &spec;
    message_pack(&m.base, out);
}

static bool is_available(const struct buf *reply)
{
    Serving__GetModelStatusResponse *m =
        serving__get_model_status_response__unpack(NULL, reply->len,
                                                   bytes_of(reply));
    bool is_ready = false;

    for (size_t i = 0; m && i < m->n_model_version_status; i++)
        is_ready |= m->model_version_status[i]->state ==
                    SERVING__MODEL_VERSION_STATUS__STATE__AVAILABLE;
    if (m)
        serving__get_model_status_response__free_unpacked(m, NULL);
    return is_ready;
}

static bool is_serving(const struct buf *reply)
{
    Health__HealthCheckResponse *m = health__health_check_response__unpack(
        NULL, reply->len, bytes_of(reply));
    bool is_ready =
        m &&
        m->status == HEALTH__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING;

    if (m)
        health__health_check_response__free_unpacked(m, NULL);
    return is_ready;
}

/* The calls of each API, in this order. */
static const struct check {
    enum api_kind kind;
    bool needs_model; /* skipped if no model is named */
    const char *method;
    void (*put)(const struct target_settings *s, struct buf *out); /* or NULL */
    bool (*is_ready)(const struct buf *reply);
} checks[] = {
    {API_KSERVE_GRPC, false, KSERVE("ServerReady"), NULL, is_server_ready},
    {API_KSERVE_GRPC, true, KSERVE("ModelReady"), put_model, is_server_ready},
    {API_TRITON_GRPC_STREAM, false, KSERVE("ServerReady"), NULL,
     is_server_ready},
    {API_TRITON_GRPC_STREAM, true, KSERVE("ModelReady"), put_model,
     is_server_ready},
    {API_TFSERVING_GRPC, true,
     "/tensorflow.serving.ModelService/GetModelStatus", put_spec, is_available},
    {API_GRPC, false, "/grpc.health.v1.Health/Check", NULL, is_serving},
};

/* A server that does not implement the method counts as ready. */
static int check_one(const struct check *c, const struct target_settings *s,
                     int64_t timeout_ns, struct buf *seen, struct err *err)
{
    struct err problem = {0};
    struct question q;
    int rc;

    question_init(&q);
    if (c->put)
        c->put(s, &q.request);
    rc = ask(&q, s, c->method, timeout_ns, &problem);
    buf_reset(seen);
    if (rc == 0) {
        rc = c->is_ready(&q.reply);
        buf_addf(seen, "%s: not ready", c->method);
    } else if (problem.code == ERR_IO) {
        rc = q.status == RPC_UNIMPLEMENTED;
        buf_addf(seen, "%s", problem.msg);
    } else {
        *err = problem;
    }
    question_fini(&q);
    return rc;
}

int grpc_ask_ready(const struct target_settings *s, int64_t timeout_ns,
                   char *seen, size_t size, struct err *err)
{
    struct buf text;
    int rc = 1;

    buf_init(&text, size);
    for (size_t i = 0; rc == 1 && i < sizeof(checks) / sizeof(checks[0]); i++) {
        if ((int)checks[i].kind == s->api &&
            (s->model || !checks[i].needs_model))
            rc = check_one(&checks[i], s, timeout_ns, &text, err);
    }
    snprintf(seen, size, "%s", buf_text(&text));
    buf_fini(&text);
    return rc;
}
