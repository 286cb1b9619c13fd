/* A trace, replayed against the stub: what was offered is what it says. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/recording/schema.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/table.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define ROWS     60
#define MAX_TEXT 100000

static struct proc stub;
static char *url;

static int64_t time_ms(int i)
{
    return i * 40 + i % 7 * 5;
}

static int64_t input_of(int i)
{
    return 10 + i * 37 % 300;
}

static int64_t output_of(int i)
{
    return 1 + i * 11 % 30;
}

/* A damaged line after every twentieth row. */
static char *write_azure(void)
{
    struct buf text;
    char *path;

    buf_init(&text, MAX_TEXT);
    buf_adds(&text, "TIMESTAMP,ContextTokens,GeneratedTokens\n");
    for (int i = 0; i < ROWS; i++) {
        buf_addf(&text, "2023-11-16 18:17:%02lld.%03lld0000,%lld,%lld\n",
                 (long long)time_ms(i) / 1000, (long long)time_ms(i) % 1000,
                 (long long)input_of(i), (long long)output_of(i));
        if (i % 20 == 19)
            buf_adds(&text, "2023-11-16 18:17:04,12\n");
    }
    path = tmpdir_write("azure.csv", buf_text(&text), text.len);
    buf_fini(&text);
    return path;
}

/* Half the prompt, two blocks, is common to all. */
static char *write_mooncake(void)
{
    struct buf text;
    char *path;

    buf_init(&text, MAX_TEXT);
    for (int i = 0; i < ROWS; i++)
        buf_addf(&text,
                 "{\"timestamp\": %d, \"input_length\": 2048, "
                 "\"output_length\": 3, \"hash_ids\": [0, 1, %d, %d]}\n",
                 i / 20 * 500, 2 * i + 2, 2 * i + 3);
    path = tmpdir_write("mooncake.jsonl", buf_text(&text), text.len);
    buf_fini(&text);
    return path;
}

static int by_place(const void *a, const void *b)
{
    int64_t x = ((const struct facts *)a)->seq;
    int64_t y = ((const struct facts *)b)->seq;

    return (x > y) - (x < y);
}

/* In the order of the schedule: on disk they have that of their ends. */
static struct facts *rows_of(const char *dir, size_t *n)
{
    char *path = keepf("%s/requests.tgr", dir);
    struct facts *rows = table_read(path, &schema_requests, n);

    qsort(rows, *n, sizeof(*rows), by_place);
    return rows;
}

TEST(what_is_offered_is_what_the_trace_says)
{
    static const char *const threads[] = {"1", "3"};
    char *trace = write_azure();
    char *target = keepf("%s/v1/completions", url);

    for (int t = 0; t < 2; t++) {
        char *dir = tmpdir_path(threads[t]);
        struct proc_result r = proc_run(ARGS(
            "run", "-v", target, "--trace", trace, "--time-scale", "4", "-t",
            threads[t], "--model", "m", "--warmup", "100ms", "-o", dir));
        struct facts *rows;
        json_t *summary;
        size_t n;

        run_expect(&r, dir, 0);
        assert_non_null(strstr(r.err, "azure (detected), 60 rows"));
        assert_non_null(strstr(r.err, "azure.csv:22: fewer fields"));
        assert_non_null(strstr(r.out, "rows 60, damaged lines skipped 3"));
        rows = rows_of(dir, &n);
        assert_int_equal(n, ROWS);
        for (size_t i = 0; i < n; i++) {
            int at = (int)rows[i].seq;

            assert_int_equal(rows[i].due, time_ms(at) * NS_PER_MS / 4);
            assert_int_equal(rows[i].prompt_asked, input_of(at));
            assert_int_equal(rows[i].prompt_tokens, input_of(at));
            assert_int_equal(rows[i].output_asked, output_of(at));
            assert_int_equal(rows[i].output_tokens, output_of(at));
        }
        summary = load_summary(dir);
        assert_true(number_at(summary, "trace.rows") == ROWS);
        assert_true(number_at(summary, "trace.damaged") == 3);
        assert_true(number_at(summary, "trace.time_scale") == 4);
        assert_true(number_at(summary, "window.start_s") == 0.1);
    }
}

TEST(strict_ends_it_before_anything_is_sent)
{
    char *trace = write_azure();
    const char *dir = tmpdir_path("strict");
    struct proc_result r =
        proc_run(ARGS("run", url, "--trace", trace, "--strict", "-o", dir));

    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "azure.csv:22: fewer fields than"));
    r = proc_run(ARGS("report", tmpdir_path("strict")));
    proc_expect(&r, 2); /* there is no recording */
}

/* Within their steps, with prompts as long as the stub counts them. */
TEST(steps_are_spread_and_said_to_be)
{
    char *trace = write_mooncake();
    char *target = keepf("%s/v1/completions", url);
    char *dir = tmpdir_path("spread");
    struct proc_result r =
        proc_run(ARGS("run", "-v", target, "--trace", trace, "--spread",
                      "500ms", "--model", "m", "--to", "1s", "-o", dir));
    struct facts *rows;
    size_t n;
    int64_t last_ns = 0;

    run_expect(&r, dir, 0);
    assert_non_null(strstr(r.out, "times spread over 500ms"));
    assert_null(strstr(r.err, "at once"));
    rows = rows_of(dir, &n);
    assert_int_equal(n, 40); /* of the steps at 0 and 500 ms */
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(rows[i].seq, i);
        assert_true(rows[i].due >= last_ns);
        assert_int_equal(rows[i].due / (500 * NS_PER_MS), i / 20);
        assert_int_equal(rows[i].prompt_tokens, 2048);
        last_ns = rows[i].due;
    }
}

TEST(validate_prints_the_plan)
{
    static const char *const want[] = {
        "trace      mooncake (detected), 60 rows in",
        "input tokens: mean 2048, p50 2048",
        "output tokens: mean 3",
        "prompts share prefixes",
        "95% of the rows have the same time as the row before",
        "requests   60 in the window",
    };
    char *trace = write_mooncake();
    struct proc_result r = proc_run(ARGS("validate", url, "--trace", trace));

    proc_expect(&r, 0);
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        if (!strstr(r.out, want[i]))
            fail_msg("no '%s' in\n%s", want[i], r.out);
    }
}

static int start(void **state)
{
    if (tmpdir_setup(state))
        return -1;
    stub = stub_start(ARGS("stub", "--port", "0"), &url);
    return 0;
}

static int stop(void **state)
{
    stub_stop(&stub);
    return tmpdir_teardown(state);
}

GROUP_FIXTURE(start, stop)
