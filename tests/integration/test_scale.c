/* A million requests: bounded memory, small files, a quick report. */
#include <jansson.h>
#include <sys/stat.h>

#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define N 1000000

static off_t bytes_in(const char *dir, const char *name)
{
    char *path = keepf("%s/%s", dir, name);
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

TEST(a_million_requests)
{
    char *dir = tmpdir_path("million");
    struct proc_result run = proc_run(
        ARGS("run", "null://", "--rate", "200k", "-n", "1M", "-q", "-o", dir));
    struct proc_result report = proc_run(ARGS("report", dir));
    json_t *summary = load_summary(dir);
    off_t bytes = bytes_in(dir, "requests.tgr") + bytes_in(dir, "client.tgr") +
                  bytes_in(dir, "manifest.json");

    print_message("run: %ld kB resident, %.2f bytes a request; report: %.2f s "
                  "of CPU, %ld kB\n",
                  run.max_rss_kb, (double)bytes / N, report.cpu_s,
                  report.max_rss_kb);
    assert_true(number_at(summary, "requests.scheduled") == N);
    assert_true(run.max_rss_kb < 65536);
    assert_true(bytes <= (off_t)64 * N);
    assert_true(report.cpu_s < 2);
    /* The report says what the run said. */
    assert_string_equal(report.out, run.out);
    assert_int_equal(report.status, run.status);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
