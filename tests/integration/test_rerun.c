/* A recording is repeated: the same requests, with what differs next to the
 * numbers; what somebody else would lack; the sentence to quote. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/measure/measure.h"
#include "common/recording/schema.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/table.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static const char text[] =
    "target: {url: 'http://127.0.0.1/v1/completions', model: m}\n"
    "load: {rate: 100/s, duration: 1s, warmup: 200ms, seed: 5}\n"
    "data: {input_tokens: uniform 3 40, output_tokens: 2}\n"
    "conditions: {precision: fp16}\n"
    "slo: [e2e p50 < 5s]\n"
    "stub: {service: fixed 1ms}\n";

static int by_place(const void *a, const void *b)
{
    int64_t x = ((const struct facts *)a)->seq;
    int64_t y = ((const struct facts *)b)->seq;

    return (x > y) - (x < y);
}

static struct facts *rows_of(const char *dir, size_t *n)
{
    char *path = keepf("%s/requests.tgr", dir);
    struct facts *rows = table_read(path, &schema_requests, n);

    qsort(rows, *n, sizeof(*rows), by_place);
    return rows;
}

/* How many were due before the end of the window. */
static size_t until_end(const char *dir, const struct facts *rows, size_t n)
{
    json_t *manifest = load_manifest(dir);
    int64_t end_ns = (int64_t)number_at(manifest, "end.window_end_ns");
    size_t until = 0;

    for (size_t i = 0; i < n; i++)
        until += rows[i].due < end_ns;
    json_decref(manifest);
    return until;
}

/* How long an automatic cool-down lasts depends on the answers: as far as both
 * got, they are the same. */
static void assert_same_requests(const char *a, const char *b)
{
    size_t n;
    size_t m;
    struct facts *x = rows_of(a, &n);
    struct facts *y = rows_of(b, &m);

    assert_int_equal(until_end(a, x, n), until_end(b, y, m));
    assert_true(until_end(a, x, n) > 80);
    for (size_t i = 0; i < n && i < m; i++) {
        assert_int_equal(x[i].due, y[i].due);
        assert_int_equal(x[i].prompt_asked, y[i].prompt_asked);
        assert_int_equal(x[i].bytes_out, y[i].bytes_out);
    }
}

/* Settings, recorded to `dir`. */
static void ran_text(const char *settings, const char *dir)
{
    run_as_reported(ARGS("run",
                         tmpdir_write("text.yaml", settings, strlen(settings)),
                         "-q", "-o", dir));
}

static void refused(const char *const *argv, const char *why)
{
    struct proc_result r = proc_run(argv);

    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, why));
}

static char *first;

static int make_first(void **state)
{
    struct proc_result r;
    char *file;

    assert_int_equal(tmpdir_setup(state), 0);
    file = tmpdir_write("a.yaml", text, sizeof(text) - 1);
    first = tmpdir_path("first");
    r = proc_run(ARGS("run", file, "-q", "-o", first));
    run_expect(&r, first, 0);
    return 0;
}

TEST(the_same_requests_again)
{
    char *again = tmpdir_path("again");
    struct proc_result r = proc_run(ARGS("rerun", first, "-o", again));

    run_expect(&r, again, 0);
    assert_non_null(strstr(r.err, "conditions that differ:\n"
                                  "           endpoints: "));
    assert_same_requests(first, again);
}

/* What classes and the warm-up say themselves is said again. */
TEST(every_kind_of_request_again)
{
    static const char *const texts[] = {
        "target: {url: 'http://stub/v1/chat/completions', model: m}\n"
        "load: {rate: 400/s, duration: 300ms, seed: 5}\n"
        "classes:\n"
        "  - {name: a, weight: 2, data: {input_tokens: uniform 3 90, "
        "output_tokens: 3}}\n"
        "  - {name: b, target: {url: 'http://stub/v1/embeddings'}, data: "
        "{input_tokens: 7}}\n"
        "stub: {service: fixed 1ms}\n",
        "target: {url: 'http://stub/v1/completions', model: m}\n"
        "load: {rate: 400/s, duration: 150ms, warmup: 150ms, seed: 5}\n"
        "data: {input_tokens: 9, output_tokens: 2}\n"
        "warmup_data: {input_tokens: uniform 30 60}\n"
        "stub: {service: fixed 1ms}\n",
    };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        char *once = keepf("%s-%zu", tmpdir_path("once"), i);
        char *again = keepf("%s-%zu", tmpdir_path("twice"), i);

        ran_text(texts[i], once);
        run_as_reported(ARGS("rerun", once, "-q", "-o", again));
        assert_same_requests(once, again);
    }
}

