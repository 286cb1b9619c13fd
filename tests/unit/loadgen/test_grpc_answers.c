/* Answers of the APIs over gRPC: what is made of the messages that come back,
 * whole and in streams. */
#include <stdbool.h>

#include "common/proto/inference.pb-c.h"
#include "common/proto/predict.pb-c.h"
#include "common/settings/settings.h"
#include "loadgen/api/response.h"
#include "tests/support/grpcrig.h"
#include "tests/support/test.h"

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

static const char *take_whole(struct grpcrig *r, const struct answer *a)
{
    uint8_t bytes[GRPCRIG_MAX_BODY];
    size_t len = inference__model_infer_response__pack(&a->message, bytes);

    response_take(&r->response, 0, 5, (const char *)bytes, len);
    return response_finish(&r->response, 0, 5);
}

TEST(answers_are_checked)
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

    for (size_t i = 0; i < COUNT(checks) * 2; i++) {
        struct answer a;
        struct grpcrig r;

        grpcrig_begin(&r, API_KSERVE_GRPC, "x FP32 1");
        strlist_add(&r.settings.checks, checks[i / 2].check);
        grpcrig_ready(&r);
        answer_init(&a);
        if (i % 2)
            answer_be_raw(&a);
        else
            answer_be_typed(&a);
        assert_null(take_whole(&r, &a));
        assert_int_equal(r.facts.outcome, OUTCOME_OK);
        assert_int_equal(r.facts.check, checks[i / 2].result);
        grpcrig_end(&r);
    }
}

TEST(texts_are_found)
{
    static uint8_t raw[] = {5, 0, 0, 0, 'h', 'e', 'l', 'l', 'o'};
    struct answer a;
    struct grpcrig r;

    grpcrig_begin(&r, API_KSERVE_GRPC, "x FP32 1");
    strlist_add(&r.settings.checks, "exact hello");
    grpcrig_ready(&r);
    answer_init(&a);
    a.output.datatype = (char *)(uintptr_t) "BYTES";
    a.raw = (ProtobufCBinaryData){.data = raw, .len = sizeof(raw)};
    answer_be_raw(&a);
    assert_null(take_whole(&r, &a));
    assert_int_equal(r.facts.check, CHECK_PASSED);
    grpcrig_end(&r);
}

TEST(bad_answers_are_no_success)
{
    struct answer a;
    struct grpcrig r;

    grpcrig_begin(&r, API_KSERVE_GRPC, "x FP32 1");
    grpcrig_ready(&r);
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
    grpcrig_end(&r);
}

/* ---- streams ---- */

static void take_streamed(struct grpcrig *r, int64_t at_ns, struct answer *a,
                          const char *error)
{
    Inference__ModelStreamInferResponse m;
    uint8_t bytes[GRPCRIG_MAX_BODY];
    size_t len;

    inference__model_stream_infer_response__init(&m);
    m.infer_response = a ? &a->message : NULL;
    if (error)
        m.error_message = (char *)(uintptr_t)error;
    len = inference__model_stream_infer_response__pack(&m, bytes);
    response_message(&r->response, at_ns, (const char *)bytes, len);
}

static void stream_begin(struct grpcrig *r)
{
    grpcrig_begin(r, API_TRITON_GRPC_STREAM, "x FP32 1");
    grpcrig_ready(r);
    response_expect_messages(&r->response);
}

TEST(streams_have_times_and_an_end)
{
    struct answer a;
    struct grpcrig r;

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
    grpcrig_end(&r);
}

TEST(streams_that_fail)
{
    struct answer a;
    struct grpcrig r;

    answer_init(&a);
    answer_be_raw(&a);

    /* Without the flag the status is the end. */
    stream_begin(&r);
    take_streamed(&r, 1, &a, NULL);
    assert_null(response_finish(&r.response, 0, 2));
    assert_int_equal(r.facts.outcome, OUTCOME_OK);
    grpcrig_end(&r);

    /* More was promised. */
    stream_begin(&r);
    answer_set_final(&a, false);
    take_streamed(&r, 1, &a, NULL);
    assert_non_null(response_finish(&r.response, 0, 2));
    assert_int_equal(r.facts.outcome, OUTCOME_TRUNCATED);
    assert_int_equal(r.facts.detail, RESPONSE_NO_TERMINATOR);
    grpcrig_end(&r);

    stream_begin(&r);
    take_streamed(&r, 1, NULL, "no such input");
    assert_string_equal(response_finish(&r.response, 0, 2), "no such input");
    assert_int_equal(r.facts.outcome, OUTCOME_INBAND);
    assert_int_equal(r.facts.detail, RESPONSE_ERROR_EVENT);
    grpcrig_end(&r);

    stream_begin(&r);
    assert_non_null(response_finish(&r.response, 0, 2));
    assert_int_equal(r.facts.outcome, OUTCOME_EMPTY);
    grpcrig_end(&r);

    stream_begin(&r);
    response_message(&r.response, 1, "\xff", 1);
    assert_non_null(response_finish(&r.response, 0, 2));
    assert_int_equal(r.facts.outcome, OUTCOME_MALFORMED);
    assert_int_equal(r.facts.detail, RESPONSE_BAD_EVENT);
    grpcrig_end(&r);
}

/* ---- TensorFlow Serving ---- */

TEST(predictions_are_checked)
{
    float values[2] = {0.5F, 2};
    Serving__PredictResponse m;
    Serving__PredictResponse__OutputsEntry entry;
    Serving__PredictResponse__OutputsEntry *entries[1] = {&entry};
    Serving__TensorProto tensor;
    uint8_t bytes[GRPCRIG_MAX_BODY];
    size_t len;

    for (int is_raw = 0; is_raw < 2; is_raw++) {
        struct grpcrig r;

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
        grpcrig_begin(&r, API_TFSERVING_GRPC, "x FP32 1");
        strlist_add(&r.settings.checks, "tensor y = 0.5 2");
        grpcrig_ready(&r);
        response_take(&r.response, 0, 5, (const char *)bytes, len);
        assert_null(response_finish(&r.response, 0, 5));
        assert_int_equal(r.facts.check, CHECK_PASSED);
        grpcrig_end(&r);
    }
}
