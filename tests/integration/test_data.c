/* Data sets, from the file to the wire: what a server is sent. */
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "tests/support/echoserver.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MAX_LOG   ((size_t)16 << 20)
#define REQUESTS  40
#define BODY      "{\"q\":\"{{prompt}}\",\"is\":\"{{label}}\",\"k\":{{k}}}"
#define BODY_MARK "{\"q\":"

static char *write_set(const char *name, int n)
{
    struct buf text;
    char *path;

    buf_init(&text, MAX_LOG);
    for (int i = 0; i < n; i++)
        buf_addf(&text,
                 "{\"prompt\":\"question %d\",\"label\":\"answer %d\","
                 "\"k\":[%d]}\n",
                 i, i, i);
    path = tmpdir_write(name, buf_text(&text), text.len);
    buf_fini(&text);
    return path;
}

/* ---- bodies that a server has had ---- */

struct bodies {
    char *items[4 * REQUESTS];
    size_t len;
};

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of the alphabet, since that of sending is the threads'. */
static void read_bodies(const char *log, struct bodies *out)
{
    struct err err = {0};
    struct buf text;

    *out = (struct bodies){0};
    buf_init(&text, MAX_LOG);
    if (file_read(log, &text, &err))
        fail_msg("%s", err.msg);
    for (const char *at = buf_text(&text); (at = strstr(at, BODY_MARK)); at++) {
        const char *end = strstr(at, "]}");

        assert_non_null(end);
        assert_true(out->len < sizeof(out->items) / sizeof(out->items[0]));
        out->items[out->len++] = xstrndup(at, (size_t)(end + 2 - at));
    }
    qsort(out->items, out->len, sizeof(char *), compare);
    buf_fini(&text);
}

static void bodies_fini(struct bodies *b)
{
    for (size_t i = 0; i < b->len; i++)
        free(b->items[i]);
}

static size_t count_different(const struct bodies *b)
{
    size_t n = 0;

    for (size_t i = 0; i < b->len; i++)
        n += i == 0 || strcmp(b->items[i - 1], b->items[i]) != 0;
    return n;
}

struct run {
    const char *name;
    const char *threads;
    const char *nonce;
    const char *unique;
    const char *seed;
};

/* A run by count, of a data set, and what arrived of it. */
static void send(const struct run *run, const char *data, struct bodies *out)
{
    char *log = keepf("%s/%s.log", tmpdir_root(), run->name);
    char *dir = keepf("%s/%s", tmpdir_root(), run->name);
    struct echo_setup setup = {.log = log};
    struct echoserver s = echoserver_start(&setup);
    struct proc_result r = proc_run(ARGS(
        "run", s.url, "--data", data, "--body", BODY, "-R", "200", "--arrival",
        "constant", "-n", "40", "--warmup", "100ms", "-t", run->threads,
        "--nonce", run->nonce, "--seed", run->seed, "--unique", run->unique,
        "--check", "label", "--no-preflight", "-o", dir));
    json_t *summary;

    run_expect(&r, dir, 0);
    summary = load_summary(dir);
    /* What it echoes has the label in it. */
    assert_true(number_at(summary, "quality.passed") == REQUESTS);
    assert_true(number_at(summary, "quality.share") == 1);
    echoserver_stop(&s);
    read_bodies(log, out);
}

/* The same file, seed and nonce: the same requests, byte for byte, whatever
 * the number of threads. */
TEST(requests_are_the_same_again)
{
    static const struct run runs[] = {
        {"one", "1", "77", "true", "1"},
        {"three", "3", "77", "true", "1"},
        {"nonce", "2", "78", "true", "1"},
        {"seed", "2", "77", "true", "2"},
    };
    char *data = write_set("set.jsonl", 13);
    struct bodies bodies[4];

    for (int i = 0; i < 4; i++) {
        send(&runs[i], data, &bodies[i]);
        assert_int_equal(bodies[i].len, REQUESTS + 20); /* with the warm-up */
        assert_int_equal(count_different(&bodies[i]), bodies[i].len);
    }
    for (size_t i = 0; i < bodies[0].len; i++) {
        assert_string_equal(bodies[0].items[i], bodies[1].items[i]);
        assert_string_not_equal(bodies[0].items[i], bodies[2].items[i]);
    }
    for (int i = 0; i < 4; i++)
        bodies_fini(&bodies[i]);
}

/* Each once, then each once again: sixty requests of twenty samples have each
 * three times. */
TEST(permutations_are_fair)
{
    static const struct run run = {"fair", "3", "1", "false", "5"};
    char *data = write_set("twenty.jsonl", 20);
    struct bodies bodies;

    send(&run, data, &bodies);
    assert_int_equal(bodies.len, 60);
    assert_int_equal(count_different(&bodies), 20);
    for (size_t i = 0; i < bodies.len; i += 3)
        assert_string_equal(bodies.items[i], bodies.items[i + 2]);
    bodies_fini(&bodies);
}

