#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/wire/api_names.h"
#include "tests/support/settingstext.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static int parse_flags(struct settings *s, const char *const *argv,
                       struct err *err)
{
    struct opt_set sets[BLOCK_STUB];
    struct strlist words = {0};
    int rc;

    for (int b = 0; b < BLOCK_STUB; b++)
        sets[b] = settings_set(s, (enum settings_block)b);
    rc = opt_parse_argv(sets, BLOCK_STUB, argv, &words, err);
    strlist_fini(&words);
    return rc;
}

TEST(a_whole_file_is_read)
{
    struct settings s;

    settings_init(&s);
    must_load(&s, "name: chat\n"
                  "target:\n"
                  "  url: http://h:1/p\n"
                  "  method: PUT\n"
                  "  headers: {x-team: search, x: 'a: b'}\n"
                  "  body: '@f'\n"
                  "  timeout: 1.5s\n"
                  "  request_id: true\n"
                  "  metrics: off\n"
                  "load: {scenario: server, arrival: constant, rate: 50/s,\n"
                  "       duration: 1m, warmup: 5s, requests: 1k, seed: 9}\n"
                  "slo: [e2e p99 < 200ms, errors < 0.1%]\n"
                  "client: {connections: 8}\n"
                  "conditions: {hardware: 1xL4}\n"
                  "stub: {port: 80, service: fixed 2ms, body_size: 1k}\n");
    assert_string_equal(s.name, "chat");
    assert_string_equal(settings_url(&s), "http://h:1/p");
    assert_string_equal(s.target.method, "PUT");
    assert_string_equal(strmap_get(&s.target.headers, "x"), "a: b");
    assert_int_equal(s.target.timeout_ns, 1500 * NS_PER_MS);
    assert_true(s.target.request_id);
    assert_string_equal(s.target.metrics, "off");
    assert_int_equal(s.load.scenario, SCENARIO_SERVER);
    assert_string_equal(arrival_names[s.load.arrival], "constant");
    assert_true(s.load.rate_rps == 50);
    assert_int_equal(s.load.duration_ns, 60 * NS_PER_S);
    assert_int_equal(s.load.requests, 1000);
    assert_int_equal(s.load.seed, 9);
    assert_int_equal(s.slo.len, 2);
    assert_string_equal(s.slo.items[1], "errors < 0.1%");
    assert_int_equal(s.client.connections, 8);
    assert_string_equal(strmap_get(&s.conditions, "hardware"), "1xL4");
    assert_int_equal(s.stub.port, 80);
    assert_int_equal(s.stub.body_bytes, 1024);
    settings_fini(&s);
    settings_fini(&s);
}

#define RATE     " is not a rate; write 50, 0.5 or 2/m (above 0)"
#define DURATION " is not a duration; write 500ms, 2s or 1h30m"

