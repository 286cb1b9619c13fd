/* The same settings and seed give the same schedule, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/recording/schema.h"
#include "common/xalloc.h"
#include "tests/support/proc.h"
#include "tests/support/table.h"
#include "tests/support/tmpdir.h"

#define N 5000

/* Due times by place in the schedule. */
static void record_schedule(const char *name, const char *arrival,
                            const char *seed, const char *threads,
                            int64_t due[N])
{
    char *dir = xstrdup(tmpdir_path(name));
    char *path = xasprintf("%s/requests.tgr", dir);
    struct proc_result r = proc_run(
        ARGS("run", "null://", "--rate", "10k", "-n", "5k", "--arrival",
             arrival, "--seed", seed, "-t", threads, "-q", "-o", dir));
    struct facts *rows;
    size_t n;

    /* 0, or 4 where a busy machine made the client late. */
    assert_true(r.status == 0 || r.status == 4);
    proc_result_fini(&r);
    memset(due, 0, N * sizeof(*due));
    rows = table_read(path, &schema_requests, &n);
    assert_int_equal(n, N);
    for (size_t i = 0; i < n; i++) {
        assert_in_range(rows[i].seq, 0, N - 1);
        due[rows[i].seq] = rows[i].due;
    }
    free(rows);
    free(path);
    free(dir);
}

/* Whatever the number of threads. */
static void a_seed_fixes_the_schedule(void **state)
{
    int64_t *a = xcalloc(N, sizeof(*a));
    int64_t *b = xcalloc(N, sizeof(*b));
    int64_t *c = xcalloc(N, sizeof(*c));
    size_t same = 0;

    (void)state;
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

static void a_metronome_needs_no_seed(void **state)
{
    int64_t *a = xcalloc(N, sizeof(*a));

    (void)state;
    record_schedule("m", "constant", "1", "2", a);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(a[i], (int64_t)i * 100000);
    free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_fixes_the_schedule),
        cmocka_unit_test(a_metronome_needs_no_seed),
    };

    return cmocka_run_group_tests_name("schedule", tests, tmpdir_setup,
                                       tmpdir_teardown);
}
