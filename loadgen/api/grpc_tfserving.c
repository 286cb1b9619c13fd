/* TensorFlow Serving's Predict over gRPC. */
#include <string.h>

#include "common/base/err.h"
#include "common/proto/predict.pb-c.h"
#include "common/settings/settings.h"
#include "common/text/units.h"
#include "loadgen/api/api.h"
#include "loadgen/api/grpc_message.h"
#include "loadgen/prepare/target.h"

typedef Serving__TensorProto tensor_message;
typedef Serving__TensorShapeProto shape_message;
typedef Serving__TensorShapeProto__Dim dim_message;
typedef Serving__PredictRequest request_message;
typedef Serving__PredictRequest__InputsEntry entry_message;
typedef Serving__PredictResponse answer_message;

static const struct inputs *inputs_of(const struct api *api)
{
    return api->own;
}

/* ---- requests ---- */

/* All integers of up to 32 bits share a field; UINT64 has none. */
static const struct list_field lists[LIST_COUNT] = {
    [LIST_BOOL] = LIST_FIELD(tensor_message, bool_val),
    [LIST_INT32] = LIST_FIELD(tensor_message, int_val),
    [LIST_INT64] = LIST_FIELD(tensor_message, int64_val),
    [LIST_UINT32] = LIST_FIELD(tensor_message, int_val),
    [LIST_FLOAT] = LIST_FIELD(tensor_message, float_val),
    [LIST_DOUBLE] = LIST_FIELD(tensor_message, double_val),
    [LIST_TEXT] = LIST_FIELD(tensor_message, string_val),
};

static tensor_message *make_tensor(const struct api *api,
                                   const struct tensor *t,
                                   ProtobufCBinaryData raw, struct arena *a)
{
    tensor_message *m = arena_take(a, sizeof(*m));
    shape_message *shape = arena_take(a, sizeof(*shape));
    struct typed typed;

    serving__tensor_shape_proto__init(shape);
    shape->n_dim = t->n_dims;
    shape->dim = arena_take_pointers(a, t->n_dims);
    for (size_t i = 0; i < t->n_dims; i++) {
        shape->dim[i] = arena_take(a, sizeof(dim_message));
        serving__tensor_shape_proto__dim__init(shape->dim[i]);
        shape->dim[i]->size = t->dims[i];
    }
    serving__tensor_proto__init(m);
    m->dtype = (Serving__DataType)t->type->tf;
    m->tensor_shape = shape;
    if (api->settings->data.typed || t->type->kind == TENSOR_BYTES) {
        typed = typed_from_raw(t->type, (const char *)raw.data, raw.len, a);
        typed_fill(m, lists, &typed);
    } else {
        m->tensor_content = raw;
    }
    return m;
}

static void predict_write(const struct api *api, const struct sample *sample,
                          struct buf *body)
{
    const struct inputs *in = inputs_of(api);
    const char *version = api->settings->target.model_version;
    struct values v = values_of(in, api, sample);
    Serving__Int64Value number;
    Serving__ModelSpec spec;
    request_message m;
    struct arena a;
    struct buf raw;
    size_t *ends;

    arena_init(&a);
    buf_init(&raw, TARGET_MAX_REQUEST);
    ends = arena_take(&a, in->len * sizeof(*ends));
    values_put_all(&v, in, &raw, ends);
    serving__predict_request__init(&m);
    serving__model_spec__init(&spec);
    spec.name = message_borrow(api->model);
    if (version) { /* a number, checked by init */
        serving__int64_value__init(&number);
        units_parse_count(version, &number.value, &(struct err){0});
        spec.version = &number;
    }
    m.model_spec = &spec;
    m.inputs = arena_take_pointers(&a, in->len);
    for (size_t i = 0, at = 0; i < in->len && !raw.overflowed; at = ends[i++]) {
        ProtobufCBinaryData bytes = {.data = (uint8_t *)raw.data + at,
                                     .len = ends[i] - at};
        entry_message *entry = arena_take(&a, sizeof(*entry));

        serving__predict_request__inputs_entry__init(entry);
        entry->key = message_borrow(in->tensors[i].name);
        entry->value = make_tensor(api, &in->tensors[i], bytes, &a);
        m.inputs[m.n_inputs++] = entry;
    }
    body->overflowed |= raw.overflowed;
    message_pack(&m.base, body);
    buf_fini(&raw);
    arena_fini(&a);
}

static int predict_init(struct api *api, struct err *err)
{
    const char *version = api->settings->target.model_version;
    int64_t number;

    if (!api->makes_bodies)
        return 0;
    if (version && units_parse_count(version, &number, err))
        return err_context(err, "target.model_version");
    if (message_inputs(api->own, api, err))
        return -1;
    for (size_t i = 0; i < inputs_of(api)->len; i++) {
        const struct tensor_type *type = inputs_of(api)->tensors[i].type;

        if (type->tf == 0)
            return err_set(err, ERR_CONFIG,
                           "data.tensors: tfserving-grpc does not support %s",
                           type->name);
    }
    return 0;
}

static void predict_fini(struct api *api)
{
    inputs_fini(api->own);
}

/* ---- answers ---- */

static struct typed typed_of(const tensor_message *m)
{
    if (m->n_half_val > 0)
        return (struct typed){LIST_INT32, m->n_half_val, m->half_val};
    return typed_find(m, lists);
}

static int predict_read(const struct api *api, const struct response_head *head,
                        const char *data, size_t len, struct piece *p)
{
    answer_message *m;
    struct arena a;

    (void)head;
    arena_init(&a);
    m = serving__predict_response__unpack(&a.allocator, len,
                                          (const uint8_t *)data);
    for (size_t i = 0; m && i < m->n_outputs; i++) {
        const tensor_message *t = m->outputs[i]->value;

        if (!t)
            continue;
        p->has_content |= t->tensor_content.len > 0 || typed_of(t).n > 0;
        if (api->keeps_text && !p->text.at && t->n_string_val > 0)
            p->text = message_text(data, len, t->string_val[0]);
    }
    arena_fini(&a);
    return m ? 0 : -1;
}

static bool find_output(const answer_message *m, const char *name,
                        struct check_tensor *tensor, struct buf *room)
{
    for (size_t i = 0; i < m->n_outputs; i++) {
        const tensor_message *t = m->outputs[i]->value;
        struct typed typed;

        if (!t || strcmp(m->outputs[i]->key, name) != 0)
            continue;
        tensor->type = tensor_type_of_tf((int)t->dtype);
        if (!tensor->type)
            return false;
        typed = typed_of(t);
        message_tensor(t->tensor_content, &typed, tensor, room);
        return true;
    }
    return false;
}

static bool predict_find(const char *data, size_t len, const char *name,
                         struct check_tensor *tensor, struct buf *room)
{
    answer_message *m;
    struct arena a;
    bool found;

    arena_init(&a);
    m = serving__predict_response__unpack(&a.allocator, len,
                                          (const uint8_t *)data);
    found = m && find_output(m, name, tensor, room);
    arena_fini(&a);
    return found;
}

const struct api_ops client_tfserving_grpc = {
    .kind = API_TFSERVING_GRPC,
    .takes_tensors = true,
    .own_size = sizeof(struct inputs),
    .init = predict_init,
    .fini = predict_fini,
    .write = predict_write,
    .read_whole = predict_read,
    .find_tensor = predict_find,
};
