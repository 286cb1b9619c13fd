/* The Open Inference Protocol of KServe and Triton, with Triton's binary
 * tensors.  Output n is input n, with the same type, shape and values, so that
 * a client can check them. */
#include <jansson.h>
#include <stdio.h>

#include "common/base/buf.h"
#include "common/settings/settings.h"
#include "common/text/json.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/api/stub_tensor.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"

#define MAX_BODY   ((size_t)64 << 20)
#define MAX_INPUTS 256

/* The bytes after the JSON that are not taken yet. */
struct rest {
    const char *at;
    size_t len;
};

/* Everything borrowed from the request. */
struct input {
    const struct tensor_type *type;
    const json_t *shape;
    const json_t *data; /* NULL: bytes */
    const char *bytes;
    size_t len;
    int64_t n;
};

static struct rest rest_of(const struct exchange *x)
{
    size_t json_len = x->body_len;

    if (x->json_len >= 0 && (size_t)x->json_len < x->body_len)
        json_len = (size_t)x->json_len;
    return (struct rest){x->body + json_len, x->body_len - json_len};
}

/* ---- the request ---- */

/* Returns NULL, or what is wrong with the values. */
static const char *check_values(const struct input *in)
{
    const char *why = NULL;
    struct buf bytes;

    if (!in->data)
        return tensor_is_whole(in->type, in->bytes, in->len, in->n)
                   ? NULL
                   : "inputs: the number of bytes does not match the shape";
    if (in->type->kind == TENSOR_RAW)
        return "inputs: FP16 and BF16 require binary data";
    buf_init(&bytes, MAX_BODY);
    if (!tensor_encode(in->type, in->data, in->n, &bytes))
        why = "inputs: data does not match datatype and shape";
    buf_fini(&bytes);
    return why;
}

/* Returns NULL, or what is wrong with the input. */
static const char *read_input(const json_t *json, struct rest *rest,
                              struct input *in)
{
    const json_t *name = json_object_get(json, "datatype");
    int64_t size = json_get_int(json_object_get(json, "parameters"),
                                "binary_data_size", -1);

    *in = (struct input){.type = tensor_type_find(json_string_value(name)),
                         .shape = json_object_get(json, "shape"),
                         .data = json_object_get(json, "data")};
    in->n = tensor_elements(in->shape);
    if (!json_is_string(json_object_get(json, "name")))
        return "inputs: a name is missing";
    if (!in->type)
        return "inputs: unknown datatype";
    if (in->n < 0)
        return "inputs: invalid shape";
    if (!in->data == (size < 0))
        return "inputs: requires either data or binary_data_size";
    if (in->data)
        return NULL;
    if ((uint64_t)size > rest->len)
        return "inputs: fewer bytes than binary_data_size";
    in->bytes = rest->at;
    in->len = (size_t)size;
    rest->at += size;
    rest->len -= (size_t)size;
    return NULL;
}

static bool is_binary(const json_t *json, const json_t *output)
{
    const json_t *asked =
        json_object_get(json_object_get(output, "parameters"), "binary_data");

    if (!asked)
        asked = json_object_get(json_object_get(json, "parameters"),
                                "binary_data_output");
    return json_is_true(asked);
}

/* The nth output to send, and the index of its input; false if there are no
 * more. */
static bool next_output(const json_t *json, size_t nth, const json_t **output,
                        size_t *from)
{
    const json_t *outputs = json_object_get(json, "outputs");
    size_t n_inputs = json_array_size(json_object_get(json, "inputs"));

    *from = nth;
    *output = json_array_get(outputs, nth);
    if (json_array_size(outputs) == 0)
        return nth < n_inputs;
    return *output && tensor_output_index(
                          json_string_value(json_object_get(*output, "name")),
                          n_inputs, from);
}

static const char *check_outputs(const json_t *json)
{
    const json_t *inputs = json_object_get(json, "inputs");
    size_t asked = json_array_size(json_object_get(json, "outputs"));
    const json_t *output;
    size_t nth = 0;
    size_t from;

    if (asked > json_array_size(inputs))
        return "more outputs than the model has";
    for (; next_output(json, nth, &output, &from); nth++) {
        const json_t *input = json_array_get(inputs, from);
        const struct tensor_type *type = tensor_type_find(
            json_string_value(json_object_get(input, "datatype")));

        if (type->kind == TENSOR_RAW && !is_binary(json, output))
            return "outputs: FP16 and BF16 require binary data";
    }
    return asked > 0 && nth < asked ? "outputs: unknown output" : NULL;
}

