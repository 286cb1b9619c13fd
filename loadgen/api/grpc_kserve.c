/* KServe v2 over gRPC, with one answer per request; and Triton's streams, in
 * which a request may have any number of answers. */
#include <string.h>

#include "common/base/err.h"
#include "common/proto/inference.pb-c.h"
#include "common/settings/settings.h"
#include "loadgen/api/api.h"
#include "loadgen/api/grpc_message.h"
#include "loadgen/prepare/target.h"

typedef Inference__ModelInferRequest request_message;
typedef Inference__ModelInferRequest__InferInputTensor input_message;
typedef Inference__ModelInferRequest__ParametersEntry parameter_message;
typedef Inference__ModelInferResponse answer_message;
typedef Inference__ModelInferResponse__InferOutputTensor output_message;
typedef Inference__InferTensorContents contents_message;

/* The tag of the field raw_input_contents; a length follows. */
#define RAW_TAG '\x3a'

struct own {
    struct inputs in;
    struct buf head; /* of a request with raw contents: all but these */
};

static const struct own *own_of(const struct api *api)
{
    return api->own;
}

/* ---- requests ---- */

static const struct list_field lists[LIST_COUNT] = {
    [LIST_BOOL] = LIST_FIELD(contents_message, bool_contents),
    [LIST_INT32] = LIST_FIELD(contents_message, int_contents),
    [LIST_INT64] = LIST_FIELD(contents_message, int64_contents),
    [LIST_UINT32] = LIST_FIELD(contents_message, uint_contents),
    [LIST_UINT64] = LIST_FIELD(contents_message, uint64_contents),
    [LIST_FLOAT] = LIST_FIELD(contents_message, fp32_contents),
    [LIST_DOUBLE] = LIST_FIELD(contents_message, fp64_contents),
    [LIST_TEXT] = LIST_FIELD(contents_message, bytes_contents),
};

static void make_request(const struct api *api, request_message *m,
                         struct arena *a)
{
    const struct target_settings *t = &api->settings->target;
    const struct inputs *in = &own_of(api)->in;
    Inference__InferParameter *value;
    parameter_message *entry;

    inference__model_infer_request__init(m);
    m->model_name = message_borrow(api->model);
    if (t->model_version)
        m->model_version = message_borrow(t->model_version);
    m->n_inputs = in->len;
    m->inputs = arena_take_pointers(a, in->len);
    for (size_t i = 0; i < in->len; i++) {
        const struct tensor *tensor = &in->tensors[i];
        input_message *input = arena_take(a, sizeof(*input));

        inference__model_infer_request__infer_input_tensor__init(input);
        input->name = message_borrow(tensor->name);
        input->datatype = message_borrow(tensor->type->name);
        input->n_shape = tensor->n_dims;
        input->shape = arena_take(a, sizeof(tensor->dims));
        memcpy(input->shape, tensor->dims, sizeof(tensor->dims));
        m->inputs[i] = input;
    }
    if (api->ops->kind != API_TRITON_GRPC_STREAM)
        return;
    /* A model that decides by itself how often it answers is to mark the end.
     */
    value = arena_take(a, sizeof(*value));
    inference__infer_parameter__init(value);
    value->parameter_choice_case =
        INFERENCE__INFER_PARAMETER__PARAMETER_CHOICE_BOOL_PARAM;
    value->bool_param = true;
    entry = arena_take(a, sizeof(*entry));
    inference__model_infer_request__parameters_entry__init(entry);
    entry->key = message_borrow("triton_enable_empty_final_response");
    entry->value = value;
    m->n_parameters = 1;
    m->parameters = arena_take_pointers(a, 1);
    m->parameters[0] = entry;
}

/* The tag of raw contents, and their length as a varint. */
static void put_raw_head(uint64_t n, struct buf *out)
{
    char bytes[11] = {RAW_TAG};
    size_t len = 1;

    for (; n >= 0x80; n >>= 7)
        bytes[len++] = (char)(n | 0x80);
    bytes[len++] = (char)n;
    buf_add(out, bytes, len);
}

