/* How often studies of simulated servers, in virtual time, call equal variants
 * different, and how often they find one that is 5 % slower: the tables of
 * docs/studies.md.  Usage: bench_variants [STUDIES [TABLE]]
 * TABLE: equal, slower, latency, special, within or searches; else all. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/search/search.h"
#include "analyzer/stats/order_stats.h"
#include "analyzer/studies/variants.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "tests/support/simprobe.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define STUDIES  4000
#define MOST     6  /* variants */
#define ROUNDS   10 /* at most */
#define SMALLEST 0.02
#define SLOWER   1.05
#define SEEDS    1000 /* a search */

static const size_t sizes[] = {2, 3, 4, MOST};
static const size_t rounds[] = {3, 5, 7, ROUNDS};

enum ranked { P50, P99, MEAN, ATTAINMENT, RANKED };
static const char *const ranked_names[] = {"p50", "p99", "mean", "attainment"};

static const struct model {
    const char *name;
    struct simserver server;
    double capacity_rps;
} models[] = {
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

enum { MM1, MD1, BATCHING };

/* ---- runs ---- */

/* How a run is made. */
struct plan {
    struct simserver server;
    double rate_rps;
    size_t n; /* requests, after a warm-up of a tenth of that */
    double limit_s;
};

struct made {
    double p50;
    double p99;
    double mean;
    double good;
    struct variant_run run; /* with its parts, if asked for */
};

static double quantile(const double *times, size_t n, double q)
{
    double *room = xcalloc(n + 1, sizeof(*room));
    double found;

    memcpy(room, times, n * sizeof(*times));
    found = order_quantile(room, n, q);
    free(room);
    return found;
}

static struct variant_values part_values(const double *times, size_t n)
{
    return (struct variant_values){.slo_share = quantile(times, n, 0.99),
                                   .median_ns = quantile(times, n, 0.5),
                                   .due = (double)n,
                                   .good = (double)n,
                                   .throughput_rps = 1};
}

static void make_parts(const double *times, const double *dues, size_t n,
                       struct variant_run *run)
{
    double sums[VARIANTS_BINS] = {0};
    double counts[VARIANTS_BINS] = {0};
    double start = dues[0];
    double length = (dues[n - 1] - start) * (1 + 1e-9);

    for (size_t i = 0; i < n; i++) {
        size_t bin = (size_t)((dues[i] - start) / length * VARIANTS_BINS);

        sums[bin] += times[i];
        counts[bin]++;
    }
    for (size_t i = 0; i < VARIANTS_BINS; i++)
        sums[i] /= counts[i];
    run->has_parts = true;
    run->are_parts_apart = variants_parts_are_apart(sums);
    for (size_t p = 0; p < VARIANTS_PARTS; p++) {
        size_t from = n * p / VARIANTS_PARTS;

        run->parts[p] =
            part_values(times + from, n * (p + 1) / VARIANTS_PARTS - from);
    }
}

static struct made make_run(const struct plan *p, uint64_t arrivals,
                            uint64_t services, bool has_parts)
{
    static double *times;
    static double *dues;
    struct simqueue q = simqueue_start(&p->server, p->rate_rps, arrivals);
    struct made m = {0};

    times = xrealloc(times, p->n, sizeof(*times));
    dues = xrealloc(dues, p->n, sizeof(*dues));
    q.services = rng_stream(services, RNG_SERVICE);
    for (size_t i = 0; i < p->n / 10; i++)
        simqueue_next(&q, dues);
    for (size_t i = 0; i < p->n; i++) {
        times[i] = simqueue_next(&q, &dues[i]);
        m.mean += times[i] / (double)p->n;
        m.good += times[i] < p->limit_s;
    }
    m.p50 = quantile(times, p->n, 0.5);
    m.p99 = quantile(times, p->n, 0.99);
    if (has_parts)
        make_parts(times, dues, p->n, &m.run);
    return m;
}

/* A quantile of one long run. */
static double long_run(const struct simserver *server, double rate_rps,
                       double q)
{
    const struct plan p = {*server, rate_rps, 1000000, 0};
    struct made m = make_run(&p, 1, 2, false);

    return q == 0.99 ? m.p99 : m.p50;
}

static struct simserver slowed(const struct simserver *server, double by)
{
    struct simserver s = *server;

    s.service_s *= by;
    s.each_s *= by;
    return s;
}

/* How much longer service must take for this quantile to be `by` longer. */
static double slowdown(const struct simserver *server, double rate_rps,
                       double q, double by)
{
    double want = long_run(server, rate_rps, q) * by;
    double low = 1;
    double high = by;

    for (int i = 0; i < 12; i++) {
        double middle = (low + high) / 2;
        struct simserver s = slowed(server, middle);

        if (long_run(&s, rate_rps, q) > want)
            high = middle;
        else
            low = middle;
    }
    return (low + high) / 2;
}

/* ---- studies ---- */

/* The runs of one study, of which smaller ones take a part. */
struct study {
    struct made runs[MOST][ROUNDS];
    struct variant_run rounds[MOST][ROUNDS];
    struct variant_cell cells[MOST];
    struct variant list[MOST];
    struct variants_summary s;
};

/* As if this were the measure of the SLO. */
static void show(struct study *st, enum ranked by, size_t n, size_t b,
                 const struct plan *p)
{
    st->s = (struct variants_summary){.list = st->list,
                                      .set = {.n = n},
                                      .n_values = 1,
                                      .smallest = SMALLEST,
                                      .has_slo = by != P50,
                                      .quantile =
                                          by == P99 || by == MEAN ? 0.99 : 0};
    for (size_t v = 0; v < n; v++) {
        for (size_t r = 0; r < b; r++) {
            const struct made *m = &st->runs[v][r];
            struct variant_run *to = &st->rounds[v][r];

            *to = m->run;
            to->round = r;
            to->all = (struct variant_values){.slo_share =
                                                  by == MEAN ? m->mean : m->p99,
                                              .median_ns = m->p50,
                                              .due = (double)p->n,
                                              .good = m->good,
                                              .throughput_rps = p->rate_rps};
        }
        st->cells[v] = (struct variant_cell){
            .runs = b, .counted = b, .rounds = st->rounds[v]};
        st->list[v] = (struct variant){.cells = &st->cells[v]};
    }
}

/* Outcomes of studies. */
struct counts {
    int told; /* equal ones, apart */
    int found;
    int wrong; /* the slower one is called faster */
};

/* `is_equal` says which pairs are. */
static void count(struct study *st, bool (*is_equal)(size_t a, size_t b),
                  struct counts *c)
{
    bool is_told = false;

    variants_rank(&st->s, VARIANTS_CONFIDENCE);
    for (size_t a = 0; a < st->s.set.n; a++) {
        for (size_t b = a + 1; b < st->s.set.n; b++)
            is_told |= is_equal(a, b) &&
                       variants_standing(&st->s, 0, a, b) != STANDING_UNKNOWN;
    }
    c->told += is_told;
    if (!is_equal(0, 1)) {
        enum standing s = variants_standing(&st->s, 0, 0, 1);

        c->found += s == STANDING_AHEAD;
        c->wrong += s == STANDING_BEHIND;
    }
    variants_ranking_fini(&st->s.rankings[0]);
    free(st->s.rankings);
}

static bool all_are_equal(size_t a, size_t b)
{
    (void)a;
    (void)b;
    return true;
}

static bool all_but_the_second(size_t a, size_t b)
{
    return a != 1 && b != 1;
}

static bool the_last_two(size_t a, size_t b)
{
    return a == MOST - 2 && b == MOST - 1;
}

/* Each variant as its plan says, in every round. */
static void make_rounds(struct study *st, const struct plan *const plans[MOST],
                        bool has_same_arrivals, uint64_t *seed)
{
    for (size_t r = 0; r < ROUNDS; r++) {
        uint64_t arrivals = (*seed)++;

        for (size_t v = 0; v < MOST; v++) {
            uint64_t own = (*seed)++;

            st->runs[v][r] = make_run(
                plans[v],
                has_same_arrivals ? arrivals : own + ((uint64_t)1 << 40), own,
                false);
        }
    }
}

/* ---- equal, and one that is slower ---- */

struct table {
    struct counts of[RANKED][COUNT(sizes)][COUNT(rounds)];
};

/* One study in all sizes, by all measures. */
static void count_all(struct table *t, struct study *st, const struct plan *p,
                      bool has_slower)
{
    for (size_t i = 0; i < RANKED * COUNT(sizes) * COUNT(rounds); i++) {
        enum ranked by = (enum ranked)(i / COUNT(sizes) / COUNT(rounds));
        size_t k = i / COUNT(rounds) % COUNT(sizes);
        size_t b = i % COUNT(rounds);

        show(st, by, sizes[k], rounds[b], p);
        count(st, has_slower ? all_but_the_second : all_are_equal,
              &t->of[by][k][b]);
    }
}

static void fill(struct table *t, const struct plan *const plans[MOST],
                 bool has_same_arrivals, bool has_slower, int studies)
{
    struct study *st = xcalloc(1, sizeof(*st));
    uint64_t seed = 1;

    *t = (struct table){0};
    for (int i = 0; i < studies; i++) {
        make_rounds(st, plans, has_same_arrivals, &seed);
        count_all(t, st, plans[0], has_slower);
    }
    free(st);
}

static void print_head(const char *what)
{
    printf("\n%s, in %% of studies, of 2, 3, 4 and 6 variants\n\n"
           "| server, load, requests per run | ranked by |",
           what);
    for (size_t b = 0; b < COUNT(rounds); b++)
        printf(" %zu rounds |", rounds[b]);
    printf("\n|---|---|---|---|---|---|\n");
}

static void print_row(const char *name, const struct table *t, enum ranked by,
                      bool has_slower, int studies)
{
    int wrong = 0;

    printf("| %s | %s |", name, ranked_names[by]);
    for (size_t b = 0; b < COUNT(rounds); b++) {
        for (size_t k = 0; k < COUNT(sizes); k++) {
            const struct counts *c = &t->of[by][k][b];

            printf("%s %.1f", k ? "," : "",
                   100.0 * (has_slower ? c->found : c->told) / studies);
            wrong = c->wrong > wrong ? c->wrong : wrong;
        }
        printf(" |");
    }
    printf("\n");
    if (wrong > 0)
        printf("(the slower one was called faster in up to %.1f %%)\n",
               100.0 * wrong / studies);
    fflush(stdout);
}

static struct plan plan_of(const struct model *m, double load, size_t n)
{
    struct plan p = {m->server, load * m->capacity_rps, n, 0};
    const struct plan all = {m->server, p.rate_rps, 200000, 0};
    double *times = xcalloc(all.n, sizeof(*times));
    struct simqueue q = simqueue_start(&m->server, p.rate_rps, 3);
    double due;

    for (size_t i = 0; i < all.n; i++)
        times[i] = simqueue_next(&q, &due);
    p.limit_s = order_quantile(times, all.n, 0.95);
    free(times);
    return p;
}

static void equal(int studies)
{
    static const struct {
        const char *name;
        size_t model;
        double load;
        size_t n;
        bool has_same_arrivals;
    } cases[] = {
        {"M/M/1, load 0.8, 3,000", MM1, 0.8, 3000, true},
        {"M/M/1, load 0.9, 1,000", MM1, 0.9, 1000, true},
        {"M/D/1, load 0.8, 3,000", MD1, 0.8, 3000, false},
        {"batching, load 0.8, 3,000", BATCHING, 0.8, 3000, false},
    };
    struct table *t = xcalloc(1, sizeof(*t));

    print_head("Equal servers: any two are told apart (no difference is shown "
               "in the rest)");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct plan p =
            plan_of(&models[cases[i].model], cases[i].load, cases[i].n);
        const struct plan *const plans[] = {&p, &p, &p, &p, &p, &p};

        fill(t, plans, cases[i].has_same_arrivals, false, studies);
        for (int by = 0; by < RANKED; by++)
            print_row(cases[i].name, t, (enum ranked)by, false, studies);
    }
    free(t);
}

