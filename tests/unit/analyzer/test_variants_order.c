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

/* A latency in ms and a goodput, each with 1 % to either side. */
static struct variant_cell cell(double ms, double good_rps, bool is_overloaded)
{
    return (struct variant_cell){
        .runs = 1,
        .counted = 1,
        .latency_ns = {ms * 1e6, {ms * 0.99e6, ms * 1.01e6}, true},
        .tail_ns = ms * 3e6,
        .throughput_rps = {good_rps, {good_rps * 0.99, good_rps * 1.01}, true},
        .goodput_rps = {good_rps, {good_rps * 0.99, good_rps * 1.01}, true},
        .is_overloaded = is_overloaded,
        .verdict = is_overloaded ? VERDICT_FAIL : VERDICT_PASS,
        .parts = {PARTS_NONE, -1, -1, -1},
        .usd_per_1000_good = -1,
    };
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
    for (size_t i = 0; i < r->s.n_crossings; i++)
        free(r->s.crossings[i].why);
    free(r->s.crossings);
    free(r->s.places);
    free(r->s.capacities);
    variant_set_fini(&r->s.set);
}

TEST(two_stand_by_objective_latency_and_goodput)
{
    const struct variant_cell fast = cell(10, 50, false);
    const struct variant_cell slow = cell(20, 50, false);
    const struct variant_cell near = cell(10.1, 50, false);
    const struct variant_cell over = cell(5, 40, true);
    const struct variant_cell more = cell(900, 60, true);
    struct variant_cell unknown = cell(10, 50, false);
    struct variant_cell unsure = slow;

    unknown.counted = 0;
    unsure.latency_ns.has_range = false;
    assert_int_equal(variants_standing(&fast, &slow), STANDING_AHEAD);
    assert_int_equal(variants_standing(&slow, &fast), STANDING_BEHIND);
    assert_int_equal(variants_standing(&fast, &near), STANDING_UNKNOWN);
    /* however fast those are that it still answers */
    assert_int_equal(variants_standing(&slow, &over), STANDING_AHEAD);
    assert_int_equal(variants_standing(&over, &more), STANDING_BEHIND);
    assert_int_equal(variants_standing(&fast, &unknown), STANDING_UNKNOWN);
    assert_int_equal(variants_standing(&fast, &unsure), STANDING_UNKNOWN);
}

/* Latencies that scatter by a factor of three, and half a percent more on the
 * other side: nothing that intervals could show. */
TEST(pairs_tell_more_than_intervals)
{
    struct latency one[40];
    struct latency other[40];
    struct variant_cell a = cell(10, 50, false);
    struct variant_cell b = cell(10.05, 50, false);

    for (size_t i = 0; i < COUNT(one); i++) {
        double ns = 5e6 * (1 + (double)(i * 7 % 5) / 2);

        one[i] = (struct latency){(int64_t)i, ns};
        other[i] = (struct latency){(int64_t)i,
                                    ns * (1.004 + 0.001 * (double)(i % 3))};
    }
    assert_int_equal(variants_standing(&a, &b), STANDING_UNKNOWN);
    a.latencies = (struct latencies){one, COUNT(one)};
    b.latencies = (struct latencies){other, COUNT(other)};
    assert_int_equal(variants_standing(&a, &b), STANDING_AHEAD);
    assert_int_equal(variants_standing(&b, &a), STANDING_BEHIND);
    b.latencies.n--; /* other arrivals */
    assert_int_equal(variants_standing(&a, &b), STANDING_UNKNOWN);
    b.latencies.n++;
    other[3].due_ns++;
    assert_int_equal(variants_standing(&a, &b), STANDING_UNKNOWN);
}

TEST(medians_have_intervals)
{
    double few[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    double alike[40];
    double failed[12];
    struct uncertain u;

    for (size_t i = 0; i < COUNT(alike); i++)
        alike[i] = 8 + (double)(i % 4);
    for (size_t i = 0; i < COUNT(failed); i++)
        failed[i] = i < 6 ? 1 : INFINITY;
    u = sliced_median(alike, COUNT(alike), 0.95);
    assert_true(u.has_range && u.value == 9.5);
    assert_true(u.range.low <= 9.5 && u.range.high >= 9.5);
    assert_false(sliced_median(few, COUNT(few), 0.95).has_range);
    assert_false(sliced_median(failed, COUNT(failed), 0.95).has_range);
    assert_false(sliced_median(few, 0, 0.95).has_range);
}

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
    r.cells[3][0] = (struct variant_cell){.runs = 1};
    variants_work_out(&r.s);
    for (size_t i = 0; i < COUNT(order); i++) {
        assert_int_equal(r.s.places[i].variant, order[i]);
        assert_int_equal(r.s.places[i].rank, ranks[i]);
    }
    rig_fini(&r);
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
    assert_true(fabs(r.s.crossings[0].at - 40 * pow(4, 0.2)) < 1e-9);
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

TEST(reports_have_all_of_it)
{
    struct rig r;

    make_crossing(&r);
    snprintf(r.s.set.list[1].failed, sizeof(r.s.set.list[1].failed),
             "the server ended");
    variants_work_out(&r.s);
    assert_golden_doc("variants", variants_doc(&r.s));
    assert_int_equal(exit_status_of_variants(&r.s), 3);
    rig_fini(&r);
}
