/* Classes of requests: what a settings file may say of them, what they have
 * from the run, and how often each is drawn. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/measure/good.h"
#include "common/settings/classes.h"
#include "common/settings/settings.h"
#include "common/spec/slo.h"
#include "common/wire/api_names.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static int load(struct settings *s, const char *text, struct err *err)
{
    settings_init(s);
    return settings_load(s, tmpdir_write("s.yaml", text, strlen(text)), err);
}

static int blame(const char *path, struct err *err)
{
    struct settings_file file;

    assert_int_equal(settings_file_read(&file, path, &(struct err){0}), 0);
    settings_blame(&file, err);
    settings_file_fini(&file);
    return -1;
}

/* As the command line does it; an error names its line. */
static int resolve(struct settings *s, const char *text, struct err *err)
{
    if (load(s, text, err))
        return -1;
    return settings_resolve(s, err) ? blame(tmpdir_path("s.yaml"), err) : 0;
}

static void must_resolve(struct settings *s, const char *text)
{
    struct err err = {0};

    if (resolve(s, text, &err))
        fail_msg("%s", err.msg);
}

static const struct settings *class_of(const struct settings *s, size_t i)
{
    return s->classes.items[i].settings;
}

static const char workload[] = "target:\n"
                               "  url: http://h/v1/chat/completions\n"
                               "  model: m1\n"
                               "  headers: {a: run, b: run}\n"
                               "  timeout: 5s\n"
                               "data: {input_tokens: 100, output_tokens: 7}\n"
                               "load: {rate: 5}\n"
                               "slo: ['errors < 1%']\n"
                               "checks: ['contains x']\n"
                               "classes:\n"
                               "  - name: chat\n"
                               "    weight: 7\n"
                               "    data: {input_tokens: 'lognormal 512 256'}\n"
                               "    slo: ['ttft p99 < 200ms']\n"
                               "  - name: embed\n"
                               "    weight: 3\n"
                               "    target:\n"
                               "      url: http://other/v1/embeddings\n"
                               "      model: m2\n"
                               "      headers: {b: class}\n"
                               "    checks: ['contains y']\n";

TEST(a_class_stands_over_the_run)
{
    struct settings s;
    const struct settings *chat;
    const struct settings *embed;

    must_resolve(&s, workload);
    assert_int_equal(s.classes.len, 2);
    chat = class_of(&s, 0);
    embed = class_of(&s, 1);
    assert_string_equal(s.classes.items[0].name, "chat");
    assert_true(classes_share(&s.classes, 0) == 0.7);

    assert_string_equal(settings_url(chat), settings_url(&s));
    assert_string_equal(chat->target.model, "m1");
    assert_int_equal(chat->target.api, API_OPENAI_CHAT);
    assert_int_equal(chat->target.stream, STREAM_ON);
    assert_string_equal(chat->data.input_tokens, "lognormal 512 256");
    assert_string_equal(chat->data.output_tokens, "7");
    assert_string_equal(chat->checks.items[0], "contains x");

    assert_string_equal(settings_url(embed), "http://other/v1/embeddings");
    assert_string_equal(embed->target.model, "m2");
    assert_int_equal(embed->target.api, API_OPENAI_EMBEDDINGS);
    assert_int_equal(embed->target.stream, STREAM_AUTO);
    assert_int_equal(embed->target.timeout_ns, s.target.timeout_ns);
    assert_string_equal(strmap_get(&embed->target.headers, "a"), "run");
    assert_string_equal(strmap_get(&embed->target.headers, "b"), "class");
    assert_string_equal(embed->data.input_tokens, "100");
    assert_string_equal(embed->checks.items[0], "contains y");
    assert_int_equal(embed->checks.len, 1);

    assert_int_equal(s.slo.len, 1); /* that of the run is not a class's */
    assert_int_equal(chat->slo.len, 1);
    assert_int_equal(embed->slo.len, 0);
    settings_fini(&s);
}

/* What comes after the file is said of the run: a class has it, unless it says
 * something itself. */