/* A study with one server that is slower. */
struct slower {
    const char *name;
    size_t model;
    double load;
    size_t n;
    int share;      /* of the studies: one in so many */
    enum ranked by; /* RANKED: all */
};

static void print_slower(const struct slower *c, double by, int studies)
{
    struct plan p = plan_of(&models[c->model], c->load, c->n);
    struct plan slow = p;
    const struct plan *const plans[] = {&p, &slow, &p, &p, &p, &p};
    struct table *t = xcalloc(1, sizeof(*t));

    slow.server = slowed(&p.server, by);
    fill(t, plans, true, true, studies / c->share);
    for (int k = 0; k < RANKED; k++) {
        if (c->by == RANKED || (int)c->by == k)
            print_row(c->name, t, (enum ranked)k, true, studies / c->share);
    }
    free(t);
}

static void slower(int studies)
{
    static const struct slower cases[] = {
        {"M/M/1, load 0.8, 3,000", MM1, 0.8, 3000, 2, RANKED},
        {"M/M/1, load 0.8, 10,000", MM1, 0.8, 10000, 4, RANKED},
        {"M/M/1, load 0.8, 30,000", MM1, 0.8, 30000, 8, RANKED},
        {"M/D/1, load 0.8, 3,000", MD1, 0.8, 3000, 8, RANKED},
        {"batching, load 0.8, 3,000", BATCHING, 0.8, 3000, 8, RANKED},
    };

    print_head("One server whose service takes 5 % longer: it is found (no "
               "difference is shown in the rest)");
    for (size_t i = 0; i < COUNT(cases); i++)
        print_slower(&cases[i], SLOWER, studies);
}

