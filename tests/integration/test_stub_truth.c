/* The simulated models behind a real network, once each: nothing lost, order
 * kept, bounds held, and what was measured is the truth and little more. */
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/recording/schema.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/table.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define COMPLETION                                                             \
    "target: {url: 'http://stub/v1/completions', method: POST, body: "         \
    "'{\"prompt\": [1, 2, 3, 4], \"max_tokens\": 5}'}\n"

static const struct {
    const char *name;
    const char *stub;   /* settings */
    const char *target; /* the same */
    const char *rate;
    bool is_fifo; /* one queue: starts in the order of arrivals */
    int64_t max_batch;
    int64_t tokens; /* of each answer */
} models[] = {
    {"M/M/1", "service: exponential 2ms", "", "300", true, 1, 1},
    {"M/D/1", "service: fixed 2ms", "", "300", true, 1, 1},
    {"M/G/1", "service: lognormal 2ms 2ms", "", "300", true, 1, 1},
    {"M/M/2", "service: exponential 4ms, replicas: 2", "", "300", true, 1, 1},
    {"random", "service: exponential 4ms, replicas: 2, router: random", "",
     "300", false, 1, 1},
    {"static",
     "service: batch 4ms 1ms, batching: static, max_batch: 4, max_delay: 20ms",
     "", "300", true, 4, 1},
    {"dynamic",
     "service: batch 4ms 1ms, batching: dynamic, max_batch: 4, max_delay: 2ms, "
     "preferred: [2, 4]",
     "", "300", true, 4, 1},
    {"continuous",
     "service: llm, batching: continuous, max_running: 8, prefill: 100us, "
     "decode: 1ms, decode_item: 100us, kv_tokens: 64",
     COMPLETION, "100", true, 8, 5},
    {"10k/s", "service: none, stall: 1ms, stall_every: 10s", "", "10k", true, 1,
     1},
};

static int by_arrival(const void *a, const void *b)
{
    const struct truth *x = a;
    const struct truth *y = b;

    return (x->arrival > y->arrival) - (x->arrival < y->arrival);
}

static void check_rows(size_t m, struct truth *rows, size_t n)
{
    int64_t last_start = INT64_MIN;

    qsort(rows, n, sizeof(*rows), by_arrival);
    for (size_t i = 0; i < n; i++) {
        assert_true(rows[i].start >= rows[i].arrival);
        assert_true(rows[i].first >= rows[i].start);
        assert_true(rows[i].finish >= rows[i].first);
        assert_true(rows[i].sent >= rows[i].finish);
        assert_in_range(rows[i].batch, 1, models[m].max_batch);
        assert_int_equal(rows[i].tokens, models[m].tokens);
        assert_int_equal(rows[i].status, 200);
        if (models[m].is_fifo)
            assert_true(rows[i].start >= last_start);
        last_start = rows[i].start;
    }
}

/* The number before these words, on the line that counts. */
static int64_t count_before(const char *line, const char *words)
{
    const char *at = strstr(line, words);

    assert_non_null(at);
    while (at > line && (at[-1] == ' ' || (at[-1] >= '0' && at[-1] <= '9')))
        at--;
    return strtoll(at, NULL, 10);
}

static void check_report(const char *dir, size_t n)
{
    struct proc_result r = proc_run(ARGS("report", "-v", dir, "--truth"));
    const char *at = strstr(r.out, "\ntruth ");

    assert_non_null(at);
    assert_int_equal(count_before(at, " requests matched"), n);
    assert_int_equal(count_before(at, " without a match"), 0);
    assert_int_equal(count_before(at, " measured below the truth"), 0);
    at = strstr(at, "\nmeasured - truth");
    assert_non_null(at);
    print_message("%.*s\n", (int)strcspn(at + 1, "\n"), at + 1);
}

static void check_model(size_t m)
{
    char *text = keepf("stub: {%s}\n%sclient: {spin: 80us}\n", models[m].stub,
                       models[m].target);
    char *file = tmpdir_write("s.yaml", text, strlen(text));
    char *dir = keepf("%s/%zu", tmpdir_root(), m);
    char *path = keepf("%s/truth.tgr", dir);
    struct proc_result r = proc_run(ARGS("run", file, "--rate", models[m].rate,
                                         "--duration", "500ms", "--cooldown",
                                         "0s", "--seed", "5", "-q", "-o", dir));
    struct truth *rows;
    json_t *summary;
    size_t n;

    run_expect(&r, dir, 0);
    summary = load_summary(dir);
    rows = table_read(path, &schema_truth, &n);
    print_message("%s, %zu requests: ", models[m].name, n);
    assert_true(n > 20);
    assert_true(number_at(summary, "requests.ok") == (double)n);
    assert_true(number_at(summary, "requests.failed") == 0);
    check_rows(m, rows, n);
    check_report(dir, n);
}

TEST(every_model_over_the_network)
{
    for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++)
        check_model(m);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
