/* What the stub makes of messages of gRPC, and the messages that it answers
 * with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/fault.h"
#include "common/proto/inference.pb-c.h"
#include "common/proto/predict.pb-c.h"
#include "common/rng.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "server-stub/api/api.h"
#include "server-stub/api/grpc.h"
#include "server-stub/call.h"
#include "server-stub/front.h"
#include "server-stub/page.h"

#define KSERVE  "/inference.GRPCInferenceService/"
#define SERVING "/tensorflow.serving."

static char model[] = "stub";
static const struct stub_settings settings = {.model = model};

/* A request with one input, and room for what it may have. */
struct asked {
    Inference__ModelInferRequest req;
    Inference__ModelInferRequest__InferInputTensor input;
    Inference__ModelInferRequest__InferInputTensor *inputs[1];
    Inference__InferTensorContents contents;
    Inference__ModelInferRequest__InferRequestedOutputTensor output;
    Inference__ModelInferRequest__InferRequestedOutputTensor *outputs[1];
    Inference__InferParameter values[2];
    Inference__ModelInferRequest__ParametersEntry entries[2];
    Inference__ModelInferRequest__ParametersEntry *parameters[2];
    ProtobufCBinaryData raw[2];
    int64_t shape[4];
};

static char *text(const char *s)
{
    return (char *)s;
}

static void ask(struct asked *a, const char *datatype, int64_t elements)
{
    memset(a, 0, sizeof(*a));
    inference__model_infer_request__init(&a->req);
    inference__model_infer_request__infer_input_tensor__init(&a->input);
    inference__infer_tensor_contents__init(&a->contents);
    inference__model_infer_request__infer_requested_output_tensor__init(
        &a->output);
    a->shape[0] = elements;
    a->input.name = text("x");
    a->input.datatype = text(datatype);
    a->input.n_shape = 1;
    a->input.shape = a->shape;
    a->inputs[0] = &a->input;
    a->outputs[0] = &a->output;
    a->req.id = text("42");
    a->req.n_inputs = 1;
    a->req.inputs = a->inputs;
    a->req.outputs = a->outputs;
    a->req.parameters = a->parameters;
    a->req.raw_input_contents = a->raw;
}

static void ask_raw(struct asked *a, const char *datatype, int64_t elements,
                    const char *bytes, size_t len)
{
    ask(a, datatype, elements);
    a->raw[0] = (ProtobufCBinaryData){len, (uint8_t *)bytes};
    a->req.n_raw_input_contents = 1;
}

static Inference__InferParameter *add_parameter(struct asked *a,
                                                const char *key)
{
    size_t i = a->req.n_parameters++;

    inference__infer_parameter__init(&a->values[i]);
    inference__model_infer_request__parameters_entry__init(&a->entries[i]);
    a->entries[i].key = text(key);
    a->entries[i].value = &a->values[i];
    a->parameters[i] = &a->entries[i];
    return &a->values[i];
}

static void ask_text(struct asked *a, int64_t max_tokens, bool wants_final)
{
    static const char prompt[] = "\x0b\0\0\0hello world";
    Inference__InferParameter *p;

    ask_raw(a, "BYTES", 1, prompt, sizeof(prompt) - 1);
    a->input.name = text("text_input");
    p = add_parameter(a, "max_tokens");
    p->parameter_choice_case =
        INFERENCE__INFER_PARAMETER__PARAMETER_CHOICE_INT64_PARAM;
    p->int64_param = max_tokens;
    if (!wants_final)
        return;
    p = add_parameter(a, "triton_enable_empty_final_response");
    p->parameter_choice_case =
        INFERENCE__INFER_PARAMETER__PARAMETER_CHOICE_BOOL_PARAM;
    p->bool_param = 1;
}

/* The call and its exchange; the message is the caller's to free. */
struct told {
    struct exchange x;
    struct call call;
    char *message;
    bool is_read;
};

