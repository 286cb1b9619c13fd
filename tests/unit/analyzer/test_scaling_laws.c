/* Laws of scaling: planted parameters come back, without noise to many digits,
 * with noise within their intervals as often as these promise. */
#include <math.h>

#include "analyzer/scaling/scaling_laws.h"
#include "analyzer/scaling/scaling_point.h"
#include "common/base/rng.h"
#include "tests/support/near.h"
#include "tests/support/test.h"

#define POINTS 7
#define RUNS   5

static const double ks[POINTS] = {1, 2, 4, 8, 16, 32, 64};

/* A law and what is planted in it. */
struct planted {
    double a;
    double b;
    double (*speedup)(double a, double b, double k);
};

static double by_amdahl(double a, double b, double k)
{
    (void)b;
    return amdahl_at(a, k);
}

static double by_gustafson(double a, double b, double k)
{
    (void)b;
    return gustafson_at(a, k);
}

static double by_usl(double a, double b, double k)
{
    return k / (1 + a * (k - 1) + b * k * (k - 1));
}

/* ---- without noise ---- */

static struct law_data exact(const struct planted *p, double *speedup)
{
    for (size_t i = 0; i < POINTS; i++)
        speedup[i] = p->speedup(p->a, p->b, ks[i]);
    return (struct law_data){
        .k = ks, .speedup = speedup, .n = POINTS, .error2 = NAN};
}

TEST(one_serial_fraction)
{
    static const double fractions[] = {0, 0.001, 0.0376, 0.2, 0.9};
    double s[POINTS];

    for (size_t i = 0; i < COUNT(fractions); i++) {
        struct planted p = {fractions[i], 0, by_amdahl};
        struct law_data d = exact(&p, s);
        struct serial_law law = law_amdahl(&d);

        assert_true(law.is_fitted);
        assert_near(law.serial.value, p.a, 1e-12);
        assert_range(&law.serial, p.a, p.a, 1e-6);
        assert_near(law.residual, 0, 1e-12);
        p.speedup = by_gustafson;
        d = exact(&p, s);
        law = law_gustafson(&d);
        assert_near(law.serial.value, p.a, 1e-12);
        assert_range(&law.serial, p.a, p.a, 1e-6);
        assert_true(isinf(law.ceiling));
    }
}

/* Efficiency 1 / (1 + s (K - 1)) is a half where s (K - 1) is 1. */
TEST(where_amdahl_ends)
{
    struct planted p = {0.05, 0, by_amdahl};
    double s[POINTS];
    struct law_data d = exact(&p, s);
    struct serial_law law = law_amdahl(&d);

    assert_near(law.ceiling, 20, 1e-9);
    assert_near(law.half_k, 21, 1e-9);
    assert_near(amdahl_at(0.05, law.half_k) / law.half_k, 0.5, 1e-12);
}

TEST(two_parameters)
{
    static const struct planted cases[] = {
        {0.02, 0.0005, by_usl}, {0.1, 0.001, by_usl}, {0, 0.0002, by_usl},
        {0.3, 0.01, by_usl},    {0.05, 0, by_usl},
    };
    double s[POINTS];

    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct planted *p = &cases[i];
        struct law_data d = exact(p, s);
        struct usl u = law_usl(&d);

        assert_true(u.is_fitted);
        assert_false(u.is_hint);
        assert_near(u.scale, 1, 1e-8);
        assert_near(u.alpha.value, p->a, 1e-8);
        assert_near(u.beta.value, p->b, 1e-9);
        if (p->b > 0)
            assert_near(u.peak_k.value, sqrt((1 - p->a) / p->b), 1e-3);
        assert_near(usl_at(&u, 8), p->speedup(p->a, p->b, 8), 1e-7);
    }
}

TEST(few_points_are_a_hint_or_nothing)
{
    struct planted p = {0.05, 0.001, by_usl};
    double s[POINTS];
    struct law_data d = exact(&p, s);

    d.n = USL_TRUSTED - 1;
    assert_true(law_usl(&d).is_fitted);
    assert_true(law_usl(&d).is_hint);
    d.n = USL_MIN - 1;
    assert_false(law_usl(&d).is_fitted);
    d.n = 2;
    assert_true(law_amdahl(&d).is_fitted);
    assert_false(law_amdahl(&d).serial.has_range); /* one point is no scatter */
    d.n = 1;
    assert_false(law_amdahl(&d).is_fitted);
}

/* ---- with noise ---- */

#ifndef SIMULATIONS
#define SIMULATIONS 1000
#endif
#define NOISE 0.02 /* of one run, as a share */

/* RUNS runs a point; T(1) errs in all speedups at once. */
static struct law_data noisy(const struct planted *p, struct rng *rng,
                             double *speedup)
{
    struct law_data d = {.k = ks, .speedup = speedup, .n = POINTS};
    double mean[POINTS];

    for (size_t i = 0; i < POINTS; i++) {
        double x[RUNS];
        double squares = 0;

        mean[i] = 0;
        for (size_t r = 0; r < RUNS; r++) {
            x[r] =
                (1 + NOISE * rng_normal(rng)) / p->speedup(p->a, p->b, ks[i]);
            mean[i] += x[r] / RUNS;
        }
        for (size_t r = 0; r < RUNS; r++)
            squares += (x[r] - mean[i]) * (x[r] - mean[i]);
        d.error2 += squares / (RUNS - 1) / RUNS / (mean[i] * mean[i]) / POINTS;
        d.freedom += RUNS - 1;
        speedup[i] = mean[0] / mean[i];
    }
    return d;
}

