/* The variants of a study: what a file may say, and what becomes of it. */
#include <jansson.h>
#include <string.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/settings/variant_settings.h"
#include "tests/support/settingstext.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static const char study[] =
    "target: {url: 'http://127.0.0.1:8000/v1/completions', model: m}\n"
    "conditions: {hardware: laptop, batching: unknown}\n"
    "load: {rate: 50/s, duration: 10s}\n"
    "stub: {service: llm, max_batch: 4, seed: 9}\n"
    "variants:\n"
    "  - {name: none, stub: {batching: none}}\n"
    "  - name: dynamic\n"
    "    stub: {batching: dynamic, max_batch: 16}\n"
    "    conditions: {batching: dynamic}\n"
    "    cost: {usd_per_hour: 2}\n"
    "  - {name: remote, target: {url: 'http://10.0.0.1/v1/completions'}}\n"
    "  - name: real\n"
    "    target: {url: 'http://127.0.0.1:{port}/v1/completions'}\n"
    "    server: {start: 'serve --port {port}', stop: 'unserve {port}'}\n";

/* The i-th, of settings that flags have changed too. */
static void take(struct settings *s, size_t i)
{
    settings_init(s);
    must_load(s, study);
    must_assign(s, "load.rate=80");
    must_assign(s, "stub.max_batch=2");
    variants_take(s, i);
}

TEST(each_says_what_differs)
{
    struct settings s;
    struct err err = {0};

    take(&s, 0);
    assert_true(s.has_stub);
    assert_string_equal(batching_names[s.stub.batching], "none");
    assert_int_equal(s.stub.max_batch, 2); /* the study's, by its flag */
    assert_int_equal(s.stub.seed, 9);
    assert_true(s.load.rate_rps == 80);
    assert_string_equal(strmap_get(&s.conditions, "variant"), "none");
    assert_string_equal(strmap_get(&s.conditions, "hardware"), "laptop");
    assert_int_equal(s.variants.len, 0);
    assert_int_equal(settings_resolve(&s, &err), 0);
    settings_fini(&s);

    take(&s, 1);
    assert_string_equal(batching_names[s.stub.batching], "dynamic");
    assert_int_equal(s.stub.max_batch, 16); /* its own, whatever flags say */
    assert_string_equal(strmap_get(&s.conditions, "batching"), "dynamic");
    assert_true(s.cost.usd_per_hour == 2);
    settings_fini(&s);
}

TEST(a_server_of_its_own_needs_no_stub)
{
    struct settings s;
    struct err err = {0};

    take(&s, 2);
    assert_false(s.has_stub);
    assert_int_equal(s.target.urls.len, 1);
    assert_string_equal(settings_url(&s), "http://10.0.0.1/v1/completions");
    assert_string_equal(s.target.model, "m");
    assert_int_equal(settings_resolve(&s, &err), 0);
    settings_fini(&s);

    take(&s, 3);
    assert_false(s.has_stub);
    assert_string_equal(s.server.start, "serve --port {port}");
    assert_int_equal(settings_resolve(&s, &err), 0);
    settings_fini(&s);
}

TEST(its_keys_are_recorded)
{
    struct settings s;
    struct settings back;
    struct err err = {0};
    json_t *json;

    take(&s, 1);
    json = settings_to_json(&s);
    settings_init(&back);
    assert_int_equal(settings_from_json(&back, json, &err), 0);
    assert_int_equal(back.varied.len, 5);
    assert_string_equal(back.varied.items[0], "conditions.batching");
    assert_string_equal(back.varied.items[1], "cost.usd_per_hour");
    assert_string_equal(back.varied.items[2], "stub.batching");
    assert_string_equal(back.varied.items[3], "stub.max_batch");
    assert_string_equal(back.varied.items[4], "conditions.variant");
    json_decref(json);
    settings_fini(&back);
    settings_fini(&s);
}

TEST(what_is_wrong_has_its_line)
{
    static const struct {
        const char *text;
        const char *says;
    } rows[] = {
        {"variants: {name: a}\n", ":1: variants: must be a list of variants"},
        {"variants:\n  - {stub: {batching: none}}\n",
         ":2: variants: a variant has no name"},
        {"variants:\n  - {name: a}\n  - {name: a}\n",
         ":3: variants: two elements are named 'a'"},
        {"variants:\n  - {name: a/b}\n",
         ":2: name: must be a word of letters, digits and ._-"},
        {"variants:\n  - {name: ..}\n",
         ":2: name: must be a word of letters, digits and ._- that begins "
         "with a letter or a digit"},
        {"variants:\n  - {name: a, load: {rate: 5/s}}\n",
         ":2: unknown key 'load' in a variant, which can have name, target, "
         "server, "
         "stub, cost and conditions; the load is the same for all"},
        {"variants:\n  - {name: a, stub: {bathing: none}}\n",
         ":2: unknown key 'bathing' in stub; did you mean 'batching'?"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct settings s;
        struct err err = {0};

        settings_init(&s);
        assert_int_equal(load_text(&s, rows[i].text, &err), -1);
        if (!strstr(err.msg, rows[i].says))
            fail_msg("%s: not '%s'", err.msg, rows[i].says);
        settings_fini(&s);
    }
}

/* ---- a server that is started ---- */

TEST(servers_go_with_what_they_need)
{
    static const struct {
        const char *text;
        const char *says; /* NULL: it is right */
    } rows[] = {
        {"target: {url: 'http://127.0.0.1:{port}/'}\n"
         "server: {start: serve, ready: 'http://127.0.0.1:{port}/health'}\n",
         NULL},
        {"target: {url: 'http://127.0.0.1:80/'}\nserver: {start: serve}\n",
         NULL},
        {"target: {url: 'http://127.0.0.1:{port}/'}\n",
         "target.url: {port} requires server.start"},
        {"target: {url: 'http://127.0.0.1:80/'}\nserver: {ready: x}\n",
         "server.ready requires server.start"},
        {"target: {url: 'http://127.0.0.1:80/'}\nserver: {stop: x}\n",
         "server.stop requires server.start"},
        {"target: {url: 'http://127.0.0.1:80/'}\n"
         "server: {start: 'serve {port}'}\n",
         "server.start contains {port}, so target.url must contain it, too: "
         "http://127.0.0.1:{port}/..."},
        {"server: {start: serve}\nstub: {}\n",
         "server.start cannot be combined with the block 'stub' of a settings "
         "file"},
        {"target: {url: 'http://127.0.0.1:80/'}\n"
         "server: {start: serve}\nstudy: {trials: 2, restart: x}\n",
         "study.restart cannot be combined with server.start"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct settings s;
        struct err err = {0};

        settings_init(&s);
        must_load(&s, rows[i].text);
        must_assign(&s, "load.rate=5");
        assert_int_equal(settings_resolve(&s, &err), rows[i].says ? -1 : 0);
        if (rows[i].says)
            assert_string_equal(err.msg, rows[i].says);
        settings_fini(&s);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
