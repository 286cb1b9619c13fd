/* tailgate scale as a user has it: tables, recordings of fixed sets on 1 to 8
 * replicas, what it refuses, and its exit codes.  The sets are made by hand,
 * one pair is real. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/recording/schema.h"
#include "common/recording/study_set.h"
#include "tests/support/keep.h"
#include "tests/support/near.h"
#include "tests/support/ondisk.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/sided.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* ---- a study ---- */

#define REQUESTS 160

static const char *const ks[] = {"1", "2", "4", "8"};

static const struct routed {
    const char *name;
    const char *router;
    const char *speed; /* of one replica, from K = 2 on */
} all[] = {
    {"shared", "shared", "1"},
    {"random", "random", "1"},
    {"slow", "round-robin", "0.5"},
};

static char *set_dir(const struct routed *x, const char *k)
{
    char name[64];

    snprintf(name, sizeof(name), "%s/k%s", x->name, k);
    return tmpdir_path(name);
}

/* The sets of a series are the variants of one study. */
static void make_study(const struct routed *x)
{
    struct variant_set set = {.of = STUDY_TRIALS};
    struct err err = {0};

    for (size_t i = 0; i < COUNT(ks); i++) {
        char name[8];

        snprintf(name, sizeof(name), "k%s", ks[i]);
        variant_set_add(&set, name);
    }
    assert_int_equal(variant_set_save(&set, tmpdir_path(x->name), &err), 0);
    variant_set_fini(&set);
}

/* Two trials of one series at K replicas. */
static void write_set(const struct routed *x, const char *k)
{
    bool is_one = k[0] == '1';
    char *text = keepf("stub: {service: fixed 10ms, router: %s, "
                       "replicas: %s, speed: ['%s']}\n"
                       "conditions: {replicas: %s}\n",
                       x->router, k, is_one ? "1" : x->speed, k);
    const struct fixed_set set = {
        .settings = text,
        .trials = 2,
        .n = REQUESTS,
        .service_ms = 10,
        .servers = (size_t)strtol(k, NULL, 10),
        .slow = is_one ? 0 : 1 / strtod(x->speed, NULL),
        .by_chance = strcmp(x->router, "random") == 0,
        .is_checked = true,
    };
    char name[64];

    snprintf(name, sizeof(name), "%s/k%s", x->name, k);
    free(fixed_set_write(name, &set));
}

/* A meter that showed a number of watts during the run. */
static void add_power(const struct routed *x, const char *k, double watts)
{
    const struct meter_reading looks[] = {
        {.at = 0, .memory = TIME_ABSENT, .energy = 0},
        {.at = 1000 * NS_PER_S,
         .memory = TIME_ABSENT,
         .energy = (int64_t)(watts * 1e9)},
    };
    char *set = set_dir(x, k);

    for (int64_t i = 1; i <= 2; i++) {
        char *dir = study_trial_path(set, i);

        table_write(dir, "meter.tgr", &schema_meter, looks, COUNT(looks), 2);
        free(dir);
    }
}

/* Of K replicas, at one queue for all. */
static double watts_of(const char *k)
{
    return 20 + 10 * strtod(k, NULL);
}

static int make_sets(void **state)
{
    struct err err = {0};

    assert_int_equal(tmpdir_setup(state), 0);
    for (size_t i = 0; i < COUNT(all); i++) {
        assert_int_equal(file_make_dir(tmpdir_path(all[i].name), &err), 0);
        for (size_t k = 0; k < COUNT(ks); k++)
            write_set(&all[i], ks[k]);
        make_study(&all[i]);
    }
    for (size_t k = 0; k < COUNT(ks); k++)
        add_power(&all[0], ks[k], watts_of(ks[k]));
    return 0;
}

static struct proc_result scaled(const struct routed *x, const char *regime)
{
    return proc_run(ARGS("scale", tmpdir_path(x->name), regime, "--tolerance",
                         "0.1", "--json"));
}

static json_t *parsed(const struct proc_result *r)
{
    json_t *json = json_loads(r->out, 0, NULL);

    assert_non_null(json);
    return json;
}

static const char *text_at(const json_t *json, const char *object,
                           const char *key)
{
    return json_string_value(
        json_object_get(json_object_get(json, object), key));
}

