/* How often the verdict of a trial set is right, in virtual time, on servers
 * whose share of misses is known: the table of docs/trial-verdicts.md.
 * Usage: bench_trials [SETS [SERVER]], SERVER from 1 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/stats/share_trials.h"
#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "common/stats/dependence.h"
#include "common/stats/hist.h"
#include "common/stats/stats.h"
#include "tests/support/simprobe.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define SETS         1000
#define ALLOWED      0.01
#define EFFECTIVE    1500 /* samples of a set */
#define SLICES       20
#define MOST         10 /* trials of a set */
#define SHORT_TRIALS 7
#define SHORT_N      10000
#define PILOTS       200    /* trials, to find how long they must be */
#define PILOT        1e8    /* requests */
#define BATCH        100000 /* requests, to find the true inflation */
#define WARM_TIMES   20     /* inflations, in requests, that are warm-up */

/* Where the true share of misses is what is allowed, and a fifth of it. */
enum { AT_LIMIT, AT_FIFTH, PLACES };
static const double part[PLACES] = {1, 0.2};

static const size_t sizes[] = {3, 5, 7, MOST};
static const double loads[] = {0.5, 0.7, 0.8, 0.9};

static const struct {
    const char *name;
    struct simserver server;
    double capacity_rps;
    double between; /* standard deviation of the logarithm of the service time,
                       from launch to launch */
} cases[] = {
    {"M/M/1", {.kind = SIM_MM1, .service_s = 0.002}, 500, 0},
    {"M/D/1", {.kind = SIM_MD1, .service_s = 0.002}, 500, 0},
    {"batching",
     {.kind = SIM_BATCHING,
      .service_s = 0.005,
      .each_s = 0.0005,
      .delay_s = 0.002,
      .batch = 8},
     8 / 0.009,
     0},
    {"M/M/1, launches differ by 2 %",
     {.kind = SIM_MM1, .service_s = 0.002},
     500,
     0.02},
};

/* One server at one load. */
struct point {
    struct simserver server;
    double rate_rps;
    double between;
    double limit_s[PLACES];
    double inflation; /* true one, at the limit */
};

/* The server of one launch. */
static struct simserver launched(const struct point *p, uint64_t seed)
{
    struct simserver s = p->server;
    struct rng rng = rng_at(seed, RNG_DEMAND, 0);

    s.service_s *= exp(p->between * rng_normal(&rng));
    return s;
}

/* ---- what is true ---- */

/* A long run, or many launches. */
static void find_limits(struct point *p, double requests)
{
    size_t launches = p->between > 0 ? 2000 : 1;
    struct hist all = {0};

    for (size_t i = 0; i < launches; i++) {
        struct simserver s = launched(p, 1000000 + i);
        struct simqueue q = simqueue_start(&s, p->rate_rps, 2000000 + i);
        int64_t n = (int64_t)(requests / (double)launches);
        double due;

        for (int64_t k = -n / 20; k < n; k++) {
            double s_of = simqueue_next(&q, &due);

            if (k >= 0)
                hist_add(&all, (int64_t)(s_of * 1e9));
        }
    }
    for (int i = 0; i < PLACES; i++)
        p->limit_s[i] =
            (double)hist_rank_quantile(&all, 1 - part[i] * ALLOWED) / 1e9;
    hist_fini(&all);
}

/* Of the misses of one launch: their variance in long batches, compared with
 * that of independent ones. */
static void find_inflation(struct point *p, double requests)
{
    struct simqueue q = simqueue_start(&p->server, p->rate_rps, 3);
    size_t batches = (size_t)(requests / BATCH);
    double sum = 0;
    double squares = 0;
    double mean;

    for (size_t b = 0; b < batches; b++) {
        double misses = 0;
        double due;

        for (int i = 0; i < BATCH; i++)
            misses += simqueue_next(&q, &due) >= p->limit_s[AT_LIMIT];
        sum += misses;
        squares += misses * misses;
    }
    mean = sum / (double)batches;
    p->inflation = fmax(1, (squares / (double)batches - mean * mean) /
                               (mean * (1 - mean / BATCH)));
}

/* ---- one trial ---- */

static void make_trial(const struct point *p, int64_t n, uint64_t seed,
                       struct share_sample out[PLACES])
{
    struct simserver s = launched(p, seed);
    struct simqueue q = simqueue_start(&s, p->rate_rps, seed);
    struct batch slices[PLACES][SLICES] = {0};
    struct dependence d = {0};
    double late;
    double due;

    for (int64_t i = -(int64_t)(WARM_TIMES * p->inflation); i < n; i++) {
        double took = simqueue_next(&q, &due);
        size_t slice = i < 0 ? 0 : (size_t)(i * SLICES / n);

        if (i < 0)
            continue;
        dependence_add(&d, (double)i / (double)n, took, 1);
        for (int k = 0; k < PLACES; k++) {
            slices[k][slice].n++;
            slices[k][slice].hits += took >= p->limit_s[k];
        }
    }
    late = dependence_inflation(&d);
    dependence_fini(&d);
    for (int k = 0; k < PLACES; k++) {
        out[k] = (struct share_sample){
            .n = (double)n,
            .n_effective = effective_samples((double)n, slices[k], SLICES,
                                             (double)n, late)};
        for (size_t i = 0; i < SLICES; i++)
            out[k].misses += (double)slices[k][i].hits;
    }
}

/* ---- sets ---- */

/* What a rule says of sets. */
struct score {
    int pass; /* shown */
    int fail;
};

enum { OURS, SUM, STUDENT, RULES };

struct scores {
    int sets;
    double effective; /* sum of the trials' effective samples */
    int seen;         /* PASS as observed */
    struct score rules[RULES];
};

