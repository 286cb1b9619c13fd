/* ModelInfer and ModelStreamInfer of KServe and Triton.  Tensors are returned
 * as they are, raw or not, so that a client can check them.  A text is answered
 * with words; a stream has one response per token (a decoupled model). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/api/stub_grpc.h"
#include "server-stub/api/stub_grpc_request.h"
#include "server-stub/api/stub_tensor.h"
#include "server-stub/api/stub_text.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"

#define MAX_WORDS ((size_t)64 << 20)

typedef Inference__ModelInferResponse__InferOutputTensor output_tensor;

/* ---- the request ---- */

static bool read_request(const struct exchange *x, struct call *call,
                         bool is_text, bool streams)
{
    Inference__ModelInferRequest *req = grpc_request_read(x);
    bool is_read = false;

    if (!req) {
        call->why = "not a ModelInferRequest";
        return false;
    }
    call->why = grpc_request_check(req);
    if (!call->why && is_text == grpc_request_is_text(req)) {
        call->streams = streams;
        call->job.output_tokens = 1;
        call->wants_final =
            grpc_request_is_set(req, "triton_enable_empty_final_response");
        is_read = is_text ? grpc_request_read_text(req, call)
                          : !streams || grpc_request_read_bounds(req, call);
    }
    grpc_request_free(req);
    return is_read;
}

static bool read_text(const struct json_t *json, const struct exchange *x,
                      struct call *call)
{
    (void)json;
    return read_request(x, call, true, false);
}

static bool read_tensors(const struct json_t *json, const struct exchange *x,
                         struct call *call)
{
    (void)json;
    return read_request(x, call, false, false);
}

static bool read_stream_text(const struct json_t *json,
                             const struct exchange *x, struct call *call)
{
    (void)json;
    return read_request(x, call, true, true);
}

static bool read_stream_tensors(const struct json_t *json,
                                const struct exchange *x, struct call *call)
{
    (void)json;
    return read_request(x, call, false, true);
}

/* ---- the answer ---- */

/* A response under construction; its pointers go into this or the request. */
struct made {
    Inference__ModelInferResponse response;
    output_tensor tensors[GRPC_MAX_INPUTS];
    output_tensor *outputs[GRPC_MAX_INPUTS];
    ProtobufCBinaryData raw[GRPC_MAX_INPUTS];
    char names[GRPC_MAX_INPUTS][16];
    int64_t one;
    struct buf words;
    Inference__InferParameter final;
    Inference__ModelInferResponse__ParametersEntry entry;
    Inference__ModelInferResponse__ParametersEntry *entries[1];
};

static output_tensor *add_output(struct made *m)
{
    size_t nth = m->response.n_outputs++;
    output_tensor *out = &m->tensors[nth];

    inference__model_infer_response__infer_output_tensor__init(out);
    m->outputs[nth] = out;
    return out;
}

static void add_tensors(struct made *m, const Inference__ModelInferRequest *req)
{
    size_t from;

    for (size_t i = 0; grpc_request_output(req, i, &from); i++) {
        const Inference__ModelInferRequest__InferInputTensor *in =
            req->inputs[from];
        output_tensor *out = add_output(m);

        snprintf(m->names[i], sizeof(m->names[i]), TENSOR_OUTPUT "%zu", from);
        out->name = m->names[i];
        out->datatype = in->datatype;
        out->n_shape = in->n_shape;
        out->shape = in->shape;
        out->contents = in->contents;
        if (req->n_raw_input_contents > 0)
            m->raw[m->response.n_raw_output_contents++] =
                req->raw_input_contents[from];
    }
    m->response.raw_output_contents = m->raw;
}

/* One string, preceded by its length. */
static void add_text(struct made *m, int64_t n)
{
    output_tensor *out = add_output(m);
    const char none[TENSOR_LENGTH_SIZE] = {0};
    size_t len;

    buf_add(&m->words, none, sizeof(none));
    text_put_words(&m->words, n);
    len = m->words.len - TENSOR_LENGTH_SIZE;
    for (size_t i = 0; i < TENSOR_LENGTH_SIZE; i++)
        m->words.data[i] = (char)(len >> (8 * i) & 0xff);
    out->name = grpc_text("text_output");
    out->datatype = grpc_text("BYTES");
    out->n_shape = 1;
    out->shape = &m->one;
    m->raw[0] = (ProtobufCBinaryData){m->words.len, (uint8_t *)m->words.data};
    m->response.n_raw_output_contents = 1;
    m->response.raw_output_contents = m->raw;
}

