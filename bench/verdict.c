/* How far the verdict of a run can be believed: how often a server that misses
 * exactly what is allowed, three times as much or a fifth of it is shown to
 * pass or to fail, in virtual time.  Prints the tables of
 * docs/statistics-verdict.md. Usage: bench_verdict [RUNS [fixed|decided|late]]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/verdict/judge.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"
#include "common/measure/decide.h"
#include "common/stats/share_test.h"
#include "tests/support/simprobe.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define ALLOWED   0.01
#define RUNS      1000
#define SHORTEST  300      /* requests */
#define WANTED    1500     /* effective samples of the longest run */
#define SCAN      60000000 /* requests from which limits are found */
#define DECIDED   3000     /* effective samples within which to decide */
#define MAX_STEPS 24

static const struct {
    const char *name;
    struct simserver server;
    double capacity_rps;
} servers[] = {
    {"M/M/1", {.kind = SIM_MM1, .service_s = 0.002}, 500},
    {"M/D/1", {.kind = SIM_MD1, .service_s = 0.002}, 500},
    {"batching",
     {.kind = SIM_BATCHING,
      .service_s = 0.005,
      .each_s = 0.0005,
      .delay_s = 0.002,
      .batch = 8},
     8 / 0.009},
};

static const double loads[] = {0.5, 0.7, 0.8, 0.9};

/* True shares of misses, in terms of what is allowed. */
static const double shares[] = {1, 3, 0.2};

/* One request. */
struct row {
    double due_s;
    double took_s;
};

static void warm_up(struct simqueue *q, int64_t requests)
{
    double due;

    for (int64_t i = 0; i < requests; i++)
        simqueue_next(q, &due);
}

/* Requests until the queue has forgotten that it began empty. */
static int64_t transient(double load)
{
    return (int64_t)(40 / ((1 - load) * (1 - load)));
}

/* The limits that are missed by each of the shares. */
static void find_limits(const struct simserver *server, double rate_rps,
                        double load, double *limits)
{
    struct simqueue q = simqueue_start(server, rate_rps, 1);
    struct hist took = {0};
    double due;

    warm_up(&q, transient(load));
    for (size_t i = 0; i < SCAN; i++)
        hist_add(&took, llround(simqueue_next(&q, &due) * 1e9));
    for (size_t i = 0; i < COUNT(shares); i++)
        limits[i] =
            (double)hist_rank_quantile(&took, 1 - shares[i] * ALLOWED) / 1e9;
    hist_fini(&took);
}

/* The judgement of n requests, as the analyzer makes it. */
static struct term_judgement judge_rows(const struct row *rows, size_t n,
                                        double limit_s)
{
    struct slo slo = {.len = 1,
                      .terms = {{.kind = SLO_QUANTILE,
                                 .measure = MEASURE_E2E,
                                 .quantile = 1 - ALLOWED,
                                 .limit_ns = llround(limit_s * 1e9)}}};
    double length = (rows[n - 1].due_s - rows[0].due_s) * (1 + 1e-9);
    struct term_tally *tt;
    struct judgement j;
    struct tally *t = xcalloc(1, sizeof(*t));

    tally_init(t, (struct window){.end_ns = llround(length * 1e9)}, &slo);
    tt = &t->terms[0];
    t->due = (int64_t)n;
    for (size_t i = 0; i < n; i++) {
        double place = (rows[i].due_s - rows[0].due_s) / length;
        int64_t ns = llround(rows[i].took_s * 1e9);

        term_tally_add(tt, &slo.terms[0], (size_t)(place * TALLY_SLICES), ns,
                       1);
        term_tally_depend(tt, &slo.terms[0], place, ns, 1);
    }
    judge(t, length, &j);
    tally_fini(t);
    free(t);
    return j.terms[0];
}

struct score {
    size_t n; /* requests */
    int passes;
    int fails;
    int observed;
    double effective;
};

/* A row: the longest runs, and the worst of all lengths. */
static void print_scores(const char *name, double load, double share,
                         const struct score *scores, size_t steps, int runs)
{
    const struct score *last = &scores[steps - 1];
    int most = 0;
    int drop = 0;

    for (size_t k = 0; k < steps; k++) {
        if (scores[k].passes > most)
            most = scores[k].passes;
        if (k > 0 && scores[k - 1].passes - scores[k].passes > drop)
            drop = scores[k - 1].passes - scores[k].passes;
    }
    printf("| %s | %.1f | %.1f | %d to %zu | %.1f | %.1f | %.0f | %.1f | %.1f "
           "| %.1f | %.1f |\n",
           name, load, share, SHORTEST, last->n, 100.0 * most / runs,
           100.0 * drop / runs, last->effective / runs,
           100.0 * last->observed / runs, 100.0 * last->passes / runs,
           100.0 * last->fails / runs,
           100.0 * (runs - last->passes - last->fails) / runs);
    fflush(stdout);
}

/* Runs of doubling length, each the beginning of the next, until they are worth
 * as many independent requests as wanted. */
