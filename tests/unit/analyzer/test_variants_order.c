/* Who is ahead at which load, where that changes, and what is said of it. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/study_doc.h"
#include "analyzer/studies/variants.h"
#include "cli/exit_status.h"
#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "tests/support/golden.h"
#include "tests/support/near.h"
#include "tests/support/test.h"

#define MAX_TEXT     65536
#define MAX_VARIANTS 4
#define MAX_VALUES   4
#define ROUNDS       4
#define LIMIT_MS     1000

static size_t next_scatter;

/* The rounds of one cell: a latency in ms and a throughput, which scatter by 1
 * % from round to round, each variant in its own way. */
static struct variant_cell cell(double ms, double rps, bool is_overloaded)
{
    static const double scatter[] = {-0.01, 0, 0.01, 0.01, -0.01, 0, 0};
    struct variant_cell c = {
        .runs = ROUNDS,
        .counted = ROUNDS,
        .rounds = xcalloc(ROUNDS, sizeof(*c.rounds)),
        .latency_ns = {ms * 1e6, {ms * 0.99e6, ms * 1.01e6}, true},
        .tail_ns = ms * 3e6,
        .throughput_rps = {rps, {rps * 0.99, rps * 1.01}, true},
        .goodput_rps = {rps, {rps * 0.99, rps * 1.01}, true},
        .is_overloaded = is_overloaded,
        .verdict = is_overloaded ? VERDICT_FAIL : VERDICT_PASS,
        .parts = {PARTS_NONE, -1, -1, -1},
        .usd_per_1000_good = -1,
    };

    for (size_t i = 0; i < ROUNDS; i++) {
        double x = 1 + scatter[next_scatter++ % COUNT(scatter)];

        c.rounds[i] = (struct variant_run){
            .round = i,
            .all = {.slo_share = ms * x / LIMIT_MS,
                    .median_ns = ms * x * 1e6,
                    .due = 1000,
                    .good = is_overloaded ? 100 : 990,
                    .throughput_rps = rps * x},
        };
    }
    return c;
}

/* Names a, b, c, ... */
struct rig {
    struct variants_summary s;
    struct variant list[MAX_VARIANTS];
    struct variant_cell cells[MAX_VARIANTS][MAX_VALUES];
    double values[MAX_VALUES];
};

static void rig_init(struct rig *r, size_t n, const double *values,
                     size_t n_values)
{
    static const char *const names[] = {"a", "b", "c", "d"};

    *r = (struct rig){.s = {.list = r->list,
                            .values = r->values,
                            .n_values = n_values,
                            .is_rate = true,
                            .measure = MEASURE_E2E,
                            .quantile = 0.5,
                            .limit_ns = LIMIT_MS * NS_PER_MS,
                            .smallest = 0.02,
                            .has_slo = true}};
    next_scatter = 0;
    memcpy(r->values, values, n_values * sizeof(*values));
    for (size_t i = 0; i < n; i++)
        variant_set_add(&r->s.set, names[i]);
    for (size_t i = 0; i < n; i++)
        r->list[i] =
            (struct variant){.entry = &r->s.set.list[i], .cells = r->cells[i]};
}

static void rig_fini(struct rig *r)
{
    for (size_t i = 0; i < r->s.set.n; i++) {
        for (size_t k = 0; k < r->s.n_values; k++)
            free(r->cells[i][k].rounds);
    }
    for (size_t i = 0; i < r->s.n_values; i++)
        variants_ranking_fini(&r->s.rankings[i]);
    free(r->s.rankings);
    for (size_t i = 0; i < r->s.n_crossings; i++)
        free(r->s.crossings[i].why);
    free(r->s.crossings);
    free(r->s.capacities);
    variant_set_fini(&r->s.set);
}

/* How the first of two stands against the second. */
static enum standing standing(struct variant_cell a, struct variant_cell b)
{
    static const double values[] = {10};
    enum standing s;
    struct rig r;

    rig_init(&r, 2, values, 1);
    r.cells[0][0] = a;
    r.cells[1][0] = b;
    variants_work_out(&r.s);
    s = variants_standing(&r.s, 0, 0, 1);
    assert_int_equal(variants_standing(&r.s, 0, 1, 0),
                     s == STANDING_AHEAD    ? STANDING_BEHIND
                     : s == STANDING_BEHIND ? STANDING_AHEAD
                                            : s);
    rig_fini(&r);
    return s;
}

