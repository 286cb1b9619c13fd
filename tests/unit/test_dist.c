#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/dist.h"
#include "common/err.h"
#include "common/rng.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void distributions_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t mean_ns;
    } cases[] = {
        {"none", 0},
        {" none ", 0},
        {"fixed 2ms", 2 * NS_PER_MS},
        {"fixed 0s", 0},
        {"  exponential   1.5ms ", 1500 * NS_PER_US},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};
        struct dist dist;

        assert_int_equal(dist_check(cases[i].text, &err), 0);
        assert_int_equal(dist_parse(cases[i].text, &dist, &err), 0);
        assert_int_equal(dist.mean_ns, cases[i].mean_ns);
    }
}

#define BAD                                                                    \
    " is not a distribution; write 'none', 'fixed 2ms' or 'exponential 2ms'"

static void what_is_no_distribution_is_refused(void **state)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"", "''" BAD},
        {"  ", "'  '" BAD},
        {"fixed", "'fixed'" BAD},
        {"none 2ms", "'none 2ms'" BAD},
        {"fixed 2ms 3ms", "'fixed 2ms 3ms'" BAD},
        {"Fixed 2ms", "'Fixed 2ms'" BAD},
        {"uniform 2ms", "'uniform 2ms'" BAD},
        {"2ms", "'2ms'" BAD},
        {"fixed2ms", "'fixed2ms'" BAD},
        {"fixed 2", "'2' is not a duration; write 500ms, 2s or 1h30m"},
        {"exponential -2ms",
         "'-2ms' is not a duration; write 500ms, 2s or 1h30m"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err err = {0};

        assert_int_equal(dist_check(cases[i].text, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, cases[i].want);
    }
}

static void fixed_times_do_not_vary(void **state)
{
    struct rng rng = rng_stream(1, RNG_SERVICE);
    struct err err = {0};
    struct dist none;
    struct dist fixed;

    (void)state;
    assert_int_equal(dist_parse("none", &none, &err), 0);
    assert_int_equal(dist_parse("fixed 2ms", &fixed, &err), 0);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(dist_draw_ns(&none, &rng), 0);
        assert_int_equal(dist_draw_ns(&fixed, &rng), 2 * NS_PER_MS);
    }
}

/* Sample mean of n draws scatters by mean/sqrt(n); the share above the mean is
 * 1/e, a binomial. */
static void exponential_times_do(void **state)
{
    struct rng rng = rng_stream(1, RNG_SERVICE);
    struct err err = {0};
    struct dist dist;
    const int n = 200000;
    double p = exp(-1);
    double sum = 0;
    int above = 0;

    (void)state;
    assert_int_equal(dist_parse("exponential 2ms", &dist, &err), 0);
    for (int i = 0; i < n; i++) {
        int64_t ns = dist_draw_ns(&dist, &rng);

        assert_true(ns >= 0);
        sum += (double)ns;
        above += ns > 2 * NS_PER_MS;
    }
    assert_true(fabs(sum / n - 2e6) < 5 * 2e6 / sqrt(n));
    assert_true(fabs(above - n * p) < 5 * sqrt(n * p * (1 - p)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distributions_are_read),
        cmocka_unit_test(what_is_no_distribution_is_refused),
        cmocka_unit_test(fixed_times_do_not_vary),
        cmocka_unit_test(exponential_times_do),
    };

    return cmocka_run_group_tests_name("dist", tests, NULL, NULL);
}