static void tell(struct told *t, const char *path,
                 const ProtobufCMessage *message)
{
    size_t len = protobuf_c_message_get_packed_size(message);

    memset(t, 0, sizeof(*t));
    t->message = xcalloc(1, len + 1);
    protobuf_c_message_pack(message, (uint8_t *)t->message);
    snprintf(t->x.path, sizeof(t->x.path), "%s", path);
    t->x.body = t->message;
    t->x.body_len = len;
    t->call.x = &t->x;
    t->is_read = grpc_api_read(&t->x, &t->call);
}

static Inference__ModelInferResponse *answer(struct told *t)
{
    Inference__ModelInferResponse *response;
    struct buf out;

    buf_init(&out, 1 << 20);
    t->call.api->whole(&t->call, &settings, &out);
    response = inference__model_infer_response__unpack(NULL, out.len,
                                                       (uint8_t *)out.data);
    assert_non_null(response);
    buf_fini(&out);
    return response;
}

static Inference__ModelStreamInferResponse *event_of(const struct buf *out)
{
    Inference__ModelStreamInferResponse *event =
        inference__model_stream_infer_response__unpack(NULL, out->len,
                                                       (uint8_t *)out->data);

    assert_non_null(event);
    return event;
}

/* ---- tensors ---- */

static void test_raw_tensors_come_back(void **state)
{
    static const char bytes[] = "\0\0\x80?\0\0\0@\xff\xff\x7f\x7f";
    Inference__ModelInferResponse *response;
    struct asked a;
    struct told t;

    (void)state;
    ask_raw(&a, "FP32", 3, bytes, 12);
    tell(&t, KSERVE "ModelInfer", &a.req.base);
    assert_true(t.is_read);
    assert_false(t.call.streams);
    assert_int_equal(t.call.job.output_tokens, 1);
    response = answer(&t);
    assert_string_equal(response->model_name, "stub");
    assert_string_equal(response->id, "42");
    assert_int_equal(response->n_outputs, 1);
    assert_string_equal(response->outputs[0]->name, "output0");
    assert_string_equal(response->outputs[0]->datatype, "FP32");
    assert_int_equal(response->outputs[0]->shape[0], 3);
    assert_int_equal(response->n_raw_output_contents, 1);
    assert_int_equal(response->raw_output_contents[0].len, 12);
    assert_memory_equal(response->raw_output_contents[0].data, bytes, 12);
    inference__model_infer_response__free_unpacked(response, NULL);
    free(t.message);
}

static void test_typed_tensors_come_back(void **state)
{
    int64_t values[] = {5, -6, INT64_MAX};
    Inference__ModelInferResponse *response;
    struct asked a;
    struct told t;

    (void)state;
    ask(&a, "INT64", 3);
    a.contents.n_int64_contents = 3;
    a.contents.int64_contents = values;
    a.input.contents = &a.contents;
    tell(&t, KSERVE "ModelInfer", &a.req.base);
    assert_true(t.is_read);
    response = answer(&t);
    assert_int_equal(response->n_raw_output_contents, 0);
    assert_int_equal(response->outputs[0]->contents->n_int64_contents, 3);
    assert_memory_equal(response->outputs[0]->contents->int64_contents, values,
                        sizeof(values));
    inference__model_infer_response__free_unpacked(response, NULL);
    free(t.message);
}

/* ---- what is refused ---- */

static void no_inputs(struct asked *a)
{
    a->req.n_inputs = 0;
}

static void no_name(struct asked *a)
{
    a->input.name = text("");
}

static void odd_type(struct asked *a)
{
    a->input.datatype = text("FP8");
}

static void odd_shape(struct asked *a)
{
    a->shape[0] = -1;
}

static void short_bytes(struct asked *a)
{
    a->raw[0].len--;
}

static void two_raw(struct asked *a)
{
    a->raw[1] = a->raw[0];
    a->req.n_raw_input_contents = 2;
}

static void both_contents(struct asked *a)
{
    a->input.contents = &a->contents;
}

static void no_contents(struct asked *a)
{
    a->req.n_raw_input_contents = 0;
}

