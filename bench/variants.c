/* How often studies of simulated servers, in virtual time, call equal variants
 * different, and how often they find one that is 5 % slower.  Prints the table
 * of docs/statistics-trials.md.  Usage: bench_variants [STUDIES [ROW]] */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/stats/order_stats.h"
#include "analyzer/studies/variants.h"
#include "common/base/xalloc.h"
#include "tests/support/simprobe.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define STUDIES  1000
#define MOST     6  /* variants */
#define ROUNDS   10 /* at most */
#define SMALLEST 0.02
#define SLOWER   1.05
#define OWN      ((uint64_t)1 << 40) /* seeds of arrivals of their own */
#define SCAN     1000000 /* requests from which a quantile is known */

static const size_t sizes[] = {2, 4, MOST};
static const size_t rounds[] = {3, 5, ROUNDS};

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

/* How the second variant differs from the others, which are equal. */
enum planted {
    EQUAL,    /* not at all */
    STARTS,   /* not at all; each start of any is fast or 10 % slower */
    SERVICE,  /* its service takes 5 % longer */
    QUANTILE, /* the quantile is 5 % longer */
};

static const char *const planted_names[] = {
    "equal", "equal, starts differ by 10 %", "service +5 %", "quantile +5 %"};

static const struct row {
    int model;
    double load;
    size_t n; /* requests per run, after a warm-up of a tenth of that */
    double quantile;
    enum planted planted;
} rows[] = {
    {MM1, 0.8, 3000, 0.5, EQUAL},
    {MM1, 0.8, 3000, 0.99, EQUAL},
    {MM1, 0.9, 1000, 0.5, EQUAL},
    {MM1, 0.9, 1000, 0.99, EQUAL},
    {MD1, 0.8, 3000, 0.99, EQUAL},
    {BATCHING, 0.8, 3000, 0.99, EQUAL},
    {MM1, 0.5, 3000, 0.5, STARTS},
    {MM1, 0.5, 3000, 0.99, STARTS},
    {MM1, 0.8, 3000, 0.5, SERVICE},
    {MM1, 0.8, 30000, 0.99, SERVICE},
    {BATCHING, 0.8, 3000, 0.99, SERVICE},
    {MM1, 0.5, 20000, 0.5, QUANTILE},
    {MM1, 0.5, 100000, 0.99, QUANTILE},
    {BATCHING, 0.8, 10000, 0.99, QUANTILE},
};

/* ---- runs ---- */

/* The quantile of one run. */
static double run(const struct row *row, size_t n, double slower,
                  uint64_t arrivals, uint64_t services)
{
    struct simserver server = models[row->model].server;
    double rate_rps = row->load * models[row->model].capacity_rps;
    double *times = xcalloc(n, sizeof(*times));
    struct simqueue q;
    double found;
    double due;

    server.service_s *= slower;
    server.each_s *= slower;
    q = simqueue_start(&server, rate_rps, arrivals);
    q.services = rng_stream(services, RNG_SERVICE);
    for (size_t i = 0; i < n / 10; i++)
        simqueue_next(&q, &due);
    for (size_t i = 0; i < n; i++)
        times[i] = simqueue_next(&q, &due);
    found = order_quantile(times, n, row->quantile);
    free(times);
    return found;
}

/* How much longer service must take for the quantile to be 5 % longer. */
static double find_slower(const struct row *row)
{
    double want = run(row, SCAN, 1, 1, 2) * SLOWER;
    double low = 1;
    double high = SLOWER;

    for (int i = 0; i < 12; i++) {
        double middle = (low + high) / 2;

        if (run(row, SCAN, middle, 1, 2) > want)
            high = middle;
        else
            low = middle;
    }
    return (low + high) / 2;
}

/* ---- studies ---- */

struct study {
    struct variant_round runs[MOST][ROUNDS];
    struct variant_cell cells[MOST];
    struct variant list[MOST];
};

/* In each round all variants have the same arrivals, except if service
 * takes the same time in equal servers: their results would be the same, too.
 */
