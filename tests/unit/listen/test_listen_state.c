/* What is counted while a run goes on, and the text that scrapers get. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "common/settings/settings.h"
#include "listen/listen_metrics.h"
#include "listen/listen_page.h"
#include "listen/listen_state.h"
#include "loadgen/engine/run.h"
#include "tests/support/keep.h"
#include "tests/support/rows.h"
#include "tests/support/schema.h"
#include "tests/support/test.h"

static struct settings settings;

/* An open loop whose window starts after a second. */
static struct listen_state *begin_of(const char *name, const char *class,
                                     const char *slo)
{
    struct listen_state *st = listen_state_new("run-1");
    const struct listen_point point = {
        .dir = "/nowhere", .value = NAN, .met = NAN, .missed = NAN};
    struct err err = {0};

    settings_init(&settings);
    settings.load.scenario = SCENARIO_SERVER;
    settings.load.rate_rps = 100;
    settings.load.duration_ns = 10 * NS_PER_S;
    settings.name = xstrdup(name);
    if (class) {
        settings.classes.items = xcalloc(1, sizeof(*settings.classes.items));
        settings.classes.len = 1;
        settings.classes.items[0] =
            (struct class_settings){.name = xstrdup(class),
                                    .weight = 1,
                                    .settings = xcalloc(1, sizeof(settings))};
        settings_init(settings.classes.items[0].settings);
        strlist_add(&settings.classes.items[0].settings->slo, slo);
    } else {
        strlist_add(&settings.slo, slo);
    }
    assert_int_equal(listen_state_begin(st, &settings, &point, &err), 0);
    return st;
}

static struct listen_state *begin_with(const char *name, const char *slo)
{
    return begin_of(name, NULL, slo);
}

/* A worker hands over rows, and what it has seen at `at_ms` if that is not 0.
 */
static void add(struct listen_state *st, unsigned shard,
                const struct facts *rows, size_t n, int64_t at_ms,
                int64_t issued)
{
    const struct observation seen = {.at = at_ms * NS_PER_MS,
                                     .issued = issued,
                                     .lag_max = NS_PER_MS,
                                     .cpu = at_ms * NS_PER_MS / 10};
    const struct run_look look = {.start_ns = NS_PER_S,
                                  .end_ns = 11 * NS_PER_S,
                                  .rows = rows,
                                  .n = n,
                                  .shard = shard,
                                  .seen = at_ms > 0 ? &seen : NULL};

    listen_state_add(st, &look);
}

static void end(struct listen_state *st)
{
    listen_state_free(st);
    settings_fini(&settings);
}

static void expect_line(const struct listen_view *v, bool is_open,
                        const char *line)
{
    struct buf out;

    buf_init(&out, LISTEN_MAX_TEXT);
    listen_metrics(v, is_open, &out);
    assert_false(out.overflowed);
    if (!strstr(buf_text(&out), line))
        fail_msg("no line %s in\n%s", line, buf_text(&out));
    buf_fini(&out);
}

#define LABELS "{run=\"run-1\",name=\"n\",scenario=\"server\",variant=\"\""

/* issued = ok + failed + in flight at any moment: a worker may hand over rows
 * before it says how many it has sent. */
TEST(the_identity_holds_between_observations)
{
    struct facts rows[] = {row_ok(0, 1100, 10), row_ok(1, 1200, 20),
                           row_failed(2, 1300, 5, OUTCOME_RESET)};
    struct listen_state *st = begin_with("n", "e2e p90 < 15ms");
    struct listen_view v;

    add(st, 0, rows, 2, 0, 0);
    listen_state_view(st, false, &v);
    assert_int_equal(v.variants[0].sum.issued, 2);
    assert_int_equal(v.in_flight, 0);
    listen_view_fini(&v);
    add(st, 0, rows + 2, 1, 2000, 5);
    listen_state_view(st, false, &v);
    assert_int_equal(v.variants[0].sum.issued, 5);
    assert_int_equal(v.variants[0].sum.ended, 3);
    assert_int_equal(v.in_flight, 2);
    expect_line(&v, false, "tailgate_requests_in_flight" LABELS "} 2\n");
    expect_line(&v, false,
                "tailgate_requests_ok_total" LABELS ",class=\"\"} 2\n");
    expect_line(&v, false,
                "tailgate_requests_failed_total" LABELS
                ",class=\"\",outcome=\"reset\"} 1\n");
    listen_view_fini(&v);
    end(st);
}

/* Polling is timed by the clock: without a CPU it takes longer than the CPU
 * time of its thread. */
