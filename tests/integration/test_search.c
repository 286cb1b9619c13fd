/* A search as a user has it: recordings, exit status, report, how it goes on
 * after an interruption, and how a probe ends early.  What it finds, and what
 * it says of it, is tested in virtual time: unit.search*. */
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/searched.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MOST_MS   60000 /* until a recording begins */
#define MAX_FIRST ((size_t)1 << 20)

static const char fixed[] = "stub: {service: fixed 10ms}\n"
                            "load: {arrival: constant}\n"
                            "slo: [e2e p50 < 50ms]\n"
                            "search: {start: 60, probe: 200ms, confirm: 200ms, "
                            "tolerance: 20%, budget: 4s}\n"
                            "study: {settle: 0s}\n";

/* The exit status is that of the outcome, and `report` says the same again. */
static void expect_recorded(const struct proc_result *r, const char *dir)
{
    json_t *kept = searched_json(dir, "summary.json");
    struct proc_result again = proc_run(ARGS("report", dir, "--json"));
    json_t *json = json_loads(again.out, 0, NULL);

    proc_expect(r, searched_status(kept));
    proc_expect(&again, r->status);
    assert_true(json_equal(kept, json));
    assert_string_not_equal(searched_text(kept, "outcome"), "goes on");
    assert_true(number_at(kept, "requests") > 10);
    json_decref(json);
    json_decref(kept);
}

/* The same probes by another objective. */
static void look_at_it_again(const char *dir)
{
    struct proc_result r =
        proc_run(ARGS("report", dir, "--slo", "e2e p50 < 100s", "--json"));
    json_t *json = json_loads(r.out, 0, NULL);

    proc_expect(&r, searched_status(json));
    json_decref(json);
    r = proc_run(ARGS("report", "-v", dir, "--slo", "e2e p50 < 1us"));
    assert_non_null(strstr(r.out, "by another SLO"));
}

static void interrupt(const char *const *argv, const char *probe)
{
    struct proc p = proc_start(argv);
    char *rows = keepf("%s/requests.tgr", probe);
    struct proc_result r;

    for (int ms = 0; access(rows, F_OK) != 0; ms++) {
        assert_true(ms < MOST_MS);
        clk_sleep_ns(NS_PER_MS);
    }
    wait_for_rows(probe);
    kill(p.pid, SIGINT);
    r = proc_wait(&p);
    proc_expect(&r, 130);
    assert_non_null(strstr(r.out, "--resume"));
}

/* Everything that is recorded of the first probe, byte for byte. */
static void read_first(const char *dir, struct buf *out)
{
    static const char *const names[] = {"manifest.json", "requests.tgr",
                                        "client.tgr", "summary.json"};

    buf_init(out, MAX_FIRST);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char *path = keepf("%s/probe-1/%s", dir, names[i]);
        struct err err = {0};

        if (file_read(path, out, &err))
            fail_msg("%s", err.msg);
    }
}

/* The first probe of a search has this value and the seed of the settings. */
static void expect_first(const char *dir, double value)
{
    json_t *summary = searched_json(dir, "summary.json");
    json_t *manifest = searched_json(dir, "probe-1/manifest.json");
    const json_t *probe = json_array_get(json_object_get(summary, "probes"), 0);
    const json_t *settings = json_object_get(manifest, "settings");

    assert_string_equal(searched_text(probe, "dir"), "probe-1");
    assert_true(number_at(probe, "value") == value);
    assert_string_equal(
        searched_text(json_object_get(settings, "load"), "seed"), "1");
    json_decref(manifest);
    json_decref(summary);
}

TEST(it_may_be_interrupted)
{
    char *file = searched_file("fixed.yaml", fixed);
    char *dir = tmpdir_path("fixed");
    char *second = keepf("%s/probe-2", dir);
    struct proc_result r;
    struct buf before;
    struct buf after;

    /* the signal ends it, not the budget */
    interrupt(ARGS("search", file, "-q", "-o", dir, "--budget", "60s"), second);
    read_first(dir, &before);
    r = proc_run(
        ARGS("search", file, "-q", "-o", dir, "--resume", "--seed", "2"));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "other settings"));

    /* a budget may be another one */
    r = proc_run(
        ARGS("search", file, "-q", "-o", dir, "--resume", "--budget", "3s"));
    read_first(dir, &after);
    assert_int_equal(before.len, after.len);
    assert_memory_equal(before.data, after.data, before.len);
    expect_recorded(&r, dir);
    expect_first(dir, 60);
    look_at_it_again(dir);
    buf_fini(&before);
    buf_fini(&after);
    free(file);
}

/* The directory is empty: --resume says so and begins. */
TEST(clients_of_a_closed_loop_are_counted)
{
    char *dir = tmpdir_path("closed");
    char *file = searched_file("closed.yaml",
                               "stub: {service: fixed 10ms}\n"
                               "slo: [e2e p50 < 500ms]\n"
                               "search: {by: concurrency, start: 2, most: 2, "
                               "probe: 200ms, no_confirm: true, budget: 4s}\n"
                               "study: {settle: 0s}\n");
    struct proc_result r =
        proc_run(ARGS("search", file, "-o", dir, "--resume"));
    json_t *json = searched_json(dir, "summary.json");
    const json_t *probes = json_object_get(json, "probes");
    const json_t *probe;
    size_t i;

    assert_non_null(strstr(r.err, "nothing is recorded in"));
    expect_recorded(&r, dir);
    assert_string_equal(searched_text(json, "by"), "concurrency");
    expect_first(dir, 2);
    json_array_foreach(probes, i, probe)
    {
        double value = number_at(probe, "value");

        assert_true(value == 1 || value == 2);
    }
    json_decref(json);
    free(file);
}