/* ---- what is said of it ---- */

TEST(the_hash_is_in_the_manifest_and_the_report)
{
    const char *data = tmpdir_write("two.txt", "one\ntwo\n", 8);
    char *path = xstrdup(data);
    char *dir = tmpdir_path("hash");
    struct proc_result r = proc_run(
        ARGS("run", "-v", "null://", "--api", "openai-chat", "--model", "m",
             "--data", path, "-R", "50", "-d", "200ms", "-o", dir));
    json_t *manifest;

    run_expect(&r, dir, 0);
    assert_non_null(strstr(r.out, "samples 2, sha256 c3f9c8c283a2…"));
    assert_non_null(strstr(r.err, "text (detected), 2 samples"));
    manifest = load_manifest(dir);
    assert_string_equal(
        json_string_value(
            json_object_get(json_object_get(manifest, "data"), "sha256")),
        "c3f9c8c283a2b1f2f1896f27a01cbe3cddc0c9d93f752e4639035a0f5b36f6e8");
    assert_true(number_at(manifest, "data.samples") == 2);
    free(path);
}

TEST(a_damaged_line_ends_it_before_anything_is_sent)
{
    static const char text[] = "{\"prompt\":\"a\"}\n{\"prompt\":\"b\"\n";
    char *data = tmpdir_write("damaged.jsonl", text, sizeof(text) - 1);
    static const char *const commands[] = {"run", "validate"};

    for (int i = 0; i < 2; i++) {
        struct proc_result r =
            proc_run(ARGS(commands[i], "http://127.0.0.1:1/v1/completions",
                          "--data", data, "-R", "5"));

        proc_expect(&r, 2);
        assert_non_null(strstr(r.err, "damaged.jsonl:2: not valid JSON"));
    }
}

TEST(validate_says_what_is_in_it)
{
    char *data = write_set("plan.jsonl", 13);
    struct proc_result r = proc_run(
        ARGS("validate", "http://127.0.0.1:1/v1/completions", "--data", data,
             "--data-limit", "5", "--select", "replacement", "-R", "5"));

    proc_expect(&r, 0);
    assert_non_null(strstr(r.out, "plan.jsonl, jsonl (detected), 13 samples"));
    assert_non_null(strstr(r.out, "5 of them (shuffled), at random"));
    assert_non_null(strstr(r.out, "bytes per prompt: mean 10, max 11"));
    r = proc_run(ARGS("validate", "http://127.0.0.1:1/v1/completions",
                      "--data-limit", "5", "-R", "5"));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "--data-limit requires --data"));
}

/* ---- caches ---- */

/* The stub knows bodies that it has served, and says so; it knows no prefixes.
 */
TEST(caches_find_what_they_were_given)
{
    static const struct {
        const char *flag;
        const char *value;
        bool is_cached;
    } cases[] = {
        {"--unique", "auto", false},
        {"--unique", "false", true},
        {"--cache-hit-rate", "50%", false}, /* no two end alike */
    };
    char *data = write_set("cached.jsonl", 5);
    char *url;
    struct proc stub = stub_start(
        ARGS("stub", "--port", "0", "--service", "fixed 1ms", "--cache"), &url);
    char *target = keepf("%s/v1/completions", url);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *dir = keepf("%s/cache%zu", tmpdir_root(), i);
        struct proc_result r = proc_run(ARGS(
            "run", target, "--model", "m", "--data", data, "--output-len", "3",
            "-c", "2", "-n", "60", cases[i].flag, cases[i].value, "-o", dir));
        json_t *summary;

        run_expect(&r, dir, 0);
        assert_null(strstr(r.out, "server's cache")); /* nothing is odd */
        summary = load_summary(dir);
        assert_int_equal(json_integer_value(json_object_get(
                             json_object_get(summary, "tokens"), "cached")) > 0,
                         cases[i].is_cached);
    }
    stub_stop(&stub);
}

/* ---- accuracy ---- */

/* Each sample once, by any number of threads, and what came back; of two the
 * label is not what is echoed. */
