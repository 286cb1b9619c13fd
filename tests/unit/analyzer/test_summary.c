/* From a recording on disk to the numbers: small runs, reckoned by hand. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/read/reader.h"
#include "analyzer/read/salvage.h"
#include "analyzer/report/report.h"
#include "analyzer/report/run_doc.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "tests/support/golden.h"
#include "tests/support/maderun.h"
#include "tests/support/ondisk.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* A second of warm-up, a window of 2 s. */
static struct made_run *typical(void)
{
    struct made_run *m =
        made_run_new(1000, 2000, "e2e p50 < 10ms,errors < 50%");

    made_run_add_fast(m, 0, 99);
    made_run_add(m,
                 row_ok(99, 999, 5)); /* of the warm-up, ends in the window */
    made_run_add_fast(m, 1000, 80);
    for (int64_t i = 0; i < 15; i++)
        made_run_add(m, row_ok(180 + i, 1005 + 100 * i, 50));
    made_run_add(m, row_failed(195, 1500, 1, OUTCOME_STATUS));
    made_run_add(m, row_failed(196, 1600, 1, OUTCOME_STATUS));
    made_run_add(m, row_failed(197, 1700, 900, OUTCOME_TIMEOUT));
    made_run_add(m, row_unsent(198, 1800));
    made_run_add(m, row_ok(199, 2999, 5)); /* ends after the window */
    m->rows[150].is_fresh = 1;
    m->rows[150].bytes_in = 4000;
    m->rows[150].bytes_out = 600;
    return m;
}

TEST(every_count_and_rate)
{
    struct read_run *r = made_run_sum_up(typical(), NULL);
    const struct summary *s = &r->s;

    assert_true(s->window_start_s == 1 && s->window_length_s == 2);
    assert_true(s->warmup_s == 1);
    assert_int_equal(s->warmup_requests, 100);
    assert_int_equal(s->scheduled, 100);
    assert_int_equal(s->issued, 99);
    assert_int_equal(s->unsent, 1);
    assert_int_equal(s->ok, 96);
    assert_int_equal(s->failed, 3);
    assert_int_equal(s->outcome[OUTCOME_STATUS], 2);
    assert_int_equal(s->outcome[OUTCOME_TIMEOUT], 1);
    assert_int_equal(s->good, 81);
    assert_int_equal(s->fresh_connections, 1);
    assert_true(s->offered_rps == 50);
    assert_true(s->completed_rps == 48);
    assert_true(s->throughput_rps == 48); /* 96 - 1 + 1 of the warm-up */
    assert_true(s->goodput_rps == 40.5);
    assert_true(s->attainment == 0.81);
    assert_true(s->attainment_ci95.low < 0.81 && s->attainment_ci95.low > 0.6);
    assert_true(s->attainment_ci95.high > 0.81 &&
                s->attainment_ci95.high < 0.95);
    assert_true(s->bytes_in_per_s == 2000 && s->bytes_out_per_s == 300);
    assert_int_equal(s->integrity.lost_requests, 0);
    assert_int_equal(s->damage.skipped_bytes + s->damage.cut_off_bytes, 0);
    read_run_free(r);
}

static void assert_near_ms(int64_t ns, double ms)
{
    assert_true(fabs((double)ns / 1e6 - ms) <= ms / 1000);
}

