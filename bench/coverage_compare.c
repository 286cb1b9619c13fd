#include "bench/coverage_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/stats/order_stats.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "tests/support/queued.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define TRIALS 20
#define MOST   30000 /* requests of a trial */
#define LOAD   0.8
#define SLOWER 1.05

static const size_t lengths[] = {3000, 10000, MOST};
static const size_t sizes[] = {5, 7, 10, 15, TRIALS};
static const double quantiles[] = {0.5, 0.99};

/* Of one quantity that is asked for, or of each of two. */
static const double confidences[] = {0.95, 0.975};

static const struct {
    const char *name;
    enum basis basis;
    double service;
    bool shares_arrivals;
} cases[] = {
    {"the same, trials", BASIS_TRIALS, 1, false},
    {"the same, pairs", BASIS_PAIRS, 1, true},
    {"5 % slower, trials", BASIS_TRIALS, SLOWER, false},
    {"5 % slower, pairs that share nothing", BASIS_PAIRS, SLOWER, false},
    {"5 % slower, pairs with the same arrivals", BASIS_PAIRS, SLOWER, true},
};

struct trials {
    double x[COUNT(lengths)][COUNT(quantiles)][TRIALS];
};

/* How often another verdict than "no difference shown". */
struct shown {
    int of[COUNT(cases)][COUNT(confidences)][COUNT(lengths)][COUNT(quantiles)]
          [COUNT(sizes)];
};

/* ---- trials ---- */

/* The first part of a trial is a shorter trial. */
static void draw_trial(struct trials *t, size_t trial, struct mm1 q)
{
    static double times[MOST];
    static double room[MOST];

    mm1_draw(&q, times, MOST);
    for (size_t i = 0; i < COUNT(lengths); i++) {
        memcpy(room, times, lengths[i] * sizeof(*times));
        for (size_t k = 0; k < COUNT(quantiles); k++)
            t->x[i][k][trial] = order_quantile(room, lengths[i], quantiles[k]);
    }
}

/* Arrivals by one seed, service times by another. */
static void draw(struct trials *t, uint64_t arrivals, uint64_t services,
                 double service)
{
    for (size_t i = 0; i < TRIALS; i++) {
        struct mm1 q = mm1_start(arrivals + i, 1 / LOAD, service);

        q.services = rng_stream(services + i, RNG_SERVICE);
        draw_trial(t, i, q);
    }
}

static bool is_shown(size_t which, double quantile, double confidence,
                     const double *a, const double *b, size_t n)
{
    struct sample of_a = queued_trials(a, n);
    struct sample of_b = queued_trials(b, n);
    struct finding f =
        queued_finding(cases[which].basis, quantile, confidence, &of_a, &of_b);

    return f.verdict == FINDING_BETTER || f.verdict == FINDING_WORSE;
}

static void count_sizes(int *shown, size_t which, double quantile,
                        double confidence, const double *a, const double *b)
{
    for (size_t k = 0; k < COUNT(sizes); k++)
        shown[k] += is_shown(which, quantile, confidence, a, b, sizes[k]);
}

static void count_case(struct shown *s, size_t which, const struct trials *a,
                       const struct trials *b)
{
    for (size_t c = 0; c < COUNT(confidences); c++) {
        for (size_t i = 0; i < COUNT(lengths); i++) {
            for (size_t q = 0; q < COUNT(quantiles); q++)
                count_sizes(s->of[which][c][i][q], which, quantiles[q],
                            confidences[c], a->x[i][q], b->x[i][q]);
        }
    }
}

static void print_rows(const struct shown *s, size_t which, size_t c, int runs)
{
    for (size_t i = 0; i < COUNT(lengths); i++) {
        for (size_t q = 0; q < COUNT(quantiles); q++) {
            printf("| %s | %.4g | %zu | p%.4g |", cases[which].name,
                   100 * confidences[c], lengths[i], 100 * quantiles[q]);
            for (size_t k = 0; k < COUNT(sizes); k++)
                printf(" %.1f |", 100.0 * s->of[which][c][i][q][k] / runs);
            printf("\n");
        }
    }
}

