#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/spec/dist.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* Tables of a number of points. */
#define FIFTEEN                                                                \
    "empirical 0:1s 1:1s 2:1s 3:1s 4:1s 5:1s 6:1s 7:1s 8:1s 9:1s 10:1s 11:1s " \
    "12:1s 13:1s 14:1s "
#define SIXTEEN   (FIFTEEN "100:1s")
#define SEVENTEEN (FIFTEEN "15:1s 100:1s")

static struct dist parsed(const char *text)
{
    struct err err = {0};
    struct dist dist;

    if (dist_parse(text, &dist, &err))
        fail_msg("%s", err.msg);
    return dist;
}

static struct dist parsed_counts(const char *text)
{
    struct err err = {0};
    struct dist dist;

    if (dist_parse_counts(text, &dist, &err))
        fail_msg("%s", err.msg);
    return dist;
}

/* ---- texts ---- */

TEST(distributions_are_read)
{
    static const struct {
        const char *text;
        double mean;
    } cases[] = {
        {"none", 0},
        {" none ", 0},
        {"fixed 2ms", 2e6},
        {"fixed 0s", 0},
        {"  exponential   1.5ms ", 1.5e6},
        {"lognormal 20ms 5ms", 20e6},
        {"lognormal 20ms 0s", 20e6},
        {"uniform 1ms 3ms", 2e6},
        {"uniform 2ms 2ms", 2e6},
        {"normal 20ms 5ms", 20e6},
        {"empirical 0:1ms 100:3ms", 2e6},
        {" empirical  0:1ms  50:2ms 100:9ms ", 0.5 * 1.5e6 + 0.5 * 5.5e6},
        {"empirical 0:1ms 99.9:1ms 100:1ms", 1e6},
        {"empirical 0:0 25:0 25.0000001:4s 100:4s", 3e9},
        {SIXTEEN, 1e9},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct dist dist = parsed(cases[i].text);

        assert_int_equal(dist_check(cases[i].text, &err), 0);
        assert_true(fabs(dist_mean(&dist) - cases[i].mean) <=
                    1e-8 * cases[i].mean);
    }
}

TEST(counts_are_read)
{
    static const struct {
        const char *text;
        double mean;
    } cases[] = {
        {"128", 128},
        {"1.5k", 1500},
        {"fixed 128", 128},
        {"exponential 128", 128},
        {"lognormal 512 256", 512},
        {"uniform 100 200", 150},
        {"normal 100 20", 100},
        {"empirical 0:1 50:80 100:900", 0.5 * 40.5 + 0.5 * 490},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct dist dist = parsed_counts(cases[i].text);

        assert_int_equal(dist_check_counts(cases[i].text, &err), 0);
        assert_true(fabs(dist_mean(&dist) - cases[i].mean) < 1e-9);
    }
}

/* Of neither kind, whatever the unit. */
static const char *const malformed[] = {
    "",          "  ",        "fixed",     "exponential",
    "lognormal", "empirical", "Fixed 2ms", "uniform 2ms",
    "2ms",       "fixed2ms",  "fixed -1",  "exponential x",
};

static const char *const malformed_durations[] = {
    "fixed 2",
    "128",
    "none 2ms",
    "fixed 2ms 3ms",
    "exponential -2ms",
    "exponential 2ms 2ms",
    "lognormal 20ms",
    "lognormal 20ms 5ms 1ms",
    "lognormal 20ms 5",
    "lognormal 0s 5ms",
    "lognormal 20ms -5ms",
    "empirical 0:1ms",               /* one point */
    "empirical 100:1ms",             /* the same */
    "empirical 1:1ms 100:2ms",       /* does not begin at 0 */
    "empirical 0:1ms 99:2ms",        /* does not end at 100 */
    "empirical 0:1ms 0:2ms 100:3ms", /* the same share twice */
    "empirical 0:1ms 60:2ms 50:3ms 100:4ms",
    "empirical 0:2ms 50:1ms 100:4ms",
    "empirical 0:1ms 50 100:4ms",
    "empirical 0:1ms :2ms 100:4ms",
    "empirical 0:1ms 50: 100:4ms",
    "empirical 0:1ms 50%:2ms 100:4ms",
    "empirical 0:1ms -5:2ms 100:4ms",
    "empirical 0:1ms 101:2ms",
    "empirical 0:1ms 50:2 100:4ms",
    "empirical 0:1ms 50:2ms:3ms 100:4ms",
    "empirical 0:1ms 50.0000000000000x:2ms 100:4ms",
    "empirical 0:1ms 5.00000000000000000000000000000:2ms 100:4ms",
    SEVENTEEN, /* one point too many */
};

