/* The server's own metrics during a run: of every server that we know, of one
 * that has none, and of one that misbehaves. */
#include <arpa/inet.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "common/text/json.h"
#include "tests/support/keep.h"
#include "tests/support/loopback.h"
#include "tests/support/metricsserver.h"
#include "tests/support/proc.h"
#include "tests/support/rawserver.h"
#include "tests/support/table.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static const char good_page[] = "vllm:num_requests_running 1\n"
                                "vllm:num_requests_waiting 0\n";

static char *path_in(const char *dir, const char *name)
{
    return keepf("%s/%s", dir, name);
}

static bool has_file(const char *dir, const char *name)
{
    char *path = path_in(dir, name);
    struct stat st;
    bool is_there = stat(path, &st) == 0;

    return is_there;
}

static struct server_scrape *looks_in(const char *dir, size_t *n)
{
    char *path = path_in(dir, "server.tgr");
    struct server_scrape *looks = table_read(path, &schema_server, n);

    return looks;
}

static json_t *load(const char *dir, const char *name)
{
    char *path = path_in(dir, name);
    struct err err = {0};
    json_t *json = NULL;

    assert_int_equal(json_read_file(path, &json, &err), 0);
    return json;
}

/* As the manifest has it. */
static void assert_flavour(const char *dir, const char *dialect)
{
    json_t *manifest = load(dir, "manifest.json");
    const json_t *server = json_object_get(manifest, "server");

    assert_string_equal(json_string_value(json_object_get(server, "flavour")),
                        dialect);
    json_decref(manifest);
}

/* ---- servers that tell ---- */

#define LOOK_TIMEOUT (900 * NS_PER_MS)

/* Looks of a run, but for those that a busy machine made too late. */
static struct server_scrape *good_looks_in(const char *dir, size_t *n)
{
    struct server_scrape *looks = looks_in(dir, n);
    size_t good = 0;

    for (size_t i = 0; i < *n; i++) {
        if (!looks[i].is_failed)
            looks[good++] = looks[i];
        else
            assert_true(looks[i].took >= LOOK_TIMEOUT);
    }
    *n = good;
    return looks;
}

/* Let it run until its looks tell enough, and no longer. */
static struct proc_result
end_when(struct proc *run, const char *dir,
         bool (*is_enough)(const struct server_scrape *looks, size_t n))
{
    bool has_enough = false;
    struct proc_result r;

    wait_for_table(dir, "server.tgr", &schema_server);
    for (int tries = 0; !has_enough && tries < 2000; tries++) {
        size_t n;
        struct server_scrape *looks = good_looks_in(dir, &n);

        has_enough = n >= 2 && is_enough(looks, n);
        if (!has_enough)
            clk_sleep_ns(10 * NS_PER_MS);
    }
    assert_true(has_enough);
    assert_int_equal(kill(run->pid, SIGINT), 0);
    r = proc_wait(run);
    proc_expect(&r, 128 + SIGINT);
    return r;
}

/* More than it can serve: the queue grows, and the waits with it. */
static bool shows_queue(const struct server_scrape *looks, size_t n)
{
    return looks[n - 1].waiting > 20 &&
           looks[n - 1].queue_count > looks[0].queue_count &&
           looks[n - 1].queue_sum_us > looks[0].queue_sum_us;
}

static void assert_queue(const char *dir, bool tells_running)
{
    size_t n;
    struct server_scrape *looks = good_looks_in(dir, &n);

    for (size_t i = 0; i < n; i++) {
        assert_true(looks[i].took > 0);
        assert_true(i == 0 || looks[i].at > looks[i - 1].at);
        if (!tells_running)
            assert_true(looks[i].running == TIME_ABSENT);
    }
}