static bool holds(const struct uncertain *u, double x)
{
    return u->has_range && u->range.low <= x && x <= u->range.high;
}

/* Of that many studies an interval of 95 % misses the planted value no more
 * often than 5 % and three standard errors: sqrt(0.95 * 0.05 / n). */
static void expect_coverage(size_t covered)
{
    double n = SIMULATIONS;

    if ((double)covered < n * (0.95 - 3 * sqrt(0.95 * 0.05 / n)))
        print_message("covered %zu of %.0f\n", covered, n);
    assert_true((double)covered >= n * (0.95 - 3 * sqrt(0.95 * 0.05 / n)));
}

TEST(serial_fraction_within_its_interval)
{
    static const struct planted cases[] = {
        {0.0376, 0, by_amdahl}, {0.2, 0, by_amdahl}, {0.1, 0, by_gustafson}};
    double s[POINTS];

    for (size_t c = 0; c < 2 * COUNT(cases); c++) {
        const struct planted *p = &cases[c / 2];
        struct rng rng = rng_at(1, RNG_SUBSET, (int64_t)c);
        size_t covered = 0;

        for (size_t i = 0; i < SIMULATIONS; i++) {
            struct law_data d = noisy(p, &rng, s);
            struct serial_law law;

            if (c % 2) /* single runs: the scatter about the law is all */
                d.error2 = NAN;
            law = p->speedup == by_amdahl ? law_amdahl(&d) : law_gustafson(&d);
            covered += holds(&law.serial, p->a);
        }
        expect_coverage(covered);
    }
}

TEST(usl_within_its_intervals)
{
    static const struct planted cases[] = {{0.05, 0.001, by_usl},
                                           {0.02, 0.0001, by_usl}};
    double s[POINTS];

    for (size_t c = 0; c < COUNT(cases); c++) {
        const struct planted *p = &cases[c];
        double peak = sqrt((1 - p->a) / p->b);
        struct rng rng = rng_at(1, RNG_SUBSET, (int64_t)c);
        size_t covered[3] = {0};

        for (size_t i = 0; i < SIMULATIONS; i++) {
            struct law_data d = noisy(p, &rng, s);
            struct usl u = law_usl(&d);

            covered[0] += holds(&u.alpha, p->a);
            covered[1] += holds(&u.beta, p->b);
            covered[2] += holds(&u.peak_k, peak);
        }
        for (size_t k = 0; k < COUNT(covered); k++)
            expect_coverage(covered[k]);
    }
}

/* An error of T(1) alone moves every speedup; it must show in the interval. */
TEST(the_baseline_counts)
{
    struct planted p = {0.05, 0, by_amdahl};
    double s[POINTS];
    struct law_data d = exact(&p, s);
    struct uncertain u;

    for (size_t i = 1; i < POINTS; i++)
        s[i] *= 1.02;
    u = law_amdahl(&d).serial;
    assert_true(fabs(u.value - p.a) > 0.001);
    assert_true(holds(&u, p.a));
}

/* ---- how a set ends ---- */

#define ANSWERS 400

#define WORKERS 8

/* A worker does one after the other. */
struct worker {
    double left;
    double took;
    double now;
};

/* Whose next answer comes first, of those that have work left. */
static struct worker *next_of(struct worker *w, size_t k)
{
    struct worker *first = NULL;

    for (size_t i = 0; i < k; i++) {
        if (w[i].left > 0 &&
            (!first || w[i].now + w[i].took < first->now + first->took))
            first = &w[i];
    }
    return first;
}

/* Answers of `k` workers, the first of which has `share` of the work and
 * `speed` of the speed of the others, which do one a second. */
static struct drain drained(size_t k, double share, double speed)
{
    struct worker workers[WORKERS];
    double ends[ANSWERS];

    for (size_t i = 0; i < k; i++)
        workers[i] = (struct worker){
            .left = ANSWERS * (1 - share) / (double)(k - 1), .took = 1};
    workers[0] = (struct worker){.left = ANSWERS * share, .took = 1 / speed};
    for (size_t i = 0; i < ANSWERS; i++) {
        struct worker *w = next_of(workers, k);

        assert_non_null(w);
        w->now += w->took;
        w->left--;
        ends[i] = w->now;
    }
    return drain_of(ends, ANSWERS);
}

TEST(how_a_set_ends)
{
    struct drain one = drained(1, 1, 1);
    struct drain even = drained(8, 0.125, 1);
    struct drain slow = drained(8, 0.125, 0.5);
    struct drain uneven = drained(8, 0.25, 1);

    assert_near(one.bulk_rps, 1, 0.02);
    assert_near(one.uneven, 0, 0.01);
    assert_near(one.last_rps, 1, 0.1);
    assert_near(even.bulk_rps, 8, 0.3);
    assert_near(even.uneven, 0, 0.03);
    assert_near(slow.uneven, 0.47, 0.03); /* 7.5 of 8 at work, for half of it */
    assert_near(slow.last_rps, 0.5, 0.03);
    assert_near(uneven.uneven, 0.5, 0.03);
    assert_near(uneven.last_rps, 1, 0.06);
    assert_int_equal(drain_of((double[]){1, 2, 3}, 3).runs, 0);
}
