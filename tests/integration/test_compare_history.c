/* compare --history: many recordings in the order of their start, and where
 * they change. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/compared.h"
#include "tests/support/proc.h"
#include "tests/support/sided.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* `n` recordings, an hour apart, of e2e_ms and from `change` on then_ms. */
static char *write_history(const char *name, size_t n, size_t change,
                           double e2e_ms, double then_ms)
{
    char *dir = tmpdir_path(name);

    assert_int_equal(mkdir(dir, 0777), 0);
    for (size_t i = 0; i < n; i++) {
        const struct sided one = {.n = 1000,
                                  .e2e_ms = i < change ? e2e_ms : then_ms,
                                  .spread_ms = 2,
                                  .seed = 1000 + i,
                                  .at_s = 1000000 + (int64_t)i * 3600};
        char run[64];

        /* names do not tell the order */
        snprintf(run, sizeof(run), "%s/run-%02zu", name, n - i);
        free(sided_write(run, &one));
    }
    return dir;
}

TEST(a_history_has_its_change_points)
{
    const struct {
        const char *name;
        double then_ms;
        const char *threshold;
        int status;
        const char *verdict;
    } cases[] = {
        {"steady", 10, "0", 0, "no change for the worse"},
        {"slower", 13, "0", 1, "worse"},
        {"slower-but-little", 13, "50%", 0, "no change for the worse"},
        {"faster", 7, "0", 0, "better"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *dir = write_history(cases[i].name, 16, 10, 10, cases[i].then_ms);
        json_t *json =
            compare_json(ARGS("compare", "--history", dir, "--on", "e2e p90",
                              "--regression", cases[i].threshold, "--json"),
                         cases[i].status);
        const json_t *segments = json_object_get(json, "segments");

        assert_string_equal(text_at(json, "verdict"), cases[i].verdict);
        assert_true(number_at(json, "used") == 16);
        if (cases[i].then_ms != 10) {
            assert_int_equal(json_array_size(segments), 2);
            assert_true(number_at(json_array_get(segments, 1), "first") == 10);
        }
    }
}

TEST(a_history_leaves_out_what_is_not_its_own)
{
    const struct sided other = {
        .n = 1000, .e2e_ms = 10, .batching = "dynamic", .at_s = 1000100};
    const struct sided late = {
        .n = 1000, .e2e_ms = 10, .lag_ms = 5, .at_s = 1000200};
    char *dir = write_history("mixed", 12, 8, 10, 13);
    struct proc_result r;

    free(sided_write("mixed/other", &other));
    free(sided_write("mixed/late", &late));
    assert_int_equal(mkdir(tmpdir_path("mixed/foreign"), 0777), 0);
    r = proc_run(ARGS("compare", "-v", "--history", dir));
    proc_expect(&r, 1);
    assert_non_null(
        strstr(r.out, "12 recordings under these conditions, left out 3"));
    assert_non_null(strstr(r.out, "other conditions: conditions.batching "
                                  "dynamic, not (none)"));
    assert_non_null(strstr(r.out, "/late     invalid: lag"));
    assert_non_null(strstr(r.out, "foreign: not a recording"));
    assert_non_null(strstr(r.out, "\nsegments\n"));
    r = proc_run(ARGS("compare", "--history", dir));
    proc_expect(&r, 1);
    assert_non_null(strstr(r.out, "\nmore       tailgate compare --history "));
}

/* It may be the newest. */
TEST(a_history_with_one_that_cannot_be_read)
{
    char *dir = write_history("torn", 12, 8, 10, 10);
    struct proc_result r;

    assert_int_equal(mkdir(tmpdir_path("torn/cut"), 0777), 0);
    tmpdir_write("torn/cut/manifest.json", "{", 1);
    r = proc_run(ARGS("compare", "-v", "--history", dir));
    proc_expect(&r, 4);
    assert_non_null(strstr(r.out, "cannot be read may be the newest"));
}

TEST(a_short_history_says_nothing)
{
    char *dir = write_history("short", 9, 5, 10, 20);
    char *base = sided_write("base", &(struct sided){.e2e_ms = 10, .seed = 1});
    struct proc_result r = proc_run(ARGS("compare", "-v", "--history", dir));

    proc_expect(&r, 4);
    assert_non_null(strstr(r.out, "n too small: at least 10 recordings"));
    r = proc_run(ARGS("compare", "-v", "--history", tmpdir_path("nowhere")));
    proc_expect(&r, 2);
    r = proc_run(ARGS("compare", "-v", "--history", base)); /* no directories */
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "contains no recording"));
    r = proc_run(ARGS("compare", "-v", "--history", dir, base));
    proc_expect(&r, 2);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
