/* TensorFlow Serving's Predict: each input is returned as the output of the
 * same name. */
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/xalloc.h"
#include "common/proto/predict.pb-c.h"
#include "common/settings/settings.h"
#include "common/wire/tensor.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/api/stub_grpc.h"
#include "server-stub/api/stub_tensor.h"
#include "server-stub/front/call.h"
#include "server-stub/front/front.h"

#define MAX_DIMS 254

/* Number of elements, or -1 if the shape is invalid. */
static int64_t elements(const Serving__TensorShapeProto *shape)
{
    int64_t dims[MAX_DIMS];

    if (!shape)
        return 1;
    if (shape->n_dim > MAX_DIMS || shape->unknown_rank)
        return -1;
    for (size_t i = 0; i < shape->n_dim; i++)
        dims[i] = shape->dim[i]->size;
    return tensor_elements_of(dims, shape->n_dim);
}

/* One value may stand for all.  Returns NULL, or what is wrong. */
static const char *check_tensor(const Serving__TensorProto *t)
{
    const struct tensor_type *type =
        t ? tensor_type_of_tf((int)t->dtype) : NULL;
    int64_t n = t ? elements(t->tensor_shape) : -1;
    size_t values;

    if (!type)
        return "inputs: unknown dtype";
    if (n < 0)
        return "inputs: invalid shape";
    values = t->n_float_val + t->n_double_val + t->n_int_val + t->n_string_val +
             t->n_int64_val + t->n_bool_val + t->n_half_val;
    if (values > 0)
        return values == (size_t)n || values == 1
                   ? NULL
                   : "inputs: the number of values does not match the shape";
    return type->size > 0 && t->tensor_content.len == (size_t)n * type->size
               ? NULL
               : "inputs: the number of bytes does not match the shape";
}

static Serving__PredictRequest *unpack(const struct exchange *x)
{
    return serving__predict_request__unpack(NULL, x->body_len,
                                            (const uint8_t *)x->body);
}

static bool read_request(const struct json_t *json, const struct exchange *x,
                         struct call *call)
{
    Serving__PredictRequest *req = unpack(x);

    (void)json;
    call->why = !req             ? "not a PredictRequest"
                : !req->n_inputs ? "no inputs"
                                 : NULL;
    for (size_t i = 0; !call->why && i < req->n_inputs; i++)
        call->why = check_tensor(req->inputs[i]->value);
    call->job.output_tokens = 1;
    serving__predict_request__free_unpacked(req, NULL);
    return !call->why;
}

static void put_whole(struct call *call, const struct stub_settings *s,
                      struct buf *out)
{
    Serving__PredictRequest *req = unpack(call->x);
    Serving__PredictResponse__OutputsEntry *entries =
        xcalloc(req->n_inputs, sizeof(*entries));
    Serving__PredictResponse__OutputsEntry **outputs = xcalloc(
        req->n_inputs, sizeof(Serving__PredictResponse__OutputsEntry *));
    Serving__PredictResponse response = SERVING__PREDICT_RESPONSE__INIT;
    Serving__Int64Value version = SERVING__INT64_VALUE__INIT;
    Serving__ModelSpec spec = SERVING__MODEL_SPEC__INIT;

    version.value = 1;
    spec.name = s->model;
    spec.version = &version;
    response.model_spec = &spec;
    response.n_outputs = req->n_inputs;
    response.outputs = outputs;
    for (size_t i = 0; i < req->n_inputs; i++) {
        serving__predict_response__outputs_entry__init(&entries[i]);
        entries[i].key = req->inputs[i]->key;
        entries[i].value = req->inputs[i]->value;
        outputs[i] = &entries[i];
    }
    grpc_pack(&response.base, out);
    free(outputs);
    free(entries);
    serving__predict_request__free_unpacked(req, NULL);
}

const struct api_ops api_grpc_predict = {
    .name = "tfserving-grpc",
    .paths =
        (const char *const[]){"/tensorflow.serving.PredictionService/Predict",
                              NULL},
    .read = read_request,
    .whole = put_whole,
};