TEST(two_stand_by_the_slos_measure)
{
    struct variant_cell few = cell(20, 50, false);

    assert_int_equal(standing(cell(10, 50, false), cell(20, 50, false)),
                     STANDING_AHEAD);
    assert_int_equal(standing(cell(10, 50, false), cell(9, 50, false)),
                     STANDING_BEHIND);
    assert_int_equal(standing(cell(10, 50, false), cell(10.1, 50, false)),
                     STANDING_UNKNOWN);
    /* overloaded ones by what they answer */
    assert_int_equal(standing(cell(10, 50, false), cell(900, 40, true)),
                     STANDING_AHEAD);
    assert_int_equal(standing(cell(500, 40, true), cell(900, 60, true)),
                     STANDING_BEHIND);
    few.counted = 2;
    assert_int_equal(standing(cell(10, 50, false), few), STANDING_UNKNOWN);
}

/* Without any scatter a difference of 1.9 % is certain, and not worth
 * mentioning; nor is one of 3 % if 5 % is asked for. */
TEST(small_differences_are_not_mentioned)
{
    static const struct {
        double factor;
        double smallest;
        enum standing standing;
        bool is_same;
    } rows[] = {
        {1.019, 0.02, STANDING_UNKNOWN, true},
        {1.021, 0.02, STANDING_AHEAD, false},
        {1.03, 0.05, STANDING_UNKNOWN, true},
        {1.001, 0, STANDING_AHEAD, false},
    };
    static const double values[] = {10};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rig r;

        rig_init(&r, 2, values, 1);
        r.s.smallest = rows[i].smallest;
        r.cells[0][0] = cell(10, 50, false);
        r.cells[1][0] = cell(10, 50, false);
        for (size_t k = 0; k < ROUNDS; k++) {
            r.cells[1][0].rounds[k] = r.cells[0][0].rounds[k];
            r.cells[1][0].rounds[k].all.slo_share *= rows[i].factor;
        }
        variants_work_out(&r.s);
        assert_int_equal(variants_standing(&r.s, 0, 0, 1), rows[i].standing);
        assert_int_equal(variants_pair(&r.s, 0, 0, 1).is_same, rows[i].is_same);
        assert_near(variants_pair(&r.s, 0, 1, 0).ratio, 1 / rows[i].factor,
                    1e-9);
        rig_fini(&r);
    }
}

/* Rounds are matched by their number, not by their order.  What has none in
 * common, because it was made again, is matched in the order of the runs. */
TEST(rounds_are_matched)
{
    static const double values[] = {10};
    struct rig r;

    rig_init(&r, 2, values, 1);
    for (size_t v = 0; v < 2; v++) {
        r.cells[v][0] = cell(10, 50, false);
        for (size_t k = 0; k < ROUNDS; k++) {
            struct variant_run *run = &r.cells[v][0].rounds[k];

            run->round = v == 0 ? k : ROUNDS - k; /* 0 to 3, and 4 to 1 */
            run->all.slo_share =
                pow(2, (double)(run->round % ROUNDS)) * (v ? 1.5 : 1);
        }
    }
    variants_work_out(&r.s);
    assert_int_equal(variants_pair(&r.s, 0, 0, 1).contrast.rounds, ROUNDS);
    assert_near(variants_pair(&r.s, 0, 0, 1).contrast.error, 0, 1e-9);
    assert_near(variants_pair(&r.s, 0, 0, 1).ratio, 1.5, 1e-9);
    assert_int_equal(variants_standing(&r.s, 0, 0, 1), STANDING_AHEAD);
    rig_fini(&r);
}

TEST(half_of_the_runs_must_be_valid)
{
    static const struct {
        size_t asked;
        size_t counted;
        bool is_ranked;
    } rows[] = {{4, 3, true}, {4, 2, false}, {8, 4, true}, {9, 4, false}};
    static const double values[] = {10};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rig r;

        rig_init(&r, 2, values, 1);
        r.s.asked = rows[i].asked;
        r.cells[0][0] = cell(10, 50, false);
        r.cells[1][0] = cell(20, 50, false);
        r.cells[1][0].counted = rows[i].counted;
        if (rows[i].counted < ROUNDS || !rows[i].is_ranked)
            r.cells[0][0].counted = rows[i].counted;
        variants_work_out(&r.s);
        assert_int_equal(r.s.rankings[0].ranked, rows[i].is_ranked ? 2 : 0);
        assert_int_equal(exit_status_of_variants(&r.s),
                         rows[i].is_ranked ? 0 : 4);
        rig_fini(&r);
    }
}

