/* From trials to a sealed file, and what is later against it; what makes no
 * baseline is refused. */
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/strangers.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static const char data[] = "{\"prompt\":\"one\",\"label\":\"tok\"}\n"
                           "{\"prompt\":\"two\",\"label\":\"tok\"}\n"
                           "{\"prompt\":\"three\",\"label\":\"none such\"}\n";

/* Was one of its trials disturbed?  No baseline is made of such a set. */
static bool is_invalid(const char *set, int trials)
{
    bool is = false;

    for (int i = 1; i <= trials; i++) {
        char *dir = keepf("%s/trial-%d", set, i);
        json_t *summary = load_summary(dir);

        is |= was_disturbed(summary);
    }
    return is;
}

/* A set that was disturbed is refused, saying so.  True: it was not. */
static bool is_frozen(const struct proc_result *r, bool is_invalid_set)
{
    proc_expect(r, is_invalid_set ? 4 : 0);
    if (is_invalid_set)
        assert_non_null(strstr(r->err, "invalid: "));
    return !is_invalid_set;
}

/* An offline set of three questions, a number of times, at one stub, whose
 * first `cold` answers take 30 times as long. */
static char *make_set_at(const char *name, const char *service,
                         const char *cold, const char *trials)
{
    char *dir = tmpdir_path(name);
    char *file = tmpdir_write("q.jsonl", data, sizeof(data) - 1);
    struct proc_result r;
    struct proc stub;
    char *target;
    char *url;

    stub = stub_start(ARGS("stub", "--service", service, "--cold", cold,
                           "--cold-factor", "30"),
                      &url);
    target = keepf("%s/v1/completions", url);
    r = proc_run(ARGS("run", "-v", target, "--scenario", "offline", "--data",
                      file, "--accuracy", "--check", "label", "--model", "m",
                      "--output-len", "4", "--trials", trials,
                      "--max-discarded", "0", "--settle", "10ms", "-q", "-o",
                      dir));
    expect_as_reported(&r, dir);
    stub_stop(&stub);
    return dir;
}

static char *make_set(const char *name, const char *service, const char *trials)
{
    return make_set_at(name, service, "0", trials);
}

static char *fast;
static char *slow;

static int make_sets(void **state)
{
    assert_int_equal(tmpdir_setup(state), 0);
    slow = make_set("slow", "fixed 60ms", "3");
    fast = make_set("fast", "fixed 10ms", "3");
    return 0;
}

TEST(the_strongest_is_sealed)
{
    char *base = tmpdir_path("base.json");
    struct proc_result r = proc_run(ARGS("baseline", "-v", "freeze", slow, fast,
                                         "-o", base, "--name", "questions"));

    if (!is_frozen(&r, is_invalid(slow, 3) || is_invalid(fast, 3))) {
        return;
    }
    assert_non_null(strstr(r.out, "baseline   questions, frozen "));
    assert_non_null(strstr(r.out, "/fast, the fastest of 2 configurations"));
    assert_non_null(strstr(r.out, "trials 2\npeak memory none: "));
    assert_non_null(strstr(r.out, "quality    median 66.67%"));
    assert_non_null(strstr(r.out, ", answers 3, "));
    r = proc_run(ARGS("baseline", "-v", "check", base));
    proc_expect(&r, 0);
    assert_non_null(strstr(r.out, "unchanged since it was sealed"));
    r = proc_run(ARGS("baseline", "-v", "against", base, slow));
    proc_expect(&r, 0);
    assert_non_null(strstr(r.out, "baseline   questions, frozen "));
    assert_non_null(
        strstr(r.out, "trials     2, warm-up trials, not counted 1\n"));
    assert_non_null(strstr(r.out, "\ntime "));
    assert_non_null(strstr(r.out, "6 of 6 are those of the baseline"));
    r = proc_run(ARGS("report", "-v", slow, "--baseline", base));
    assert_non_null(strstr(r.out, "trials     recorded 3 of 3"));
    assert_non_null(strstr(r.out, "baseline   questions, frozen "));
    /* One document: the report, then what changed. */
    r = proc_run(ARGS("report", slow, "--baseline", base, "--format", "md"));
    assert_non_null(strstr(r.out, "\n\n### "));
    assert_non_null(strstr(strstr(r.out, "\n\n### "), "questions"));
    assert_non_null(
        strstr(strstr(r.out, "\n\n### "), "6 of 6 are those of the baseline"));
    r = proc_run(ARGS("report", slow, "--baseline", base, "--json"));
    proc_expect(&r, 2);
    r = proc_run(ARGS("baseline", "-v", "freeze", fast, "-o", base));
    proc_expect(&r, 2);
}

