/* Several trials, as a user has them: recordings, seeds, report, exit code. */
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/text/json.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/schema.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define TRIALS 3

static const char settings[] = "stub: {service: fixed 1ms}\n"
                               "load: {rate: 100/s, duration: 100ms}\n"
                               "slo: [errors < 90%]\n"
                               "study: {settle: 10ms, max_discarded: 0}\n";

static char *settings_file(void)
{
    return tmpdir_write("t.yaml", settings, strlen(settings));
}

static char *trial_dir(const char *dir, int number)
{
    return keepf("%s/trial-%d", dir, number);
}

/* A text of the settings in a trial's manifest. */
static char *setting_of(const char *dir, int number, const char *block,
                        const char *key)
{
    char *path = trial_dir(dir, number);
    json_t *manifest = load_manifest(path);
    const char *text = json_string_value(json_object_get(
        json_object_get(json_object_get(manifest, "settings"), block), key));
    char *copy;

    assert_non_null(text);
    copy = xstrdup(text);
    return copy;
}

static void must_differ(const char *dir, const char *block, const char *key)
{
    char *texts[TRIALS];

    for (int i = 0; i < TRIALS; i++)
        texts[i] = setting_of(dir, i + 1, block, key);
    assert_string_not_equal(texts[0], texts[1]);
    assert_string_not_equal(texts[1], texts[2]);
    assert_string_not_equal(texts[0], texts[2]);
    for (int i = 0; i < TRIALS; i++)
        free(texts[i]);
}

/* All trials have different seeds. */
static void must_differ_in(const char *dir, double n)
{
    for (int i = 1; i < (int)n; i++) {
        char *a = setting_of(dir, i, "load", "seed");
        char *b = setting_of(dir, i + 1, "load", "seed");

        assert_string_not_equal(a, b);
        free(a);
        free(b);
    }
}

static void expect_status(const char *const *argv, int status)
{
    struct proc_result r = proc_run(argv);

    proc_expect(&r, status);
}

static json_t *parse(const char *text)
{
    json_t *json = json_loads(text, 0, NULL);

    assert_non_null(json);
    return json;
}

/* The exit status that the verdict of a set implies; what verdict a set
 * deserves is tested on made ones (unit.trials_report). */
static int status_of(const json_t *set)
{
    const char *verdict = json_string_value(json_object_get(set, "verdict"));

    assert_non_null(verdict);
    return strcmp(verdict, "pass") == 0   ? 0
           : strcmp(verdict, "fail") == 0 ? 1
                                          : 4;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of the trials that count: on a busy machine some are discarded. */
static void is_median(const char *dir, const json_t *set, const char *key,
                      const char *path_in_set)
{
    const json_t *each = json_object_get(set, "each");
    double value[2 * TRIALS];
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(each); i++) {
        char *path = trial_dir(dir, (int)i + 1);
        json_t *summary = load_summary(path);

        if (json_is_true(json_object_get(json_array_get(each, i), "counted"))) {
            assert_true(n < COUNT(value));
            value[n++] = number_at(summary, key);
        }
    }
    assert_int_equal(n, number_at(set, "trials.counted"));
    if (n == 0)
        return;
    qsort(value, n, sizeof(value[0]), by_size);
    assert_true(number_at(set, path_in_set) ==
                (n % 2 ? value[n / 2] : (value[n / 2 - 1] + value[n / 2]) / 2));
}

