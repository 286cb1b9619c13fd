/* Where a sample of a data set goes: into the fields of a body, into tensors,
 * into the label that an answer is held against; and what does not fit. */
#include <jansson.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/settings/settings.h"
#include "loadgen/api/api.h"
#include "loadgen/payload/dataset.h"
#include "loadgen/payload/sample.h"
#include "tests/support/datarig.h"
#include "tests/support/test.h"

/* An error that begins so; the rig is over. */
static void refuse(struct datarig *rig, const char *want)
{
    struct err err = {0};

    assert_int_equal(api_init(&rig->api, &rig->settings, &err), -1);
    if (!strstr(err.msg, want))
        fail_msg("%s", err.msg);
}

/* ---- bodies and labels ---- */

TEST(fields_go_into_a_body)
{
    struct datarig rig;
    json_t *body;

    datarig_init(&rig, "http", datarig_three);
    datarig_set(&rig, "data.select=order");
    datarig_set(&rig, "data.unique=false");
    datarig_set(&rig, "target.body={\"q\":\"{{prompt}}\",\"k\":{{k}},\"n\":"
                      "{{output_tokens}},\"l\":\"{{label}}\"}");
    datarig_start(&rig);
    assert_true(rig.api.makes_bodies);
    assert_true(api_cached_share(&rig.api) < 0);
    body = datarig_body(&rig, 0);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(body, "k"), "a")),
        1);
    assert_int_equal(json_integer_value(json_object_get(body, "n")), 4);
    body = datarig_body(&rig, 1);
    assert_string_equal(json_string_value(json_object_get(body, "q")), "two\n");
    assert_int_equal(json_array_size(json_object_get(body, "k")), 1);
    datarig_fini(&rig);
}

/* The nonce is in the prompt, not in the other fields. */
TEST(a_body_without_the_prompt_may_repeat)
{
    static const char *const bodies[] = {"target.body={\"q\":\"{{prompt}}\"}",
                                         "target.body={\"q\":\"{{label}}\"}"};

    for (int i = 0; i < 2; i++) {
        struct datarig rig;

        datarig_init(&rig, "http", datarig_three);
        datarig_set(&rig, bodies[i]);
        datarig_start(&rig);
        assert_int_equal(datarig_count_different(&rig, 30), i == 0 ? 30 : 3);
        assert_true(api_cached_share(&rig.api) == (i == 0 ? 0 : -1));
        datarig_fini(&rig);
    }
}

TEST(labels_are_found_again)
{
    static const char *const want[] = {"1", "2", "3\t"};
    struct datarig rig;
    struct buf label;

    buf_init(&label, 100);
    datarig_init(&rig, "openai-chat", datarig_three);
    datarig_start(&rig);
    for (int64_t seq = 0; seq < 30; seq++) {
        struct sample s = sample_draw(&rig.api.sampler, seq, NULL);

        buf_reset(&label);
        sample_add_label(&rig.api.sampler, seq, &label);
        assert_string_equal(buf_text(&label), want[s.index]);
    }
    datarig_fini(&rig);
    buf_fini(&label);
}

TEST(what_does_not_fit_is_refused)
{
    static const struct {
        const char *api;
        const char *data;
        const char *set;
        const char *want;
    } cases[] = {
        {"openai-completions",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}", NULL,
         "has no prompts for openai-completions"},
        {"openai-chat", "{\"a\":1}", NULL, "has no prompts for openai-chat"},
        {"openai-chat", "{\"prompt\":\"a\"}", "target.body={}",
         "data.file has no effect: the body (--body) has no placeholder such "
         "as {{prompt}}"},
        {"http", "{\"prompt\":\"a\"}", NULL, "requires a body"},
        {"rerank", "{\"prompt\":\"a\"}", NULL, "requires a body"},
        {"kserve-http", "{\"prompt\":\"a\"}", "data.tensors=x FP32 1",
         "require a tensor of type BYTES"},
        {"kserve-http", "{\"a\":1}", "data.tensors=x BYTES 1",
         "has no prompts for kserve-http"},
        {"openai-chat", "{\"prompt\":\"a\"}", "checks=label",
         "requires labels"},
        {"openai-chat", "{\"prompt\":\"a\",\"label\":1}\n{\"prompt\":\"b\"}",
         "checks=label", "f:2: has no field 'label'"},
        {"openai-completions", "{\"prompt\":\"a\"}", "data.prompts=ids",
         "has no token ids"},
        {"http", "{\"prompt\":\"a\"}", "target.body={{promt}}",
         "unknown field {{promt}}; known are prompt,"},
        {"http", "{\"prompt\":\"a\"}", "target.body={{input_tokens}}",
         "unknown field {{input_tokens}}"},
        {"http", "{\"prompt\":\"a\"}\n{\"prompt\":\"a\",\"k\":1}\n",
         "target.body={{k}}", "f:1: has no field 'k'"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct datarig rig;

        datarig_init(&rig, cases[i].api, cases[i].data);
        if (cases[i].set)
            datarig_set(&rig, cases[i].set);
        refuse(&rig, cases[i].want);
        datarig_fini(&rig);
    }
}

