/* Whether intervals over trials can be believed, where the truth is known: p99
 * of the time in an M/M/1 queue at load 0.8, in virtual time.  The whole table
 * is bench_coverage's (docs/statistics.md). */
#include <math.h>
#include <string.h>

#include "analyzer/stats/order_stats.h"
#include "analyzer/stats/sectioning.h"
#include "analyzer/stats/trial_stats.h"
#include "tests/support/mm1.h"
#include "tests/support/test.h"

#define LOAD   0.8
#define SLOWER 1.05
#define LONG   30000 /* requests of a trial */

/* Fewer where a sanitizer makes each of them slow. */
#ifndef SIMULATIONS
#define SIMULATIONS 2000
#endif
#define STEP   ((size_t)5) /* trials from one simulation to the next */
#define TRIALS (SIMULATIONS * STEP)

/* What fewer than 2,000 simulations leave to chance: two deviations, counting
 * only those of 20 trials that have none in common. */
static double slack(void)
{
    return SIMULATIONS < 2000 ? 2 * sqrt(0.95 * 0.05 / (SIMULATIONS / 4.0)) : 0;
}

static const size_t lengths[] = {3000, 10000, LONG};

/* p99 of each trial, by the requests of it that count: the first part of a
 * trial is a shorter trial. */
struct pool {
    double p99[COUNT(lengths)][TRIALS];
};

static struct pool pool;

static void draw_trial(size_t trial, uint64_t seed, double service)
{
    static double times[LONG];
    static double room[LONG];
    struct mm1 q = mm1_start(seed, 1 / LOAD, service);

    mm1_draw(&q, times, LONG);
    for (size_t i = 0; i < COUNT(lengths); i++) {
        memcpy(room, times, lengths[i] * sizeof(*times));
        pool.p99[i][trial] = order_quantile(room, lengths[i], 0.99);
    }
}

static int draw_pool(void **state)
{
    (void)state;
    for (size_t i = 0; i < TRIALS; i++)
        draw_trial(i, i + 1, 1);
    return 0;
}

/* Simulations of more than STEP trials share some with their neighbours, which
 * leaves the mean of their coverage as it is; the last go on at the front. */
static const double *trials_of(size_t length, size_t simulation, size_t n,
                               double *room)
{
    for (size_t i = 0; i < n; i++)
        room[i] = pool.p99[length][(simulation * STEP + i) % TRIALS];
    return room;
}

static double coverage_of(size_t length, size_t n)
{
    struct mm1 q = mm1_start(0, 1 / LOAD, 1);
    double truth = mm1_quantile(&q, 0.99);
    int covered = 0;

    for (size_t i = 0; i < SIMULATIONS; i++) {
        double room[20];
        struct uncertain u =
            trials_mean(trials_of(length, i, n, room), n, 0.95);

        covered += u.range.low <= truth && truth <= u.range.high;
    }
    return (double)covered / SIMULATIONS;
}

/* Short trials are biased and skewed: their p99 is too low most of the time. */
TEST(students_interval_over_trials_covers)
{
    static const size_t sizes[] = {5, 10, 20};

    for (size_t k = 0; k < COUNT(sizes); k++) {
        double of[COUNT(lengths)];

        for (size_t i = 0; i < COUNT(lengths); i++)
            of[i] = coverage_of(i, sizes[k]);
        print_message("%zu trials: of 3,000 requests %.1f %%, of 10,000 %.1f "
                      "%%, of 30,000 %.1f %%\n",
                      sizes[k], 100 * of[0], 100 * of[1], 100 * of[2]);
        assert_true(of[2] >= 0.92 - slack() && of[2] <= 0.98 + slack());
        assert_true(of[0] < of[2]);
    }
}

static int differ(const double *a, const double *b, size_t n)
{
    struct uncertain u = trials_contrast(CONTRAST_RATIO, a, n, b, n, 0.95);

    return u.range.low > 1 || u.range.high < 1;
}

/* Two halves of ten trials of the same thing: a false alarm has a chance of
 * 5 % at most, of which three deviations are allowed for. */
TEST(the_same_seldom_differs)
{
    for (size_t i = 0; i < COUNT(lengths); i++) {
        int alarms = 0;
        int pairs = SIMULATIONS / 2; /* that have no trial in common */

        for (size_t k = 0; k < (size_t)pairs; k++) {
            const double *a = &pool.p99[i][2 * STEP * k];

            alarms += differ(a, a + STEP, STEP);
        }
        print_message("%zu requests: %d false alarms of %d\n", lengths[i],
                      alarms, pairs);
        assert_true(alarms <= 0.05 * pairs + 3 * sqrt(0.05 * 0.95 * pairs));
    }
}

/* Service that takes 5 % longer makes p99 31 % longer at this load: 1 / (1 -
 * rho) grows with it.  More than 80 % is what is asked for; bench_coverage
 * counts 99 % for ten trials of 30,000. */
TEST(a_slower_service_is_found)
{
    int found = 0;

    for (size_t k = 0; k < 100; k++) {
        double a[10];

        memcpy(a, &pool.p99[2][10 * (k + 1)], sizeof(a));
        for (size_t i = 0; i < 10; i++)
            draw_trial(i, 1000000 + 10 * k + i, SLOWER);
        found += differ(a, pool.p99[2], 10);
    }
    print_message("found in %d of 100\n", found);
    assert_in_range(found, 80, 100);
}

/* One run in sections: of the median it holds. */
TEST(sections_cover_the_median)
{
    static double times[LONG];
    static double scratch[LONG + SECTION_COUNT];
    int covered = 0;

    for (uint64_t seed = 0; seed < 500; seed++) {
        struct mm1 q = mm1_start(seed + 1, 1 / LOAD, 1);
        double truth = mm1_quantile(&q, 0.5);
        struct section_quantile s;

        mm1_draw(&q, times, LONG);
        s = section_quantile(times, LONG, 0.5, SECTION_COUNT, 0.95, scratch);
        covered +=
            s.quantile.range.low <= truth && truth <= s.quantile.range.high;
    }
    print_message("sections cover the median in %d of 500\n", covered);
    assert_in_range(covered, 475 - 20, 500); /* four deviations */
}

GROUP_FIXTURE(draw_pool, NULL)
