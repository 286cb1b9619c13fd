/* A stub that caches answers, and one that does not: what a cache check says of
 * them. */
#include <jansson.h>
#include <string.h>

#include "tests/support/keep.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static const char *finding_of(const json_t *summary)
{
    return json_string_value(
        json_object_get(json_object_get(summary, "cache_check"), "finding"));
}

/* A check of completions in one piece.  Its exit status is that of what was
 * found, or 4 if the run is invalid; what is found in which times is tested in
 * unit.cachecheck.  The caller owns the summary. */
static json_t *check(const char *const *stub, const char *name)
{
    char *dir = tmpdir_path(name);
    char *url;
    struct proc server = stub_start(stub, &url);
    char *target = keepf("%s/v1/completions", url);
    struct proc_result r =
        proc_run(ARGS("run", target, "--cache-check", "--stream", "off", "-R",
                      "60", "-d", "2s", "--slo", "e2e p99 < 1ms", "--input-len",
                      "uniform 10 300", "-q", "-o", dir));
    json_t *summary = load_summary(dir);
    const char *finding;

    stub_stop(&server);
    finding = finding_of(summary);
    run_expect(&r, dir,
               strcmp(finding, "answers") == 0   ? 1
               : strcmp(finding, "no sign") == 0 ? 0
                                                 : 4);
    return summary;
}

/* The server says of an answer that it is cached, whatever the times are. */
TEST(a_cache_of_answers_is_found)
{
    json_t *s = check(
        ARGS("stub", "--service", "fixed 20ms", "--replicas", "64", "--cache"),
        "cached");

    assert_string_not_equal(finding_of(s), "no sign");
    assert_true(number_at(s, "cache_check.repeated.cached_share") > 0.9);
    assert_int_equal(json_array_size(json_object_get(s, "slo")), 0);
}

TEST(no_cache_is_not_found)
{
    json_t *s = check(
        ARGS("stub", "--service", "fixed 20ms", "--replicas", "64"), "plain");
    double n = number_at(s, "cache_check.new.n");
    double repeated = number_at(s, "cache_check.repeated.n");

    assert_string_not_equal(finding_of(s), "answers");
    assert_true(repeated >= n - 1 && repeated <= n + 1);
}

TEST(what_cannot_be_compared_is_refused)
{
    static const struct {
        const char *flag;
        const char *value;
        const char *why;
    } cases[] = {
        {"--unique", "false", "--unique false"},
        {"--cache-hit-rate", "10%", "--cache-hit-rate"},
        {"--body", "{\"prompt\":\"as it is\"}", "requires prompts"},
    };

    for (size_t i = 0; i < 3; i++) {
        struct proc_result r = proc_run(
            ARGS("run", "http://127.0.0.1:1/v1/completions", "--cache-check",
                 "--model", "m", "--metrics", "off", "-R", "1", "-n", "1", "-o",
                 tmpdir_path("refused"), cases[i].flag, cases[i].value));

        proc_expect(&r, 2);
        assert_non_null(strstr(r.err, "--cache-check"));
        assert_non_null(strstr(r.err, cases[i].why));
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
