/* The part of a report that MLPerf's rules have, and requests as CSV. */
#include <jansson.h>
#include <string.h>

#include "analyzer/report/report.h"
#include "analyzer/report/run_doc.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/recording/schema.h"
#include "tests/support/golden.h"
#include "tests/support/madesummary.h"
#include "tests/support/rendered.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

/* ---- the rules ---- */

TEST(nothing_is_said_where_they_have_no_part)
{
    struct made_summary *m = made_summary_new(10000);
    char *text = report_verbose(&m->s);
    json_t *json = report_parsed(&m->s);

    assert_null(strstr(text, "mlperf"));
    assert_null(json_object_get(json, "mlperf"));
    made_summary_free(m);
}

TEST(a_latency_and_what_proves_it)
{
    struct made_summary *m = made_summary_new(10000);

    m->s.mlperf = (struct mlperf){
        .is_there = true,
        .metric = "p90 latency",
        .proofs = {{.measure = MEASURE_E2E,
                    .percentile = 0.9,
                    .n = 100,
                    .over = 3,
                    .estimate_ns = 25 * NS_PER_MS,
                    .is_proved = true},
                   {.measure = MEASURE_E2E,
                    .percentile = 0.99,
                    .n = 700,
                    .estimate_ns = 31 * NS_PER_MS,
                    .is_proved = true,
                    .is_beside = true}},
        .n_proofs = 2,
        .breaks = {"lasted 1 s, less than 600 s"},
        .n_breaks = 1,
        .accuracy = {.hash = "0123456789abcdef",
                     .why = "../fp8 differs: conditions.precision: fp16 | fp8"},
    };
    assert_golden_doc("mlperf-latency", doc_of_part(run_doc_mlperf, &m->s));
    made_summary_free(m);
}

TEST(a_latency_that_is_not_there)
{
    static const struct {
        int64_t estimate_ns;
        const char *text;
        const char *note;
    } cases[] = {
        {HIST_TOO_FEW,
         "mlperf     p99 query latency: too few\n"
         "           early stopping, p99 of query: queries 9: too few "
         "queries\n",
         "n too small"},
        {HIST_BEYOND,
         "mlperf     p99 query latency: failed\n"
         "           early stopping, p99 of query: queries 9: too few ok "
         "queries\n",
         "beyond failures"},
    };

    for (size_t i = 0; i < 2; i++) {
        struct made_summary *m = made_summary_new(10000);
        char *text;
        json_t *json;

        m->s.mlperf = (struct mlperf){
            .is_there = true,
            .metric = "p99 query latency",
            .proofs = {{.measure = MEASURE_QUERY,
                        .percentile = 0.99,
                        .n = 9,
                        .estimate_ns = cases[i].estimate_ns}},
            .n_proofs = 1,
        };
        text = report_verbose(&m->s);
        assert_says(text, "%s", cases[i].text);
        json = report_parsed(&m->s);
        assert_true(json_is_null(part_at(json, "mlperf/result_ms")));
        assert_text_at(json, "mlperf/result_note", cases[i].note);
        made_summary_free(m);
    }
}

TEST(a_rate_and_its_limits)
{
    struct made_summary *m = made_summary_new(10000);

    m->s.mlperf = (struct mlperf){
        .is_there = true,
        .metric = "completed samples/s",
        .is_rate = true,
        .rate_rps = 12.5,
        .proofs = {{.measure = MEASURE_TTFT,
                    .percentile = 0.99,
                    .n = 1307,
                    .limit_ns = 2 * NS_PER_S,
                    .over = 5,
                    .is_proved = true},
                   {.measure = MEASURE_TPOT,
                    .percentile = 0.99,
                    .n = 1306,
                    .limit_ns = 200 * NS_PER_MS,
                    .over = 6,
                    .more_needed = 7}},
        .n_proofs = 2,
        .accuracy = {.is_found = true,
                     .dir = "../accuracy",
                     .hash = "0123456789abcdef",
                     .answers = 500,
                     .checked = 500,
                     .share = 0.992},
    };
    assert_golden_doc("mlperf-rate", doc_of_part(run_doc_mlperf, &m->s));
    made_summary_free(m);
}