TEST(flags_reach_the_classes)
{
    struct settings s;
    struct err err = {0};

    assert_int_equal(load(&s, workload, &err), 0);
    assert_int_equal(settings_assign(&s, "target.model=new", &err), 0);
    assert_int_equal(settings_assign(&s, "target.timeout=9s", &err), 0);
    assert_int_equal(settings_resolve(&s, &err), 0);
    assert_string_equal(class_of(&s, 0)->target.model, "new");
    assert_string_equal(class_of(&s, 1)->target.model, "m2");
    assert_true(class_of(&s, 1)->target.timeout_ns == 9000000000);
    settings_fini(&s);
}

/* Where the run has no target it is that of its first class. */
TEST(the_run_may_leave_targets_to_its_classes)
{
    struct settings s;

    must_resolve(&s, "load: {rate: 1}\n"
                     "classes: [{name: a, target: {url: 'http://h/a'}}, "
                     "{name: b, target: {url: 'http://h/b'}}]\n");
    assert_string_equal(settings_url(&s), "http://h/a");
    assert_string_equal(settings_url(class_of(&s, 1)), "http://h/b");
    settings_fini(&s);
}

#define HEAD "target: {url: 'http://h'}\nload: {rate: 1}\nclasses:\n"

static const struct {
    const char *text;
    const char *want; /* behind the file's path */
} refused[] = {
    {"classes: 5\n", ":1: classes: must be a list of classes"},
    {"classes: []\n", ":1: classes: must be a list of classes"},
    {"classes: [5]\n", ":1: classes: each element must be a map of key: value"},
    {"clases: []\n", ":1: unknown key 'clases'; did you mean 'classes'?"},
    {HEAD "  - weight: 2\n", ":4: classes: a class has no name"},
    {HEAD "  - name: 'a b'\n",
     ":4: name: must be a word of letters, digits and ._-"},
    {HEAD "  - name: a\n  - name: a\n",
     ":5: classes: two elements are named 'a'"},
    {HEAD "  - name: a\n    weight: 0\n", ":5: weight: must be above 0"},
    {HEAD "  - name: a\n    weight: -1\n",
     ":5: weight: '-1' is not valid; write a number from 0 up, such as 0.5"},
    {HEAD "  - name: a\n    wieght: 1\n",
     ":5: unknown key 'wieght' in a class, which can have name, weight, "
     "target, data, slo and checks; did you mean 'weight'?"},
    {HEAD "  - name: a\n    load: {rate: 5}\n",
     ":5: unknown key 'load' in a class, which can have name, weight, target, "
     "data, slo and checks"},
    {HEAD "  - name: a\n    target:\n      modle: m\n",
     ":6: unknown key 'modle' in target; did you mean 'model'?"},
    {HEAD "  - name: a\n    target:\n      timeout: 5s\n",
     ":6: timeout: cannot be set for a class, because classes share "
     "connections; set it in "
     "the target of the run"},
    {HEAD "  - name: a\n    slo: ['e2e p99']\n",
     ":5: slo[1]: 'e2e p99' is not an SLO term; write 'e2e p99 < 200ms', "
     "'errors < 0.1%', 'good >= 90%' or 'goodput >= 40/s'"},
    {HEAD "  - name: a\n    slo: ['e2e p99 < 1s']\n    data:\n"
          "      output: x\n",
     ":7: classes: a: data.output requires data.file (--data)"},
    {HEAD "  - name: a\n  - name: b\n    slo: ['itl p99 < 1s']\n",
     ":6: classes: b: slo: itl p99 < 1s: itl is measured over all requests; "
     "only the SLO of the run can use it"},
    {HEAD "  - name: a\n    data: {accuracy: true, file: x}\n",
     ":5: classes: a: data.accuracy cannot be combined with classes"},
    {"target: {url: 'http://h/v1/completions'}\n"
     "load: {rate: 1}\n"
     "data: {cache_check: true}\n"
     "classes: [{name: a}, {name: b}]\n",
     ":4: classes: a: data.cache_check cannot be combined with classes"},
    {"target: {url: 'http://h/v1/completions'}\n"
     "load: {rate: 1}\n"
     "classes:\n"
     "  - name: a\n"
     "  - name: b\n"
     "    data: {file: t.json, turns: session}\n",
     ":6: classes: b: data.turns: all classes must have sessions, or none; "
     "set data.turns or load.turns for the run"},
    {"target: {url: 'http://h/v1/completions'}\n"
     "load: {rate: 1, seeds: mlperf}\n"
     "classes:\n"
     "  - name: a\n"
     "    data: {file: t.json}\n",
     ":4: classes: a: load.seeds: mlperf with data.file cannot be combined "
     "with classes"},
    {"target: {url: 'http://h'}\n"
     "load: {rate: 1, stop: decided}\n"
     "slo: ['e2e p99 < 1s']\n"
     "classes: [{name: a, slo: ['e2e p50 < 1s']}]\n",
     ":2: load.stop: decided applies to the SLO of the run only, but the class "
     "a has its own"},
    {"target: {url: 'http://h'}\n"
     "load: {scenario: trace}\n"
     "trace: {file: t.csv}\n"
     "classes:\n"
     "  - name: a\n"
     "    data: {input_tokens: 5}\n",
     ":6: classes: a: data.input_tokens of a class cannot be combined with "
     "load.scenario: trace"},
    {"target: {url: 'http://h'}\n"
     "load: {rate: 1, warmup: 1s}\n"
     "warmup_data: {turns: session, file: c.json}\n",
     ":3: warmup_data: data.turns: session requires load.scenario: sessions; "
     "the scenario is server"},
    {"target: {url: 'http://h'}\n"
     "load: {rate: 1}\n"
     "data: {turns: session, file: c.json}\n"
     "classes:\n"
     "  - name: a\n"
     "    data: {turns: first}\n",
     ":6: classes: a: data.turns: all classes must have sessions, or none; "
     "set data.turns or load.turns for the run"},
    {"target: {url: 'http://h'}\n"
     "load: {rate: 1}\n"
     "classes: [{name: total}]\n",
     ":3: name: must be another word: reports use it for the total of all "
     "classes"},
    {"target: {url: 'http://h'}\n"
     "load: {rate: 1, stop: decided}\n"
     "classes: [{name: a, slo: ['e2e p50 < 1s']}]\n",
     ":2: load.stop: decided requires slo"},
    {"target: {url: 'http://h'}\n"
     "load: {rate: 1, warmup: 1s}\n"
     "warmup_data: {cache_check: true}\n",
     ":3: warmup_data: data.cache_check must also be set for the run"},
};

