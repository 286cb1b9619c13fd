/* What requests carry of a data set: the same whoever asks, no prompt twice
 * unless that was asked for. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/api/api.h"
#include "loadgen/mlperf_samples.h"
#include "loadgen/sample.h"

#define MANY 3000

struct rig {
    struct settings settings;
    struct dataset *data;
    struct api api;
};

static void set(struct rig *rig, const char *assignment)
{
    struct err err = {0};

    if (settings_assign(&rig->settings, assignment, &err))
        fail_msg("%s", err.msg);
}

static void rig_init(struct rig *rig, const char *api, const char *text)
{
    char *choice = xasprintf("target.api=%s", api);

    *rig = (struct rig){0};
    settings_init(&rig->settings);
    set(rig, choice);
    free(choice);
    set(rig, "target.stream=off");
    set(rig, "data.nonce=5");
    set(rig, "data.first_id=10");
    set(rig, "data.last_id=19");
    if (text) {
        struct err err = {0};
        struct buf file;

        set(rig, "data.file=f");
        buf_init(&file, 100000);
        buf_adds(&file, text);
        if (dataset_read(&rig->data, &rig->settings.data, &file, &err))
            fail_msg("%s", err.msg);
        rig->settings.data.loaded = rig->data;
        buf_fini(&file);
    }
}

static void rig_start(struct rig *rig)
{
    struct err err = {0};

    if (api_init(&rig->api, &rig->settings, &err))
        fail_msg("%s", err.msg);
}

/* An error that begins so; the rig is over. */
static void rig_refuse(struct rig *rig, const char *want)
{
    struct err err = {0};

    assert_int_equal(api_init(&rig->api, &rig->settings, &err), -1);
    if (!strstr(err.msg, want))
        fail_msg("%s", err.msg);
}

static void rig_fini(struct rig *rig)
{
    api_fini(&rig->api);
    dataset_free(rig->data);
    settings_fini(&rig->settings);
}

static void put_body(const struct rig *rig, int64_t seq, struct buf *out)
{
    struct facts f = facts_unknown(seq, 0);

    buf_reset(out);
    api_make_body(&rig->api, &f, NULL, NULL, out);
}

static json_t *body_of(const struct rig *rig, int64_t seq)
{
    struct buf body;
    json_t *json;

    buf_init(&body, 100000);
    put_body(rig, seq, &body);
    json = json_loadb(buf_text(&body), body.len, 0, NULL);
    if (!json)
        fail_msg("no JSON: %s", buf_text(&body));
    buf_fini(&body);
    return json;
}

static const char three[] =
    "{\"prompt\":\"one\",\"label\":\"1\",\"max_tokens\":4,\"k\":{\"a\":1}}\n"
    "{\"prompt\":\"two\\n\",\"label\":\"2\",\"k\":[2]}\n"
    "{\"prompt\":\"three\",\"label\":\"3\\t\",\"k\":\"x\"}\n";

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* How many of the prompts of so many requests are different. */
static int count_different(const struct rig *rig, int n)
{
    char **all = xcalloc((size_t)n, sizeof(*all));
    struct buf body;
    int different = 0;

    buf_init(&body, 100000);
    for (int i = 0; i < n; i++) {
        put_body(rig, i, &body);
        all[i] = xstrdup(buf_text(&body));
    }
    qsort(all, (size_t)n, sizeof(*all), compare);
    for (int i = 0; i < n; i++)
        different += i == 0 || strcmp(all[i - 1], all[i]) != 0;
    for (int i = 0; i < n; i++)
        free(all[i]);
    free(all);
    buf_fini(&body);
    return different;
}

/* A warm-up takes the places before the window's: none of its prompts comes
 * again, though the data set has three. */
static void no_prompt_is_sent_twice(void **state)
{
    static const char *const apis[] = {"openai-chat", "openai-completions"};
    static const char *const sets[] = {
        three, "{\"input_ids\":[1,2]}\n{\"input_ids\":[3]}\n"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct rig rig;

        rig_init(&rig, apis[i], sets[i]);
        rig_start(&rig);
        assert_int_equal(count_different(&rig, MANY), MANY);
        assert_true(sampler_cached_share(&rig.api.sampler) == 0);
        rig_fini(&rig);
    }
}