/* The same as the report has it. */
static void assert_reported(const struct proc_result *r, const char *dir,
                            const char *dialect, bool tells_running)
{
    json_t *summary = load_summary(dir);
    char *said = keepf("\nserver     metrics of %s, %s", dialect,
                       tells_running ? "running " : "waiting ");

    assert_non_null(strstr(r->out, said));
    assert_true(number_at(summary, "server.looks") >= 2);
    assert_true(number_at(summary, "server.waiting_max") > 5);
    assert_true(number_at(summary, "server.queue_mean_ms") > 0);
    assert_true(number_at(summary, "server.client_in_flight_mean") > 5);
    if (tells_running) {
        assert_true(number_at(summary, "server.running_max") == 1);
        assert_true(number_at(summary, "server.in_flight_mean") > 1);
    }
}

TEST(every_style_shows_the_queue)
{
    static const struct {
        const char *style;
        const char *dialect;
    } cases[] = {{"own", "stub"},
                 {"vllm", "vllm"},
                 {"sglang", "sglang"},
                 {"tgi", "tgi"},
                 {"triton", "triton"}};
    struct proc stubs[COUNT(cases)];
    struct proc runs[COUNT(cases)];
    char *urls[COUNT(cases)];

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *url;

        stubs[i] = stub_start(ARGS("stub", "--service", "fixed 25ms",
                                   "--metrics-style", cases[i].style),
                              &urls[i]);
        url = keepf("%s/v1/embeddings", urls[i]);
        runs[i] =
            proc_start(ARGS("run", "-v", url, "--rate", "60", "--duration",
                            "1h", "-o", tmpdir_path(cases[i].style)));
    }
    for (size_t i = 0; i < COUNT(cases); i++) {
        bool tells_running = strcmp(cases[i].style, "triton") != 0;
        char *said =
            keepf("server     metrics of %s at %s", cases[i].dialect, urls[i]);
        char *dir = tmpdir_path(cases[i].style);
        struct proc_result r = end_when(&runs[i], dir, shows_queue);

        assert_non_null(strstr(r.err, said));
        assert_flavour(dir, cases[i].dialect);
        assert_queue(dir, tells_running);
        assert_reported(&r, dir, cases[i].dialect, tells_running);
        stub_stop(&stubs[i]);
        free(urls[i]);
    }
}

static bool shows_tokens_and_cache(const struct server_scrape *looks, size_t n)
{
    int64_t most = 0;

    for (size_t i = 0; i < n; i++) {
        if (looks[i].cache_use > most)
            most = looks[i].cache_use;
    }
    assert_true(most <= 1000000);
    return most > 0 &&
           looks[n - 1].generated_tokens > looks[0].generated_tokens &&
           looks[n - 1].prompt_tokens > looks[0].prompt_tokens;
}

TEST(a_language_model_tells_tokens_and_cache)
{
    char *dir = tmpdir_path("llm");
    struct proc_result r;
    struct proc stub;
    struct proc run;
    char *chat;
    char *url;

    stub =
        stub_start(ARGS("stub", "--service", "llm", "--batching", "continuous",
                        "--kv-tokens", "10000", "--metrics-style", "vllm"),
                   &url);
    chat = keepf("%s/v1/chat/completions", url);
    run = proc_start(ARGS("run", "-v", chat, "--rate", "30", "--duration", "1h",
                          "--input-len", "200", "--output-len", "20", "-q",
                          "-o", dir));
    r = end_when(&run, dir, shows_tokens_and_cache);
    assert_non_null(strstr(r.out, "output tokens "));
    stub_stop(&stub);
}

/* ---- servers that do not ---- */