static const struct {
    const char *text;
    const char *want; /* after the path */
} refused[] = {
    {"lod: {}\n", ":1: unknown key 'lod'; did you mean 'load'?"},
    {"nam: x\n", ":1: unknown key 'nam'; did you mean 'name'?"},
    {"\nload:\n  rat: 5\n",
     ":3: unknown key 'rat' in load; did you mean 'rate'?"},
    {"load:\n  url: x\n",
     ":2: unknown key 'url' in load; did you mean 'target.url'?"},
    {"data: {input_len: 5}\n",
     ":1: unknown key 'input_len' in data; did you mean 'data.input_tokens'?"},
    {"load: {cacert: x}\n",
     ":1: unknown key 'cacert' in load; did you mean 'target.ca_file'?"},
    {"label: {a: b}\n", ":1: unknown key 'label'; did you mean 'conditions'?"},
    {"rate: 5\n", ":1: unknown key 'rate'; did you mean 'load.rate'?"},
    {"zzzzzz: 1\n", ":1: unknown key 'zzzzzz'"},
    {"load:\n  rate: 5x\n", ":2: rate: '5x'" RATE},
    {"load: {rate: -5}\n", ":1: rate: '-5'" RATE},
    {"load: {rate: 0}\n", ":1: rate: '0'" RATE},
    {"load:\n  rate:\n", ":2: rate: ''" RATE},
    {"load: {duration: 5}\n", ":1: duration: '5'" DURATION},
    {"load:\n  rate: 5\n  duration: -5s\n", ":3: duration: '-5s'" DURATION},
    {"load: {rate: [5]}\n",
     ":1: rate: must be one value, not a list or a block"},
    {"load: {rate: {a: 5}}\n",
     ":1: rate: must be one value, not a list or a block"},
    {"load: 5\n", ":1: load: must be a map of key: value"},
    {"load:\n", ":1: load: must be a map of key: value"},
    {"load: [rate]\n", ":1: load: must be a map of key: value"},
    {"name: [x]\n", ":1: name: must be one value, not a list or a block"},
    {"slo: {e2e: 5}\n", ":1: slo: must be a list"},
    {"slo:\n- errors < 1%\n- [x]\n",
     ":3: slo[2]: must be one value, not a list or a block"},
    {"slo:\n- errors < 1%\n- e2e p99 > 1s\n",
     ":3: slo[2]: SLO on e2e: write '<', not '>'"},
    {"slo: e2e p99 < 5\n", ":1: slo: SLO on e2e: '5'" DURATION},
    {"conditions: x\n", ":1: conditions: must be a map of key: value"},
    {"conditions:\n  a: [1]\n",
     ":2: a: must be one value, not a list or a block"},
    {"conditions:\n  a=b: 1\n", ":2: a=b: must be a key without separators"},
    {"target: {url: ftp://h/}\n",
     ":1: url: 'ftp://h/': the scheme 'ftp' is not supported; write http://, "
     "https://, grpc://, grpcs:// or null://"},
    {"load: {samples_per_query: 32769}\n",
     ":1: samples_per_query: '32769' is above the maximum of 32768"},
    {"target: {metrics: on}\n", ":1: metrics: 'on' is not auto, off or a URL"},
    {"target: {metrics: null://}\n",
     ":1: metrics: 'null://' is not auto, off or a URL"},
    {"target: {metrics: ftp://h/}\n",
     ":1: metrics: 'ftp://h/': the scheme 'ftp' is not supported; write "
     "http://, https://, grpc://, grpcs:// or null://"},
    {"target: {request_id: yes}\n",
     ":1: request_id: 'yes' is neither true nor false"},
    {"load: {arrival: poison}\n",
     ":1: arrival: 'poison' is not one of: poisson, constant, gamma; did you "
     "mean 'poisson'?"},
    {"load: {scenario: online}\n",
     ":1: scenario: 'online' is not one of: auto, server, closed, "
     "single-stream, multi-stream, offline, trace, sessions; did you mean "
     "'offline'?"},
    {"load: {seed: -1}\n",
     ":1: seed: '-1' is not a seed; write a whole number, 0 or more"},
    {"stub: {port: 70000}\n", ":1: port: '70000' is not a port (0 to 65535)"},
    {"stub: {service: slow}\n",
     ":1: service: 'slow' is not a distribution; write 'none', 'fixed 2ms', "
     "'uniform 1ms 3ms' (minimum, maximum), 'exponential 2ms', 'normal 20ms "
     "5ms', "
     "'lognormal 20ms 5ms' (mean, deviation) or 'empirical "
     "0:1ms 50:2ms 100:9ms'; or 'batch 5ms 1ms' (base, per item), or 'llm'"},
    {"load:\n  rate: 5\n  rate: 6\n",
     ":3: duplicate key 'rate', first on line 2"},
    {"name: \"two\nlines\"\nload: {rate: \"a\\nb\"}\n", ":3: rate: 'a?b'" RATE},
};