static const char *const malformed_counts[] = {
    "none",
    "128.5",
    "-1",
    "fixed 2ms",
    "fixed 2.5",
    "lognormal 0 5",
    "uniform 100",
    "uniform 2 1",
    "normal 5",
    "empirical @file", /* of lengths of data alone */
    "lognormal 512",
    "exponential 12 12",
    "empirical 0:1ms 100:2ms",
    "empirical 0:10 100:9",
    "empirical 0:1.5 100:9",
};

static void assert_refused(int (*check)(const char *text, struct err *err),
                           const char *const *texts, size_t n, const char *hint)
{
    for (size_t i = 0; i < n; i++) {
        struct err err = {0};
        char want[512];

        snprintf(want, sizeof(want), "'%s' is not a distribution; write %s",
                 texts[i], hint);
        if (check(texts[i], &err) != -1)
            fail_msg("'%s' is taken", texts[i]);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, want);
    }
}

TEST(what_is_no_distribution_is_refused)
{
    static const char durations[] =
        "'none', 'fixed 2ms', 'uniform 1ms 3ms' (minimum, maximum), "
        "'exponential 2ms', "
        "'normal 20ms 5ms', 'lognormal 20ms 5ms' (mean, deviation) or "
        "'empirical 0:1ms 50:2ms 100:9ms'";
    static const char counts[] =
        "'128', 'uniform 100 200' (minimum, maximum), 'normal 128 32', "
        "'lognormal 512 "
        "256' (mean, deviation), 'exponential 128' or 'empirical 0:1 50:80 "
        "100:900'";

    assert_refused(dist_check, malformed, COUNT(malformed), durations);
    assert_refused(dist_check, malformed_durations, COUNT(malformed_durations),
                   durations);
    assert_refused(dist_check_counts, malformed, COUNT(malformed), counts);
    assert_refused(dist_check_counts, malformed_counts, COUNT(malformed_counts),
                   counts);
}

/* It would have been drawn as 1. */
TEST(a_count_is_above_0)
{
    struct err err = {0};

    assert_int_equal(dist_check_counts("0", &err), -1);
    assert_string_equal(err.msg, "must be above 0");
    err = (struct err){0};
    assert_int_equal(dist_check_counts("fixed 0", &err), -1);
}

/* ---- draws ---- */

TEST(fixed_times_do_not_vary)
{
    struct rng rng = rng_stream(1, RNG_SERVICE);
    struct dist none = parsed("none");
    struct dist fixed = parsed("fixed 2ms");
    struct dist narrow = parsed("lognormal 2ms 0s");

    for (int i = 0; i < 10; i++) {
        assert_int_equal(dist_draw_ns(&none, &rng), 0);
        assert_int_equal(dist_draw_ns(&fixed, &rng), 2 * NS_PER_MS);
        assert_int_equal(dist_draw_ns(&narrow, &rng), 2 * NS_PER_MS);
    }
}

/* Sample mean of n draws scatters by mean/sqrt(n); the share above the mean is
 * 1/e, a binomial. */
TEST(exponential_times_do)
{
    struct rng rng = rng_stream(1, RNG_SERVICE);
    struct dist dist = parsed("exponential 2ms");
    const int n = 200000;
    double p = exp(-1);
    double sum = 0;
    int above = 0;

    for (int i = 0; i < n; i++) {
        int64_t ns = dist_draw_ns(&dist, &rng);

        assert_true(ns >= 0);
        sum += (double)ns;
        above += ns > 2 * NS_PER_MS;
    }
    assert_true(fabs(sum / n - 2e6) < 5 * 2e6 / sqrt(n));
    assert_true(fabs(above - n * p) < 5 * sqrt(n * p * (1 - p)));
}