/* A quantile among the failures is compared by how many requests missed, one
 * that too few requests bound by the median, an SLO of shares by its misses. */
TEST(measures_are_replaced)
{
    static const struct {
        double quantile;
        bool has_slo;
        double share; /* of the second variant's first run; 0: as made */
        double good;  /* of all its runs */
        enum ranked_by by;
        enum ranked_by pair;
        enum standing standing;
    } rows[] = {
        {0.5, true, 0, 990, RANKED_BY_SLO, RANKED_BY_SLO, STANDING_AHEAD},
        {0.5, true, INFINITY, 900, RANKED_BY_SLO, RANKED_BY_MISSES,
         STANDING_AHEAD},
        {0.5, true, INFINITY, 990, RANKED_BY_SLO, RANKED_BY_MISSES,
         STANDING_UNKNOWN},
        {0.5, true, NAN, 990, RANKED_BY_MEDIAN, RANKED_BY_MEDIAN,
         STANDING_AHEAD},
        {0, true, 0, 900, RANKED_BY_MISSES, RANKED_BY_MISSES, STANDING_AHEAD},
        {0, false, 0, 990, RANKED_BY_MEDIAN, RANKED_BY_MEDIAN, STANDING_AHEAD},
    };
    static const double values[] = {10};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rig r;

        rig_init(&r, 2, values, 1);
        r.s.quantile = rows[i].quantile;
        r.s.has_slo = rows[i].has_slo;
        r.cells[0][0] = cell(10, 50, false);
        r.cells[1][0] = cell(20, 50, false);
        if (rows[i].share != 0)
            r.cells[1][0].rounds[0].all.slo_share = rows[i].share;
        for (size_t k = 0; k < ROUNDS; k++)
            r.cells[1][0].rounds[k].all.good = rows[i].good;
        variants_work_out(&r.s);
        assert_int_equal(r.s.rankings[0].by, rows[i].by);
        assert_int_equal(variants_pair(&r.s, 0, 0, 1).by, rows[i].pair);
        assert_int_equal(variants_standing(&r.s, 0, 0, 1), rows[i].standing);
        rig_fini(&r);
    }
}

/* One run each: its parts take the place of rounds if they are long enough. */
TEST(one_run_is_compared_in_parts)
{
    static const double values[] = {10};

    for (int are_apart = 0; are_apart < 2; are_apart++) {
        struct rig r;

        rig_init(&r, 2, values, 1);
        for (size_t v = 0; v < 2; v++) {
            struct variant_cell *c = &r.cells[v][0];

            *c = cell(10, 50, false);
            c->runs = c->counted = 1;
            c->rounds[0].has_parts = true;
            c->rounds[0].are_parts_apart = are_apart;
            for (size_t p = 0; p < VARIANTS_PARTS; p++) {
                c->rounds[0].parts[p] = c->rounds[0].all;
                c->rounds[0].parts[p].slo_share =
                    (v ? 1.2 : 1) * (1 + 0.01 * (double)((p + 2 * v) % 5));
            }
        }
        variants_work_out(&r.s);
        assert_true(r.s.rankings[0].is_within);
        assert_int_equal(variants_standing(&r.s, 0, 0, 1),
                         are_apart ? STANDING_AHEAD : STANDING_UNKNOWN);
        assert_int_equal(exit_status_of_variants(&r.s), 0);
        rig_fini(&r);
    }
}

/* Latencies that stay for long above or below their mean. */
TEST(parts_must_be_longer_than_the_memory)
{
    double quick[VARIANTS_BINS];
    double slow[VARIANTS_BINS];

    for (size_t i = 0; i < VARIANTS_BINS; i++) {
        quick[i] = i % 7 == 3 ? NAN : 10 + (double)(i * 5 % 11);
        slow[i] = i / 50 % 2 ? 10 : 20;
    }
    assert_true(variants_parts_are_apart(quick));
    assert_false(variants_parts_are_apart(slow));
}

/* c is ahead, b cannot be told from it, a is overloaded, and d has too few runs
 * to be ranked. */
TEST(places_are_shared)
{
    static const double values[] = {10};
    static const size_t order[] = {2, 1, 0, 3};
    static const size_t ranks[] = {1, 1, 3, 0};
    struct rig r;

    rig_init(&r, 4, values, 1);
    r.cells[0][0] = cell(900, 20, true);
    r.cells[1][0] = cell(10.1, 50, false);
    r.cells[2][0] = cell(10, 50, false);
    r.cells[3][0] = cell(10, 50, false);
    r.cells[3][0].counted = 2;
    variants_work_out(&r.s);
    for (size_t i = 0; i < COUNT(order); i++) {
        assert_int_equal(r.s.rankings[0].places[i].variant, order[i]);
        assert_int_equal(r.s.rankings[0].places[i].rank, ranks[i]);
    }
    assert_int_equal(exit_status_of_variants(&r.s), 4);
    rig_fini(&r);
}

