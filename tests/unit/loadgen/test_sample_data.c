/* What requests carry of a data set: the same for every caller, no prompt twice
 * unless that was asked for. */
#include <jansson.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "loadgen/api/api.h"
#include "loadgen/payload/data_select.h"
#include "loadgen/payload/sample.h"
#include "tests/support/datarig.h"
#include "tests/support/test.h"

#define MANY 3000

/* A warm-up takes the places before the window's: none of its prompts comes
 * again, though the data set has datarig_three. */
TEST(no_prompt_is_sent_twice)
{
    static const char *const apis[] = {"openai-chat", "openai-completions"};
    static const char *const sets[] = {
        datarig_three, "{\"input_ids\":[1,2]}\n{\"input_ids\":[3]}\n"};

    for (int i = 0; i < 2; i++) {
        struct datarig rig;

        datarig_init(&rig, apis[i], sets[i]);
        datarig_start(&rig);
        assert_int_equal(datarig_count_different(&rig, MANY), MANY);
        assert_true(sampler_cached_share(&rig.api.sampler) == 0);
        datarig_fini(&rig);
    }
}

TEST(repeats_by_choice)
{
    struct datarig rig;
    json_t *body;

    datarig_init(&rig, "openai-completions", datarig_three);
    datarig_set(&rig, "data.unique=false");
    datarig_set(&rig, "data.select=order");
    datarig_start(&rig);
    assert_int_equal(datarig_count_different(&rig, MANY), 3);
    assert_true(sampler_cached_share(&rig.api.sampler) < 0);
    body = datarig_body(&rig, 4);
    assert_string_equal(json_string_value(json_object_get(body, "prompt")),
                        "two\n");
    body = datarig_body(&rig, 3);
    assert_int_equal(json_integer_value(json_object_get(body, "max_tokens")),
                     4);
    datarig_fini(&rig);
}

/* The nonce, the seed and the file give every byte; another nonce gives other
 * prompts of the same samples. */
TEST(the_same_again)
{
    struct buf bodies[3];

    for (int i = 0; i < 3; i++) {
        struct datarig rig;

        buf_init(&bodies[i], 100000);
        datarig_init(&rig, "openai-chat", datarig_three);
        if (i == 2)
            datarig_set(&rig, "data.nonce=6");
        datarig_start(&rig);
        datarig_put_body(&rig, 77, &bodies[i]);
        datarig_fini(&rig);
    }
    assert_string_equal(buf_text(&bodies[0]), buf_text(&bodies[1]));
    assert_string_not_equal(buf_text(&bodies[0]), buf_text(&bodies[2]));
    assert_int_equal(bodies[0].len, bodies[2].len);
    for (int i = 0; i < 3; i++)
        buf_fini(&bodies[i]);
}

TEST(messages_go_as_messages)
{
    struct datarig rig;
    json_t *body;
    const json_t *messages;
    const char *text;

    datarig_init(&rig, "openai-chat",
                 "{\"messages\":[{\"role\":\"system\",\"content\":\"be\"},"
                 "{\"role\":\"user\",\"content\":\"why\"}]}");
    datarig_start(&rig);
    body = datarig_body(&rig, 1);
    messages = json_object_get(body, "messages");
    text = json_string_value(
        json_object_get(json_array_get(messages, 0), "content"));
    assert_int_equal(strlen(text), 13 + strlen(" be"));
    assert_string_equal(text + 13, " be");
    text = json_string_value(
        json_object_get(json_array_get(messages, 1), "content"));
    assert_string_equal(text, "why");
    datarig_fini(&rig);
}

/* Twenty ids of ten kinds hold 64 bits. */
TEST(token_ids_have_a_tag_of_ids)
{
    struct datarig rig;
    struct facts f = facts_unknown(0, 0);
    struct buf out;
    json_t *body;
    const json_t *ids;

    datarig_init(&rig, "openai-completions", "{\"input_ids\":[1, 2]}\n");
    datarig_set(&rig, "data.shared_prefix=3");
    datarig_start(&rig);
    body = datarig_body(&rig, 0);
    ids = json_object_get(body, "prompt");
    assert_int_equal(json_array_size(ids), 3 + 20 + 2);
    assert_int_equal(json_integer_value(json_array_get(ids, 23)), 1);
    buf_init(&out, 10000);
    api_make_body(&rig.api, &f, NULL, NULL, &out);
    assert_int_equal(f.prompt_asked, 25);
    buf_fini(&out);
    datarig_fini(&rig);
}