TEST(without_metrics_there_is_no_view)
{
    static const char absent[] = "HTTP/1.1 404 Not Found\r\n"
                                 "Content-Length: 0\r\n\r\n";
    static const char page[] = "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n"
                               "<html></html>\n";
    static const struct {
        const char *answer;
        const char *path;
        const char *said; /* NULL: nothing */
        int status;
        const char *setting;
    } cases[] = {
        {absent, "", NULL, 1, "name=none"},
        {page, "", NULL, 0, "name=none"},
        {absent, "v1/chat/completions", "/metrics: HTTP status 404", 1,
         "name=none"},
        {page, "v1/chat/completions", "not in Prometheus' text format", 1,
         "name=none"},
        {absent, "v2/models/m/infer", "Triton has its metrics on port 8002", 1,
         "data.tensors=x FP32 1"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rawserver server = rawserver_start(
            cases[i].answer, strlen(cases[i].answer), RAW_CLOSE);
        char *url = keepf("%s%s", server.url, cases[i].path);
        char *dir = keepf("%s/none-%zu", tmpdir_root(), i);
        struct proc_result r = proc_run(
            ARGS("run", "-v", url, "--rate", "50", "-n", "5", "--model", "m",
                 "--set", cases[i].setting, "--no-preflight", "-o", dir));
        json_t *manifest = load(dir, "manifest.json");

        run_expect(&r, dir, cases[i].status);
        if (cases[i].said)
            assert_non_null(strstr(r.err, cases[i].said));
        else
            assert_null(strstr(r.err, "server     "));
        assert_false(has_file(dir, "server.tgr"));
        assert_null(json_object_get(manifest, "server"));
        assert_null(strstr(r.out, "server     "));
        json_decref(manifest);
        rawserver_stop(&server);
    }
}

/* An unknown page of metrics is named in the report. */
TEST(a_page_of_no_known_kind_is_reported)
{
    static const char page[] = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n"
                               "gateway_up 1";
    struct rawserver server = rawserver_start(page, strlen(page), RAW_CLOSE);
    char *url = keepf("%sv1/chat/completions", server.url);
    char *dir = keepf("%s/strange", tmpdir_root());
    struct proc_result r = proc_run(ARGS("run", "-v", url, "--rate", "50", "-n",
                                         "5", "--model", "m", "-o", dir));
    json_t *summary = load(dir, "summary.json");
    json_t *view = json_object_get(summary, "server");

    assert_non_null(strstr(r.out, "\nserver     not available: http://"));
    assert_true(json_is_false(json_object_get(view, "is_known")));
    assert_false(has_file(dir, "server.tgr"));
    json_decref(summary);
    rawserver_stop(&server);
}

TEST(it_can_be_turned_off)
{
    const char *dir = tmpdir_path("off");
    struct proc_result r;
    struct proc stub;
    char *url;

    stub = stub_start(ARGS("stub"), &url);
    r = proc_run(ARGS("run", url, "--rate", "50", "-n", "5", "--metrics", "off",
                      "-o", dir));
    run_expect(&r, dir, 0);
    assert_false(has_file(dir, "server.tgr"));
    assert_null(strstr(r.err, "server     "));
    stub_stop(&stub);
}

/* What was asked for by name and is not there is no matter of a note. */
TEST(metrics_asked_for_must_be_there)
{
    struct sockaddr_in address = loopback_address(0);
    int deaf = loopback_bind(&address);
    char *nowhere =
        keepf("http://127.0.0.1:%d/metrics", ntohs(address.sin_port));
    struct proc stub;
    char *url;

    stub = stub_start(ARGS("stub"), &url);
    for (int i = 0; i < 2; i++) {
        char *other = keepf("%s/health", url);
        const char *metrics = i ? other : nowhere;
        const char *dir = tmpdir_path("refused");
        struct proc_result r =
            proc_run(ARGS("run", url, "--rate", "50", "-n", "5", "--metrics",
                          metrics, "-o", dir));

        proc_expect(&r, 3);
        assert_non_null(strstr(r.err, metrics));
        assert_false(has_file(dir, "manifest.json"));
    }
    stub_stop(&stub);
    close(deaf);
}

/* ---- servers that misbehave ---- */

/* Before the run the page was there; in it each look fails, or says nothing.
 * One that fails is a row as well, so it was not waited for until the end of
 * the run.  On a busy machine one may take too long that would not fail. */
static void assert_unharmed(const char *dir, enum metrics_way way)
{
    bool is_bad = way != WAY_GOOD && way != WAY_OTHER;
    json_t *summary = load_summary(dir);
    size_t failed = 0;
    size_t n;
    struct server_scrape *looks = looks_in(dir, &n);

    assert_true(number_at(summary, "requests.scheduled") > 100);
    assert_true(number_at(summary, "requests.ok") ==
                number_at(summary, "requests.scheduled"));
    assert_true(n >= 1);
    assert_true(number_at(summary, "server.looks") >= 1);
    for (size_t i = 0; i < n; i++) {
        if (looks[i].took < LOOK_TIMEOUT)
            assert_int_equal(looks[i].is_failed, is_bad);
        if (way == WAY_GOOD && !looks[i].is_failed)
            assert_int_equal(looks[i].running, 1);
        else
            assert_true(looks[i].running == TIME_ABSENT);
        failed += looks[i].is_failed != 0;
    }
    assert_true(!is_bad || failed == n);
    assert_true(number_at(summary, "server.failed_looks") <= (double)failed);
    assert_true(!is_bad || number_at(summary, "server.failed_looks") > 0);
}

TEST(a_run_is_not_harmed)
{
    struct metricsserver servers[WAY_COUNT];
    struct proc runs[WAY_COUNT];
    char *dirs[WAY_COUNT];
    struct proc stub;
    char *url;

    stub = stub_start(ARGS("stub", "--service", "fixed 1ms"), &url);
    for (int w = 0; w < WAY_COUNT; w++) {
        dirs[w] = xasprintf("%s/way-%d", tmpdir_root(), w);
        servers[w] = metricsserver_start(good_page, (enum metrics_way)w,
                                         tmpdir_path("log"));
        runs[w] =
            proc_start(ARGS("run", url, "--rate", "80", "--duration", "2500ms",
                            "--metrics", servers[w].url, "-o", dirs[w]));
    }
    for (int w = 0; w < WAY_COUNT; w++) {
        struct proc_result r = proc_wait(&runs[w]);

        run_expect(&r, dirs[w], 0);
        assert_flavour(dirs[w], "vllm");
        assert_unharmed(dirs[w], (enum metrics_way)w);
        metricsserver_stop(&servers[w]);
        free(dirs[w]);
    }
    stub_stop(&stub);
}

/* ---- who gets to see what ---- */

static bool was_sent(const char *log, const char *text)
{
    struct err err = {0};
    struct buf bytes;
    bool is_there;

    buf_init(&bytes, (size_t)1 << 20);
    assert_int_equal(file_read(log, &bytes, &err), 0);
    assert_non_null(strstr(buf_text(&bytes), "GET /"));
    is_there = strstr(buf_text(&bytes), text) != NULL;
    buf_fini(&bytes);
    return is_there;
}

TEST(secrets_go_to_the_target_alone)
{
    for (int is_target = 0; is_target < 2; is_target++) {
        char *log = tmpdir_path(is_target ? "log-own" : "log-other");
        char *dir = tmpdir_path(is_target ? "secret-own" : "secret-other");
        struct metricsserver server =
            metricsserver_start(good_page, WAY_GOOD, log);
        char *metrics = keepf("%s/metrics?token=t0ken", server.url);
        struct proc stub;
        struct proc_result r;
        json_t *manifest;
        char *text;
        char *url;

        stub = stub_start(ARGS("stub"), &url);
        r = proc_run(ARGS("run", is_target ? server.url : url, "-c", "1", "-n",
                          "3", "-H", "Authorization: Bearer s3cret",
                          "--metrics", metrics, "-o", dir));
        run_expect(&r, dir, 0);
        assert_int_equal(was_sent(log, "s3cret"), is_target);
        assert_true(was_sent(log, "t0ken"));
        manifest = load(dir, "manifest.json");
        text = json_dumps(manifest, 0);
        assert_null(strstr(text, "t0ken"));
        assert_null(strstr(text, "s3cret"));
        assert_null(strstr(r.err, "t0ken"));
        free(text);
        json_decref(manifest);
        metricsserver_stop(&server);
        stub_stop(&stub);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
