/* Who is ahead at which load, where that changes, and what is said of it. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/study_doc.h"
#include "analyzer/studies/variants.h"
#include "cli/exit_status.h"
#include "common/base/buf.h"
#include "common/base/xalloc.h"
#include "tests/support/golden.h"
#include "tests/support/test.h"

#define MAX_TEXT     65536
#define MAX_VARIANTS 4
#define MAX_VALUES   4

#define ROUNDS 4

/* A latency in ms and a goodput.  Rounds vary by up to 20 %, which is common to
 * all variants, and by `noise` of their own. */
static struct variant_cell cell(double ms, double good_rps, bool is_overloaded,
                                double noise)
{
    static const double common[] = {1, 1.1, 1.2, 0.9};
    static const double own[] = {0, -1, 1, 0};
    struct variant_cell c = {
        .runs = ROUNDS,
        .counted = ROUNDS,
        .rounds = xcalloc(ROUNDS, sizeof(*c.rounds)),
        .latency_ns = {ms * 1e6, {ms * 0.99e6, ms * 1.01e6}, true},
        .tail_ns = ms * 3e6,
        .completed_rps = good_rps,
        .throughput_rps = {good_rps, {good_rps * 0.99, good_rps * 1.01}, true},
        .goodput_rps = {good_rps, {good_rps * 0.99, good_rps * 1.01}, true},
        .is_overloaded = is_overloaded,
        .verdict = is_overloaded ? VERDICT_FAIL : VERDICT_PASS,
        .parts = {PARTS_NONE, -1, -1, -1},
        .usd_per_1000_good = -1,
    };

    for (size_t i = 0; i < ROUNDS; i++) {
        double scale = common[i] * exp(noise * own[i]);

        c.rounds[i] = (struct variant_round){
            .seed = i + 1,
            .value = {ms * scale / 100, ms * 1e6 * scale, scale / good_rps}};
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
                            .ranked = "e2e p95",
                            .limit_ns = 100000000,
                            .smallest = 0.02,
                            .has_slo = true}};
    memcpy(r->values, values, n_values * sizeof(*values));
    for (size_t i = 0; i < n; i++)
        variant_set_add(&r->s.set, names[i]);
    for (size_t i = 0; i < n; i++)
        r->list[i] =
            (struct variant){.entry = &r->s.set.list[i], .cells = r->cells[i]};
}

static void rig_fini(struct rig *r)
{
    variants_results_fini(&r->s);
    for (size_t i = 0; i < MAX_VARIANTS; i++) {
        for (size_t k = 0; k < MAX_VALUES; k++)
            free(r->cells[i][k].rounds);
    }
    variant_set_fini(&r->s.set);
}

/* How a stands against b, in one study of two. */
static struct variant_pair pair_of(struct variant_cell a, struct variant_cell b)
{
    static const double values[] = {10};
    struct variant_pair p;
    struct rig r;

    rig_init(&r, 2, values, 1);
    r.cells[0][0] = a;
    r.cells[1][0] = b;
    variants_work_out(&r.s);
    p = *variants_pair(&r.s, 0, 0, 1);
    assert_int_equal(p.shown == STANDING_UNKNOWN,
                     variants_pair(&r.s, 0, 1, 0)->shown == STANDING_UNKNOWN);
    rig_fini(&r);
    return p;
}

static struct variant_cell with(struct variant_cell c, size_t round,
                                enum ranked_by by, double value)
{
    c.rounds[round].value[by] = value;
    return c;
}