/* Student's one-sided test of the mean of the shares, corrected for their skew
 * (Hall 1992): the significance of a pass.  Sets without a scatter go by `p`.
 */
static double student_p(const struct share_sample *t, size_t n, double p)
{
    double k = (double)n;
    double mean = 0;
    double squares = 0;
    double cubes = 0;
    double c;
    double x;

    for (size_t i = 0; i < n; i++)
        mean += t[i].misses / t[i].n / k;
    for (size_t i = 0; i < n; i++) {
        double off = t[i].misses / t[i].n - mean;

        squares += off * off;
        cubes += off * off * off;
    }
    if (!(squares > 0))
        return p;
    x = (mean - ALLOWED) / sqrt(squares / (k - 1) / k);
    c = cubes / k / pow(squares / k, 1.5) / sqrt(k);
    x += c * (x * x / 3 + 1.0 / 6) + c * c * x * x * x / 27;
    return student_upper_tail(-x, k - 1);
}

static void score_add(struct scores *s, const struct share_sample *t, size_t n)
{
    struct share_sample all = share_trials(t, n);
    struct share_sample sum = all;
    double pass[RULES];
    double fail[RULES];

    sum.n_effective = 0;
    for (size_t i = 0; i < n; i++)
        sum.n_effective += t[i].n_effective;
    pass[OURS] = share_pass_p(&all, ALLOWED);
    fail[OURS] = share_fail_p(&all, ALLOWED);
    pass[SUM] = share_pass_p(&sum, ALLOWED);
    fail[SUM] = share_fail_p(&sum, ALLOWED);
    pass[STUDENT] = fmax(pass[SUM], student_p(t, n, pass[SUM]));
    fail[STUDENT] = fmax(fail[SUM], 1 - student_p(t, n, 1 - fail[SUM]));
    s->sets++;
    s->effective += sum.n_effective;
    s->seen += all.misses <= ALLOWED * all.n;
    for (int i = 0; i < RULES; i++) {
        s->rules[i].pass += pass[i] <= SHARE_LEVEL;
        s->rules[i].fail += fail[i] <= SHARE_LEVEL;
    }
}

static double percent(int k, int n)
{
    return n > 0 ? 100.0 * k / n : NAN;
}

/* Requests of a trial, for as many effective samples in a set as are asked for,
 * as a report estimates them.  The second pilots have nearly that length. */
static int64_t length_of(const struct point *p, size_t trials)
{
    double n = EFFECTIVE * p->inflation / (double)trials;

    for (int pilot = 0; pilot < 2; pilot++) {
        double effective = 0;

        for (int i = 0; i < PILOTS; i++) {
            struct share_sample one[PLACES];

            make_trial(p, (int64_t)n, 3000000 + (uint64_t)i, one);
            effective += one[AT_LIMIT].n_effective * (double)trials / PILOTS;
        }
        n *= EFFECTIVE / effective;
    }
    return (int64_t)ceil(n);
}

static void run_sets(const struct point *p, const char *name, double load,
                     size_t trials, int64_t n, int sets)
{
    struct scores score[PLACES] = {0};
    uint64_t seed = 10 * trials + (uint64_t)(1000 * load);

    seed *= 1000000;
    for (int i = 0; i < sets; i++) {
        struct share_sample t[PLACES][MOST];

        for (size_t k = 0; k < trials; k++) {
            struct share_sample one[PLACES];

            make_trial(p, n, seed++, one);
            for (int j = 0; j < PLACES; j++)
                t[j][k] = one[j];
        }
        for (int j = 0; j < PLACES; j++)
            score_add(&score[j], t[j], trials);
    }
    printf("| %s | %.1f | %zu x %lld | %.0f |", name, load, trials,
           (long long)n, score[AT_LIMIT].effective / sets);
    for (int j = 0; j < PLACES; j++) {
        const struct scores *s = &score[j];
        const struct score *ours = &s->rules[OURS];

        printf(" %.1f | %.1f | %.1f | %.0f |", percent(ours->pass, sets),
               percent(ours->fail, sets),
               percent(sets - ours->pass - ours->fail, sets),
               percent(s->seen, sets));
    }
    for (int i = SUM; i < RULES; i++)
        printf(" %.1f, %.1f |", percent(score[AT_LIMIT].rules[i].pass, sets),
               percent(score[AT_FIFTH].rules[i].pass, sets));
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int sets = argc > 1 ? (int)strtol(argv[1], NULL, 10) : SETS;
    size_t only = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 0;
    int64_t began = clk_now(&clk_monotonic);

    if (sets < 1)
        return 2;
    printf(
        "%d sets each; shares in %%\n\n"
        "| server | load | trials x requests | effective |"
        " at the limit: PASS shown | FAIL shown | not shown | PASS observed |"
        " at a fifth: PASS shown | FAIL shown | not shown | PASS observed |"
        " PASS without dispersion | PASS by Student |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        sets);
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (only > 0 && i + 1 != only)
            continue;
        for (size_t k = 0; k < COUNT(loads); k++) {
            struct point p = {.server = cases[i].server,
                              .rate_rps = loads[k] * cases[i].capacity_rps,
                              .between = cases[i].between};

            find_limits(&p, PILOT);
            find_inflation(&p, PILOT);
            for (size_t t = 0; t < COUNT(sizes); t++)
                run_sets(&p, cases[i].name, loads[k], sizes[t],
                         length_of(&p, sizes[t]), sets);
            if (i == 0) /* shorter ones, as people make them */
                run_sets(&p, cases[i].name, loads[k], SHORT_TRIALS, SHORT_N,
                         sets);
        }
    }
    printf("\ncomputed in %.0f s\n",
           (double)(clk_now(&clk_monotonic) - began) / 1e9);
    return 0;
}