static void make(struct study *st, const struct row *row, double slower,
                 uint64_t *seed)
{
    bool has_own = row->planted == EQUAL && row->model != MM1;

    for (size_t r = 0; r < ROUNDS; r++) {
        uint64_t arrivals = (*seed)++;

        for (size_t v = 0; v < MOST; v++) {
            uint64_t services = (*seed)++;
            struct rng start = rng_stream(services, RNG_CLASS);
            double by = v == 1 ? slower : 1;

            if (row->planted == STARTS && rng_uniform(&start) < 0.5)
                by *= 1.1;
            st->runs[v][r] = (struct variant_round){
                .seed = r,
                .value = {run(row, row->n, by,
                              has_own ? services + OWN : arrivals, services),
                          1, 1}};
        }
    }
}

/* Results of studies of one size. */
struct counts {
    int found; /* the slower one */
    int wrong; /* equal ones are told apart, or the slower one is called faster
                */
};

/* Of the first n variants and b rounds. */
static void count(struct study *st, size_t n, size_t b, bool is_equal,
                  struct counts *c)
{
    struct variants_summary s = {
        .list = st->list, .set = {.n = n}, .n_values = 1, .smallest = SMALLEST};
    bool is_wrong = false;

    for (size_t v = 0; v < n; v++) {
        st->cells[v] = (struct variant_cell){
            .runs = b, .counted = b, .rounds = st->runs[v]};
        st->list[v] = (struct variant){.cells = &st->cells[v]};
    }
    variants_work_out(&s);
    for (size_t k = 0; k < n * n; k++) {
        bool differs =
            !is_equal && k / n != k % n && (k / n == 1 || k % n == 1);
        enum standing is = k / n == 1 ? STANDING_BEHIND : STANDING_AHEAD;
        enum standing shown = s.rankings[0].pairs[k].shown;

        is_wrong |= shown != STANDING_UNKNOWN && !(differs && shown == is);
    }
    c->found += variants_pair(&s, 0, 0, 1)->shown == STANDING_AHEAD;
    c->wrong += is_wrong;
    variants_results_fini(&s);
}

static void print_row(const struct row *row, int studies)
{
    bool is_equal = row->planted == EQUAL || row->planted == STARTS;
    double slower = is_equal                   ? 1
                    : row->planted == QUANTILE ? find_slower(row)
                                               : SLOWER;
    struct counts counts[COUNT(rounds)][COUNT(sizes)] = {0};
    struct study *st = xcalloc(1, sizeof(*st));
    uint64_t seed = 1;
    int wrong = 0;

    for (int i = 0; i < studies; i++) {
        make(st, row, slower, &seed);
        for (size_t k = 0; k < COUNT(rounds) * COUNT(sizes); k++)
            count(st, sizes[k % COUNT(sizes)], rounds[k / COUNT(sizes)],
                  is_equal, &counts[k / COUNT(sizes)][k % COUNT(sizes)]);
    }
    printf("| %s, %.1f | p%g | %zu | %s |", models[row->model].name, row->load,
           100 * row->quantile, row->n, planted_names[row->planted]);
    for (size_t b = 0; b < COUNT(rounds); b++) {
        for (size_t k = 0; k < COUNT(sizes); k++) {
            const struct counts *c = &counts[b][k];

            printf("%s %.1f", k ? "," : "",
                   100.0 * (is_equal ? c->wrong : c->found) / studies);
            wrong = c->wrong > wrong ? c->wrong : wrong;
        }
        printf(" |");
    }
    printf(" %.1f |\n", 100.0 * wrong / studies);
    fflush(stdout);
    free(st);
}

int main(int argc, char **argv)
{
    int studies = argc > 1 ? (int)strtol(argv[1], NULL, 10) : STUDIES;
    size_t only = argc > 2 ? (size_t)strtol(argv[2], NULL, 10) : 0;

    printf(
        "Of %d studies with 2, 4 and 6 variants, how many %% show a "
        "difference: between equal servers, or of the slower one.  The rest "
        "shows none.  Last: the largest share in which anything shown is "
        "wrong\n\n"
        "| server, load | ranked by | requests per run | servers | 3 rounds "
        "| 5 rounds | 10 rounds | wrong |\n|---|---|---|---|---|---|---|---|\n",
        studies);
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (only == 0 || only == i + 1)
            print_row(&rows[i], studies);
    }
    return 0;
}