/* Seconds of a set by `against`. */
static double time_of(const char *base, const char *set)
{
    struct proc_result r =
        proc_run(ARGS("baseline", "against", base, set, "--json"));
    json_t *json = json_loads(r.out, 0, NULL);
    double now = number_at(
        json_object_get(json_object_get(json, "ratios"), "time_s"), "now");

    proc_expect(&r, 0);
    json_decref(json);
    return now;
}

/* Of a set of two the first takes 1.8 s or more, the other 60 ms and what a
 * busy machine adds; the mean of both would be above 0.9 s. */
TEST(the_trial_that_warms_up_does_not_count)
{
    char *base = tmpdir_path("cooled.json");
    char *cold = make_set_at("cooled", "fixed 20ms", "3", "2");
    struct proc_result r =
        proc_run(ARGS("baseline", "freeze", fast, "-o", base));

    if (is_frozen(&r, is_invalid(fast, 3)) && !is_invalid(cold, 2))
        assert_true(time_of(base, cold) < 0.9);
}

/* Each trial has a stub of its own, which is warm at once or never. */
TEST(sets_beside_a_stub)
{
    static const struct {
        const char *name;
        const char *cold;
        int status;
        const char *says;
    } cases[] = {
        {"warm", "stub.cold=0", 0, ""},
        {"never", "stub.cold=1", 4, "no warm-up"},
    };
    static const char text[] =
        "load: {scenario: offline, requests: 20}\n"
        "stub: {service: fixed 2ms}\n"
        "study: {trials: 2, max_discarded: 0, settle: 10ms}\n";

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *file = tmpdir_write("s.yaml", text, sizeof(text) - 1);
        char *dir = tmpdir_path(cases[i].name);
        char *base = keepf("%s.json", dir);
        struct proc_result r = proc_run(
            ARGS("run", "-v", file, "--set", cases[i].cold, "-q", "-o", dir));

        expect_as_reported(&r, dir);
        r = proc_run(ARGS("baseline", "freeze", dir, "-o", base));
        if (is_invalid(dir, 2)) {
            proc_expect(&r, 4);
        } else {
            proc_expect(&r, cases[i].status);
            assert_non_null(strstr(r.err, cases[i].says));
        }
    }
}

TEST(what_makes_none_is_refused)
{
    char *one = keepf("%s/trial-1", fast);
    char *base = tmpdir_path("never.json");
    struct proc_result r =
        proc_run(ARGS("baseline", "freeze", one, "-o", base));

    proc_expect(&r, 4);
    assert_non_null(strstr(r.err, "one run; a baseline needs"));
    r = proc_run(ARGS("baseline", "freeze", fast));
    proc_expect(&r, 2);
    r = proc_run(ARGS("baseline", "show", base));
    proc_expect(&r, 2);
    r = proc_run(ARGS("baseline", "melt"));
    proc_expect(&r, 2);
}

/* Not behind a report that was printed already. */
TEST(what_goes_below_a_report_is_looked_at_first)
{
    static const struct {
        const char *flag;
        const char *file;
        const char *says;
    } rows[] = {
        {"--baseline", "/no/such", "/no/such: No such file or directory"},
        {"--truth-file", "/no/such", "/no/such: No such file or directory"},
        {"--truth-file", "/", "/: Is a directory"},
        {"--truth-file", "/proc/self/status", "not a tailgate recording"},
    };
    char *one = keepf("%s/trial-1", fast);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct proc_result r =
            proc_run(ARGS("report", one, rows[i].flag, rows[i].file));

        proc_expect(&r, 2);
        assert_string_equal(r.out, "");
        assert_non_null(strstr(r.err, rows[i].says));
    }
}

/* An open loop without a warm-up, and a stub that is new for each trial. */
TEST(without_a_warm_up_there_is_none)
{
    static const char text[] =
        "target: {url: 'http://127.0.0.1/'}\n"
        "load: {rate: 100/s, duration: 400ms}\n"
        "study: {trials: 2, max_discarded: 0, settle: 10ms}\n"
        "stub: {service: fixed 1ms}\n";
    char *dir = tmpdir_path("cold");
    char *file = tmpdir_write("cold.yaml", text, sizeof(text) - 1);
    struct proc_result r = proc_run(ARGS("run", "-v", file, "-q", "-o", dir));

    expect_as_reported(&r, dir);
    r = proc_run(
        ARGS("baseline", "freeze", dir, "-o", tmpdir_path("cold.json")));
    proc_expect(&r, 4);
    assert_non_null(
        strstr(r.err, is_invalid(dir, 2) ? "invalid: " : "no warm-up"));
}

GROUP_FIXTURE(make_sets, tmpdir_teardown)
