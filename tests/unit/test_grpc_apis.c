/* Messages of the APIs over gRPC: what goes out, byte for byte, and what is
 * made of what comes back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/proto/inference.pb-c.h"
#include "common/proto/predict.pb-c.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/api/api.h"
#include "loadgen/data/dataset.h"
#include "loadgen/response.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_BODY     4096

struct rig {
    struct settings settings;
    struct dataset *data;
    struct api api;
    struct facts facts;
    struct response response;
    struct buf body;
};

static void rig_begin(struct rig *r, enum api_kind kind, const char *tensor)
{
    *r = (struct rig){.facts = facts_unknown(7, 0)};
    settings_init(&r->settings);
    r->settings.target.api = (int)kind;
    r->settings.target.model = xstrdup("m");
    if (tensor)
        strlist_add(&r->settings.data.tensors, tensor);
    buf_init(&r->body, MAX_BODY);
}

/* A data set of these lines, which go out as they are. */
static void rig_take_data(struct rig *r, const char *lines)
{
    struct data_settings *d = &r->settings.data;
    struct err err = {0};
    struct buf file;

    d->file = xstrdup("f");
    d->unique = UNIQUE_FALSE;
    buf_init(&file, MAX_BODY);
    buf_adds(&file, lines);
    if (dataset_read(&r->data, d, &file, &err))
        fail_msg("%s", err.msg);
    d->loaded = r->data;
    buf_fini(&file);
}

static void rig_ready(struct rig *r)
{
    struct err err = {0};

    if (api_init(&r->api, &r->settings, &err))
        fail_msg("%s", err.msg);
    response_begin(&r->response, &r->api, &r->facts);
}

static void rig_end(struct rig *r)
{
    response_fini(&r->response);
    api_fini(&r->api);
    dataset_free(r->data);
    settings_fini(&r->settings);
    buf_fini(&r->body);
}

static void make(struct rig *r)
{
    api_make_body(&r->api, &r->facts, NULL, NULL, &r->body);
    assert_false(r->body.overflowed);
}

/* ---- requests ---- */

static Inference__ModelInferRequest *unpack(const struct rig *r)
{
    Inference__ModelInferRequest *m = inference__model_infer_request__unpack(
        NULL, r->body.len, (const uint8_t *)r->body.data);

    assert_non_null(m);
    return m;
}

static void raw_tensors_go_out_whole(void **state)
{
    Inference__ModelInferRequest *m;
    struct rig r;

    (void)state;
    rig_begin(&r, API_KSERVE_GRPC, "x FP32 2x3");
    strlist_add(&r.settings.data.tensors, "y INT64 1");
    r.settings.target.model_version = xstrdup("3");
    rig_ready(&r);
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
    rig_end(&r);
}

/* The same values, whichever way they go. */
static void typed_tensors_are_the_raw_ones(void **state)
{
    static const char *const tensors[] = {
        "x FP32 4",   "x FP64 4",   "x INT8 4",  "x INT16 4",
        "x INT32 4",  "x INT64 4",  "x UINT8 4", "x UINT16 4",
        "x UINT32 4", "x UINT64 4", "x BOOL 4",  "x BYTES 4",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(tensors); i++) {
        Inference__ModelInferRequest *raw;
        Inference__ModelInferRequest *typed;
        struct rig r;
        struct rig t;
        const Inference__InferTensorContents *c;
        const ProtobufCBinaryData *bytes;

        rig_begin(&r, API_KSERVE_GRPC, tensors[i]);
        rig_begin(&t, API_KSERVE_GRPC, tensors[i]);
        r.settings.data.nonce = t.settings.data.nonce = 5;
        t.settings.data.typed = true;
        rig_ready(&r);
        rig_ready(&t);
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
        rig_end(&r);
        rig_end(&t);
    }
}