static void repeats_by_choice(void **state)
{
    struct rig rig;
    json_t *body;

    (void)state;
    rig_init(&rig, "openai-completions", three);
    set(&rig, "data.unique=false");
    set(&rig, "data.select=order");
    rig_start(&rig);
    assert_int_equal(count_different(&rig, MANY), 3);
    assert_true(sampler_cached_share(&rig.api.sampler) < 0);
    body = body_of(&rig, 4);
    assert_string_equal(json_string_value(json_object_get(body, "prompt")),
                        "two\n");
    json_decref(body);
    body = body_of(&rig, 3);
    assert_int_equal(json_integer_value(json_object_get(body, "max_tokens")),
                     4);
    json_decref(body);
    rig_fini(&rig);
}

/* The nonce, the seed and the file give every byte; another nonce gives other
 * prompts of the same samples. */
static void the_same_again(void **state)
{
    struct buf bodies[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct rig rig;

        buf_init(&bodies[i], 100000);
        rig_init(&rig, "openai-chat", three);
        if (i == 2)
            set(&rig, "data.nonce=6");
        rig_start(&rig);
        put_body(&rig, 77, &bodies[i]);
        rig_fini(&rig);
    }
    assert_string_equal(buf_text(&bodies[0]), buf_text(&bodies[1]));
    assert_string_not_equal(buf_text(&bodies[0]), buf_text(&bodies[2]));
    assert_int_equal(bodies[0].len, bodies[2].len);
    for (int i = 0; i < 3; i++)
        buf_fini(&bodies[i]);
}

static void messages_go_as_messages(void **state)
{
    struct rig rig;
    json_t *body;
    const json_t *messages;
    const char *text;

    (void)state;
    rig_init(&rig, "openai-chat",
             "{\"messages\":[{\"role\":\"system\",\"content\":\"be\"},"
             "{\"role\":\"user\",\"content\":\"why\"}]}");
    rig_start(&rig);
    body = body_of(&rig, 1);
    messages = json_object_get(body, "messages");
    text = json_string_value(
        json_object_get(json_array_get(messages, 0), "content"));
    assert_int_equal(strlen(text), 13 + strlen(" be"));
    assert_string_equal(text + 13, " be");
    text = json_string_value(
        json_object_get(json_array_get(messages, 1), "content"));
    assert_string_equal(text, "why");
    json_decref(body);
    rig_fini(&rig);
}

/* Twenty ids of ten kinds hold 64 bits. */
static void token_ids_have_a_tag_of_ids(void **state)
{
    struct rig rig;
    struct facts f = facts_unknown(0, 0);
    struct buf out;
    json_t *body;
    const json_t *ids;

    (void)state;
    rig_init(&rig, "openai-completions", "{\"input_ids\":[1, 2]}\n");
    set(&rig, "data.shared_prefix=3");
    rig_start(&rig);
    body = body_of(&rig, 0);
    ids = json_object_get(body, "prompt");
    assert_int_equal(json_array_size(ids), 3 + 20 + 2);
    assert_int_equal(json_integer_value(json_array_get(ids, 23)), 1);
    json_decref(body);
    buf_init(&out, 10000);
    api_make_body(&rig.api, &f, NULL, NULL, &out);
    assert_int_equal(f.prompt_asked, 25);
    buf_fini(&out);
    rig_fini(&rig);
}

/* ---- prefixes ---- */

static size_t common(const struct buf *a, const struct buf *b)
{
    size_t n = 0;

    while (n < a->len && n < b->len && a->data[n] == b->data[n])
        n++;
    return n;
}

