/* What recordings of one variant at one value come to together. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/studies/variant_reading.h"
#include "analyzer/studies/variants.h"
#include "common/base/xalloc.h"

#define CONFIDENCE 0.95

/* Those of one variant at one value that count. */
struct group {
    struct reading **list;
    size_t n;
};

static double mean(const struct group *g, enum read_number which)
{
    double sum = 0;

    for (size_t i = 0; i < g->n; i++)
        sum += g->list[i]->x[which];
    return sum / (double)g->n;
}

/* Over runs where there are several, which are independent; else within the
 * one. */
static struct uncertain latency_of(const struct group *g)
{
    double *x;
    struct uncertain u;

    if (g->n == 1)
        return g->list[0]->latency_ns;
    x = xcalloc(g->n, sizeof(*x));
    for (size_t i = 0; i < g->n; i++)
        x[i] = g->list[i]->latency_ns.value >= 0 ? g->list[i]->latency_ns.value
                                                 : INFINITY;
    u = trials_mean_amount(x, g->n, CONFIDENCE);
    if (!isfinite(u.value))
        u.value = HIST_BEYOND;
    free(x);
    return u;
}

/* Over runs. */
static struct uncertain rate_of(const struct group *g, enum read_number which)
{
    double *x = xcalloc(g->n, sizeof(*x));
    struct uncertain u;

    for (size_t i = 0; i < g->n; i++)
        x[i] = g->list[i]->x[which];
    u = trials_mean_amount(x, g->n, CONFIDENCE);
    free(x);
    return u;
}

static struct uncertain goodput_of(const struct group *g)
{
    const struct reading *one = g->list[0];

    if (g->n > 1)
        return rate_of(g, READ_GOODPUT);
    return (struct uncertain){
        one->x[READ_GOODPUT],
        {one->x[READ_OFFERED] * one->attainment_ci95.low,
         one->x[READ_OFFERED] * one->attainment_ci95.high},
        true};
}

/* Of one run: as if what ends came at random, which scatters more than a server
 * that always has something to do. */
static struct uncertain throughput_of(const struct group *g)
{
    const struct reading *one = g->list[0];
    double reach;

    if (g->n > 1)
        return rate_of(g, READ_THROUGHPUT);
    reach = 1.96 * sqrt(one->x[READ_THROUGHPUT] / one->window_s);
    return (struct uncertain){one->x[READ_THROUGHPUT],
                              {fmax(0, one->x[READ_THROUGHPUT] - reach),
                               one->x[READ_THROUGHPUT] + reach},
                              true};
}

static double tail_over(const struct group *g)
{
    double worst = g->list[0]->x[READ_TAIL];

    for (size_t i = 0; i < g->n; i++) {
        if (g->list[i]->x[READ_TAIL] < 0)
            return g->list[i]->x[READ_TAIL];
        worst = fmax(worst, g->list[i]->x[READ_TAIL]);
    }
    return g->n == 1 ? worst : mean(g, READ_TAIL);
}

static enum verdict verdict_of(const struct group *g)
{
    enum verdict verdict = g->list[0]->verdict;

    for (size_t i = 0; i < g->n; i++) {
        if (g->list[i]->verdict == VERDICT_FAIL)
            return VERDICT_FAIL;
        if (g->list[i]->verdict != verdict)
            verdict = VERDICT_UNDECIDED;
    }
    return verdict;
}

static struct server_parts parts_of(const struct group *g)
{
    struct server_parts *list = xcalloc(g->n, sizeof(*list));
    struct server_parts mean_parts;

    for (size_t i = 0; i < g->n; i++)
        list[i] = g->list[i]->parts;
    mean_parts = parts_mean(list, g->n);
    free(list);
    return mean_parts;
}

static void fill_cell(struct variant_cell *c, const struct group *g)
{
    size_t overloaded = 0;

    c->counted = g->n;
    if (g->n == 0)
        return;
    for (size_t i = 0; i < g->n; i++)
        overloaded += g->list[i]->is_overloaded;
    c->latency_ns = latency_of(g);
    c->tail_ns = tail_over(g);
    c->goodput_rps = goodput_of(g);
    c->offered_rps = mean(g, READ_OFFERED);
    c->throughput_rps = throughput_of(g);
    c->attainment = mean(g, READ_ATTAINMENT);
    c->tokens_per_s = mean(g, READ_TOKENS);
    c->usd_per_1000_good = mean(g, READ_USD);
    c->is_overloaded = 2 * overloaded >= g->n;
    c->verdict = verdict_of(g);
    c->parts = parts_of(g);
    if (g->n == 1) {
        c->latencies = g->list[0]->latencies;
        g->list[0]->latencies = (struct latencies){0};
    }
}

static void make_cell(struct variants_summary *s, size_t variant, size_t value,
                      struct readings *all)
{
    struct variant_cell *c = &s->list[variant].cells[value];
    struct group g = {xcalloc(all->n + 1, sizeof(struct reading *)), 0};

    for (size_t i = 0; i < all->n; i++) {
        struct reading *r = &all->list[i];

        if (r->variant != variant || r->value != s->values[value])
            continue;
        c->runs++;
        if (r->counts)
            g.list[g.n++] = r;
    }
    fill_cell(c, &g);
    free((void *)g.list);
}

void readings_make_cells(struct variants_summary *s, struct readings *all)
{
    for (size_t v = 0; v < s->set.n; v++) {
        s->list[v].cells = xcalloc(s->n_values + 1, sizeof(*s->list[v].cells));
        for (size_t i = 0; i < s->n_values; i++)
            make_cell(s, v, i, all);
    }
}
