/* Arrival processes: the asked rate, the promised shape, no bad settings. */
#include <math.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/schedule/arrival.h"
#include "tests/support/test.h"

#define N 100000

static void *process_new(const struct arrival_ops *ops, double cv)
{
    const struct load_settings load = {.cv = cv};
    void *self = xcalloc(1, ops->state_size);
    struct err err = {0};

    if (ops->init)
        assert_int_equal(ops->init(self, &load, &err), 0);
    assert_int_equal(err.code, ERR_NONE);
    return self;
}

TEST(every_name_in_the_settings_has_a_process)
{
    assert_non_null(arrival_names[0]);
    for (size_t i = 0; arrival_names[i]; i++) {
        const struct arrival_ops *ops = arrival_of((enum arrival)i);

        assert_non_null(ops);
        assert_string_equal(ops->name, arrival_names[i]);
        assert_non_null(ops->gap);
        assert_true(ops->state_size > 0);
    }
    assert_null(arrival_names[ARRIVAL_COUNT]);
}

TEST(a_metronome_starts_at_once)
{
    const struct arrival_ops *ops = arrival_of(ARRIVAL_CONSTANT);
    void *self = process_new(ops, 1);
    struct rng rng = rng_stream(1, RNG_ARRIVAL);
    struct rng before = rng;

    assert_true(ops->gap(self, &rng) == 0);
    for (int i = 0; i < 100; i++)
        assert_true(ops->gap(self, &rng) == 1);
    assert_int_equal(rng.state, before.state);
    free(self);
}

/* Mean 1, and the coefficient of variation asked for.  The mean of N gaps has
 * a standard error of cv / sqrt(N).  A gamma of shape k has excess kurtosis 6/k
 * and skewness 2/sqrt(k), so by the delta method the sample's cv has a
 * standard error of cv sqrt((1/2 + 3/(2k) + cv^2 - cv skewness) / N), which
 * with cv^2 = 1/k is cv sqrt((1/2 + 1/(2k)) / N).  5 sigma each. */
TEST(gamma_gaps_have_their_variation)
{
    static const double cvs[] = {0.1, 0.5, 1, 2, 5};

    for (size_t c = 0; c < sizeof(cvs) / sizeof(cvs[0]); c++) {
        const struct arrival_ops *ops = arrival_of(ARRIVAL_GAMMA);
        void *self = process_new(ops, cvs[c]);
        struct rng rng = rng_stream(11, RNG_ARRIVAL);
        double n = 10.0 * N;
        double sum = 0;
        double squares = 0;
        double cv;

        for (int i = 0; i < 10 * N; i++) {
            double gap = ops->gap(self, &rng);

            assert_true(gap >= 0);
            sum += gap;
            squares += gap * gap;
        }
        cv = sqrt(squares / n - sum / n * sum / n) / (sum / n);
        assert_true(fabs(sum / n - 1) < 5 * cvs[c] / sqrt(n));
        assert_true(fabs(cv - cvs[c]) <
                    5 * cvs[c] * sqrt((0.5 + cvs[c] * cvs[c] / 2) / n));
        free(self);
    }
}

TEST(gamma_refuses_odd_variations)
{
    static const double cvs[] = {0, 0.001, 101, NAN};

    for (size_t i = 0; i < sizeof(cvs) / sizeof(cvs[0]); i++) {
        const struct arrival_ops *ops = arrival_of(ARRIVAL_GAMMA);
        const struct load_settings load = {.cv = cvs[i]};
        void *self = xcalloc(1, ops->state_size);
        struct err err = {0};

        assert_int_equal(ops->init(self, &load, &err), -1);
        assert_string_equal(err.msg, "load.cv must be between 0.01 and 100");
        free(self);
    }
}

/* For exponential gaps mean and coefficient of variation, both 1 in units of
 * the mean gap, have a standard error of 1/sqrt(N) each (the latter by the
 * delta method: 2/N + 1/N - 2/N), and so has the correlation of neighbours.
 * The share above the mean is binomial with 1/e.  4.5 sigma each: fewer than
 * one seed in 10,000 would fail. */
TEST(poisson_gaps_are_exponential_and_independent)
{
    const struct arrival_ops *ops = arrival_of(ARRIVAL_POISSON);
    void *self = process_new(ops, 1);
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

    for (int i = 0; i < N; i++) {
        double gap = ops->gap(self, &rng);

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