/* ---- what a scenario's report says besides ---- */

TEST(a_closed_loop_says_what_it_hides)
{
    static const char line[] = "closed loop: a slow server receives fewer";
    static const struct {
        int scenario;
        bool want;
    } cases[] = {{SCENARIO_SERVER, false},
                 {SCENARIO_CLOSED, true},
                 {SCENARIO_SINGLE_STREAM, true},
                 {SCENARIO_MULTI_STREAM, true},
                 {SCENARIO_OFFLINE, false}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct made_summary *m = made_summary_new(10000);
        char *text;

        m->settings.load.scenario = cases[i].scenario;
        text = report_verbose(&m->s);
        assert_int_equal(strstr(text, line) != NULL, cases[i].want);
        made_summary_free(m);
    }
}

TEST(offline_waits_and_is_cut)
{
    struct made_summary *m = made_summary_new(10000);
    char *text;
    json_t *json;

    m->settings.load.scenario = SCENARIO_OFFLINE;
    m->s.cut_by_max_duration = true;
    text = report_verbose(&m->s);
    assert_says(text,
                "max_duration ended the run before everything was sent\n");
    assert_says(text, "\nwait before sending ");
    assert_null(strstr(text, "client lag"));
    json = report_parsed(&m->s);
    assert_true(json_is_true(part_at(json, "window/cut_by_max_duration")));
    made_summary_free(m);
}

/* ---- CSV ---- */

TEST(csv_names_columns_and_units)
{
    struct buf out;
    size_t commas = 0;

    buf_init(&out, 10000);
    report_csv.render_header(NULL, 0, &out);
    assert_non_null(strstr(buf_text(&out),
                           "seq,due_ns,issued_ns,sent_ns,head_ns,first_ns,"
                           "last_ns,end_ns,outcome,detail,status,is_fresh,"
                           "retries,bytes_out_B,bytes_in_B,buffered_ns,"));
    for (const char *c = buf_text(&out); *c; c++)
        commas += *c == ',';
    assert_int_equal(commas, schema_requests.len - 1);
    buf_fini(&out);
}

static void assert_starts(const char *line, const char *want)
{
    assert_int_equal(strncmp(line, want, strlen(want)), 0);
}

TEST(csv_has_a_line_a_request)
{
    struct facts rows[] = {row_ok(0, 5, 20), row_unsent(1, 6),
                           row_failed(2, 7, 10, OUTCOME_TIMEOUT)};
    struct buf out;
    const char *line;

    rows[0].finish = FINISH_LENGTH;
    rows[0].token_source = TOKENS_USAGE;
    buf_init(&out, 10000);
    report_csv.render_rows(rows, 3, &out);
    line = buf_text(&out);
    assert_starts(line, "0,5000000,5000000,6000000,25000000,25000000,25000000,"
                        "25000000,ok,0,200,0,0,");
    assert_non_null(strstr(line, ",usage,"));
    assert_non_null(strstr(line, ",length"));
    line = strchr(line, '\n') + 1;
    assert_starts(line, "1,6000000,,,,,,,unsent,");
    line = strchr(line, '\n') + 1;
    assert_starts(line, "2,7000000,7000000,8000000,,,,17000000,timeout,");
    assert_string_equal(strchr(line, '\n'), "\n");
    buf_fini(&out);
}

/* Of a later version. */
TEST(csv_knows_no_such_outcome)
{
    struct facts row = row_failed(2, 7, 10, OUTCOME_COUNT);
    struct buf out;

    buf_init(&out, 10000);
    report_csv.render_rows(&row, 1, &out);
    assert_non_null(strstr(buf_text(&out), ",17000000,unknown,"));
    buf_fini(&out);
}