TEST(accuracy_keeps_every_answer)
{
    static const char *const loads[][2] = {{"-c", "4"}, {"-R", "500"}};
    char *data = write_set("accuracy.jsonl", REQUESTS);

    for (int i = 0; i < 2; i++) {
        struct echoserver s = echoserver_start(&(struct echo_setup){0});
        char *dir = tmpdir_path(i == 0 ? "closed" : "open");
        char *path = keepf("%s/answers.jsonl", dir);
        struct proc_result r = proc_run(
            ARGS("run", "-v", s.url, "--data", data, "--body", BODY,
                 "--accuracy", loads[i][0], loads[i][1], "-t", "2", "--check",
                 "label", "-H", "Authorization: Bearer sesame", "--check",
                 "regex question [0-9]*[02-9]\"", "-o", dir));
        bool seen[REQUESTS] = {false};
        int passed = 0;
        struct err err = {0};
        struct buf text;
        char *rest;
        char *line;

        run_expect(&r, dir, 0);
        assert_non_null(strstr(r.out, "samples 40"));
        assert_non_null(strstr(r.out, "each sample is sent once"));
        echoserver_stop(&s);
        buf_init(&text, MAX_LOG);
        assert_int_equal(file_read(path, &text, &err), 0);
        assert_null(strstr(text.data, "sesame")); /* it was echoed */
        rest = text.data;
        while ((line = strsep(&rest, "\n")) && *line) {
            json_t *json = json_loads(line, 0, NULL);
            json_int_t index =
                json_integer_value(json_object_get(json, "index"));
            char *want = keepf("\"q\":\"question %d\"", (int)index);

            assert_non_null(json);
            assert_in_range(index, 0, REQUESTS - 1);
            assert_false(seen[index]);
            seen[index] = true;
            passed += json_is_true(json_object_get(json, "passed"));
            assert_non_null(
                strstr(json_string_value(json_object_get(json, "text")), want));
            json_decref(json);
        }
        for (int k = 0; k < REQUESTS; k++)
            assert_true(seen[k]);
        assert_int_equal(passed, REQUESTS - 4); /* 1, 11, 21, 31 */
        buf_fini(&text);
    }
}

/* ---- the accuracy run of a performance run ---- */

static json_t *accuracy_run(const char *const *argv)
{
    struct proc_result r = proc_run(argv);
    json_t *json = json_loads(r.out, 0, NULL);
    json_t *found = json_incref(
        json_object_get(json_object_get(json, "mlperf"), "accuracy_run"));

    assert_non_null(found);
    json_decref(json);
    return found;
}

static void make_run(const char *url, const char *data, const char *dir,
                     const char *const *more)
{
    const char *argv[24] = {
        "tailgate",   "run",           url,  "--data", data, "--body", BODY,
        "--scenario", "single-stream", "-q", "-o",     dir};
    struct proc_result r;
    size_t n = 12;

    while (*more)
        argv[n++] = *more++;
    r = proc_run(argv);
    run_expect(&r, dir, 0);
}

/* It is next to it, and differs in nothing but its mode. */
TEST(performance_runs_find_their_accuracy_run)
{
    struct echoserver s = echoserver_start(&(struct echo_setup){0});
    char *data = write_set("both.jsonl", REQUESTS);
    char *perf = tmpdir_path("both-perf");
    char *other = tmpdir_path("both-other");
    char *same = tmpdir_path("both-same");
    struct proc_result r;
    json_t *found;

    make_run(s.url, data, perf, (const char *const[]){"-n", "20", NULL});
    found = accuracy_run(ARGS("report", perf, "--json"));
    assert_true(json_is_false(json_object_get(found, "found")));
    json_decref(found);
    make_run(s.url, data, other,
             (const char *const[]){"--accuracy", "--check", "label", "--label",
                                   "precision=fp8", NULL});
    found = accuracy_run(ARGS("report", perf, "--json"));
    assert_true(json_is_false(json_object_get(found, "found")));
    assert_string_equal(
        json_string_value(json_object_get(found, "dir_note")),
        "../both-other differs: conditions.precision: (none) | fp8");
    json_decref(found);
    make_run(s.url, data, same,
             (const char *const[]){"--accuracy", "--check", "label", NULL});
    found = accuracy_run(ARGS("report", perf, "--json"));
    assert_string_equal(json_string_value(json_object_get(found, "dir")),
                        "../both-same");
    assert_true(number_at(found, "checked") == REQUESTS);
    assert_true(number_at(found, "quality") == 1);
    json_decref(found);
    r = proc_run(ARGS("report", "-v", perf, "--accuracy-run", perf));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "not an accuracy run"));
    r = proc_run(ARGS("report", "-v", perf, "--accuracy-run", same));
    assert_non_null(strstr(r.out, "the accuracy run has no target"));
    echoserver_stop(&s);
}

TEST(accuracy_says_itself_how_many)
{
    char *data = write_set("once.jsonl", 3);
    struct proc_result r =
        proc_run(ARGS("run", "-v", "http://127.0.0.1:1/v1/completions",
                      "--data", data, "--accuracy", "-R", "5", "-d", "10s"));

    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "cannot be combined with --duration"));
    r = proc_run(ARGS("validate", "http://127.0.0.1:1/v1/completions", "--data",
                      data, "--accuracy", "-R", "5"));
    proc_expect(&r, 0);
    assert_non_null(strstr(r.out, "3 in the window"));
    assert_non_null(strstr(r.out, "each once, in the order of the file; "
                                  "prompts are sent as they are"));
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
