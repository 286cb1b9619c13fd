#include "server-stub/api/stub_grpc_request.h"

#include <jansson.h>
#include <string.h>

#include "common/wire/tensor.h"
#include "server-stub/api/stub_tensor.h"
#include "server-stub/api/stub_text.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"

typedef Inference__ModelInferRequest__InferInputTensor input_tensor;

Inference__ModelInferRequest *grpc_request_read(const struct exchange *x)
{
    return inference__model_infer_request__unpack(NULL, x->body_len,
                                                  (const uint8_t *)x->body);
}

void grpc_request_free(Inference__ModelInferRequest *req)
{
    inference__model_infer_request__free_unpacked(req, NULL);
}

/* ---- checks ---- */

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

const char *grpc_request_check(const Inference__ModelInferRequest *req)
{
    bool is_raw = req->n_raw_input_contents > 0;
    size_t nth = 0;
    size_t from;

    if (req->n_inputs == 0)
        return "no inputs";
    if (req->n_inputs > GRPC_MAX_INPUTS)
        return "more than 256 inputs";
    if (is_raw && req->n_raw_input_contents != req->n_inputs)
        return "raw contents are required for all inputs or none";
    for (size_t i = 0; i < req->n_inputs; i++) {
        const char *why = check_input(
            req->inputs[i], is_raw ? &req->raw_input_contents[i] : NULL);

        if (why)
            return why;
    }
    if (grpc_request_is_text(req))
        return NULL;
    if (req->n_outputs > req->n_inputs)
        return "more outputs than the model has";
    while (grpc_request_output(req, nth, &from))
        nth++;
    return nth < req->n_outputs ? "outputs: unknown output" : NULL;
}

bool grpc_request_output(const Inference__ModelInferRequest *req, size_t nth,
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

bool grpc_request_is_set(const Inference__ModelInferRequest *req,
                         const char *key)
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

bool grpc_request_is_text(const Inference__ModelInferRequest *req)
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
bool grpc_request_read_bounds(const Inference__ModelInferRequest *req,
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
    call->ignores_eos = grpc_request_is_set(req, "ignore_eos") ||
                        json_is_true(json_object_get(bounds, "ignore_eos"));
    is_met = text_read_bounds(bounds, "max_tokens", "min_tokens", call);
    json_decref(bounds);
    return is_met;
}

bool grpc_request_read_text(const Inference__ModelInferRequest *req,
                            struct call *call)
{
    json_t *text = text_of(req, "text_input");

    call->job.prompt_tokens = text_prompt_tokens(text);
    json_decref(text);
    return grpc_request_read_bounds(req, call);
}
