/* The JSON report: every count and rate, every measure, and why one is missing.
 */
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "analyzer/tally/summary.h"
#include "tests/support/madesummary.h"
#include "tests/support/rendered.h"
#include "tests/support/test.h"

TEST(json_has_every_count_and_rate)
{
    struct made_summary *m = made_summary_new(10000);
    const struct summary *s = &m->s;
    json_t *json = report_parsed(s);
    const struct {
        const char *path;
        double want;
    } cases[] = {
        {"schema", 1},
        {"window/start_s", s->window_start_s},
        {"window/length_s", s->window_length_s},
        {"window/warmup_s", s->warmup_s},
        {"requests/scheduled", (double)s->scheduled},
        {"requests/issued", (double)s->issued},
        {"requests/unsent", (double)s->unsent},
        {"requests/ok", (double)s->ok},
        {"requests/failed", (double)s->failed},
        {"requests/by_outcome/timeout", (double)s->outcome[OUTCOME_TIMEOUT]},
        {"requests/by_outcome/in-band error",
         (double)s->outcome[OUTCOME_INBAND]},
        {"requests/good", (double)s->good},
        {"requests/opened_connection", (double)s->fresh_connections},
        {"requests/reused_connection", (double)s->reused_connections},
        {"requests/reuse",
         (double)s->reused_connections /
             (double)(s->fresh_connections + s->reused_connections)},
        {"requests/retried", (double)s->retried},
        {"requests/resends", (double)s->resends},
        {"offered_rps", s->offered_rps},
        {"throughput_rps", s->throughput_rps},
        {"goodput_rps", s->goodput_rps},
        {"attainment", s->attainment},
        {"attainment_ci95/0", s->attainment_ci95.low},
        {"attainment_ci95/1", s->attainment_ci95.high},
        {"trust/checks/0/value", s->trust.checks[0].value},
        {"trust/checks/1/limit", s->trust.checks[1].limit},
        {"network/rtt_floor_ms", (double)s->rtt_floor_ns / 1e6},
        {"network/segments", (double)s->segments},
        {"network/retransmits", (double)s->retransmits},
        {"client/threads", (double)s->threads},
        {"client/max_in_flight", (double)m->settings.client.max_in_flight},
        {"slo/0/measured_ms", (double)s->judgement.terms[0].measured_ns / 1e6},
        {"slo/1/measured", s->judgement.terms[1].measured},
        {"recording/lost_events", (double)s->integrity.lost_events},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_number_at(json, cases[i].path, cases[i].want);
    assert_null(json_object_get(part_at(json, "requests/by_outcome"), "ok"));
    assert_null(
        json_object_get(part_at(json, "requests/by_outcome"), "unsent"));
    made_summary_free(m);
}

static void check_spread(const json_t *o, const struct spread *p)
{
    assert_number_at(o, "n", (double)p->n);
    assert_number_at(o, "failed", (double)p->failed);
    assert_number_at(o, "mean_ms", p->mean_ns / 1e6);
    assert_number_at(o, "p50_ms", (double)p->quantile_ns[0] / 1e6);
    assert_number_at(o, "p90_ms", (double)p->quantile_ns[1] / 1e6);
    assert_number_at(o, "p95_ms", (double)p->quantile_ns[2] / 1e6);
    assert_number_at(o, "p99_ms", (double)p->quantile_ns[3] / 1e6);
    assert_number_at(o, "p99.9_ms", (double)p->quantile_ns[4] / 1e6);
    assert_number_at(o, "max_ms", (double)p->max_ns / 1e6);
    assert_number_at(o, "out_of_range", (double)p->out_of_range);
}

TEST(json_has_every_measure)
{
    static const struct {
        const char *name;
        enum measure measure;
        bool has_ok;
        bool has_sent;
    } cases[] = {
        {"e2e", MEASURE_E2E, true, true},
        {"service", MEASURE_SERVICE, true, false},
        {"connect", MEASURE_CONNECT, false, false},
        {"tls", MEASURE_TLS, false, false},
        {"lag", MEASURE_LAG, false, false},
        {"ttfb", MEASURE_TTFB, true, true},
        {"ttft", MEASURE_TTFT, true, true},
        {"tpot", MEASURE_TPOT, true, false},
        {"stall", MEASURE_STALL, true, false},
        {"tail", MEASURE_TAIL, false, false},
        {"gap", MEASURE_GAP, false, false},
        {"itl", MEASURE_ITL, false, false},
        {"query", MEASURE_QUERY, false, false},
    };
    struct made_summary *m = made_summary_new(10000);
    json_t *json = report_parsed(&m->s);

    assert_int_equal(json_object_size(part_at(json, "measures")), COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++) {
        const json_t *o = part_at(part_at(json, "measures"), cases[i].name);
        const struct spread *p = m->s.spread[cases[i].measure];

        check_spread(o, &p[VIEW_DUE]);
        if (cases[i].has_ok)
            check_spread(part_at(o, "ok"), &p[VIEW_OK]);
        if (cases[i].has_sent)
            check_spread(part_at(o, "sent"), &p[VIEW_SENT]);
    }
    made_summary_free(m);
}

TEST(json_gives_null_and_a_reason)
{
    struct made_summary *m = made_summary_new(10000);
    struct spread *p = &m->s.spread[MEASURE_E2E][VIEW_DUE];
    json_t *json;
    const json_t *e2e;

    p->mean_ns = HIST_BEYOND;
    p->quantile_ns[2] = HIST_OUT_OF_RANGE;
    p->quantile_ns[3] = HIST_TOO_FEW;
    p->quantile_ns[4] = HIST_BEYOND;
    p->max_ns = HIST_EMPTY;
    json = report_parsed(&m->s);
    e2e = part_at(json, "measures/e2e");
    assert_true(json_is_null(part_at(e2e, "p99_ms")));
    assert_text_at(e2e, "p99_note", "n too small");
    assert_true(json_is_null(part_at(e2e, "p95_ms")));
    assert_text_at(e2e, "p95_note", "out of range");
    assert_true(json_is_null(part_at(e2e, "p99.9_ms")));
    assert_text_at(e2e, "p99.9_note", "beyond failures");
    assert_true(json_is_null(part_at(e2e, "mean_ms")));
    assert_text_at(e2e, "mean_note", "beyond failures");
    assert_true(json_is_null(part_at(e2e, "max_ms")));
    assert_text_at(e2e, "max_note", "no samples");
    assert_null(json_object_get(e2e, "p50_note"));
    assert_true(json_is_null(part_at(json, "slo/0/met")));
    assert_text_at(json, "slo/1/met_note", "depends on unfinished requests");
    assert_non_null(strstr(json_string_value(part_at(json, "slo/0/met_note")),
                           "more requests needed"));
    assert_true(json_is_null(part_at(json, "overloaded")));
    assert_true(json_is_string(part_at(json, "overloaded_note")));
    made_summary_free(m);
}

TEST(json_says_the_verdict)
{
    static const char *const names[] = {"none", "pass", "fail", "undecided",
                                        "invalid"};

    for (int v = 0; v < (int)COUNT(names); v++) {
        struct made_summary *m = made_summary_new(10000);
        json_t *json;

        m->s.verdict = (enum verdict)v;
        m->s.trust.valid = v != VERDICT_INVALID;
        m->s.judgement.terms[1].verdict = VERDICT_PASS;
        m->s.judgement.terms[2].verdict = VERDICT_FAIL;
        json = report_parsed(&m->s);
        assert_text_at(json, "verdict", names[v]);
        assert_text_at(json, "scenario", "server");
        assert_text_at(json, "slo/0/term", "e2e p50 < 9s");
        assert_true(json_is_true(part_at(json, "slo/1/met")));
        assert_true(json_is_false(part_at(json, "slo/2/met")));
        assert_true(json_is_true(part_at(json, "interrupted")));
        assert_int_equal(json_is_true(part_at(json, "trust/valid")),
                         v != VERDICT_INVALID);
        assert_text_at(json, "trust/checks/0/name", "lag");
        assert_true(json_is_true(part_at(json, "trust/checks/0/ok")));
        assert_text_at(json, "trust/checks/1/advice", "run longer");
        assert_text_at(json, "trust/checks/0/bound", "at most");
        assert_text_at(json, "trust/checks/1/bound", "at least");
        assert_true(json_is_false(part_at(json, "trust/checks/0/fatal")));
        made_summary_free(m);
    }
}

TEST(it_has_the_conditions)
{
    struct made_summary *m = made_summary_bare("http://h/");
    json_t *json;

    strmap_put(&m->settings.conditions, "hardware", "1xL4");
    json = report_parsed(&m->s);
    assert_text_at(json, "conditions/hardware", "1xL4");
    made_summary_free(m);
}
