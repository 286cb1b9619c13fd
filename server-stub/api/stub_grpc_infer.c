/* ModelInfer and ModelStreamInfer of KServe and Triton.  Tensors are returned
 * as they are, raw or not, so that a client can check them.  A text is answered
 * with words; a stream has one response per token (a decoupled model). */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/xalloc.h"
#include "common/proto/inference.pb-c.h"
#include "common/settings/settings.h"
#include "common/wire/tensor.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/api/stub_grpc.h"
#include "server-stub/api/stub_tensor.h"
#include "server-stub/api/stub_text.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"

#define MAX_WORDS ((size_t)64 << 20)

typedef Inference__ModelInferResponse__InferOutputTensor output_tensor;
typedef Inference__ModelInferRequest__InferInputTensor input_tensor;

#define MAX_INPUTS 256

/* ---- the request ---- */

/* Only the list of this type may have values. */
static const char *check_values(const struct tensor_type *type,
                                const input_tensor *in, int64_t n)
{
    static const Inference__InferTensorContents nothing;
    const Inference__InferTensorContents *c =
        in->contents ? in->contents : &nothing;
    const struct {
        size_t n;
        enum tensor_kind kind;
        size_t smallest;
        size_t largest;
    } lists[] = {
        {c->n_bool_contents, TENSOR_BOOL, 1, 1},
        {c->n_int_contents, TENSOR_SIGNED, 1, 4},
        {c->n_int64_contents, TENSOR_SIGNED, 8, 8},
        {c->n_uint_contents, TENSOR_UNSIGNED, 1, 4},
        {c->n_uint64_contents, TENSOR_UNSIGNED, 8, 8},
        {c->n_fp32_contents, TENSOR_FLOAT, 4, 4},
        {c->n_fp64_contents, TENSOR_FLOAT, 8, 8},
        {c->n_bytes_contents, TENSOR_BYTES, 0, 0},
    };
    size_t own = 0;
    size_t all = 0;

    if (type->kind == TENSOR_RAW)
        return "inputs: FP16 and BF16 require raw contents";
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        all += lists[i].n;
        if (lists[i].kind == type->kind && type->size >= lists[i].smallest &&
            type->size <= lists[i].largest)
            own = lists[i].n;
    }
    return own == all && own == (size_t)n
               ? NULL
               : "inputs: contents do not match datatype and shape";
}

static const char *check_input(const input_tensor *in,
                               const ProtobufCBinaryData *raw)
{
    const struct tensor_type *type = tensor_type_find(in->datatype);
    int64_t n = tensor_elements_of(in->shape, in->n_shape);

    if (!in->name[0])
        return "inputs: a name is missing";
    if (!type)
        return "inputs: unknown datatype";
    if (n < 0)
        return "inputs: invalid shape";
    if (!raw)
        return check_values(type, in, n);
    if (in->contents)
        return "inputs: contents cannot be combined with raw contents";
    return tensor_is_whole(type, (const char *)raw->data, raw->len, n)
               ? NULL
               : "inputs: the number of bytes does not match the shape";
}

/* Sets *from to the input of the nth output to send; false if there are no
 * more. */
static bool next_output(const Inference__ModelInferRequest *req, size_t nth,
                        size_t *from)
{
    *from = nth;
    if (req->n_outputs == 0)
        return nth < req->n_inputs;
    return nth < req->n_outputs &&
           tensor_output_index(req->outputs[nth]->name, req->n_inputs, from);
}

/* ---- language models ---- */

static const Inference__InferParameter *
find_parameter(const Inference__ModelInferRequest *req, const char *key)
{
    for (size_t i = 0; i < req->n_parameters; i++) {
        if (strcmp(req->parameters[i]->key, key) == 0)
            return req->parameters[i]->value;
    }
    return NULL;
}

/* Is this parameter a bool and true? */
static bool is_set(const Inference__ModelInferRequest *req, const char *key)
{
    const Inference__InferParameter *p = find_parameter(req, key);

    return p &&
           p->parameter_choice_case ==
               INFERENCE__INFER_PARAMETER__PARAMETER_CHOICE_BOOL_PARAM &&
           p->bool_param;
}

/* The first string of the input of that name, or NULL. */
static json_t *text_of(const Inference__ModelInferRequest *req,
                       const char *name)
{
    for (size_t i = 0; i < req->n_inputs; i++) {
        const input_tensor *in = req->inputs[i];
        const ProtobufCBinaryData *raw =
            req->n_raw_input_contents > i ? &req->raw_input_contents[i] : NULL;

        if (strcmp(in->name, name) != 0 || strcmp(in->datatype, "BYTES") != 0)
            continue;
        if (raw && raw->len >= TENSOR_LENGTH_SIZE)
            return json_stringn_nocheck((const char *)raw->data +
                                            TENSOR_LENGTH_SIZE,
                                        raw->len - TENSOR_LENGTH_SIZE);
        if (in->contents && in->contents->n_bytes_contents > 0)
            return json_stringn_nocheck(
                (const char *)in->contents->bytes_contents[0].data,
                in->contents->bytes_contents[0].len);
    }
    return NULL;
}

