/* Settings in the manifest, and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/text/redact.h"
#include "tests/support/settingstext.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

TEST(json_comes_back_the_same)
{
    static const char *const texts[] = {
        "{}",
        "target: {url: http://h/, timeout: 123456789ns}\nload: {rate: 2/m}",
        "load: {rate: 0.1, seed: 18446744073709551615, requests: 5}\n"
        "slo: [e2e p99.9 < 1.5s, goodput >= 2/m]\n"
        "conditions: {z: 1, a: '', 'k k': 'é \"q\" \\n'}\n"
        "target: {headers: {X-A: 'b: c'}, body: \"multi\\nline\", "
        "request_id: true}\n"
        "stub: {service: exponential 2ms, stall: 1s, stall_every: 5s}",
    };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct settings a;
        struct settings b;
        struct err err = {0};
        json_t *first;
        json_t *second;

        settings_init(&a);
        settings_init(&b);
        must_load(&a, texts[i]);
        must_load(&b, "conditions: {stale: 1}\nslo: [errors < 1%]\n");
        first = settings_to_json(&a);
        assert_int_equal(settings_from_json(&b, first, &err), 0);
        second = settings_to_json(&b);
        assert_true(json_equal(first, second));
        assert_true(a.load.rate_rps == b.load.rate_rps);
        json_decref(first);
        json_decref(second);
        settings_fini(&a);
        settings_fini(&b);
    }
}

/* Recordings have it of searches that were given none. */
TEST(a_load_of_0_is_none)
{
    json_t *json = json_pack("{s{ssssss}}", "search", "start", "0", "most", "0",
                             "least", "9");
    struct settings s;
    struct err err = {0};

    settings_init(&s);
    if (settings_from_json(&s, json, &err))
        fail_msg("%s", err.msg);
    assert_true(s.search.start == 0 && s.search.most == 0);
    assert_true(s.search.least == 9);
    settings_fini(&s);
    json_decref(json);
}

