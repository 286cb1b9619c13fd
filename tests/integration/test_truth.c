/* What the client measured against what the stub knows, request by request. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/table.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static int by_arrival(const void *a, const void *b)
{
    const struct truth *x = a;
    const struct truth *y = b;

    return (x->arrival > y->arrival) - (x->arrival < y->arrival);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* One server, first come first served: each starts when it has arrived and the
 * one before it is finished. */
static void check_lindley(struct truth *truth, size_t n)
{
    int64_t free_at = INT64_MIN;

    qsort(truth, n, sizeof(*truth), by_arrival);
    for (size_t i = 0; i < n; i++) {
        int64_t start = truth[i].arrival > free_at ? truth[i].arrival : free_at;

        assert_int_equal(truth[i].start, start);
        assert_int_equal(truth[i].finish, start + truth[i].service);
        assert_true(truth[i].sent >= truth[i].finish);
        free_at = truth[i].finish;
    }
}

/* measured[id] minus truth, sorted. */
static void differences(const struct facts *facts, const struct truth *truth,
                        size_t n, int64_t *out)
{
    int64_t *e2e = xcalloc(n, sizeof(*e2e));

    for (size_t i = 0; i < n; i++) {
        assert_int_equal(facts[i].outcome, OUTCOME_OK);
        assert_in_range(facts[i].seq, 0, n - 1);
        e2e[facts[i].seq] = facts[i].last - facts[i].due;
    }
    for (size_t i = 0; i < n; i++) {
        assert_in_range(truth[i].id, 0, n - 1);
        out[i] = e2e[truth[i].id] - (truth[i].finish - truth[i].arrival);
    }
    qsort(out, n, sizeof(*out), by_value);
    free(e2e);
}

static void run_against_fifo(const char *dir, const char *truth_path)
{
    char *url;
    struct proc stub = stub_start(
        ARGS("stub", "--service", "exponential 2ms", "--truth", truth_path),
        &url);
    struct proc_result r = proc_run(ARGS(
        "run", url, "--rate", "350", "--duration", "2s", "--cooldown", "0s",
        "--seed", "7", "--request-id", "--spin", "80us", "-q", "-o", dir));

    run_expect(&r, dir, 0);
    stub_stop(&stub);
}

TEST(measured_e2e_is_the_truth_and_little_more)
{
    struct facts *facts;
    struct truth *truth;
    int64_t *diff;
    char *dir = tmpdir_path("fifo");
    char *truth_path = tmpdir_path("truth.tgr");
    char *requests = keepf("%s/requests.tgr", dir);
    size_t n;
    size_t measured;
    size_t middle;

    run_against_fifo(dir, truth_path);
    truth = table_read(truth_path, &schema_truth, &n);
    facts = table_read(requests, &schema_requests, &measured);
    assert_int_equal(measured, n);
    assert_in_range(n, 550, 850);
    check_lindley(truth, n);
    diff = xcalloc(n, sizeof(*diff));
    differences(facts, truth, n, diff);
    middle = n / 2;
    print_message("measured minus truth, us: min %.1f median %.1f\n",
                  (double)diff[0] / 1e3, (double)diff[middle] / 1e3);
    /* How much it is, is the machine's too: bench/openloop says. */
    assert_true(diff[0] >= 0);
    free(diff);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