TEST(every_percentile)
{
    struct read_run *r = made_run_sum_up(typical(), NULL);
    const struct spread *due = &r->s.spread[MEASURE_E2E][VIEW_DUE];
    const struct spread *ok = &r->s.spread[MEASURE_E2E][VIEW_OK];
    const struct spread *sent = &r->s.spread[MEASURE_E2E][VIEW_SENT];

    assert_int_equal(due->n, 100);
    assert_int_equal(due->failed, 4);
    assert_near_ms(due->quantile_ns[0], 5);
    assert_near_ms(due->quantile_ns[1], 50);
    assert_near_ms(due->quantile_ns[2], 50); /* rank 95 of 96 that ended */
    assert_int_equal(due->quantile_ns[3], HIST_TOO_FEW);
    assert_int_equal(due->quantile_ns[4], HIST_TOO_FEW);
    assert_int_equal(due->max_ns, HIST_BEYOND);
    assert_true(due->mean_ns == HIST_BEYOND);
    assert_int_equal(ok->n, 96);
    assert_int_equal(ok->max_ns, 50 * NS_PER_MS);
    assert_true(fabs(ok->mean_ns - (81 * 5e6 + 15 * 50e6) / 96) < 1);
    assert_int_equal(sent->n, 99);
    assert_int_equal(sent->failed, 3);
    assert_near_ms(sent->quantile_ns[0], 4);
    assert_int_equal(r->s.spread[MEASURE_CONNECT][VIEW_DUE].n, 1);
    assert_int_equal(r->s.spread[MEASURE_CONNECT][VIEW_DUE].max_ns, NS_PER_MS);
    assert_int_equal(r->s.spread[MEASURE_CONNECT][VIEW_SENT].max_ns,
                     HIST_EMPTY);
    read_run_free(r);
}

TEST(the_window_ends_where_the_schedule_did)
{
    static const struct {
        int64_t duration_ms;
        int64_t due_end_ms;
        double length_s;
        int64_t scheduled;
    } cases[] = {
        {2000, 3000, 2, 200},  /* as planned */
        {2000, 9000, 2, 200},  /* never longer */
        {2000, 1500, 0.5, 50}, /* interrupted */
        {2000, 500, 0, 0},     /* in its warm-up */
        {0, 2250, 1.25, 125},  /* by count */
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_run *m = made_run_new(1000, cases[i].duration_ms, "");
        struct read_run *r;

        made_run_add_fast(m, 0, 300);
        m->end.due_end_ns = cases[i].due_end_ms * NS_PER_MS;
        r = made_run_sum_up(m, NULL);
        assert_true(fabs(r->s.window_length_s - cases[i].length_s) < 1e-9);
        assert_int_equal(r->s.scheduled, cases[i].scheduled);
        assert_true(r->s.offered_rps == (cases[i].scheduled ? 100 : 0));
        read_run_free(r);
    }
}

/* What the client saw in the window reaches the checks. */
TEST(client_and_network_are_noted)
{
    struct made_run *m = made_run_new(0, 1000, "");
    struct read_run *r;
    bool is_found = false;

    made_run_add_fast(m, 0, 100);
    m->end.rtt_floor_ns = 23000;
    m->end.segments = 300;
    m->end.retransmits = 2;
    m->seen[0] =
        (struct observation){.at = NS_PER_S, .suspended_max = 251 * NS_PER_MS};
    r = made_run_sum_up(m, NULL);
    assert_int_equal(r->s.threads, 1);
    assert_int_equal(r->s.rtt_floor_ns, 23000);
    assert_int_equal(r->s.segments, 300);
    assert_int_equal(r->s.retransmits, 2);
    for (size_t i = 0; i < r->s.trust.len; i++) {
        const struct check *c = &r->s.trust.checks[i];

        if (strcmp(c->name, "suspended") == 0)
            is_found = !c->ok;
    }
    assert_true(is_found);
    assert_int_equal(r->s.verdict, VERDICT_INVALID);
    read_run_free(r);
}

/* The manifest says 100; the file has 90. */
TEST(rows_lost_to_damage_are_unfinished)
{
    struct made_run *m = made_run_new(0, 1000, "e2e p50 < 10ms");
    struct read_run *r;

    made_run_add_fast(m, 0, 90);
    m->end.scheduled = 100;
    m->end.issued = 100;
    r = made_run_sum_up(m, NULL);
    assert_false(r->s.integrity.was_killed);
    assert_int_equal(r->s.integrity.lost_requests, 10);
    assert_int_equal(r->s.scheduled, 100);
    assert_int_equal(r->s.outcome[OUTCOME_UNFINISHED], 10);
    assert_int_equal(r->s.verdict, VERDICT_PASS);
    read_run_free(r);
}

