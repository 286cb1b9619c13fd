/* How far the intervals can be believed: coverage, false alarms and power on an
 * M/M/1 queue in virtual time, of which the truth is known.  Prints the tables
 * of docs/statistics.md.
 * Usage: bench_coverage [SIMULATIONS] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/stats/boot.h"
#include "analyzer/stats/order.h"
#include "analyzer/stats/section.h"
#include "analyzer/stats/trials.h"
#include "common/rng.h"
#include "common/xalloc.h"
#include "tests/support/mm1.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define TRIALS    20
#define MOST      30000 /* requests of a trial */
#define LOAD      0.8
#define SLOWER    1.05
#define RESAMPLES 1999

static const size_t lengths[] = {3000, 10000, MOST};
static const size_t sizes[] = {5, 7, 10, 15, TRIALS};
static const char *const measures[] = {"mean", "p50", "p99"};

#define N_LENGTHS  COUNT(lengths)
#define N_SIZES    COUNT(sizes)
#define N_MEASURES COUNT(measures)

/* One value of each trial, by length and measure. */
struct sample {
    double x[N_LENGTHS][N_MEASURES][TRIALS];
};

static double truth_of(const struct mm1 *q, size_t measure)
{
    static const double quantiles[] = {0, 0.5, 0.99};

    return measure == 0 ? mm1_mean(q) : mm1_quantile(q, quantiles[measure]);
}

/* The first part of a trial is a shorter trial. */
static void draw_trial(struct sample *s, size_t trial, uint64_t seed,
                       double service)
{
    static double times[MOST];
    static double room[MOST];
    struct mm1 q = mm1_start(seed, 1 / LOAD, service);

    mm1_draw(&q, times, MOST);
    for (size_t i = 0; i < N_LENGTHS; i++) {
        size_t n = lengths[i];

        memcpy(room, times, n * sizeof(*times));
        s->x[i][0][trial] = boot_mean(room, n);
        s->x[i][1][trial] = order_quantile(room, n, 0.5);
        s->x[i][2][trial] = order_quantile(room, n, 0.99);
    }
}

static void draw_sample(struct sample *s, uint64_t *seed, double service)
{
    for (size_t i = 0; i < TRIALS; i++)
        draw_trial(s, i, (*seed)++, service);
}

/* ---- counts ---- */

/* How often, by length, measure and number of trials. */
struct counts {
    int of[N_LENGTHS][N_MEASURES][N_SIZES];
};

static int holds(const struct uncertain *u, double truth)
{
    return u->has_range && u->range.low <= truth && truth <= u->range.high;
}

static void print_share(int count, int runs, int is_known)
{
    if (is_known)
        printf(" %.1f |", 100.0 * count / runs);
    else
        printf(" - |");
}

/* With fewer than `least` trials there is no interval. */
static void print_counts(const char *what, const struct counts *c, int runs,
                         size_t least)
{
    printf("\n%s, in %%\n\n| requests | measure |", what);
    for (size_t k = 0; k < N_SIZES; k++)
        printf(" %zu trials |", sizes[k]);
    printf("\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < N_LENGTHS; i++) {
        for (size_t m = 0; m < N_MEASURES; m++) {
            printf("| %zu | %s |", lengths[i], measures[m]);
            for (size_t k = 0; k < N_SIZES; k++)
                print_share(c->of[i][m][k], runs, sizes[k] >= least);
            printf("\n");
        }
    }
}

/* ---- trials of one system, and two systems ---- */

struct tables {
    struct counts student;
    struct counts median;
    struct counts false_welch;
    struct counts false_boot;
    struct counts false_pairs;
    struct counts false_boot_pairs;
    struct counts found_welch;
    struct counts found_boot;
};

static struct uncertain boot_ratio(const double *a, const double *b, size_t n,
                                   int is_paired)
{
    static double scratch[RESAMPLES + 2 * TRIALS];
    struct rng rng = {.state = 1};
    struct boot s = {.statistic = boot_mean,
                     .contrast = CONTRAST_RATIO,
                     .confidence = 0.95,
                     .resamples = RESAMPLES,
                     .rng = &rng,
                     .scratch = scratch};

    return is_paired ? boot_paired(&s, a, b, n) : boot_contrast(&s, a, n, b, n);
}

static int differs(struct uncertain u)
{
    return u.has_range && !holds(&u, 1);
}

static void count_one(struct tables *t, const struct sample *s, size_t i,
                      size_t m)
{
    struct mm1 q = mm1_start(0, 1 / LOAD, 1);
    double truth = truth_of(&q, m);
    double scratch[TRIALS];

    for (size_t k = 0; k < N_SIZES; k++) {
        struct uncertain mean = trials_mean(s->x[i][m], sizes[k], 0.95);
        struct trials_median median =
            trials_median(s->x[i][m], sizes[k], 0.95, scratch);

        t->student.of[i][m][k] += holds(&mean, truth);
        t->median.of[i][m][k] += holds(&median.median, truth);
    }
}