/* The response to a call: n tokens of text or the tensors, unless `is_empty`.
 * In a stream it also says whether it is the last. */
static void put_response(const struct call *call, const struct stub_settings *s,
                         int64_t n, bool is_empty, bool is_last,
                         struct buf *out)
{
    Inference__ModelStreamInferResponse event =
        INFERENCE__MODEL_STREAM_INFER_RESPONSE__INIT;
    Inference__ModelInferRequest *req = grpc_request_read(call->x);
    struct made *m = xcalloc(1, sizeof(*m));

    inference__model_infer_response__init(&m->response);
    m->response.model_name = s->model;
    m->response.model_version = grpc_text("1");
    m->response.id = req->id;
    m->response.outputs = m->outputs;
    m->one = 1;
    buf_init(&m->words, MAX_WORDS);

    if (!is_empty && grpc_request_is_text(req))
        add_text(m, n);
    else if (!is_empty)
        add_tensors(m, req);
    if (call->streams) {
        inference__infer_parameter__init(&m->final);
        m->final.parameter_choice_case =
            INFERENCE__INFER_PARAMETER__PARAMETER_CHOICE_BOOL_PARAM;
        m->final.bool_param = is_last;
        inference__model_infer_response__parameters_entry__init(&m->entry);
        m->entry.key = grpc_text("triton_final_response");
        m->entry.value = &m->final;
        m->entries[0] = &m->entry;
        m->response.parameters = m->entries;
        m->response.n_parameters = 1;
        event.infer_response = &m->response;
        grpc_pack(&event.base, out);
    } else {
        grpc_pack(&m->response.base, out);
    }
    buf_fini(&m->words);
    free(m);
    grpc_request_free(req);
}

static void put_whole(struct call *call, const struct stub_settings *s,
                      struct buf *out)
{
    put_response(call, s, call->job.produced, false, true, out);
}

static void put_tokens(const struct call *call, const struct stub_settings *s,
                       int64_t n, struct buf *out)
{
    bool is_final = text_is_last(call, n) && !call->wants_final &&
                    !call_has(call, FAULT_NO_DONE);

    put_response(call, s, n, false, is_final, out);
}

static void put_final(const struct call *call, const struct stub_settings *s,
                      struct buf *out)
{
    if (call->wants_final && !call_has(call, FAULT_NO_DONE))
        put_response(call, s, 0, true, true, out);
}

static void put_error(int status, const char *message, struct buf *out)
{
    Inference__ModelStreamInferResponse event =
        INFERENCE__MODEL_STREAM_INFER_RESPONSE__INIT;

    (void)status;
    event.error_message = grpc_text(message);
    grpc_pack(&event.base, out);
}

#define SERVICE "/inference.GRPCInferenceService/"

const struct api_ops api_grpc_text = {
    .name = "kserve-grpc",
    .paths = (const char *const[]){SERVICE "ModelInfer", NULL},
    .read = read_text,
    .whole = put_whole,
    .tokens = put_tokens,
};

const struct api_ops api_grpc_tensors = {
    .name = "kserve-grpc",
    .paths = (const char *const[]){SERVICE "ModelInfer", NULL},
    .read = read_tensors,
    .whole = put_whole,
};

const struct api_ops api_grpc_stream_text = {
    .name = "triton-grpc-stream",
    .paths = (const char *const[]){SERVICE "ModelStreamInfer", NULL},
    .probe_marks_last = true,
    .read = read_stream_text,
    .tokens = put_tokens,
    .last = put_final,
    .error = put_error,
};

const struct api_ops api_grpc_stream_tensors = {
    .name = "triton-grpc-stream",
    .paths = (const char *const[]){SERVICE "ModelStreamInfer", NULL},
    .probe_marks_last = true,
    .is_single = true,
    .read = read_stream_tensors,
    .tokens = put_tokens,
    .last = put_final,
    .error = put_error,
};