/* The quantile itself is 5 % longer, which is far less than 5 % of service. */
static void latency(int studies)
{
    static const struct slower cases[] = {
        {"M/M/1, load 0.5, 30,000", MM1, 0.5, 30000, 10, P50},
        {"M/M/1, load 0.5, 100,000", MM1, 0.5, 100000, 10, P99},
        {"M/M/1, load 0.8, 100,000", MM1, 0.8, 100000, 10, P50},
        {"M/D/1, load 0.8, 30,000", MD1, 0.8, 30000, 10, P99},
        {"batching, load 0.8, 30,000", BATCHING, 0.8, 30000, 10, P99},
    };

    print_head("One server whose quantile is 5 % longer: it is found (no "
               "difference is shown in the rest)");
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct model *m = &models[cases[i].model];
        double by = slowdown(&m->server, cases[i].load * m->capacity_rps,
                             cases[i].by == P99 ? 0.99 : 0.5, SLOWER);

        print_slower(&cases[i], by, studies);
    }
}

/* ---- special cases ---- */

static void print_special(const char *name, enum ranked by, int told[],
                          int studies)
{
    printf("| %s | %s |", name, ranked_names[by]);
    for (size_t b = 0; b < COUNT(rounds); b++)
        printf(" %.1f |", 100.0 * told[b] / studies);
    printf("\n");
    fflush(stdout);
}