TEST(cpu_time_never_falls)
{
    static const struct {
        int64_t cpu_ms;
        int64_t spun_ms;
        int64_t wait_ms;
        const char *cpu;
        const char *busy;
    } cases[] = {
        {750, 250, 0, "0.5", "0.5"},
        {1000, 1000, 750, "0.5", "0.25"},
        {1125, 1250, 750, "0.5", "0"},
        {1625, 1250, 875, "1", "0.625"},
    };
    struct listen_state *st = begin_with("n", "errors < 1%");
    struct observation seen = {0};
    struct run_look look = {.end_ns = 11 * NS_PER_S, .seen = &seen};

    listen_state_add(st, &look);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct listen_view v;

        seen.at += NS_PER_S;
        seen.cpu = cases[i].cpu_ms * NS_PER_MS;
        seen.spun = cases[i].spun_ms * NS_PER_MS;
        seen.cpu_wait = cases[i].wait_ms * NS_PER_MS;
        listen_state_add(st, &look);
        listen_state_view(st, false, &v);
        expect_line(&v, false,
                    keepf("tailgate_client_cpu_seconds_total" LABELS "} %s\n",
                          cases[i].cpu));
        expect_line(&v, false,
                    keepf("tailgate_client_busiest_thread_ratio" LABELS
                          "} %s\n",
                          cases[i].busy));
        listen_view_fini(&v);
    }
    end(st);
}

/* The limit is an edge; failures and unsent requests are beyond every bucket;
 * what was due before the window is not in it. */
TEST(the_histogram_has_the_limit)
{
    struct facts rows[] = {row_ok(0, 500, 10),
                           row_ok(1, 1100, 10),
                           row_ok(2, 1200, 15),
                           row_ok(3, 1300, 16),
                           row_ok(4, 1400, 200),
                           row_unsent(5, 1500),
                           row_failed(6, 1600, 5, OUTCOME_STATUS)};
    struct listen_state *st = begin_with("n", "e2e p90 < 15ms");
    struct listen_view v;

    add(st, 0, rows, COUNT(rows), 2000, 6);
    listen_state_view(st, false, &v);
    expect_line(&v, false,
                "tailgate_request_duration_seconds_bucket" LABELS
                ",class=\"\",le=\"0.01\"} 1\n");
    expect_line(&v, false, ",class=\"\",le=\"0.015\"} 2\n");
    expect_line(&v, false, ",class=\"\",le=\"0.025\"} 3\n");
    expect_line(&v, false, ",class=\"\",le=\"100\"} 4\n");
    expect_line(&v, true, ",class=\"\",le=\"100.0\"} 4\n");
    expect_line(&v, false, ",class=\"\",le=\"+Inf\"} 6\n");
    expect_line(&v, false,
                "tailgate_request_duration_seconds_count" LABELS
                ",class=\"\"} 6\n");
    expect_line(&v, false,
                "tailgate_request_duration_seconds_sum" LABELS
                ",class=\"\"} 0.24");
    /* A limit holds below it: the one of 15 ms misses. */
    expect_line(&v, false,
                "tailgate_slo_missed_ratio" LABELS
                ",class=\"\",term=\"e2e p90 < 15ms\"} 0.8333333333333334\n");
    expect_line(&v, false,
                "tailgate_slo_allowed_ratio" LABELS
                ",class=\"\",term=\"e2e p90 < 15ms\"} 0.1\n");
    expect_line(&v, false, "tailgate_slo_state" LABELS "} 0\n");
    listen_view_fini(&v);
    end(st);
}

/* The charts end where requests are still in flight; one that does not end does
 * not hold them up. */
TEST(charts_end_where_requests_are_in_flight)
{
    struct listen_state *st = begin_with("n", "e2e p90 < 15ms");
    struct facts rows[200];
    struct listen_view v;

    for (int64_t i = 0; i < 200; i++)
        rows[i] = row_ok(i, 10 * i, 5);
    add(st, 0, rows, 99, 1000, 100); /* one is missing */
    listen_state_view(st, true, &v);
    assert_true(v.settled_s == 1);
    assert_true(v.has_bins);
    listen_view_fini(&v);
    add(st, 0, rows + 100, 50, 2000, 200); /* 50 are missing */
    listen_state_view(st, true, &v);
    assert_true(v.settled_s == 1);
    assert_int_equal(v.bins.end_ns, NS_PER_S);
    listen_view_fini(&v);
    add(st, 0, rows + 150, 50, 3000, 200);
    listen_state_view(st, true, &v);
    assert_true(v.settled_s == 3);
    listen_view_fini(&v);
    end(st);
}