TEST(what_is_no_recording_is_said)
{
    struct recording rec;
    struct err missing = {0};
    struct err file = {0};
    struct err empty = {0};

    assert_int_equal(recording_open(&rec, tmpdir_path("none"), &missing), -1);
    assert_int_equal(missing.code, ERR_CONFIG);
    assert_int_equal(recording_open(&rec, tmpdir_write("f", "x", 1), &file),
                     -1);
    assert_int_equal(file.code, ERR_CONFIG);
    assert_non_null(strstr(file.msg, "not a recording"));
    assert_int_equal(mkdir(tmpdir_path("bare"), 0777), 0);
    assert_int_equal(recording_open(&rec, tmpdir_path("bare"), &empty), -1);
    assert_non_null(strstr(empty.msg, "manifest.json"));
}

/* In a window of 4 s 100 requests a second that are under way for 80 ms each, a
 * few of them at its end for less, and one all the time. */
static struct made_run *busy(void)
{
    struct made_run *m = made_run_new(1000, 4000, "");

    for (int64_t i = 0; i < 400; i++)
        made_run_add(m, row_ok(i, 1000 + 10 * i, 81));
    made_run_add(m, row_ok(400, 0, 9000));
    return m;
}

/* 10/s for 2 s, of 1.5 s each: 5 end in the window, and all are good.  Rates of
 * the requests that are due in it never exceed each other. */
TEST(rates_are_of_the_requests_of_the_window)
{
    struct made_run *m = made_run_new(0, 2000, "e2e p99 < 2s");
    struct read_run *r;

    for (int64_t i = 0; i < 20; i++)
        made_run_add(m, i == 3 ? row_failed(i, 100 * i, 10, OUTCOME_RESET)
                               : row_ok(i, 100 * i, i == 4 ? 2500 : 1500));
    r = made_run_sum_up(m, NULL);
    assert_true(r->s.offered_rps == 10);
    assert_true(r->s.completed_rps == 9.5);
    assert_true(r->s.goodput_rps == 9);
    assert_true(r->s.throughput_rps == 1.5);
    read_run_free(r);
}

/* 8 of 400 end up to 71 ms after the window: the load went on until then. */
TEST(requests_that_end_without_load_are_noted)
{
    static const struct {
        int64_t cooldown_ms;
        int64_t after; /* requests that ended after the load did */
        bool is_offline;
    } cases[] = {{0, 8, false}, {30, 5, false}, {40, 0, false}, {0, 0, true}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_run *m = busy();
        struct read_run *r;

        m->end.due_end_ns += cases[i].cooldown_ms * NS_PER_MS;
        m->scenario = cases[i].is_offline ? SCENARIO_OFFLINE : SCENARIO_SERVER;
        r = made_run_sum_up(m, NULL);
        assert_true(fabs(r->s.cooldown_s - (double)cases[i].cooldown_ms / 1e3) <
                    1e-9);
        assert_int_equal(r->s.notes.len, cases[i].after > 0);
        if (cases[i].after > 0) {
            assert_string_equal(r->s.notes.list[0].name, "drain");
            assert_int_equal(r->s.notes.list[0].count, cases[i].after);
        }
        assert_true(fabs(r->s.e2e_p99_share - 0.0202) < 0.0002);
        read_run_free(r);
    }
}