/* Two that vary, four that hardly do: only the two are equal. */
static void unequal_scatter(int studies)
{
    struct plan steady = plan_of(&models[MD1], 0.8, 3000);
    struct plan varied = plan_of(&models[MM1], 0.8, 3000);
    const struct plan *const plans[] = {&steady, &steady, &steady,
                                        &steady, &varied, &varied};
    struct study *st = xcalloc(1, sizeof(*st));
    int told[RANKED][COUNT(rounds)] = {0};
    uint64_t seed = 1;

    for (int i = 0; i < studies; i++) {
        make_rounds(st, plans, true, &seed);
        for (int by = 0; by < RANKED; by++) {
            for (size_t b = 0; b < COUNT(rounds); b++) {
                struct counts c = {0};

                show(st, (enum ranked)by, MOST, rounds[b], &steady);
                count(st, the_last_two, &c);
                told[by][b] += c.told;
            }
        }
    }
    for (int by = 0; by < RANKED; by++)
        print_special("two of six vary, four hardly do", (enum ranked)by,
                      told[by], studies);
    free(st);
}

/* Each start of a server is fast or a tenth slower, at random. */
static void two_modes(int studies)
{
    struct plan fast = plan_of(&models[MM1], 0.5, 3000);
    struct plan slow = fast;
    struct study *st = xcalloc(1, sizeof(*st));
    int told[RANKED][COUNT(rounds)] = {0};
    uint64_t seed = 1;
    struct rng rng = rng_stream(7, RNG_CLASS);

    slow.server = slowed(&fast.server, 1.1);
    for (int i = 0; i < studies; i++) {
        for (size_t r = 0; r < ROUNDS; r++) {
            uint64_t arrivals = seed++;

            for (size_t v = 0; v < 4; v++)
                st->runs[v][r] =
                    make_run(rng_uniform(&rng) < 0.5 ? &slow : &fast, arrivals,
                             seed++, false);
        }
        for (int by = 0; by < RANKED; by++) {
            for (size_t b = 0; b < COUNT(rounds); b++) {
                struct counts c = {0};

                show(st, (enum ranked)by, 4, rounds[b], &fast);
                count(st, all_are_equal, &c);
                told[by][b] += c.told;
            }
        }
    }
    for (int by = 0; by < RANKED; by++)
        print_special("four, whose starts are fast or 10 % slower",
                      (enum ranked)by, told[by], studies);
    free(st);
}