/* Fields may follow each other in any order: first the head, which is the same
 * for all requests, then the contents.  The length of a prompt is only known
 * after it was written. */
static void write_raw(const struct own *own, struct values v, struct buf *body)
{
    buf_add(body, own->head.data, own->head.len);
    for (size_t i = 0; i < own->in.len; i++) {
        const struct tensor *t = &own->in.tensors[i];
        struct buf prompt;

        if (t != v.prompt) {
            put_raw_head(tensor_size(t), body);
            values_put_raw(&v, t, body);
            continue;
        }
        buf_init(&prompt, TARGET_MAX_REQUEST);
        values_put_raw(&v, t, &prompt);
        put_raw_head(prompt.len, body);
        buf_add(body, buf_text(&prompt), prompt.len);
        body->overflowed |= prompt.overflowed;
        buf_fini(&prompt);
    }
}

static void write_typed(const struct api *api, struct values v,
                        struct buf *body)
{
    const struct inputs *in = &own_of(api)->in;
    size_t *ends;
    struct buf raw;
    struct arena a;
    request_message m;

    arena_init(&a);
    buf_init(&raw, TARGET_MAX_REQUEST);
    make_request(api, &m, &a);
    ends = arena_take(&a, in->len * sizeof(*ends));
    values_put_all(&v, in, &raw, ends);
    for (size_t i = 0, at = 0; i < in->len && !raw.overflowed; at = ends[i++]) {
        struct typed typed = typed_from_raw(in->tensors[i].type, raw.data + at,
                                            ends[i] - at, &a);

        m.inputs[i]->contents = arena_take(&a, sizeof(contents_message));
        inference__infer_tensor_contents__init(m.inputs[i]->contents);
        typed_fill(m.inputs[i]->contents, lists, &typed);
    }
    body->overflowed |= raw.overflowed;
    message_pack(&m.base, body);
    buf_fini(&raw);
    arena_fini(&a);
}

static void kserve_write(const struct api *api, const struct sample *sample,
                         struct buf *body)
{
    struct values v = values_of(&own_of(api)->in, api, sample);

    if (api->settings->data.typed)
        write_typed(api, v, body);
    else
        write_raw(own_of(api), v, body);
}

static int kserve_init(struct api *api, struct err *err)
{
    struct own *own = api->own;
    struct arena a;
    request_message m;

    buf_init(&own->head, TARGET_MAX_REQUEST);
    if (!api->makes_bodies)
        return 0;
    if (message_inputs(&own->in, api, err))
        return -1;
    if (api->settings->data.typed)
        return 0;
    arena_init(&a);
    make_request(api, &m, &a);
    message_pack(&m.base, &own->head);
    arena_fini(&a);
    return 0;
}

static void kserve_fini(struct api *api)
{
    struct own *own = api->own;

    inputs_fini(&own->in);
    buf_fini(&own->head);
}

/* ---- answers ---- */

static struct typed typed_of(const contents_message *c)
{
    return c ? typed_find(c, lists) : (struct typed){0};
}

/* The first text of the first output that has texts. */
static ProtobufCBinaryData first_text(const answer_message *m)
{
    for (size_t i = 0; i < m->n_outputs; i++) {
        struct typed t = typed_of(m->outputs[i]->contents);

        if (strcmp(m->outputs[i]->datatype, "BYTES") != 0)
            continue;
        if (t.kind == LIST_TEXT)
            return ((const ProtobufCBinaryData *)t.list)[0];
        if (i < m->n_raw_output_contents)
            return typed_first_text(
                (const char *)m->raw_output_contents[i].data,
                m->raw_output_contents[i].len);
    }
    return (ProtobufCBinaryData){0};
}