/* What a class asks for is asked of every trial, whatever the run asks. */
TEST(classes_are_judged)
{
    static const char text[] = "stub: {service: fixed 1ms}\n"
                               "load: {rate: 200/s, duration: 100ms}\n"
                               "slo: [errors < 90%]\n"
                               "study: {settle: 10ms, max_discarded: 0}\n"
                               "classes:\n"
                               "  - {name: a}\n"
                               "  - {name: b, slo: [e2e p50 < 1us]}\n";
    char *file = tmpdir_write("mix.yaml", text, strlen(text));
    char *dir = tmpdir_path("mix");
    struct proc_result r =
        proc_run(ARGS("run", file, "--trials", "2", "-o", dir, "--json"));
    json_t *set = parse(r.out);
    const json_t *terms = json_object_get(set, "slo");
    const json_t *own = json_array_get(terms, 1);

    proc_expect(&r, status_of(set));
    assert_int_equal(json_array_size(terms), 2);
    assert_null(json_object_get(json_array_get(terms, 0), "class"));
    assert_string_equal(json_string_value(json_object_get(own, "class")), "b");
    assert_true(number_at(own, "kept") == 0);
    assert_true(number_at(own, "missed") == number_at(set, "trials.counted"));
    json_decref(set);
}

TEST(three_trials)
{
    char *file = settings_file();
    char *dir = tmpdir_path("three");
    struct proc_result r = proc_run(
        ARGS("run", file, "--trials", "3", "--seed", "7", "-o", dir, "--json"));
    struct proc_result again;
    json_t *set;
    char *seed;

    assert_non_null(strstr(r.err, "trial      3 of 3, seed "));
    must_differ(dir, "load", "seed");
    must_differ(dir, "stub", "seed");
    must_differ(dir, "data", "nonce");
    seed = setting_of(dir, 1, "load", "seed");
    assert_string_equal(seed, "7");
    set = parse(r.out);
    proc_expect(&r, status_of(set));
    assert_true(number_at(set, "launches") == 3);
    is_median(dir, set, "throughput_rps", "throughput_rps.median");
    is_median(dir, set, "goodput_rps", "goodput_rps.median");
    is_median(dir, set, "attainment", "attainment.median");
    is_median(dir, set, "measures.e2e.p50_ms", "measures.e2e.p50_ms.median");
    again = proc_run(ARGS("report", dir, "--format", "json"));
    assert_int_equal(again.status, r.status);
    assert_string_equal(again.out, r.out);
    again = proc_run(ARGS("report", "-v", dir, "--slo", "goodput >= 100000/s"));
    assert_non_null(strstr(again.out, "  goodput >= 100000/s  fail "));
    again = proc_run(ARGS("report", dir, "--format", "csv"));
    proc_expect(&again, 2);
    json_decref(set);
    free(seed);
}

TEST(trials_of_one_server_are_one_start)
{
    char *url;
    struct proc stub = stub_start(ARGS("stub", "--port", "0"), &url);
    char *dir = tmpdir_path("one");
    char *forced = tmpdir_path("restarted");
    struct proc_result r = proc_run(
        ARGS("run", "-v", url, "-R", "100", "-d", "100ms", "--max-discarded",
             "0", "--trials", "2", "--settle", "0s", "-q", "-o", dir));

    expect_as_reported(&r, dir);
    assert_non_null(strstr(r.out, "starts     1: all trials used one"));
    r = proc_run(ARGS("run", "-v", url, "-R", "100", "-d", "100ms",
                      "--max-discarded", "0", "--trials", "2", "--settle", "0s",
                      "--restart", "echo anew", "-q", "-o", forced));
    expect_as_reported(&r, forced);
    assert_non_null(strstr(r.out, "starts     2: the server was restarted"));
    assert_null(strstr(r.out, "anew\nanew"));
    assert_non_null(strstr(r.err, "anew\nanew"));
    stub_stop(&stub);
}

/* The second trial cannot begin: the first is kept, and said. */
TEST(one_that_cannot_run_ends_the_set)
{
    char *url;
    struct proc stub = stub_start(ARGS("stub", "--port", "0"), &url);
    char *dir = tmpdir_path("ended");
    char *restart = keepf("test ! -e %s/trial-1", dir);
    struct proc_result r = proc_run(
        ARGS("run", "-v", url, "-R", "100", "-d", "100ms", "--max-discarded",
             "0", "--trials", "4", "--restart", restart, "-q", "-o", dir));

    proc_expect(&r, 3);
    assert_non_null(strstr(r.out, "trials     recorded 1 of 4"));
    assert_non_null(strstr(r.err, "study.restart: exit code 1"));
    r = proc_run(ARGS("report", "-v", dir));
    assert_non_null(strstr(r.out, "ended early: study.restart: exit code 1"));
    stub_stop(&stub);
}