TEST(two_are_compared_within_rounds)
{
    const struct {
        struct variant_cell a;
        struct variant_cell b;
        enum ranked_by by;
        enum standing shown;
        bool is_same;
    } rows[] = {
        {cell(10, 50, false, 0), cell(20, 50, false, 0.01), RANKED_BY_SLO,
         STANDING_AHEAD, false},
        {cell(10.5, 50, false, 0), cell(10, 50, false, 0.01), RANKED_BY_SLO,
         STANDING_BEHIND, false},
        /* a difference that the noise hides */
        {cell(10, 50, false, 0), cell(10.5, 50, false, 0.05), RANKED_BY_SLO,
         STANDING_UNKNOWN, false},
        /* shown, but not worth mentioning */
        {cell(10, 50, false, 0), cell(10.1, 50, false, 0.001), RANKED_BY_SLO,
         STANDING_UNKNOWN, true},
        /* one that is overloaded still has latencies, two do not compare */
        {cell(10, 50, false, 0), cell(90, 40, true, 0.01), RANKED_BY_SLO,
         STANDING_AHEAD, false},
        {cell(5, 40, true, 0), cell(900, 60, true, 0.01), RANKED_BY_THROUGHPUT,
         STANDING_BEHIND, false},
        /* too few requests for the SLO's quantile; a median of failures */
        {cell(10, 50, false, 0),
         with(cell(20, 50, false, 0), 1, RANKED_BY_SLO, NAN), RANKED_BY_MEDIAN,
         STANDING_AHEAD, false},
        {cell(10, 50, false, 0),
         with(cell(20, 45, false, 0), 1, RANKED_BY_SLO, INFINITY),
         RANKED_BY_THROUGHPUT, STANDING_AHEAD, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct variant_pair p = pair_of(rows[i].a, rows[i].b);

        print_message("row %zu: %g (%g to %g)\n", i, p.ratio.value,
                      p.ratio.range.low, p.ratio.range.high);
        assert_int_equal(p.by, rows[i].by);
        assert_int_equal(p.rounds, ROUNDS);
        assert_int_equal(p.shown, rows[i].shown);
        assert_int_equal(p.is_same, rows[i].is_same);
    }
}

/* A run that replaces a discarded one has a seed of its own. */
TEST(runs_with_the_same_seed_are_pairs)
{
    struct variant_cell a = cell(10, 50, false, 0);
    struct variant_cell b = cell(20, 50, false, 0);
    struct variant_pair p;

    a.rounds[1].seed = 9;
    b.rounds[0] = b.rounds[3];
    b.counted = 3;
    p = pair_of(a, b); /* 4 and 4, 3 and 3, then 1 and 2 */
    assert_int_equal(p.rounds, 3);
    assert_true(fabs(p.ratio.value - 2 * cbrt(1.1 / 1)) < 1e-9);

    a = cell(10, 50, false, 0);
    b = cell(20, 50, false, 0);
    b.counted = 2;
    p = pair_of(a, b);
    assert_int_equal(p.rounds, 2); /* too few */
    assert_int_equal(p.observed, STANDING_AHEAD);
    assert_int_equal(p.shown, STANDING_UNKNOWN);
    assert_false(p.ratio.has_range);
}

/* 6 % with a standard error of 1.43 %: t = 4.08 is enough for one pair (3.48),
 * not for one of three (5.1).  If the others differ for certain, it is the only
 * one that is left. */
TEST(pairs_are_corrected_for_their_number)
{
    static const double values[] = {10};
    static const double third[] = {10, 80};

    assert_int_equal(
        pair_of(cell(10, 50, false, 0), cell(10.6, 50, false, 0.035)).shown,
        STANDING_AHEAD);
    for (size_t i = 0; i < COUNT(third); i++) {
        struct rig r;

        rig_init(&r, 3, values, 1);
        r.cells[0][0] = cell(10, 50, false, 0);
        r.cells[1][0] = cell(10.6, 50, false, 0.035);
        r.cells[2][0] = cell(third[i], 50, false, 0);
        variants_work_out(&r.s);
        assert_int_equal(variants_pair(&r.s, 0, 0, 1)->shown,
                         i == 0 ? STANDING_UNKNOWN : STANDING_AHEAD);
        assert_int_equal(variants_pair(&r.s, 0, 1, 2)->shown,
                         i == 0 ? STANDING_UNKNOWN : STANDING_AHEAD);
        rig_fini(&r);
    }
}

TEST(places_are_shared)
{
    static const double values[] = {10};
    static const size_t order[] = {2, 1, 0, 3};
    static const size_t ranks[] = {1, 1, 3, 0};
    struct rig r;

    rig_init(&r, 4, values, 1);
    r.cells[0][0] = cell(900, 20, true, 0);
    r.cells[1][0] = cell(10.1, 50, false, 0);
    r.cells[2][0] = cell(10, 50, false, 0.01);
    r.cells[3][0] = (struct variant_cell){.runs = 1};
    variants_work_out(&r.s);
    for (size_t i = 0; i < COUNT(order); i++) {
        assert_int_equal(r.s.rankings[0].places[i].variant, order[i]);
        assert_int_equal(r.s.rankings[0].places[i].rank, ranks[i]);
    }
    rig_fini(&r);
}

TEST(capacities_are_corrected_and_must_differ_enough)
{
    /* 5 % apart, with standard errors of 1.8 % each: 1.96 of both together */
    struct capacity a = {
        .is_present = true, .value = 105, .range = {105 / 1.03, 105 * 1.03}};
    struct capacity b = {
        .is_present = true, .value = 100, .range = {100 / 1.03, 100 * 1.03}};
    const struct capacity bracket = {.is_present = true,
                                     .value = NAN,
                                     .range = {50, 95},
                                     .is_bracket = true};

    assert_true(capacity_is_above(&a, &b, 0.9, 0.02));
    assert_false(capacity_is_above(&a, &b, 0.99, 0.02));
    assert_false(capacity_is_above(&a, &b, 0.9, 0.06));
    assert_false(capacity_is_above(&b, &a, 0.9, 0.02));
    assert_true(capacity_is_above(&a, &bracket, 0.99, 0.02));
    assert_false(capacity_is_above(&a, &bracket, 0.99, 0.1));
    assert_false(capacity_is_above(&bracket, &b, 0.9, 0));
}

/* a: 10, 20, 40, 80 ms; b: 20 ms at every load. */
static void make_crossing(struct rig *r)
{
    static const double values[] = {10, 40, 160};
    static const double ms[] = {10, 10 * M_SQRT2, 80};

    rig_init(r, 2, values, COUNT(values));
    for (size_t i = 0; i < COUNT(values); i++) {
        r->cells[0][i] = cell(ms[i], values[i], false, 0);
        r->cells[1][i] = cell(20, values[i], false, 0.01);
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
    assert_true(r.s.crossings[0].is_shown);
    assert_int_equal(r.s.crossings[0].to, 2);
    assert_true(fabs(r.s.crossings[0].at - 40 * pow(4, 0.2)) < 1e-9);
    assert_string_equal(
        r.s.crossings[0].why,
        "the recordings do not show what the servers spent their time on");
    rig_fini(&r);
}

TEST(crossovers_of_few_rounds_are_observed)
{
    struct rig r;

    make_crossing(&r);
    for (size_t i = 0; i < 3; i++)
        r.cells[0][i].counted = r.cells[1][i].counted = 1;
    variants_work_out(&r.s);
    assert_int_equal(r.s.n_crossings, 1);
    assert_false(r.s.crossings[0].is_shown);
    assert_int_equal(r.s.rankings[0].places[1].rank, 1);
    rig_fini(&r);
}

/* One that is only ever ahead, or not told apart, crosses no other. */
TEST(others_do_not_cross)
{
    static const double values[] = {10, 40, 160};
    struct rig r;

    rig_init(&r, 2, values, COUNT(values));
    for (size_t i = 0; i < COUNT(values); i++) {
        r.cells[0][i] = cell(10, values[i], false, 0);
        r.cells[1][i] = cell(i == 0 ? 10 : 30, values[i], i == 2, 0.01);
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

TEST(no_order_is_named_without_runs)
{
    static const double values[] = {10};
    struct rig r;
    char *text;

    rig_init(&r, 2, values, 1);
    variants_work_out(&r.s);
    text = doc_text_of(variants_doc(&r.s));
    assert_non_null(
        strstr(text, "order      at 10/s: not known, no run can be trusted\n"));
    free(text);
    rig_fini(&r);
}

TEST(reports_have_all_of_it)
{
    struct rig r;

    make_crossing(&r);
    snprintf(r.s.set.list[1].failed, sizeof(r.s.set.list[1].failed),
             "the server ended");
    variants_work_out(&r.s);
    assert_golden_doc("variants", variants_doc(&r.s));
    assert_int_equal(exit_status_of(variants_conclusion(&r.s), 0), 3);
    rig_fini(&r);
}
