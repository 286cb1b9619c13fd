/* How often `compare` is wrong, and how often it finds service that takes 5 %
 * longer, by its own decision, where the truth is known: M/M/1 queues in
 * virtual time.  The whole tables are bench_coverage's (docs/statistics.md). */
#include <math.h>

#include "analyzer/stats/order_stats.h"
#include "common/base/err.h"
#include "tests/support/queued.h"
#include "tests/support/test.h"

#define LOAD   0.8
#define SLOWER 1.05
#define LONG   30000 /* requests of a trial or run */

/* Fewer where a sanitizer makes each of them slow. */
#ifndef SIMULATIONS
#define SIMULATIONS 200
#endif

/* What docs/compare.md states: this number of trials per side finds it in 80 %,
 * where one quantity is asked for, and where two are. */
#define TRIALS_FOR_ONE ((size_t)5)
#define TRIALS_FOR_TWO ((size_t)7)
#define TRIALS         TRIALS_FOR_TWO

static const double quantiles[] = {0.5, 0.99};

struct set {
    double x[COUNT(quantiles)][TRIALS];
};

/* Two sets of the same, and one that is slower. */
static struct set sets[SIMULATIONS][3];

static void draw_trial(struct set *set, size_t trial, uint64_t seed,
                       double service)
{
    static double times[LONG];
    struct mm1 q = mm1_start(seed, 1 / LOAD, service);

    mm1_draw(&q, times, LONG);
    for (size_t k = 0; k < COUNT(quantiles); k++)
        set->x[k][trial] = order_quantile(times, LONG, quantiles[k]);
}

static int draw_sets(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (size_t i = 0; i < SIMULATIONS; i++) {
        for (size_t k = 0; k < 3 * TRIALS; k++)
            draw_trial(&sets[i][k / TRIALS], k % TRIALS, seed++,
                       k / TRIALS == 2 ? SLOWER : 1);
    }
    return 0;
}

static bool is_shown(const struct finding *f)
{
    assert_int_not_equal(f->verdict, FINDING_CANNOT_TELL);
    return f->verdict != FINDING_NO_DIFFERENCE;
}

/* Of this number of comparisons of two sets. */
static int count_shown(enum basis basis, size_t quantity, size_t other,
                       size_t n, double confidence)
{
    int shown = 0;

    for (size_t i = 0; i < SIMULATIONS; i++) {
        struct sample a = queued_trials(sets[i][0].x[quantity], n);
        struct sample b = queued_trials(sets[i][other].x[quantity], n);
        struct finding f =
            queued_finding(basis, quantiles[quantity], confidence, &a, &b);

        shown += is_shown(&f);
    }
    return shown;
}

/* Three deviations of the binomial distribution. */
static double chance(double share)
{
    return 3 * sqrt(share * (1 - share) * SIMULATIONS);
}

static void assert_few(int alarms, double level, const char *what)
{
    if (alarms > level * SIMULATIONS + chance(level))
        fail_msg("%s: %d false alarms of %d", what, alarms, SIMULATIONS);
}

static void assert_found(int found, const char *what)
{
    if (found < 0.8 * SIMULATIONS - chance(0.8))
        fail_msg("%s: found in %d of %d", what, found, SIMULATIONS);
}

TEST(the_same_is_seldom_shown_to_differ)
{
    for (size_t k = 0; k < COUNT(quantiles); k++) {
        int by_trials = count_shown(BASIS_TRIALS, k, 1, TRIALS_FOR_ONE, 0.95);
        int by_pairs = count_shown(BASIS_PAIRS, k, 1, TRIALS_FOR_ONE, 0.95);
        int each = count_shown(BASIS_TRIALS, k, 1, TRIALS_FOR_TWO, 0.975);

        print_message("p%g: false alarms of %d: %d by trials, %d by pairs, %d "
                      "at 97.5 %%\n",
                      100 * quantiles[k], SIMULATIONS, by_trials, by_pairs,
                      each);
        assert_few(by_trials, 0.05, "trials");
        assert_few(by_pairs, 0.05, "pairs");
        assert_few(each, 0.025, "each of two");
    }
}

TEST(a_slower_service_is_found)
{
    for (size_t k = 0; k < COUNT(quantiles); k++) {
        int one = count_shown(BASIS_TRIALS, k, 2, TRIALS_FOR_ONE, 0.95);
        int each = count_shown(BASIS_TRIALS, k, 2, TRIALS_FOR_TWO, 0.975);

        print_message("p%g: found in %d and %d of %d\n", 100 * quantiles[k],
                      one, each, SIMULATIONS);
        assert_found(one, "one quantity");
        assert_found(each, "each of two");
    }
}

/* What is found is found to be worse. */
TEST(slower_is_worse)
{
    struct sample a = queued_trials(sets[0][0].x[0], TRIALS);
    struct sample b = queued_trials(sets[0][2].x[0], TRIALS);
    struct finding f = queued_finding(BASIS_TRIALS, 0.5, 0.95, &a, &b);

    assert_int_equal(f.verdict, FINDING_WORSE);
    assert_true(f.ratio.range.low < 1.31 && f.ratio.range.high > 1.31);
}

/* ---- one run a side ---- */

static void add_quantities(struct quantities *qs)
{
    struct err err = {0};

    *qs = (struct quantities){.len = 2};
    assert_int_equal(quantity_parse("e2e p50", &qs->list[0], &err), 0);
    assert_int_equal(quantity_parse("e2e p99", &qs->list[1], &err), 0);
}

/* The second half of a run goes on where the first ends. */
static void count_halves(double load, double slower, int shown[static 2])
{
    static struct queued half[2];
    struct quantities qs;

    add_quantities(&qs);
    for (uint64_t i = 0; i < SIMULATIONS; i++) {
        struct mm1 q = mm1_start(i + 1, 1 / load, 1);

        queued_run(&half[0], &q, LONG, &qs);
        q.service = slower;
        queued_run(&half[1], &q, LONG, &qs);
        for (size_t k = 0; k < qs.len; k++) {
            struct sample a = queued_sample(&half[0], k);
            struct sample b = queued_sample(&half[1], k);
            struct finding f =
                queued_finding(BASIS_SLICES, qs.list[k].q, 0.95, &a, &b);

            shown[k] += is_shown(&f);
        }
    }
}

/* p99 at load 0.8 is what blocks cannot tell: without the widening there would
 * be 16 %. */
TEST(halves_of_a_run_seldom_differ)
{
    static const double loads[] = {0.5, 0.8};

    for (size_t i = 0; i < COUNT(loads); i++) {
        int shown[2] = {0};

        count_halves(loads[i], 1, shown);
        print_message("load %g: false alarms of %d: p50 %d, p99 %d\n", loads[i],
                      SIMULATIONS, shown[0], shown[1]);
        assert_few(shown[0], 0.05, "p50 of halves");
        assert_few(shown[1], 0.05, "p99 of halves");
    }
}

TEST(a_slower_half_is_found_by_its_median)
{
    int shown[2] = {0};

    count_halves(LOAD, SLOWER, shown);
    print_message("found in %d of %d by p50, %d by p99\n", shown[0],
                  SIMULATIONS, shown[1]);
    assert_found(shown[0], "p50 of halves");
}

GROUP_FIXTURE(draw_sets, NULL)
