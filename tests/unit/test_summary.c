/* From a recording on disk to the numbers: small runs, reckoned by hand. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyzer/reader.h"
#include "analyzer/summary.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/recording/failures.h"
#include "common/recording/schema.h"
#include "common/xalloc.h"
#include "tests/support/rows.h"
#include "tests/support/tmpdir.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_ROWS     1000
#define MAX_SHARDS   3

/* A run to be written down. */
struct made {
    int64_t warmup_ms;
    int64_t duration_ms; /* 0: by count */
    const char *slo;
    struct facts rows[MAX_ROWS];
    size_t n;
    bool was_killed;                     /* its manifest has no end */
    struct observation seen[MAX_SHARDS]; /* the last; at 0: there is none */
    int64_t threads;
    bool is_closed;
    struct run_end end;
};

/* And read again. */
struct read {
    struct recording rec;
    struct summary s;
};

static struct made *made_new(int64_t warmup_ms, int64_t duration_ms,
                             const char *slo)
{
    struct made *m = xcalloc(1, sizeof(*m));

    m->warmup_ms = warmup_ms;
    m->duration_ms = duration_ms;
    m->slo = slo;
    m->end.due_end_ns = (warmup_ms + duration_ms) * NS_PER_MS;
    return m;
}

static void add(struct made *m, struct facts row)
{
    assert_true(m->n < MAX_ROWS);
    m->rows[m->n++] = row;
    m->end.scheduled++;
    m->end.issued += facts_issued(&row);
    m->end.unsent += !facts_issued(&row);
}

/* n requests of 5 ms, one every 10 ms from due_ms on. */
static void add_fast(struct made *m, int64_t due_ms, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        add(m, row_ok((int64_t)m->n, due_ms + 10 * i, 5));
}

static void write_rows(const struct made *m, const char *dir)
{
    char *path = xasprintf("%s/requests.tgr", dir);
    struct tgr_writer *w;
    struct err err = {0};

    assert_int_equal(tgr_create(&w, path, &schema_requests, &err), 0);
    if (m->n > 0)
        assert_int_equal(tgr_append(w, 0, m->rows, m->n, &err), 0);
    assert_int_equal(tgr_finish(w, &err), 0);
    free(path);
}

static void write_seen(const struct made *m, const char *dir)
{
    char *path = xasprintf("%s/client.tgr", dir);
    struct tgr_writer *w;
    struct err err = {0};

    assert_int_equal(tgr_create(&w, path, &schema_client, &err), 0);
    for (unsigned i = 0; i < MAX_SHARDS; i++) {
        if (m->seen[i].at > 0)
            assert_int_equal(tgr_append(w, i, &m->seen[i], 1, &err), 0);
    }
    assert_int_equal(tgr_finish(w, &err), 0);
    free(path);
}

static void write_manifest(const struct made *m, const char *dir)
{
    static const struct failures none;
    const struct run_start start = {.monotonic_ns = 1};
    struct settings settings;
    struct manifest manifest;
    struct slo slo = slo_of(m->slo);
    struct err err = {0};

    settings_init(&settings);
    strlist_add(&settings.target.urls, "null://");
    settings.load.scenario = m->is_closed ? SCENARIO_CLOSED : SCENARIO_SERVER;
    settings.client.threads = m->threads ? m->threads : OPT_AUTO;
    settings.load.rate_rps = 100;
    settings.load.warmup_ns = m->warmup_ms * NS_PER_MS;
    settings.load.duration_ns = m->duration_ms * NS_PER_MS;
    for (size_t i = 0; i < slo.len; i++)
        strlist_add(&settings.slo, slo.terms[i].text);
    manifest_init(&manifest, &settings, &start);
    if (!m->was_killed)
        manifest_complete(&manifest, &m->end, &none);
    assert_int_equal(manifest_save(&manifest, dir, &err), 0);
    manifest_fini(&manifest);
    settings_fini(&settings);
}

/* Write it and sum it up; frees what was made.  The identity holds always. */
static struct read *sum_up(struct made *m, const struct strlist *slo)
{
    struct read *r = xcalloc(1, sizeof(*r));
    struct err err = {0};
    char *dir = xstrdup(tmpdir_path("run"));