TEST(what_is_wrong_is_refused_with_its_line)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct settings s;
        struct err err = {0};
        char want[400];

        snprintf(want, sizeof(want), "%s%s", tmpdir_path("s.yaml"),
                 refused[i].want);
        assert_int_equal(resolve(&s, refused[i].text, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, want);
        settings_fini(&s);
    }
}

/* A manifest says it all. */
TEST(a_manifest_keeps_them)
{
    struct settings s;
    struct settings back;
    struct err err = {0};
    json_t *first;
    json_t *second;

    must_resolve(&s, workload);
    first = settings_to_json(&s);
    settings_init(&back);
    assert_int_equal(settings_from_json(&back, first, &err), 0);
    second = settings_to_json(&back);
    assert_true(json_equal(first, second));
    assert_int_equal(class_of(&back, 1)->target.api, API_OPENAI_EMBEDDINGS);
    for (int64_t key = 0; key < 100; key++)
        assert_int_equal(classes_draw(&s.classes, 4, key),
                         classes_draw(&back.classes, 4, key));
    json_object_set_new(first, "classes", json_pack("[{ss}]", "name", "a"));
    assert_int_equal(settings_from_json(&back, first, &err), -1);
    assert_int_equal(err.code, ERR_FORMAT);
    json_decref(first);
    json_decref(second);
    settings_fini(&s);
    settings_fini(&back);
}