/* It takes what it is sent and says nothing: the run ends neither with its
 * window of 20 s nor with the timeout of 30 s. */
TEST(a_server_that_hangs_is_given_up_at_once)
{
    struct searched s =
        searched_run("hangs", "stub: {delay: 1h}\n"
                              "slo: [e2e p50 < 50ms]\n"
                              "search: {start: 200, least: 200, probe: 20s}\n");
    const json_t *first = json_array_get(json_object_get(s.json, "probes"), 0);

    assert_true(json_is_true(json_object_get(first, "ended_early")));
    assert_true(number_at(first, "window_s") < 20);
    proc_expect(&s.r, searched_status(s.json));
    searched_fini(&s);
}

TEST(nonsense_is_refused)
{
    static const struct {
        const char *args[6];
        const char *why;
    } bad[] = {
        {{"http://127.0.0.1:1/", NULL}, "slo"},
        {{"http://127.0.0.1:1/", "--slo", "goodput >= 40/s", NULL}, "goodput"},
        {{"http://127.0.0.1:1/", "--slo", "errors < 1%", "--resume", NULL},
         "-o"},
        {{"http://127.0.0.1:1/", "--slo", "errors < 1%", "--least=9",
          "--most=3", NULL},
         "--min"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *argv[9] = {"tailgate", "search"};
        struct proc_result r;

        for (size_t k = 0; bad[i].args[k]; k++)
            argv[2 + k] = bad[i].args[k];
        r = proc_run(argv);
        proc_expect(&r, 2);
        if (!strstr(r.err, bad[i].why))
            fail_msg("%s: %s", bad[i].why, r.err);
    }
}

/* The first two recordings were made with the settings of this file. */
static void expect_made_with(const char *dir, const char *role,
                             const char *sha256)
{
    for (int n = 1; n <= 2; n++) {
        char *name = keepf("%s-%d/manifest.json", role, n);
        json_t *manifest = searched_json(dir, name);

        assert_string_equal(searched_text(json_object_get(manifest, "asked"),
                                          "settings_file_sha256"),
                            sha256);
        assert_string_equal(
            searched_text(json_object_get(manifest, "settings"), "name"),
            "original");
        json_decref(manifest);
    }
}

/* The server of each recording overwrites the settings file with something that
 * could not even be read, so a study that read it again would fail.  The third
 * server does not start, which ends every study after two recordings. */
TEST(an_edited_file_has_no_effect)
{
    static const struct {
        const char *command;
        const char *flag;
        const char *value;
        const char *role;
    } cases[] = {
        {"search", "--tolerance", "1%", "probe"},
        {"sweep", "--rates", "20,40,80", "point"},
        {"run", "--trials", "3", "trial"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *path = tmpdir_path("edited.yaml");
        char *dir = tmpdir_path(cases[i].command);
        char *text = keepf(
            "name: original\n"
            "target: {url: 'http://127.0.0.1:{port}/'}\n"
            "server:\n"
            "  start: >-\n"
            "    echo >>%s.starts; test $(wc -l <%s.starts) -lt 3 || exit 1;\n"
            "    echo '- no settings' >%s; exec %s stub --port {port}\n"
            "load: {rate: 50, duration: 200ms, warmup: 0s}\n"
            "slo: [errors < 1%%]\n"
            "search: {probe: 200ms}\n"
            "study: {max_discarded: 0}\n",
            dir, dir, path, getenv("TAILGATE"));
        char sha256[SHA256_TEXT];
        struct proc_result r;

        tmpdir_write("edited.yaml", text, strlen(text));
        sha256_bytes(text, strlen(text), sha256);
        r = proc_run(ARGS(cases[i].command, path, cases[i].flag, cases[i].value,
                          "-q", "-o", dir));
        proc_expect(&r, 3);
        assert_non_null(strstr(r.err, "server.start: the server ended"));
        expect_made_with(dir, cases[i].role, sha256);
    }
}

/* Its first recording is a look, and is replaced like any other. */
TEST(a_first_look_that_was_cut_can_be_replaced)
{
    char *file = searched_file("look.yaml", "stub: {service: fixed 500ms}\n"
                                            "slo: [errors < 50%]\n");
    char *dir = tmpdir_path("look");
    char *look = keepf("%s/look-1", dir);
    char *begun = keepf("%s/requests.tgr", look);
    char *aside = keepf("%s/.replaced/look-1", dir);

    for (int i = 0; i < 2; i++) {
        struct proc p = proc_start(
            ARGS("search", file, "-q", "-o", dir, i > 0 ? "--force" : NULL));
        struct proc_result r;

        wait_for_handler(&p, SIGINT);
        while (i > 0 && access(aside, F_OK) != 0)
            clk_sleep_ns(NS_PER_MS);
        while (access(begun, F_OK) != 0)
            clk_sleep_ns(NS_PER_MS);
        wait_for_rows(look);
        assert_int_equal(kill(p.pid, SIGINT), 0);
        r = proc_wait(&p);
        proc_expect(&r, 130);
        assert_non_null(strstr(r.err, look));
    }
}

/* No server listens: nothing is left behind but the error. */
TEST(a_server_that_is_not_there_is_exit_3)
{
    char *url = keepf("http://127.0.0.1:%d/", refusing_port());
    char *dir = tmpdir_path("absent");
    struct proc_result r =
        proc_run(ARGS("search", url, "--slo", "errors < 1%", "-q", "-o", dir));

    proc_expect(&r, 3);
    assert_int_equal(access(dir, F_OK), -1);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