    assert_true(mkdir(dir, 0777) == 0 || access(dir, W_OK) == 0);
    write_rows(m, dir);
    write_seen(m, dir);
    write_manifest(m, dir);
    assert_int_equal(recording_open(&r->rec, dir, &err), 0);
    assert_int_equal(summary_make(&r->s, &r->rec, slo, &err), 0);
    assert_int_equal(r->s.scheduled, r->s.issued + r->s.unsent);
    assert_int_equal(r->s.issued, r->s.ok + r->s.failed);
    free(dir);
    free(m);
    return r;
}

static void read_free(struct read *r)
{
    recording_close(&r->rec);
    free(r);
}

/* ---- numbers ---- */

/* A second of warm-up, a window of 2 s. */
static struct made *typical(void)
{
    struct made *m = made_new(1000, 2000, "e2e p50 < 10ms,errors < 50%");

    add_fast(m, 0, 99);
    add(m, row_ok(99, 999, 5)); /* of the warm-up, ends in the window */
    add_fast(m, 1000, 80);
    for (int64_t i = 0; i < 15; i++)
        add(m, row_ok(180 + i, 1005 + 100 * i, 50));
    add(m, row_failed(195, 1500, 1, OUTCOME_STATUS));
    add(m, row_failed(196, 1600, 1, OUTCOME_STATUS));
    add(m, row_failed(197, 1700, 900, OUTCOME_TIMEOUT));
    add(m, row_unsent(198, 1800));
    add(m, row_ok(199, 2999, 5)); /* ends after the window */
    m->rows[150].is_fresh = 1;
    m->rows[150].bytes_in = 4000;
    m->rows[150].bytes_out = 600;
    return m;
}

static void every_count_and_rate(void **state)
{
    struct read *r = sum_up(typical(), NULL);
    const struct summary *s = &r->s;

    (void)state;
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
    assert_true(s->throughput_rps == 48); /* 96 - 1 + 1 of the warm-up */
    assert_true(s->goodput_rps == 40.5);
    assert_true(s->attainment == 0.81);
    assert_true(s->attainment_ci95.low < 0.81 && s->attainment_ci95.low > 0.6);
    assert_true(s->attainment_ci95.high > 0.81 &&
                s->attainment_ci95.high < 0.95);
    assert_true(s->bytes_in_per_s == 2000 && s->bytes_out_per_s == 300);
    assert_int_equal(s->integrity.lost_requests, 0);
    assert_int_equal(s->damage.skipped_bytes + s->damage.cut_off_bytes, 0);
    read_free(r);
}

static void assert_near_ms(int64_t ns, double ms)
{
    assert_true(fabs((double)ns / 1e6 - ms) <= ms / 1000);
}

static void every_percentile(void **state)
{
    struct read *r = sum_up(typical(), NULL);
    const struct spread *due = &r->s.spread[MEASURE_E2E][VIEW_DUE];
    const struct spread *ok = &r->s.spread[MEASURE_E2E][VIEW_OK];
    const struct spread *sent = &r->s.spread[MEASURE_E2E][VIEW_SENT];

    (void)state;
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
    read_free(r);
}

/* ---- the window ---- */

static void the_window_ends_where_the_schedule_did(void **state)
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

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made *m = made_new(1000, cases[i].duration_ms, "");
        struct read *r;

        add_fast(m, 0, 300);
        m->end.due_end_ns = cases[i].due_end_ms * NS_PER_MS;
        r = sum_up(m, NULL);
        assert_true(fabs(r->s.window_length_s - cases[i].length_s) < 1e-9);
        assert_int_equal(r->s.scheduled, cases[i].scheduled);
        assert_true(r->s.offered_rps == (cases[i].scheduled ? 100 : 0));
        read_free(r);
    }
}

/* ---- verdict and exit code ---- */