/* With w = 1 + (sd/mean)^2 the kurtosis is w^4 + 2w^3 + 3w^2 - 3, and the
 * variance of n draws scatters by sd^2 sqrt((kurtosis - 1) / n).  The median is
 * mean / sqrt(w), and the logarithm is normal: 2.275 % are two of its
 * deviations, sqrt(log(w)), above. */
TEST(lognormal_times_have_mean_and_deviation)
{
    struct rng rng = rng_stream(1, RNG_SERVICE);
    struct dist dist = parsed("lognormal 20ms 10ms");
    const int n = 1000000;
    const double w = 1.25;
    const double p = erfc(M_SQRT2) / 2;
    double median = 20e6 / sqrt(w);
    double kurtosis = pow(w, 4) + 2 * pow(w, 3) + 3 * w * w - 3;
    double sum = 0;
    double square = 0;
    int above = 0;
    int far_above = 0;

    for (int i = 0; i < n; i++) {
        double ns = (double)dist_draw_ns(&dist, &rng);

        sum += ns;
        square += (ns - 20e6) * (ns - 20e6);
        above += ns > median;
        far_above += ns > median * exp(2 * sqrt(log(w)));
    }
    assert_true(fabs(sum / n - 20e6) < 5 * 10e6 / sqrt(n));
    assert_true(fabs(square / n / 100e12 - 1) < 5 * sqrt((kurtosis - 1) / n));
    assert_true(fabs(above - n * 0.5) < 5 * sqrt(n * 0.25));
    assert_true(fabs(far_above - n * p) < 5 * sqrt(n * p * (1 - p)));
}

/* Each of the four as often as the others (three degrees: chi-squared of 21
 * once in ten thousand), and no other. */
TEST(uniform_counts_have_both_ends)
{
    struct rng rng = rng_stream(1, RNG_LENGTHS);
    struct dist dist = parsed_counts("uniform 3 6");
    int count[4] = {0};
    double chi2 = 0;

    for (int i = 0; i < 40000; i++) {
        int64_t n = dist_draw_count(&dist, &rng);

        assert_in_range(n, 3, 6);
        count[n - 3]++;
    }
    for (int i = 0; i < 4; i++)
        chi2 += (count[i] - 10000.0) * (count[i] - 10000.0) / 10000.0;
    assert_true(chi2 < 21.1);
}

/* The mean scatters by sd/sqrt(n), the variance by sd^2 sqrt(2/n). */
TEST(normal_counts_have_mean_and_deviation)
{
    struct rng rng = rng_stream(1, RNG_LENGTHS);
    struct dist dist = parsed_counts("normal 500 50");
    struct dist wide = parsed_counts("normal 10 100");
    const int n = 100000;
    double sum = 0;
    double square = 0;

    for (int i = 0; i < n; i++) {
        double tokens = (double)dist_draw_count(&dist, &rng);

        sum += tokens;
        square += (tokens - 500) * (tokens - 500);
        assert_true(dist_draw_count(&wide, &rng) >= 1);
    }
    assert_true(fabs(sum / n - 500) < 5 * 50 / sqrt(n));
    assert_true(fabs(square / n / 2500 - 1) < 5 * sqrt(2.0 / n));
}