static void print_shown(const struct shown *s, int runs)
{
    printf("\nTrials of which compare says that they differ, in %%, load "
           "%.1f\n\n| B | confidence | requests | e2e |",
           LOAD);
    for (size_t k = 0; k < COUNT(sizes); k++)
        printf(" %zu trials |", sizes[k]);
    printf("\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t which = 0; which < COUNT(cases); which++) {
        for (size_t c = 0; c < COUNT(confidences); c++)
            print_rows(s, which, c, runs);
    }
}

void compare_trials(int runs)
{
    struct shown *s = xcalloc(1, sizeof(*s));
    struct trials *t = xcalloc(2, sizeof(*t));
    uint64_t seed = 1;

    for (int run = 0; run < runs; run++) {
        uint64_t first = seed;

        draw(&t[0], first, first, 1);
        seed += TRIALS;
        for (size_t which = 0; which < COUNT(cases); which++) {
            draw(&t[1], cases[which].shares_arrivals ? first : seed, seed,
                 cases[which].service);
            seed += TRIALS;
            count_case(s, which, &t[0], &t[1]);
        }
    }
    print_shown(s, runs);
    free(t);
    free(s);
}

/* ---- blocks ---- */

static const char *const names[] = {"e2e p50", "e2e p90", "e2e p99"};

static void count_blocks(int *shown, const struct queued *a,
                         const struct queued *b, const struct quantities *qs)
{
    for (size_t i = 0; i < qs->len; i++) {
        struct sample of_a = queued_sample(a, i);
        struct sample of_b = queued_sample(b, i);
        struct finding f =
            queued_finding(BASIS_SLICES, qs->list[i].q, 0.95, &of_a, &of_b);

        shown[i] += f.verdict == FINDING_BETTER || f.verdict == FINDING_WORSE;
    }
}

/* b goes on where a ends, if it is the other half of the same run. */
static void blocks_of(const char *what, double load, size_t n, double service,
                      int runs, const struct quantities *qs)
{
    static struct queued side[2];
    bool is_half = strcmp(what, "the other half") == 0;
    int shown[COUNT(names)] = {0};
    uint64_t seed = 1;

    for (int run = 0; run < runs; run++) {
        struct mm1 q = mm1_start(seed++, 1 / load, 1);

        queued_run(&side[0], &q, n, qs);
        if (!is_half)
            q = mm1_start(seed++, 1 / load, service);
        queued_run(&side[1], &q, n, qs);
        count_blocks(shown, &side[0], &side[1], qs);
    }
    printf("| %s | %.4g | %zu |", what, load, n);
    for (size_t i = 0; i < qs->len; i++)
        printf(" %.1f |", 100.0 * shown[i] / runs);
    printf("\n");
}

void compare_blocks(int runs)
{
    static const double loads[] = {0.5, 0.8, 0.9, 0.95};
    static const size_t ns[] = {30000, 100000};
    struct quantities qs = {0};
    struct err err = {0};

    for (size_t i = 0; i < COUNT(names); i++)
        quantity_parse(names[i], &qs.list[qs.len++], &err);
    printf("\nSingle runs of which compare says that they differ, over blocks, "
           "in %%\n\n| B | load | requests | p50 | p90 | p99 |\n"
           "|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < COUNT(loads); k++) {
        for (size_t i = 0; i < COUNT(ns); i++) {
            blocks_of("the same", loads[k], ns[i], 1, runs, &qs);
            blocks_of("the other half", loads[k], ns[i], 1, runs, &qs);
            if (loads[k] * SLOWER < 0.9)
                blocks_of("5 % slower", loads[k], ns[i], SLOWER, runs, &qs);
        }
    }
}
