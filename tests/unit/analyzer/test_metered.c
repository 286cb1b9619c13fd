/* Energy of a window from looks at a counter, and from a file of watts. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/verdict/cost.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "tests/support/near.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static const struct window window = {2 * NS_PER_S, 6 * NS_PER_S};
static const struct metered_share share = {
    .good = 4, .tokens = 8, .co2_g_per_kwh = 360};

/* 10 W, seen every 800 ms from this time to that one. */
static struct metered steady(int64_t from_ms, int64_t to_ms, double watts)
{
    struct metered_energy e = {0};
    struct metered m = {0};

    for (int64_t t = from_ms; t <= to_ms; t += 800)
        metered_add(&e, &window, t * NS_PER_MS, 5e6 + watts * 1e3 * (double)t);
    metered_take(&m, &e, &window, &share);
    return m;
}

TEST(between_two_looks_it_is_straight)
{
    struct metered m = steady(0, 8000, 10);

    assert_true(m.has_energy);
    assert_near(m.joules, 40, 1e-9);
    assert_near(m.watts, 10, 1e-9);
    assert_near(m.joules_per_good, 10, 1e-9);
    assert_near(m.joules_per_token, 5, 1e-9);
    assert_near(m.co2_g, 40 / 3.6e6 * 360, 1e-12);
}

/* The last look is taken when the run ends, a little before the window does. */
TEST(a_little_may_be_missing)
{
    struct metered m = steady(2400, 5600, 10);

    assert_true(m.has_energy);
    assert_near(m.joules, 32, 1e-9);
}

TEST(what_is_not_covered_is_not_there)
{
    struct metered m = steady(0, 3200, 10);

    assert_false(m.has_energy);
    assert_string_equal(m.note, "the samples do not cover the window");
    m = steady(4800, 8000, 10);
    assert_false(m.has_energy);
}

TEST(a_counter_that_never_moves_is_none)
{
    struct metered m = steady(0, 8000, 0);

    assert_false(m.has_energy);
    assert_string_equal(m.note, "the counter never moved");
}

TEST(nothing_asked_nothing_said)
{
    struct metered m;

    metered_read(&m, tmpdir_path("none"), &window, &share);
    assert_false(m.is_asked);
    assert_false(m.has_energy);
    assert_string_equal(m.note, "");
}

static int read_text(struct metered *m, const char *text, struct err *err)
{
    *m = (struct metered){0};
    return metered_read_file(m, tmpdir_write("w.csv", text, strlen(text)),
                             1000 * NS_PER_S, &window, &share, err);
}

/* 125 J by 5 s and 500 J by 10 s: within a line's length energy is straight, so
 * that 50 J are used by 2 s and 200 by 6 s. */
TEST(watts_from_elsewhere)
{
    struct err err = {0};
    struct metered m;

    assert_int_equal(
        read_text(&m, "time,watts\n1000,0\n\n1005 , 50\n1010,100\n", &err), 0);
    assert_true(m.has_energy);
    assert_near(m.joules, 150, 1e-6);
    assert_int_equal(read_text(&m, "1000,0\n1001,x\n", &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    assert_non_null(strstr(err.msg, "w.csv:2: "));
    err = (struct err){0};
    assert_int_equal(read_text(&m, "1001,5\n1000,5\n", &err), -1);
    err = (struct err){0};
    assert_int_equal(read_text(&m, "\n", &err), 0);
    assert_false(m.has_energy);
    assert_string_equal(m.note, "the file has no samples");
}

TEST(what_is_no_power_is_refused)
{
    static const char *const bad[] = {
        "1000,\n5\n",  "1000,inf\n", "1000,nan\n",   "1000,-1\n",
        "1000,5,6\n",  "1000,5 W\n", "1000\n",       "1000 5\n",
        "1000,2e12\n", "9e9,5\n",    "1000,5\n,5\n", "1000,5\n1000,5\n",
        "t,w\nu,v\n",  "-5,100\n",
    };
    struct metered m;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct err err = {0};

        if (read_text(&m, bad[i], &err) == 0)
            fail_msg("taken: %s", bad[i]);
        assert_int_equal(err.code, ERR_CONFIG);
    }
}

/* Constant power needs no interpolation. */
TEST(constant_watts_are_exact)
{
    struct err err = {0};
    struct metered m;

    assert_int_equal(read_text(&m, "1000,25\n1003,25\n1020,25\n", &err), 0);
    assert_near(m.joules, 100, 1e-6);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