/* -1: the number of raw contents is not that of the outputs. */
static int read_response(const struct api *api, const answer_message *m,
                         const char *data, size_t len, struct piece *p)
{
    if (m->n_raw_output_contents > 0 &&
        m->n_raw_output_contents != m->n_outputs)
        return -1;
    for (size_t i = 0; i < m->n_outputs; i++)
        p->has_content |= m->n_raw_output_contents > 0
                              ? m->raw_output_contents[i].len > 0
                              : typed_of(m->outputs[i]->contents).n > 0;
    for (size_t i = 0; i < m->n_parameters; i++) {
        const Inference__InferParameter *value = m->parameters[i]->value;

        if (strcmp(m->parameters[i]->key, "triton_final_response") != 0 ||
            !value)
            continue;
        p->is_last =
            value->parameter_choice_case ==
                INFERENCE__INFER_PARAMETER__PARAMETER_CHOICE_BOOL_PARAM &&
            value->bool_param;
        p->is_not_last = !p->is_last;
    }
    if (api->keeps_text)
        p->text = message_text(data, len, first_text(m));
    return 0;
}

static answer_message *unpack(struct arena *a, const char *data, size_t len)
{
    return inference__model_infer_response__unpack(&a->allocator, len,
                                                   (const uint8_t *)data);
}

static Inference__ModelStreamInferResponse *
unpack_stream(struct arena *a, const char *data, size_t len)
{
    return inference__model_stream_infer_response__unpack(
        &a->allocator, len, (const uint8_t *)data);
}

static int kserve_read(const struct api *api, const struct response_head *head,
                       const char *data, size_t len, struct piece *p)
{
    answer_message *m;
    struct arena a;
    int rc;

    (void)head;
    arena_init(&a);
    m = unpack(&a, data, len);
    rc = m ? read_response(api, m, data, len, p) : -1;
    arena_fini(&a);
    return rc;
}

static int triton_read(const struct api *api, const char *data, size_t len,
                       struct piece *p)
{
    Inference__ModelStreamInferResponse *m;
    struct arena a;
    int rc = -1;

    arena_init(&a);
    m = unpack_stream(&a, data, len);
    if (m && m->error_message[0]) {
        p->is_error = true;
        p->error = message_text(
            data, len,
            (ProtobufCBinaryData){.data = (uint8_t *)m->error_message,
                                  .len = strlen(m->error_message)});
        rc = 0;
    } else if (m && m->infer_response) {
        rc = read_response(api, m->infer_response, data, len, p);
    }
    arena_fini(&a);
    return rc;
}

/* ---- tensors of answers, for checks ---- */

static bool find_output(const answer_message *m, const char *name,
                        struct check_tensor *tensor, struct buf *room)
{
    for (size_t i = 0; m && i < m->n_outputs; i++) {
        struct typed typed = typed_of(m->outputs[i]->contents);

        if (strcmp(m->outputs[i]->name, name) != 0)
            continue;
        tensor->type = tensor_type_find(m->outputs[i]->datatype);
        if (!tensor->type)
            return false;
        message_tensor(i < m->n_raw_output_contents ? m->raw_output_contents[i]
                                                    : (ProtobufCBinaryData){0},
                       &typed, tensor, room);
        return true;
    }
    return false;
}

static bool kserve_find(const char *data, size_t len, const char *name,
                        struct check_tensor *tensor, struct buf *room)
{
    struct arena a;
    bool found;

    arena_init(&a);
    found = find_output(unpack(&a, data, len), name, tensor, room);
    arena_fini(&a);
    return found;
}

static bool triton_find(const char *data, size_t len, const char *name,
                        struct check_tensor *tensor, struct buf *room)
{
    Inference__ModelStreamInferResponse *m;
    struct arena a;
    bool found;

    arena_init(&a);
    m = unpack_stream(&a, data, len);
    found = find_output(m ? m->infer_response : NULL, name, tensor, room);
    arena_fini(&a);
    return found;
}

const struct api_ops client_kserve_grpc = {
    .kind = API_KSERVE_GRPC,
    .takes_tensors = true,
    .own_size = sizeof(struct own),
    .init = kserve_init,
    .fini = kserve_fini,
    .write = kserve_write,
    .read_whole = kserve_read,
    .find_tensor = kserve_find,
};

const struct api_ops client_triton_grpc_stream = {
    .kind = API_TRITON_GRPC_STREAM,
    .takes_tensors = true,
    .own_size = sizeof(struct own),
    .init = kserve_init,
    .fini = kserve_fini,
    .write = kserve_write,
    .read_message = triton_read,
    .find_tensor = triton_find,
};