static void exit_codes(void **state)
{
    static const struct {
        const char *slo;
        int64_t fast;
        int64_t failed;
        int64_t unsent;
        int64_t stopped_by;
        enum verdict verdict;
        int code;
    } cases[] = {
        {"", 10, 1, 0, 0, VERDICT_NONE, 0},
        {"", 0, 10, 0, 0, VERDICT_NONE, 1}, /* nothing succeeded */
        {"e2e p50 < 10ms", 10, 1, 0, 0, VERDICT_PASS, 0},
        {"errors < 1%", 10, 1, 0, 0, VERDICT_FAIL, 1},
        {"e2e p99 < 10ms", 10, 0, 0, 0, VERDICT_UNDECIDED, 4},
        {"e2e p50 < 10ms", 10, 0, 1, 0, VERDICT_INVALID, 4},
        {"errors < 1%", 10, 1, 1, 0, VERDICT_INVALID, 4}, /* 4 before 1 */
        {"", 10, 0, 1, 0, VERDICT_INVALID, 4},
        {"", 10, 0, 0, SIGINT, VERDICT_NONE, 130},
        {"errors < 1%", 10, 1, 0, SIGTERM, VERDICT_FAIL, 143},
        {"e2e p99 < 1s", 10, 0, 1, SIGINT, VERDICT_INVALID, 130},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made *m = made_new(0, 1000, cases[i].slo);
        struct read *r;

        add_fast(m, 0, cases[i].fast);
        for (int64_t k = 0; k < cases[i].failed; k++)
            add(m, row_failed((int64_t)m->n, 500 + k, 1, OUTCOME_RESET));
        for (int64_t k = 0; k < cases[i].unsent; k++)
            add(m, row_unsent((int64_t)m->n, 600));
        m->end.stopped_by = cases[i].stopped_by;
        r = sum_up(m, NULL);
        assert_int_equal(r->s.verdict, cases[i].verdict);
        assert_int_equal(summary_exit_code(&r->s), cases[i].code);
        assert_null(r->s.aborted);
        read_free(r);
    }
}

/* The answer of an aborted run is no, unless something outranks that. */
static void exit_codes_of_aborted_runs(void **state)
{
    static const char why[] = "errors > 5%: 9% of 11 requests in 1s";
    static const struct {
        const char *slo;
        int64_t failed;
        int64_t unsent;
        int64_t stopped_by;
        enum verdict verdict;
        int code;
    } cases[] = {
        {"", 1, 0, 0, VERDICT_NONE, 1},
        {"e2e p50 < 10ms", 1, 0, 0, VERDICT_FAIL, 1}, /* though it was met */
        {"errors < 1%", 1, 0, 0, VERDICT_FAIL, 1},
        {"e2e p99 < 10ms", 0, 0, 0, VERDICT_UNDECIDED, 4},
        {"", 1, 1, 0, VERDICT_INVALID, 4},
        {"", 1, 0, SIGINT, VERDICT_NONE, 130},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made *m = made_new(0, 1000, cases[i].slo);
        struct read *r;

        add_fast(m, 0, 10);
        for (int64_t k = 0; k < cases[i].failed; k++)
            add(m, row_failed((int64_t)m->n, 500 + k, 1, OUTCOME_RESET));
        for (int64_t k = 0; k < cases[i].unsent; k++)
            add(m, row_unsent((int64_t)m->n, 600));
        m->end.stopped_by = cases[i].stopped_by;
        memcpy(m->end.aborted, why, sizeof(why));
        r = sum_up(m, NULL);
        assert_string_equal(r->s.aborted, why);
        assert_int_equal(r->s.verdict, cases[i].verdict);
        assert_int_equal(summary_exit_code(&r->s), cases[i].code);
        read_free(r);
    }
}

