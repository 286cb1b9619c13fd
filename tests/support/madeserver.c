#include "tests/support/madeserver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "common/base/err.h"

#define NS        1e9
#define RUNS_MOST 120
#define WANDER_S  30.0

struct madeserver madeserver_of(double capacity, double slope, uint64_t seed)
{
    return (struct madeserver){.capacity = {capacity, INFINITY},
                               .slope = slope,
                               .rng = rng_stream(seed, RNG_PROBE)};
}

struct slo madeserver_slo(size_t terms)
{
    static const char *const texts[MADE_TERMS] = {"e2e p99 < 50ms",
                                                  "errors < 0.1%"};
    struct slo slo = {.len = terms};
    struct err err = {0};

    for (size_t i = 0; i < terms && i < MADE_TERMS; i++)
        assert_int_equal(slo_parse_term(texts[i], &slo.terms[i], &err), 0);
    return slo;
}

/* Many are drawn from the normal distribution that they come near to, rare ones
 * by the gaps between them. */
static int64_t draw_binomial(struct rng *rng, int64_t n, double p)
{
    double mean = (double)n * p;
    double deviation = sqrt(mean * (1 - p));
    double at = 0;
    int64_t hits = 0;

    if (p <= 0 || p >= 1)
        return p <= 0 ? 0 : n;
    if (deviation > 20)
        return llround(
            fmin((double)n, fmax(0, mean + deviation * rng_normal(rng))));
    for (;;) {
        at += ceil(log(rng_uniform(rng)) / log1p(-p));
        if (at > (double)n)
            return hits;
        hits++;
    }
}

static double share_of(struct madeserver *m, double value, size_t term,
                       double allowed)
{
    double capacity = m->capacity[term];
    double share;

    if (m->worse_from > 0 && m->runs > m->worse_from && term == 0)
        capacity = m->worse;
    if (m->slope <= 0)
        return value > capacity ? 0.9 : m->least * allowed;
    share = allowed * pow(value / capacity, m->slope) *
            exp(m->scatter * rng_normal(&m->rng));
    return fmin(0.99, fmax(share, m->least * allowed));
}

static void count(struct madeserver *m, struct search_counts *c, double n,
                  double share)
{
    c->n_slices = SEARCH_SLICES;
    for (size_t i = 0; i < SEARCH_SLICES; i++) {
        struct batch *b = &c->slices[i];

        b->n = llround(n * (double)(i + 1) / SEARCH_SLICES) -
               llround(n * (double)i / SEARCH_SLICES);
        b->hits = draw_binomial(&m->rng, b->n, share);
        c->n += b->n;
        c->misses += b->hits;
    }
}

/* The longer a run is, the more often something comes in between. */
static bool is_disturbed(struct madeserver *m, const struct search_ask *ask)
{
    double turns = (double)ask->window_ns / NS / 5;

    if (m->disturbed <= 0)
        return false;
    if (m->runs < m->disturbed_until)
        return true;
    if (rng_uniform(&m->rng) < pow(1 - m->disturbed, turns))
        return false;
    m->disturbed_until = m->runs + m->disturbed_for;
    return true;
}

/* What goes up and down with time comes back to its mean within WANDER_S. */
static double wander(struct madeserver *m, const struct search_ask *ask)
{
    double kept = exp(-(double)ask->window_ns / NS / WANDER_S);

    m->wandered =
        kept * m->wandered + sqrt(1 - kept * kept) * rng_normal(&m->rng);
    return exp(m->client_wander * m->wandered);
}

static bool is_beyond_client(struct madeserver *m, const struct search_ask *ask)
{
    bool is_long = ask->window_ns > 10 * (int64_t)NS;
    double limit = is_long && m->client_long > 0 ? m->client_long : m->client;

    if (limit > 0 && m->client_blur > 0)
        limit *= pow(1 / rng_uniform(&m->rng) - 1, 1 / m->client_blur);
    if (limit > 0 && m->client_wander > 0)
        limit *= wander(m, ask);
    return limit > 0 && ask->value > limit;
}

