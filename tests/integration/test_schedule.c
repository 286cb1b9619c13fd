/* The same settings and seed give the same schedule, byte for byte. */
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/table.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define N 5000

/* Due times by place in the schedule. */
static void record_schedule(const char *name, const char *arrival,
                            const char *seed, const char *threads,
                            int64_t due[N])
{
    char *dir = tmpdir_path(name);
    char *path = keepf("%s/requests.tgr", dir);
    struct proc_result r = proc_run(
        ARGS("run", "null://", "--rate", "10k", "-n", "5k", "--arrival",
             arrival, "--seed", seed, "-t", threads, "-q", "-o", dir));
    struct facts *rows;
    size_t n;

    run_expect(&r, dir, 0);
    memset(due, 0, N * sizeof(*due));
    rows = table_read(path, &schema_requests, &n);
    assert_int_equal(n, N);
    for (size_t i = 0; i < n; i++) {
        assert_in_range(rows[i].seq, 0, N - 1);
        due[rows[i].seq] = rows[i].due;
    }
}

/* Whatever the number of threads. */
TEST(a_seed_fixes_the_schedule)
{
    int64_t *a = xcalloc(N, sizeof(*a));
    int64_t *b = xcalloc(N, sizeof(*b));
    int64_t *c = xcalloc(N, sizeof(*c));
    size_t same = 0;

    record_schedule("a", "poisson", "42", "1", a);
    record_schedule("b", "poisson", "42", "3", b);
    record_schedule("c", "poisson", "43", "1", c);
    assert_memory_equal(a, b, N * sizeof(*a));
    for (size_t i = 0; i < N; i++)
        same += a[i] == c[i];
    assert_int_equal(same, 0);
    for (size_t i = 1; i < N; i++)
        assert_true(a[i] >= a[i - 1]);
    free(a);
    free(b);
    free(c);
}

/* Due times of a load that one flag describes, at even distances; the caller
 * frees them. */
static int64_t *record_shape(const char *flag, const char *text, size_t *n)
{
    char *dir = tmpdir_path(flag + 2);
    char *path = keepf("%s/requests.tgr", dir);
    struct proc_result r = proc_run(
        ARGS("run", "null://", flag, text, "--arrival", "constant", "--warmup",
             "50ms", "--cooldown", "0s", "-t", "1", "-q", "-o", dir));
    struct facts *rows;
    int64_t *due;

    run_expect(&r, dir, 0);
    rows = table_read(path, &schema_requests, n);
    due = xcalloc(*n, sizeof(*due));
    for (size_t i = 0; i < *n; i++) {
        assert_in_range(rows[i].seq, 0, *n - 1);
        due[rows[i].seq] = rows[i].due;
    }
    return due;
}

/* 50 ms of warm-up, 200 ms at 100/s, 100 ms at 1000/s, 200 ms at 100/s. */
TEST(a_shape_is_its_stages)
{
    static const char table[] = "0,100\n0.2,100\n0.2,1000\n0.3,1000\n"
                                "0.3,100\n0.5,100\n";
    char *file = tmpdir_write("t.csv", table, strlen(table));
    size_t n[3];
    int64_t *stages =
        record_shape("--stage", "100/s 200ms,1k/s 100ms,100/s 200ms", &n[0]);
    int64_t *shape =
        record_shape("--shape", "spike 100/s 1k/s at 200ms for 100ms", &n[1]);
    int64_t *rates = record_shape("--rate-table", file, &n[2]);

    assert_int_equal(n[0], 5 + 20 + 100 + 20);
    assert_int_equal(n[1], n[0]);
    assert_int_equal(n[2], n[0]);
    assert_memory_equal(shape, stages, n[0] * sizeof(*stages));
    assert_memory_equal(rates, stages, n[0] * sizeof(*stages));
    assert_int_equal(stages[25], 250000000);
    assert_int_equal(stages[26], 251000000);
    free(stages);
    free(shape);
    free(rates);
}

TEST(a_metronome_needs_no_seed)
{
    int64_t *a = xcalloc(N, sizeof(*a));

    record_schedule("m", "constant", "1", "2", a);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(a[i], (int64_t)i * 100000);
    free(a);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
