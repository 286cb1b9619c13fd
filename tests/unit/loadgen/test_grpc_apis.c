/* Requests of the APIs over gRPC: what goes out, byte for byte. */
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/proto/inference.pb-c.h"
#include "common/proto/predict.pb-c.h"
#include "common/settings/settings.h"
#include "loadgen/api/api.h"
#include "tests/support/grpcrig.h"
#include "tests/support/test.h"

static void make(struct grpcrig *r)
{
    api_make_body(&r->api, &r->facts, NULL, NULL, &r->body);
    assert_false(r->body.overflowed);
}

static Inference__ModelInferRequest *unpack(const struct grpcrig *r)
{
    Inference__ModelInferRequest *m = inference__model_infer_request__unpack(
        NULL, r->body.len, (const uint8_t *)r->body.data);

    assert_non_null(m);
    return m;
}

TEST(raw_tensors_go_out_whole)
{
    Inference__ModelInferRequest *m;
    struct grpcrig r;

    grpcrig_begin(&r, API_KSERVE_GRPC, "x FP32 2x3");
    strlist_add(&r.settings.data.tensors, "y INT64 1");
    r.settings.target.model_version = xstrdup("3");
    grpcrig_ready(&r);
    make(&r);
    m = unpack(&r);
    assert_string_equal(m->model_name, "m");
    assert_string_equal(m->model_version, "3");
    assert_int_equal(m->n_inputs, 2);
    assert_string_equal(m->inputs[0]->name, "x");
    assert_string_equal(m->inputs[0]->datatype, "FP32");
    assert_int_equal(m->inputs[0]->n_shape, 2);
    assert_int_equal(m->inputs[0]->shape[1], 3);
    assert_null(m->inputs[0]->contents);
    assert_int_equal(m->n_raw_input_contents, 2);
    assert_int_equal(m->raw_input_contents[0].len, 24);
    assert_int_equal(m->raw_input_contents[1].len, 8);
    assert_int_equal(m->n_parameters, 0);
    inference__model_infer_request__free_unpacked(m, NULL);
    grpcrig_end(&r);
}

/* The same values, whichever way they go. */
TEST(typed_tensors_are_the_raw_ones)
{
    static const char *const tensors[] = {
        "x FP32 4",   "x FP64 4",   "x INT8 4",  "x INT16 4",
        "x INT32 4",  "x INT64 4",  "x UINT8 4", "x UINT16 4",
        "x UINT32 4", "x UINT64 4", "x BOOL 4",  "x BYTES 4",
    };

    for (size_t i = 0; i < COUNT(tensors); i++) {
        Inference__ModelInferRequest *raw;
        Inference__ModelInferRequest *typed;
        struct grpcrig r;
        struct grpcrig t;
        const Inference__InferTensorContents *c;
        const ProtobufCBinaryData *bytes;

        grpcrig_begin(&r, API_KSERVE_GRPC, tensors[i]);
        grpcrig_begin(&t, API_KSERVE_GRPC, tensors[i]);
        r.settings.data.nonce = t.settings.data.nonce = 5;
        t.settings.data.typed = true;
        grpcrig_ready(&r);
        grpcrig_ready(&t);
        make(&r);
        make(&t);
        raw = unpack(&r);
        typed = unpack(&t);
        assert_int_equal(typed->n_raw_input_contents, 0);
        c = typed->inputs[0]->contents;
        bytes = &raw->raw_input_contents[0];
        assert_int_equal(c->n_bool_contents + c->n_int_contents +
                             c->n_int64_contents + c->n_uint_contents +
                             c->n_uint64_contents + c->n_fp32_contents +
                             c->n_fp64_contents + c->n_bytes_contents,
                         4);
        if (c->n_fp32_contents)
            assert_memory_equal(c->fp32_contents, bytes->data, bytes->len);
        else if (c->n_fp64_contents)
            assert_memory_equal(c->fp64_contents, bytes->data, bytes->len);
        else if (c->n_int64_contents)
            assert_memory_equal(c->int64_contents, bytes->data, bytes->len);
        else if (c->n_uint64_contents)
            assert_memory_equal(c->uint64_contents, bytes->data, bytes->len);
        else if (c->n_bytes_contents)
            assert_memory_equal(c->bytes_contents[0].data, bytes->data + 4,
                                c->bytes_contents[0].len);
        else if (c->n_int_contents)
            assert_int_equal(c->int_contents[0], bytes->data[0]);
        else if (c->n_uint_contents)
            assert_int_equal(c->uint_contents[0], bytes->data[0]);
        else
            assert_int_equal(c->bool_contents[0], bytes->data[0]);
        inference__model_infer_request__free_unpacked(raw, NULL);
        inference__model_infer_request__free_unpacked(typed, NULL);
        grpcrig_end(&r);
        grpcrig_end(&t);
    }
}