TEST(a_set_that_never_began_leaves_nothing)
{
    char *url = keepf("http://127.0.0.1:%d/", refusing_port());
    char *dir = tmpdir_path("never");
    struct proc_result r = proc_run(ARGS("run", url, "-R", "100", "-d", "100ms",
                                         "--trials", "2", "-q", "-o", dir));

    proc_expect(&r, 3);
    assert_int_equal(access(dir, F_OK), -1);
}

/* One whole trial, or one that was cut: 130, and the set says how many. */
static void expect_cut(const char *dir, double counted)
{
    struct proc_result r = proc_run(ARGS("report", dir, "--format", "json"));
    json_t *set;

    proc_expect(&r, 130);
    set = parse(r.out);
    assert_true(number_at(set, "trials.asked") == 3);
    assert_true(number_at(set, "trials.recorded") == 1);
    assert_true(number_at(set, "trials.counted") == counted);
    json_decref(set);
}

TEST(a_signal_between_trials)
{
    char *file = settings_file();
    char *dir = tmpdir_path("between");
    char *summary = keepf("%s/trial-1/summary.json", dir);
    struct proc run = proc_start(ARGS("run", "-v", file, "--trials", "3",
                                      "--settle", "1h", "-q", "-o", dir));
    struct proc_result r;

    while (access(summary, F_OK) != 0)
        clk_sleep_ns(NS_PER_MS);
    assert_int_equal(kill(run.pid, SIGINT), 0);
    r = proc_wait(&run);
    proc_expect(&r, 130);
    assert_non_null(strstr(r.out, "trials     recorded 1 of 3"));
    expect_cut(dir, 1);
}

/* Of three that are to last for an hour the first; has recorded something. */
static struct proc begin_first(const char *file, const char *dir)
{
    char *first = trial_dir(dir, 1);
    struct proc run = proc_start(
        ARGS("run", "-v", file, "--trials", "3", "-d", "1h", "-q", "-o", dir));

    while (access(first, F_OK) != 0)
        clk_sleep_ns(NS_PER_MS);
    wait_for_rows(first);
    return run;
}

TEST(a_signal_within_a_trial)
{
    char *file = settings_file();
    char *dir = tmpdir_path("within");
    struct proc run = begin_first(file, dir);
    struct proc_result r;

    assert_int_equal(kill(run.pid, SIGINT), 0);
    r = proc_wait(&run);
    proc_expect(&r, 130);
    assert_non_null(strstr(r.out, "interrupted, not counted"));
    expect_cut(dir, 0);
}

/* What is there of it is one trial, which did not come to its end. */
TEST(killed_within_the_first_trial)
{
    char *file = settings_file();
    char *dir = tmpdir_path("killed");
    struct proc run = begin_first(file, dir);
    char *first = trial_dir(dir, 1);
    char *want = keepf("tailgate: %s: no trial was completed; to see "
                       "what the first one recorded: tailgate report "
                       "%s\n",
                       dir, first);
    struct proc_result r;

    assert_int_equal(kill(run.pid, SIGKILL), 0);
    r = proc_wait(&run);
    r = proc_run(ARGS("report", "-v", dir));
    proc_expect(&r, 4);
    assert_string_equal(r.err, want);
    r = proc_run(ARGS("report", "-v", first));
    proc_expect(&r, 4);
    assert_non_null(strstr(r.out, "requests "));
}