static void fixed_lengths(size_t server, double load, size_t share,
                          double limit_s, int runs)
{
    double rate_rps = load * servers[server].capacity_rps;
    struct score scores[MAX_STEPS] = {0};
    struct row *rows = NULL;
    size_t steps = 1;
    size_t room = 0;

    for (int run = 0; run < runs; run++) {
        struct simqueue q = simqueue_start(&servers[server].server, rate_rps,
                                           1000 + (uint64_t)run);
        size_t made = 0;

        warm_up(&q, transient(load));
        for (size_t k = 0; k < steps; k++) {
            size_t n = (size_t)SHORTEST << k;
            struct term_judgement j;

            if (n > room) {
                room = n;
                rows = xrealloc(rows, room, sizeof(*rows));
            }
            for (; made < n; made++)
                rows[made].took_s = simqueue_next(&q, &rows[made].due_s);
            j = judge_rows(rows, n, limit_s);
            scores[k].n = n;
            scores[k].observed += j.verdict == VERDICT_PASS;
            scores[k].passes += j.is_shown && j.verdict == VERDICT_PASS;
            scores[k].fails += j.is_shown && j.verdict == VERDICT_FAIL;
            scores[k].effective += j.n_effective;
            /* The first run tells how long the longest must be. */
            if (run == 0 && j.n_effective < WANTED && steps < MAX_STEPS)
                steps = k + 2;
        }
    }
    print_scores(servers[server].name, load, shares[share], scores, steps,
                 runs);
    free(rows);
}

/* ---- runs that stop as soon as they are decided ---- */

/* The longest run: worth as many independent requests as wanted. */
static size_t length_for(size_t server, double load, double limit_s)
{
    struct simqueue q = simqueue_start(
        &servers[server].server, load * servers[server].capacity_rps, 999);
    struct row *rows = NULL;
    size_t made = 0;
    size_t n = SHORTEST;
    double effective = 0;

    warm_up(&q, transient(load));
    for (; effective < DECIDED; n *= 2) {
        rows = xrealloc(rows, n, sizeof(*rows));
        for (; made < n; made++)
            rows[made].took_s = simqueue_next(&q, &rows[made].due_s);
        effective = judge_rows(rows, n, limit_s).n_effective;
    }
    free(rows);
    return (size_t)((double)made * DECIDED / effective);
}

static void until_decided(size_t server, double load, size_t share,
                          double limit_s, int runs)
{
    struct slo slo = {.len = 1,
                      .terms = {{.kind = SLO_QUANTILE,
                                 .measure = MEASURE_E2E,
                                 .quantile = 1 - ALLOWED,
                                 .limit_ns = llround(limit_s * 1e9)}}};
    size_t most = length_for(server, load, limit_s);
    double used = 0;
    int passes = 0;
    int fails = 0;

    for (int run = 0; run < runs; run++) {
        struct simqueue q = simqueue_start(&servers[server].server,
                                           load * servers[server].capacity_rps,
                                           1000 + (uint64_t)run);
        struct facts f = facts_unknown(0, 0);
        struct err err = {0};
        struct decide d;
        double due_s;

        warm_up(&q, transient(load));
        simqueue_next(&q, &due_s);
        decide_init(&d, &slo, llround(due_s * 1e9), &err);
        f.outcome = OUTCOME_OK;
        for (f.seq = 0; f.seq < (int64_t)most && !d.decision; f.seq++) {
            double took_s = simqueue_next(&q, &due_s);

            f.due = f.issued = f.sent = llround(due_s * 1e9);
            f.head = f.first = f.last = f.end = f.due + llround(took_s * 1e9);
            decide_add(&d, &f);
        }
        used += (double)f.seq / (double)most;
        decide_end(&d);
        passes += d.decision == DECISION_PASS;
        fails += d.decision == DECISION_FAIL;
        decide_fini(&d);
    }
    printf("| %s | %.1f | %.1f | %zu | %.2f | %.1f | %.1f | %.1f |\n",
           servers[server].name, load, shares[share], most, used / runs,
           100.0 * passes / runs, 100.0 * fails / runs,
           100.0 * (runs - passes - fails) / runs);
    fflush(stdout);
}

/* ---- a late client ---- */

/* A client that stalls now and then: what is due meanwhile is sent together
 * when the stall is over.  The latency counts from the due time. */
struct stalls {
    double every_s; /* mean */
    double for_s;   /* mean */
};

static const struct stalls stalls[] = {{0.5, 0.005}, {0.5, 0.02}, {0.1, 0.01}};

/* The same servers as in simprobe.h, with other times of arrival than the
 * schedule's: `lag_s` gets how late the requests were. */
/* NOLINTNEXTLINE(readability-function-size) */
static void serve_late(const struct simserver *server, double rate_rps,
                       const struct stalls *stall, uint64_t seed,
                       struct row *rows, size_t n, double *lag_s)
{
    struct rng arrivals = rng_stream(seed, RNG_ARRIVAL);
    struct rng services = rng_stream(seed, RNG_SERVICE);
    struct rng stalling = rng_stream(seed, RNG_SPREAD);
    double *sent = xcalloc(n, sizeof(*sent));
    double begin = stall->every_s * rng_exponential(&stalling);
    double end = begin + stall->for_s * rng_exponential(&stalling);
    double now = 0;
    double free_at = 0;