TEST(the_server_stands_beside_the_client)
{
    for (int is_short = 0; is_short < 2; is_short++) {
        struct made_run *m = busy();
        struct read_run *r;

        m->end.due_end_ns += NS_PER_S; /* a cool-down */
        for (int64_t i = 0; i < MADE_RUN_LOOKS; i++)
            m->looks[i] = (struct server_scrape){
                .at = (1000 + 700 * i) * NS_PER_MS,
                .running = 2,
                .waiting = is_short ? 1 : 6,
                .queue_sum_us = 1000000 + 70000 * i,
                .queue_count = 70 * i,
            };
        r = made_run_sum_up(m, NULL);
        assert_true(r->s.server.is_there);
        assert_string_equal(r->s.server.dialect, "tgi");
        assert_string_equal(r->s.server.url, "http://h/m");
        assert_int_equal(r->s.server.looks, MADE_RUN_LOOKS);
        assert_true(fabs(r->s.server.client_mean - 8.93) < 0.01);
        assert_true(r->s.server.present_mean == (is_short ? 3 : 8));
        assert_true(fabs(r->s.server.queue_mean_ns - 1e6) < 1);
        assert_int_equal(r->s.notes.len, is_short);
        if (is_short)
            assert_string_equal(r->s.notes.list[0].name, "on_the_way");
        read_run_free(r);
    }
}

TEST(statuses_are_counted)
{
    struct made_run *m = made_run_new(0, 1000, "");
    struct read_run *r;

    for (int64_t i = 0; i < 10; i++) {
        struct facts f = row_ok(i, i, 1);

        f.status = i < 1 ? 0 : i < 3 ? 200 : i < 5 ? 204 : i < 9 ? 302 : 9999;
        made_run_add(m, f);
    }
    r = made_run_sum_up(m, NULL);
    assert_int_equal(r->s.n_statuses, 2);
    assert_int_equal(r->s.statuses[0].status, 302);
    assert_int_equal(r->s.statuses[0].count, 4);
    assert_int_equal(r->s.statuses[1].status, 204);
    assert_int_equal(r->s.statuses[1].count, 2);
    read_run_free(r);
}

/* 20 of warm-up by count, 50 in the window, 10 after it: as the end says, or as
 * the rows say where there is none. */
TEST(phases_by_count)
{
    for (int was_killed = 0; was_killed < 2; was_killed++) {
        struct made_run *m = made_run_new(0, 500, "");
        struct read_run *r;

        m->warmup_requests = 20;
        m->cooldown_ms = 100;
        m->was_killed = was_killed;
        made_run_add_fast(m, 0, 80);
        m->end.due_end_ns = 800 * NS_PER_MS;
        m->end.window_start_ns = 190 * NS_PER_MS + 1;
        m->end.window_end_ns = 690 * NS_PER_MS + 1;
        r = made_run_sum_up(m, NULL);
        assert_int_equal(r->s.warmup_requests, 20);
        assert_int_equal(r->s.scheduled, 50);
        assert_int_equal(r->s.cooldown_requests, 10);
        assert_true(fabs(r->s.window_start_s - 0.190000001) < 1e-12);
        assert_true(fabs(r->s.window_length_s - 0.5) < 1e-12);
        read_run_free(r);
    }
}

/* The count ended it: the recording says when. */
TEST(a_window_that_its_count_ended)
{
    struct made_run *m = made_run_new(100, 0, "");
    struct read_run *r;

    m->requests = 50;
    m->cooldown_ms = 200;
    made_run_add_fast(m, 0, 80);
    m->end.due_end_ns = 800 * NS_PER_MS;
    m->end.window_end_ns = 600 * NS_PER_MS;
    r = made_run_sum_up(m, NULL);
    assert_int_equal(r->s.warmup_requests, 10);
    assert_int_equal(r->s.scheduled, 50);
    assert_int_equal(r->s.cooldown_requests, 20);
    assert_true(fabs(r->s.window_length_s - 0.5) < 1e-12);
    read_run_free(r);
}