TEST(lengths_of_a_file)
{
    static const char text[] = "10\n\n 20 \r\n1k\n";
    char spec[300];
    struct rng rng = rng_stream(1, RNG_LENGTHS);
    struct err err = {0};
    struct dist dist;
    int seen[3] = {0};

    snprintf(spec, sizeof(spec), "empirical @%s",
             tmpdir_write("lengths", text, sizeof(text) - 1));
    assert_int_equal(dist_check_lengths(spec, &err), 0);
    assert_int_equal(dist_parse_lengths(spec, &dist, &err), 0);
    assert_true(fabs(dist_mean(&dist) - 1030.0 / 3) < 1e-9);
    for (int i = 0; i < 3000; i++) {
        int64_t n = dist_draw_count(&dist, &rng);

        seen[n == 10 ? 0 : n == 20 ? 1 : 2]++;
        assert_true(n == 10 || n == 20 || n == 1000);
    }
    for (int i = 0; i < 3; i++)
        assert_in_range(seen[i], 1000 - 130, 1000 + 130);
    dist_fini(&dist);
    tmpdir_write("lengths", "10\n1 2\n", 7);
    assert_int_equal(dist_check_lengths(spec, &err), -1);
    assert_non_null(strstr(err.msg, "lengths: line 2: more than one number"));
    err = (struct err){0};
    assert_int_equal(dist_check_lengths("empirical @/nowhere", &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
}

/* A draw is the table read at the stream's next number, a straight line from
 * point to point. */
TEST(empirical_times_invert_the_table)
{
    struct rng rng = rng_stream(1, RNG_SERVICE);
    struct rng same = rng_stream(1, RNG_SERVICE);
    struct dist dist = parsed("empirical 0:1ms 50:2ms 90:2ms 99:5ms 100:50ms");

    for (int i = 0; i < 100000; i++) {
        double u = rng_uniform(&same);
        double want = 2e6;

        if (u < 0.5)
            want = 1e6 + 1e6 * u / 0.5;
        else if (u > 0.99)
            want = 5e6 + 45e6 * (u - 0.99) / 0.01;
        else if (u > 0.9)
            want = 2e6 + 3e6 * (u - 0.9) / 0.09;
        assert_true(fabs((double)dist_draw_ns(&dist, &rng) - want) <= 1);
    }
}

/* The share that is at most a point's value is the point's share, a binomial;
 * the mean scatters by less than range/2 / sqrt(n). */
TEST(empirical_times_have_their_quantiles)
{
    struct rng rng = rng_stream(2, RNG_SERVICE);
    struct dist dist = parsed("empirical 0:1ms 50:2ms 90:3ms 99:5ms 100:50ms");
    const int n = 1000000;
    double sum = 0;
    int up_to[DIST_MAX_POINTS] = {0};

    for (int i = 0; i < n; i++) {
        double ns = (double)dist_draw_ns(&dist, &rng);

        sum += ns;
        for (size_t k = 0; k < dist.n_points; k++)
            up_to[k] += ns <= dist.value[k];
    }
    for (size_t k = 0; k < dist.n_points; k++) {
        double p = dist.share[k];

        assert_true(fabs(up_to[k] - n * p) <= 5 * sqrt(n * p * (1 - p)));
    }
    assert_true(fabs(sum / n - dist_mean(&dist)) < 5 * 24.5e6 / sqrt(n));
}

TEST(counts_are_at_least_one)
{
    struct rng rng = rng_stream(1, RNG_DEMAND);
    struct dist zero = parsed_counts("empirical 0:0 100:0");
    struct dist fixed = parsed_counts("128");
    struct dist small = parsed_counts("exponential 1");
    struct dist huge = parsed_counts("lognormal 9000000000000000 1");

    for (int i = 0; i < 1000; i++) {
        assert_int_equal(dist_draw_count(&zero, &rng), 1);
        assert_int_equal(dist_draw_count(&fixed, &rng), 128);
        assert_true(dist_draw_count(&small, &rng) >= 1);
        assert_int_equal(dist_draw_count(&huge, &rng), INT64_C(1) << 40);
    }
}

/* However long the tail, a draw is a number of nanoseconds. */
TEST(draws_have_an_end)
{
    struct rng rng = rng_stream(1, RNG_SERVICE);
    struct dist dist = parsed("lognormal 50000d 50000d");
    int at_the_end = 0;

    for (int i = 0; i < 10000; i++) {
        int64_t ns = dist_draw_ns(&dist, &rng);

        assert_in_range(ns, 0, INT64_C(1) << 62);
        at_the_end += ns == INT64_C(1) << 62;
    }
    assert_true(at_the_end > 0);
}

/* A tail ends where a bound would be refused. */
TEST(tokens_have_a_most)
{
    static const char *const refused[] = {
        "3000001", "uniform 1 3000001", "lognormal 4000000 1", "exponential 9M",
        "empirical 0:1 100:4M"};
    struct rng rng = rng_stream(1, RNG_DEMAND);
    struct err err = {0};
    struct dist dist;

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct err why = {0};

        assert_int_equal(dist_check_lengths(refused[i], &why), -1);
        assert_non_null(strstr(why.msg, "is more than 3,000,000 tokens"));
    }
    assert_int_equal(dist_parse_lengths("exponential 3M", &dist, &err), 0);
    for (int i = 0; i < 1000; i++)
        assert_true(dist_draw_count(&dist, &rng) <= DIST_MAX_TOKENS);
    dist_fini(&dist);
}
