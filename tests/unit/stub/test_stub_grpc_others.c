/* What the stub makes of TensorFlow Serving's messages, of those of any method
 * and of damaged ones; and the pages that it has for gRPC. */
#include <stdbool.h>
#include <stdlib.h>

#include "common/base/buf.h"
#include "common/base/rng.h"
#include "common/proto/predict.pb-c.h"
#include "common/settings/settings.h"
#include "server-stub/api/stub_api.h"
#include "server-stub/api/stub_grpc.h"
#include "server-stub/stub_page.h"
#include "tests/support/grpcasked.h"
#include "tests/support/test.h"

static char model[] = "stub";
static const struct stub_settings settings = {.model = model};

TEST(test_predict)
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
    struct grpc_told t;
    struct buf out;

    dim.size = 2;
    shape.n_dim = 1;
    shape.dim = dims;
    tensor.dtype = SERVING__DATA_TYPE__DT_FLOAT;
    tensor.tensor_shape = &shape;
    tensor.tensor_content = (ProtobufCBinaryData){8, (uint8_t *)"12345678"};
    entry.key = grpc_text("x");
    entry.value = &tensor;
    req.n_inputs = 1;
    req.inputs = entries;
    grpc_tell(&t, SERVING "PredictionService/Predict", &req.base);
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
    grpc_tell(&t, SERVING "PredictionService/Predict", &req.base);
    assert_false(t.is_read);
    assert_string_equal(t.call.why,
                        "inputs: the number of bytes does not match the shape");
    free(t.message);
}

TEST(test_any_method)
{
    static const struct {
        const char *path;
        bool streams;
    } cases[] = {{"/a.B/Call", false}, {"/a.B/CallStream", true}};
    struct grpc_asked a;

    grpc_ask_raw(&a, "FP32", 1, "1234", 4);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct grpc_told t;
        struct buf out;

        grpc_tell(&t, cases[i].path, &a.req.base);
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
static void damage(struct grpc_told *t, struct rng *rng)
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
TEST(test_damaged_messages)
{
    static const char *const methods[] = {
        KSERVE "ModelInfer", KSERVE "ModelStreamInfer",
        SERVING "PredictionService/Predict", "/a.B/C"};
    struct rng rng = rng_stream(1, RNG_FAULT);
    int read = 0;
    int refusals = 0;

    for (int i = 0; i < 20000; i++) {
        struct grpc_asked a;
        struct grpc_told t;
        struct buf out;

        grpc_ask_text(&a, 3, i % 2);
        grpc_tell(&t, methods[i % 4], &a.req.base);
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

TEST(test_pages)
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
