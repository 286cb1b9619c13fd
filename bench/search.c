/* How well a search finds the capacity of servers of which it is known, in
 * virtual time, and what bisection needs for that: the table of docs/search.md.
 * Usage: bench_search [SEARCHES [from-nothing|from-above] [CASE]] */
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

#define SEARCHES 20
#define ALLOWED  0.01
#define CLOSE    0.03    /* of the truth */
#define SCAN_S   60000.0 /* virtual, a rate */
#define FINE     0.02    /* of bisection */
#define SEEDS    1000    /* a search */

/* Windows of bisection: at least 90 s, and as many relaxation times as 90 s are
 * for M/M/1 of 2 ms with a limit of 50 ms. */
#define BISECT_S     90.0
#define BISECT_RELAX 421.0

enum expected { A_CAPACITY, A_CLIENT_LIMIT, A_CONTRADICTION };

struct known {
    const char *name;
    struct simserver server;
    double truth; /* by theory; 0: a scan finds it ... */
    double low;   /* ... between these */
    double high;
    double budget_s; /* 0: none */
    enum expected expected;
};

#define MM1(service, limit)                                                    \
    {                                                                          \
        .kind = SIM_MM1, .service_s = (service), .limit_s = (limit)            \
    }
#define MD1(service, limit)                                                    \
    {                                                                          \
        .kind = SIM_MD1, .service_s = (service), .limit_s = (limit)            \
    }

/* M/M/1: 1 / service - ln(100) / limit. */
static const struct known cases[] = {
    {"M/M/1 2 ms, 50 ms", MM1(0.002, 0.05), .truth = 407.897},
    {"M/M/1 2 ms, 100 ms", MM1(0.002, 0.1), .truth = 453.948},
    {"M/M/1 2 ms, 150 ms", MM1(0.002, 0.15), .truth = 469.299},
    {"M/M/1 2 ms, 200 ms", MM1(0.002, 0.2), .truth = 476.974},
    {"M/M/1 2 ms, 300 ms", MM1(0.002, 0.3), .truth = 484.649},
    {"M/M/1 2 ms, 500 ms", MM1(0.002, 0.5), .truth = 490.790},
    {"M/M/1 2 ms, 500 ms, 10 min", MM1(0.002, 0.5), .truth = 490.790,
     .budget_s = 600},
    {"M/M/1 5 ms, 125 ms", MM1(0.005, 0.125), .truth = 163.159},
    {"M/D/1 2 ms, 50 ms", MD1(0.002, 0.05), .low = 350, .high = 490},
    {"M/D/1 2 ms, 200 ms", MD1(0.002, 0.2), .low = 450, .high = 499},
    {"batches of 8, 50 ms",
     {.kind = SIM_BATCHING,
      .service_s = 0.005,
      .each_s = 0.0005,
      .delay_s = 0.002,
      .batch = 8,
      .limit_s = 0.05},
     .low = 600,
     .high = 880},
    {"flat: M/M/1 2 ms, 20 ms", MM1(0.002, 0.02), .truth = 269.741},
    {"flat: M/M/1 2 ms, 12 ms", MM1(0.002, 0.012), .truth = 116.236},
    {"flat: M/M/1 2 ms, 10 ms", MM1(0.002, 0.010), .truth = 39.483},
    {"cliff at 400/s",
     {.kind = SIM_CLIFF, .service_s = 0.005, .limit_s = 0.05, .capacity = 400},
     .truth = 400},
    {"flapping: 4 of 10 probes miss all",
     {.kind = SIM_CLIFF,
      .service_s = 0.005,
      .limit_s = 0.05,
      .capacity = 400,
      .flapping = 0.4},
     .truth = 400,
     .expected = A_CONTRADICTION},
    {"client limit at 400/s",
     {.kind = SIM_CLIFF,
      .service_s = 0.005,
      .limit_s = 0.05,
      .capacity = 1e9,
      .client = 400},
     .truth = 400,
     .expected = A_CLIENT_LIMIT},
};

/* Of all searches of one server. */
struct score {
    int searches;
    int none; /* without an estimate */
    int close;
    int covered; /* by the interval; or, without an estimate, as expected */
    int too_high;
    int outcomes[SEARCH_NOT_PROBED + 1];
    double requests;
    double with_confirm;
    double bisection; /* requests that it takes */
    double virtual_s; /* before the confirmation */
    double error;
    double squares;
    double reach;
};

static void take_estimate(struct score *score, const struct search_answer *a,
                          double truth)
{
    double error = a->capacity / truth - 1;

    score->requests += (double)a->requests;
    score->virtual_s += (double)a->took_ns / 1e9;
    if (!isfinite(error)) {
        score->none++;
        return;
    }
    score->close += fabs(error) <= CLOSE;
    score->error += error;
    score->squares += error * error;
    score->covered += a->ci.low <= truth && truth <= a->ci.high;
    score->too_high += a->ci.low > truth;
    score->reach += (a->ci.high - a->ci.low) / 2 / truth;
}