/* The legend of a chart has the rates so far, and any quantile. */
TEST(legends_are_of_the_run_so_far)
{
    struct listen_state *st = begin_with("n", "e2e p80 < 15ms");
    struct facts rows[1000];
    struct listen_view v;
    struct buf out;
    const char *at;

    for (int64_t i = 0; i < 1000; i++)
        rows[i] = row_ok(i, 10 * i, i % 10 < 8 ? 5 : i % 10 < 9 ? 50 : 500);
    add(st, 0, rows, COUNT(rows), 10000, 1000);
    listen_state_view(st, true, &v);
    buf_init(&out, (size_t)1 << 22);
    listen_page(&v, &(struct buf){0}, &out);
    at = strstr(buf_text(&out), "data-fig=\"rates\"");
    assert_non_null(at);
    at = strstr(at, "<span class=\"nm\">good</span>");
    assert_non_null(at);
    assert_memory_equal(
        at, "<span class=\"nm\">good</span><span class=\"v\">80.0/s",
        strlen("<span class=\"nm\">good</span><span "
               "class=\"v\">80.0/s"));
    at = strstr(buf_text(&out), "data-fig=\"quant-e2e\"");
    assert_non_null(at);
    at = strstr(at, "<span class=\"nm\">p80</span><span class=\"v\">");
    assert_non_null(at);
    assert_int_equal(strtol(strstr(at, "\"v\">") + 4, NULL, 10), 5); /* ms */
    buf_fini(&out);
    listen_view_fini(&v);
    end(st);
}

/* A long run is shown in wider bins, and no request is lost on the way. */
TEST(bins_become_wider)
{
    struct listen_state *st = begin_with("n", "e2e p90 < 15ms");
    struct facts row;
    struct listen_view v;
    int64_t due = 0;

    for (int64_t i = 0; i < 400; i++) {
        row = row_ok(i, 1000 * i, 5);
        add(st, 0, &row, 1, 1000 * (i + 1), i + 1);
    }
    listen_state_view(st, true, &v);
    assert_true(v.settled_s == 400);
    assert_int_equal(v.bins.step_ns, 3200 * NS_PER_MS); /* 24 s * 32 / 240 */
    for (size_t k = 0; k < v.bins.n; k++)
        due += v.bins.due[k];
    assert_int_equal(due, 400);
    assert_in_range(
        (int64_t)run_bins_quantile_ns(&v.bins, BINS_E2E, 0, v.bins.n, 0.5),
        4780000, 5220000);
    listen_view_fini(&v);
    end(st);
}

/* The test decides once, and says so; it is that of --stop decided. */
TEST(the_slo_test_decides)
{
    struct listen_state *st = begin_with("n", "e2e p90 < 15ms");
    struct facts row;
    struct listen_view v;

    for (int64_t i = 0; i < 1000; i++) {
        row = row_ok(i, 1000 + 10 * i, 5);
        add(st, 0, &row, 1, i % 100 == 99 ? 1000 + 10 * i + 10 : 0, i + 1);
    }
    listen_state_view(st, false, &v);
    assert_int_equal(v.decision, DECISION_PASS);
    assert_non_null(strstr(v.why, "e2e p90 < 15ms passes"));
    expect_line(&v, false, "tailgate_slo_state" LABELS "} 1\n");
    listen_view_fini(&v);
    end(st);
}

/* One request that does not end must not make it keep all that follow. */
TEST(the_slo_test_is_given_up)
{
    struct listen_state *st = begin_with("n", "e2e p90 < 15ms");
    struct facts row = row_ok(1 << 20, 1100, 5);
    struct listen_view v;

    listen_state_view(st, false, &v);
    assert_true(v.has_test);
    listen_view_fini(&v);
    add(st, 0, &row, 1, 2000, 1);
    listen_state_view(st, false, &v);
    assert_false(v.has_test);
    expect_line(&v, false, "not decided yet.\n# TYPE");
    listen_view_fini(&v);
    end(st);
}