/* Of a set it is one run, with that trial's seed. */
TEST(one_trial_is_repeated_alone)
{
    char *set = tmpdir_path("set");
    char *trial = keepf("%s/trial-2", set);
    char *again = tmpdir_path("one");
    struct proc_result r;

    run_as_reported(ARGS("run", "-v", tmpdir_path("a.yaml"), "-q", "--trials",
                         "2", "-o", set, "--settle", "0s", "--max-discarded",
                         "0", "--set", "load.rate=400/s", "--set",
                         "load.duration=200ms"));
    r = proc_run(ARGS("report", set, "--checklist"));
    proc_expect(&r, 1);
    assert_non_null(strstr(r.out, "present  repeats        one of 2 trials"));
    run_as_reported(ARGS("rerun", "-v", trial, "-q", "-o", again));
    assert_same_requests(trial, again);
}

TEST(what_is_said_again_counts)
{
    char *again = tmpdir_path("shorter");
    size_t n;

    run_as_reported(ARGS("rerun", first, "-o", again, "-q", "--set",
                         "load.duration=200ms"));
    rows_of(again, &n);
    assert_true(n < 80);
}

TEST(only_recordings_are_repeated)
{
    struct proc_result r = proc_run(ARGS("rerun", tmpdir_path("a.yaml")));

    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "not a recording (not a directory)"));
    r = proc_run(ARGS("rerun"));
    proc_expect(&r, 2);
}

/* Secrets are not in it, so they must be given again. */
TEST(a_secret_is_asked_for)
{
    char *dir = tmpdir_path("secret");
    char *file = tmpdir_path("a.yaml");
    struct proc_result r = proc_run(ARGS("run", file, "-q", "-o", dir, "-H",
                                         "authorization: Bearer hidden"));

    run_expect(&r, dir, 0);
    refused(ARGS("rerun", dir, "-q", "-o", tmpdir_path("secret2")),
            "give the header 'authorization' again");
    run_as_reported(ARGS("rerun", dir, "-q", "-o", tmpdir_path("secret2"), "-H",
                         "authorization: Bearer hidden"));
}

/* A URL is shown with stars in its place, which are not to be sent. */
TEST(a_secret_of_a_url_is_asked_for)
{
    static const char url[] = "http://127.0.0.1/v1/completions?api_key=hidden";
    char *dir = tmpdir_path("key");
    char *assign = keepf("target.url=%s", url);

    run_as_reported(ARGS("run", tmpdir_path("a.yaml"), "-q", "-o", dir,
                         "--duration", "200ms", "--set", assign));
    refused(ARGS("rerun", dir, "-q", "-o", tmpdir_path("key2")),
            "give target.url again");
    run_as_reported(
        ARGS("rerun", dir, "-q", "-o", tmpdir_path("key2"), "--set", assign));
}

/* A class with a header of its own has the run's too, as it is given again. */
TEST(a_secret_given_again_is_that_of_classes_too)
{
    static const char workload[] =
        "target: {url: 'http://stub/v1/completions', model: m, headers: "
        "{authorization: Bearer hidden}}\n"
        "load: {rate: 400/s, duration: 300ms, seed: 5}\n"
        "classes:\n"
        "  - {name: a, target: {headers: {x-team: red}}}\n"
        "  - {name: b}\n"
        "stub: {service: fixed 1ms}\n";
    char *once = tmpdir_path("mixed");
    char *again = tmpdir_path("mixed2");

    ran_text(workload, once);
    run_as_reported(ARGS("rerun", once, "-q", "-o", again, "-H",
                         "authorization: Bearer hidden"));
    assert_same_requests(once, again);
}

