/* The alpha-beta model: planted parameters come back, without noise to many
 * digits, with noise within their intervals as often as these promise. */
#include <math.h>

#include "analyzer/scaling/comm_fit.h"
#include "common/base/rng.h"
#include "tests/support/near.h"
#include "tests/support/test.h"

#define POINTS 7

static const double ks[POINTS] = {1, 2, 4, 8, 16, 32, 64};

struct planted {
    double serial;
    double parallel;
    double alpha;
    double beta;
};

static double comm_of(const struct planted *p, double k)
{
    return p->alpha * log2(k) + p->beta * (k - 1);
}

static double time_of(const struct planted *p, double k)
{
    return p->serial + p->parallel / k + comm_of(p, k);
}

static struct comm_data exact(const struct planted *p, double *seconds)
{
    for (size_t i = 0; i < POINTS; i++)
        seconds[i] = time_of(p, ks[i]);
    return (struct comm_data){.k = ks,
                              .seconds = seconds,
                              .n = POINTS,
                              .error2 = NAN,
                              .threshold = 0.7};
}

static void assert_terms(const struct comm_fit *f, const struct planted *p,
                         double within)
{
    assert_true(f->is_fitted);
    assert_near(f->term_s[COMM_SERIAL].value, p->serial, within);
    assert_near(f->term_s[COMM_PARALLEL].value, p->parallel, within);
    assert_near(f->term_s[COMM_ALPHA].value, p->alpha, within);
    assert_near(f->term_s[COMM_BETA].value, p->beta, within);
}

/* ---- without noise ---- */

static const struct planted cases[] = {
    {0.04, 0.96, 0.01, 0}, {0.04, 0.96, 0, 0.002}, {0, 1, 0.02, 0.0005},
    {0.1, 3, 0.03, 0.01},  {0.2, 0.8, 0, 0},
};

TEST(planted_parameters_are_recovered_from_times)
{
    double seconds[POINTS];

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct comm_data d = exact(&cases[i], seconds);
        struct comm_fit f = comm_fit(&d);

        assert_terms(&f, &cases[i], 1e-9);
        assert_false(f.is_measured);
        assert_near(f.residual, 0, 1e-9);
        for (size_t k = 0; k < POINTS; k++) {
            assert_near(comm_seconds_at(&f, ks[k]), comm_of(&cases[i], ks[k]),
                        1e-8);
            assert_near(comm_computation_at(&f, ks[k]),
                        cases[i].serial + cases[i].parallel / ks[k], 1e-8);
        }
    }
}

/* Weak scaling: T(1) is computation, whatever it consists of. */
TEST(planted_parameters_are_recovered_from_weak_scaling)
{
    const struct planted p = {2, 0, 0.05, 0.01};
    double seconds[POINTS];
    struct comm_data d = exact(&p, seconds);
    struct comm_fit f;

    d.is_weak = true;
    f = comm_fit(&d);
    assert_terms(&f, &p, 1e-9);
    assert_true(isinf(f.peak_k.value));
    assert_near(2 / time_of(&p, f.threshold_k), 0.7, 1e-6);
}

/* A part of the communication that hardly depends on K looks serial in times;
 * measured communication times show it. */
TEST(measured_communication_is_fitted_on_its_own)
{
    const struct planted p = {0.04, 0.96, 0.01, 0.002};
    double seconds[POINTS];
    double comm_s[POINTS];
    struct comm_data d = exact(&p, seconds);
    struct comm_fit f;

    for (size_t i = 0; i < POINTS; i++)
        comm_s[i] = comm_of(&p, ks[i]);
    comm_s[0] = NAN; /* K = 1 does not communicate */
    d.comm_s = comm_s;
    f = comm_fit(&d);
    assert_true(f.is_measured);
    assert_terms(&f, &p, 1e-9);
    for (size_t i = 3; i < POINTS; i++)
        comm_s[i] = NAN; /* two are too few: the times are fitted */
    f = comm_fit(&d);
    assert_false(f.is_measured);
    assert_terms(&f, &p, 1e-9);
}