/* It was cut in its warm-up: nothing was measured. */
TEST(a_window_that_never_began)
{
    for (int was_killed = 0; was_killed < 2; was_killed++) {
        struct made_run *m = made_run_new(0, 500, "");
        struct read_run *r;

        m->warmup_requests = 100;
        m->was_killed = was_killed;
        made_run_add_fast(m, 0, 80);
        m->end.due_end_ns = 800 * NS_PER_MS;
        r = made_run_sum_up(m, NULL);
        assert_int_equal(r->s.warmup_requests, 80);
        assert_int_equal(r->s.scheduled, 0);
        assert_int_equal(r->s.cooldown_requests, 0);
        read_run_free(r);
    }
}

/* ---- ranges of unsent requests ---- */

/* `n` places from `seq` on, every `step`-th, in one row or in n. */
static void add_unsent(struct made_run *m, struct facts first, int64_t n,
                       int64_t step, bool in_range)
{
    int64_t last_seq = first.seq + (n - 1) * step;

    if (in_range && n > 1) {
        first.more = n - 1;
        first.last_seq = last_seq;
        made_run_add(m, first);
        return;
    }
    for (; first.seq <= last_seq; first.seq += step)
        made_run_add(m, first);
}

struct range_case {
    const char *slo;
    const char *classes;
    enum scenario scenario;
    int64_t threads;
    bool was_killed;
};

static char *report_of_range(const struct range_case *c, bool in_range)
{
    struct made_run *m = made_run_new(1000, 2000, c->slo);
    struct read_run *r;
    struct buf out;
    char *text;

    m->classes = c->classes;
    m->scenario = c->scenario;
    m->threads = c->threads;
    m->was_killed = c->was_killed;
    m->end.due_end_ns = 3000 * NS_PER_MS;
    if (c->scenario == SCENARIO_OFFLINE) {
        m->warmup_ms = m->duration_ms = 0;
        m->requests = 400;
    }
    made_run_add_fast(m, 1000, 60);
    add_unsent(m, row_unsent(60, 700), 40, 2, in_range);
    add_unsent(m, row_unsent(61, 1500), 40, 2, in_range);
    add_unsent(m, row_unsent(140, 2999), 60, 1, in_range);
    for (size_t i = 60; i < m->n; i++)
        m->rows[i].class = c->classes && m->rows[i].due > 2000 * NS_PER_MS;
    add_unsent(m, row_unsent(200, 3000), 200, 1, in_range);
    r = made_run_sum_up(m, NULL);
    buf_init(&out, 1 << 20);
    report_text.render(&r->s, &out);
    report_json.render(&r->s, &out);
    assert_false(out.overflowed);
    text = xstrdup(buf_text(&out));
    buf_fini(&out);
    read_run_free(r);
    return text;
}

TEST(a_range_counts_as_its_requests)
{
    static const char classes[] =
        "target:\n  url: http://h/\nload:\n  rate: 9\n"
        "classes:\n- name: a\n  weight: 1\n"
        "  slo: [e2e p90 < 4ms]\n"
        "- name: b\n  weight: 1\n";
    static const struct range_case cases[] = {
        {"e2e p50 < 10ms,errors < 50%", NULL, SCENARIO_SERVER, 1, false},
        {"e2e p99 < 10ms,ttft p50 < 8ms,good >= 90%", NULL, SCENARIO_SERVER, 2,
         false},
        {"e2e p50 < 10ms,e2e:7", NULL, SCENARIO_CLOSED, 2, false},
        {"e2e p50 < 10ms,goodput >= 10", NULL, SCENARIO_SERVER, 1, true},
        {"errors < 1%", classes, SCENARIO_SERVER, 1, false},
        {"e2e p50 < 10ms", NULL, SCENARIO_OFFLINE, 2, false},
        {"e2e p50 < 10ms", NULL, SCENARIO_OFFLINE, 2, true},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *rows = report_of_range(&cases[i], false);
        char *range = report_of_range(&cases[i], true);

        assert_string_equal(range, rows);
        free(rows);
        free(range);
    }
}