static void prompts_share_a_prefix(void **state)
{
    struct rig rig;
    struct buf a;
    struct buf b;
    struct facts f = facts_unknown(3, 0);
    const char *sets[] = {NULL, three};

    (void)state;
    buf_init(&a, 100000);
    buf_init(&b, 100000);
    for (int i = 0; i < 2; i++) {
        rig_init(&rig, "openai-chat", sets[i]);
        set(&rig, "data.input_tokens=60");
        set(&rig, "data.shared_prefix=20");
        rig_start(&rig);
        put_body(&rig, 1, &a);
        put_body(&rig, 2, &b);
        assert_in_range(common(&a, &b), 50 + 2 * 20, 50 + 8 * 20);
        buf_reset(&a);
        api_make_body(&rig.api, &f, NULL, NULL, &a);
        assert_int_equal(f.prompt_asked, i == 0 ? 80 : TIME_ABSENT);
        assert_true(sampler_cached_share(&rig.api.sampler) ==
                    (i == 0 ? 0.25 : -1));
        rig_fini(&rig);
    }
    buf_fini(&a);
    buf_fini(&b);
}

/* So many begin with all of a prompt before theirs, and end in their own way.
 */
static void prompts_come_again(void **state)
{
    struct rig rig;
    struct buf text;
    struct buf origin;
    int again = 0;

    (void)state;
    buf_init(&text, 100000);
    buf_init(&origin, 100000);
    rig_init(&rig, "openai-chat", NULL);
    set(&rig, "data.input_tokens=30");
    set(&rig, "data.cache_hit_rate=30%");
    rig_start(&rig);
    for (int i = 0; i < MANY; i++) {
        struct sample s = sample_draw(&rig.api.sampler, i, NULL);
        struct sample before;

        assert_in_range(s.from, 0, i);
        if (s.from == i)
            continue;
        again++;
        before = sample_draw(&rig.api.sampler, s.from, NULL);
        assert_int_equal(before.from, s.from); /* that had its own */
        buf_reset(&text);
        buf_reset(&origin);
        sample_put_text(&rig.api.sampler, &s, &text);
        sample_put_text(&rig.api.sampler, &before, &origin);
        assert_int_equal(common(&text, &origin), origin.len);
        assert_int_equal(text.len, origin.len + 14);
    }
    /* 5 standard deviations */
    assert_in_range(again, 0.3 * MANY - 126, 0.3 * MANY + 126);
    assert_int_equal(count_different(&rig, MANY), MANY);
    assert_true(sampler_cached_share(&rig.api.sampler) == 0.3);
    rig_fini(&rig);
    buf_fini(&text);
    buf_fini(&origin);
}

/* Without the nonce, made prompts are the seed's. */
static void made_prompts_may_be_those_of_the_seed(void **state)
{
    struct buf a;
    struct buf b;

    (void)state;
    buf_init(&a, 100000);
    buf_init(&b, 100000);
    for (int i = 0; i < 2; i++) {
        struct rig rig;

        rig_init(&rig, "openai-chat", NULL);
        set(&rig, i == 0 ? "data.nonce=1" : "data.nonce=2");
        set(&rig, "data.unique=false");
        rig_start(&rig);
        put_body(&rig, 9, i == 0 ? &a : &b);
        rig_fini(&rig);
    }
    assert_string_equal(buf_text(&a), buf_text(&b));
    buf_fini(&a);
    buf_fini(&b);
}

/* ---- bodies and labels ---- */

static void fields_go_into_a_body(void **state)
{
    struct rig rig;
    json_t *body;

    (void)state;
    rig_init(&rig, "http", three);
    set(&rig, "data.select=order");
    set(&rig, "data.unique=false");
    set(&rig, "target.body={\"q\":\"{{prompt}}\",\"k\":{{k}},\"n\":"
              "{{output_tokens}},\"l\":\"{{label}}\"}");
    rig_start(&rig);
    assert_true(rig.api.makes_bodies);
    assert_true(api_cached_share(&rig.api) < 0);
    body = body_of(&rig, 0);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(body, "k"), "a")),
        1);
    assert_int_equal(json_integer_value(json_object_get(body, "n")), 4);
    json_decref(body);
    body = body_of(&rig, 1);
    assert_string_equal(json_string_value(json_object_get(body, "q")), "two\n");
    assert_int_equal(json_array_size(json_object_get(body, "k")), 1);
    json_decref(body);
    rig_fini(&rig);
}

