/* Content events: from a table on disk to the pauses between them, and the
 * terms on these. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/tally/stream.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "tests/support/keep.h"
#include "tests/support/rows.h"
#include "tests/support/streams.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static void assert_near_ms(double ns, double ms)
{
    if (fabs(ns / 1e6 - ms) > ms / 1000)
        print_error("%g ms, want %g\n", ns / 1e6, ms);
    assert_true(fabs(ns / 1e6 - ms) <= ms / 1000);
}

/* ---- the worked stream ---- */

TEST(the_worked_stream)
{
    static const struct {
        enum measure measure;
        int64_t n;
        double ms;
    } cases[] = {
        {MEASURE_TTFT, 1, 100}, {MEASURE_TPOT, 1, 10}, {MEASURE_E2E, 1, 260},
        {MEASURE_STALL, 1, 40}, {MEASURE_GAP, 4, 40},  {MEASURE_ITL, 16, 10},
    };
    struct streams *m = streams_new(0, 1000, "");
    struct read_run *r;

    streams_add(m, &worked_stream)->end += 3 * NS_PER_MS;
    r = streams_sum_up(m);
    assert_true(r->s.is_streamed);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct spread *p = &r->s.spread[cases[i].measure][VIEW_DUE];

        assert_int_equal(p->n, cases[i].n);
        assert_int_equal(p->failed, 0);
        assert_near_ms(p->mean_ns, cases[i].ms);
        assert_near_ms((double)p->max_ns, cases[i].ms);
    }
    assert_near_ms(r->s.spread[MEASURE_TAIL][VIEW_DUE].mean_ns, 3);
    assert_near_ms(r->s.spread[MEASURE_TTFT][VIEW_SENT].mean_ns, 99);
    for (int v = VIEW_OK; v < VIEW_COUNT; v++) {
        assert_int_equal(r->s.spread[MEASURE_GAP][v].n, 0);
        assert_int_equal(r->s.spread[MEASURE_ITL][v].n, 0);
    }
    assert_int_equal(r->s.integrity.lost_events, 0);
    read_run_free(r);
}

/* Neither its events nor its failures make one of a run without streams. */
TEST(a_run_without_streams_has_none_of_it)
{
    struct streams *m = streams_new(0, 1000, "");
    struct read_run *r;

    streams_add_row(m, row_ok(0, 10, 5));
    streams_add_row(m, row_failed(1, 20, 5, OUTCOME_RESET));
    m->has_no_table = true;
    r = streams_sum_up(m);
    assert_false(r->s.is_streamed);
    for (int v = 0; v < VIEW_COUNT; v++) {
        for (int i = MEASURE_TPOT; i < MEASURE_COUNT; i++)
            assert_int_equal(r->s.spread[i][v].n, 0);
    }
    assert_int_equal(r->s.spread[MEASURE_TTFT][VIEW_DUE].n, 2);
    read_run_free(r);
}

/* A failure is beyond in measures of a request, and no part of the pooled ones
 * but for the events that it had. */
TEST(failures_are_beyond)
{
    struct streams *m = streams_new(0, 1000, "");
    struct facts *f;
    struct read_run *r;

    streams_add(m, &worked_stream);
    f = streams_add(m, &worked_stream);
    f->outcome = OUTCOME_TRUNCATED;
    streams_add_row(m, row_failed(2, 20, 5, OUTCOME_RESET));
    r = streams_sum_up(m);
    for (int i = MEASURE_TTFT; i <= MEASURE_STALL; i++) {
        assert_int_equal(r->s.spread[i][VIEW_DUE].n, 3);
        assert_int_equal(r->s.spread[i][VIEW_DUE].failed, 2);
        assert_int_equal(r->s.spread[i][VIEW_OK].n, 1);
    }
    assert_int_equal(r->s.spread[MEASURE_TAIL][VIEW_DUE].n, 1);
    assert_int_equal(r->s.spread[MEASURE_GAP][VIEW_DUE].n, 8);
    assert_int_equal(r->s.spread[MEASURE_GAP][VIEW_DUE].failed, 0);
    read_run_free(r);
}