static void count_two(struct tables *t, const struct sample s[3], size_t i,
                      size_t m)
{
    const double *a = s[0].x[i][m];
    const double *same = s[1].x[i][m];
    const double *slow = s[2].x[i][m];

    for (size_t k = 0; k < N_SIZES; k++) {
        size_t n = sizes[k];

        t->false_welch.of[i][m][k] +=
            differs(trials_contrast(CONTRAST_RATIO, a, n, same, n, 0.95));
        t->found_welch.of[i][m][k] +=
            differs(trials_contrast(CONTRAST_RATIO, a, n, slow, n, 0.95));
        t->false_pairs.of[i][m][k] +=
            differs(trials_paired(CONTRAST_RATIO, a, same, n, 0.95));
        t->false_boot.of[i][m][k] += differs(boot_ratio(a, same, n, 0));
        t->found_boot.of[i][m][k] += differs(boot_ratio(a, slow, n, 0));
        t->false_boot_pairs.of[i][m][k] += differs(boot_ratio(a, same, n, 1));
    }
}

static void trials(int runs)
{
    struct tables *t = xcalloc(1, sizeof(*t));
    struct sample *s = xcalloc(3, sizeof(*s));
    uint64_t seed = 1;

    for (int run = 0; run < runs; run++) {
        draw_sample(&s[0], &seed, 1);
        draw_sample(&s[1], &seed, 1);
        draw_sample(&s[2], &seed, SLOWER);
        for (size_t i = 0; i < N_LENGTHS; i++) {
            for (size_t m = 0; m < N_MEASURES; m++) {
                count_one(t, &s[0], i, m);
                count_two(t, s, i, m);
            }
        }
    }
    print_counts("Coverage of Student's interval", &t->student, runs, 2);
    print_counts("Coverage of the order statistics", &t->median, runs, 2);
    print_counts("False alarms of Welch's interval", &t->false_welch, runs, 2);
    print_counts("False alarms of the bootstrap", &t->false_boot, runs,
                 BOOT_LEAST_TRIALS);
    print_counts("False alarms of Student's interval on pairs", &t->false_pairs,
                 runs, 2);
    print_counts("False alarms of the bootstrap on pairs", &t->false_boot_pairs,
                 runs, BOOT_LEAST_PAIRS);
    print_counts("Service 5 % slower: found by Welch's interval",
                 &t->found_welch, runs, 2);
    print_counts("Service 5 % slower: found by the bootstrap", &t->found_boot,
                 runs, BOOT_LEAST_TRIALS);
    free(s);
    free(t);
}

/* ---- sections of one run ---- */

static void sections(int runs)
{
    static const double loads[] = {0.5, 0.8, 0.9};
    static const double quantiles[] = {0.5, 0.99};
    static const size_t requests[] = {MOST, 10 * MOST};
    double *times = xcalloc(10 * MOST, sizeof(*times));
    double *scratch = xcalloc(10 * MOST + SECTION_COUNT, sizeof(*scratch));
    uint64_t seed = 1;

    printf("\nCoverage of sectioning in one run, in %%\n\n"
           "| load | requests | p50 | p99 |\n|---|---|---|---|\n");
    for (size_t i = 0; i < COUNT(loads) * COUNT(requests); i++) {
        size_t n = requests[i % 2];
        int covered[2] = {0};

        for (int run = 0; run < runs; run++) {
            struct mm1 q = mm1_start(seed++, 1 / loads[i / 2], 1);

            mm1_draw(&q, times, n);
            for (size_t k = 0; k < 2; k++) {
                struct section_quantile s = section_quantile(
                    times, n, quantiles[k], SECTION_COUNT, 0.95, scratch);

                covered[k] +=
                    holds(&s.quantile, mm1_quantile(&q, quantiles[k]));
            }
        }
        printf("| %.1f | %zu | %.1f | %.1f |\n", loads[i / 2], n,
               100.0 * covered[0] / runs, 100.0 * covered[1] / runs);
    }
    free(scratch);
    free(times);
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 2000;

    printf("%d simulations of an M/M/1 queue; standard error at 95 %% "
           "%.1f, at 80 %% %.1f\n",
           runs, 100 * sqrt(0.95 * 0.05 / runs), 100 * sqrt(0.8 * 0.2 / runs));
    trials(runs);
    sections(runs > 4 ? runs / 4 : runs);
    return 0;
}