TEST(two_take_turns)
{
    static const char other[] = "stub: {service: fixed 3ms}\n"
                                "load: {rate: 100/s, duration: 100ms}\n"
                                "slo: [errors < 90%]\n"
                                "study: {settle: 10ms, max_discarded: 0}\n";
    char *a = settings_file();
    char *b = tmpdir_write("u.yaml", other, strlen(other));
    char *dir = tmpdir_path("turns");
    char *sides[] = {xasprintf("%s/a", dir), xasprintf("%s/b", dir)};
    char *study = keepf("%s/study.json", dir);
    struct err err = {0};
    json_t *json = NULL;
    struct proc_result r = proc_run(ARGS("run", a, "--against", b, "--trials",
                                         "2", "-q", "--json", "-o", dir));

    json = parse(r.out);
    assert_true(number_at(json, "a.trials.recorded") == 2);
    assert_true(number_at(json, "b.trials.recorded") == 2);
    assert_schema("pair", json);
    assert_schema("trials", json_object_get(json, "a"));
    json_decref(json);
    assert_int_equal(json_read_file(study, &json, &err), 0);
    assert_string_equal(json_string_value(json_object_get(json, "order")),
                        "ABBA");
    json_decref(json);
    for (int i = 0; i < 2; i++) {
        char *service = setting_of(sides[i], 2, "stub", "service");

        assert_string_equal(service, i == 0 ? "fixed 1ms" : "fixed 3ms");
        r = proc_run(ARGS("report", sides[i], "--format", "json"));
        json = parse(r.out);
        proc_expect(&r, status_of(json));
        json_decref(json);
        free(service);
        free(sides[i]);
    }
    r = proc_run(ARGS("report", dir));
    proc_expect(&r, 2);
    r = proc_run(ARGS("run", a, "--against", b, "-q", "-o", dir));
    proc_expect(&r, 2); /* without --trials */
}

/* A miss outweighs a side that cannot be decided, as in any other case of both;
 * a side that cannot be trusted outweighs it. */
TEST(the_worse_side_decides)
{
    static const char missed[] = "stub: {service: fixed 3ms}\n"
                                 "load: {rate: 100/s, duration: 100ms}\n"
                                 "slo: [e2e p50 < 1ms]\n"
                                 "study: {settle: 10ms, max_discarded: 0}\n";
    static const char open[] = "stub: {service: fixed 3ms}\n"
                               "load: {rate: 100/s, duration: 100ms}\n"
                               "slo: [e2e p99.99 < 10s]\n"
                               "study: {settle: 10ms, max_discarded: 0}\n";
    char *a = tmpdir_write("missed.yaml", missed, strlen(missed));
    char *b = tmpdir_write("open.yaml", open, strlen(open));
    char *dir = tmpdir_path("sides");
    struct proc_result r = proc_run(ARGS("run", a, "--against", b, "--trials",
                                         "2", "-q", "--json", "-o", dir));
    json_t *json = parse(r.out);
    const char *first = json_string_value(
        json_object_get(json_object_get(json, "a"), "verdict"));
    const char *second = json_string_value(
        json_object_get(json_object_get(json, "b"), "verdict"));
    bool is_invalid =
        strcmp(first, "invalid") == 0 || strcmp(second, "invalid") == 0;

    if (!is_invalid) {
        assert_string_equal(first, "fail");
        assert_string_equal(second, "undecided");
    }
    proc_expect(&r, is_invalid ? 4 : 1);
    json_decref(json);
}

/* One connection turns the open loop into a closed one, so no trial can be
 * trusted: each is made again, up to the maximum, and all commands say so. */