/* A clone resolves to the same as the original, and shares nothing with it. */
TEST(a_clone_is_independent)
{
    struct settings s;
    struct settings clone;
    struct err err = {0};
    json_t *first;
    json_t *second;

    assert_int_equal(load(&s, workload, &err), 0);
    settings_clone(&clone, &s);
    assert_int_equal(settings_resolve(&s, &err), 0);
    assert_int_equal(settings_resolve(&clone, &err), 0);
    first = settings_to_json(&s);
    second = settings_to_json(&clone);
    assert_true(json_equal(first, second));
    json_decref(second);
    settings_fini(&clone);

    settings_clone(&clone, &s); /* also once it is resolved */
    settings_fini(&s);
    second = settings_to_json(&clone);
    assert_true(json_equal(first, second));
    for (size_t i = 0; i < clone.classes.len; i++) {
        const struct data_settings *data =
            &clone.classes.items[i].settings->data;

        assert_ptr_equal(data->workload, &clone.classes);
        assert_int_equal(data->class, i);
    }
    json_decref(first);
    json_decref(second);
    settings_fini(&clone);
}

TEST(a_copy_is_whole)
{
    struct settings s;
    struct settings copy;
    json_t *first;
    json_t *second;

    must_resolve(&s, workload);
    classes_fini(&s.classes);
    first = settings_to_json(&s);
    settings_init(&copy);
    settings_copy(&copy, &s);
    settings_fini(&s);
    second = settings_to_json(&copy);
    assert_true(json_equal(first, second));
    json_decref(first);
    json_decref(second);
    settings_fini(&copy);
}

/* Counts within 5 deviations of the binomial's: by chance one of four in
 * 400,000 seeds is not; the seeds are fixed. */
TEST(shares_are_those_of_the_weights)
{
    const int64_t n = 100000;
    struct settings s;

    must_resolve(&s, HEAD "  - {name: a, weight: 0.5}\n"
                          "  - {name: b}\n"
                          "  - {name: c, weight: 98.5}\n");
    for (uint64_t seed = 1; seed < 4; seed++) {
        int64_t seen[3] = {0};

        for (int64_t key = 0; key < n; key++)
            seen[classes_draw(&s.classes, seed, key)]++;
        for (size_t i = 0; i < 3; i++) {
            double share = classes_share(&s.classes, i);
            double margin = 5 * sqrt((double)n * share * (1 - share));

            assert_true(fabs((double)seen[i] - (double)n * share) < margin);
        }
    }
    settings_fini(&s);
}

/* Whether one is of a class says nothing of the next: pairs come as often as
 * two tosses make them. */
TEST(draws_are_independent)
{
    const int64_t n = 100000;
    int64_t pairs = 0;
    struct settings s;

    must_resolve(&s, HEAD "  - {name: a, weight: 3}\n"
                          "  - {name: b, weight: 7}\n");
    for (int64_t key = 0; key < n; key++)
        pairs += classes_draw(&s.classes, 1, 2 * key) == 0 &&
                 classes_draw(&s.classes, 1, 2 * key + 1) == 0;
    assert_true(fabs((double)pairs - (double)n * 0.09) <
                5 * sqrt((double)n * 0.09 * 0.91));
    settings_fini(&s);
}

/* Good is who keeps the limits of his class and those of the run. */
TEST(limits_of_both_count)
{
    const struct facts f[] = {{.class = 0}, {.class = 1}, {.class = 7}};
    struct good_table table;
    struct slo slo;
    struct settings s;
    struct err err = {0};

    must_resolve(&s, "target: {url: 'http://h'}\n"
                     "load: {rate: 1}\n"
                     "slo: ['e2e p99 < 100ms']\n"
                     "classes:\n"
                     "  - {name: a, slo: ['e2e p50 < 200ms']}\n"
                     "  - {name: b, slo: ['e2e p50 < 50ms', 'ttfb:7']}\n");
    assert_int_equal(slo_parse(&s.slo, &slo, &err), 0);
    assert_int_equal(good_table_init(&table, &slo, &s.classes, &err), 0);
    assert_int_equal(good_limits_of(&table, &f[0])[MEASURE_E2E], 100000000);
    assert_int_equal(good_limits_of(&table, &f[1])[MEASURE_E2E], 50000000);
    assert_int_equal(good_limits_of(&table, &f[1])[MEASURE_TTFB], 7000000);
    assert_int_equal(good_limits_of(&table, &f[2])[MEASURE_E2E], 100000000);
    good_table_fini(&table);
    settings_fini(&s);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
