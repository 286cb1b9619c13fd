/* What was sent in each second against what was due in it. */
#include <math.h>

#include "analyzer/tally/pace.h"
#include "common/base/clk.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

static struct pace paced(int64_t start_ms, int64_t end_ms)
{
    return (struct pace){.window = {.start_ns = start_ms * NS_PER_MS,
                                    .end_ns = end_ms * NS_PER_MS}};
}

static void add_one(struct pace *p, double due_ms, double issued_ms)
{
    struct facts f = row_ok(0, 0, 1);

    f.due = (int64_t)(due_ms * 1e6);
    f.issued = (int64_t)(issued_ms * 1e6);
    pace_add(p, &f);
}

/* n requests, evenly over [from, to), issued at `at` if they are due before
 * that. */
static void add_held(struct pace *p, int64_t n, double from_ms, double to_ms,
                     double at_ms)
{
    for (int64_t i = 0; i < n; i++) {
        double due_ms =
            from_ms + (to_ms - from_ms) * (double)i / (double)n + 1e-6;

        add_one(p, due_ms, due_ms < at_ms ? at_ms : due_ms);
    }
}

/* A steady rate over 10 s, and one stall of the client's. */
TEST(the_worst_second)
{
    static const struct {
        int64_t rate;
        double stall_ms;  /* begins */
        double resume_ms; /* ends, and all that waited goes out at once */
        double want;
    } cases[] = {
        {100, 0, 0, 0},           {1, 0, 0, 0},
        {1, 3500, 6500, 0},   /* three late: too few to say anything */
        {1, 3500, 8500, 400}, /* five in one second */
        {10, 4700, 5100, 0},      {10, 4500, 5100, 50},
        {100, 4950, 5050, 5},     {100, 4900, 5100, 10}, /* at the limit */
        {100, 4890, 5100, 11},    {100, 4100, 4900, 0},  /* within a second */
        {100, 4995, 5004, 0},                            /* within the grace */
        {100, 4000, 6000, 199}, /* the last one was in time */
        {100000, 4900, 5100, 10}, {100000, 4995, 5004, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct pace p = paced(0, 10000);

        for (int64_t k = 0; k < 10 * cases[i].rate; k++) {
            double due_ms = 1000 * ((double)k + 0.5) / (double)cases[i].rate;
            bool is_held =
                due_ms > cases[i].stall_ms && due_ms < cases[i].resume_ms;

            add_one(&p, due_ms, is_held ? cases[i].resume_ms : due_ms);
        }
        if (fabs(pace_worst_percent(&p) - cases[i].want) > 0.1)
            print_error("case %zu: %g\n", i, pace_worst_percent(&p));
        assert_true(fabs(pace_worst_percent(&p) - cases[i].want) <= 0.1);
        pace_fini(&p);
    }
}

/* A few that come late after a burst, here eight, are a share of the burst. */
TEST(silence_is_no_yardstick)
{
    struct pace p = paced(0, 4000);

    add_held(&p, 985, 0, 985, 0);
    add_held(&p, 15, 985, 1000, 1003);
    add_held(&p, 1000, 2000, 3000, 0);
    assert_true(fabs(pace_worst_percent(&p) - 0.8) < 0.01);
    pace_fini(&p);
}

/* The rest of a window belongs to its last second. */
TEST(no_second_is_short)
{
    static const struct {
        int64_t end_ms;
        size_t seconds;
    } cases[] = {{500, 1},  {999, 1},  {1000, 1},  {1999, 1},
                 {2000, 2}, {2001, 2}, {10999, 10}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct pace p = paced(0, cases[i].end_ms);
        int64_t sum = 0;

        add_held(&p, 1000, 0, (double)cases[i].end_ms, 0);
        assert_int_equal(p.len, cases[i].seconds);
        for (size_t s = 0; s < p.len; s++)
            sum += p.seconds[s].due;
        assert_int_equal(sum, 1000);
        pace_fini(&p);
    }
}

/* Late ones of the warm-up hit the server in the window. */
TEST(a_warm_up_that_comes_late_shows)
{
    struct pace p = paced(1000, 3000);

    add_held(&p, 100, 0, 1000, 1001);
    add_held(&p, 100, 1000, 2000, 0);
    add_held(&p, 100, 2000, 3000, 0);
    assert_int_equal(p.due, 200);
    assert_int_equal(p.in_time, 200);
    assert_true(fabs(pace_worst_percent(&p) - 99) < 1.5);
    pace_fini(&p);
}

/* Of those due in the window; late ones of the warm-up make up for none. */
TEST(sent_before_the_end)
{
    static const struct {
        int64_t due;
        int64_t late; /* of those, issued after the end */
        double want;
    } cases[] = {
        {0, 0, 100},    {10, 0, 100},     {10, 3, 100}, {10, 4, 60},
        {1000, 10, 99}, {1000, 11, 98.9}, {4, 4, 0},    {100, 3, 100},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct pace p = paced(1000, 2000);

        add_held(&p, 50, 900, 1000, 1500);
        add_held(&p, cases[i].due - cases[i].late, 1000, 1900, 0);
        add_held(&p, cases[i].late, 1900, 1980, 2000);
        if (fabs(pace_sent_percent(&p) - cases[i].want) > 1e-9)
            print_error("case %zu: %g\n", i, pace_sent_percent(&p));
        assert_true(fabs(pace_sent_percent(&p) - cases[i].want) < 1e-9);
        pace_fini(&p);
    }
}

TEST(odd_rows_do_no_harm)
{
    struct facts f = row_unsent(0, 500);
    struct pace p = paced(0, 1000);

    pace_add(&p, &f); /* due, never sent */
    f = row_ok(1, 600, 1);
    f.issued = TIME_ABSENT;
    pace_add(&p, &f);
    f = row_ok(2, 600, 1);
    f.due = TIME_ABSENT;
    pace_add(&p, &f);
    assert_int_equal(p.due, 2);
    assert_int_equal(p.in_time, 0);
    assert_int_equal(p.seconds[0].due, 2);
    assert_int_equal(p.seconds[0].sent, 0);
    pace_fini(&p);
}

/* Memory is bounded whatever a file says. */
TEST(a_window_of_ages)
{
    struct facts f = row_ok(0, 0, 1);
    struct pace p = {.window.end_ns = INT64_C(1) << 62};

    f.due = f.issued = (INT64_C(1) << 62) - 1;
    pace_add(&p, &f);
    assert_int_equal(p.len, 0);
    assert_int_equal(p.due, 1);
    f.due = f.issued = PACE_MAX_SECONDS * NS_PER_S - 1;
    pace_add(&p, &f);
    assert_int_equal(p.len, PACE_MAX_SECONDS);
    assert_true(pace_worst_percent(&p) == 0);
    pace_fini(&p);
}