TEST(streams_ask_for_the_end)
{
    Inference__ModelInferRequest *m;
    struct grpcrig r;

    grpcrig_begin(&r, API_TRITON_GRPC_STREAM, "x FP32 1");
    grpcrig_ready(&r);
    make(&r);
    m = unpack(&r);
    assert_int_equal(m->n_parameters, 1);
    assert_string_equal(m->parameters[0]->key,
                        "triton_enable_empty_final_response");
    assert_true(m->parameters[0]->value->bool_param);
    inference__model_infer_request__free_unpacked(m, NULL);
    grpcrig_end(&r);
}

TEST(predict_names_its_inputs)
{
    Serving__PredictRequest *m;
    struct grpcrig r;

    grpcrig_begin(&r, API_TFSERVING_GRPC, "x FP32 2x2");
    strlist_add(&r.settings.data.tensors, "s BYTES 3");
    r.settings.target.model_version = xstrdup("12");
    grpcrig_ready(&r);
    make(&r);
    m = serving__predict_request__unpack(NULL, r.body.len,
                                         (const uint8_t *)r.body.data);
    assert_non_null(m);
    assert_string_equal(m->model_spec->name, "m");
    assert_int_equal(m->model_spec->version->value, 12);
    assert_int_equal(m->n_inputs, 2);
    assert_string_equal(m->inputs[0]->key, "x");
    assert_int_equal(m->inputs[0]->value->dtype, SERVING__DATA_TYPE__DT_FLOAT);
    assert_int_equal(m->inputs[0]->value->tensor_shape->dim[1]->size, 2);
    assert_int_equal(m->inputs[0]->value->tensor_content.len, 16);
    assert_int_equal(m->inputs[1]->value->n_string_val, 3);
    serving__predict_request__free_unpacked(m, NULL);
    grpcrig_end(&r);
}

#define LINE "{\"prompt\":\"a\\\"\\u00e9\"}"
#define SAID "a\"\303\251"

/* In both forms, other inputs before and behind it. */
TEST(prompts_are_elements_of_texts)
{
    static const char want[] = "\4\0\0\0" SAID "\4\0\0\0" SAID;

    for (int is_typed = 0; is_typed < 2; is_typed++) {
        const Inference__InferTensorContents *c;
        Inference__ModelInferRequest *m;
        struct grpcrig r;

        grpcrig_begin(&r, API_KSERVE_GRPC, "x FP32 2");
        strlist_add(&r.settings.data.tensors, "t BYTES 2");
        strlist_add(&r.settings.data.tensors, "n INT64 1");
        r.settings.data.typed = is_typed;
        grpcrig_take_data(&r, LINE);
        grpcrig_ready(&r);
        make(&r);
        m = unpack(&r);
        assert_int_equal(m->n_inputs, 3);
        if (!is_typed) {
            assert_int_equal(m->n_raw_input_contents, 3);
            assert_int_equal(m->raw_input_contents[0].len, 8);
            assert_int_equal(m->raw_input_contents[1].len, sizeof(want) - 1);
            assert_memory_equal(m->raw_input_contents[1].data, want,
                                sizeof(want) - 1);
            assert_int_equal(m->raw_input_contents[2].len, 8);
        } else {
            c = m->inputs[1]->contents;
            assert_int_equal(c->n_bytes_contents, 2);
            assert_int_equal(c->bytes_contents[1].len, sizeof(SAID) - 1);
            assert_memory_equal(c->bytes_contents[1].data, SAID,
                                sizeof(SAID) - 1);
            assert_int_equal(m->inputs[0]->contents->n_fp32_contents, 2);
            assert_int_equal(m->inputs[2]->contents->n_int64_contents, 1);
        }
        inference__model_infer_request__free_unpacked(m, NULL);
        grpcrig_end(&r);
    }
}