static void search(const struct known *of, double truth, const struct slo *slo,
                   double start, uint64_t seed, struct score *score)
{
    struct search_config config = {
        .slo = slo,
        .start = start,
        .budget_ns = llround(of->budget_s * 1e9),
    };
    struct search s;
    struct search_ask ask;
    struct search_answer answer;
    bool is_estimated = false;

    search_init(&s, &config);
    for (;;) {
        struct search_result result;

        search_next(&s, &ask);
        if ((ask.step == SEARCH_CONFIRM || ask.step == SEARCH_DONE) &&
            !is_estimated) {
            is_estimated = true;
            search_answer(&s, &answer);
            take_estimate(score, &answer, truth);
        }
        if (ask.step == SEARCH_DONE)
            break;
        simprobe_run(&of->server, &s, &ask, seed++, &result);
        search_feed(&s, &result);
    }
    search_answer(&s, &answer);
    score->searches++;
    score->with_confirm += (double)answer.requests;
    score->outcomes[answer.outcome]++;
    if (of->expected == A_CLIENT_LIMIT)
        score->covered += answer.outcome == SEARCH_CLIENT &&
                          answer.at_least <= truth &&
                          answer.at_least >= 0.9 * truth;
    else if (of->expected == A_CONTRADICTION)
        score->covered += answer.outcome == SEARCH_UNDECIDED;
    search_fini(&s);
}

/* ---- bisection ---- */

/* Requests of doubling and bisection with windows of this length, if it always
 * finds the truth. */
static double bisection_requests(double start, double truth, double seconds)
{
    double low = start;
    double high = start;
    double sum = start;

    while (high <= truth) {
        low = high;
        high *= 2;
        sum += high;
    }
    while (low > truth) {
        high = low;
        low /= 2;
        sum += low;
    }
    while (high > (1 + FINE) * low) {
        double middle = sqrt(low * high);

        sum += middle;
        if (middle <= truth)
            low = middle;
        else
            high = middle;
    }
    return seconds * sum;
}

/* By theory; 0 if there is none. */
static double relaxation_s(const struct simserver *server, double truth)
{
    double load = truth * server->service_s;
    double gap = server->kind == SIM_MM1 ? 1 - sqrt(load) : 1 - load;

    if (server->kind == SIM_MM1)
        return server->service_s / (gap * gap);
    return server->kind == SIM_MD1 ? 2 * server->service_s * load / (gap * gap)
                                   : 0;
}

/* ---- the table ---- */

/* Starts that are as likely anywhere in an octave, by ratio. */
static double start_of(const char *from, double truth, struct rng *rng)
{
    double octave = pow(2, rng_uniform(rng));

    if (strcmp(from, "from-nothing") == 0)
        return 0;
    return strcmp(from, "from-above") == 0 ? 2 * truth * octave
                                           : truth / 4 * octave;
}

static void print_score(const struct known *of, double truth,
                        const struct score *s, double seconds)
{
    double n = s->searches;
    double found = fmax(1, n - s->none);

    printf("| %s | %.1f | %.1f %% | %.1f %% | %.1f %% | %.2f | %.2f | %+.1f %% "
           "| %.1f %% | %.1f %% | %.0f s |",
           of->name, truth, 100 * s->covered / n, 100 * s->too_high / n,
           100 * s->close / n, s->requests / s->bisection,
           s->with_confirm / s->bisection, 100 * s->error / found,
           100 * sqrt(s->squares / found), 100 * s->reach / found,
           s->virtual_s / n);
    for (size_t i = 0; i < COUNT(s->outcomes); i++)
        if (s->outcomes[i] > 0)
            printf(" %s %d", search_outcome_name((enum search_outcome)i),
                   s->outcomes[i]);
    printf(" | %.1f s |\n", seconds);
    fflush(stdout);
}

static void run_case(size_t i, int searches, const char *from)
{
    const struct known *of = &cases[i];
    double truth = of->truth > 0 ? of->truth
                                 : simprobe_scan(&of->server, ALLOWED, of->low,
                                                 of->high, SCAN_S);
    double window_s =
        fmax(BISECT_S, BISECT_RELAX * relaxation_s(&of->server, truth));
    struct rng rng = rng_at(1, RNG_TRIAL, (int64_t)i);
    struct score score = {0};
    int64_t began = clk_now(&clk_monotonic);
    struct slo slo = {.len = 1};
    struct err err = {0};
    char term[64];

    snprintf(term, sizeof(term), "e2e p99 < %gms", of->server.limit_s * 1e3);
    if (slo_parse_term(term, &slo.terms[0], &err) < 0)
        abort();
    for (int k = 0; k < searches; k++) {
        double start = start_of(from, truth, &rng);

        search(of, truth, &slo, start, SEEDS * (uint64_t)(k + 1), &score);
        score.bisection +=
            bisection_requests(start > 0 ? start : 1, truth, window_s);
    }
    print_score(of, truth, &score,
                (double)(clk_now(&clk_monotonic) - began) / 1e9);
}

int main(int argc, char **argv)
{
    int searches = argc > 1 ? (int)strtol(argv[1], NULL, 10) : SEARCHES;
    const char *from = argc > 2 ? argv[2] : "from-below";

    if (searches < 1)
        return 2;
    printf("%d searches each, %s\n\n", searches, from);
    printf("| server, limit of p99 | capacity | covered | too high | within 3 "
           "%% | of bisection | with confirmation | bias | error | half-width "
           "| time | outcomes | computed in |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < COUNT(cases); i++)
        if (argc < 4 || strstr(cases[i].name, argv[3]))
            run_case(i, searches, from);
    return 0;
}
