/* A search, as a user has it: what it finds, and how it goes on after an
 * interruption. */
#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/xalloc.h"
#include "tests/support/proc.h"
#include "tests/support/searched.h"
#include "tests/support/tmpdir.h"

#define MOST_MS 60000 /* until a recording begins */

/* Constant arrivals, and 10 ms for each: up to 100/s nobody waits, and beyond
 * that the queue grows as long as one looks: in the middle of a probe, 0.4 s
 * after it began, by 40 ms at 110/s.  The margin is one and a half times that,
 * to either side; the median does not mind what disturbs a machine. */
static const char fixed[] = "stub: {service: fixed 10ms}\n"
                            "load: {arrival: constant}\n"
                            "slo: [e2e p50 < 50ms]\n"
                            "search: {start: 40, probe: 500ms, confirm: 500ms, "
                            "tolerance: 20%, budget: 40s}\n";

#define LEAST 85
#define MOST  125

static bool is_found(const struct proc_result *r, const char *dir)
{
    json_t *json = searched_json(dir, "summary.json");
    bool is = !searched_is_given_up(r, json);

    if (is) {
        proc_expect(r, 0);
        assert_string_equal(searched_text(json, "outcome"), "found");
        assert_in_range((uintmax_t)number_at(json, "capacity_rps"), LEAST,
                        MOST);
        assert_in_range((uintmax_t)number_at(json, "confirmed_rps"), LEAST / 2,
                        MOST); /* lower if the first one was disturbed */
        assert_string_equal(searched_text(json, "binding"), "e2e p50 < 50ms");
        assert_true(number_at(json, "requests") > 300);
    }
    json_decref(json);
    return is;
}

/* The probes as they are, and by other objectives. */
static void look_at_it_again(const char *dir)
{
    json_t *kept = searched_json(dir, "summary.json");
    struct proc_result r = proc_run(ARGS("report", dir, "--json"));
    json_t *json = json_loads(r.out, 0, NULL);

    proc_expect(&r, 0);
    assert_true(json_equal(kept, json));
    json_decref(json);
    json_decref(kept);
    proc_result_fini(&r);

    /* A looser one is not missed anywhere up to where probes have been. */
    r = proc_run(ARGS("report", dir, "--slo", "e2e p50 < 100s", "--json"));
    proc_expect(&r, 4);
    json = json_loads(r.out, 0, NULL);
    assert_string_equal(searched_text(json, "outcome"), "not probed");
    assert_true(json_is_array(json_object_get(json, "missing")));
    json_decref(json);
    proc_result_fini(&r);

    r = proc_run(ARGS("report", dir, "--slo", "e2e p50 < 1us"));
    assert_int_not_equal(r.status, 0);
    assert_non_null(strstr(r.out, "by another SLO"));
    proc_result_fini(&r);
}

static void interrupt(const char *const *argv, const char *probe)
{
    struct proc p = proc_start(argv);
    char *rows = xasprintf("%s/requests.tgr", probe);
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
    proc_result_fini(&r);
    free(rows);
}

static void it_is_found_and_may_be_interrupted(void **state)
{
    char *file = searched_file("fixed.yaml", fixed);
    char *dir = xstrdup(tmpdir_path("fixed"));
    char *third = xasprintf("%s/probe-3", dir);
    struct proc_result r;
    json_t *before;
    json_t *after;

    (void)state;
    interrupt(ARGS("search", file, "-q", "-o", dir), third);
    before = searched_json(dir, "probe-2/manifest.json");
    r = proc_run(
        ARGS("search", file, "-q", "-o", dir, "--resume", "--seed", "2"));
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "other settings"));
    proc_result_fini(&r);

    r = proc_run(ARGS("search", file, "-q", "-o", dir, "--resume"));
    after = searched_json(dir, "probe-2/manifest.json");
    assert_true(json_equal(before, after));
    if (is_found(&r, dir))
        look_at_it_again(dir);
    proc_result_fini(&r);
    json_decref(before);
    json_decref(after);
    free(third);
    free(dir);
    free(file);
}

/* What is over by the budget of --resume is over, whatever it was begun with.
 */
static void it_may_go_on_with_another_budget(void **state)
{
    char *file = searched_file("budget.yaml", fixed);
    char *dir = xstrdup(tmpdir_path("budget"));
    char *second = xasprintf("%s/probe-2", dir);
    struct proc_result r;
    json_t *json;

    (void)state;
    interrupt(ARGS("search", file, "-q", "-o", dir), second);
    r = proc_run(
        ARGS("search", file, "-q", "-o", dir, "--resume", "--budget", "6s"));
    json = searched_json(dir, "summary.json");
    proc_expect(&r, 4);
    assert_string_not_equal(searched_text(json, "outcome"), "goes on");
    json_decref(json);
    proc_result_fini(&r);
    free(second);
    free(dir);
    free(file);
}

/* N clients of a server that takes 10 ms for each wait N times as long: five
 * are within 55 ms, and six are not. */
static void clients_of_a_closed_loop_are_counted(void **state)
{
    struct searched s =
        searched_run("closed", "stub: {service: fixed 10ms}\n"
                               "slo: [e2e p50 < 55ms]\n"
                               "search: {by: concurrency, probe: 500ms, "
                               "confirm: 500ms, tolerance: 20%}\n");

    (void)state;
    if (!searched_is_given_up(&s.r, s.json)) {
        proc_expect(&s.r, 0);
        assert_int_equal(number_at(s.json, "capacity_clients"), 5);
    }
    searched_fini(&s);
}

static void nonsense_is_refused(void **state)
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
         "search.least"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const char *argv[9] = {"tailgate", "search"};
        struct proc_result r;

        for (size_t k = 0; bad[i].args[k]; k++)
            argv[2 + k] = bad[i].args[k];
        r = proc_run(argv);
        proc_expect(&r, 2);
        if (!strstr(r.err, bad[i].why))
            fail_msg("%s: %s", bad[i].why, r.err);
        proc_result_fini(&r);
    }
}

/* Nobody listens: nothing is left behind but the error. */
static void a_server_that_is_not_there_is_exit_3(void **state)
{
    char *url = xasprintf("http://127.0.0.1:%d/", refusing_port());
    char *dir = xstrdup(tmpdir_path("absent"));
    struct proc_result r =
        proc_run(ARGS("search", url, "--slo", "errors < 1%", "-q", "-o", dir));

    (void)state;
    proc_expect(&r, 3);
    proc_result_fini(&r);
    assert_int_equal(access(dir, F_OK), -1);
    free(dir);
    free(url);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_found_and_may_be_interrupted),
        cmocka_unit_test(it_may_go_on_with_another_budget),
        cmocka_unit_test(clients_of_a_closed_loop_are_counted),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(a_server_that_is_not_there_is_exit_3),
    };

    return cmocka_run_group_tests(tests, tmpdir_setup, tmpdir_teardown);
}