TEST(invalid_trials_are_made_again)
{
    static const char text[] = "stub: {service: fixed 20ms}\n"
                               "load: {rate: 100/s, duration: 300ms}\n"
                               "client: {connections: 1}\n"
                               "slo: [errors < 90%]\n"
                               "study: {settle: 10ms}\n";
    static const struct {
        const char *max;
        double recorded;
    } cases[] = {{"auto", 4}, {"0", 2}, {"1", 3}};
    char *file = tmpdir_write("late.yaml", text, strlen(text));
    char *sealed = tmpdir_path("late.json");

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *name = keepf("late-%zu", i);
        char *dir = tmpdir_path(name);
        struct proc_result r =
            proc_run(ARGS("run", file, "--trials", "2", "--max-discarded",
                          cases[i].max, "-q", "--json", "-o", dir));
        json_t *set = parse(r.out);

        proc_expect(&r, 4);
        assert_string_equal(json_string_value(json_object_get(set, "verdict")),
                            "invalid");
        assert_true(number_at(set, "trials.asked") == 2);
        assert_true(number_at(set, "trials.recorded") == cases[i].recorded);
        assert_true(number_at(set, "trials.discarded") == cases[i].recorded);
        assert_true(number_at(set, "trials.counted") == 0);
        must_differ_in(dir, cases[i].recorded);
        json_decref(set);
        expect_status(ARGS("report", dir), 4);
        expect_status(ARGS("compare", dir, dir), 4);
        expect_status(ARGS("baseline", "freeze", dir, "-o", sealed), 4);
    }
}

/* Twenty are allowed, and the median of a fixed service is precise at once. */
TEST(a_set_goes_on_until_it_is_precise)
{
    static const char text[] = "stub: {service: fixed 1s, replicas: 64}\n"
                               "load: {rate: 50/s, duration: 500ms}\n"
                               "study: {settle: 10ms, until: e2e p50 +- 80%}\n";
    char *file = tmpdir_write("until.yaml", text, strlen(text));
    char *dir = tmpdir_path("until");
    struct proc_result r = proc_run(
        ARGS("run", file, "--trials", "20", "-q", "--json", "-o", dir));
    json_t *set = parse(r.out);

    assert_true(number_at(set, "trials.counted") == 5);
    assert_true(number_at(set, "trials.asked") == 5);
    assert_true(json_is_true(
        json_object_get(json_object_get(set, "until"), "reached")));
    assert_true(number_at(set, "until.half_width") <= 0.8);
    json_decref(set);
}

/* It may last for an hour; p50 needs a hundred requests. */
TEST(a_run_goes_on_until_it_is_precise)
{
    char *file = settings_file();
    char *dir = tmpdir_path("until-one");
    struct proc_result r =
        proc_run(ARGS("run", file, "-d", "1h", "--until",
                      "e2e p50 \xc2\xb1 80%", "-q", "--json", "-o", dir));
    json_t *run = parse(r.out);

    assert_true(json_is_true(
        json_object_get(json_object_get(run, "until"), "reached")));
    assert_true(number_at(run, "until.half_width") <= 0.8);
    json_decref(run);
    r = proc_run(ARGS("report", dir));
    assert_non_null(
        strstr(r.out, "\nuntil      e2e p50 \xc2\xb1 80%: reached"));
    r = proc_run(ARGS("run", file, "--until", "e2e p50", "-q", "-o", dir));
    proc_expect(&r, 2);
}

TEST(what_makes_no_sense_is_refused)
{
    static const char *const bad[] = {"0", "-1", "1.5", "1001", "x", ""};
    char *file = settings_file();
    char *dir = tmpdir_path("refused");
    struct proc_result r;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        r = proc_run(ARGS("run", file, "--trials", bad[i], "-q", "-o", dir));
        proc_expect(&r, 2);
    }
    r = proc_run(ARGS("run", file, "--trials", "2", "--restart", "true", "-q",
                      "-o", dir));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "--restart cannot be combined with the "
                                  "block 'stub' of a settings file"));
    r = proc_run(ARGS("run", "http://127.0.0.1:1/", "-R", "1", "--restart",
                      "true", "-q", "-o", dir));
    proc_expect(&r, 2);
    assert_non_null(
        strstr(r.err, "study.restart requires study.trials: 2 or more"));
    assert_int_equal(access(dir, F_OK), -1);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
