/* How far the intervals can be believed: coverage, false alarms and power on an
 * M/M/1 queue in virtual time, of which the truth is known.  Prints the tables
 * of docs/statistics.md.
 * Usage: bench_coverage [SIMULATIONS [trials|sections|blocks|overload|
 *                        compare-trials|compare-blocks]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/stats/order_stats.h"
#include "analyzer/stats/sectioning.h"
#include "analyzer/stats/steady_tests.h"
#include "analyzer/stats/trial_stats.h"
#include "analyzer/verdict/steady.h"
#include "bench/coverage_compare.h"
#include "common/base/clk.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"
#include "common/measure/measure.h"
#include "common/stats/stats.h"
#include "tests/support/bootstrap.h"
#include "tests/support/mm1.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define TRIALS    20
#define MOST      30000 /* requests of a trial */
#define LOAD      0.8
#define SLOWER    1.05
#define RESAMPLES 1999

static const size_t lengths[] = {3000, 10000, MOST};
static const size_t sizes[] = {5, 7, 10, 15, TRIALS};
static const double loads[] = {0.5, 0.8, 0.9}; /* of single runs */
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

/* With fewer than `min_size` trials there is no interval. */
static void print_counts(const char *what, const struct counts *c, int runs,
                         size_t min_size)
{
    printf("\n%s, in %%\n\n| requests | measure |", what);
    for (size_t k = 0; k < N_SIZES; k++)
        printf(" %zu trials |", sizes[k]);
    printf("\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < N_LENGTHS; i++) {
        for (size_t m = 0; m < N_MEASURES; m++) {
            printf("| %zu | %s |", lengths[i], measures[m]);
            for (size_t k = 0; k < N_SIZES; k++)
                print_share(c->of[i][m][k], runs, sizes[k] >= min_size);
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

static void count_all(struct tables *t, const struct sample s[3])
{
    for (size_t i = 0; i < N_LENGTHS; i++) {
        for (size_t m = 0; m < N_MEASURES; m++) {
            count_one(t, &s[0], i, m);
            count_two(t, s, i, m);
        }
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
        count_all(t, s);
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

#define MUCH ((size_t)10 * MOST)

static const double section_quantiles[] = {0.5, 0.99};

static void count_sections(int covered[2], struct mm1 *q, size_t n)
{
    static double times[MUCH];
    static double scratch[MUCH + SECTION_COUNT];

    mm1_draw(q, times, n);
    for (size_t k = 0; k < COUNT(section_quantiles); k++) {
        double p = section_quantiles[k];
        struct section_quantile s =
            section_quantile(times, n, p, SECTION_COUNT, 0.95, scratch);

        covered[k] += holds(&s.quantile, mm1_quantile(q, p));
    }
}

static void sections_of(double load, size_t n, int runs, uint64_t *seed)
{
    int covered[2] = {0};

    for (int run = 0; run < runs; run++) {
        struct mm1 q = mm1_start((*seed)++, 1 / load, 1);

        count_sections(covered, &q, n);
    }
    printf("| %.1f | %zu | %.1f | %.1f |\n", load, n, 100.0 * covered[0] / runs,
           100.0 * covered[1] / runs);
}

static void sections(int runs)
{
    uint64_t seed = 1;

    printf("\nCoverage of sectioning in one run, in %%\n\n"
           "| load | requests | p50 | p99 |\n|---|---|---|---|\n");
    for (size_t i = 0; i < COUNT(loads); i++) {
        sections_of(loads[i], MOST, runs, &seed);
        sections_of(loads[i], MUCH, runs, &seed);
    }
}

/* ---- blocks of one run ---- */

#define BLOCKS 30

/* False alarms about a window that is steady. */
struct alarms {
    int at_5; /* a trend, at 5 % */
    int at_01;
    int drift; /* the halves differ, at 5 % */
};

static void count_blocks(struct alarms *a, const double *blocks)
{
    double scratch[BLOCKS];
    struct trend_test t = trend_test(blocks, BLOCKS, scratch);
    struct drift d = drift_of(blocks, BLOCKS, 0.95);

    a->at_5 += trend_verdict(&t, 0.05) != TREND_NONE;
    a->at_01 += trend_verdict(&t, 0.001) != TREND_NONE;
    a->drift += !holds(&d.difference, 0);
}

static void draw_blocks(double *blocks, struct mm1 *q, size_t len)
{
    static double times[MOST];

    for (size_t i = 0; i < BLOCKS; i++) {
        mm1_draw(q, times, len);
        blocks[i] = boot_mean(times, len);
    }
}

/* The time that a queue remembers, in requests. */
static double memory_of(double load)
{
    static double times[MOST];
    struct mm1 q = mm1_start(1, 1 / load, 1);
    double sum = 0;

    for (int i = 0; i < 10; i++) {
        mm1_draw(&q, times, MOST);
        sum += autocorr_time(times, MOST);
    }
    return sum / 10;
}

static void blocks_of(double load, size_t len, int runs, uint64_t *seed)
{
    struct alarms a = {0};

    for (int run = 0; run < runs; run++) {
        struct mm1 q = mm1_start((*seed)++, 1 / load, 1);
        double x[BLOCKS];

        draw_blocks(x, &q, len);
        count_blocks(&a, x);
    }
    printf("| %.1f | %.0f | %zu | %.1f | %.1f | %.1f |\n", load,
           memory_of(load), len, 100.0 * a.at_5 / runs, 100.0 * a.at_01 / runs,
           100.0 * a.drift / runs);
}

static void blocks(int runs)
{
    static const size_t lens[] = {30, 100, 300, 1000, 3000};
    uint64_t seed = 1;

    printf("\nFalse alarms about %d blocks of a steady queue, in %%\n\n"
           "| load | tau | requests a block | trend at 5 %% | at 0.1 %% | "
           "halves at 5 %% |\n|---|---|---|---|---|---|\n",
           BLOCKS);
    for (size_t i = 0; i < COUNT(loads); i++) {
        for (size_t k = 0; k < COUNT(lens); k++)
            blocks_of(loads[i], lens[k], runs, &seed);
    }
}

/* ---- overload ---- */

#define RATE 300 /* requests per second */

/* What is said of it. */
struct said {
    int rising;
    int over;
    int warmup; /* a longer one is suggested */
    int drift;
};

/* After a warm-up of a tenth of the window, a window of n requests. */
static void draw_series(struct series *s, struct mm1 *q, size_t n)
{
    double window_ns = (double)n / RATE * 1e9;
    struct window window = {.start_ns = (int64_t)(0.1 * window_ns),
                            .end_ns = (int64_t)(1.1 * window_ns)};

    series_init(s, window);
    while (q->now < (double)window.end_ns) {
        double at;
        double time = mm1_next(q, &at);
        struct facts f = {.due = (int64_t)at,
                          .sent = (int64_t)at,
                          .end = (int64_t)(at + time)};

        series_add_value(s, series_add(s, &f), 0, (int64_t)time);
    }
}

static void overload_of(double load, size_t n, int runs, uint64_t *seed)
{
    static const struct steady_ask ask = {.is_open = true, .is_whole = true};
    static struct series s;
    struct said said = {0};

    for (int run = 0; run < runs; run++) {
        struct mm1 q = mm1_start((*seed)++, 1e9 / RATE, load * 1e9 / RATE);
        struct load_judgement l;

        draw_series(&s, &q, n);
        l = steady_load(&s, &ask);
        said.over += l.state == LOAD_OVER;
        said.rising += l.overload.is_rising;
        said.warmup +=
            l.state != LOAD_OVER && steady_warmup(&s, 0).suggested_s > 0;
        said.drift += steady_halves(&s, 0).is_drifting;
    }
    printf("| %.2f | %zu | %.2f | %.2f | %.2f | %.2f |\n", load, n,
           100.0 * said.rising / runs, 100.0 * said.over / runs,
           100.0 * said.warmup / runs, 100.0 * said.drift / runs);
}

static void overload(int runs)
{
    static const double of_load[] = {0.5, 0.8, 0.9, 0.95, 1.0, 1.05, 1.2, 2.0};
    static const size_t of_n[] = {1000, 3000, 10000, MOST};
    uint64_t seed = 1;

    printf("\nWhat is said of a window, in %%\n\n"
           "| load | requests | rises at 0.1 %% | overloaded | "
           "longer warm-up | drifts |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < COUNT(of_load); i++) {
        for (size_t k = 0; k < COUNT(of_n); k++)
            overload_of(of_load[i], of_n[k], runs, &seed);
    }
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 2000;
    const char *which = argc > 2 ? argv[2] : "";

    printf("%d simulations of an M/M/1 queue; standard error at 95 %% "
           "%.1f, at 80 %% %.1f\n",
           runs, 100 * sqrt(0.95 * 0.05 / runs), 100 * sqrt(0.8 * 0.2 / runs));
    if (!*which || strcmp(which, "trials") == 0)
        trials(runs);
    if (!*which || strcmp(which, "sections") == 0)
        sections(runs);
    if (!*which || strcmp(which, "blocks") == 0)
        blocks(runs);
    if (!*which || strcmp(which, "overload") == 0)
        overload(runs);
    if (!*which || strcmp(which, "compare-trials") == 0)
        compare_trials(runs);
    if (!*which || strcmp(which, "compare-blocks") == 0)
        compare_blocks(runs);
    return 0;
}
