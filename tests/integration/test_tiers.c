/* A run whose objective has tiers, from the settings file to the report, and
 * what if others had been asked. */
#include <jansson.h>
#include <string.h>

#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* No answer takes less than 1 us, all take less than 30 s, and 100 ms are more
 * than a late client explains: what is judged does not depend on the machine,
 * though whether it is believed may. */
static const char text[] =
    "target: {url: 'http://stub/v1/chat/completions', model: one}\n"
    "load: {rate: 200, requests: 400}\n"
    "data: {input_tokens: 20, output_tokens: 8}\n"
    "slo: ['gold: ttft p50 < 1us', 'gold: tpot p50 < 1us', 'silver: ttft p50 "
    "< 30s', 'silver: tpot p50 < 30s']\n"
    "cost: {usd_per_hour: 7.2, replicas: 2}\n"
    "classes:\n"
    "  - {name: chat, weight: 1, slo: ['gold: e2e p50 < 1us', 'e2e p50 < "
    "30s']}\n"
    "  - {name: other, weight: 1}\n"
    "stub: {service: fixed 100ms, replicas: 64}\n";

static char *dir;

static int make_recording(void **state)
{
    char *file;

    assert_int_equal(tmpdir_setup(state), 0);
    file = tmpdir_write("tiers.yaml", text, strlen(text));
    dir = keepf("%s/run", tmpdir_root());
    run_as_reported(ARGS("run", file, "-q", "-o", dir));
    return 0;
}

static json_t *reported(const char *flag, const char *value)
{
    struct proc_result r =
        flag ? proc_run(ARGS("report", dir, "--format", "json", flag, value))
             : proc_run(ARGS("report", dir, "--format", "json"));
    json_t *json = json_loads(r.out, 0, NULL);

    assert_string_equal(r.err, "");
    assert_non_null(json);
    return json;
}

/* What was judged of the term of a list, whether it is believed or not. */
static const char *judged(const json_t *of, size_t term)
{
    return json_string_value(json_object_get(
        json_array_get(json_object_get(of, "slo"), term), "verdict"));
}

static const json_t *tier(const json_t *of, size_t i)
{
    return json_array_get(json_object_get(of, "tiers"), i);
}

TEST(every_tier_has_its_answer)
{
    json_t *json = reported(NULL, NULL);
    const json_t *chat = json_array_get(json_object_get(json, "classes"), 0);

    assert_int_equal(json_array_size(json_object_get(json, "tiers")), 2);
    assert_string_equal(judged(tier(json, 0), 0), "fail");
    assert_string_equal(judged(tier(json, 1), 0), "pass");
    assert_true(number_at(tier(json, 0), "good") == 0);
    assert_true(number_at(tier(json, 1), "good") == 400);
    assert_string_equal(judged(json, 0), "pass"); /* that of silver */
    assert_int_equal(json_array_size(json_object_get(chat, "tiers")), 1);
    assert_string_equal(judged(tier(chat, 0), 0), "fail");
    assert_string_equal(judged(chat, 0), "pass");
    assert_true(number_at(json, "misses.not_good") == 0);
    json_decref(json);
}

/* All tokens in time by silver, none by gold, whose clock starts anew with each
 * of them. */
TEST(tokens_have_deadlines)
{
    json_t *json = reported(NULL, NULL);

    assert_true(number_at(json, "fluidity.streams") == 400);
    assert_true(number_at(json, "fluidity.fluid") == 400);
    assert_true(number_at(json, "fluidity.tokens_in_time") == 1);
    assert_true(number_at(tier(json, 0), "fluidity.fluid") == 0);
    json_decref(json);
}

TEST(other_objectives_for_the_same_run)
{
    json_t *json = reported("--slo", "chat/bronze: e2e p50 < 30s, chat/e2e p50 "
                                     "< 1us");
    const json_t *chat = json_array_get(json_object_get(json, "classes"), 0);

    /* Those of the run stay, those of the class are new. */
    assert_int_equal(json_array_size(json_object_get(json, "tiers")), 2);
    assert_string_equal(
        json_string_value(json_object_get(tier(chat, 0), "name")), "bronze");
    assert_string_equal(judged(tier(chat, 0), 0), "pass");
    assert_string_equal(judged(chat, 0), "fail");
    json_decref(json);
    json = reported("--slo", "e2e p50 < 1us, ttft:0.001");
    chat = json_array_get(json_object_get(json, "classes"), 0);
    assert_int_equal(json_array_size(json_object_get(json, "tiers")), 0);
    assert_int_equal(json_array_size(json_object_get(chat, "tiers")), 1);
    assert_true(number_at(json, "misses.not_good") == 400);
    assert_true(number_at(json, "misses.several") == 400);
    json_decref(json);
}

/* 14.4 USD an hour; the window is as long as it was. */
TEST(it_costs_what_the_settings_say)
{
    json_t *json = reported(NULL, NULL);
    double usd = 14.4 * number_at(json, "window.length_s") / 3600;

    assert_true(number_at(json, "cost.usd") > 0.999 * usd);
    assert_true(number_at(json, "cost.usd") < 1.001 * usd);
    assert_true(number_at(json, "cost.usd_per_1000_good_requests") >
                0.999 * usd * 1000 / 400);
    assert_true(number_at(json, "cost.usd_per_million_good_tokens") > 0);
    json_decref(json);
}

GROUP_FIXTURE(make_recording, tmpdir_teardown)