/* As used, it says whether a stream was asked for. */
TEST(what_is_asked_for_is_a_stream)
{
    static const struct {
        const char *path;
        const char *body;
        int stream;
    } cases[] = {
        {"/v1/chat/completions", NULL, STREAM_ON},
        {"/v1/chat/completions", "{}", STREAM_AUTO},
        {"/v1/embeddings", NULL, STREAM_AUTO},
        {"/v2/models/m/generate", NULL, STREAM_OFF},
        {"/", NULL, STREAM_AUTO},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct settings s;
        struct err err = {0};
        char url[64];

        snprintf(url, sizeof(url), "target.url=http://h%s", cases[i].path);
        settings_init(&s);
        must_assign(&s, url);
        must_assign(&s, "load.rate=1");
        if (cases[i].body)
            must_assign(&s, "target.body={}");
        assert_int_equal(settings_resolve(&s, &err), 0);
        assert_int_equal(s.target.stream, cases[i].stream);
        settings_fini(&s);
    }
}

/* Nothing is cut off, however many there are to choose from. */
TEST(every_choice_is_named)
{
    struct settings s;
    struct err err = {0};
    struct buf help;

    settings_init(&s);
    buf_init(&help, 1 << 16);
    opt_print_keys(&block_target, &help);
    assert_int_equal(settings_assign(&s, "target.api=opneai", &err), -1);
    for (int i = API_AUTO; i < API_COUNT; i++) {
        assert_non_null(strstr(err.msg, api_names[i]));
        assert_non_null(strstr(buf_text(&help), api_names[i]));
    }
    assert_non_null(strstr(err.msg, "; did you mean 'openai-chat'?"));
    buf_fini(&help);
    settings_fini(&s);
}

TEST(wrong_files_are_refused_with_their_line)
{
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct settings s;
        struct err err = {0};
        char want[400];

        snprintf(want, sizeof(want), "%s%s", tmpdir_path("s.yaml"),
                 refused[i].want);
        settings_init(&s);
        assert_int_equal(load_text(&s, refused[i].text, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, want);
        settings_fini(&s);
    }
}

/* Default, then the file, then --set and flags in the order they are given. */
TEST(later_sources_win)
{
    static const char *const argv[] = {"--rate",  "80",           "-H",
                                       "b: 22",   "--slo",        "errors < 5%",
                                       "--label", "hardware=cpu", NULL};
    struct settings s;
    struct err err = {0};

    settings_init(&s);
    assert_int_equal(s.load.seed, 1);
    must_load(&s, "load: {rate: 50, seed: 2, duration: 5s}\n"
                  "target: {headers: {a: 1, b: 2}}\n"
                  "slo: [e2e p99 < 1s, e2e p50 < 1s]\n"
                  "conditions: {hardware: gpu, precision: fp16}\n");
    must_assign(&s, "load.seed=3");
    must_assign(&s, "load.rate=70");
    assert_true(s.load.rate_rps == 70);
    assert_int_equal(parse_flags(&s, argv, &err), 0);
    assert_true(s.load.rate_rps == 80);
    assert_int_equal(s.load.seed, 3);
    assert_int_equal(s.load.duration_ns, 5 * NS_PER_S);
    assert_string_equal(strmap_get(&s.target.headers, "a"), "1");
    assert_string_equal(strmap_get(&s.target.headers, "b"), "22");
    assert_int_equal(s.slo.len, 1);
    assert_string_equal(s.slo.items[0], "errors < 5%");
    assert_string_equal(strmap_get(&s.conditions, "hardware"), "cpu");
    assert_string_equal(strmap_get(&s.conditions, "precision"), "fp16");
    settings_fini(&s);
}

/* A second file replaces lists and merges maps, like flags. */
TEST(a_second_file_goes_over_the_first)
{
    struct settings s;

    settings_init(&s);
    must_load(&s, "slo: [e2e p99 < 1s]\nconditions: {a: 1, b: 2}\n");
    must_load(&s, "slo: errors < 1%\nconditions: {b: 3}\n");
    assert_int_equal(s.slo.len, 1);
    assert_string_equal(s.slo.items[0], "errors < 1%");
    assert_string_equal(strmap_get(&s.conditions, "a"), "1");
    assert_string_equal(strmap_get(&s.conditions, "b"), "3");
    settings_fini(&s);
}

