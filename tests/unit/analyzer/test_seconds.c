/* A recording second by second: in the order of time, whatever the order in
 * which requests ended. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/read/seconds.h"
#include "analyzer/report/report.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/measure/good.h"
#include "tests/support/maderun.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static struct buf got; /* what was put, of the test that runs */

static int put(const char *text, struct err *err)
{
    (void)err;
    return buf_adds(&got, text);
}

static int put_and_fail(const char *text, struct err *err)
{
    (void)text;
    return err_set(err, ERR_IO, "full");
}

/* Five seconds, of which the first is the warm-up and the fourth is empty; the
 * request that is due first ends last. */
static struct read_run *some_run(void)
{
    struct made_run *m = made_run_new(1000, 4000, "e2e:100");

    made_run_add(m, row_ok(1, 100, 10));
    made_run_add(m, row_failed(2, 1200, 10, OUTCOME_RESET));
    made_run_add(m, row_unsent(3, 1300));
    made_run_add(m, row_ok(4, 2500, 700)); /* not good */
    made_run_add(m, row_ok(5, 4900, 50));
    made_run_add(m, row_ok(0, 50, 4500));
    for (size_t i = 0; i < m->n; i++)
        m->rows[i].bytes_in = 7;
    m->end.due_end_ns = 5 * NS_PER_S;
    return made_run_sum_up(m, NULL);
}

/* That of some_run(). */
static const struct good_table within_100ms = {
    .run = {[MEASURE_E2E] = 100 * NS_PER_MS}};

static struct seconds_ask ask_of(const struct read_run *r,
                                 const struct report_ops *ops)
{
    struct window window = summary_window(&r->s);
    struct seconds_ask ask = {.range = {0, window.end_ns},
                              .window = window,
                              .measures = ops->second_measures,
                              .good = &within_100ms,
                              .render = ops->render_second,
                              .put = put};

    return ask;
}

TEST(seconds_come_in_their_order)
{
    static const char first[] = "0.000,1.000,2,0,2,2,0,1,1,";
    static const char *const rest[] = {
        "\n1.000,1.000,2,2,1,0,1,0,1,inf,inf,inf,inf,0,14,0\n",
        "\n2.000,1.000,1,1,1,1,0,0,2,", /* with that of before */
        "\n3.000,1.000,0,0,0,0,0,0,1,,,,,0,0,0\n",
        "\n4.000,1.000,1,1,1,1,0,1,0,",
    };
    struct read_run *r = some_run();
    struct seconds_ask ask = ask_of(r, &report_seconds);
    struct err err = {0};

    buf_init(&got, 1 << 16);
    assert_int_equal(seconds_read(&r->rec, &ask, &err), 0);
    assert_int_equal(strncmp(buf_text(&got), first, sizeof(first) - 1), 0);
    for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
        if (!strstr(buf_text(&got), rest[i]))
            print_error("no %s in\n%s", rest[i], buf_text(&got));
        assert_non_null(strstr(buf_text(&got), rest[i]));
    }
    buf_fini(&got);
    read_run_free(r);
}

TEST(good_goes_by_the_class)
{
    int64_t of_class[][GOOD_LIMITS] = {{[MEASURE_E2E] = 20 * NS_PER_MS}};
    const struct good_table good = {.of_class = of_class, .n = 1};
    struct read_run *r = some_run();
    struct seconds_ask ask = ask_of(r, &report_seconds);
    struct err err = {0};

    buf_init(&got, 1 << 16);
    ask.good = &good;
    assert_int_equal(seconds_read(&r->rec, &ask, &err), 0);
    assert_non_null(strstr(buf_text(&got), "0.000,1.000,2,0,2,2,0,1,1,"));
    assert_non_null(strstr(buf_text(&got), "\n4.000,1.000,1,1,1,1,0,0,0,"));
    buf_fini(&got);
    read_run_free(r);
}

/* It is due in one second, and stands for as many requests there. */
TEST(a_range_counts_as_its_requests)
{
    struct made_run *m = made_run_new(1000, 2000, "e2e:100");
    struct facts range = row_unsent(1, 1300);
    struct seconds_ask ask;
    struct read_run *r;
    struct err err = {0};

    made_run_add(m, row_ok(0, 100, 10));
    range.more = 999;
    range.last_seq = 1000;
    made_run_add(m, range);
    m->end.due_end_ns = 3 * NS_PER_S;
    r = made_run_sum_up(m, NULL);
    ask = ask_of(r, &report_seconds);
    buf_init(&got, 1 << 16);
    assert_int_equal(seconds_read(&r->rec, &ask, &err), 0);
    assert_non_null(
        strstr(buf_text(&got), "\n1.000,1.000,1000,1000,0,0,0,0,0,"));
    buf_fini(&got);
    read_run_free(r);
}

/* What is due before is not in it, and the first second is cut where it is. */
TEST(a_range_cuts_the_first_and_the_last)
{
    struct read_run *r = some_run();
    struct seconds_ask ask = ask_of(r, &report_seconds);
    struct err err = {0};

    buf_init(&got, 1 << 16);
    ask.range = (struct window){1250 * NS_PER_MS, 2600 * NS_PER_MS};
    assert_int_equal(seconds_read(&r->rec, &ask, &err), 0);
    assert_int_equal(strncmp(buf_text(&got), "1.250,0.750,1,1,0,0,0,0,1,", 26),
                     0);
    assert_non_null(strstr(buf_text(&got), "\n2.000,0.600,1,1,1,1,0,0,2,"));
    buf_reset(&got);
    ask.range = (struct window){NS_PER_S, NS_PER_S};
    assert_int_equal(seconds_read(&r->rec, &ask, &err), 0);
    assert_string_equal(buf_text(&got), "");
    buf_fini(&got);
    read_run_free(r);
}

TEST(an_error_ends_it)
{
    struct read_run *r = some_run();
    struct seconds_ask ask = ask_of(r, &report_hlog);
    struct err err = {0};

    ask.put = put_and_fail;
    assert_int_equal(seconds_read(&r->rec, &ask, &err), -1);
    assert_string_equal(err.msg, "full");
    err = (struct err){0};
    ask.put = put;
    ask.range.end_ns = INT64_MAX;
    assert_int_equal(seconds_read(&r->rec, &ask, &err), -1);
    assert_non_null(strstr(err.msg, "too many"));
    read_run_free(r);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