/* Pauses belong to the window in which their request was due. */
TEST(pauses_go_by_due)
{
    const struct shape before = {999, 10, 1, 3, 10, 2};
    const struct shape inside = {1999, 10, 1, 5, 10, 2};
    const struct shape after = {2000, 10, 1, 7, 10, 2};
    struct streams *m = streams_new(1000, 1000, "gap p50 < 11ms");
    struct read_run *r;

    streams_add(m, &before);
    streams_add(m, &inside);
    streams_add(m, &after);
    r = streams_sum_up(m);
    assert_int_equal(r->s.spread[MEASURE_GAP][VIEW_DUE].n, 5);
    assert_int_equal(r->s.spread[MEASURE_ITL][VIEW_DUE].n, 10);
    assert_int_equal(r->s.judgement.terms[0].counts.n, 5);
    assert_int_equal(r->s.judgement.terms[0].requests, 1);
    read_run_free(r);
}

/* ---- terms on pauses ---- */

/* 300 streams with 4 pauses of 40 ms, of which some have one of 80 ms: n is
 * 1200, of which p99 leaves 12 and p99.9 leaves 1. */
TEST(exact_counts_decide_pooled_terms)
{
    static const struct {
        const char *slo;
        int64_t slow;
        enum verdict want;
    } cases[] = {
        {"gap p99 < 41ms", 12, VERDICT_PASS},
        {"gap p99 < 41ms", 13, VERDICT_FAIL},
        {"gap p99 < 40ms", 0, VERDICT_FAIL}, /* strictly below */
        {"gap p99 < 80001us", 300, VERDICT_PASS},
        {"itl p99 < 10001us", 12, VERDICT_PASS}, /* 48 of 4800 tokens */
        {"itl p99 < 10001us", 13, VERDICT_FAIL},
        {"itl p99 < 10ms", 0, VERDICT_FAIL},
        {"itl p99 < 20001us", 300, VERDICT_PASS},
        {"gap p90 < 41ms,itl p90 < 1ms", 0, VERDICT_FAIL},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct streams *m = streams_new(0, 300000, cases[i].slo);
        struct read_run *r;

        for (int64_t k = 0; k < 300; k++) {
            struct shape p = worked_stream;

            p.due_ms = 1000 * k;
            streams_add(m, &p);
            if ((k + 1) * cases[i].slow / 300 > k * cases[i].slow / 300)
                m->events[m->n_events - 1].at_us += 40000;
        }
        r = streams_sum_up(m);
        if (r->s.judgement.verdict != cases[i].want)
            print_error("case %zu\n", i);
        assert_int_equal(r->s.judgement.verdict, cases[i].want);
        assert_int_equal(r->s.good, 300); /* they never decide good */
        read_run_free(r);
    }
}

