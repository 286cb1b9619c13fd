#include "tests/support/simprobe.h"

#include <math.h>
#include <string.h>

#define NS 1e9

struct simqueue simqueue_start(const struct simserver *server, double rate_rps,
                               uint64_t seed)
{
    return (struct simqueue){.server = server,
                             .rate_rps = rate_rps,
                             .arrivals = rng_stream(seed, RNG_ARRIVAL),
                             .services = rng_stream(seed, RNG_SERVICE)};
}

static double arrive(struct simqueue *q)
{
    double due = q->now;

    q->now +=
        (q->server->kind == SIM_CLIFF ? 1 : rng_exponential(&q->arrivals)) /
        q->rate_rps;
    return due;
}

static double serve_one(struct simqueue *q, double *due)
{
    double service = q->server->service_s;

    if (q->server->kind == SIM_MM1)
        service *= rng_exponential(&q->services);
    *due = arrive(q);
    if (q->server->kind == SIM_CLIFF)
        return q->rate_rps > q->server->capacity ? 2 * q->server->limit_s
                                                 : service;
    q->free_at = fmax(q->free_at, *due) + service;
    return q->free_at - *due;
}

/* Arrivals do not depend on the server: as many are drawn as a batch holds. */
static void take_batch(struct simqueue *q)
{
    const struct simserver *s = q->server;
    double start;

    q->drawn -= q->in_batch;
    memmove(q->due, q->due + q->in_batch, q->drawn * sizeof(*q->due));
    while (q->drawn < s->batch)
        q->due[q->drawn++] = arrive(q);
    start =
        fmax(q->free_at, fmin(q->due[s->batch - 1], q->due[0] + s->delay_s));
    q->told = 0;
    q->in_batch = 0;
    while (q->in_batch < s->batch && q->due[q->in_batch] <= start)
        q->in_batch++;
    q->free_at = start + s->service_s + s->each_s * (double)q->in_batch;
}

double simqueue_next(struct simqueue *q, double *due)
{
    if (q->server->kind != SIM_BATCHING)
        return serve_one(q, due);
    if (q->told == q->in_batch)
        take_batch(q);
    *due = q->due[q->told++];
    return q->free_at - *due;
}

/* ---- probes ---- */

/* Seconds of the window are over at `now`. */
static void end_at(struct search_result *r, const struct search_ask *ask,
                   double seconds)
{
    struct search_counts *c = &r->terms[0];
    double slices = seconds * NS / (double)ask->window_ns * SEARCH_SLICES;

    r->window_ns = llround(seconds * NS);
    r->took_ns = r->warmup_ns + r->window_ns;
    r->offered_rps = (double)c->n / seconds;
    c->n_slices = (size_t)fmin(SEARCH_SLICES, ceil(slices - 1e-9));
}

static void count(struct search_counts *c, double at, double is_missed)
{
    size_t slice = (size_t)fmin(at * SEARCH_SLICES, SEARCH_SLICES - 1);

    c->n++;
    c->misses += is_missed > 0;
    c->slices[slice].n++;
    c->slices[slice].hits += is_missed > 0;
}

/* Each client has its turn again when its answer is there; a cliff answers all
 * at once, the others one after the other. */
static void look(const struct simserver *server, const struct search_ask *ask,
                 uint64_t seed, struct search_result *r)
{
    struct rng services = rng_stream(seed, RNG_SERVICE);
    double work = 0;

    for (int64_t i = 0; i < ask->requests; i++)
        work += server->kind == SIM_MM1
                    ? server->service_s * rng_exponential(&services)
                    : server->service_s;
    if (server->kind == SIM_BATCHING)
        work = (double)ask->requests *
               (server->service_s / (double)server->batch + server->each_s);
    if (server->kind == SIM_CLIFF)
        work /= ask->value;
    r->requests = ask->requests;
    r->window_ns = llround(work * NS);
    r->took_ns = r->window_ns;
    r->throughput_rps = (double)ask->requests / work;
}

/* What has been missed is known when a request is as old as its limit, which is
 * short against the second between two looks. */
void simprobe_run(const struct simserver *server, const struct search *s,
                  const struct search_ask *ask, uint64_t seed,
                  struct search_result *result)
{
    struct simqueue q = simqueue_start(server, ask->value, seed);
    double warmup = (double)ask->warmup_ns / NS;
    double window = (double)ask->window_ns / NS;
    struct rng rng = rng_stream(seed, RNG_PROBE);
    bool is_flap = rng_uniform(&rng) < server->flapping;
    double next = 1;
    double times = 0;
    double due;

    *result = (struct search_result){.step = ask->step,
                                     .value = ask->value,
                                     .warmup_ns = ask->warmup_ns,
                                     .asked_ns = ask->window_ns,
                                     .n_terms = 1};
    if (ask->step == SEARCH_LOOK) {
        look(server, ask, seed, result);
        return;
    }
    if (server->client > 0 && ask->value > server->client)
        result->discarded = "lag";
    for (;;) {
        double time = simqueue_next(&q, &due);

        if (is_flap)
            time = server->limit_s;
        if (due >= warmup + window)
            break;
        result->requests++;
        if (due < warmup)
            continue;
        times += time;
        count(&result->terms[0], (due - warmup) / window,
              time >= server->limit_s);
        if (!ask->may_end_early || due - warmup < next)
            continue;
        end_at(result, ask, due - warmup);
        result->ended_early = search_is_hopeless(s, result);
        if (result->ended_early)
            break;
        next = floor(due - warmup) + 1;
    }
    if (!result->ended_early)
        end_at(result, ask, window);
    if (result->terms[0].n > 0)
        result->answer_ns = llround(times / (double)result->terms[0].n * NS);
}

double simprobe_share(const struct simserver *server, double rate_rps,
                      double seconds, uint64_t seed, int64_t *requests)
{
    struct simqueue q = simqueue_start(server, rate_rps, seed);
    double warmup = seconds / 10;
    int64_t n = 0;
    int64_t misses = 0;
    double due = 0;

    while (due < seconds) {
        double time = simqueue_next(&q, &due);

        ++*requests;
        n += due >= warmup;
        misses += due >= warmup && time >= server->limit_s;
    }
    return (double)misses / (double)n;
}

double simprobe_scan(const struct simserver *server, double allowed, double low,
                     double high, double seconds)
{
    int64_t ignored = 0;

    while (high - low > 1e-4 * low) {
        double middle = (low + high) / 2;

        if (simprobe_share(server, middle, seconds, 1, &ignored) > allowed)
            high = middle;
        else
            low = middle;
    }
    return (low + high) / 2;
}
