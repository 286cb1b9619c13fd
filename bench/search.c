/* How well a search finds the capacity of servers of which it is known, in
 * virtual time, and what others need for that: the table of docs/search.md.
 * Usage: bench_search [SEARCHES [from-nothing|from-above]] */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/search/search.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "tests/support/simprobe.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define SEARCHES  200
#define ALLOWED   0.01
#define CLOSE     0.03    /* of the truth */
#define SCAN_S    60000.0 /* virtual, a rate */
#define FINE      0.02    /* of bisection */
#define SEEDS     1000    /* a search */
#define LOADGEN_S 600.0

/* Long runs are made for every so manieth search alone. */
#define LONG_EVERY 4

static const struct {
    const char *name;
    struct simserver server;
    double truth; /* by theory; 0: a scan finds it ... */
    double low;   /* ... between these */
    double high;
} cases[] = {
    {"M/M/1, 2 ms",
     {.kind = SIM_MM1, .service_s = 0.002, .limit_s = 0.05},
     407.897, /* 1 / 2 ms - ln(100) / 50 ms */
     0,
     0},
    {"M/D/1, 2 ms",
     {.kind = SIM_MD1, .service_s = 0.002, .limit_s = 0.05},
     0,
     350,
     490},
    {"batching, up to 8 in 5 ms + 0.5 ms each, delay 2 ms",
     {.kind = SIM_BATCHING,
      .service_s = 0.005,
      .each_s = 0.0005,
      .delay_s = 0.002,
      .batch = 8,
      .limit_s = 0.05},
     0,
     600,
     880},
};

/* Of one method on one server. */
struct score {
    int searches;
    int none; /* without an answer */
    int close;
    int covered;   /* by the interval */
    int confirmed; /* in the end */
    double requests;
    double with_confirm;
    double virtual_s; /* before the confirmation */
    double error;
    double squares;
};

static void score_add(struct score *s, double found, double truth)
{
    double error = found / truth - 1;

    s->searches++;
    if (!isfinite(error)) {
        s->none++;
        return;
    }
    s->close += fabs(error) <= CLOSE;
    s->error += error;
    s->squares += error * error;
}

/* ---- ours ---- */

static void take_estimate(struct score *score, const struct search_answer *a,
                          double truth)
{
    score_add(score, a->capacity, truth);
    score->covered += a->ci.low <= truth && truth <= a->ci.high;
    score->requests += (double)a->requests;
    score->virtual_s += (double)a->took_ns / 1e9;
}

static void search(const struct simserver *server, const struct slo *slo,
                   double start, uint64_t seed, double truth,
                   struct score *score)
{
    struct search_config config = {.slo = slo, .start = start};
    struct search s;
    struct search_ask ask;
    struct search_answer answer;
    bool is_estimated = false;

    search_init(&s, &config);
    for (;;) {
        struct search_result result;

        search_next(&s, &ask);
        if (ask.step != SEARCH_PROBE && !is_estimated) {
            is_estimated = true;
            search_answer(&s, &answer);
            take_estimate(score, &answer, truth);
        }
        if (ask.step == SEARCH_DONE)
            break;
        simprobe_run(server, &s, &ask, seed++, &result);
        search_feed(&s, &result);
    }
    search_answer(&s, &answer);
    score->with_confirm += (double)answer.requests;
    score->confirmed += answer.outcome == SEARCH_FOUND;
    search_fini(&s);
}

/* ---- others ---- */

struct bisection {
    const struct simserver *server;
    double seconds;
    double fine;    /* ratio to stop at, less 1 */
    double decimal; /* or difference; 0: none */
    uint64_t seed;
    int64_t requests;
};

static bool passes(struct bisection *b, double rate)
{
    return simprobe_share(b->server, rate, b->seconds, b->seed++,
                          &b->requests) <= ALLOWED;
}

static bool is_fine(const struct bisection *b, double low, double high)
{
    return b->decimal > 0
               ? floor(low / b->decimal) + 1 >= floor(high / b->decimal)
               : high <= (1 + b->fine) * low;
}

/* LoadGen's cannot go down: a start that fails is an error.  0. */
static double bisect(struct bisection *b, double start)
{
    double low = 0;
    double high = 0;
    double rate = start;

    while (low <= 0 || high <= 0) {
        if (passes(b, rate)) {
            low = rate;
            rate *= 2;
        } else {
            high = rate;
            rate /= 2;
        }
        if (b->decimal > 0 && low <= 0)
            return 0;
    }
    while (!is_fine(b, low, high)) {
        double middle = b->decimal > 0 ? (low + high) / 2 : sqrt(low * high);

        if (passes(b, middle))
            low = middle;
        else
            high = middle;
    }
    return b->decimal > 0 ? low : sqrt(low * high);
}

