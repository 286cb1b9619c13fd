/* Once warm, a request on the native path allocates nothing: a run of six times
 * the requests makes as many allocations as the shorter one, in the worker to
 * the last one.
 *
 * In the whole process they are not quite equal, because what goes by the time
 * and the size of the recording is not by the request: the writer looks at
 * /proc/stat once a second, and the buffers of recording and report grow. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define FEW  "20000"
#define MANY "120000"
#define MORE 100000 /* MANY - FEW */

struct counts {
    int64_t worker;
    int64_t all;
};

/* The file that the library writes. */
static char *counts_path;

static void count_allocations(void)
{
    const char *library = getenv("COUNTING_LIBRARY");

    setenv("COUNTING_MALLOC", counts_path, 1);
    setenv("LD_PRELOAD", library ? library : "", 1);
}

/* The worker is the one thread that runs an event loop: metrics are off, and no
 * preflight request is sent. */
static struct counts read_counts(void)
{
    FILE *file = fopen(counts_path, "re");
    struct counts counts = {0};
    int workers = 0;
    char line[64];

    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        const char *count = strchr(line, ' ');

        assert_non_null(count);
        counts.all += strtoll(count, NULL, 10);
        if (strncmp(line, "loop ", 5) == 0) {
            counts.worker = strtoll(count, NULL, 10);
            workers++;
        }
    }
    fclose(file);
    assert_int_equal(workers, 1);
    return counts;
}

static struct counts counts_of_run(const char *url, const char *requests)
{
    const char *dir = tmpdir_path(requests);
    struct proc p =
        proc_start_with(ARGS("run", url, "-c", "8", "-t", "1", "-n", requests,
                             "--metrics", "off", "--no-preflight", "--body",
                             "{\"prompt\":\"hello\"}", "-q", "-o", dir),
                        count_allocations);
    struct proc_result r = proc_wait(&p);
    struct counts counts;

    run_expect(&r, dir, 0);
    counts = read_counts();
    print_message("%s requests: %" PRId64 " allocations, %" PRId64
                  " of them in the worker\n",
                  requests, counts.all, counts.worker);
    return counts;
}

TEST(a_request_allocates_nothing)
{
    char *url;
    struct proc stub = stub_start(ARGS("stub"), &url);
    struct counts few;
    struct counts many;

    assert_non_null(getenv("COUNTING_LIBRARY"));
    counts_path = tmpdir_path("counts");
    few = counts_of_run(url, FEW);
    many = counts_of_run(url, MANY);
    stub_stop(&stub);
    assert_true(few.worker > 0); /* it was counted at all */
    assert_int_equal(many.worker, few.worker);
    /* The writer looks at the host once a second, which is not per request. */
    assert_true((double)(many.all - few.all) / MORE < 0.01);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