static void streams_ask_for_the_end(void **state)
{
    Inference__ModelInferRequest *m;
    struct rig r;

    (void)state;
    rig_begin(&r, API_TRITON_GRPC_STREAM, "x FP32 1");
    rig_ready(&r);
    make(&r);
    m = unpack(&r);
    assert_int_equal(m->n_parameters, 1);
    assert_string_equal(m->parameters[0]->key,
                        "triton_enable_empty_final_response");
    assert_true(m->parameters[0]->value->bool_param);
    inference__model_infer_request__free_unpacked(m, NULL);
    rig_end(&r);
}

static void predict_names_its_inputs(void **state)
{
    Serving__PredictRequest *m;
    struct rig r;

    (void)state;
    rig_begin(&r, API_TFSERVING_GRPC, "x FP32 2x2");
    strlist_add(&r.settings.data.tensors, "s BYTES 3");
    r.settings.target.model_version = xstrdup("12");
    rig_ready(&r);
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
    rig_end(&r);
}

#define LINE "{\"prompt\":\"a\\\"\\u00e9\"}"
#define SAID "a\"\303\251"

/* In both forms, other inputs before and behind it. */
static void prompts_are_elements_of_texts(void **state)
{
    static const char want[] = "\4\0\0\0" SAID "\4\0\0\0" SAID;

    (void)state;
    for (int is_typed = 0; is_typed < 2; is_typed++) {
        const Inference__InferTensorContents *c;
        Inference__ModelInferRequest *m;
        struct rig r;

        rig_begin(&r, API_KSERVE_GRPC, "x FP32 2");
        strlist_add(&r.settings.data.tensors, "t BYTES 2");
        strlist_add(&r.settings.data.tensors, "n INT64 1");
        r.settings.data.typed = is_typed;
        rig_take_data(&r, LINE);
        rig_ready(&r);
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
        rig_end(&r);
    }
}

static void predictions_of_prompts(void **state)
{
    Serving__PredictRequest *m;
    struct rig r;

    (void)state;
    rig_begin(&r, API_TFSERVING_GRPC, "t BYTES 1");
    strlist_add(&r.settings.data.tensors, "x FP32 3");
    rig_take_data(&r, LINE);
    rig_ready(&r);
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
    rig_end(&r);
}

/* A message of the user's is a field of the sample in base64, in which some who
 * write JSON escape the slash. */
static void messages_of_a_data_set(void **state)
{
    static const char want[] = "\377\0\376"; /* base64: /wD+ */
    struct rig r;

    (void)state;
    rig_begin(&r, API_GRPC, NULL);
    r.settings.data.prompt = xstrdup("m");
    rig_take_data(&r, "{\"m\":\"\\/wD+\",\"prompt\":\"not me\"}");
    rig_ready(&r);
    make(&r);
    assert_int_equal(r.body.len, sizeof(want) - 1);
    assert_memory_equal(r.body.data, want, sizeof(want) - 1);
    rig_end(&r);
}

static void messages_that_are_none(void **state)
{
    static const char *const lines[] = {
        "{\"prompt\":\"AA==\"}\n{\"prompt\":\"what is this?\"}",
        "{\"prompt\":\"AA==\"}\n{\"prompt\":\"AAAA=AAA\"}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(lines); i++) {
        struct err err = {0};
        struct rig r;

        rig_begin(&r, API_GRPC, NULL);
        rig_take_data(&r, lines[i]);
        assert_int_equal(api_init(&r.api, &r.settings, &err), -1);
        assert_string_equal(err.msg, "data.file: f:2: no message in base64");
        rig_end(&r);
    }
}