/* b is behind a, c scatters too much to be told from either: what is not shown
 * must not follow from the order. */
TEST(ranks_do_not_say_more_than_pairs)
{
    static const double values[] = {10};
    static const size_t order[] = {0, 2, 1};
    static const size_t ranks[] = {1, 1, 2};
    struct rig r;

    rig_init(&r, 3, values, 1);
    r.cells[0][0] = cell(10, 50, false);
    r.cells[1][0] = cell(20, 50, false);
    r.cells[2][0] = cell(21, 50, false);
    for (size_t k = 0; k < ROUNDS; k++) {
        r.cells[1][0].rounds[k].all.slo_share =
            2 * r.cells[0][0].rounds[k].all.slo_share;
        r.cells[2][0].rounds[k].all.slo_share *= k % 2 ? 0.4 : 2.5;
    }
    variants_work_out(&r.s);
    for (size_t i = 0; i < COUNT(order); i++) {
        print_message("%zu: %zu\n", r.s.rankings[0].places[i].variant,
                      r.s.rankings[0].places[i].rank);
        assert_int_equal(r.s.rankings[0].places[i].variant, order[i]);
        assert_int_equal(r.s.rankings[0].places[i].rank, ranks[i]);
    }
    rig_fini(&r);
}

static struct capacity capacity(double low, double value, double high)
{
    return (struct capacity){.is_present = true,
                             .value = value,
                             .range = {low, high},
                             .is_bracket = isnan(value)};
}

TEST(capacities_are_corrected_for_pairs)
{
    static const struct {
        struct capacity a;
        struct capacity b;
        size_t pairs;
        bool leads;
    } rows[] = {
        /* standard errors of 3 %, a difference of 10 %: 2.3 of them */
        {{.is_present = true, .value = 110, .range = {104.7, 115.6}},
         {.is_present = true, .value = 100, .range = {95.2, 105.1}},
         1,
         true},
        {{.is_present = true, .value = 110, .range = {104.7, 115.6}},
         {.is_present = true, .value = 100, .range = {95.2, 105.1}},
         15,
         false},
        /* certain, and less than 2 % */
        {{.is_present = true, .value = 101, .range = {100.9, 101.1}},
         {.is_present = true, .value = 100, .range = {99.9, 100.1}},
         1,
         false},
        {{0}, {.is_present = true, .value = 100, .range = {99, 101}}, 1, false},
    };
    const struct capacity low = capacity(50, NAN, 80);
    const struct capacity high = capacity(90, NAN, INFINITY);
    const struct capacity wide = capacity(70, NAN, 100);

    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(
            capacity_leads(&rows[i].a, &rows[i].b, rows[i].pairs, 0.96, 0.02),
            rows[i].leads);
        assert_false(
            capacity_leads(&rows[i].b, &rows[i].a, rows[i].pairs, 0.96, 0.02));
    }
    assert_true(capacity_leads(&high, &low, 1, 0.96, 0.02));
    assert_false(capacity_leads(&wide, &low, 1, 0.96, 0.02));
}

/* a: 10, 20, 40, 80 ms; b: 20 ms at every load. */
static void make_crossing(struct rig *r)
{
    static const double values[] = {10, 40, 160};
    static const double ms[] = {10, 10 * M_SQRT2, 80};

    rig_init(r, 2, values, COUNT(values));
    for (size_t i = 0; i < COUNT(values); i++) {
        r->cells[0][i] = cell(ms[i], values[i], false);
        r->cells[1][i] = cell(20, values[i], false);
        r->cells[0][i].offered_rps = r->cells[1][i].offered_rps = values[i];
    }
}

/* log ratio: -ln 2 / 2 at 40, 2 ln 2 at 160: zero a fifth of the way, in
 * logarithms: 40 * 4^0.2. */