TEST(assignments_reach_every_kind)
{
    struct settings s;

    settings_init(&s);
    must_assign(&s, "name=a=b");
    must_assign(&s, "slo=errors < 1%");
    must_assign(&s, "slo=errors < 2%");
    must_assign(&s, "conditions=a=1");
    must_assign(&s, "conditions=b=2");
    must_assign(&s, "target.headers=x-y: z");
    must_assign(&s, "target.request_id=true");
    must_assign(&s, "stub.service=exponential 1ms");
    assert_string_equal(s.name, "a=b");
    assert_int_equal(s.slo.len, 1);
    assert_string_equal(s.slo.items[0], "errors < 2%");
    assert_string_equal(strmap_get(&s.conditions, "a"), "1");
    assert_string_equal(strmap_get(&s.conditions, "b"), "2");
    assert_string_equal(strmap_get(&s.target.headers, "x-y"), "z");
    assert_true(s.target.request_id);
    settings_fini(&s);
}

TEST(wrong_assignments_are_refused)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"", "'': write block.key=value"},
        {"load.rate", "'load.rate': write block.key=value"},
        {"lod.rate=5", "'lod.rate': there is no block 'lod'"},
        {".rate=5", "'.rate': there is no block ''"},
        {"load.rat=5", "load.rat: unknown key 'rat' in load; did you "
                       "mean 'rate'?"},
        {"rate=5", "rate: unknown key 'rate'; did you mean 'load.rate'?"},
        {"=5", ": unknown key ''"},
        {"load.rate=x", "load.rate: 'x'" RATE},
        {"load.=x", "load.: unknown key '' in load"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct settings s;
        struct err err = {0};

        settings_init(&s);
        assert_int_equal(settings_assign(&s, cases[i].text, &err), -1);
        assert_true(err.code == ERR_USAGE || err.code == ERR_CONFIG);
        assert_string_equal(err.msg, cases[i].want);
        settings_fini(&s);
    }
}

/* ---- what follows from the rest ---- */

static const struct {
    const char *text;
    const char *want;
} contradictions[] = {
    {"load: {rate: 5}",
     "target.url is missing: give a URL, or a settings file that has one"},
    {"target: {url: http://h}",
     "load: neither a rate (--rate) nor a number of clients (-c) is given"},
    {"target: {url: http://h}\nload: {scenario: server}",
     "load.scenario: server requires load.rate (--rate)"},
    {"target: {url: http://h}\nload: {scenario: closed, rate: 5}",
     "load.rate requires load.scenario: server or sessions, not closed"},
    {"target: {url: http://h}\nload: {scenario: closed}",
     "load: neither a rate (--rate) nor a number of clients (-c) is given"},
    {"target: {url: http://h}\nload: {rate: 5, clients: 2}",
     "load.clients requires load.scenario: closed; with load.rate the scenario "
     "is server"},
    {"target: {url: http://h}\nload: {clients: 5, exact: true}",
     "load.exact requires load.scenario: server or sessions; without load.rate "
     "the scenario is closed"},
    {"target: {url: http://h}\nload: {rate: 5, cv: 2}",
     "load.cv requires load.arrival: gamma"},
    {"target: {url: http://h}\nload: {rate: 5, exact: true, requests: 9, "
     "duration: 1s}",
     "load.exact cannot be combined with load.requests"},
    {"target: {url: http://h}\nload: {rate: 5}\ndata: {limit: 5}",
     "data.limit requires data.file (--data)"},
    {"target: {url: http://h}\nload: {rate: 5}\ndata: {accuracy: true}",
     "data.accuracy requires data.file (--data)"},
    {"target: {url: http://h}\ndata: {file: y}\ntrace: {file: x}",
     "data.file cannot be combined with load.scenario: trace; with trace.file "
     "the scenario is trace"},
    {"target: {url: http://h}\ndata: {cache_hit_rate: 10%}\n"
     "trace: {file: x}",
     "data.cache_hit_rate cannot be combined with load.scenario: trace; with "
     "trace.file the scenario is trace"},
    {"target: {url: http://h}\nload: {rate: 5, warmup: 1s}\n"
     "data: {file: y, accuracy: true}",
     "data.accuracy cannot be combined with load.warmup"},
    {"target: {url: http://h}\nload: {rate: 5}\n"
     "data: {file: y, accuracy: true, select: replacement}",
     "data.accuracy cannot be combined with data.select: replacement"},
    {"target: {url: http://h}\nload: {scenario: trace}",
     "load.scenario: trace requires trace.file (--trace)"},
    {"target: {url: http://h}\nload: {scenario: server, rate: 5}\n"
     "trace: {file: x}",
     "trace.file requires load.scenario: trace, not server"},
    {"target: {url: http://h}\nload: {rate: 5}\ntrace: {file: x}",
     "load.rate requires load.scenario: server or sessions; with trace.file "
     "the scenario is trace"},
    {"target: {url: http://h}\nload: {exact: true}\ntrace: {file: x}",
     "load.exact requires load.scenario: server or sessions; with trace.file "
     "the scenario is trace"},
    {"target: {url: http://h}\nload: {rate: 5}\ntrace: {spread: 3s}",
     "trace.spread requires trace.file (--trace)"},
    {"target: {url: http://h}\nload: {clients: 5}\ntrace: {input: n}",
     "trace.input requires trace.file (--trace)"},
    {"target: {url: http://h}\n"
     "trace: {file: x, format: azure, output: n}",
     "trace.output requires trace.format: auto, csv or jsonl"},
    {"target: {url: http://h}\ntrace: {file: x, from: 2h, to: 1h}",
     "trace.to is not after trace.from"},
    {"target: {url: http://h}\nload: {rate: 5}\n"
     "slo: ['gold: errors < 1%', 'gold: errors < 2%']",
     "slo: 'gold: errors < 1%' and 'gold: errors < 2%': a tier can have only "
     "one of them"},
    {"target: {url: http://h, no_keepalive: true}\nload: {rate: 5}\n"
     "client: {preconnect: 2}",
     "client.preconnect cannot be combined with target.no_keepalive"},
};