/* Two servers of different kinds with the same quantile. */
static void same_quantile(int studies, enum ranked by)
{
    double q = by == P99 ? 0.99 : 0.5;
    struct plan p = plan_of(&models[MM1], 0.8, 10000);
    struct plan other = p;
    double want = long_run(&p.server, p.rate_rps, q);
    double low = 0.001;
    double high = 0.00249;
    struct study *st = xcalloc(1, sizeof(*st));
    int told[COUNT(rounds)] = {0};
    uint64_t seed = 1;

    other.server = models[MD1].server;
    for (int i = 0; i < 20; i++) {
        other.server.service_s = (low + high) / 2;
        if (long_run(&other.server, p.rate_rps, q) > want)
            high = other.server.service_s;
        else
            low = other.server.service_s;
    }
    for (int i = 0; i < studies; i++) {
        for (size_t r = 0; r < ROUNDS; r++) {
            uint64_t arrivals = seed++;

            st->runs[0][r] = make_run(&p, arrivals, seed++, false);
            st->runs[1][r] = make_run(&other, arrivals, seed++, false);
        }
        for (size_t b = 0; b < COUNT(rounds); b++) {
            struct counts c = {0};

            show(st, by, 2, rounds[b], &p);
            count(st, all_are_equal, &c);
            told[b] += c.told;
        }
    }
    print_special("M/M/1 and M/D/1 with the same quantile, 10,000", by, told,
                  studies);
    free(st);
}

static void special(int studies)
{
    printf("\nSpecial cases: studies in %% that tell equal ones apart\n\n"
           "| | ranked by |");
    for (size_t b = 0; b < COUNT(rounds); b++)
        printf(" %zu rounds |", rounds[b]);
    printf("\n|---|---|---|---|---|---|\n");
    unequal_scatter(studies);
    two_modes(studies);
    same_quantile(studies / 2, P50);
    same_quantile(studies / 2, P99);
}

/* ---- one run each ---- */

static void within_of(double load, size_t n, enum ranked by, int studies)
{
    static const size_t some[] = {2, 4};
    struct plan p = plan_of(&models[MM1], load, n);
    struct plan slow = p;
    struct study *st = xcalloc(1, sizeof(*st));
    uint64_t seed = 1;
    int told[COUNT(some)] = {0};
    int found[COUNT(some)] = {0};
    int too_short = 0;

    slow.server = slowed(&p.server, SLOWER);
    for (int i = 0; i < studies; i++) {
        uint64_t arrivals = seed++;
        struct made first;

        for (size_t v = 0; v < 4; v++)
            st->runs[v][0] = make_run(&p, arrivals, seed++, true);
        too_short += !st->runs[0][0].run.are_parts_apart;
        for (size_t k = 0; k < COUNT(some); k++) {
            struct counts c = {0};

            show(st, by, some[k], 1, &p);
            count(st, all_are_equal, &c);
            told[k] += c.told;
        }
        first = st->runs[1][0];
        st->runs[1][0] = make_run(&slow, arrivals, seed++, true);
        for (size_t k = 0; k < COUNT(some); k++) {
            struct counts c = {0};

            show(st, by, some[k], 1, &p);
            count(st, all_but_the_second, &c);
            found[k] += c.found;
        }
        st->runs[1][0] = first;
    }
    printf("| %.1f | %zu | %s | %.1f | %.1f | %.1f | %.1f | %.1f |\n", load, n,
           ranked_names[by], 100.0 * too_short / studies,
           100.0 * told[0] / studies, 100.0 * told[1] / studies,
           100.0 * found[0] / studies, 100.0 * found[1] / studies);
    fflush(stdout);
    free(st);
}