TEST(crossovers_are_found)
{
    struct rig r;

    make_crossing(&r);
    variants_work_out(&r.s);
    assert_int_equal(r.s.n_crossings, 1);
    assert_int_equal(r.s.crossings[0].early, 0);
    assert_int_equal(r.s.crossings[0].late, 1);
    assert_int_equal(r.s.crossings[0].from, 1);
    assert_int_equal(r.s.crossings[0].to, 2);
    assert_near(r.s.crossings[0].at, 40 * pow(4, 0.2), 0.5); /* scatter */
    assert_string_equal(
        r.s.crossings[0].why,
        "the recordings do not show what the servers spent their time on");
    rig_fini(&r);
}

/* One that is only ever ahead, or not told apart, crosses nobody. */
TEST(others_do_not_cross)
{
    static const double values[] = {10, 40, 160};
    struct rig r;

    rig_init(&r, 2, values, COUNT(values));
    for (size_t i = 0; i < COUNT(values); i++) {
        r.cells[0][i] = cell(10, values[i], false);
        r.cells[1][i] = cell(i == 0 ? 10 : 30, values[i], i == 2);
    }
    variants_work_out(&r.s);
    assert_int_equal(r.s.n_crossings, 0);
    rig_fini(&r);
}

static void must_say(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("%s: not '%s'", text, part);
}

TEST(the_parts_say_why)
{
    static const struct {
        struct server_parts light[2];
        struct server_parts heavy[2];
        bool is_over;
        const char *says[2];
    } rows[] = {
        {{{PARTS_TRUTH, 0, 10e6, 1}, {PARTS_TRUTH, 10e6, 10e6, 1}},
         {{PARTS_TRUTH, 70e6, 10e6, 1}, {PARTS_TRUTH, 5e6, 15e6, 8}},
         true,
         {"b 10.0ms in the queue, 10.0ms of work, 1 at a time: b lets requests "
          "wait for a batch",
          "a 70.0ms in the queue, 10.0ms of work, 1 at a time: a gets "
          "160/s and answers 100/s, so its queue grows"}},
        {{{PARTS_TRUTH, 0, 10e6, 1}, {PARTS_TRUTH, 0, 20e6, 1}},
         {{PARTS_TRUTH, 75e6, 5e6, 1}, {PARTS_TRUTH, 0, 20e6, 4}},
         false,
         {"1 at a time: work takes longer with b",
          ": with a requests wait for those before them"}},
        {{{PARTS_TRUTH, 0, 10e6, 1}, {PARTS_TRUTH, 0, 20e6, 1}},
         {{PARTS_TRUTH, 5e6, 5e6, 1}, {PARTS_TRUTH, 0, 20e6, 4}},
         false,
         {"1 at a time: work takes longer with b",
          ": a is behind because of its slowest requests, not on average"}},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rig r;

        make_crossing(&r);
        for (int v = 0; v < 2; v++) {
            r.cells[v][1].parts = rows[i].light[v];
            r.cells[v][2].parts = rows[i].heavy[v];
        }
        r.cells[0][2].is_overloaded = rows[i].is_over;
        r.cells[0][2].throughput_rps.value = 100;
        variants_work_out(&r.s);
        assert_int_equal(r.s.n_crossings, 1);
        must_say(r.s.crossings[0].why, rows[i].says[0]);
        must_say(r.s.crossings[0].why, rows[i].says[1]);
        rig_fini(&r);
    }
}

/* b failed, c cannot be told from b, and most runs of d are invalid. */
TEST(reports_have_all_of_it)
{
    static const double values[] = {10, 160};
    struct rig r;

    rig_init(&r, 4, values, COUNT(values));
    for (size_t i = 0; i < COUNT(values); i++) {
        r.cells[0][i] = cell(i == 0 ? 10 : 80, values[i], false);
        r.cells[1][i] = cell(20, values[i], false);
        r.cells[2][i] = cell(20.8, values[i], false);
        r.cells[3][i] = cell(15, values[i], false);
        r.cells[3][i].counted = 1;
        for (size_t k = 0; k < ROUNDS; k++)
            r.cells[2][i].rounds[k].all.slo_share *= k % 2 ? 0.97 : 1.03;
    }
    snprintf(r.s.set.list[1].failed, sizeof(r.s.set.list[1].failed),
             "the server ended");
    snprintf(r.list[3].distrust, sizeof(r.list[3].distrust), "lag p99");
    strlist_add(&r.list[3].invalid, "trial-2 (lag p99)");
    strlist_add(&r.list[3].invalid, "trial-3 (lag p99)");
    variants_work_out(&r.s);
    assert_golden_doc("variants", variants_doc(&r.s));
    assert_int_equal(exit_status_of_variants(&r.s), 3);
    strlist_fini(&r.list[3].invalid);
    rig_fini(&r);
}