static json_t *strong(const struct routed *series)
{
    struct proc_result r = scaled(series, "--strong");
    json_t *json = parsed(&r);

    return json;
}

/* Joules of a request are watts times T over requests, whatever T was. */
TEST(energy_is_that_of_the_recordings)
{
    json_t *json = strong(&all[0]);
    const json_t *points = json_object_get(json, "points");
    double least = 0;
    double least_k = 0;

    assert_int_equal(json_array_size(points), COUNT(ks));
    for (size_t i = 0; i < COUNT(ks); i++) {
        const json_t *p = json_array_get(points, i);
        double want = watts_of(ks[i]) * number_at(p, "seconds") / REQUESTS;

        assert_near(number_at(p, "joules_per_unit"), want, 1e-6 * want);
        if (i == 0 || want < least) {
            least = want;
            least_k = number_at(p, "k");
        }
    }
    assert_near(number_at(json_object_get(json, "verdict"), "least_energy_k"),
                least_k, 0);
    json_decref(json);
    json = strong(&all[1]); /* not measured */
    points = json_object_get(json, "points");
    assert_true(json_is_null(
        json_object_get(json_array_get(points, 0), "joules_per_unit")));
    json_decref(json);
}

/* A set whose one replica is at half speed ends at half of its rate, one that
 * is spread by chance at the rate of healthy replicas.  Every router:
 * unit.scaling_routers. */
TEST(the_cause_of_the_bend)
{
    static const struct {
        const struct routed *series;
        const char *want;
    } cases[] = {{&all[2], "straggler"}, {&all[1], "imbalance"}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        json_t *json = strong(cases[i].series);

        assert_string_equal(text_at(json, "bend", "guess"), cases[i].want);
        json_decref(json);
    }
}

static void says(const struct proc_result *r, int status, const char *what)
{
    proc_expect(r, status);
    if (!strstr(r->out, what) && !strstr(r->err, what))
        print_message("not there: %s\n%s%s\n", what, r->out, r->err);
    assert_true(strstr(r->out, what) || strstr(r->err, what));
}

/* Sets on one server, and on four of which the first is slow. */
TEST(a_slow_target_is_named)
{
    struct fixed_set set = {
        .settings = "conditions: {replicas: 1}\n",
        .trials = 3,
        .n = 1600,
        .service_ms = 10,
        .servers = 1,
        .has_targets = true,
    };
    char *one = fixed_set_write("target-1", &set);
    char *four;
    struct proc_result r;
    const json_t *targets;
    json_t *json;

    set.settings = "conditions: {replicas: 4}\n";
    set.servers = 4;
    set.slow = 2;
    four = fixed_set_write("target-4", &set);
    r = proc_run(ARGS("scale", one, four, "--strong", "--json"));
    json = parsed(&r);
    targets = json_object_get(
        json_array_get(json_object_get(json, "points"), 1), "targets");
    assert_int_equal(json_array_size(targets), 4);
    for (size_t i = 0; i < 4; i++) {
        const json_t *t = json_array_get(targets, i);

        assert_int_equal(number_at(t, "n"), 1200);
        assert_int_equal(number_at(t, "ok"), 1200);
        assert_int_equal(number_at(t, "runs"), 3);
        assert_true(json_is_true(json_object_get(t, "straggler")) == (i == 0));
    }
    assert_near(number_at(json_array_get(targets, 0), "times_others"), 2, 0.02);
    json_decref(json);
    r = proc_run(ARGS("scale", "-v", one, four, "--strong"));
    says(&r, 1,
         "straggler at K = 4: http://server-0/ takes 2 times as long as the "
         "others, in 3 of 3 runs");
}

TEST(what_recordings_say)
{
    json_t *json = strong(&all[0]);
    const json_t *points = json_object_get(json, "points");

    assert_int_equal(json_array_size(points), COUNT(ks));
    for (size_t i = 0; i < COUNT(ks); i++) {
        const json_t *p = json_array_get(points, i);

        assert_int_equal(json_integer_value(json_object_get(p, "k")), 1 << i);
        assert_true(number_at(p, "runs") == 2);
        assert_true(number_at(p, "work") == REQUESTS);
        assert_true(number_at(p, "quality") == 1);
        /* no faster than the service times allow */
        assert_true(number_at(p, "seconds") >= REQUESTS * 0.010 / (1 << i));
    }
    assert_string_equal(json_string_value(json_object_get(json, "unit")),
                        "request");
    json_decref(json);
}