static void within(int studies)
{
    static const double loads[] = {0.5, 0.8, 0.9};
    static const size_t lengths[] = {300, 1000, 3000, 10000, 30000};

    printf("\nOne run each, M/M/1, in %%: runs that are too short; studies "
           "that tell equal ones apart, of 2 and 4; that find service that "
           "takes 5 %% longer, of 2 and 4\n\n| load | requests | ranked by | "
           "too short | told of 2 | of 4 | found of 2 | of 4 |\n"
           "|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < COUNT(loads); i++) {
        for (size_t k = 0; k < COUNT(lengths); k++) {
            within_of(loads[i], lengths[k], P50, studies / 2);
            if (lengths[k] >= 3000)
                within_of(loads[i], lengths[k], P99, studies / 2);
        }
    }
}

/* ---- searches ---- */

/* The capacity of one search without its confirmation. */
static void search(const struct simserver *server, const struct slo *slo,
                   uint64_t seed, struct capacity *c)
{
    struct search_config config = {.slo = slo, .start = 300};
    struct search s;
    struct search_ask ask;
    struct search_answer a;

    search_init(&s, &config);
    for (;;) {
        struct search_result result;

        search_next(&s, &ask);
        if (ask.step != SEARCH_PROBE)
            break;
        simprobe_run(server, &s, &ask, seed++, &result);
        search_feed(&s, &result);
    }
    search_answer(&s, &a);
    *c = (struct capacity){.is_present = true,
                           .value = a.capacity,
                           .range = a.ci,
                           .is_bracket = !isfinite(a.ci.low + a.ci.high)};
    if (c->is_bracket)
        c->range =
            (struct interval){isfinite(a.at_least) ? a.at_least : 0,
                              isfinite(a.at_most) ? a.at_most : INFINITY};
    search_fini(&s);
}

/* Does any of them lead, or would it by intervals that do not overlap? */
static void compare_capacities(const struct capacity *c, size_t n, int *told,
                               int *by_intervals)
{
    bool is_told = false;
    bool is_above = false;

    for (size_t i = 0; i < n * n; i++) {
        const struct capacity *a = &c[i / n];
        const struct capacity *b = &c[i % n];

        is_told |=
            capacity_leads(a, b, block_pairs(n), VARIANTS_CONFIDENCE, SMALLEST);
        is_above |= capacity_is_above(a, b);
    }
    *told += is_told;
    *by_intervals += is_above;
}

static void searches(int studies)
{
    struct slo slo = {.len = 1};
    struct capacity c[MOST];
    int told[COUNT(sizes)] = {0};
    int by_intervals[COUNT(sizes)] = {0};
    struct simserver server = models[MM1].server;
    struct err err = {0};
    uint64_t seed = 1;

    server.limit_s = 0.05;
    if (slo_parse_term("e2e p99 < 50ms", &slo.terms[0], &err))
        return;
    for (int i = 0; i < studies / 10; i++) {
        for (size_t v = 0; v < MOST; v++, seed += SEEDS)
            search(&server, &slo, seed, &c[v]);
        for (size_t k = 0; k < COUNT(sizes); k++)
            compare_capacities(c, sizes[k], &told[k], &by_intervals[k]);
    }
    printf("\nSearches of equal servers (M/M/1): studies in %% that tell any "
           "two capacities apart; by intervals that do not overlap\n\n"
           "| variants | told apart | by intervals |\n|---|---|---|\n");
    for (size_t k = 0; k < COUNT(sizes); k++)
        printf("| %zu | %.1f | %.1f |\n", sizes[k], 1000.0 * told[k] / studies,
               1000.0 * by_intervals[k] / studies);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(int studies);
    } tables[] = {
        {"equal", equal},     {"slower", slower}, {"latency", latency},
        {"special", special}, {"within", within}, {"searches", searches},
    };
    int studies = argc > 1 ? (int)strtol(argv[1], NULL, 10) : STUDIES;

    for (size_t i = 0; i < COUNT(tables); i++) {
        if (argc < 3 || strcmp(argv[2], tables[i].name) == 0)
            tables[i].print(studies);
    }
    return 0;
}
