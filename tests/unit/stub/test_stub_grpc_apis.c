/* What the stub makes of messages of KServe over gRPC, and the messages that it
 * answers with. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/settings/settings.h"
#include "common/spec/fault.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/api/stub_grpc.h"
#include "tests/support/grpcasked.h"
#include "tests/support/test.h"

static char model[] = "stub";
static const struct stub_settings settings = {.model = model};

static Inference__ModelInferResponse *answer(struct grpc_told *t)
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

TEST(test_raw_tensors_come_back)
{
    static const char bytes[] = "\0\0\x80?\0\0\0@\xff\xff\x7f\x7f";
    Inference__ModelInferResponse *response;
    struct grpc_asked a;
    struct grpc_told t;

    grpc_ask_raw(&a, "FP32", 3, bytes, 12);
    grpc_tell(&t, KSERVE "ModelInfer", &a.req.base);
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

TEST(test_typed_tensors_come_back)
{
    int64_t values[] = {5, -6, INT64_MAX};
    Inference__ModelInferResponse *response;
    struct grpc_asked a;
    struct grpc_told t;

    grpc_ask(&a, "INT64", 3);
    a.contents.n_int64_contents = 3;
    a.contents.int64_contents = values;
    a.input.contents = &a.contents;
    grpc_tell(&t, KSERVE "ModelInfer", &a.req.base);
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

static void no_inputs(struct grpc_asked *a)
{
    a->req.n_inputs = 0;
}

static void no_name(struct grpc_asked *a)
{
    a->input.name = grpc_text("");
}

static void odd_type(struct grpc_asked *a)
{
    a->input.datatype = grpc_text("FP8");
}

static void odd_shape(struct grpc_asked *a)
{
    a->shape[0] = -1;
}

static void short_bytes(struct grpc_asked *a)
{
    a->raw[0].len--;
}

static void two_raw(struct grpc_asked *a)
{
    a->raw[1] = a->raw[0];
    a->req.n_raw_input_contents = 2;
}

static void both_contents(struct grpc_asked *a)
{
    a->input.contents = &a->contents;
}

static void no_contents(struct grpc_asked *a)
{
    a->req.n_raw_input_contents = 0;
}

static void half_typed(struct grpc_asked *a)
{
    a->req.n_raw_input_contents = 0;
    a->input.datatype = grpc_text("FP16");
}

static void odd_output(struct grpc_asked *a)
{
    a->req.n_outputs = 1;
    a->output.name = grpc_text("output1");
}

static const struct {
    void (*spoil)(struct grpc_asked *a);
    const char *why;
} refused[] = {
    {no_inputs, "no inputs"},
    {no_name, "inputs: a name is missing"},
    {odd_type, "inputs: unknown datatype"},
    {odd_shape, "inputs: invalid shape"},
    {short_bytes, "inputs: the number of bytes does not match the shape"},
    {two_raw, "raw contents are required for all inputs or none"},
    {both_contents, "inputs: contents cannot be combined with raw contents"},
    {no_contents, "inputs: contents do not match datatype and shape"},
    {half_typed, "inputs: FP16 and BF16 require raw contents"},
    {odd_output, "outputs: unknown output"},
};

TEST(test_refusals)
{
    static const char *const methods[] = {KSERVE "ModelInfer",
                                          KSERVE "ModelStreamInfer"};

    for (size_t i = 0; i < 2 * sizeof(refused) / sizeof(refused[0]); i++) {
        struct grpc_asked a;
        struct grpc_told t;

        grpc_ask_raw(&a, "FP32", 2, "12345678", 8);
        refused[i / 2].spoil(&a);
        grpc_tell(&t, methods[i % 2], &a.req.base);
        assert_false(t.is_read);
        assert_string_equal(t.call.why, refused[i / 2].why);
        assert_int_equal(t.call.refusal, 0);
        free(t.message);
    }
}

TEST(test_methods_that_are_not_there)
{
    Inference__ServerLiveRequest nothing = INFERENCE__SERVER_LIVE_REQUEST__INIT;
    struct grpc_told t;

    grpc_tell(&t, KSERVE "ModelStatistics", &nothing.base);
    assert_false(t.is_read);
    assert_int_equal(t.call.refusal, 501);
    free(t.message);
}

/* ---- text ---- */

TEST(test_text)
{
    Inference__ModelInferResponse *response;
    struct grpc_asked a;
    struct grpc_told t;

    grpc_ask_text(&a, 3, false);
    grpc_tell(&t, KSERVE "ModelInfer", &a.req.base);
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
static int final_after(struct grpc_told *t, int64_t sent)
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
static int final_of_end(struct grpc_told *t)
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

TEST(test_final_response)
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

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct grpc_asked a;
        struct grpc_told t;

        grpc_ask_text(&a, 2, cases[i].wants_final);
        grpc_tell(&t, KSERVE "ModelStreamInfer", &a.req.base);
        assert_true(t.is_read);
        assert_true(t.call.streams);
        t.call.faults.kinds = cases[i].faults;
        assert_int_equal(final_after(&t, 0), 0);
        assert_int_equal(final_after(&t, 1), cases[i].last);
        assert_int_equal(final_of_end(&t), cases[i].end);
        free(t.message);
    }
}

TEST(test_error_in_a_stream)
{
    Inference__ModelStreamInferResponse *event;
    struct grpc_asked a;
    struct grpc_told t;
    struct buf out;

    grpc_ask_text(&a, 2, false);
    grpc_tell(&t, KSERVE "ModelStreamInfer", &a.req.base);
    buf_init(&out, 1 << 20);
    api_error(&t.call, 500, "so it is", &out);
    event = event_of(&out);
    assert_string_equal(event->error_message, "so it is");
    assert_null(event->infer_response);
    inference__model_stream_infer_response__free_unpacked(event, NULL);
    buf_fini(&out);
    free(t.message);
}
