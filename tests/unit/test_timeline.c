#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/rng.h"
#include "server-stub/timeline.h"

static void assert_near(double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%g is not within %g of %g", got, within, want);
}

/* A stall of 3 in every 10 after the epoch: [110, 113), [120, 123), ... */
static void stalls_by_hand(void **state)
{
    static const struct {
        const char *what;
        int64_t arrival;
        int64_t service;
        struct span want;
    } cases[] = {
        {"no stall opens the first interval", 100, 4, {100, 104}},
        {"within an interval", 104, 5, {104, 109}},
        {"ends as the stall begins", 104, 6, {104, 110}},
        {"crosses a stall", 104, 7, {104, 114}},
        {"the last moment before a stall", 109, 2, {109, 114}},
        {"arrives as a stall begins", 110, 2, {113, 115}},
        {"arrives within a stall", 112, 2, {113, 115}},
        {"arrives as a stall ends", 113, 2, {113, 115}},
        {"fills the time between two stalls", 113, 7, {113, 120}},
        {"crosses two stalls", 104, 14, {104, 124}},
        {"ends as the second stall begins", 104, 13, {104, 120}},
        {"crosses ten stalls", 104, 6 + 9 * 7 + 1, {104, 204}},
        {"no service, outside", 115, 0, {115, 115}},
        {"no service, within", 121, 0, {123, 123}},
        {"for ever", 104, INT64_MAX, {104, INT64_MAX}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct timeline t;
        struct span got;

        timeline_init(&t, 100, 3, 10);
        got = timeline_serve(&t, cases[i].arrival, cases[i].service);
        if (got.start_ns != cases[i].want.start_ns ||
            got.finish_ns != cases[i].want.finish_ns)
            fail_msg("%s: %lld to %lld", cases[i].what, (long long)got.start_ns,
                     (long long)got.finish_ns);
    }
}

static void a_queue_is_first_come_first_served(void **state)
{
    struct timeline t;
    struct span got;

    (void)state;
    timeline_init(&t, 0, 0, 0);
    got = timeline_serve(&t, 5, 10);
    assert_int_equal(got.finish_ns, 15);
    got = timeline_serve(&t, 5, 1);
    assert_int_equal(got.start_ns, 15);
    assert_int_equal(got.finish_ns, 16);
    got = timeline_serve(&t, 20, 1);
    assert_int_equal(got.start_ns, 20);
    assert_int_equal(got.finish_ns, 21);
}

static void a_queue_that_never_ends_stays_there(void **state)
{
    struct timeline t;
    struct span got;

    (void)state;
    timeline_init(&t, 0, 3, 10);
    timeline_serve(&t, 5, INT64_MAX / 2);
    timeline_serve(&t, 6, INT64_MAX / 2);
    got = timeline_serve(&t, 7, 1);
    assert_int_equal(got.start_ns, INT64_MAX);
    assert_int_equal(got.finish_ns, INT64_MAX);
}

static bool is_stalled(int64_t since_ns, int64_t stall_ns, int64_t every_ns)
{
    return since_ns >= every_ns && since_ns % every_ns < stall_ns;
}

/* The server, a nanosecond at a time. */
static struct span serve_slowly(int64_t *free_ns, int64_t arrival_ns,
                                int64_t service_ns, int64_t stall_ns,
                                int64_t every_ns)
{
    int64_t at = arrival_ns > *free_ns ? arrival_ns : *free_ns;
    struct span span;

    while (is_stalled(at, stall_ns, every_ns))
        at++;
    span.start_ns = at;
    for (; service_ns > 0; at++)
        service_ns -= !is_stalled(at, stall_ns, every_ns);
    span.finish_ns = at;
    *free_ns = at;
    return span;
}

static void agrees_with_a_walk_through_every_moment(void **state)
{
    const int64_t epoch = 1000;
    struct rng rng = rng_stream(1, RNG_SERVICE);

    (void)state;
    for (int64_t stall = 0; stall < 8; stall++) {
        const int64_t every = 8;
        int64_t arrival = 0;
        int64_t free_ns = 0;
        struct timeline t;

        timeline_init(&t, epoch, stall, every);
        for (int i = 0; i < 2000; i++) {
            int64_t service = (int64_t)(rng_next(&rng) % 12);
            struct span want;
            struct span got;

            arrival += (int64_t)(rng_next(&rng) % 40);
            want = serve_slowly(&free_ns, arrival, service, stall, every);
            got = timeline_serve(&t, epoch + arrival, service);
            assert_int_equal(got.start_ns, epoch + want.start_ns);
            assert_int_equal(got.finish_ns, epoch + want.finish_ns);
        }
    }
}

/* W(n+1) = max(0, W(n) + S(n) - gap(n)), without ever naming a time. */
static void agrees_with_lindley(void **state)
{
    struct rng arrivals = rng_stream(7, RNG_ARRIVAL);
    struct rng services = rng_stream(7, RNG_SERVICE);
    int64_t arrival = 12345;
    int64_t wait = 0;
    struct timeline t;

    (void)state;
    timeline_init(&t, 0, 0, 0);
    for (int i = 0; i < 100000; i++) {
        int64_t gap = llround(rng_exponential(&arrivals) * 1e6);
        int64_t service = llround(rng_exponential(&services) * 0.9e6);
        struct span got = timeline_serve(&t, arrival, service);

        assert_int_equal(got.start_ns - arrival, wait);
        assert_int_equal(got.finish_ns - arrival, wait + service);
        wait += service - gap;
        if (wait < 0)
            wait = 0;
        arrival += gap;
    }
}

/* M/M/1 with service 1 ms and load r: the mean wait is r/(1-r) ms.  Waits of
 * neighbours are alike; by Daley (1968) the mean of n of them has the variance
 * r(2 + 5r - 4r^2 + r^3)/(1-r)^4 / n.  Five sigma: one false alarm in 10^6. */
static void mean_wait_is_that_of_mm1(void **state)
{
    static const double loads[] = {0.3, 0.5, 0.7};
    const int n = 1000000;

    (void)state;
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
        double r = loads[i];
        double variance =
            r * (2 + 5 * r - 4 * r * r + r * r * r) / pow(1 - r, 4) / (double)n;
        struct rng arrivals = rng_stream(1 + i, RNG_ARRIVAL);
        struct rng services = rng_stream(1 + i, RNG_SERVICE);
        double arrival_ns = 0;
        double sum_ms = 0;
        struct timeline t;

        timeline_init(&t, 0, 0, 0);
        for (int k = 0; k < n; k++) {
            int64_t service = llround(rng_exponential(&services) * 1e6);
            int64_t arrival;

            arrival_ns += rng_exponential(&arrivals) * 1e6 / r;
            arrival = llround(arrival_ns);
            sum_ms += (double)(timeline_serve(&t, arrival, service).start_ns -
                               arrival) /
                      1e6;
        }
        assert_near(sum_ms / n, r / (1 - r), 5 * sqrt(variance));
    }
}