/* The same sets one by one, in an order that is not that of K. */
TEST(one_by_one)
{
    struct proc_result whole = scaled(&all[0], "--strong");
    char *dirs[COUNT(ks)];
    struct proc_result r;

    for (size_t i = 0; i < COUNT(ks); i++)
        dirs[i] = set_dir(&all[0], ks[i]);
    r = proc_run(ARGS("scale", dirs[3], dirs[0], dirs[2], dirs[1], "--strong",
                      "--tolerance", "0.1", "--json"));
    assert_string_equal(r.out, whole.out);
    for (size_t i = 0; i < COUNT(ks); i++)
        free(dirs[i]);
}

/* The sets do not grow with K. */
TEST(no_weak_scaling)
{
    struct proc_result r = scaled(&all[0], "--weak");

    says(&r, 4, "K = 8 does 160 requests, but K times the job is 1280");
}

TEST(other_servers_are_refused)
{
    char *one = set_dir(&all[0], "1");
    char *two = set_dir(&all[1], "2");
    struct proc_result r = proc_run(ARGS("scale", "-v", one, two, "--strong"));

    says(&r, 4, "K = 2 does not match K = 1: stub.router: shared | random");
}

/* ---- sets that grow with K ---- */

static const char grows[] = "stub: {service: fixed 10ms}\n"
                            "load: {scenario: offline}\n";

/* A real run of a number of requests; *is_invalid if others disturbed it. */
static char *grown_set(const char *k, const char *requests, bool *is_invalid)
{
    char *file = tmpdir_write("w.yaml", grows, strlen(grows));
    char *dir = keepf("%s/weak-%s", tmpdir_root(), k);
    char *label = keepf("replicas=%s", k);
    char *replicas = keepf("stub.%s", label);
    json_t *summary;

    run_for(ARGS("run", file, "--set", replicas, "--label", label, "--requests",
                 requests, "-q", "-o", dir),
            dir, 0);
    summary = load_summary(dir);
    *is_invalid |= was_disturbed(summary);
    return dir;
}

/* Runs that are not to be trusted are refused, whatever was asked. */
TEST(weak_scaling)
{
    bool is_invalid = false;
    char *one = grown_set("1", "20", &is_invalid);
    char *two = grown_set("2", "40", &is_invalid);
    struct proc_result weak =
        proc_run(ARGS("scale", "-v", one, two, "--weak", "--efficiency", "0.01",
                      "--tolerance", "0.5"));
    struct proc_result strong =
        proc_run(ARGS("scale", "-v", one, two, "--strong"));
    struct proc_result alone = proc_run(ARGS("scale", "-v", one, "--weak"));

    says(&weak, is_invalid ? 4 : 0,
         is_invalid ? "invalid: " : "20 requests at K = 1, K times that at K");
    says(&strong, 4,
         is_invalid ? "invalid: "
                    : "not strong scaling: K = 2 does 40 requests, but the "
                      "one job is 20");
    proc_expect(&alone, 4);
}

/* The same of made sets: a law is named. */
TEST(weak_scaling_of_sets)
{
    char *dirs[2];

    for (size_t i = 0; i < 2; i++) {
        const struct fixed_set set = {.settings =
                                          i ? "conditions: {replicas: 2}\n"
                                            : "conditions: {replicas: 1}\n",
                                      .trials = 2,
                                      .n = i ? 40 : 20,
                                      .service_ms = 10,
                                      .servers = i ? 2 : 1};

        dirs[i] = fixed_set_write(i ? "grown-2" : "grown-1", &set);
    }
    for (size_t i = 0; i < 2; i++) {
        struct proc_result r = proc_run(
            ARGS("scale", "-v", dirs[0], dirs[1], i ? "--strong" : "--weak",
                 "--efficiency", "0.01", "--tolerance", "0.5"));

        if (i == 0)
            says(&r, 0, "Gustafson");
        else
            says(&r, 4,
                 "not strong scaling: K = 2 does 40 requests, but the one job "
                 "is 20");
    }
    free(dirs[1]);
    free(dirs[0]);
}

/* ---- what has no T ---- */

