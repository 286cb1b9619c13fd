/* Rates as functions of time: the inverse of the integral, by hand and by
 * going there and back. */
#include <math.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/settings/settings.h"
#include "loadgen/schedule/rate_shape.h"
#include "tests/support/test.h"

static struct shape make(struct load_settings *load)
{
    struct err err = {0};
    struct shape s;

    assert_int_equal(shape_init(&s, load, &err), 0);
    return s;
}

static void assert_near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fabs(want) + 1e-6))
        print_error("%.9g, not %.9g\n", got, want);
    assert_true(fabs(got - want) <= 1e-9 * fabs(want) + 1e-6);
}

TEST(a_constant_rate_is_a_straight_line)
{
    struct load_settings load = {.rate_rps = 50};
    struct shape s = make(&load);

    assert_near(shape_when_ns(&s, 0), 0);
    assert_near(shape_when_ns(&s, 1), 20e6);
    assert_near(shape_when_ns(&s, 5e6), 1e14);
    assert_near(shape_arrivals(&s, 1e9), 50);
    shape_fini(&s);
}

/* From 0 to 100/s in 2 s: t^2 * 25 arrivals by t seconds. */
TEST(a_ramp_is_a_square_root)
{
    struct load_settings load = {0};
    struct shape s;

    strlist_add(&load.stages, "0..100/s 2s");
    s = make(&load);
    for (int i = 1; i < 100; i++)
        assert_near(shape_when_ns(&s, i), sqrt(i / 25.0) * 1e9);
    assert_near(shape_arrivals(&s, 1e9), 25);
    assert_near(shape_arrivals(&s, 9e9), 100);
    assert_true(isinf(shape_when_ns(&s, 100)));
    shape_fini(&s);
    strlist_fini(&load.stages);
}

/* 10/s for 1 s of warm-up, up to 30/s in 1 s, silence, 30/s down to 10/s. */
TEST(stages_follow_each_other)
{
    static const struct {
        double arrivals;
        double at_s;
    } cases[] = {
        {5, 0.5}, {10, 1}, {17.5, 1.5}, {30, 3}, {42.5, 3.5}, {49.98999, 3.999},
    };
    struct load_settings load = {.warmup_ns = NS_PER_S};
    struct shape s;

    strlist_add(&load.stages, "10/s..30/s 1s");
    strlist_add(&load.stages, "0 1s");
    strlist_add(&load.stages, "30/s..10/s 1s");
    s = make(&load);
    for (size_t i = 0; i < COUNT(cases); i++) {
        double at_ns = shape_when_ns(&s, cases[i].arrivals);

        assert_near(shape_arrivals(&s, at_ns), cases[i].arrivals);
        assert_near(at_ns, cases[i].at_s * 1e9);
    }
    assert_true(isinf(shape_when_ns(&s, 50)));
    assert_near(shape_when_ns(&s, 5), 0.5e9); /* back again */
    shape_fini(&s);
    strlist_fini(&load.stages);
}

/* 100/s on average, all of it in the first 200 ms of each second: 500/s. */
TEST(bursts_keep_the_mean)
{
    struct load_settings load = {.rate_rps = 100,
                                 .burst_on_ns = 200 * NS_PER_MS,
                                 .burst_off_ns = 800 * NS_PER_MS};
    struct shape s = make(&load);

    assert_near(shape_when_ns(&s, 50), 100e6);
    assert_near(shape_when_ns(&s, 100), 1e9);
    assert_near(shape_when_ns(&s, 150), 1.1e9);
    assert_near(shape_when_ns(&s, 1050), 10.1e9);
    assert_near(shape_arrivals(&s, 3e9), 300);
    assert_near(shape_arrivals(&s, 3.9e9), 400);
    shape_fini(&s);
}