/* Who arrives at random at a server that stalls 1 s in 5 waits with a chance
 * of a fifth, and then uniformly up to 1 s. */
static void a_random_observer_sees_the_stall(void **state)
{
    struct rng rng = rng_stream(3, RNG_ARRIVAL);
    const int n = 1000000;
    double arrival_ns = 5e9;
    double sum_s = 0;
    int waited = 0;
    struct timeline t;

    (void)state;
    timeline_init(&t, 0, NS_PER_S, 5 * NS_PER_S);
    for (int i = 0; i < n; i++) {
        int64_t arrival;
        int64_t wait;

        arrival_ns += rng_exponential(&rng) * 1e9;
        arrival = llround(arrival_ns);
        wait = timeline_serve(&t, arrival, 0).finish_ns - arrival;
        waited += wait > 0;
        sum_s += (double)wait / 1e9;
    }
    /* Poisson arrivals in whole intervals fall where they fall independently,
     * so the scatter is binomial and uniform: five sigma. */
    assert_near((double)waited / n, 0.2, 5 * sqrt(0.2 * 0.8 / n));
    assert_near(sum_s / waited, 0.5, 5 * sqrt(1.0 / 12 / waited));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stalls_by_hand),
        cmocka_unit_test(a_queue_is_first_come_first_served),
        cmocka_unit_test(a_queue_that_never_ends_stays_there),
        cmocka_unit_test(agrees_with_a_walk_through_every_moment),
        cmocka_unit_test(agrees_with_lindley),
        cmocka_unit_test(mean_wait_is_that_of_mm1),
        cmocka_unit_test(a_random_observer_sees_the_stall),
    };

    return cmocka_run_group_tests_name("timeline", tests, NULL, NULL);
}