TEST(pooled_terms_may_be_open)
{
    static const struct {
        int64_t pauses;
        bool has_no_table;
        const char *why;
    } cases[] = {
        {0, false, "no stream had two events"},
        {4, true, "depends on events that are missing in the recording"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct streams *m = streams_new(0, 1000, "gap p50 < 41ms");
        struct shape p = worked_stream;
        struct read_run *r;

        p.pauses = cases[i].pauses;
        for (int k = 0; k < 20; k++)
            streams_add(m, &p);
        m->has_no_table = cases[i].has_no_table;
        r = streams_sum_up(m);
        assert_int_equal(r->s.judgement.terms[0].verdict, VERDICT_UNDECIDED);
        assert_string_equal(r->s.judgement.terms[0].why, cases[i].why);
        assert_int_equal(r->s.judgement.terms[0].more_needed, 0);
        read_run_free(r);
    }
}

/* 20 streams have 80 pauses, but pauses of one stream are not independent: p99
 * needs 299 streams. */
TEST(too_few_pauses_are_told_in_requests)
{
    struct streams *m = streams_new(0, 1000, "gap p99 < 41ms");
    struct read_run *r;

    for (int k = 0; k < 20; k++)
        streams_add(m, &worked_stream);
    r = streams_sum_up(m);
    assert_int_equal(r->s.judgement.terms[0].verdict, VERDICT_UNDECIDED);
    assert_int_equal(r->s.judgement.terms[0].more_needed, 279);
    read_run_free(r);
}

/* ---- terms on what a short stream does not have ---- */

TEST(a_short_stream_is_judged_on_the_rest)
{
    static const struct {
        const char *slo;
        int64_t without; /* of 400 */
        enum verdict want;
        int64_t good;
    } cases[] = {
        {"tpot p99 < 11ms,ttft p99 < 101ms", 4, VERDICT_PASS, 400},
        {"tpot p99 < 11ms,ttft p99 < 101ms", 5, VERDICT_UNDECIDED, 400},
        {"tpot p99 < 10ms,ttft p99 < 101ms", 4, VERDICT_FAIL, 4},
        {"ttft p99 < 100ms,tpot p50 < 11ms", 4, VERDICT_FAIL, 0},
        {"stall p99 < 41ms", 4, VERDICT_PASS, 400},
        {"stall p99 < 41ms", 5, VERDICT_UNDECIDED, 400},
        {"tail p50 < 1ms", 5, VERDICT_PASS, 400},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct streams *m = streams_new(0, 1000, cases[i].slo);
        struct read_run *r;

        for (int64_t k = 0; k < 400; k++) {
            struct shape p = worked_stream;

            p.pauses = k < cases[i].without ? 0 : 4;
            streams_add(m, &p);
        }
        r = streams_sum_up(m);
        if (r->s.judgement.verdict != cases[i].want)
            print_error("case %zu\n", i);
        assert_int_equal(r->s.judgement.verdict, cases[i].want);
        assert_int_equal(r->s.good, cases[i].good);
        if (cases[i].want == VERDICT_UNDECIDED)
            assert_string_equal(r->s.judgement.terms[0].why,
                                "too many streams are too short to have this "
                                "measure");
        read_run_free(r);
    }
}

/* ---- damage ---- */

/* Blocks of 3 events: streams of 5 go over their edges. */
TEST(streams_go_on_in_the_next_block)
{
    char *dir = tmpdir_path("blocks");
    struct streams *m = streams_new(0, 1000, "");
    struct read_run *r;

    for (int k = 0; k < 20; k++)
        streams_add(m, &worked_stream);
    streams_write(m, dir, 3);
    r = read_run_new(dir, NULL);
    assert_int_equal(r->s.spread[MEASURE_GAP][VIEW_DUE].n, 80);
    assert_near_ms((double)r->s.spread[MEASURE_GAP][VIEW_DUE].max_ns, 40);
    read_run_free(r);
    free(m);
}

/* One byte in the middle is wrong: a block of 3 is gone, and no pause goes
 * across it. */
TEST(damage_is_counted_and_not_bridged)
{
    char *dir = tmpdir_path("damaged");
    char *path = keepf("%s/events.tgr", dir);
    struct streams *m = streams_new(0, 1000, "gap p50 < 41ms,gap p98 < 41ms");
    struct read_run *r;
    FILE *f;
    int byte;

    for (int k = 0; k < 20; k++)
        streams_add(m, &worked_stream);
    streams_write(m, dir, 3);
    f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    assert_int_equal(fseek(f, ftell(f) / 2, SEEK_SET), 0);
    byte = fgetc(f);
    assert_int_equal(fseek(f, -1, SEEK_CUR), 0);
    fputc(byte ^ 0xff, f);
    fclose(f);
    r = read_run_new(dir, NULL);
    assert_int_equal(r->s.integrity.lost_events, 3);
    assert_int_equal(r->s.integrity.lost_requests, 0);
    assert_true(r->s.damage.skipped_bytes > 0);
    assert_true(r->s.spread[MEASURE_GAP][VIEW_DUE].n >= 76);
    assert_true(r->s.spread[MEASURE_GAP][VIEW_DUE].n <= 77);
    assert_near_ms((double)r->s.spread[MEASURE_GAP][VIEW_DUE].max_ns, 40);
    /* What is lost is open: p50 does not depend on it, p98 does. */
    assert_int_equal(r->s.judgement.terms[0].verdict, VERDICT_PASS);
    assert_int_equal(r->s.judgement.terms[1].verdict, VERDICT_UNDECIDED);
    assert_true(r->s.trust.valid);
    read_run_free(r);
    free(m);
}

TEST(a_table_that_is_cut_off_is_read_so_far)
{
    char *dir = tmpdir_path("cut");
    char *path = keepf("%s/events.tgr", dir);
    struct streams *m = streams_new(0, 1000, "");
    struct read_run *r;
    long size;
    FILE *f;

    for (int k = 0; k < 20; k++)
        streams_add(m, &worked_stream);
    streams_write(m, dir, 5);
    f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    size = ftell(f);
    fclose(f);
    assert_int_equal(truncate(path, size - 4), 0);
    r = read_run_new(dir, NULL);
    assert_true(r->s.damage.cut_off_bytes > 0);
    assert_int_equal(r->s.integrity.lost_events, 5);
    assert_int_equal(r->s.spread[MEASURE_GAP][VIEW_DUE].n, 76);
    read_run_free(r);
    free(m);
}

/* What a damaged block may hold, checksum and all, does no harm. */
TEST(senseless_events_do_no_harm)
{
    static const struct content_event events[] = {
        {1, 10, 20, 1},
        {1, 10, TIME_ABSENT, TIME_ABSENT},
        {1, 10, 10, -5},
        {1, 10, INT64_C(1) << 61, INT64_C(1) << 61},
        {1, 10, -(INT64_C(1) << 61), 2},
        {TIME_ABSENT, TIME_ABSENT, 20, 1},
        {TIME_ABSENT, TIME_ABSENT, 30, 1},
    };
    struct tally *t = xcalloc(1, sizeof(*t));
    struct slo slo = slo_of("gap p50 < 1s,itl p50 < 1s");
    struct stream s;

    tally_init(t, (struct window){0, 1000}, &slo);
    stream_init(&s, t);
    stream_add(&s, 0, events, COUNT(events));
    stream_add(&s, 4000000000U, events, COUNT(events));
    stream_finish(&s);
    assert_int_equal(t->hist[MEASURE_GAP][VIEW_DUE].n, 8);
    assert_int_equal(t->hist[MEASURE_GAP][VIEW_DUE].out_of_range, 8);
    assert_int_equal(t->terms[0].keeps, 0);
    assert_int_equal(t->terms[0].n, 8);
    tally_fini(t);
    free(t);
}

/* Two workers' blocks take turns; each has its own place. */
TEST(workers_are_told_apart)
{
    static const struct content_event a[] = {{1, 10, 0, 1}, {1, 10, 50, 1}};
    static const struct content_event b[] = {{2, 10, 7, 1}, {2, 10, 97, 1}};
    struct tally *t = xcalloc(1, sizeof(*t));
    struct slo slo = slo_of("");
    struct stream s;

    tally_init(t, (struct window){0, 1000}, &slo);
    stream_init(&s, t);
    stream_add(&s, 0, a, 1);
    stream_add(&s, 1, b, 1);
    stream_add(&s, 0, a + 1, 1);
    stream_add(&s, 1, b + 1, 1);
    assert_int_equal(t->hist[MEASURE_GAP][VIEW_DUE].n, 2);
    assert_true(t->hist[MEASURE_GAP][VIEW_DUE].sum_ns == 140000);
    tally_fini(t);
    free(t);
}

/* A hundred events where the requests have five: the second block of five is
 * the last that is read. */
TEST(too_many_events_are_refused_at_once)
{
    char *dir = tmpdir_path("surplus");
    struct streams *m = streams_new(0, 1000, "");
    struct recording rec;
    struct err err = {0};
    struct summary s;

    streams_add(m, &worked_stream);
    assert_int_equal(m->n_events, 5);
    while (m->n_events < 100) {
        m->events[m->n_events] = m->events[4];
        m->n_events++;
    }
    streams_write(m, dir, 5);
    assert_int_equal(recording_open(&rec, dir, &err), 0);
    assert_int_equal(summary_make(&s, &rec, NULL, &err), -1);
    assert_int_equal(err.code, ERR_FORMAT);
    assert_non_null(
        strstr(err.msg, "10 content events but the requests have 5:"));
    recording_close(&rec);
    free(m);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