TEST(predictions_of_prompts)
{
    Serving__PredictRequest *m;
    struct grpcrig r;

    grpcrig_begin(&r, API_TFSERVING_GRPC, "t BYTES 1");
    strlist_add(&r.settings.data.tensors, "x FP32 3");
    grpcrig_take_data(&r, LINE);
    grpcrig_ready(&r);
    make(&r);
    m = serving__predict_request__unpack(NULL, r.body.len,
                                         (const uint8_t *)r.body.data);
    assert_non_null(m);
    assert_int_equal(m->inputs[0]->value->n_string_val, 1);
    assert_int_equal(m->inputs[0]->value->string_val[0].len, sizeof(SAID) - 1);
    assert_memory_equal(m->inputs[0]->value->string_val[0].data, SAID,
                        sizeof(SAID) - 1);
    assert_int_equal(m->inputs[1]->value->tensor_content.len, 12);
    serving__predict_request__free_unpacked(m, NULL);
    grpcrig_end(&r);
}

/* A message of the user's is a field of the sample in base64, in which some who
 * write JSON escape the slash. */
TEST(messages_of_a_data_set)
{
    static const char want[] = "\377\0\376"; /* base64: /wD+ */
    struct grpcrig r;

    grpcrig_begin(&r, API_GRPC, NULL);
    r.settings.data.prompt = xstrdup("m");
    grpcrig_take_data(&r, "{\"m\":\"\\/wD+\",\"prompt\":\"not me\"}");
    grpcrig_ready(&r);
    make(&r);
    assert_int_equal(r.body.len, sizeof(want) - 1);
    assert_memory_equal(r.body.data, want, sizeof(want) - 1);
    grpcrig_end(&r);
}

TEST(messages_that_are_none)
{
    static const char *const lines[] = {
        "{\"prompt\":\"AA==\"}\n{\"prompt\":\"what is this?\"}",
        "{\"prompt\":\"AA==\"}\n{\"prompt\":\"AAAA=AAA\"}",
    };

    for (size_t i = 0; i < COUNT(lines); i++) {
        struct err err = {0};
        struct grpcrig r;

        grpcrig_begin(&r, API_GRPC, NULL);
        grpcrig_take_data(&r, lines[i]);
        assert_int_equal(api_init(&r.api, &r.settings, &err), -1);
        assert_string_equal(err.msg,
                            "data.file: f:2: the message is not base64");
        grpcrig_end(&r);
    }
}

TEST(what_is_missing_is_said)
{
    static const struct {
        enum api_kind kind;
        const char *tensor;
        bool has_model;
        bool is_typed;
        const char *why;
    } cases[] = {
        {API_KSERVE_GRPC, "x FP32 1", false, false,
         "target.model is required (--model)"},
        {API_TFSERVING_GRPC, "x FP32 1", false, false,
         "target.model is required (--model)"},
        {API_KSERVE_GRPC, NULL, true, false,
         "data.tensors is required: the inputs of the model ('x FP32 1x16')"},
        {API_KSERVE_GRPC, "x FP16 1", true, true,
         "data.typed: FP16 can only be sent as raw bytes"},
        {API_TFSERVING_GRPC, "x BF16 1", true, false,
         "data.tensors: tfserving-grpc does not support BF16"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct grpcrig r;

        grpcrig_begin(&r, cases[i].kind, cases[i].tensor);
        if (!cases[i].has_model) {
            free(r.settings.target.model);
            r.settings.target.model = NULL;
        }
        r.settings.data.typed = cases[i].is_typed;
        assert_int_equal(api_init(&r.api, &r.settings, &err), -1);
        assert_string_equal(err.msg, cases[i].why);
        grpcrig_end(&r);
    }
}
