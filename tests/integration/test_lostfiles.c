/* A trial set that lost one of its files: the rest is reported. */
#include <string.h>
#include <unistd.h>

#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* An empty study.json, and none. */
static void check_study(const char *dir)
{
    static const char *const losses[] = {"is empty", "is missing"};

    tmpdir_write("set/study.json", "", 0);
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        char *want = keepf(
            "tailgate: %s: study.json %s, so the runs cannot be evaluated "
            "together; a single one can: tailgate report %s/trial-1\n",
            dir, losses[i], dir);
        struct proc_result r = proc_run(ARGS("report", dir));

        proc_expect(&r, 3);
        assert_string_equal(r.err, want);
        unlink(tmpdir_path("set/study.json"));
    }
}

TEST(a_set_outlives_a_file)
{
    static const char settings[] = "stub: {service: fixed 1s, replicas: 64}\n"
                                   "load: {rate: 50, duration: 100ms}\n"
                                   "study: {max_discarded: 0}\n";
    char *file = tmpdir_write("s.yaml", settings, strlen(settings));
    char *dir = tmpdir_path("set");
    struct proc_result r;

    run_as_reported(ARGS("run", "-v", file, "-q", "--trials", "2", "--settle",
                         "0s", "-o", dir));
    tmpdir_write("set/trial-1/manifest.json", "", 0);
    r = proc_run(ARGS("report", "-v", dir));
    proc_expect(&r, 4);
    assert_non_null(strstr(r.out, "trials     recorded 2 of 2, counted 1\n"));
    assert_non_null(strstr(r.out, "lost: manifest.json is empty, not counted"));
    tmpdir_write("set/trial-2/manifest.json", "{", 1);
    r = proc_run(ARGS("report", "-v", dir));
    proc_expect(&r, 3);
    assert_non_null(
        strstr(r.err, ": the manifest.json of every trial is missing or "));
    check_study(dir);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
