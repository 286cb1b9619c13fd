/* How precise a quantile is, of one run and over trials. */
#include <math.h>
#include <string.h>

#include "analyzer/studies/set_precision.h"
#include "analyzer/verdict/precision.h"
#include "common/base/clk.h"
#include "common/base/rng.h"
#include "common/settings/settings.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

/* ---- one run ---- */

/* n requests with an exponential e2e of 10 ms on average, one every 10 ms, the
 * last ones first.  They are independent, so p50 is known to +- t(19) * 10 ms /
 * sqrt(n) = 2.09 * 10 / sqrt(n). */
static void add(struct precision *p, int64_t n)
{
    struct rng rng = rng_stream(1, RNG_DEMAND);

    for (int64_t i = n; i-- > 0;) {
        struct facts f = row_ok(i, 10 * i, 0);

        f.last = f.end = f.due + (int64_t)(rng_exponential(&rng) * 1e7);
        precision_add(p, &f);
    }
}

TEST(the_interval_of_one_run)
{
    static const int64_t sizes[] = {4000, 40000};
    const struct until ask = {MEASURE_E2E, 0.5, 0.04};

    for (size_t i = 0; i < COUNT(sizes); i++) {
        double half = 2.09 / sqrt((double)sizes[i]) / log(2);
        struct precision p;
        struct precision_found found;

        precision_init(&p, &ask, 0, INT64_MAX);
        add(&p, sizes[i]);
        found = precision_find(&p);
        assert_true(found.is_known);
        assert_true(fabs(found.value_ns - log(2) * 1e7) < 0.05 * 1e7);
        /* the scatter of 20 slices is known to +- 16 % */
        assert_true(found.half > 0.5 * half && found.half < 1.5 * half);
        assert_int_equal(found.is_reached, i == 1);
        assert_int_equal(precision_is_reached(&p, INT64_MAX), i == 1);
        assert_false(precision_is_reached(&p, INT64_MAX)); /* not again */
        precision_fini(&p);
    }
}

TEST(too_few_requests_have_no_interval)
{
    const struct until ask = {MEASURE_E2E, 0.99, 0.5};
    struct precision p;
    struct precision_found found;

    precision_init(&p, &ask, 0, INT64_MAX);
    add(&p, 5900); /* p99 needs 299 in each of 20 slices */
    found = precision_find(&p);
    assert_false(found.is_known);
    assert_string_equal(found.why, "n too small");
    assert_false(precision_is_reached(&p, INT64_MAX));
    precision_fini(&p);
}

/* Only requests of the window count, and those that the end of the run cut
 * short have no value. */
TEST(what_counts)
{
    const struct until ask = {MEASURE_E2E, 0.5, 0.5};
    struct facts cut = row_failed(0, 1000, 5, OUTCOME_UNFINISHED);
    struct precision p;

    precision_init(&p, &ask, 100 * NS_PER_MS, 2 * NS_PER_S);
    precision_add(&p, &cut);
    for (int64_t i = 0; i < 300; i++) {
        struct facts f = i % 2 ? row_ok(i, 10 * i, 5)
                               : row_failed(i, 10 * i, 5, OUTCOME_RESET);

        precision_add(&p, &f);
    }
    assert_int_equal(p.n, 190);
    assert_true(p.values[0].ns == INFINITY || p.values[1].ns == INFINITY);
    precision_fini(&p);
}

/* ---- trials ---- */

static struct set_precision over(const double *values, const double *within,
                                 size_t n)
{
    const struct set_precision_ask ask = {.share = 0.05,
                                          .values = values,
                                          .within = within,
                                          .n = n,
                                          .length_s = 10,
                                          .overhead_s = 30};

    return set_precision(&ask);
}

/* Mean 100, standard deviation 10: with five trials +- 2.776 * 10 / sqrt(5). */
TEST(the_interval_over_trials)
{
    static const double values[] = {88, 95, 100, 105, 112};
    static const double none[] = {NAN, NAN, NAN, NAN, NAN};
    double deviation = sqrt((144 + 25 + 25 + 144) / 4.0);
    struct set_precision p = over(values, none, 5);

    assert_null(p.why);
    assert_true(fabs(p.value - 100) < 1e-9);
    assert_true(fabs(p.half - 2.776 * deviation / sqrt(5) / 100) < 1e-4);
    assert_false(p.is_reached);
    assert_false(p.is_split);
    /* t(k - 1) * 9.19 % / sqrt(k) <= 5 %: 2.131 * 9.19 / 4 = 4.9 */
    assert_int_equal(p.trials, 16);
    assert_true(p.length_s == 10);
}

/* All of the scatter is that of the requests, most of it, or nearly none.
 * Longer trials pay as far as launches do not differ: 16 of 10 s and their
 * overhead take 640 s, 6 of 40 s 420 s. */
TEST(the_variance_is_split)
{
    static const double values[] = {88, 95, 100, 105, 112};
    static const struct {
        double within;
        double between_share;
        int64_t trials;
        double length_s;
    } cases[] = {{9.2, 0, 6, 40}, {8.28, 0.04, 11, 20}, {0.5, 0.0918, 16, 10}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        double w = cases[i].within;
        const double within[] = {w, w, w, w, w};
        struct set_precision p = over(values, within, 5);

        assert_true(p.is_split);
        assert_true(fabs(p.between - cases[i].between_share) < 1e-3);
        assert_true(
            fabs(p.within * p.within + p.between * p.between - 0.00845) < 1e-6);
        assert_int_equal(p.trials, cases[i].trials);
        assert_true(p.length_s == cases[i].length_s);
    }
}

TEST(trials_without_an_interval)
{
    static const double within[] = {1, 1, 1, 1, 1};
    static const struct {
        double values[5];
        size_t n;
        const char *why;
    } cases[] = {
        {{1, 2, 3, 4}, 4, "fewer than 5 trials"},
        {{1, 2, INFINITY, 4, 5}, 5, "it falls among the failures of a trial"},
        {{1, 2, NAN, 4, 5}, 5, "n too small: a trial cannot bound it"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct set_precision p = over(cases[i].values, within, cases[i].n);

        assert_string_equal(p.why, cases[i].why);
        assert_false(p.is_reached);
    }
}