static const char *check_request(const json_t *json, struct rest rest)
{
    const json_t *inputs = json_object_get(json, "inputs");
    const json_t *input;
    size_t i;

    if (json_array_size(inputs) == 0)
        return "no inputs";
    if (json_array_size(inputs) > MAX_INPUTS)
        return "more than 256 inputs";
    json_array_foreach(inputs, i, input)
    {
        struct input in;
        const char *why = read_input(input, &rest, &in);

        if (!why)
            why = check_values(&in);
        if (why)
            return why;
    }
    if (rest.len > 0)
        return "more bytes than the inputs describe";
    return check_outputs(json);
}

static bool read_request(const struct json_t *json, const struct exchange *x,
                         struct call *call)
{
    call->why = check_request(json, rest_of(x));
    call->job.output_tokens = 1;
    return !call->why;
}

/* ---- the answer ---- */

/* Append the values of nested lists to one list. */
static void flatten(const json_t *data, json_t *out)
{
    const json_t *item;
    size_t i;

    json_array_foreach(data, i, item)
    {
        if (json_is_array(item))
            flatten(item, out);
        else
            json_array_append(out, (json_t *)item);
    }
}

static json_t *output_of(const struct input *in, size_t nth, bool is_binary,
                         struct buf *bytes)
{
    size_t before = bytes->len;
    json_t *output = json_object();
    char name[32];

    snprintf(name, sizeof(name), TENSOR_OUTPUT "%zu", nth);
    json_object_set_new(output, "name", json_string(name));
    json_object_set_new(output, "datatype", json_string(in->type->name));
    json_object_set(output, "shape", (json_t *)in->shape);
    if (!is_binary) {
        json_t *values =
            in->data ? json_array()
                     : tensor_decode(in->type, in->bytes, in->len, in->n);

        if (in->data)
            flatten(in->data, values);
        json_object_set_new(output, "data", /* bytes may not be text */
                            values ? values : json_array());
        return output;
    }
    if (in->data)
        tensor_encode(in->type, in->data, in->n, bytes);
    else
        buf_add(bytes, in->bytes, in->len);
    json_object_set_new(output, "parameters",
                        json_pack("{sI}", "binary_data_size",
                                  (json_int_t)(bytes->len - before)));
    return output;
}

static json_t *outputs_of(const json_t *json, struct rest all,
                          struct buf *bytes)
{
    const json_t *inputs = json_object_get(json, "inputs");
    json_t *outputs = json_array();
    const json_t *asked;
    size_t from;

    for (size_t i = 0; next_output(json, i, &asked, &from); i++) {
        struct rest rest = all;
        struct input in;

        /* The bytes of the inputs follow each other, so read all before it. */
        for (size_t k = 0; k <= from; k++)
            read_input(json_array_get(inputs, k), &rest, &in);
        json_array_append_new(
            outputs, output_of(&in, from, is_binary(json, asked), bytes));
    }
    return outputs;
}

static void put_whole(struct call *call, const struct stub_settings *s,
                      struct buf *out)
{
    json_t *json = api_json(call->x);
    json_t *id = json_object_get(json, "id");
    json_t *answer = json_object();
    struct buf bytes;

    buf_init(&bytes, MAX_BODY);
    json_object_set_new(answer, "model_name", json_string(s->model));
    json_object_set_new(answer, "model_version", json_string("1"));
    if (json_is_string(id))
        json_object_set(answer, "id", id);
    json_object_set_new(answer, "outputs",
                        outputs_of(json, rest_of(call->x), &bytes));
    api_put_json(answer, out);
    if (bytes.len > 0)
        call->json_len = out->len;
    buf_add(out, bytes.data, bytes.len);
    buf_fini(&bytes);
    json_decref(answer);
    json_decref(json);
}

const struct api_ops api_kserve = {
    .name = "kserve-http",
    .paths = (const char *const[]){"/v2/models/*/infer",
                                   "/v2/models/*/versions/*/infer", NULL},
    .read = read_request,
    .whole = put_whole,
    .error = api_error_text,
};
