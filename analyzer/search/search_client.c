#include "analyzer/search/search_client.h"

#include <math.h>
#include <stdlib.h>

#include "common/base/xalloc.h"

#define SECOND 1e9 /* times are computed as doubles */

/* Disturbances a second; bisected so often between these. */
#define RATE_LEAST 1e-6
#define RATE_MOST  1e3
#define HALVINGS   30

/* Of the runs that were set aside, the share in which the client had nothing
 * left: by chance, when a disturbance takes all the time that the load has
 * left; and beyond its limit, near which it may just be late. */
#define SPENT_BY_CHANCE 0.05
#define SPENT_BEYOND    0.5

struct run {
    double value;
    double seconds;
    bool is_disturbed;
    bool is_spent;
};

bool client_is_spent(const struct search_result *r)
{
    return search_is_aside(r, SEARCH_BUSY) ||
           search_is_aside(r, SEARCH_CAPPED) ||
           search_is_aside(r, SEARCH_EXHAUSTED);
}

/* Where nothing was measured, the server may be why. */
static bool is_clients(const struct search_result *r)
{
    return r->set_aside && !search_is_aside(r, SEARCH_UNMEASURED);
}

/* ---- disturbances at a constant rate ---- */

struct range {
    double low;
    double high; /* excluded */
};

static bool is_in(const struct run *run, struct range range)
{
    return run->value >= range.low && run->value < range.high;
}

/* A run of w seconds is not disturbed with the chance exp(-rate w): the log
 * likelihood of a rate, or how that grows with it. */
static double likelihood(const struct run *run, double rate)
{
    return run->is_disturbed ? log(-expm1(-rate * run->seconds))
                             : -rate * run->seconds;
}

static double growth(const struct run *run, double rate)
{
    return run->is_disturbed ? run->seconds / expm1(rate * run->seconds)
                             : -run->seconds;
}

static double sum_of(const struct run *runs, size_t n, struct range range,
                     double (*part)(const struct run *, double), double rate)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        if (is_in(&runs[i], range))
            sum += part(&runs[i], rate);
    return sum;
}

/* Of the likeliest rate.  All or none need no rate to be explained. */
static double best_likelihood(const struct run *runs, size_t n,
                              struct range range)
{
    double low = log(RATE_LEAST);
    double high = log(RATE_MOST);
    size_t all = 0;
    size_t disturbed = 0;

    for (size_t i = 0; i < n; i++) {
        all += is_in(&runs[i], range);
        disturbed += is_in(&runs[i], range) && runs[i].is_disturbed;
    }
    if (disturbed == 0 || disturbed == all)
        return 0;
    for (int k = 0; k < HALVINGS; k++) {
        double middle = (low + high) / 2;

        if (sum_of(runs, n, range, growth, exp(middle)) > 0)
            low = middle;
        else
            high = middle;
    }
    return sum_of(runs, n, range, likelihood, exp(low));
}

/* ---- the limit ---- */

/* Whether it would be disturbed was open for as long as was asked; that it was
 * not is known for as long as it went. */
static double seen_s(const struct search_result *r)
{
    return (double)(r->set_aside ? r->asked_ns : r->window_ns) / SECOND;
}

/* What there is to explain.  From a limit on, runs in a row that were set aside
 * may share one disturbance, and the first stands for all until something has
 * gone well. */
static size_t list_runs(const struct search *s, double limit, struct run *runs)
{
    bool is_same = false;
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];
        bool is_beyond = r->set_aside && r->value >= limit;

        if ((r->set_aside && !is_clients(r)) || seen_s(r) <= 0 ||
            (is_beyond && is_same))
            continue;
        is_same = r->set_aside && (is_same || is_beyond);
        runs[n++] = (struct run){.value = r->value,
                                 .seconds = seen_s(r),
                                 .is_disturbed = r->set_aside,
                                 .is_spent = client_is_spent(r)};
    }
    return n;
}

/* Is most disturbed from the limit on, and a smaller part of what is below? */
static bool is_limit(const struct run *runs, size_t n, double limit)
{
    double all[2] = {0}; /* below, and from it on */
    double disturbed[2] = {0};

    for (size_t i = 0; i < n; i++) {
        all[runs[i].value >= limit]++;
        disturbed[runs[i].value >= limit] += runs[i].is_disturbed;
    }
    return 2 * disturbed[1] > all[1] && disturbed[0] < all[0] &&
           disturbed[0] * all[1] < disturbed[1] * all[0];
}

/* How much worse chance explains who had nothing left from the limit on; there
 * are limits at which a client is never busy, so it is at most 1. */
static double spent_by_chance(const struct run *runs, size_t n, double limit)
{
    double chance = 1;

    for (size_t i = 0; i < n; i++) {
        if (!runs[i].is_disturbed || runs[i].value < limit)
            continue;
        chance *= runs[i].is_spent ? SPENT_BY_CHANCE / SPENT_BEYOND
                                   : (1 - SPENT_BY_CHANCE) / (1 - SPENT_BEYOND);
    }
    return fmin(chance, 1);
}

/* How much worse a single rate explains it than one below and one from the
 * limit on; INFINITY: it is none. */
static double chance_of(const struct search *s, double limit, struct run *runs)
{
    size_t n = list_runs(s, limit, runs);

    if (!is_limit(runs, n, limit))
        return INFINITY;
    return spent_by_chance(runs, n, limit) *
           exp(best_likelihood(runs, n, (struct range){0, INFINITY}) -
               best_likelihood(runs, n, (struct range){0, limit}) -
               best_likelihood(runs, n, (struct range){limit, INFINITY}));
}

/* Of equal ones the lowest. */
static void find_limit(struct evidence *e, const struct search *s)
{
    struct run *runs = xcalloc(s->n + 1, sizeof(*runs));

    e->client_chance = INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        double limit = s->results[i].value;
        double chance =
            is_clients(&s->results[i]) ? chance_of(s, limit, runs) : INFINITY;

        if (chance < e->client_chance ||
            (isfinite(chance) && chance <= e->client_chance &&
             limit < e->client)) {
            e->client_chance = chance;
            e->client = limit;
        }
    }
    free(runs);
}

void client_take(struct evidence *e, const struct search *s)
{
    find_limit(e, s);
    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->results[i];

        e->beyond_client += is_clients(r) && r->value >= e->client;
        if (!r->set_aside && r->value < e->client)
            e->reached = fmax(e->reached, r->value);
    }
}