/* Is it for a language model, with a text_input? */
static bool is_for_text(const Inference__ModelInferRequest *req)
{
    json_t *text = text_of(req, "text_input");

    json_decref(text);
    return text != NULL;
}

static void add_number(json_t *bounds, const Inference__ModelInferRequest *req,
                       const char *key)
{
    const Inference__InferParameter *p = find_parameter(req, key);

    if (p && p->parameter_choice_case ==
                 INFERENCE__INFER_PARAMETER__PARAMETER_CHOICE_INT64_PARAM)
        json_object_set_new(bounds, key, json_integer(p->int64_param));
}

/* As in Triton's vLLM backend: parameters, or JSON in a tensor. */
static bool read_bounds(const Inference__ModelInferRequest *req,
                        struct call *call)
{
    json_t *text = text_of(req, "sampling_parameters");
    json_t *bounds = text ? json_loadb(json_string_value(text),
                                       json_string_length(text), 0, NULL)
                          : NULL;
    bool is_met;

    json_decref(text);
    if (!bounds)
        bounds = json_object();
    add_number(bounds, req, "max_tokens");
    add_number(bounds, req, "min_tokens");
    call->ignores_eos = is_set(req, "ignore_eos") ||
                        json_is_true(json_object_get(bounds, "ignore_eos"));
    is_met = text_read_bounds(bounds, "max_tokens", "min_tokens", call);
    json_decref(bounds);
    return is_met;
}

static bool read_words(const Inference__ModelInferRequest *req,
                       struct call *call)
{
    json_t *text = text_of(req, "text_input");

    call->job.prompt_tokens = text_prompt_tokens(text);
    json_decref(text);
    return read_bounds(req, call);
}

/* Returns NULL, or what is wrong with it. */
static const char *check_request(const Inference__ModelInferRequest *req)
{
    bool is_raw = req->n_raw_input_contents > 0;
    size_t nth = 0;
    size_t from;

    if (req->n_inputs == 0)
        return "no inputs";
    if (req->n_inputs > MAX_INPUTS)
        return "more than 256 inputs";
    if (is_raw && req->n_raw_input_contents != req->n_inputs)
        return "raw contents are required for all inputs or none";
    for (size_t i = 0; i < req->n_inputs; i++) {
        const char *why = check_input(
            req->inputs[i], is_raw ? &req->raw_input_contents[i] : NULL);

        if (why)
            return why;
    }
    if (is_for_text(req))
        return NULL;
    if (req->n_outputs > req->n_inputs)
        return "more outputs than the model has";
    while (next_output(req, nth, &from))
        nth++;
    return nth < req->n_outputs ? "outputs: unknown output" : NULL;
}

static bool read_request(const struct exchange *x, struct call *call,
                         bool is_text, bool streams)
{
    Inference__ModelInferRequest *req = inference__model_infer_request__unpack(
        NULL, x->body_len, (const uint8_t *)x->body);
    bool is_read = false;

    if (!req) {
        call->why = "not a ModelInferRequest";
        return false;
    }
    call->why = check_request(req);
    if (!call->why && is_text == is_for_text(req)) {
        call->streams = streams;
        call->job.output_tokens = 1;
        call->wants_final = is_set(req, "triton_enable_empty_final_response");
        is_read = is_text ? read_words(req, call)
                          : !streams || read_bounds(req, call);
    }
    inference__model_infer_request__free_unpacked(req, NULL);
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
    output_tensor tensors[MAX_INPUTS];
    output_tensor *outputs[MAX_INPUTS];
    ProtobufCBinaryData raw[MAX_INPUTS];
    char names[MAX_INPUTS][16];
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

    for (size_t i = 0; next_output(req, i, &from); i++) {
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
    Inference__ModelInferRequest *req = inference__model_infer_request__unpack(
        NULL, call->x->body_len, (const uint8_t *)call->x->body);
    struct made *m = xcalloc(1, sizeof(*m));

    inference__model_infer_response__init(&m->response);
    m->response.model_name = s->model;
    m->response.model_version = grpc_text("1");
    m->response.id = req->id;
    m->response.outputs = m->outputs;
    m->one = 1;
    buf_init(&m->words, MAX_WORDS);

    if (!is_empty && is_for_text(req))
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
    inference__model_infer_request__free_unpacked(req, NULL);
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
