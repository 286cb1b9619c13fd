/* How much latencies are too low because no load follows the window, with and
 * without a cool-down (docs/statistics.md, "Drain").
 *
 *     bench_drain [RUNS]
 *
 * The server computes the requests of a batch together: a step takes 20 ms and
 * 1 ms per request, and an answer of n tokens takes n steps.  A step is
 * infinitely divisible here, so that a request can join at any time.  All
 * variants of a run have the same arrivals and answers.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/heap.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/schedule/window_limits.h"

#define STEP_S    0.02
#define STEP_ITEM 0.001
#define TOKENS    100.0 /* mean; 1 / (TOKENS * STEP_ITEM) requests/s at most */
#define WARMUP_S  20.0
#define UNIT      1e9   /* of a token in the heap's keys */
#define MOST      65536 /* requests */
#define UNLIMITED 1e6   /* seconds */

struct request {
    double due_s;
    bool is_inside; /* due in the window */
};

struct sim {
    struct heap flight; /* key: progress of the server when it is done */
    struct request all[MOST];
    size_t n;
    struct rng arrivals;
    struct rng answers;
    double cv; /* of the answers' lengths */
    double now_s;
    double progress; /* tokens that a request in flight all the time has got */
    double next_s;   /* the next arrival; INFINITY: none */
    int64_t open;    /* requests of the window in flight */
    int64_t sent;    /* requests of the window */
    double *times_s; /* of those that have ended */
    size_t ended;
};

static double draw_tokens(struct sim *s)
{
    double sigma = sqrt(log(1 + s->cv * s->cv));

    return s->cv > 0 ? TOKENS * exp(sigma * rng_normal(&s->answers) -
                                    sigma * sigma / 2)
                     : TOKENS;
}

static void arrive(struct sim *s, double rate, double end_s)
{
    struct request *r = &s->all[s->n];

    if (s->n++ == MOST)
        abort();
    *r =
        (struct request){s->next_s, s->next_s >= WARMUP_S && s->next_s < end_s};
    heap_push(&s->flight, (int64_t)((s->progress + draw_tokens(s)) * UNIT), r);
    s->open += r->is_inside;
    s->sent += r->is_inside;
    s->next_s += rng_exponential(&s->arrivals) / rate;
}

static void finish(struct sim *s)
{
    struct request *r = heap_pop(&s->flight);

    if (!r->is_inside)
        return;
    s->open--;
    s->times_s[s->ended++] = s->now_s - r->due_s;
}

/* To the next arrival or the next end, whichever comes first. */
static void go_on(struct sim *s, double rate, double end_s)
{
    double step_s = STEP_S + STEP_ITEM * (double)s->flight.len;
    double done_s = INFINITY;

    if (s->flight.len > 0)
        done_s =
            s->now_s +
            ((double)heap_first_key(&s->flight) / UNIT - s->progress) * step_s;
    if (s->next_s < done_s) {
        s->progress += (s->next_s - s->now_s) / step_s;
        s->now_s = s->next_s;
        arrive(s, rate, end_s);
    } else {
        s->progress = (double)heap_first_key(&s->flight) / UNIT;
        s->now_s = done_s;
        finish(s);
    }
}

struct result {
    double p99_s;
    double mean_s;
    double load_s;  /* how long the load continued after the window */
    double drain_s; /* until all had ended */
};

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Decides as the engine does, at each arrival and end after the window. */
static struct result run(uint64_t seed, double rate, double cv, double window_s,
                         double most_s)
{
    const struct load_settings load = {.duration_ns = (int64_t)(window_s * 1e9),
                                       .warmup_ns = (int64_t)(WARMUP_S * 1e9),
                                       .cooldown_ns = OPT_AUTO,
                                       .drain_ns = OPT_AUTO};
    struct window_limits limits = window_limits_of(&load);
    struct sim *s = xcalloc(1, sizeof(*s));
    double end_s = WARMUP_S + window_s;
    struct result r = {0};

    s->arrivals = rng_stream(seed, RNG_ARRIVAL);
    s->answers = rng_stream(seed, RNG_SERVICE);
    s->cv = cv;
    s->times_s = xcalloc(MOST, sizeof(*s->times_s));
    s->next_s = rng_exponential(&s->arrivals) / rate;
    while (s->open > 0 || s->next_s < end_s) {
        if (isfinite(s->next_s) && s->next_s >= end_s) {
            if (most_s < UNLIMITED && limits.is_auto)
                window_limits_settle(&limits, s->open, s->sent,
                                     (int64_t)(s->now_s * 1e9));
            if (!limits.is_auto || s->next_s >= end_s + most_s)
                s->next_s = INFINITY;
            else
                r.load_s = s->next_s - end_s;
        }
        go_on(s, rate, end_s);
    }
    r.drain_s = s->now_s - end_s;
    r.load_s = fmin(r.load_s, r.drain_s);
    for (size_t i = 0; i < s->ended; i++)
        r.mean_s += s->times_s[i] / (double)s->ended;
    qsort(s->times_s, s->ended, sizeof(*s->times_s), by_time);
    r.p99_s = s->times_s[(size_t)ceil(0.99 * (double)s->ended) - 1];
    heap_fini(&s->flight);
    free(s->times_s);
    free(s);
    return r;
}

static struct result mean_of(int runs, double rate, double cv, double window_s,
                             double most_s)
{
    struct result sum = {0};

    for (int i = 0; i < runs; i++) {
        struct result r = run((uint64_t)i + 1, rate, cv, window_s, most_s);

        sum.p99_s += r.p99_s / runs;
        sum.mean_s += r.mean_s / runs;
        sum.load_s += r.load_s / runs;
        sum.drain_s += r.drain_s / runs;
    }
    return sum;
}

static void put_row(int runs, double load, double cv, double window_s)
{
    double rate = load / (TOKENS * STEP_ITEM);
    struct result want = mean_of(runs, rate, cv, window_s, UNLIMITED);

    printf("| %s | %.1f | %.0f s | %.1f s | %.0f %% |",
           cv > 0 ? "lognormal" : "fixed", load, window_s, want.p99_s,
           100 * want.p99_s / window_s);
    for (int part = 0; part < 3; part++) {
        struct result r =
            mean_of(runs, rate, cv, window_s, window_s * part / 4);

        printf(" %+.1f %% | %+.1f %% |", 100 * (r.p99_s / want.p99_s - 1),
               100 * (r.mean_s / want.mean_s - 1));
        if (part == 2)
            printf(" %.1f s |", r.load_s);
        if (part != 1)
            printf(" %.1f s |", r.drain_s);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    static const double loads[] = {0.5, 0.8, 0.9};
    static const double windows_s[] = {15, 30, 60, 120};
    int runs = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 100;

    printf("| answers | load | window | p99 | of the window | p99 without | "
           "mean without | ended after | p99, 1/4 | mean, 1/4 | p99, 1/2 | "
           "mean, 1/2 | load for | ended after |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int cv = 0; cv < 2; cv++) {
        for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
            for (size_t k = 0; k < sizeof(windows_s) / sizeof(windows_s[0]);
                 k++)
                put_row(runs, loads[i], cv, windows_s[k]);
        }
    }
    return 0;
}
