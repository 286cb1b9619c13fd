/* What a run comes to in the end: its verdict and its exit code. */
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/run_doc.h"
#include "analyzer/tally/summary.h"
#include "cli/exit_status.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "tests/support/golden.h"
#include "tests/support/maderun.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

TEST(exit_codes)
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
        {"errors < 1%", 10, 1, 0, 0, VERDICT_UNDECIDED, 4},
        {"e2e p50 < 1ms", 10, 0, 0, 0, VERDICT_FAIL, 1},
        {"e2e p99 < 10ms", 10, 0, 0, 0, VERDICT_UNDECIDED, 4},
        {"e2e p50 < 10ms", 10, 0, 1, 0, VERDICT_INVALID, 4},
        {"errors < 1%", 10, 1, 1, 0, VERDICT_INVALID, 4}, /* 4 before 1 */
        {"", 10, 0, 1, 0, VERDICT_INVALID, 4},
        {"", 10, 0, 0, SIGINT, VERDICT_NONE, 130},
        {"e2e p50 < 1ms", 10, 0, 0, SIGTERM, VERDICT_FAIL, 143},
        {"e2e p99 < 1s", 10, 0, 1, SIGINT, VERDICT_INVALID, 130},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_run *m = made_run_new(0, 1000, cases[i].slo);
        struct read_run *r;

        made_run_add_fast(m, 0, cases[i].fast);
        made_run_add_reset(m, cases[i].failed);
        made_run_add_unsent(m, cases[i].unsent);
        m->end.stopped_by = cases[i].stopped_by;
        r = made_run_sum_up(m, NULL);
        assert_int_equal(r->s.verdict, cases[i].verdict);
        assert_int_equal(exit_status_of_run(&r->s), cases[i].code);
        assert_null(r->s.aborted);
        read_run_free(r);
    }
}

/* The answer of an aborted run is no, unless something outranks that. */
TEST(exit_codes_of_aborted_runs)
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
        {"e2e p50 < 1ms", 1, 0, 0, VERDICT_FAIL, 1},
        {"e2e p99 < 10ms", 0, 0, 0, VERDICT_UNDECIDED, 4},
        {"", 1, 1, 0, VERDICT_INVALID, 4},
        {"", 1, 0, SIGINT, VERDICT_NONE, 130},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_run *m = made_run_new(0, 1000, cases[i].slo);
        struct read_run *r;

        made_run_add_fast(m, 0, 10);
        made_run_add_reset(m, cases[i].failed);
        made_run_add_unsent(m, cases[i].unsent);
        m->end.stopped_by = cases[i].stopped_by;
        memcpy(m->end.aborted, why, sizeof(why));
        r = made_run_sum_up(m, NULL);
        assert_string_equal(r->s.aborted, why);
        assert_int_equal(r->s.verdict, cases[i].verdict);
        assert_int_equal(exit_status_of_run(&r->s), cases[i].code);
        read_run_free(r);
    }
}

/* 400 requests in 4 s, which is too short for a look on the way: the one at the
 * end decides, if nothing of the run is missing.  After 5 s there is a look,
 * but what was cut cannot pass. */
TEST(a_run_that_was_cut_is_not_decided_at_its_end)
{
    static const struct {
        int64_t n;
        int64_t unfinished;
        int64_t lost;
        bool was_killed;
        int64_t stopped_by;
        enum verdict verdict;
        bool is_shown;
    } cases[] = {
        {400, 0, 0, false, 0, VERDICT_PASS, true},
        {400, 0, 300, false, 0, VERDICT_UNDECIDED, false},
        {400, 0, 5, false, 0, VERDICT_PASS, false},
        {400, 200, 0, false, 0, VERDICT_UNDECIDED, false},
        {400, 0, 0, true, 0, VERDICT_UNDECIDED, false},
        {400, 0, 0, false, SIGINT, VERDICT_UNDECIDED, false},
        {600, 0, 300, false, 0, VERDICT_PASS, true},
        {600, 0, 0, true, 0, VERDICT_UNDECIDED, false},
        {600, 0, 0, false, SIGINT, VERDICT_UNDECIDED, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t n = cases[i].n;
        struct made_run *m = made_run_new(0, 10 * n, "e2e p90 < 10ms");
        int64_t fast = n - cases[i].unfinished;
        struct read_run *r;

        m->stops_decided = true;
        made_run_add_fast(m, 0, fast);
        for (int64_t k = fast; k < n; k++)
            made_run_add(m, row_failed(k, 10 * k, 1, OUTCOME_UNFINISHED));
        m->end.scheduled += cases[i].lost;
        m->end.issued += cases[i].lost;
        m->was_killed = cases[i].was_killed;
        m->end.stopped_by = cases[i].stopped_by;
        r = made_run_sum_up(m, NULL);
        if (r->s.verdict != cases[i].verdict)
            print_error("case %zu: %s\n", i, verdict_name(r->s.verdict));
        assert_int_equal(r->s.verdict, cases[i].verdict);
        assert_int_equal(r->s.is_shown, cases[i].is_shown);
        assert_int_equal(r->s.decided[0] != 0, cases[i].is_shown);
        read_run_free(r);
    }
}

TEST(another_slo_may_be_asked)
{
    struct strlist slo = {0};
    struct made_run *m = made_run_new(0, 1000, "e2e p50 < 10ms");
    struct read_run *r;
    struct err err = {0};

    made_run_add_fast(m, 0, 100);
    strlist_add(&slo, "e2e p50 < 2ms");
    r = made_run_sum_up(m, &slo);
    assert_int_equal(r->s.judgement.len, 1);
    assert_string_equal(r->s.judgement.terms[0].term->text, "e2e p50 < 2ms");
    assert_int_equal(r->s.verdict, VERDICT_FAIL);
    assert_int_equal(r->s.good, 0);
    strlist_add(&slo, "e2e p50 > 2ms");
    summary_fini(&r->s);
    assert_int_equal(summary_make(&r->s, &r->rec, &slo, &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    strlist_fini(&slo);
    read_run_free(r);
}

/* Then its ttft is that of all of it, which is said. */
TEST(a_first_token_of_whole_answers)
{
    static const struct {
        const char *slo;
        size_t notes;
    } cases[] = {{"e2e p50 < 10ms", 0}, {"ttft p50 < 10ms", 1}, {"ttft:10", 1}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_run *m = made_run_new(0, 1000, cases[i].slo);
        struct read_run *r;
        char *brief;

        made_run_add_fast(m, 0, 10);
        r = made_run_sum_up(m, NULL);
        assert_int_equal(r->s.notes.len, cases[i].notes);
        if (cases[i].notes > 0)
            assert_string_equal(r->s.notes.list[0].name, "no_stream");
        brief = doc_brief_of(run_doc(&r->s));
        assert_int_equal(strstr(brief,
                                "\nwarning    10 of 10 (100%): answers did not "
                                "stream: their ttft,") != NULL,
                         cases[i].notes > 0);
        free(brief);
        read_run_free(r);
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
