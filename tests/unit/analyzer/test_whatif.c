/* Other limits: the tightest that is shown to be met, and how many requests are
 * within which. */

#include "analyzer/tally/distribution.h"
#include "analyzer/verdict/judge.h"
#include "common/base/clk.h"
#include "common/base/rng.h"
#include "common/stats/share_test.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

#define N        2000
#define WINDOW_S 20

static const struct window window = {.end_ns = WINDOW_S * NS_PER_S};

static struct facts rows[N];

/* `cluster`: how much slower the second half of each batch of rows is. */
static void make_rows(uint64_t seed, int failed_percent, double cluster)
{
    struct rng rng = rng_stream(seed, RNG_ARRIVAL);

    for (int64_t i = 0; i < N; i++) {
        double ms = 1 + 400 * rng_uniform(&rng) * rng_uniform(&rng);

        if (i / 100 % 2 == 1)
            ms *= cluster;
        rows[i] = row_ok(i, i * 10, 0);
        rows[i].first = rows[i].last = rows[i].end =
            rows[i].due + (int64_t)(ms * 1e6);
        if (rng_uniform(&rng) * 100 < failed_percent)
            rows[i] = row_failed(i, i * 10, 1, OUTCOME_STATUS);
    }
}

static struct term_judgement judged(const char *slo_text, int64_t limit_ns)
{
    static struct slo slo;
    struct judgement j;
    struct tally t;

    slo = slo_of(slo_text);
    if (limit_ns > 0)
        slo.terms[0].limit_ns = limit_ns;
    tally_init(&t, window, &slo);
    for (size_t i = 0; i < N; i++)
        tally_add(&t, &rows[i]);
    judge(&t, WINDOW_S, &j);
    tally_fini(&t);
    return j.terms[0];
}

/* The verdict at a limit just above it is shown, at one well below it is not:
 * the dependence of requests is estimated at each limit, so it is not exact. */
TEST(the_tightest_limit_is_shown_to_be_met)
{
    static const struct {
        const char *slo;
        int failed_percent;
        double cluster;
    } cases[] = {
        {"e2e p99 < 200ms", 0, 1},   {"e2e p99 < 1s", 0, 1},
        {"e2e p50 < 1us", 0, 1},     {"e2e p90 < 50ms", 5, 1},
        {"e2e p99.9 < 500ms", 0, 1}, {"e2e p90 < 50ms", 0, 3},
        {"e2e p99 < 50ms", 0, 1.2},  {"ttft p95 < 50ms", 2, 1.5},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct term_judgement j;
        int64_t ns;

        make_rows(i + 1, cases[i].failed_percent, cases[i].cluster);
        j = judged(cases[i].slo, 0);
        ns = j.high_ns;
        if (ns < 0) { /* then no limit will do, however wide */
            j = judged(cases[i].slo, 1000 * NS_PER_S);
            assert_false(j.verdict == VERDICT_PASS && j.is_shown);
            continue;
        }
        j = judged(cases[i].slo, ns + ns / 10);
        assert_int_equal(j.verdict, VERDICT_PASS);
        assert_true(j.p <= 2 * SHARE_LEVEL);
        assert_false(judged(cases[i].slo, ns - ns / 10).is_shown &&
                     judged(cases[i].slo, ns - ns / 10).verdict ==
                         VERDICT_PASS);
        assert_true((double)ns > 0.99 * (double)j.measured_ns);
    }
}

TEST(where_too_many_failed_no_limit_is_met)
{
    make_rows(1, 5, 1);
    assert_int_equal(judged("e2e p99 < 1s", 0).high_ns, HIST_BEYOND);
    make_rows(1, 0, 1);
    assert_true(judged("e2e p99 < 1us", 0).high_ns > 0);
}

/* One value, known to the digit: strictly below means the next number up. */
TEST(by_hand)
{
    for (int64_t i = 0; i < N; i++)
        rows[i] = row_ok(i, i * 10, 123);
    assert_int_equal(judged("e2e p99 < 1s", 0).high_ns, 124 * NS_PER_MS);
    for (int64_t i = 0; i < N; i++)
        rows[i] = row_ok(i, i * 10, 1999);
    assert_int_equal(judged("e2e p99 < 1s", 0).high_ns, 2000 * NS_PER_MS);
}

/* At every limit as many as there are rows below it. */
TEST(the_curve_counts_exactly)
{
    struct slo slo = slo_of("e2e p99 < 123ms,e2e p50 < 7ms,ttft p9 < 3ms");
    struct curve_point points[CURVE_MAX];
    struct curve c;
    struct tally t;
    int marked = 0;
    size_t n;

    make_rows(3, 10, 1.5);
    tally_init(&t, window, &slo);
    curve_init(&c, MEASURE_E2E, &slo);
    t.curve = &c;
    for (size_t i = 0; i < N; i++)
        tally_add(&t, &rows[i]);
    assert_int_equal(curve_n(&c), N);
    n = curve_points(&c, points);
    assert_true(n > 10);
    for (size_t i = 0; i < n; i++) {
        int64_t within = 0;

        for (size_t k = 0; k < N; k++)
            within += rows[k].outcome == OUTCOME_OK &&
                      rows[k].last - rows[k].due < points[i].limit_ns;
        assert_int_equal(points[i].within, within);
        assert_true(points[i].ci95.low <= points[i].share);
        assert_true(points[i].ci95.high >= points[i].share);
        assert_true(i == 0 || points[i].limit_ns > points[i - 1].limit_ns);
        marked += points[i].is_slo;
        if (points[i].limit_ns == 123 * NS_PER_MS)
            assert_int_equal(within, t.terms[0].keeps);
    }
    assert_int_equal(marked, 2);
    assert_int_equal(points[0].within, 0);
    assert_int_equal(points[n - 1].within, t.outcome[OUTCOME_OK]);
    tally_fini(&t);
}

TEST(edges_are_numbers_of_three_digits)
{
    assert_int_equal(grid_edge_ns(0), 0);
    assert_int_equal(grid_edge_ns(999), 999);
    assert_int_equal(grid_edge_ns(1000), 1000);
    assert_int_equal(grid_edge_ns(1001), 1010);
    for (size_t i = 1; i < grid_len(); i++)
        assert_true(grid_edge_ns(i) > grid_edge_ns(i - 1));
    assert_true(grid_edge_ns(grid_len()) > HIST_HIGHEST_NS);
}