static void what_is_missing_is_said(void **state)
{
    static const struct {
        enum api_kind kind;
        const char *tensor;
        bool has_model;
        bool is_typed;
        const char *why;
    } cases[] = {
        {API_KSERVE_GRPC, "x FP32 1", false, false,
         "target.model: which model? (--model)"},
        {API_TFSERVING_GRPC, "x FP32 1", false, false,
         "target.model: which model? (--model)"},
        {API_KSERVE_GRPC, NULL, true, false,
         "data.tensors: what does the model take? ('x FP32 1x16')"},
        {API_KSERVE_GRPC, "x FP16 1", true, true,
         "data.typed: FP16 goes as raw bytes alone"},
        {API_TFSERVING_GRPC, "x BF16 1", true, false,
         "data.tensors: tfserving-grpc has no BF16 here"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct rig r;

        rig_begin(&r, cases[i].kind, cases[i].tensor);
        if (!cases[i].has_model) {
            free(r.settings.target.model);
            r.settings.target.model = NULL;
        }
        r.settings.data.typed = cases[i].is_typed;
        assert_int_equal(api_init(&r.api, &r.settings, &err), -1);
        assert_string_equal(err.msg, cases[i].why);
        rig_end(&r);
    }
}

/* ---- answers ---- */

/* An answer with one output y of FP32, raw or typed, or of texts. */
struct answer {
    Inference__ModelInferResponse message;
    Inference__ModelInferResponse__InferOutputTensor output;
    Inference__ModelInferResponse__InferOutputTensor *outputs[1];
    Inference__InferTensorContents contents;
    ProtobufCBinaryData raw;
    Inference__InferParameter final;
    Inference__ModelInferResponse__ParametersEntry entry;
    Inference__ModelInferResponse__ParametersEntry *entries[1];
    float values[2];
};

static void answer_init(struct answer *a)
{
    *a = (struct answer){.values = {1.5F, -2.25F}};
    inference__model_infer_response__init(&a->message);
    inference__model_infer_response__infer_output_tensor__init(&a->output);
    inference__infer_tensor_contents__init(&a->contents);
    inference__infer_parameter__init(&a->final);
    inference__model_infer_response__parameters_entry__init(&a->entry);
    a->output.name = (char *)(uintptr_t) "y";
    a->output.datatype = (char *)(uintptr_t) "FP32";
    a->outputs[0] = &a->output;
    a->message.outputs = a->outputs;
    a->message.n_outputs = 1;
    a->raw = (ProtobufCBinaryData){.data = (uint8_t *)a->values,
                                   .len = sizeof(a->values)};
}

static void answer_be_raw(struct answer *a)
{
    a->message.raw_output_contents = &a->raw;
    a->message.n_raw_output_contents = 1;
}

static void answer_be_typed(struct answer *a)
{
    a->contents.fp32_contents = a->values;
    a->contents.n_fp32_contents = 2;
    a->output.contents = &a->contents;
}

static void answer_set_final(struct answer *a, bool is_final)
{
    a->final.parameter_choice_case =
        INFERENCE__INFER_PARAMETER__PARAMETER_CHOICE_BOOL_PARAM;
    a->final.bool_param = is_final;
    a->entry.key = (char *)(uintptr_t) "triton_final_response";
    a->entry.value = &a->final;
    a->entries[0] = &a->entry;
    a->message.parameters = a->entries;
    a->message.n_parameters = 1;
}

static const char *take_whole(struct rig *r, const struct answer *a)
{
    uint8_t bytes[MAX_BODY];
    size_t len = inference__model_infer_response__pack(&a->message, bytes);

    response_take(&r->response, 0, 5, (const char *)bytes, len);
    return response_finish(&r->response, 0, 5);
}

static void answers_are_checked(void **state)
{
    static const struct {
        const char *check;
        int64_t result;
    } checks[] = {
        {"tensor y = 1.5 -2.25", CHECK_PASSED},
        {"tensor y = 1.5", CHECK_PASSED},
        {"tensor y = 1.6 +- 0.2", CHECK_PASSED},
        {"tensor y = 1.6", CHECK_FAILED},
        {"tensor y = 1.5 -2.25 0", CHECK_FAILED},
        {"tensor z = 1.5", CHECK_FAILED},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(checks) * 2; i++) {
        struct answer a;
        struct rig r;

        rig_begin(&r, API_KSERVE_GRPC, "x FP32 1");
        strlist_add(&r.settings.checks, checks[i / 2].check);
        rig_ready(&r);
        answer_init(&a);
        if (i % 2)
            answer_be_raw(&a);
        else
            answer_be_typed(&a);
        assert_null(take_whole(&r, &a));
        assert_int_equal(r.facts.outcome, OUTCOME_OK);
        assert_int_equal(r.facts.check, checks[i / 2].result);
        rig_end(&r);
    }
}

static void texts_are_found(void **state)
{
    static uint8_t raw[] = {5, 0, 0, 0, 'h', 'e', 'l', 'l', 'o'};
    struct answer a;
    struct rig r;

    (void)state;
    rig_begin(&r, API_KSERVE_GRPC, "x FP32 1");
    strlist_add(&r.settings.checks, "exact hello");
    rig_ready(&r);
    answer_init(&a);
    a.output.datatype = (char *)(uintptr_t) "BYTES";
    a.raw = (ProtobufCBinaryData){.data = raw, .len = sizeof(raw)};
    answer_be_raw(&a);
    assert_null(take_whole(&r, &a));
    assert_int_equal(r.facts.check, CHECK_PASSED);
    rig_end(&r);
}

static void bad_answers_are_no_success(void **state)
{
    struct answer a;
    struct rig r;

    (void)state;
    rig_begin(&r, API_KSERVE_GRPC, "x FP32 1");
    rig_ready(&r);
    response_take(&r.response, 0, 5, "\xff\xff\xff", 3);
    assert_non_null(response_finish(&r.response, 0, 5));
    assert_int_equal(r.facts.outcome, OUTCOME_MALFORMED);
    assert_int_equal(r.facts.detail, RESPONSE_BAD_BODY);

    /* Raw contents for two outputs, of which there is one. */
    response_begin(&r.response, &r.api, &r.facts);
    answer_init(&a);
    answer_be_raw(&a);
    a.message.raw_output_contents = (ProtobufCBinaryData[]){a.raw, a.raw};
    a.message.n_raw_output_contents = 2;
    assert_non_null(take_whole(&r, &a));
    assert_int_equal(r.facts.outcome, OUTCOME_MALFORMED);

    /* An output without values. */
    response_begin(&r.response, &r.api, &r.facts);
    answer_init(&a);
    assert_non_null(take_whole(&r, &a));
    assert_int_equal(r.facts.outcome, OUTCOME_EMPTY);
    rig_end(&r);
}

/* ---- streams ---- */

static void take_streamed(struct rig *r, int64_t at_ns, struct answer *a,
                          const char *error)
{
    Inference__ModelStreamInferResponse m;
    uint8_t bytes[MAX_BODY];
    size_t len;

    inference__model_stream_infer_response__init(&m);
    m.infer_response = a ? &a->message : NULL;
    if (error)
        m.error_message = (char *)(uintptr_t)error;
    len = inference__model_stream_infer_response__pack(&m, bytes);
    response_message(&r->response, at_ns, (const char *)bytes, len);
}

static void stream_begin(struct rig *r)
{
    rig_begin(r, API_TRITON_GRPC_STREAM, "x FP32 1");
    rig_ready(r);
    response_expect_messages(&r->response);
}

static void streams_have_times_and_an_end(void **state)
{
    struct answer a;
    struct rig r;

    (void)state;
    stream_begin(&r);
    answer_init(&a);
    answer_be_raw(&a);
    answer_set_final(&a, false);
    take_streamed(&r, 1000000, &a, NULL);
    take_streamed(&r, 3000000, &a, NULL);
    a.message.n_outputs = 0;
    a.message.n_raw_output_contents = 0;
    answer_set_final(&a, true);
    take_streamed(&r, 4000000, &a, NULL);
    assert_null(response_finish(&r.response, 0, 9000000));
    assert_int_equal(r.facts.outcome, OUTCOME_OK);
    assert_int_equal(r.facts.events, 2);
    assert_int_equal(r.facts.first, 1000000);
    assert_int_equal(r.facts.last, 3000000);
    assert_int_equal(r.facts.stall, 2000000);
    assert_int_equal(r.facts.end, 4000000);
    rig_end(&r);
}

static void streams_that_fail(void **state)
{
    struct answer a;
    struct rig r;

    (void)state;
    answer_init(&a);
    answer_be_raw(&a);

    /* Without the flag the status is the end. */
    stream_begin(&r);
    take_streamed(&r, 1, &a, NULL);
    assert_null(response_finish(&r.response, 0, 2));
    assert_int_equal(r.facts.outcome, OUTCOME_OK);
    rig_end(&r);

    /* More was promised. */
    stream_begin(&r);
    answer_set_final(&a, false);
    take_streamed(&r, 1, &a, NULL);
    assert_non_null(response_finish(&r.response, 0, 2));
    assert_int_equal(r.facts.outcome, OUTCOME_TRUNCATED);
    assert_int_equal(r.facts.detail, RESPONSE_NO_TERMINATOR);
    rig_end(&r);

    stream_begin(&r);
    take_streamed(&r, 1, NULL, "no such input");
    assert_string_equal(response_finish(&r.response, 0, 2), "no such input");
    assert_int_equal(r.facts.outcome, OUTCOME_INBAND);
    assert_int_equal(r.facts.detail, RESPONSE_ERROR_EVENT);
    rig_end(&r);

    stream_begin(&r);
    assert_non_null(response_finish(&r.response, 0, 2));
    assert_int_equal(r.facts.outcome, OUTCOME_EMPTY);
    rig_end(&r);

    stream_begin(&r);
    response_message(&r.response, 1, "\xff", 1);
    assert_non_null(response_finish(&r.response, 0, 2));
    assert_int_equal(r.facts.outcome, OUTCOME_MALFORMED);
    assert_int_equal(r.facts.detail, RESPONSE_BAD_EVENT);
    rig_end(&r);
}

/* ---- TensorFlow Serving ---- */

static void predictions_are_checked(void **state)
{
    float values[2] = {0.5F, 2};
    Serving__PredictResponse m;
    Serving__PredictResponse__OutputsEntry entry;
    Serving__PredictResponse__OutputsEntry *entries[1] = {&entry};
    Serving__TensorProto tensor;
    uint8_t bytes[MAX_BODY];
    size_t len;

    (void)state;
    for (int is_raw = 0; is_raw < 2; is_raw++) {
        struct rig r;

        serving__predict_response__init(&m);
        serving__predict_response__outputs_entry__init(&entry);
        serving__tensor_proto__init(&tensor);
        tensor.dtype = SERVING__DATA_TYPE__DT_FLOAT;
        if (is_raw) {
            tensor.tensor_content.data = (uint8_t *)values;
            tensor.tensor_content.len = sizeof(values);
        } else {
            tensor.float_val = values;
            tensor.n_float_val = 2;
        }
        entry.key = (char *)(uintptr_t) "y";
        entry.value = &tensor;
        m.outputs = entries;
        m.n_outputs = 1;
        len = serving__predict_response__pack(&m, bytes);
        rig_begin(&r, API_TFSERVING_GRPC, "x FP32 1");
        strlist_add(&r.settings.checks, "tensor y = 0.5 2");
        rig_ready(&r);
        response_take(&r.response, 0, 5, (const char *)bytes, len);
        assert_null(response_finish(&r.response, 0, 5));
        assert_int_equal(r.facts.check, CHECK_PASSED);
        rig_end(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_tensors_go_out_whole),
        cmocka_unit_test(typed_tensors_are_the_raw_ones),
        cmocka_unit_test(streams_ask_for_the_end),
        cmocka_unit_test(predict_names_its_inputs),
        cmocka_unit_test(prompts_are_elements_of_texts),
        cmocka_unit_test(predictions_of_prompts),
        cmocka_unit_test(messages_of_a_data_set),
        cmocka_unit_test(messages_that_are_none),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(answers_are_checked),
        cmocka_unit_test(texts_are_found),
        cmocka_unit_test(bad_answers_are_no_success),
        cmocka_unit_test(streams_have_times_and_an_end),
        cmocka_unit_test(streams_that_fail),
        cmocka_unit_test(predictions_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
