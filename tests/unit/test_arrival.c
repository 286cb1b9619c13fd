/* Arrival processes: the asked rate, the promised shape, no bad settings. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/rng.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/arrival/arrival.h"

#define N 100000

static void *process_new(const struct arrival_ops *ops, double rate_rps)
{
    void *self = xcalloc(1, ops->state_size);
    struct err err = {0};

    assert_int_equal(ops->init(self, rate_rps, &err), 0);
    assert_int_equal(err.code, ERR_NONE);
    return self;
}

static void every_name_in_the_settings_has_a_process(void **state)
{
    (void)state;
    assert_non_null(arrival_names[0]);
    for (size_t i = 0; arrival_names[i]; i++) {
        const struct arrival_ops *ops = arrival_of((enum arrival)i);

        assert_non_null(ops);
        assert_string_equal(ops->name, arrival_names[i]);
        assert_non_null(ops->init);
        assert_non_null(ops->gap_ns);
        assert_true(ops->state_size > 0);
    }
    assert_null(arrival_names[ARRIVAL_COUNT]);
}

static void bad_rates_are_refused(void **state)
{
    static const struct {
        double rate_rps;
        const char *want;
    } cases[] = {
        {0, "rate must be above 0, not 0"},
        {-1, "rate must be above 0, not -1"},
        {NAN, "rate must be above 0, not nan"},
        {INFINITY, "rate must be finite, not inf"},
        {-INFINITY, "rate must be above 0, not -inf"},
    };

    (void)state;
    for (size_t p = 0; arrival_names[p]; p++) {
        const struct arrival_ops *ops = arrival_of((enum arrival)p);
        void *self = xcalloc(1, ops->state_size);

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            struct err err = {0};

            assert_int_equal(ops->init(self, cases[i].rate_rps, &err), -1);
            assert_int_equal(err.code, ERR_CONFIG);
            assert_string_equal(err.msg, cases[i].want);
        }
        free(self);
    }
}

/* A gap that is no whole number of nanoseconds must not be rounded. */
static void constant_does_not_drift(void **state)
{
    const struct arrival_ops *ops = arrival_of(ARRIVAL_CONSTANT);
    void *self = process_new(ops, 300000);
    struct rng rng = rng_stream(1, RNG_ARRIVAL);
    struct rng before = rng;
    double at_ns = 0;

    (void)state;
    assert_true(ops->gap_ns(self, &rng) == 0); /* the first is due at once */
    for (int i = 0; i < 600000; i++)
        at_ns += ops->gap_ns(self, &rng);
    assert_true(fabs(at_ns - 2e9) < 1);
    assert_int_equal(rng.state, before.state);
    free(self);
}

/* For exponential gaps mean and coefficient of variation, both 1 in units of
 * the mean gap, have a standard error of 1/sqrt(N) each (the latter by the
 * delta method: 2/N + 1/N - 2/N), and so has the correlation of neighbours.
 * The share above the mean is binomial with 1/e.  4.5 sigma each: fewer than
 * one seed in 10,000 would fail. */
static void poisson_gaps_are_exponential_and_independent(void **state)
{
    const struct arrival_ops *ops = arrival_of(ARRIVAL_POISSON);
    void *self = process_new(ops, 70000);
    struct rng rng = rng_stream(7, RNG_ARRIVAL);
    double margin = 4.5 / sqrt(N);
    double p = exp(-1);
    double sum = 0;
    double squares = 0;
    double products = 0;
    double previous = 1;
    double above = 0;
    double mean;
    double cv;

    (void)state;
    for (int i = 0; i < N; i++) {
        double gap = ops->gap_ns(self, &rng) * 70000 / 1e9;

        assert_true(gap >= 0);
        sum += gap;
        squares += gap * gap;
        products += (gap - 1) * (previous - 1);
        above += gap > 1;
        previous = gap;
    }
    mean = sum / N;
    cv = sqrt(squares / N - mean * mean) / mean;
    assert_true(fabs(mean - 1) < margin);
    assert_true(fabs(cv - 1) < margin);
    assert_true(fabs(products / N) < margin);
    assert_true(fabs(above / N - p) < margin * sqrt(p * (1 - p)));
    free(self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_in_the_settings_has_a_process),
        cmocka_unit_test(bad_rates_are_refused),
        cmocka_unit_test(constant_does_not_drift),
        cmocka_unit_test(poisson_gaps_are_exponential_and_independent),
    };

    return cmocka_run_group_tests_name("arrival", tests, NULL, NULL);
}