/* ---- prefixes ---- */

static size_t common(const struct buf *a, const struct buf *b)
{
    size_t n = 0;

    while (n < a->len && n < b->len && a->data[n] == b->data[n])
        n++;
    return n;
}

TEST(prompts_share_a_prefix)
{
    struct datarig rig;
    struct buf a;
    struct buf b;
    struct facts f = facts_unknown(3, 0);
    const char *sets[] = {NULL, datarig_three};

    buf_init(&a, 100000);
    buf_init(&b, 100000);
    for (int i = 0; i < 2; i++) {
        datarig_init(&rig, "openai-chat", sets[i]);
        datarig_set(&rig, "data.input_tokens=60");
        datarig_set(&rig, "data.shared_prefix=20");
        datarig_start(&rig);
        datarig_put_body(&rig, 1, &a);
        datarig_put_body(&rig, 2, &b);
        assert_in_range(common(&a, &b), 50 + 2 * 20, 50 + 8 * 20);
        buf_reset(&a);
        api_make_body(&rig.api, &f, NULL, NULL, &a);
        assert_int_equal(f.prompt_asked, i == 0 ? 80 : TIME_ABSENT);
        assert_true(sampler_cached_share(&rig.api.sampler) ==
                    (i == 0 ? 0.25 : -1));
        datarig_fini(&rig);
    }
    buf_fini(&a);
    buf_fini(&b);
}

/* This number begins with all of a prompt before theirs, and end in their own
 * way.
 */
TEST(prompts_come_again)
{
    struct datarig rig;
    struct buf text;
    struct buf origin;
    int again = 0;

    buf_init(&text, 100000);
    buf_init(&origin, 100000);
    datarig_init(&rig, "openai-chat", NULL);
    datarig_set(&rig, "data.input_tokens=30");
    datarig_set(&rig, "data.cache_hit_rate=30%");
    datarig_start(&rig);
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
    assert_int_equal(datarig_count_different(&rig, MANY), MANY);
    assert_true(sampler_cached_share(&rig.api.sampler) == 0.3);
    datarig_fini(&rig);
    buf_fini(&text);
    buf_fini(&origin);
}

/* Without the nonce, made prompts are the seed's. */
TEST(made_prompts_may_be_those_of_the_seed)
{
    struct buf a;
    struct buf b;

    buf_init(&a, 100000);
    buf_init(&b, 100000);
    for (int i = 0; i < 2; i++) {
        struct datarig rig;

        datarig_init(&rig, "openai-chat", NULL);
        datarig_set(&rig, i == 0 ? "data.nonce=1" : "data.nonce=2");
        datarig_set(&rig, "data.unique=false");
        datarig_start(&rig);
        datarig_put_body(&rig, 9, i == 0 ? &a : &b);
        datarig_fini(&rig);
    }
    assert_string_equal(buf_text(&a), buf_text(&b));
    buf_fini(&a);
    buf_fini(&b);
}

/* ---- seeds ---- */

TEST(samples_by_loadgens_seeds)
{
    static const char *const scenarios[] = {"load.scenario=server",
                                            "load.scenario=single-stream",
                                            "load.scenario=multi-stream"};
    struct buf text;

    buf_init(&text, 10000);
    for (int i = 0; i < 50; i++)
        buf_addf(&text, "{\"prompt\":\"%d\"}\n", i);
    for (size_t i = 0; i < 3; i++) {
        struct datarig rig;
        struct mlperf_choice choice;
        struct mlperf_samples want;

        datarig_init(&rig, "openai-completions", buf_text(&text));
        datarig_set(&rig, scenarios[i]);
        datarig_set(&rig, "load.rate=1");
        datarig_set(&rig, "load.requests=80");
        datarig_set(&rig, "load.seeds=mlperf");
        datarig_set(&rig, "load.qsl_rng_seed=7");
        datarig_set(&rig, "load.sample_index_rng_seed=8");
        datarig_set(&rig, "data.limit=30");
        datarig_start(&rig);
        choice = mlperf_choice_of(&rig.settings);
        mlperf_samples_make(&want, &choice, 30);
        for (int64_t seq = 0; seq < 80; seq++)
            assert_int_equal(sample_draw(&rig.api.sampler, seq, NULL).index,
                             mlperf_samples_at(&want, seq));
        mlperf_samples_fini(&want);
        datarig_fini(&rig);
    }
    buf_fini(&text);
}