static void by_bisection(struct bisection b, double start, double truth,
                         struct score *score)
{
    score_add(score, bisect(&b, start), truth);
    score->requests += (double)b.requests;
}

/* ---- the table ---- */

enum method { OURS, SHORT_BISECTION, LONG_BISECTION, LOADGEN, METHODS };

static const char *const methods[] = {
    [OURS] = "search",
    [SHORT_BISECTION] = "bisection to 2 %, 90 s",
    [LONG_BISECTION] = "bisection to 2 %, 600 s",
    [LOADGEN] = "LoadGen's, 600 s",
};

static void print_head(const char *name, double truth)
{
    printf("\n%s: %.1f/s\n\n", name, truth);
    printf("| method | within 3 %% | requests | of 90 s | with confirmation | "
           "of 600 s | covered | confirmed | bias | error |\n"
           "|---|---|---|---|---|---|---|---|---|---|\n");
}

static double mean_requests(const struct score *s)
{
    return s->requests / s->searches;
}

static void print_score(enum method m, const struct score *all)
{
    const struct score *s = &all[m];
    double n = s->searches;
    double confirmed = m == OURS ? s->with_confirm : s->requests;

    printf("| %s | %d of %d | %.0f | %.3f |", methods[m], s->close, s->searches,
           s->requests / n,
           mean_requests(s) / mean_requests(&all[SHORT_BISECTION]));
    printf(" %.0f | %.3f |", confirmed / n,
           confirmed / n / mean_requests(&all[LONG_BISECTION]));
    if (m == OURS)
        printf(" %d | %d |", s->covered, s->confirmed);
    else
        printf(" - | - |");
    printf(" %+.2f %% | %.2f %% |\n", 100 * s->error / (n - s->none),
           100 * sqrt(s->squares / (n - s->none)));
}

/* Starts that are as likely anywhere in an octave, by ratio. */
static double start_of(const char *from, double truth, struct rng *rng)
{
    double octave = pow(2, rng_uniform(rng));

    if (strcmp(from, "from-nothing") == 0)
        return 0;
    return strcmp(from, "from-above") == 0 ? 2 * truth * octave
                                           : truth / 4 * octave;
}

static double truth_of(size_t i)
{
    return cases[i].truth > 0
               ? cases[i].truth
               : simprobe_scan(&cases[i].server, ALLOWED, cases[i].low,
                               cases[i].high, SCAN_S);
}

static void run_case(size_t i, int searches, const char *from,
                     const struct slo *slo)
{
    const struct simserver *server = &cases[i].server;
    double truth = truth_of(i);
    struct rng rng = rng_at(1, RNG_TRIAL, (int64_t)i);
    struct score scores[METHODS] = {0};
    int64_t began = clk_now(&clk_monotonic);

    for (int k = 0; k < searches; k++) {
        double start = start_of(from, truth, &rng);
        double guess = start > 0 ? start : 1;
        uint64_t seed = SEEDS * (uint64_t)(k + 1);
        struct bisection b = {.server = server,
                              .seconds = 90,
                              .fine = FINE,
                              .seed = seed + SEEDS / 2};

        search(server, slo, start, seed, truth, &scores[OURS]);
        by_bisection(b, guess, truth, &scores[SHORT_BISECTION]);
        if (k % LONG_EVERY != 0)
            continue;
        b.seconds = LOADGEN_S;
        by_bisection(b, guess, truth, &scores[LONG_BISECTION]);
        b.decimal = 0.1;
        by_bisection(b, guess, truth, &scores[LOADGEN]);
    }
    print_head(cases[i].name, truth);
    for (int m = 0; m < METHODS; m++)
        print_score((enum method)m, scores);
    printf("\n%.0f virtual seconds a search before its confirmation; computed "
           "in %.1f s\n",
           scores[OURS].virtual_s / searches,
           (double)(clk_now(&clk_monotonic) - began) / 1e9);
}

int main(int argc, char **argv)
{
    int searches = argc > 1 ? (int)strtol(argv[1], NULL, 10) : SEARCHES;
    const char *from = argc > 2 ? argv[2] : "from-below";
    struct err err = {0};
    struct slo slo = {.len = 1};

    if (searches < 1 ||
        slo_parse_term("e2e p99 < 50ms", &slo.terms[0], &err) < 0)
        return 2;
    printf("%d searches each, %s\n", searches, from);
    for (size_t i = 0; i < COUNT(cases); i++)
        run_case(i, searches, from, &slo);
    return 0;
}