/* ---- tensors ---- */

/* Two samples of x, two bytes, and y, one number. */
static const char raw[] = "\1\2\0\0\200\77\3\4\0\0\0\300";

static void take_raw(struct datarig *rig, size_t len)
{
    struct err err = {0};
    struct buf file;

    rig->settings.data.format = DATA_TENSORS;
    datarig_set(rig, "data.file=f");
    datarig_set(rig, "data.select=order");
    datarig_set(rig, "data.tensors=x UINT8 2");
    strlist_add(&rig->settings.data.tensors, "y FP32 1");
    buf_init(&file, 1000);
    buf_add(&file, raw, len);
    assert_int_equal(dataset_read(&rig->data, &rig->settings.data, &file, &err),
                     0);
    rig->settings.data.loaded = rig->data;
    buf_fini(&file);
}

/* Prompts are elements of the first input of texts: in JSON as they stand, as
 * raw bytes what they mean. */
static const struct {
    const char *api;
    const char *set;
    const char *body;
    size_t len;
} prompted[] = {
#define CASE(api, set, body)                                                   \
    {                                                                          \
        api, set, body, sizeof(body) - 1                                       \
    }
    CASE("kserve-http", "data.binary=false",
         "{\"inputs\":[{\"name\":\"t\",\"datatype\":\"BYTES\",\"shape\":[2],"
         "\"data\":[\"a\\\"\\u00e9\",\"a\\\"\\u00e9\"]},"
         "{\"name\":\"b\",\"datatype\":\"BOOL\",\"shape\":[1],\"data\":["),
    CASE("tfserving-http", "data.binary=false",
         "{\"inputs\":{\"t\":[\"a\\\"\\u00e9\",\"a\\\"\\u00e9\"],\"b\":["),
    CASE("kserve-http", "data.binary=true",
         "{\"inputs\":[{\"name\":\"t\",\"datatype\":\"BYTES\",\"shape\":[2],"
         "\"parameters\":{\"binary_data_size\":        16}},"
         "{\"name\":\"b\",\"datatype\":\"BOOL\",\"shape\":[1],"
         "\"parameters\":{\"binary_data_size\":1}}],"
         "\"parameters\":{\"binary_data_output\":true}}"
         "\4\0\0\0a\"\303\251\4\0\0\0a\"\303\251"),
#undef CASE
};

TEST(prompts_are_elements_of_texts)
{
    struct buf body;

    buf_init(&body, 10000);
    for (size_t i = 0; i < sizeof(prompted) / sizeof(prompted[0]); i++) {
        struct datarig rig;

        datarig_init(&rig, prompted[i].api, "{\"prompt\":\"a\\\"\\u00e9\"}");
        datarig_set(&rig, prompted[i].set);
        datarig_set(&rig, "data.unique=false");
        datarig_set(&rig, "data.tensors=t BYTES 2");
        strlist_add(&rig.settings.data.tensors, "b BOOL 1");
        datarig_start(&rig);
        datarig_put_body(&rig, 0, &body);
        assert_true(body.len > prompted[i].len);
        assert_memory_equal(body.data, prompted[i].body, prompted[i].len);
        datarig_fini(&rig);
    }
    buf_fini(&body);
}

/* One that is new has its word before it, and another length than the model's
 * shape would give. */
TEST(prompts_in_tensors_are_new)
{
    struct datarig rig;

    datarig_init(&rig, "kserve-http", datarig_three);
    datarig_set(&rig, "data.tensors=t BYTES 1");
    datarig_start(&rig);
    assert_int_equal(datarig_count_different(&rig, 30), 30);
    datarig_fini(&rig);
}

TEST(tensors_of_a_file)
{
    struct datarig rig;
    struct buf body;

    buf_init(&body, 10000);
    datarig_init(&rig, "kserve-http", NULL);
    take_raw(&rig, sizeof(raw) - 1);
    datarig_start(&rig);
    assert_int_equal(sampler_count(&rig.api.sampler), 2);
    datarig_put_body(&rig, 1, &body);
    assert_string_equal(
        buf_text(&body),
        "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"UINT8\",\"shape\":[2],"
        "\"data\":[3,4]},{\"name\":\"y\",\"datatype\":\"FP32\",\"shape\":[1],"
        "\"data\":[-2]}]}");
    datarig_fini(&rig);
    datarig_init(&rig, "kserve-http", NULL);
    take_raw(&rig, sizeof(raw) - 1);
    datarig_set(&rig, "data.binary=true");
    datarig_start(&rig);
    datarig_put_body(&rig, 2, &body);
    assert_memory_equal(body.data + body.len - 6, raw, 6);
    datarig_fini(&rig);
    datarig_init(&rig, "kserve-http", NULL);
    take_raw(&rig, sizeof(raw) - 2);
    refuse(&rig, "not a multiple of the sample size of 6 bytes");
    datarig_fini(&rig);
    buf_fini(&body);
}