static void another_slo_may_be_asked(void **state)
{
    struct strlist slo = {0};
    struct made *m = made_new(0, 1000, "e2e p50 < 10ms");
    struct read *r;
    struct err err = {0};

    (void)state;
    add_fast(m, 0, 100);
    strlist_add(&slo, "e2e p50 < 2ms");
    r = sum_up(m, &slo);
    assert_int_equal(r->s.judgement.len, 1);
    assert_string_equal(r->s.judgement.terms[0].term->text, "e2e p50 < 2ms");
    assert_int_equal(r->s.verdict, VERDICT_FAIL);
    assert_int_equal(r->s.good, 0);
    strlist_add(&slo, "e2e p50 > 2ms");
    assert_int_equal(summary_make(&r->s, &r->rec, &slo, &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    strlist_fini(&slo);
    read_free(r);
}

/* ---- what is left of a run that was killed ---- */

/* 0 to 95 and 99 are there; 96 to 98 were in flight.  What a run that was
 * killed would have come to nobody knows, unless it has failed already. */
static void gaps_of_a_killed_run_are_unfinished(void **state)
{
    static const struct {
        const char *slo;
        enum verdict want;
        int code;
    } cases[] = {
        {"", VERDICT_NONE, 0},
        {"e2e p90 < 10ms", VERDICT_UNDECIDED, 4}, /* would pass */
        {"e2e p98 < 10ms", VERDICT_UNDECIDED, 4},
        {"good >= 98%", VERDICT_UNDECIDED, 4},
        {"errors < 1%", VERDICT_UNDECIDED, 4},
        {"errors < 4%", VERDICT_UNDECIDED, 4}, /* would pass */
        {"e2e p50 < 1ms", VERDICT_FAIL, 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made *m = made_new(0, 60000, cases[i].slo);
        struct read *r;

        m->was_killed = true;
        add_fast(m, 0, 96);
        add(m, row_ok(99, 990, 5));
        r = sum_up(m, NULL);
        assert_true(r->s.integrity.was_killed);
        assert_int_equal(r->s.integrity.lost_requests, 3);
        assert_int_equal(r->s.scheduled, 100);
        assert_int_equal(r->s.outcome[OUTCOME_UNFINISHED], 3);
        assert_int_equal(r->s.failed, 3);
        assert_true(fabs(r->s.window_length_s - 0.99) < 1e-6);
        assert_int_equal(r->s.verdict, cases[i].want);
        assert_int_equal(summary_exit_code(&r->s), cases[i].code);
        assert_int_equal(r->s.stopped_by, 0);
        read_free(r);
    }
}

/* The server stood still when the client was killed: what it had issued since
 * leaves no gap, but the client wrote down how far it had got. */
static void the_end_of_a_killed_run_is_known(void **state)
{
    struct made *m = made_new(0, 60000, "e2e p50 < 10ms");
    struct read *r;

    (void)state;
    m->was_killed = true;
    add_fast(m, 0, 100);
    m->seen[0] = (struct observation){
        .at = 4 * NS_PER_S, .issued = 390, .unsent = 10, .done = 100};
    r = sum_up(m, NULL);
    assert_int_equal(r->s.scheduled, 400);
    assert_int_equal(r->s.ok, 100);
    assert_int_equal(r->s.outcome[OUTCOME_UNFINISHED], 300);
    assert_true(r->s.window_length_s == 4);
    assert_int_equal(r->s.verdict, VERDICT_UNDECIDED);
    assert_int_equal(summary_exit_code(&r->s), 4);
    read_free(r);
}

/* Three workers, of which each looked at itself at a time of its own.  The rows
 * are 0, 3, 6, ... of worker 0 alone: the others stood still. */
static void three_workers_are_killed(void **state)
{
    static const struct {
        bool is_closed;
        int64_t rows; /* of worker 0 */
        int64_t at_ms[3];
        int64_t taken[3];
        int64_t scheduled;
        double length_s;
    } cases[] = {
        /* 21 is the last place seen: 22 in all; nobody says more */
        {false, 8, {0, 0, 0}, {0, 0, 0}, 22, 0.07},
        {true, 8, {0, 0, 0}, {0, 0, 0}, 8, 0.07},
        /* counts of all of them; the time up to which all are known */
        {false, 8, {3000, 2900, 4000}, {30, 29, 40}, 99, 2.9},
        {true, 8, {3000, 2900, 4000}, {30, 29, 40}, 99, 2.9},
        /* worker 0 got further than it wrote down, worker 2 said nothing */
        {false, 100, {500, 600, 0}, {50, 60, 0}, 298, 0.99},
        {true, 100, {500, 600, 0}, {50, 60, 0}, 160, 0.99},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made *m = made_new(0, 60000, "");
        struct read *r;

        m->was_killed = true;
        m->threads = 3;
        m->is_closed = cases[i].is_closed;
        for (int64_t k = 0; k < cases[i].rows; k++)
            add(m, row_ok(3 * k, 10 * k, 5));
        for (size_t k = 0; k < 3; k++)
            m->seen[k] =
                (struct observation){.at = cases[i].at_ms[k] * NS_PER_MS,
                                     .issued = cases[i].taken[k]};
        r = sum_up(m, NULL);
        assert_int_equal(r->s.scheduled, cases[i].scheduled);
        assert_int_equal(r->s.integrity.lost_requests,
                         cases[i].scheduled - cases[i].rows);
        if (fabs(r->s.window_length_s - cases[i].length_s) > 1e-6)
            print_error("case %zu: %g s\n", i, r->s.window_length_s);
        assert_true(fabs(r->s.window_length_s - cases[i].length_s) <= 1e-6);
        assert_int_equal(r->s.threads, 3);
        read_free(r);
    }
}

static void killed_in_its_warm_up(void **state)
{
    static const char *const slos[] = {"", "e2e p99 < 10ms"};

    (void)state;
    for (size_t i = 0; i < COUNT(slos); i++) {
        struct made *m = made_new(5000, 60000, slos[i]);
        struct read *r;

        m->was_killed = true;
        add_fast(m, 0, 10);
        add(m, row_ok(19, 190, 5));
        r = sum_up(m, NULL);
        assert_int_equal(r->s.integrity.lost_requests, 9);
        assert_int_equal(r->s.scheduled, 0);
        assert_int_equal(r->s.warmup_requests, 20);
        assert_true(r->s.window_length_s == 0);
        assert_int_equal(r->s.verdict, i ? VERDICT_UNDECIDED : VERDICT_NONE);
        assert_int_equal(summary_exit_code(&r->s), i ? 4 : 1);
        read_free(r);
    }
}

static void nothing_recorded_at_all(void **state)
{
    (void)state;
    for (int killed = 0; killed < 2; killed++) {
        struct made *m = made_new(0, 1000, "e2e p99 < 10ms");
        struct read *r;

        m->was_killed = killed;
        r = sum_up(m, NULL);
        assert_int_equal(r->s.scheduled, 0);
        assert_int_equal(r->s.integrity.lost_requests, 0);
        assert_int_equal(r->s.verdict, VERDICT_UNDECIDED);
        assert_int_equal(summary_exit_code(&r->s), 4);
        read_free(r);
    }
}

/* The manifest says 100; the file has 90. */
static void rows_lost_to_damage_are_unfinished(void **state)
{
    struct made *m = made_new(0, 1000, "e2e p50 < 10ms");
    struct read *r;

    (void)state;
    add_fast(m, 0, 90);
    m->end.scheduled = 100;
    m->end.issued = 100;
    r = sum_up(m, NULL);
    assert_false(r->s.integrity.was_killed);
    assert_int_equal(r->s.integrity.lost_requests, 10);
    assert_int_equal(r->s.scheduled, 100);
    assert_int_equal(r->s.outcome[OUTCOME_UNFINISHED], 10);
    assert_int_equal(r->s.verdict, VERDICT_PASS);
    read_free(r);
}

/* What the client saw in the window reaches the checks. */
static void client_and_network_are_noted(void **state)
{
    struct made *m = made_new(0, 1000, "");
    struct read *r;
    bool is_found = false;

    (void)state;
    add_fast(m, 0, 100);
    m->end.rtt_floor_ns = 23000;
    m->end.segments = 300;
    m->end.retransmits = 2;
    m->seen[0] =
        (struct observation){.at = NS_PER_S, .suspended_max = 251 * NS_PER_MS};
    r = sum_up(m, NULL);
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
    read_free(r);
}

static void statuses_are_counted(void **state)
{
    struct made *m = made_new(0, 1000, "");
    struct read *r;

    (void)state;
    for (int64_t i = 0; i < 10; i++) {
        struct facts f = row_ok(i, i, 1);

        f.status = i < 1 ? 0 : i < 3 ? 200 : i < 5 ? 204 : i < 9 ? 302 : 9999;
        add(m, f);
    }
    r = sum_up(m, NULL);
    assert_int_equal(r->s.n_statuses, 2);
    assert_int_equal(r->s.statuses[0].status, 302);
    assert_int_equal(r->s.statuses[0].count, 4);
    assert_int_equal(r->s.statuses[1].status, 204);
    assert_int_equal(r->s.statuses[1].count, 2);
    read_free(r);
}

static void what_is_no_recording_is_said(void **state)
{
    struct recording rec;
    struct err missing = {0};
    struct err file = {0};
    struct err empty = {0};

    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_count_and_rate),
        cmocka_unit_test(every_percentile),
        cmocka_unit_test(the_window_ends_where_the_schedule_did),
        cmocka_unit_test(exit_codes),
        cmocka_unit_test(exit_codes_of_aborted_runs),
        cmocka_unit_test(another_slo_may_be_asked),
        cmocka_unit_test(gaps_of_a_killed_run_are_unfinished),
        cmocka_unit_test(the_end_of_a_killed_run_is_known),
        cmocka_unit_test(three_workers_are_killed),
        cmocka_unit_test(killed_in_its_warm_up),
        cmocka_unit_test(client_and_network_are_noted),
        cmocka_unit_test(nothing_recorded_at_all),
        cmocka_unit_test(statuses_are_counted),
        cmocka_unit_test(rows_lost_to_damage_are_unfinished),
        cmocka_unit_test(what_is_no_recording_is_said),
    };

    return cmocka_run_group_tests_name("summary", tests, tmpdir_setup,
                                       tmpdir_teardown);
}