/* A file that the manifest names is not opened: it need not be there. */
TEST(a_file_of_lengths_is_not_read)
{
    static const char name[] = "empirical @/nowhere";
    json_t *json =
        json_pack("{s{ss} s[{ss sf s{ss}}] s{ss}}", "data", "input_tokens",
                  name, "classes", "name", "a", "weight", 1.0, "data",
                  "output_tokens", name, "warmup_data", "input_tokens", name);
    struct settings s;
    struct err err = {0};

    settings_init(&s);
    if (settings_from_json(&s, json, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(s.data.input_tokens, name);
    assert_string_equal(s.classes.items[0].settings->data.output_tokens, name);
    assert_string_equal(s.warmup.items[0].settings->data.input_tokens, name);
    settings_fini(&s);
    json_decref(json);
}

TEST(secrets_are_redacted)
{
    static const struct {
        const char *header;
        bool is_secret;
    } cases[] = {
        {"Authorization", true},  {"authorization", true},
        {"COOKIE", true},         {"X-Api-Key", true},
        {"api-key", true},        {"proxy-authorization", true},
        {"x-auth-token", true},   {"x-team", false},
        {"authorization2", true}, {"", false},
        {"x-goog-api-key", true}, {"X-Amz-Security-Token", true},
        {"My-Secret", true},      {"x-PASSWORD", true},
        {"x-trace-id", false},    {"accept", false},
    };
    struct err err = {0};
    struct settings s;
    json_t *json;
    char *text;

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(redact_is_secret(cases[i].header), cases[i].is_secret);
    settings_init(&s);
    must_load(&s, "target: {headers: {AUTHORIZATION: s3cret, x: shown}}");
    must_assign(&s, "target.headers=cookie : s3cret");
    must_assign(&s, "target.headers=x-goog-api-key: s3cret");
    must_assign(&s, "conditions=max_tokens=as asked");
    must_assign(&s, "target.url=http://h/?api_key=s3cret&a=1");
    must_assign(&s, "target.proxy=http://me:s3cret@p:3128");
    must_assign(&s, "target.metrics=http://h/metrics?token=s3cret");
    must_assign(&s, "target.headers=X-Session-Id: s3cret");
    must_assign(&s, "target.headers=Proxy-Credential: s3cret");
    must_assign(&s, "server.start=serve --hub http://me:s3cret@h/");
    must_assign(&s, "server.ready=http://h/health?session=s3cret");
    must_assign(&s, "conditions=image=http://h/i?X-Amz-Signature=s3cret");
    must_assign(&s, "cost.energy=series http://h/m?token=s3cret a_watts");
    json = settings_to_json(&s);
    text = json_dumps(json, 0);
    assert_null(strstr(text, "s3cret"));
    assert_non_null(strstr(text, "shown"));
    assert_non_null(strstr(text, "as asked")); /* not a header */
    free(text);
    settings_fini(&s);
    settings_init(&s); /* it can be read back */
    assert_int_equal(settings_from_json(&s, json, &err), 0);
    assert_string_equal(settings_url(&s), "http://h/?api_key=***&a=1");
    assert_string_equal(s.target.proxy, "http://***@p:3128");
    assert_string_equal(s.target.metrics, "http://h/metrics?token=***");
    assert_string_equal(s.cost.energy, "series http://h/m?token=*** a_watts");
    json_decref(json);
    settings_fini(&s);
}

TEST(text_that_is_no_utf8_is_kept_readable)
{
    struct settings s;
    json_t *json;

    settings_init(&s);
    must_assign(&s, "name=a\xff"
                    "b");
    must_assign(&s, "conditions=k=\xfe.");
    json = settings_to_json(&s);
    assert_string_equal(json_string_value(json_object_get(json, "name")),
                        "a?b");
    assert_string_equal(json_string_value(json_object_get(
                            json_object_get(json, "conditions"), "k")),
                        "?.");
    json_decref(json);
    settings_fini(&s);
}

/* What a run with "auto" was told, and what another was told instead. */
TEST(auto_comes_back_from_json)
{
    static const char *const told[] = {"auto", "9"};

    for (size_t i = 0; i < COUNT(told); i++) {
        int64_t want = i == 0 ? OPT_AUTO : 9;
        struct settings a;
        struct settings b;
        struct err err = {0};
        json_t *json;

        settings_init(&a);
        settings_init(&b);
        assert_int_equal(a.client.threads, OPT_AUTO);
        assert_int_equal(a.client.connections, OPT_AUTO);
        a.client.max_in_flight = want;
        a.load.drain_ns = want;
        b.client.max_in_flight = b.load.drain_ns = 77;
        json = settings_to_json(&a);
        assert_string_equal(
            json_string_value(json_object_get(json_object_get(json, "client"),
                                              "max_in_flight")),
            told[i]);
        assert_int_equal(settings_from_json(&b, json, &err), 0);
        assert_int_equal(b.client.max_in_flight, want);
        assert_int_equal(b.load.drain_ns, want);
        assert_int_equal(b.client.threads, OPT_AUTO);
        json_decref(json);
        settings_fini(&a);
        settings_fini(&b);
    }
}

TEST(damaged_json_is_refused)
{
    static const struct {
        const char *json;
        const char *want;
    } cases[] = {
        {"{\"name\": 5}", "name: the value has the wrong type"},
        {"{\"slo\": \"errors < 1%\"}", "slo: the value has the wrong type"},
        {"{\"slo\": [1]}", "slo: the value has the wrong type"},
        {"{\"conditions\": []}", "conditions: the value has the wrong type"},
        {"{\"conditions\": {\"a\": 1}}",
         "conditions: the value has the wrong type"},
        {"{\"load\": {\"rate\": \"x\"}}",
         "rate: 'x' is not a rate; write 50, 0.5 or 2/m (above 0)"},
        {"{\"load\": {\"scenario\": \"later\"}}",
         "scenario: 'later' is not one of: auto, server, closed, "
         "single-stream, multi-stream, offline, trace, sessions"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        json_t *json = json_loads(cases[i].json, 0, NULL);
        struct settings s;
        struct err err = {0};
        char want[300];

        snprintf(want, sizeof(want), "settings in the manifest: %s",
                 cases[i].want);
        settings_init(&s);
        assert_int_equal(settings_from_json(&s, json, &err), -1);
        assert_int_equal(err.code, ERR_FORMAT);
        assert_string_equal(err.msg, want);
        settings_fini(&s);
        json_decref(json);
    }
}

/* Keys of a later version, or none at all, do no harm. */
TEST(unknown_json_is_passed_over)
{
    json_t *json =
        json_loads("{\"later\": {\"x\": 1}, \"load\": {\"new\": [1]}, "
                   "\"target\": 5}",
                   0, NULL);
    struct settings s;
    struct err err = {0};

    settings_init(&s);
    assert_int_equal(settings_from_json(&s, json, &err), 0);
    assert_int_equal(settings_from_json(&s, NULL, &err), 0);
    assert_int_equal(s.load.seed, 1);
    settings_fini(&s);
    json_decref(json);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
