/* The state of a run in its summary: overload and the verdict, the requests of
 * the warm-up, quantiles with their sections; in JSON and in text. */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "analyzer/report/report.h"
#include "analyzer/tally/summary.h"
#include "cli/exit_status.h"
#include "tests/support/maderun.h"
#include "tests/support/rendered.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* One after the other, 10 ms each, at a rate for 5 s. */
static struct made_run *queue(int64_t rate, const char *slo)
{
    struct made_run *m = made_run_new(0, 5000, slo);
    int64_t free_ms = 0;

    for (int64_t i = 0; i < 5 * rate; i++) {
        int64_t due_ms = 1000 * i / rate;

        free_ms = (free_ms > due_ms ? free_ms : due_ms) + 10;
        made_run_add(m, row_ok(i, due_ms, free_ms - due_ms));
    }
    return m;
}

TEST(overload_fails_the_objective)
{
    static const struct {
        int64_t rate;
        const char *slo;
        bool is_closed;
        enum load_state load;
        enum verdict verdict;
        int code;
    } cases[] = {
        {120, "e2e p50 < 10s", false, LOAD_OVER, VERDICT_FAIL, 1},
        {120, "e2e p99.9 < 10s", false, LOAD_OVER, VERDICT_FAIL, 1},
        {120, "e2e p50 < 1ms", false, LOAD_OVER, VERDICT_FAIL, 1},
        {120, "", false, LOAD_OVER, VERDICT_NONE, 0},
        {120, "e2e p50 < 10s", true, LOAD_UNKNOWN, VERDICT_PASS, 0},
        {50, "e2e p50 < 10s", false, LOAD_WITHIN, VERDICT_PASS, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_run *m = queue(cases[i].rate, cases[i].slo);
        struct read_run *r;
        json_t *json;

        m->is_closed = cases[i].is_closed;
        r = made_run_sum_up(m, NULL);
        assert_int_equal(r->s.steady.load.state, cases[i].load);
        assert_int_equal(r->s.verdict, cases[i].verdict);
        assert_int_equal(exit_status_of_run(&r->s), cases[i].code);
        json = report_parsed(&r->s);
        assert_int_equal(json_is_true(part_at(json, "overloaded")),
                         cases[i].load == LOAD_OVER);
        assert_int_equal(json_is_null(part_at(json, "overloaded")),
                         cases[i].load == LOAD_UNKNOWN);
        read_run_free(r);
    }
}

/* A client that did not do what was asked comes before it. */
TEST(an_invalid_run_stays_invalid)
{
    struct made_run *m = queue(120, "e2e p50 < 10s");
    struct read_run *r;

    made_run_add_unsent(m, 1);
    r = made_run_sum_up(m, NULL);
    assert_true(summary_is_overloaded(&r->s));
    assert_int_equal(r->s.verdict, VERDICT_INVALID);
    assert_int_equal(exit_status_of_run(&r->s), 4);
    read_run_free(r);
}

TEST(the_text_says_why)
{
    struct read_run *r = made_run_sum_up(queue(120, "e2e p50 < 10s"), NULL);
    char *text = report_verbose(&r->s);

    assert_says(text, "FAIL: the server is overloaded");
    assert_says(text, "OVERLOADED: requests in flight grew from 5.92 in the "
                      "first tenth of the window to 95.92 in the last");
    assert_says(text, "first tenth of the window 5.92, last tenth 95.92");
    assert_says(text, "percentiles depend on the length of the run");
    assert_says(text, "Little's law: off by ");
    read_run_free(r);
}

/* 100 requests of 100 ms in the warm-up, 400 of 5 ms in the window. */
static struct read_run *cold_start(int64_t warmup_ms)
{
    struct made_run *m = made_run_new(warmup_ms, 5000 - warmup_ms, "");

    for (int64_t i = 0; i < 100; i++)
        made_run_add(m, row_ok(i, 10 * i, 100));
    made_run_add_fast(m, 1000, 400);
    return made_run_sum_up(m, NULL);
}

TEST(cold_requests_are_shown)
{
    struct read_run *r = cold_start(1000);
    const struct cold *c = &r->s.steady.cold;
    char *text = report_verbose(&r->s);

    assert_int_equal(c->requests, 100);
    assert_int_equal(c->ok, 100);
    assert_true(fabs(c->mean_ns - 100e6) < 1e5);
    assert_int_equal(c->p99_ns, HIST_TOO_FEW);
    /* (100 x 100 + 400 x 5) / 500 = 24 ms for 5; p99 100 ms for 5. */
    assert_true(fabs(c->mean_shift - 3.8) < 0.01);
    assert_true(fabs(c->p99_shift - 19) < 0.1);
    assert_says(text, "requests in the warm-up: 100, ok 100, e2e mean 100ms");
    assert_says(text, "if they counted, the mean would change by +380%%");
    assert_null(strstr(text, "--warmup"));
    read_run_free(r);
}

TEST(a_longer_warm_up_is_suggested)
{
    struct read_run *r = cold_start(0);
    char *text = report_verbose(&r->s);
    json_t *json = report_parsed(&r->s);

    assert_true(r->s.steady.warmup.found_s >= 1);
    assert_true(r->s.steady.warmup.found_s < 1.2);
    assert_says(text, "WARNING the window begins too early");
    assert_says(text, "--warmup 1");
    assert_number_at(json, "steady/warmup/suggested_s",
                     r->s.steady.warmup.suggested_s);
    read_run_free(r);
}

/* Every section alike: 45 times 5 ms and 5 times 9 ms. */
TEST(quantiles_have_sections)
{
    struct made_run *m = made_run_new(0, 10000, "connect p50 < 1s");
    struct read_run *r;
    const struct within *w;
    json_t *json;

    for (int64_t i = 0; i < 1000; i++)
        made_run_add(m, row_ok(i, 10 * i, i % 10 == 0 ? 9 : 5));
    r = made_run_sum_up(m, NULL);
    w = r->s.steady.within;
    json = report_parsed(&r->s);
    assert_int_equal(r->s.steady.n_within, 4); /* e2e, connect */
    assert_int_equal(w[0].measure, MEASURE_E2E);
    assert_int_equal(w[0].section.verdict, SECTION_KNOWN);
    assert_true(fabs(w[0].section.quantile.range.low / 5e6 - 1) < 1e-3);
    assert_true(fabs(w[0].section.quantile.range.high / 5e6 - 1) < 1e-3);
    assert_true(fabs(w[0].n_effective - 1000) < 1);
    assert_int_equal(w[1].section.verdict, SECTION_TOO_FEW);
    assert_text_at(json, "steady/within_run/0/quantile", "p50");
    assert_number_at(json, "steady/within_run/0/ci95_ms/1",
                     w[0].section.quantile.range.high / 1e6);
    assert_number_at(json, "steady/within_run/0/n_effective", w[0].n_effective);
    assert_true(json_is_null(part_at(json, "steady/within_run/1/ci95_ms")));
    assert_text_at(json, "steady/within_run/1/ci95_ms_note", "n too small");
    read_run_free(r);
}

TEST(json_has_every_number)
{
    struct read_run *r = cold_start(1000);
    const struct steady *s = &r->s.steady;
    json_t *json = report_parsed(&r->s);
    const struct {
        const char *path;
        double want;
    } cases[] = {
        {"steady/warmup/asked_s", 1},
        {"steady/warmup/found_s", s->warmup.found_s},
        {"steady/in_flight/mean", s->load.in_flight},
        {"steady/in_flight/first_tenth", s->load.first},
        {"steady/in_flight/last_tenth", s->load.last},
        {"steady/in_flight/blocks", (double)s->load.overload.blocks},
        {"steady/in_flight/trend_p", s->load.overload.p},
        {"steady/in_flight/growth", s->load.overload.growth},
        {"steady/in_flight/explained", s->load.overload.explained},
        {"steady/in_flight/chance", s->load.overload.chance},
        {"steady/in_flight/arrivals", 400},
        {"steady/little/expected", s->load.little.expected},
        {"steady/little/off", s->load.little.off},
        {"steady/halves/first_ms", s->measures[0].halves.drift.first / 1e6},
        {"steady/halves/second_ms", s->measures[0].halves.drift.second / 1e6},
        {"steady/halves/relative", s->measures[0].halves.drift.relative},
        {"steady/cold/requests", 100},
        {"steady/cold/mean_ms", s->cold.mean_ns / 1e6},
        {"steady/cold/mean_shift", s->cold.mean_shift},
        {"steady/cold/p99_shift", s->cold.p99_shift},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_number_at(json, cases[i].path, cases[i].want);
    assert_text_at(json, "steady/measure", "e2e");
    assert_true(json_is_false(part_at(json, "overloaded")));
    assert_true(json_is_false(part_at(json, "steady/halves/drifts")));
    assert_true(json_is_null(part_at(json, "steady/cold/p99_ms")));
    read_run_free(r);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