/* A secret of one class is given to it, and to no other. */
TEST(a_secret_of_a_class_is_given_to_it_again)
{
    static const char workload[] =
        "target: {url: 'http://stub/v1/completions', model: m}\n"
        "load: {rate: 400/s, duration: 300ms, seed: 5}\n"
        "classes:\n"
        "  - {name: a, target: {headers: {authorization: Bearer hidden}}}\n"
        "  - {name: b}\n"
        "stub: {service: fixed 1ms}\n";
    char *once = tmpdir_path("keyed");
    char *again = tmpdir_path("keyed2");

    ran_text(workload, once);
    refused(ARGS("rerun", once, "-q", "-o", again),
            "classes: a: recordings keep no secrets: "
            "give the header 'authorization' again (-H "
            "'a/authorization: ...')");
    refused(ARGS("rerun", once, "-q", "-o", again, "-H",
                 "none/authorization: Bearer hidden"),
            "the recording has no class 'none'");
    run_as_reported(ARGS("rerun", once, "-q", "-o", again, "-H",
                         "a/authorization: Bearer hidden"));
    assert_same_requests(once, again);
}

/* Give the recording in `dir` its original manifest, except that it says so.
 * `class` is the name of the one class to say it for; NULL: the run. */
static void plant(const char *dir, const json_t *original, const char *class,
                  const char *block, const char *key, const char *value)
{
    char *path = keepf("%s/manifest.json", dir);
    json_t *manifest = json_deep_copy(original);
    json_t *settings = json_object_get(manifest, "settings");
    json_t *of = settings;

    assert_non_null(settings);
    if (class) {
        of = json_pack("{ss sf sO sO}", "name", class, "weight", 1.0, "target",
                       json_object_get(settings, "target"), "data",
                       json_object_get(settings, "data"));
        json_object_set_new(settings, "classes", json_pack("[o]", of));
    }
    json_object_set_new(of, block,
                        json_copy(json_object_get(of, block))); /* its own */
    json_object_set_new(json_object_get(of, block), key, json_string(value));
    assert_int_equal(json_dump_file(manifest, path, 0), 0);
    json_decref(manifest);
}

/* A run of nothing, whose manifest is then somebody else's. */
static char *record_nothing(const char *name)
{
    char *dir = tmpdir_path(name);

    run_as_reported(ARGS("run", "null://", "-q", "-c", "1", "-n", "3", "-o",
                         dir, "--force"));
    return dir;
}

/* What it would run, read and send is named, and nothing of it happens. */
TEST(a_strangers_recording_is_refused)
{
    static const struct {
        const char *class;
        const char *block;
        const char *key;
        const char *value;
        const char *given; /* --set that replaces it; NULL: none can */
        int status;        /* of that; 2 if it is refused for itself */
    } cases[] = {
        {NULL, "server", "start", "touch %m", "server.start=true", 0},
        {NULL, "server", "ready", "touch %m", "server.ready=true", 2},
        {NULL, "server", "stop", "touch %m", "server.stop=true", 2},
        {NULL, "target", "auth_env", "HOME", "target.auth_env=HOME", 0},
        {NULL, "target", "auth_file", "/etc/hostname",
         "target.auth_file=/dev/null", 2},
        {NULL, "target", "body", "@/etc/hostname", "target.body=x", 0},
        {NULL, "target", "extra_body", "@/etc/hostname", "target.extra_body={}",
         2},
        {NULL, "target", "key", "/etc/hostname", "target.key=/dev/null", 2},
        {NULL, "target", "unix_socket", "/run/x", "target.unix_socket=/run/y",
         0},
        {NULL, "data", "file", "/etc/hostname", "data.file=/dev/null", 2},
        {NULL, "trace", "file", "/etc/hostname", "trace.file=/dev/null", 2},
        {"a", "target", "auth_env", "HOME", NULL, 0},
        {"a", "target", "body", "@/etc/hostname", NULL, 0},
        {"a", "data", "file", "/etc/hostname", NULL, 0},
    };
    char *mark = tmpdir_path("mark");
    char *dir = record_nothing("stranger");
    json_t *original = load_manifest(dir);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *value = str_replace(cases[i].value, "%m", mark);
        char *why = keepf(
            "the recording would use commands, keys or files of this machine: "
            "%s%s%s%s.%s '%s'; --allow-commands",
            cases[i].class ? "classes: " : "",
            cases[i].class ? cases[i].class : "", cases[i].class ? ": " : "",
            cases[i].block, cases[i].key, value);
        struct proc_result r;

        plant(dir, original, cases[i].class, cases[i].block, cases[i].key,
              value);
        refused(ARGS("rerun", dir, "-q"), why);
        refused(ARGS("validate", dir), why);
        if (cases[i].given) {
            r = proc_run(ARGS("validate", dir, "--set", cases[i].given));
            proc_expect(&r, cases[i].status);
            assert_null(strstr(r.err, "the recording names"));
        }
        assert_int_equal(access(mark, F_OK), -1);
        free(value);
    }
}