static void half_typed(struct asked *a)
{
    a->req.n_raw_input_contents = 0;
    a->input.datatype = text("FP16");
}

static void odd_output(struct asked *a)
{
    a->req.n_outputs = 1;
    a->output.name = text("output1");
}

static const struct {
    void (*spoil)(struct asked *a);
    const char *why;
} refused[] = {
    {no_inputs, "no inputs"},
    {no_name, "inputs: one without a name"},
    {odd_type, "inputs: no such datatype"},
    {odd_shape, "inputs: a shape that is none"},
    {short_bytes, "inputs: not as many bytes as the shape has elements"},
    {two_raw, "raw contents of all inputs or of none"},
    {both_contents, "inputs: contents beside raw contents"},
    {no_contents, "inputs: contents that fit neither datatype nor shape"},
    {half_typed, "inputs: FP16 and BF16 only as raw contents"},
    {odd_output, "outputs: no such output"},
};

static void test_refusals(void **state)
{
    static const char *const methods[] = {KSERVE "ModelInfer",
                                          KSERVE "ModelStreamInfer"};

    (void)state;
    for (size_t i = 0; i < 2 * sizeof(refused) / sizeof(refused[0]); i++) {
        struct asked a;
        struct told t;

        ask_raw(&a, "FP32", 2, "12345678", 8);
        refused[i / 2].spoil(&a);
        tell(&t, methods[i % 2], &a.req.base);
        assert_false(t.is_read);
        assert_string_equal(t.call.why, refused[i / 2].why);
        assert_int_equal(t.call.refusal, 0);
        free(t.message);
    }
}

static void test_methods_that_are_not_there(void **state)
{
    Inference__ServerLiveRequest nothing = INFERENCE__SERVER_LIVE_REQUEST__INIT;
    struct told t;

    (void)state;
    tell(&t, KSERVE "ModelStatistics", &nothing.base);
    assert_false(t.is_read);
    assert_int_equal(t.call.refusal, 501);
    free(t.message);
}

/* ---- text ---- */

static void test_text(void **state)
{
    Inference__ModelInferResponse *response;
    struct asked a;
    struct told t;

    (void)state;
    ask_text(&a, 3, false);
    tell(&t, KSERVE "ModelInfer", &a.req.base);
    assert_true(t.is_read);
    assert_int_equal(t.call.asked_tokens, 3);
    assert_int_equal(t.call.job.prompt_tokens, 2);
    t.call.job.produced = 3;
    response = answer(&t);
    assert_string_equal(response->outputs[0]->name, "text_output");
    assert_int_equal(response->raw_output_contents[0].len, 16);
    assert_memory_equal(response->raw_output_contents[0].data,
                        "\x0c\0\0\0 tok tok tok", 16);
    inference__model_infer_response__free_unpacked(response, NULL);
    free(t.message);
}

/* What the response says of its being the last; -1: nothing. */
static int final_of(const Inference__ModelStreamInferResponse *event)
{
    const Inference__ModelInferResponse *r = event->infer_response;

    if (!r || r->n_parameters != 1 ||
        strcmp(r->parameters[0]->key, "triton_final_response") != 0)
        return -1;
    return r->parameters[0]->value->bool_param;
}

/* The final flag of the event with the first or second of two tokens. */
static int final_after(struct told *t, int64_t sent)
{
    Inference__ModelStreamInferResponse *event;
    struct buf out;
    int is_final;

    buf_init(&out, 1 << 20);
    t->call.job.output_tokens = 2;
    t->call.sent_tokens = sent;
    t->call.api->tokens(&t->call, &settings, 1, &out);
    event = event_of(&out);
    assert_int_equal(event->infer_response->n_outputs, 1);
    is_final = final_of(event);
    inference__model_stream_infer_response__free_unpacked(event, NULL);
    buf_fini(&out);
    return is_final;
}