    for (size_t i = 0; i < n; i++) {
        now += rng_exponential(&arrivals) / rate_rps;
        while (now >= end) {
            begin = end + stall->every_s * rng_exponential(&stalling);
            end = begin + stall->for_s * rng_exponential(&stalling);
        }
        rows[i].due_s = now;
        sent[i] = now >= begin ? end : now;
        lag_s[i] = sent[i] - now;
    }
    for (size_t i = 0; i < n;) {
        size_t in_batch = 1;
        double start = fmax(free_at, sent[i]);
        double service = server->service_s;

        if (server->kind == SIM_MM1)
            service *= rng_exponential(&services);
        if (server->kind == SIM_BATCHING) {
            double full =
                i + server->batch <= n ? sent[i + server->batch - 1] : INFINITY;

            start = fmax(free_at, fmin(full, sent[i] + server->delay_s));
            while (in_batch < server->batch && i + in_batch < n &&
                   sent[i + in_batch] <= start)
                in_batch++;
            service += server->each_s * (double)in_batch;
        }
        free_at = start + service;
        for (; in_batch > 0; in_batch--, i++)
            rows[i].took_s = free_at - rows[i].due_s;
    }
    free(sent);
}

static void late_client(size_t server, double load, double limit_s, int runs)
{
    size_t most = length_for(server, load, limit_s) / 2;
    struct row *rows = xcalloc(most, sizeof(*rows));
    double *lag_s = xcalloc(most, sizeof(*lag_s));

    for (size_t k = 0; k < COUNT(stalls); k++) {
        struct hist lag = {0};
        double missed = 0;
        int observed = 0;
        int passes = 0;

        for (int run = 0; run < runs; run++) {
            struct term_judgement j;

            serve_late(&servers[server].server,
                       load * servers[server].capacity_rps, &stalls[k],
                       1000 + (uint64_t)run, rows, most, lag_s);
            j = judge_rows(rows, most, limit_s);
            missed += j.missed;
            observed += j.verdict == VERDICT_PASS;
            passes += j.is_shown && j.verdict == VERDICT_PASS;
            for (size_t i = 0; i < most; i += 97)
                hist_add(&lag, llround(lag_s[i] * 1e9));
        }
        printf("| %s | %.1f | %.0f | %.1f | %.2f | %.1f | %.1f |\n",
               servers[server].name, load, limit_s * 1e3,
               (double)hist_rank_quantile(&lag, 0.99) / 1e6,
               100 * missed / runs, 100.0 * observed / runs,
               100.0 * passes / runs);
        fflush(stdout);
        hist_fini(&lag);
    }
    free(rows);
    free(lag_s);
}

/* ---- the tables ---- */

enum table { FIXED, UNTIL_DECIDED, LATE, TABLES };

static const struct {
    const char *name;
    const char *head;
} tables[TABLES] = {
    {"fixed",
     "\nRuns of a fixed length: the worst of all lengths, then the longest\n\n"
     "| server | load | misses / allowed | requests | most shown PASS % | "
     "largest drop when doubled | effective | observed PASS % | shown PASS % | "
     "shown FAIL % | not shown % "
     "|\n|---|---|---|---|---|---|---|---|---|---|---"
     "|\n"},
    {"decided",
     "\nRuns that stop when they are decided, within an effective sample of "
     "3000\n\n| server | load | misses / allowed | requests at most | used | "
     "PASS % | FAIL % | undecided % |\n|---|---|---|---|---|---|---|---|\n"},
    {"late",
     "\nA late client, and a server that misses exactly what is allowed when "
     "the "
     "client is on time\n\n| server | load | limit ms | lag p99 ms | missed % "
     "| "
     "observed PASS % | shown PASS % |\n|---|---|---|---|---|---|---|\n"},
};

int main(int argc, char **argv)
{
    int runs = argc > 1 ? (int)strtol(argv[1], NULL, 10) : RUNS;
    const char *only = argc > 2 ? argv[2] : NULL;
    double limits[COUNT(servers)][COUNT(loads)][COUNT(shares)];

    for (size_t s = 0; s < COUNT(servers); s++) {
        for (size_t l = 0; l < COUNT(loads); l++)
            find_limits(&servers[s].server, loads[l] * servers[s].capacity_rps,
                        loads[l], limits[s][l]);
    }
    for (size_t t = 0; t < TABLES; t++) {
        if (only && strcmp(only, tables[t].name) != 0)
            continue;
        printf("%s", tables[t].head);
        for (size_t i = 0; i < COUNT(servers) * COUNT(loads) * COUNT(shares);
             i++) {
            size_t s = i / COUNT(shares) / COUNT(loads);
            size_t l = i / COUNT(shares) % COUNT(loads);
            size_t m = i % COUNT(shares);

            if (t == FIXED)
                fixed_lengths(s, loads[l], m, limits[s][l][m], runs);
            else if (t == UNTIL_DECIDED)
                until_decided(s, loads[l], m, limits[s][l][m], runs);
            else if (m == 0)
                late_client(s, loads[l], limits[s][l][m], runs);
        }
    }
    return 0;
}