/* The check that sets the run aside, or NULL. */
static const char *aside_by(struct madeserver *m, const struct search_ask *ask,
                            bool is_aside)
{
    if (is_beyond_client(m, ask))
        return m->client_aside ? m->client_aside : "lag";
    if (!is_aside)
        return NULL;
    return rng_uniform(&m->rng) < m->disturbed_busy ? SEARCH_BUSY : "lag";
}

/* All clients are answered at once. */
static void look(const struct search_ask *ask, double answer_s,
                 struct search_result *r)
{
    double rate = ask->value / answer_s;

    *r = (struct search_result){.step = ask->step,
                                .value = ask->value,
                                .throughput_rps = rate,
                                .took_ns =
                                    llround((double)ask->requests / rate * NS),
                                .requests = ask->requests};
}

void madeserver_run(struct madeserver *m, const struct search *s,
                    const struct search_ask *ask, struct search_result *r)
{
    double answer_s = m->answer_s > 0 ? m->answer_s : 0.01;
    double rate =
        s->config.by == SEARCH_RATE ? ask->value : ask->value / answer_s;
    double n = rate * (double)ask->window_ns / NS;
    bool is_flap = rng_uniform(&m->rng) < m->flapping;
    bool is_aside = is_disturbed(m, ask);

    if (ask->step == SEARCH_LOOK) {
        look(ask, answer_s, r);
        return;
    }
    m->runs++;
    m->max_value = fmax(m->max_value, ask->value);
    *r = (struct search_result){
        .step = ask->step,
        .value = ask->value,
        .offered_rps = rate,
        .warmup_ns = ask->warmup_ns,
        .asked_ns = ask->window_ns,
        .window_ns = ask->window_ns,
        .took_ns = ask->warmup_ns + ask->window_ns + llround(m->extra_s * NS),
        .requests = llround(n),
        .answer_ns = m->drowns && ask->value > m->capacity[0]
                         ? 0
                         : llround(answer_s * NS),
        .discarded = aside_by(m, ask, is_aside),
        .n_terms = s->config.slo->len};
    for (size_t i = 0; i < r->n_terms; i++) {
        double allowed = slo_allowed(&s->config.slo->terms[i]);
        double share = share_of(m, ask->value, i, allowed);

        if (is_aside)
            share = rng_uniform(&m->rng);
        count(m, &r->terms[i], n, is_flap ? 1 : share);
    }
}

struct search_ask madeserver_next(const struct search *s)
{
    struct search_ask ask;

    search_next(s, &ask);
    return ask;
}

void madeserver_feed(struct search *s, struct madeserver *m, const char *aside)
{
    struct search_ask ask = madeserver_next(s);
    struct search_result r;

    madeserver_run(m, s, &ask, &r);
    if (aside)
        r.discarded = aside;
    search_feed(s, &r);
}

void madeserver_search(struct madeserver *m, const struct search_config *config,
                       struct search *s, struct search_answer *a)
{
    struct search_ask ask;

    search_init(s, config);
    for (search_next(s, &ask); ask.step != SEARCH_DONE; search_next(s, &ask)) {
        struct search_result r;

        assert_true(ask.value > 0 && isfinite(ask.value));
        assert_true(ask.window_ns > 0);
        assert_true(ask.warmup_ns > 0 || ask.step == SEARCH_LOOK);
        assert_true(m->runs < RUNS_MOST);
        madeserver_run(m, s, &ask, &r);
        search_feed(s, &r);
    }
    search_answer(s, a);
    assert_true(a->why[0] != '\0');
}

void madeserver_answer(struct madeserver *m, struct search_config config,
                       struct search_answer *a)
{
    struct slo slo = madeserver_slo(1);
    struct search s;

    if (config.slo == NULL)
        config.slo = &slo;
    madeserver_search(m, &config, &s, a);
    search_fini(&s);
    a->binding = NULL; /* it was the slo's */
}