/* The final flag of what follows the last token; -1: nothing does. */
static int final_of_end(struct told *t)
{
    Inference__ModelStreamInferResponse *event;
    struct buf out;
    int is_final = -1;

    buf_init(&out, 1 << 20);
    t->call.api->last(&t->call, &settings, &out);
    if (out.len > 0) {
        event = event_of(&out);
        assert_int_equal(event->infer_response->n_outputs, 0);
        is_final = final_of(event);
        inference__model_stream_infer_response__free_unpacked(event, NULL);
    }
    buf_fini(&out);
    return is_final;
}

static void test_final_response(void **state)
{
    static const struct {
        bool wants_final;
        uint32_t faults;
        int last;
        int end;
    } cases[] = {
        {false, 0, 1, -1},
        {true, 0, 0, 1},
        {false, UINT32_C(1) << FAULT_NO_DONE, 0, -1},
        {true, UINT32_C(1) << FAULT_NO_DONE, 0, -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct asked a;
        struct told t;

        ask_text(&a, 2, cases[i].wants_final);
        tell(&t, KSERVE "ModelStreamInfer", &a.req.base);
        assert_true(t.is_read);
        assert_true(t.call.streams);
        t.call.faults.kinds = cases[i].faults;
        assert_int_equal(final_after(&t, 0), 0);
        assert_int_equal(final_after(&t, 1), cases[i].last);
        assert_int_equal(final_of_end(&t), cases[i].end);
        free(t.message);
    }
}

static void test_error_in_a_stream(void **state)
{
    Inference__ModelStreamInferResponse *event;
    struct asked a;
    struct told t;
    struct buf out;

    (void)state;
    ask_text(&a, 2, false);
    tell(&t, KSERVE "ModelStreamInfer", &a.req.base);
    buf_init(&out, 1 << 20);
    api_error(&t.call, 500, "so it is", &out);
    event = event_of(&out);
    assert_string_equal(event->error_message, "so it is");
    assert_null(event->infer_response);
    inference__model_stream_infer_response__free_unpacked(event, NULL);
    buf_fini(&out);
    free(t.message);
}

/* ---- the others ---- */

static void test_predict(void **state)
{
    Serving__TensorShapeProto__Dim dim = SERVING__TENSOR_SHAPE_PROTO__DIM__INIT;
    Serving__TensorShapeProto__Dim *dims[] = {&dim};
    Serving__TensorShapeProto shape = SERVING__TENSOR_SHAPE_PROTO__INIT;
    Serving__TensorProto tensor = SERVING__TENSOR_PROTO__INIT;
    Serving__PredictRequest__InputsEntry entry =
        SERVING__PREDICT_REQUEST__INPUTS_ENTRY__INIT;
    Serving__PredictRequest__InputsEntry *entries[] = {&entry};
    Serving__PredictRequest req = SERVING__PREDICT_REQUEST__INIT;
    Serving__PredictResponse *response;
    struct told t;
    struct buf out;

    (void)state;
    dim.size = 2;
    shape.n_dim = 1;
    shape.dim = dims;
    tensor.dtype = SERVING__DATA_TYPE__DT_FLOAT;
    tensor.tensor_shape = &shape;
    tensor.tensor_content = (ProtobufCBinaryData){8, (uint8_t *)"12345678"};
    entry.key = text("x");
    entry.value = &tensor;
    req.n_inputs = 1;
    req.inputs = entries;
    tell(&t, SERVING "PredictionService/Predict", &req.base);
    assert_true(t.is_read);
    buf_init(&out, 1 << 20);
    t.call.api->whole(&t.call, &settings, &out);
    response =
        serving__predict_response__unpack(NULL, out.len, (uint8_t *)out.data);
    assert_non_null(response);
    assert_int_equal(response->n_outputs, 1);
    assert_string_equal(response->outputs[0]->key, "x");
    assert_int_equal(response->outputs[0]->value->tensor_content.len, 8);
    assert_memory_equal(response->outputs[0]->value->tensor_content.data,
                        "12345678", 8);
    serving__predict_response__free_unpacked(response, NULL);
    buf_fini(&out);
    free(t.message);

    tensor.tensor_content.len = 7;
    tell(&t, SERVING "PredictionService/Predict", &req.base);
    assert_false(t.is_read);
    assert_string_equal(t.call.why,
                        "inputs: not as many bytes as the shape has elements");
    free(t.message);
}

static void test_any_method(void **state)
{
    static const struct {
        const char *path;
        bool streams;
    } cases[] = {{"/a.B/Call", false}, {"/a.B/CallStream", true}};
    struct asked a;

    (void)state;
    ask_raw(&a, "FP32", 1, "1234", 4);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct told t;
        struct buf out;

        tell(&t, cases[i].path, &a.req.base);
        assert_true(t.is_read);
        assert_int_equal(t.call.streams, cases[i].streams);
        buf_init(&out, 1 << 20);
        t.call.api->whole(&t.call, &settings, &out);
        assert_int_equal(out.len, t.x.body_len);
        assert_memory_equal(out.data, t.x.body, out.len);
        buf_fini(&out);
        free(t.message);
    }
}