/* parallel / K^2 = alpha / (K ln 2) + beta there. */
TEST(where_more_workers_stop_helping)
{
    double seconds[POINTS];

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct planted *p = &cases[i];
        struct comm_data d = exact(p, seconds);
        struct comm_fit f = comm_fit(&d);
        double peak = f.peak_k.value;

        if (p->alpha + p->beta == 0) {
            assert_true(isinf(peak));
            continue;
        }
        assert_true(time_of(p, peak) <= time_of(p, 0.99 * peak));
        assert_true(time_of(p, peak) <= time_of(p, 1.01 * peak));
        assert_near(time_of(p, 1) / time_of(p, f.bend_k) / f.bend_k, 0.9, 1e-6);
        assert_near(time_of(p, 1) / time_of(p, f.threshold_k) / f.threshold_k,
                    0.7, 1e-6);
    }
}

TEST(too_few_points)
{
    double seconds[POINTS];
    struct comm_data d = exact(&cases[0], seconds);

    d.n = COMM_MIN_STRONG;
    assert_true(comm_fit(&d).is_fitted);
    d.n = COMM_MIN_STRONG - 1;
    assert_false(comm_fit(&d).is_fitted);
    d.is_weak = true;
    assert_true(comm_fit(&d).is_fitted);
    d.n = COMM_MIN_WEAK - 1;
    assert_false(comm_fit(&d).is_fitted);
}

/* Superlinear speedups have no communication, and no parameter below 0. */
TEST(nothing_is_negative)
{
    static const double seconds[POINTS] = {64, 31, 15, 7.2, 3.4, 1.6, 0.7};
    const struct comm_data d = {.k = ks,
                                .seconds = seconds,
                                .n = POINTS,
                                .error2 = NAN,
                                .threshold = 0.7};
    struct comm_fit f = comm_fit(&d);

    assert_true(f.is_fitted);
    for (int i = 0; i < COMM_TERMS; i++) {
        assert_true(f.term_s[i].value >= 0);
        assert_true(f.term_s[i].range.low >= 0);
    }
    assert_near(f.term_s[COMM_ALPHA].value, 0, 1e-12);
}

/* ---- with noise ---- */

#define STUDIES 1000
#define NOISE   0.02 /* of a time, as a share */

static bool holds(const struct uncertain *u, double value)
{
    return u->has_range && value >= u->range.low && value <= u->range.high;
}

/* An interval of 95 % misses no more often than 5 % and three standard errors.
 */
static void expect_coverage(int held)
{
    if (held < 0.929 * STUDIES)
        fail_msg("held %d of %d", held, STUDIES);
}

TEST(intervals_hold_the_planted_values)
{
    const struct planted p = {0.04, 0.96, 0.01, 0.001};
    int held[COMM_TERMS] = {0};
    int peaks = 0;
    double truth;
    double seconds[POINTS];
    struct comm_data d = exact(&p, seconds);
    struct rng rng = rng_at(1, RNG_SUBSET, 0);

    truth = comm_fit(&d).peak_k.value;
    for (int i = 0; i < STUDIES; i++) {
        struct comm_fit f;

        for (size_t k = 0; k < POINTS; k++)
            seconds[k] = time_of(&p, ks[k]) * (1 + NOISE * rng_normal(&rng));
        f = comm_fit(&d);
        held[COMM_SERIAL] += holds(&f.term_s[COMM_SERIAL], p.serial);
        held[COMM_PARALLEL] += holds(&f.term_s[COMM_PARALLEL], p.parallel);
        held[COMM_ALPHA] += holds(&f.term_s[COMM_ALPHA], p.alpha);
        held[COMM_BETA] += holds(&f.term_s[COMM_BETA], p.beta);
        peaks += holds(&f.peak_k, truth);
    }
    for (int i = 0; i < COMM_TERMS; i++)
        expect_coverage(held[i]);
    expect_coverage(peaks);
}