TEST(an_open_loop_is_refused)
{
    const struct sided run = {.e2e_ms = 5, .n = 100};
    char *open = sided_write("open", &run);
    struct proc_result r = proc_run(ARGS("scale", "-v", open, "--strong"));

    says(&r, 4, "the length of an open loop is not a T(K)");
    r = proc_run(ARGS("scale", "-v", open, "--capacity"));
    says(&r, 4, "a run has no capacity; tailgate search finds one");
}

/* ---- a sealed baseline ---- */

/* Trials of one launch, the first of which warms it. */
static char *warm_set(const char *k)
{
    char *text = keepf("conditions: {replicas: %s}\n", k);
    const struct fixed_set set = {.settings = text,
                                  .trials = 3,
                                  .n = 60,
                                  .service_ms = 2,
                                  .servers = (size_t)strtol(k, NULL, 10),
                                  .one_launch = true,
                                  .first_slow = 3};
    char *dir = fixed_set_write(k, &set);

    return dir;
}

static void alter(const char *path)
{
    struct err err = {0};
    char *text;

    assert_int_equal(file_read_text(path, 1 << 20, &text, &err), 0);
    strstr(text, "\"median\": 0")[10] = '7';
    assert_int_equal(file_replace(path, text, strlen(text), &err), 0);
    free(text);
}

TEST(a_sealed_baseline)
{
    char *one = warm_set("1");
    char *two = warm_set("2");
    char *file = tmpdir_path("baseline.json");
    struct proc_result sealed =
        proc_run(ARGS("baseline", "freeze", one, "-o", file));
    struct proc_result alone =
        proc_run(ARGS("scale", "-v", two, "--strong", "--warmup-trials", "1",
                      "--baseline", file, "--efficiency", "0.01"));
    struct proc_result both =
        proc_run(ARGS("scale", "-v", one, two, "--strong", "--baseline", file,
                      "--efficiency", "0.01"));
    struct proc_result altered;

    proc_expect(&sealed, 0);
    says(&alone, 0, "sealed baseline: 'baseline' of ");
    says(&alone, 0, "present  warm-up excluded");
    says(&both, 0, "times as fast as the sealed baseline");
    says(&both, 0, "MISSING  warm-up excluded");
    alter(file);
    altered =
        proc_run(ARGS("scale", "-v", two, "--strong", "--baseline", file));
    says(&altered, 4, "altered since it was sealed: quantities");
}

/* ---- tables and usage ---- */

TEST(exit_codes)
{
    static const char good[] = "workers,seconds\n1,10\n2,5.5\n";
    static const char bad[] = "workers,seconds\n1,10\n2,9\n";
    static const char wrong[] = "workers,secs\n1,10\n";
    char *yes = tmpdir_write("good.csv", good, strlen(good));
    char *no = tmpdir_write("bad.csv", bad, strlen(bad));
    char *typo = tmpdir_write("typo.csv", wrong, strlen(wrong));
    const struct {
        const char *const *argv;
        int status;
        const char *what;
    } cases[] = {
        {ARGS("scale", "-v", yes, "--strong"), 0, "recommendation: 2 workers"},
        {ARGS("scale", "-v", no, "--strong"), 1, "recommendation: 1 worker,"},
        {ARGS("scale", "-v", no, "--weak"), 0,
         "E(K) = 1; S(K) is K T(1) / T(K)"},
        {ARGS("scale", "-v", yes), 2, "scale requires --strong"},
        {ARGS("scale", "-v", yes, "--strong", "--weak"), 2,
         "scale requires --strong"},
        {ARGS("scale", "-v", "--strong"), 2, "scale requires a CSV"},
        {ARGS("scale", "-v", yes, no, "--strong"), 2, "scale takes one CSV"},
        {ARGS("scale", "-v", typo, "--strong"), 2,
         "typo.csv:1: unknown column"},
        {ARGS("scale", "-v", yes, "--strong", "--peak-flops", "1e12"), 2,
         "require each other"},
        {ARGS("scale", "-v", "/nowhere.csv", "--strong"), 2, "/nowhere.csv"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct proc_result r = proc_run(cases[i].argv);

        says(&r, cases[i].status, cases[i].what);
    }
}

GROUP_FIXTURE(make_sets, tmpdir_teardown)