/* Change up to four bytes, and sometimes cut the end off. */
static void damage(struct told *t, struct rng *rng)
{
    for (uint64_t i = 0; i <= rng_next(rng) % 4; i++)
        t->message[rng_next(rng) % t->x.body_len] = (char)rng_next(rng);
    if (rng_next(rng) % 4 == 0)
        t->x.body_len = rng_next(rng) % (t->x.body_len + 1);
}

static void answer_any(struct call *call, const struct api_ops *api,
                       struct buf *out)
{
    call->job.produced = 1;
    if (api && api->whole)
        api->whole(call, &settings, out);
    else if (api)
        api->tokens(call, &settings, 1, out);
}

/* Whatever comes is read or refused, and what is read can be answered. */
static void test_damaged_messages(void **state)
{
    static const char *const methods[] = {
        KSERVE "ModelInfer", KSERVE "ModelStreamInfer",
        SERVING "PredictionService/Predict", "/a.B/C"};
    struct rng rng = rng_stream(1, RNG_FAULT);
    int read = 0;
    int refusals = 0;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct asked a;
        struct told t;
        struct buf out;

        ask_text(&a, 3, i % 2);
        tell(&t, methods[i % 4], &a.req.base);
        damage(&t, &rng);
        t.call = (struct call){.x = &t.x};
        buf_init(&out, 1 << 20);
        if (grpc_api_read(&t.x, &t.call)) {
            read++;
            answer_any(&t.call, t.call.api, &out);
        } else {
            refusals++;
            assert_non_null(t.call.why);
        }
        buf_fini(&out);
        free(t.message);
    }
    assert_true(read > 1000 && refusals > 1000);
}

static void test_pages(void **state)
{
    static const struct {
        const char *path;
        const char *bytes;
        size_t len;
    } cases[] = {
        {KSERVE "ServerLive", "\x08\x01", 2},
        {KSERVE "ServerReady", "\x08\x01", 2},
        {KSERVE "ModelReady", "\x08\x01", 2},
        {"/grpc.health.v1.Health/Check", "\x08\x01", 2},
        {SERVING "ModelService/GetModelStatus", "\x0a\x04\x08\x01\x10\x1e", 6},
        {KSERVE "ModelInfer", NULL, 0},
    };
    struct page_view view = {.model = model};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf out;

        buf_init(&out, 1 << 20);
        assert_int_equal(grpc_page_write(cases[i].path, &view, &out),
                         cases[i].bytes != NULL);
        assert_int_equal(out.len, cases[i].len);
        if (cases[i].bytes)
            assert_memory_equal(out.data, cases[i].bytes, out.len);
        buf_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_raw_tensors_come_back),
        cmocka_unit_test(test_typed_tensors_come_back),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_methods_that_are_not_there),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_final_response),
        cmocka_unit_test(test_error_in_a_stream),
        cmocka_unit_test(test_predict),
        cmocka_unit_test(test_any_method),
        cmocka_unit_test(test_damaged_messages),
        cmocka_unit_test(test_pages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
