/* From trials to a sealed file, and what is later against it; what makes no
 * baseline is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/xalloc.h"
#include "tests/support/proc.h"
#include "tests/support/strangers.h"
#include "tests/support/tmpdir.h"

static const char data[] = "{\"prompt\":\"one\",\"label\":\"tok\"}\n"
                           "{\"prompt\":\"two\",\"label\":\"tok\"}\n"
                           "{\"prompt\":\"three\",\"label\":\"none such\"}\n";

/* An offline set of three questions, so many times, at one stub. */
static char *make_set(const char *name, const char *service, const char *trials)
{
    char *dir = xstrdup(tmpdir_path(name));
    char *file = xstrdup(tmpdir_write("q.jsonl", data, sizeof(data) - 1));
    struct proc_result r;
    struct proc stub;
    char *target;
    char *url;

    stub = stub_start(ARGS("stub", "--service", service), &url);
    target = xasprintf("%s/v1/completions", url);
    r = proc_run(ARGS("run", target, "--scenario", "offline", "--data", file,
                      "--accuracy", "--check", "label", "--model", "m",
                      "--output-len", "4", "--trials", trials, "--settle",
                      "10ms", "-q", "-o", dir));
    assert_true(r.status == 0 || r.status == 4);
    proc_result_fini(&r);
    stub_stop(&stub);
    free(target);
    free(url);
    free(file);
    return dir;
}

static char *fast;
static char *slow;

static int make_sets(void **state)
{
    assert_int_equal(tmpdir_setup(state), 0);
    slow = make_set("slow", "fixed 200ms", "3");
    fast = make_set("fast", "fixed 20ms", "3");
    return 0;
}

static int remove_sets(void **state)
{
    free(fast);
    free(slow);
    return tmpdir_teardown(state);
}

static void the_strongest_is_sealed(void **state)
{
    char *base = xstrdup(tmpdir_path("base.json"));
    struct proc_result r = proc_run(ARGS("baseline", "freeze", slow, fast, "-o",
                                         base, "--name", "questions"));

    (void)state;
    if (r.status == 4 && strstr(r.err, "invalid: ")) {
        print_message("the client was held up: %s", r.err);
        proc_result_fini(&r);
        free(base);
        skip();
        return;
    }
    proc_expect(&r, 0);
    assert_non_null(strstr(r.out, "baseline   questions, frozen "));
    assert_non_null(strstr(r.out, "/fast, the fastest of 2 configurations"));
    assert_non_null(strstr(r.out, "2 trials)\n  peak memory  none: "));
    assert_non_null(strstr(r.out, "quality      66.67%"));
    assert_non_null(strstr(r.out, " 3 answers, "));
    proc_result_fini(&r);
    r = proc_run(ARGS("baseline", "check", base));
    proc_expect(&r, 0);
    assert_non_null(strstr(r.out, "as it was sealed"));
    proc_result_fini(&r);
    r = proc_run(ARGS("baseline", "against", base, slow));
    proc_expect(&r, 0);
    assert_non_null(strstr(r.out, "baseline   questions (frozen "));
    assert_non_null(strstr(r.out, "  time         "));
    assert_non_null(strstr(r.out, "3 of 3 are those of the baseline"));
    proc_result_fini(&r);
    r = proc_run(ARGS("baseline", "freeze", fast, "-o", base));
    proc_expect(&r, 2);
    proc_result_fini(&r);
    free(base);
}

static void what_makes_none_is_refused(void **state)
{
    char *one = xasprintf("%s/trial-1", fast);
    char *base = xstrdup(tmpdir_path("never.json"));
    struct proc_result r =
        proc_run(ARGS("baseline", "freeze", one, "-o", base));

    (void)state;
    proc_expect(&r, 4);
    assert_non_null(strstr(r.err, "one run; a baseline needs"));
    proc_result_fini(&r);
    r = proc_run(ARGS("baseline", "freeze", fast));
    proc_expect(&r, 2);
    proc_result_fini(&r);
    r = proc_run(ARGS("baseline", "show", base));
    proc_expect(&r, 3);
    proc_result_fini(&r);
    r = proc_run(ARGS("baseline", "melt"));
    proc_expect(&r, 2);
    proc_result_fini(&r);
    free(base);
    free(one);
}

/* An open loop without a warm-up, and a stub that is new for each trial. */
static void without_a_warm_up_there_is_none(void **state)
{
    static const char text[] = "target: {url: 'http://127.0.0.1/'}\n"
                               "load: {rate: 100/s, duration: 400ms}\n"
                               "study: {trials: 2, settle: 10ms}\n"
                               "stub: {service: fixed 1ms}\n";
    char *dir = xstrdup(tmpdir_path("cold"));
    char *file = xstrdup(tmpdir_write("cold.yaml", text, sizeof(text) - 1));
    struct proc_result r = proc_run(ARGS("run", file, "-q", "-o", dir));

    (void)state;
    assert_true(r.status == 0 || r.status == 4);
    proc_result_fini(&r);
    r = proc_run(
        ARGS("baseline", "freeze", dir, "-o", tmpdir_path("cold.json")));
    proc_expect(&r, 4);
    assert_true(strstr(r.err, "without a warm-up") ||
                strstr(r.err, "invalid")); /* a busy machine */
    proc_result_fini(&r);
    free(file);
    free(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_strongest_is_sealed),
        cmocka_unit_test(what_makes_none_is_refused),
        cmocka_unit_test(without_a_warm_up_there_is_none),
    };

    return cmocka_run_group_tests(tests, make_sets, remove_sets);
}