/* Counters go on over the recordings of a study; each variant has its own. */
TEST(a_study_adds_up)
{
    struct listen_state *st = begin_with("n", "e2e p90 < 15ms");
    const struct listen_point a = {
        .dir = "/a", .variant = "big", .value = 80, .met = 40, .missed = NAN};
    struct facts rows[] = {row_ok(0, 1100, 10), row_ok(1, 1200, 20)};
    struct err err = {0};
    struct listen_view v;

    add(st, 0, rows, 2, 2000, 2);
    listen_state_end(st, false);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(listen_state_begin(st, &settings, &a, &err), 0);
        add(st, 0, rows, 2, 2000, 2);
        listen_state_end(st, false);
    }
    listen_state_view(st, false, &v);
    assert_int_equal(v.recordings, 3);
    assert_int_equal(v.n_variants, 2);
    assert_int_equal(v.variants[0].sum.issued, 2);
    assert_int_equal(v.variants[1].sum.issued, 4);
    expect_line(&v, false,
                "tailgate_requests_issued_total{run=\"run-1\",name=\"n\","
                "scenario=\"server\",variant=\"big\"} 4\n");
    expect_line(&v, false,
                "tailgate_search_met{run=\"run-1\",name=\"n\",scenario="
                "\"server\",variant=\"big\"} 40\n");
    listen_view_fini(&v);
    end(st);
}

/* More variants than have a series of their own. */
TEST(variants_are_bounded)
{
    struct listen_state *st = begin_with("n", "e2e p90 < 15ms");
    struct listen_view v;
    struct err err = {0};

    for (int i = 0; i < 40; i++) {
        char name[16];
        const struct listen_point point = {.dir = "/v", .variant = name};

        snprintf(name, sizeof(name), "v%d", i);
        assert_int_equal(listen_state_begin(st, &settings, &point, &err), 0);
    }
    listen_state_view(st, false, &v);
    assert_int_equal(v.n_variants, LISTEN_VARIANTS);
    assert_string_equal(v.variants[LISTEN_VARIANTS - 1].name, "other");
    listen_view_fini(&v);
    end(st);
}

/* Escapes of the format, and nothing but UTF-8. */
TEST(labels_are_escaped)
{
    static const struct {
        const char *name;
        const char *label;
    } cases[] = {
        {"a\"b", "name=\"a\\\"b\""},
        {"a\\b", "name=\"a\\\\b\""},
        {"a\nb", "name=\"a\\nb\""},
        {"\xc3\xa4\xe2\x82\xac", "name=\"\xc3\xa4\xe2\x82\xac\""},
        {"\xff", "name=\"\xef\xbf\xbd\""},
        {"\xc3", "name=\"\xef\xbf\xbd\""},           /* cut off */
        {"\xed\xa0\x80", "name=\"\xef\xbf\xbd"},     /* a surrogate */
        {"\xf5\x80\x80\x80", "name=\"\xef\xbf\xbd"}, /* beyond Unicode */
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct listen_state *st = begin_with(cases[i].name, "errors < 1%");
        struct listen_view v;

        listen_state_view(st, false, &v);
        expect_line(&v, false, cases[i].label);
        expect_line(&v, true, cases[i].label);
        listen_view_fini(&v);
        end(st);
    }
}

/* Before the first recording there are names and types, and no sample. */
TEST(nothing_yet)
{
    struct listen_state *st = listen_state_new("r");
    struct listen_view v;
    struct buf out;

    listen_state_view(st, true, &v);
    buf_init(&out, LISTEN_MAX_TEXT);
    listen_metrics(&v, false, &out);
    for (const char *p = buf_text(&out); p && *p; p = strchr(p, '\n') + 1)
        assert_int_equal(*p, '#');
    buf_reset(&out);
    listen_metrics(&v, true, &out);
    assert_string_equal(out.data + out.len - 6, "# EOF\n");
    buf_reset(&out);
    listen_summary(&v, &out);
    assert_non_null(strstr(buf_text(&out), "\"state\": \"preparing\""));
    buf_reset(&out);
    listen_page(&v, &(struct buf){0}, &out);
    assert_non_null(strstr(buf_text(&out), "PREPARING"));
    buf_fini(&out);
    listen_view_fini(&v);
    listen_state_free(st);
}

