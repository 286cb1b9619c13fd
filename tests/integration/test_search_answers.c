/* What a search says where there is no capacity to be found. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/xalloc.h"
#include "tests/support/searched.h"
#include "tests/support/tmpdir.h"

static bool has_capacity(const struct searched *s)
{
    return !json_is_null(json_object_get(s->json, "capacity_rps"));
}

/* 20 ms is more than 1 ms at any rate: said after probes that cost nothing. */
static void what_cannot_be_met_is_said_at_once(void **state)
{
    struct searched s =
        searched_run("slow", "stub: {service: fixed 20ms}\n"
                             "slo: [e2e p50 < 1ms]\n"
                             "search: {start: 8, probe: 500ms}\n");

    (void)state;
    if (!searched_is_given_up(&s.r, s.json)) {
        proc_expect(&s.r, 1);
        assert_non_null(strstr(s.r.out, "not met at any load"));
        assert_string_equal(searched_text(s.json, "outcome"), "never");
        assert_in_range(json_array_size(json_object_get(s.json, "probes")) -
                            (size_t)number_at(s.json, "set_aside"),
                        1, 2);
        assert_true(number_at(s.json, "requests") < 300);
    }
    assert_false(has_capacity(&s));
    searched_fini(&s);
}

/* Over one connection 10 ms an answer are 100/s at most, however many the
 * server could give. */
static void the_clients_limit_is_not_the_servers(void **state)
{
    struct searched s =
        searched_run("one", "stub: {delay: 10ms}\n"
                            "client: {connections: 1}\n"
                            "load: {arrival: constant}\n"
                            "slo: [e2e p90 < 100ms]\n"
                            "search: {start: 60, probe: 500ms, confirm: 500ms, "
                            "tolerance: 20%}\n");

    (void)state;
    proc_expect(&s.r, 4);
    /* A client that gets no CPU for a while has all sorts of limits. */
    if (strcmp(searched_text(s.json, "outcome"), "undecided") != 0) {
        assert_non_null(strstr(s.r.out, "the client is the limit"));
        assert_string_equal(searched_text(s.json, "outcome"), "client limit");
        assert_false(has_capacity(&s));
    }
    searched_fini(&s);
}

/* Nobody is to confirm it, and it is no less an answer.  Nothing is there that
 * could be gone on with, which is worth a word. */
static void the_most_that_was_allowed_is_said(void **state)
{
    char *dir = xstrdup(tmpdir_path("most"));
    char *file = searched_file("most.yaml",
                               "stub: {delay: 1ms}\n"
                               "slo: [e2e p50 < 500ms]\n"
                               "search: {start: 50, most: 100, probe: 500ms, "
                               "no_confirm: true}\n");
    struct proc_result r =
        proc_run(ARGS("search", file, "-o", dir, "--resume"));
    json_t *json = searched_json(dir, "summary.json");

    (void)state;
    assert_non_null(strstr(r.err, "nothing is recorded in"));
    if (!searched_is_given_up(&r, json)) {
        proc_expect(&r, 0);
        assert_non_null(strstr(r.out, "at least 100/s"));
        assert_non_null(strstr(r.out, "not confirmed"));
        assert_string_equal(searched_text(json, "outcome"), "at least");
    }
    json_decref(json);
    proc_result_fini(&r);
    free(file);
    free(dir);
}

/* Every server is well or ill as a whole, four in a row, whatever is asked of
 * it: what is missed at one load is met at a higher one.  Each probe starts
 * one, so that it is not the clock that decides which. */
static void a_server_that_flaps_is_undecided(void **state)
{
    char *count = xstrdup(tmpdir_path("count"));
    char *text = xasprintf(
        "target: {url: 'http://127.0.0.1:{port}/'}\n"
        "server:\n"
        "  start: >-\n"
        "    echo >>%s; n=$(wc -l <%s);\n"
        "    test $(( (n - 1) / 4 %% 2 )) = 1 && ill='--delay 200ms';\n"
        "    exec %s stub --port {port} --service 'fixed 5ms' $ill\n"
        "slo: [e2e p50 < 50ms]\n"
        "search: {start: 40, probe: 300ms, confirm: 300ms}\n",
        count, count, getenv("TAILGATE"));
    struct searched s = searched_run("flaps", text);

    (void)state;
    proc_expect(&s.r, 4);
    assert_string_equal(searched_text(s.json, "outcome"), "undecided");
    if (!searched_is_given_up(&s.r, s.json)) {
        assert_non_null(strstr(s.r.out, "probes contradict each other"));
        assert_false(has_capacity(&s));
    }
    searched_fini(&s);
    free(text);
    free(count);
}

/* It takes what it is sent and says nothing: nobody waits for the end of the
 * window, or for the timeout of 30 s. */
static void a_server_that_hangs_is_given_up_at_once(void **state)
{
    struct searched s =
        searched_run("hangs", "stub: {delay: 1h}\n"
                              "slo: [e2e p50 < 50ms]\n"
                              "search: {start: 200, least: 200, probe: 20s}\n");
    const json_t *first = json_array_get(json_object_get(s.json, "probes"), 0);

    (void)state;
    assert_true(json_is_true(json_object_get(first, "ended_early")));
    assert_true(number_at(first, "window_s") < 10);
    if (!searched_is_given_up(&s.r, s.json)) {
        proc_expect(&s.r, 1);
        assert_string_equal(searched_text(s.json, "outcome"), "never");
    }
    searched_fini(&s);
}

/* What a stream is like nobody knows before one has begun: undecided, and not
 * since the machine is busy. */
static void a_server_that_says_nothing_is_not_the_machine(void **state)
{
    struct searched s = searched_run(
        "silent", "stub: {delay: 1h}\n"
                  "load: {drain: 200ms}\n"
                  "slo: [tpot p50 < 50ms]\n"
                  "search: {start: 200, least: 200, probe: 300ms}\n");
    const json_t *first = json_array_get(json_object_get(s.json, "probes"), 0);

    (void)state;
    proc_expect(&s.r, 4);
    assert_string_equal(searched_text(s.json, "outcome"), "undecided");
    assert_string_equal(searched_text(first, "set_aside"), "nothing measured");
    assert_null(strstr(s.r.out, "too busy"));
    assert_non_null(strstr(s.r.out, " of them set aside): "));
    searched_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_met_is_said_at_once),
        cmocka_unit_test(the_clients_limit_is_not_the_servers),
        cmocka_unit_test(the_most_that_was_allowed_is_said),
        cmocka_unit_test(a_server_that_flaps_is_undecided),
        cmocka_unit_test(a_server_that_hangs_is_given_up_at_once),
        cmocka_unit_test(a_server_that_says_nothing_is_not_the_machine),
    };

    return cmocka_run_group_tests(tests, tmpdir_setup, tmpdir_teardown);
}