TEST(contradictions_are_refused)
{
    for (size_t i = 0; i < COUNT(contradictions); i++) {
        struct settings s;
        struct err err = {0};

        settings_init(&s);
        must_load(&s, contradictions[i].text);
        assert_int_equal(settings_resolve(&s, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, contradictions[i].want);
        settings_fini(&s);
    }
}

/* A study resolves its settings before each recording. */
TEST(files_are_read_once)
{
    static const char prices[] = "machine,usd_per_hour\nL4,2\n";
    struct strmap texts = {0};
    struct settings asked;
    struct err err = {0};
    char *table = xstrdup(tmpdir_write("t.csv", "0,10\n1,10\n", 10));
    char *priced = xstrdup(tmpdir_write("p.csv", prices, strlen(prices)));

    settings_init(&asked);
    asked.texts = &texts;
    must_assign(&asked, "target.url=http://h");
    must_assign(&asked, "cost.machine=L4");
    asked.load.rate_table = xstrdup(table);
    asked.cost.prices = xstrdup(priced);
    for (int i = 0; i < 2; i++) {
        struct settings s;

        settings_clone(&s, &asked);
        assert_int_equal(settings_look_up_price(&s, &err), 0);
        assert_int_equal(settings_resolve(&s, &err), 0);
        assert_true(s.cost.usd_per_hour == 2 && s.load.rate_rps == 10);
        settings_fini(&s);
        unlink(table);
        unlink(priced);
    }
    settings_fini(&asked);
    strmap_fini(&texts);
    settings_init(&asked);
    must_assign(&asked, "target.url=http://h");
    asked.load.rate_table = table;
    assert_int_equal(settings_resolve(&asked, &err), -1);
    assert_non_null(strstr(err.msg, "load.rate_table: "));
    settings_fini(&asked);
    free(priced);
}

TEST(the_rest_follows)
{
    static const struct {
        const char *text;
        int scenario;
        int64_t clients;
        int64_t duration_ns;
        const char *method;
    } cases[] = {
        {"load: {rate: 5}", SCENARIO_SERVER, 0, 10 * NS_PER_S, "GET"},
        {"load: {rate: 5, requests: 3}", SCENARIO_SERVER, 0, 0, "GET"},
        {"load: {rate: 5, duration: 1s}\nclient: {connections: 4}",
         SCENARIO_SERVER, 0, NS_PER_S, "GET"},
        {"client: {connections: 4}", SCENARIO_CLOSED, 4, 10 * NS_PER_S, "GET"},
        {"load: {clients: 2}\nclient: {connections: 4}", SCENARIO_CLOSED, 2,
         10 * NS_PER_S, "GET"},
        {"load: {scenario: closed, clients: 2, think: fixed 1s}",
         SCENARIO_CLOSED, 2, 10 * NS_PER_S, "GET"},
        {"load: {rate: 5, max_duration: 3s}", SCENARIO_SERVER, 0, 0, "GET"},
        {"load: {rate: 5, min_duration: 3s}", SCENARIO_SERVER, 0, 0, "GET"},
        {"load: {rate: 5, min_requests: 3}", SCENARIO_SERVER, 0, 0, "GET"},
        {"load: {scenario: single-stream}\nclient: {connections: 4}",
         SCENARIO_SINGLE_STREAM, 1, 10 * NS_PER_S, "GET"},
        {"load: {scenario: multi-stream, clients: 1}", SCENARIO_MULTI_STREAM, 1,
         10 * NS_PER_S, "GET"},
        {"load: {scenario: offline, requests: 5, max_duration: 1s}",
         SCENARIO_OFFLINE, 1, 0, "GET"},
        {"trace: {file: x, spread: 3s}", SCENARIO_TRACE, 0, 0, "GET"},
        {"load: {rate: 5}\ntarget: {body: x}", SCENARIO_SERVER, 0,
         10 * NS_PER_S, "POST"},
        {"load: {rate: 5}\ntarget: {body: x, method: PUT}", SCENARIO_SERVER, 0,
         10 * NS_PER_S, "PUT"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct settings s;
        struct err err = {0};

        settings_init(&s);
        must_load(&s, cases[i].text);
        must_assign(&s, "target.url=http://h");
        assert_int_equal(settings_resolve(&s, &err), 0);
        assert_int_equal(s.load.scenario, cases[i].scenario);
        assert_int_equal(s.load.clients, cases[i].clients);
        assert_int_equal(s.load.duration_ns, cases[i].duration_ns);
        assert_string_equal(s.target.method, cases[i].method);
        assert_string_equal(s.name, "run");
        settings_fini(&s);
    }
}

/* ---- the tables ---- */

static bool has_name(const struct opt *opt, const char *name, size_t len)
{
    for (size_t i = 0; opt->names[i]; i++) {
        if (strlen(opt->names[i]) == len &&
            strncmp(opt->names[i], name, len) == 0)
            return true;
    }
    return false;
}

/* "data.file", "load.arrival: gamma": is there such an option, with a value of
 * that name if it is a choice? */
static void check_condition(const char *text)
{
    size_t len = strcspn(text, ":");
    enum settings_block block;
    const struct opt *opt = settings_find(text, len, &block);

    if (strcmp(text, "stub") == 0 || strcmp(text, "classes") == 0)
        return;
    if (!opt)
        fail_msg("no option '%s'", text);
    for (text += len; opt->names && *text; text += strcspn(text, "|")) {
        text += strspn(text, ": |");
        if (!has_name(opt, text, strcspn(text, "|")))
            fail_msg("no value '%s'", text);
    }
}

static void check_conditions(const char *list)
{
    char *copy = xstrdup(list ? list : "");
    char *rest = copy;
    char *one;

    while ((one = strsep(&rest, ",")) && *one)
        check_condition(one + strspn(one, " "));
    free(copy);
}

TEST(constraints_name_options)
{
    for (int b = 0; b < BLOCK_COUNT; b++) {
        for (size_t i = 0; i < settings_blocks[b]->len; i++) {
            check_conditions(settings_blocks[b]->opts[i].requires);
            check_conditions(settings_blocks[b]->opts[i].conflicts);
        }
    }
}

/* A flag by its name, a key of the file by its key and line, and what was not
 * given like the setting that the message is about. */
TEST(settings_are_named_as_given)
{
    static const struct {
        const char *file; /* NULL: there is none */
        const char *key;  /* that the command line has set, ... */
        const char *how;  /* ... by this flag, or by --set */
        const char *message;
        const char *want; /* "%s" is the file */
    } cases[] = {
        {NULL, "load.rate", "--rate",
         "load.rate requires load.scenario: server or sessions, not offline",
         "--rate requires --scenario server or sessions, not offline"},
        {NULL, "load.rate", "load.rate",
         "load.clients requires load.scenario: closed; with load.rate the "
         "scenario is server",
         "--clients requires --scenario closed; with load.rate the scenario is "
         "server"},
        {NULL, "data.limit", "--data-limit",
         "data.limit requires data.file (--data)",
         "--data-limit requires --data"},
        {NULL, "load.stop", "--stop", "load.stop: decided requires slo",
         "--stop decided requires --slo"},
        {NULL, "x", "x", "data.file: /no: No such file or directory",
         "--data: /no: No such file or directory"},
        {NULL, "x", "x", "load: neither a rate (--rate) is given",
         "load: neither a rate (--rate) is given"},
        {"load:\n  scenario: offline\n", "load.rate", "--rate",
         "load.rate requires load.scenario: server or sessions, not offline",
         "--rate requires load.scenario: server or sessions, not offline "
         "(%s:2)"},
        {"load:\n  rate: 5\n", "load.scenario", "--scenario",
         "load.rate cannot be combined with load.scenario: offline",
         "%s:2: load.rate cannot be combined with --scenario offline"},
        {"load: {}\ntarget:\n  cert: c\n", "x", "x",
         "target.cert requires target.key",
         "%s:3: target.cert requires target.key"},
        {"load: {}\n", "target.cert", "--cert",
         "target.cert requires target.key", "--cert requires --key"},
        {"classes:\n  - {name: a, data: {file: x}}\n", "data.file", "--data",
         "classes: a: data.file: is empty",
         "%s:2: classes: a: data.file: is empty"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct settings_file file = {0};
        struct err err = {0};
        const char *path = NULL;
        char *want;

        if (cases[i].file) {
            path = tmpdir_write("s.yaml", cases[i].file, strlen(cases[i].file));
            assert_int_equal(settings_file_read(&file, path, &err), 0);
        }
        strmap_put(&file.given, cases[i].key, cases[i].how);
        err_set(&err, ERR_CONFIG, "%s", cases[i].message);
        settings_blame(&file, &err);
        want = str_replace(cases[i].want, "%s", path ? path : "");
        assert_string_equal(err.msg, want);
        free(want);
        settings_file_fini(&file);
    }
}

/* Old names are accepted everywhere; a manifest keeps them. */
TEST(old_names_are_accepted)
{
    static const char *const argv[] = {"--least", "4", "--max", "9", NULL};
    struct settings s;
    struct err err = {0};
    struct strlist words = {0};
    struct opt_set set;
    struct settings_file file;
    json_t *json;

    settings_init(&s);
    set = settings_set(&s, BLOCK_SEARCH);
    must_load(&s, "search: {least: 2, most: 8}\nstub: {awake: true}\n");
    assert_true(s.search.least == 2 && s.search.most == 8 && s.stub.awake);
    assert_int_equal(settings_assign(&s, "search.least=3", &err), 0);
    assert_true(s.search.least == 3);
    assert_int_equal(settings_assign(&s, "search.min=5", &err), 0);
    assert_true(s.search.least == 5);
    assert_int_equal(opt_parse_argv(&set, 1, argv, &words, &err), 0);
    assert_true(s.search.least == 4 && s.search.most == 9);
    json = settings_block_to_json(&s, BLOCK_SEARCH);
    assert_string_equal(json_string_value(json_object_get(json, "least")), "4");
    assert_null(json_object_get(json, "min"));
    json_decref(json);
    assert_int_equal(settings_file_read(&file, tmpdir_path("s.yaml"), &err), 0);
    assert_int_equal(settings_line_of(&file, "search.max", NULL), 1);
    settings_file_fini(&file);
    settings_fini(&s);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