/* In time and memory that do not grow with it. */
TEST(a_range_may_be_long)
{
    const int64_t trillion = INT64_C(1000000000000);
    struct made_run *m = made_run_new(0, 2000, "e2e p50 < 10ms");
    struct read_run *r;

    made_run_add_fast(m, 0, 100);
    add_unsent(m, row_unsent(100, 1500), trillion, 1, true);
    m->end.due_end_ns = 2000 * NS_PER_MS;
    r = made_run_sum_up(m, NULL);
    assert_int_equal(r->s.scheduled, trillion + 100);
    assert_int_equal(r->s.issued, 100);
    assert_int_equal(r->s.unsent, trillion);
    assert_int_equal(r->s.integrity.lost_requests, 0);
    read_run_free(r);
}

/* Whose counts cannot be: refused, before anything is added up. */
TEST(wrong_ranges_are_refused)
{
    static const struct {
        int64_t outcome;
        int64_t more;
        int64_t last_seq;
    } cases[] = {
        {OUTCOME_OK, 5, 105},
        {OUTCOME_UNSENT, -1, 100},
        {OUTCOME_UNSENT, 5, 104},
        {OUTCOME_UNSENT, 5, 0},
        {OUTCOME_UNSENT, 5, INT64_MIN},
        {OUTCOME_UNSENT, INT64_C(1) << 60, INT64_C(1) << 61},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct read_run *r =
            made_run_sum_up(made_run_new(0, 1000, "errors < 1%"), NULL);
        struct facts f = row_unsent(100, 10);
        struct err err = {0};
        const struct facts *rows;
        size_t n;

        f.outcome = cases[i].outcome;
        f.more = cases[i].more;
        f.last_seq = cases[i].last_seq;
        table_write(r->rec.dir, "requests.tgr", &schema_requests, &f, 1, 1);
        assert_int_equal(recording_rewind(&r->rec, &err), 0);
        assert_int_equal(recording_next(&r->rec, &rows, &n, &err), -1);
        assert_int_equal(err.code, ERR_FORMAT);
        assert_non_null(
            strstr(err.msg, "invalid range of unsent requests at place 100"));
        read_run_free(r);
    }
}

/* ---- without a manifest ---- */

TEST(tables_speak_without_a_manifest)
{
    struct made_run *m = made_run_new(0, 2000, "errors < 1%");
    struct read_run *r;
    struct salvage s;
    struct err err = {0};

    made_run_add_fast(m, 10, 50);
    made_run_add(m, row_failed(50, 600, 900, OUTCOME_TIMEOUT));
    add_unsent(m, row_unsent(51, 700), 9, 1, true);
    r = made_run_sum_up(m, NULL);
    assert_int_equal(salvage_read(&s, r->rec.dir, "is empty", &err), 0);
    assert_int_equal(s.requests, 60);
    assert_int_equal(s.outcome[OUTCOME_OK], 50);
    assert_int_equal(s.outcome[OUTCOME_TIMEOUT], 1);
    assert_int_equal(s.outcome[OUTCOME_UNSENT], 9);
    assert_int_equal(s.first_due_ns, 10 * NS_PER_MS);
    assert_int_equal(s.last_due_ns, 700 * NS_PER_MS);
    assert_int_equal(s.last_end_ns, 1500 * NS_PER_MS);
    assert_int_equal(s.e2e.n, 50);
    assert_int_equal(s.ttft.n, 0);
    s.dir = "recording";
    assert_golden_doc("salvage", salvage_doc(&s));
    salvage_fini(&s);
    read_run_free(r);
}

/* Without a request there is no interval either. */
TEST(the_short_report_of_an_empty_run)
{
    struct read_run *r =
        made_run_sum_up(made_run_new(0, 1000, "e2e p99 < 1s"), NULL);
    char *text = doc_brief_of(run_doc(&r->s));

    assert_non_null(
        strstr(text, "e2e p99 < 1s  - (about 299 more requests needed)\n"));
    free(text);
    read_run_free(r);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