/* A name that does not fit into the message does not hide what it names. */
TEST(a_long_name_hides_nothing)
{
    char *dir = record_nothing("long");
    json_t *original = load_manifest(dir);
    struct proc_result r;
    char name[400];

    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    plant(dir, original, name, "target", "body", "@/etc/hostname");
    refused(ARGS("rerun", dir, "-q"), "; --allow-commands shows");
    plant(dir, original, "a b", "target", "model", "x");
    r = proc_run(ARGS("rerun", dir, "-q"));
    proc_expect(&r, 3);
    assert_non_null(strstr(r.err, "classes: the value has the wrong type"));
}

/* With consent it is printed first, and done. */
TEST(what_is_allowed_is_shown_and_done)
{
    char *dir = record_nothing("own");
    json_t *original = load_manifest(dir);
    char *mark = tmpdir_path("done");
    char *command = keepf("echo now >&2; touch %s", mark);
    char *twice = tmpdir_path("twice");
    struct proc_result r;
    const char *shown;

    plant(dir, original, NULL, "study", "restart", command);
    refused(ARGS("rerun", dir, "-q", "--trials", "2", "--settle", "0s"),
            "study.restart");
    assert_int_equal(access(mark, F_OK), -1);
    r = proc_run(ARGS("rerun", dir, "-q", "--trials", "2", "--settle", "0s",
                      "--max-discarded", "0", "-o", twice, "--allow-commands"));
    expect_status_as_reported(&r, twice);
    assert_int_equal(access(mark, F_OK), 0);
    shown = strstr(r.err, "tailgate: from the recording: study.restart: echo "
                          "now >&2; touch ");
    assert_non_null(shown);
    assert_true(shown < strstr(r.err, "now\n"));
    assert_null(strstr(shown + 20, "from the recording")); /* said once */
}

/* git obeys the configuration that it finds next to a file: it is asked about a
 * settings file of the user's, not about a recording. */
TEST(git_is_not_run_next_to_a_recording)
{
    static const char settings[] = "target: {url: 'null://'}\n"
                                   "load: {clients: 1, requests: 3}\n";
    char *mark = tmpdir_path("git-ran");
    char *script = keepf("#!/bin/sh\ntouch %s\n", mark);
    char *git = tmpdir_write("git", script, strlen(script));
    char *old = xstrdup(getenv("PATH"));
    char *path =
        keepf("%.*s:%s", (int)(strlen(git) - strlen("/git")), git, old);
    char *dir = tmpdir_path("with-git");

    assert_int_equal(chmod(git, 0700), 0);
    assert_int_equal(setenv("PATH", path, 1), 0);
    ran_text(settings, dir);
    assert_int_equal(unlink(mark), 0);
    run_as_reported(ARGS("rerun", dir, "-q", "-o", tmpdir_path("without-git")));
    assert_int_equal(access(mark, F_OK), -1);
    assert_int_equal(setenv("PATH", old, 1), 0);
    free(old);
}

TEST(what_somebody_else_would_lack)
{
    struct proc_result r = proc_run(ARGS("report", first, "--checklist"));

    proc_expect(&r, 1);
    assert_non_null(strstr(r.out, "present  workload       open loop, poisson "
                                  "100/s"));
    assert_non_null(strstr(r.out, "present  server         the stub"));
    assert_non_null(strstr(r.out, "MISSING  repeats "));
    assert_non_null(strstr(r.out, "present  client "));
    r = proc_run(ARGS("report", first, "--checklist", "--json"));
    proc_expect(&r, 1);
    assert_non_null(strstr(r.out, "\"name\": \"repeats\""));
    r = proc_run(ARGS("report", first, "--checklist", "--claim"));
    proc_expect(&r, 2);
}

GROUP_FIXTURE(make_first, tmpdir_teardown)