TEST(who_wants_openmetrics)
{
    static const struct {
        const char *accept;
        bool wants;
    } cases[] = {
        {"", false},
        {"*/*", false},
        {"text/plain", false},
        {"application/openmetrics-text", true},
        {"application/openmetrics-text;version=1.0.0,application/"
         "openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,"
         "*/*;q=0.1",
         true},
        {"text/plain;version=0.0.4;q=0.9,application/openmetrics-text;q=0.5",
         false},
        {"application/openmetrics-text;q=0", false},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(listen_wants_open(cases[i].accept), cases[i].wants);
}

/* An objective of a class is an objective: requests are good or late, and a
 * limit of all classes is drawn. */
TEST(classes_have_good_requests)
{
    for (int has_class = 0; has_class < 2; has_class++) {
        struct listen_state *st =
            begin_of("n", has_class ? "chat" : NULL, "e2e p90 < 15ms");
        struct facts rows[100];
        struct listen_view v;
        struct buf out;
        struct buf study;

        for (int64_t i = 0; i < 100; i++)
            rows[i] = row_ok(i, 1000 + 10 * i, i % 2 ? 5 : 50);
        add(st, 0, rows, 100, 3000, 100);
        listen_state_view(st, true, &v);
        assert_true(v.bins.values[BINS_E2E].has_limit);
        buf_init(&out, (size_t)8 << 20);
        buf_init(&study, 16);
        listen_page(&v, &study, &out);
        assert_non_null(strstr(buf_text(&out), "data-chart=\"rates\""));
        assert_non_null(
            strstr(buf_text(&out), "answered and were good. The orange gap"));
        buf_fini(&out);
        buf_fini(&study);
        listen_view_fini(&v);
        end(st);
    }
}

static void expect_schema(const struct listen_state *st)
{
    struct listen_view v;
    struct buf out;

    listen_state_view((struct listen_state *)st, true, &v);
    buf_init(&out, LISTEN_MAX_TEXT);
    listen_summary(&v, &out);
    assert_schema_text("live", buf_text(&out));
    buf_fini(&out);
    listen_view_fini(&v);
}

TEST(the_summary_so_far_is_documented)
{
    struct listen_state *st = listen_state_new("\"run\"");
    struct facts rows[3];

    expect_schema(st); /* before the first recording */
    listen_state_free(st);
    st = begin_of("n", "chat", "e2e p90 < 15ms");
    for (int64_t i = 0; i < 3; i++)
        rows[i] = row_ok(i, 1000 + 10 * i, 5);
    rows[2].outcome = OUTCOME_RESET;
    add(st, 0, rows, 3, 3000, 4);
    expect_schema(st);
    end(st);
}

/* Quantiles of the window so far, if there are enough requests for them.  The
 * number is of the requests that have the measure. */
TEST(the_summary_so_far_has_latencies)
{
    struct listen_state *st = begin_with("n", "e2e p90 < 15ms");
    struct facts rows[100];
    struct listen_view v;
    struct buf out;
    json_t *json;
    const json_t *e2e;
    const json_t *ttft;

    for (int64_t i = 0; i < 100; i++) {
        rows[i] = row_ok(i, 1000 + 10 * i, i % 4 ? 5 : 50);
        rows[i].events = i % 2; /* half of them are streams */
    }
    add(st, 0, rows, 100, 3000, 100);
    listen_state_view(st, true, &v);
    buf_init(&out, LISTEN_MAX_TEXT);
    listen_summary(&v, &out);
    assert_non_null(strstr(buf_text(&out), "\"allowed\": 0.1}"));
    json = json_loads(buf_text(&out), 0, NULL);
    e2e = json_object_get(json_object_get(json, "measures"), "e2e");
    ttft = json_object_get(json_object_get(json, "measures"), "ttft");
    assert_int_equal(json_integer_value(json_object_get(e2e, "n")), 100);
    assert_int_equal(json_integer_value(json_object_get(ttft, "n")), 50);
    assert_in_range(
        (int)(1000 * json_number_value(json_object_get(e2e, "p50_ms"))), 4780,
        5220);
    assert_in_range(
        (int)(1000 * json_number_value(json_object_get(e2e, "p90_ms"))), 47800,
        52200);
    assert_true(json_is_null(json_object_get(e2e, "p99.9_ms")));
    json_decref(json);
    buf_fini(&out);
    listen_view_fini(&v);
    end(st);
}

/* Names come from files: markup in them stays text, also in an event. */
TEST(names_stay_text_in_the_page)
{
    struct listen_state *st =
        begin_with("<script>\"'&</script>", "e2e p90 < 15ms");
    struct buf out;
    struct buf study;
    struct listen_view v;

    listen_state_view(st, true, &v);
    buf_init(&out, (size_t)8 << 20);
    buf_init(&study, 16);
    listen_page_event(&v, &study, &out);
    assert_non_null(strstr(buf_text(&out), "&lt;script&gt;"));
    assert_string_equal(strchr(buf_text(&out), '\n') + 1 +
                            strcspn(strchr(buf_text(&out), '\n') + 1, "\n"),
                        "\n\n"); /* its data is one line */
    /* Only the title, which the script sets as text, has it as it stands. */
    *strstr(out.data, ",\"title\":") = '\0';
    assert_null(strstr(out.data, "<script>"));
    buf_fini(&out);
    buf_fini(&study);
    listen_view_fini(&v);
    end(st);
}