/* The nonce is in the prompt, not in the other fields. */
static void a_body_without_the_prompt_may_repeat(void **state)
{
    static const char *const bodies[] = {"target.body={\"q\":\"{{prompt}}\"}",
                                         "target.body={\"q\":\"{{label}}\"}"};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct rig rig;

        rig_init(&rig, "http", three);
        set(&rig, bodies[i]);
        rig_start(&rig);
        assert_int_equal(count_different(&rig, 30), i == 0 ? 30 : 3);
        assert_true(api_cached_share(&rig.api) == (i == 0 ? 0 : -1));
        rig_fini(&rig);
    }
}

static void labels_are_found_again(void **state)
{
    static const char *const want[] = {"1", "2", "3\t"};
    struct rig rig;
    struct buf label;

    (void)state;
    buf_init(&label, 100);
    rig_init(&rig, "openai-chat", three);
    rig_start(&rig);
    for (int64_t seq = 0; seq < 30; seq++) {
        struct sample s = sample_draw(&rig.api.sampler, seq, NULL);

        buf_reset(&label);
        sample_add_label(&rig.api.sampler, seq, &label);
        assert_string_equal(buf_text(&label), want[s.index]);
    }
    rig_fini(&rig);
    buf_fini(&label);
}

static void what_does_not_fit_is_refused(void **state)
{
    static const struct {
        const char *api;
        const char *data;
        const char *set;
        const char *want;
    } cases[] = {
        {"openai-completions",
         "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}", NULL,
         "no prompt that openai-completions takes"},
        {"openai-chat", "{\"a\":1}", NULL, "no prompt that openai-chat takes"},
        {"openai-chat", "{\"prompt\":\"a\"}", "target.body={}",
         "data.file: the body (--body) has no {{field}} to put it into"},
        {"http", "{\"prompt\":\"a\"}", NULL, "needs a body"},
        {"rerank", "{\"prompt\":\"a\"}", NULL, "needs a body"},
        {"kserve-http", "{\"prompt\":\"a\"}", "data.tensors=x FP32 1",
         "data.tensors: none is of type BYTES"},
        {"kserve-http", "{\"a\":1}", "data.tensors=x BYTES 1",
         "no prompt that kserve-http takes"},
        {"openai-chat", "{\"prompt\":\"a\"}", "checks=label", "no label"},
        {"openai-chat", "{\"prompt\":\"a\",\"label\":1}\n{\"prompt\":\"b\"}",
         "checks=label", "f:2: there is no 'label'"},
        {"openai-completions", "{\"prompt\":\"a\"}", "data.prompts=ids",
         "has no token ids"},
        {"http", "{\"prompt\":\"a\"}", "target.body={{promt}}",
         "there is no {{promt}}; there are prompt,"},
        {"http", "{\"prompt\":\"a\"}", "target.body={{input_tokens}}",
         "there is no {{input_tokens}}"},
        {"http", "{\"prompt\":\"a\"}\n{\"prompt\":\"a\",\"k\":1}\n",
         "target.body={{k}}", "f:1: there is no 'k'"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig rig;

        rig_init(&rig, cases[i].api, cases[i].data);
        if (cases[i].set)
            set(&rig, cases[i].set);
        rig_refuse(&rig, cases[i].want);
        rig_fini(&rig);
    }
}

/* ---- tensors ---- */

/* Two samples of x, two bytes, and y, one number. */
static const char raw[] = "\1\2\0\0\200\77\3\4\0\0\0\300";

static void take_raw(struct rig *rig, size_t len)
{
    struct err err = {0};
    struct buf file;

    rig->settings.data.format = DATA_TENSORS;
    set(rig, "data.file=f");
    set(rig, "data.select=order");
    set(rig, "data.tensors=x UINT8 2");
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

static void prompts_are_elements_of_texts(void **state)
{
    struct buf body;

    (void)state;
    buf_init(&body, 10000);
    for (size_t i = 0; i < sizeof(prompted) / sizeof(prompted[0]); i++) {
        struct rig rig;

        rig_init(&rig, prompted[i].api, "{\"prompt\":\"a\\\"\\u00e9\"}");
        set(&rig, prompted[i].set);
        set(&rig, "data.unique=false");
        set(&rig, "data.tensors=t BYTES 2");
        strlist_add(&rig.settings.data.tensors, "b BOOL 1");
        rig_start(&rig);
        put_body(&rig, 0, &body);
        assert_true(body.len > prompted[i].len);
        assert_memory_equal(body.data, prompted[i].body, prompted[i].len);
        rig_fini(&rig);
    }
    buf_fini(&body);
}

/* One that is new has its word before it, and another length than the model's
 * shape would give. */
static void prompts_in_tensors_are_new(void **state)
{
    struct rig rig;

    (void)state;
    rig_init(&rig, "kserve-http", three);
    set(&rig, "data.tensors=t BYTES 1");
    rig_start(&rig);
    assert_int_equal(count_different(&rig, 30), 30);
    rig_fini(&rig);
}

static void tensors_of_a_file(void **state)
{
    struct rig rig;
    struct buf body;

    (void)state;
    buf_init(&body, 10000);
    rig_init(&rig, "kserve-http", NULL);
    take_raw(&rig, sizeof(raw) - 1);
    rig_start(&rig);
    assert_int_equal(sampler_count(&rig.api.sampler), 2);
    put_body(&rig, 1, &body);
    assert_string_equal(
        buf_text(&body),
        "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"UINT8\",\"shape\":[2],"
        "\"data\":[3,4]},{\"name\":\"y\",\"datatype\":\"FP32\",\"shape\":[1],"
        "\"data\":[-2]}]}");
    rig_fini(&rig);
    rig_init(&rig, "kserve-http", NULL);
    take_raw(&rig, sizeof(raw) - 1);
    set(&rig, "data.binary=true");
    rig_start(&rig);
    put_body(&rig, 2, &body);
    assert_memory_equal(body.data + body.len - 6, raw, 6);
    rig_fini(&rig);
    rig_init(&rig, "kserve-http", NULL);
    take_raw(&rig, sizeof(raw) - 2);
    rig_refuse(&rig, "no whole number of samples of 6 bytes");
    rig_fini(&rig);
    buf_fini(&body);
}

static void samples_by_loadgens_seeds(void **state)
{
    static const char *const scenarios[] = {"load.scenario=server",
                                            "load.scenario=single-stream",
                                            "load.scenario=multi-stream"};
    struct buf text;

    (void)state;
    buf_init(&text, 10000);
    for (int i = 0; i < 50; i++)
        buf_addf(&text, "{\"prompt\":\"%d\"}\n", i);
    for (size_t i = 0; i < 3; i++) {
        struct rig rig;
        struct mlperf_choice choice;
        struct mlperf_samples want;

        rig_init(&rig, "openai-completions", buf_text(&text));
        set(&rig, scenarios[i]);
        set(&rig, "load.rate=1");
        set(&rig, "load.requests=80");
        set(&rig, "load.seeds=mlperf");
        set(&rig, "load.qsl_rng_seed=7");
        set(&rig, "load.sample_index_rng_seed=8");
        set(&rig, "data.limit=30");
        rig_start(&rig);
        choice = mlperf_choice_of(&rig.settings);
        mlperf_samples_make(&want, &choice, 30);
        for (int64_t seq = 0; seq < 80; seq++)
            assert_int_equal(sample_draw(&rig.api.sampler, seq, NULL).index,
                             mlperf_samples_at(&want, seq));
        mlperf_samples_fini(&want);
        rig_fini(&rig);
    }
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_prompt_is_sent_twice),
        cmocka_unit_test(repeats_by_choice),
        cmocka_unit_test(the_same_again),
        cmocka_unit_test(messages_go_as_messages),
        cmocka_unit_test(token_ids_have_a_tag_of_ids),
        cmocka_unit_test(prompts_share_a_prefix),
        cmocka_unit_test(prompts_come_again),
        cmocka_unit_test(made_prompts_may_be_those_of_the_seed),
        cmocka_unit_test(fields_go_into_a_body),
        cmocka_unit_test(a_body_without_the_prompt_may_repeat),
        cmocka_unit_test(labels_are_found_again),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(prompts_are_elements_of_texts),
        cmocka_unit_test(prompts_in_tensors_are_new),
        cmocka_unit_test(tensors_of_a_file),
        cmocka_unit_test(samples_by_loadgens_seeds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
