/* Tokens of a run: sums, rates by arrival, where the counts come from; and
 * what checks of the answers come to. */
#include <math.h>
#include <stdbool.h>

#include "common/base/clk.h"
#include "tests/support/rows.h"
#include "tests/support/streams.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static void assert_near(double got, double want)
{
    if (fabs(got - want) > 1e-9 * fabs(want))
        print_error("%.17g, want %.17g\n", got, want);
    assert_true(fabs(got - want) <= 1e-9 * fabs(want));
}

static struct facts unary(int64_t due_ms, int64_t e2e_ms, int64_t tokens)
{
    struct facts f = row_ok(0, due_ms, e2e_ms);

    f.output_tokens = tokens;
    f.token_source = TOKENS_USAGE;
    return f;
}

/* ---- rates ---- */

/* Events at 100, 140, 180, 220, 260 ms after due with 1, 4, 4, 4, 4 tokens; the
 * window is of 1 s to 3 s. */
TEST(tokens_go_by_arrival)
{
    static const struct {
        int64_t due_ms;
        double inside;
        double of_good;
    } cases[] = {
        {1000, 17, 17}, {700, 0, 0}, /* over before the window */
        {740, 4, 0},                 /* its last event is the first in it */
        {860, 16, 0},                /* all but the first, at 960 */
        {2820, 5, 17}, /* due in it: 2920 and 2960; 3000 is after it */
        {2999, 0, 17}, /* due in it, and all comes later */
        {3000, 0, 0},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct streams *m = streams_new(1000, 2000, "");
        struct shape p = worked_stream;
        struct read_run *r;

        p.due_ms = cases[i].due_ms;
        streams_add(m, &p);
        r = streams_sum_up(m);
        assert_near(r->s.output_tokens_per_s, cases[i].inside / 2);
        assert_near(r->s.goodput_tokens_per_s, cases[i].of_good / 2);
        assert_true(r->s.has_tokens);
        read_run_free(r);
    }
}

/* Answers in one piece count when they end, if they end well. */
TEST(whole_answers_count_at_their_end)
{
    struct streams *m = streams_new(1000, 2000, "e2e p50 < 90ms");
    struct read_run *r;
    struct facts failed = unary(1500, 50, 1000);

    streams_add_row(m, unary(990, 50, 1));
    streams_add_row(m, unary(1500, 50, 20));
    streams_add_row(m, unary(1600, 100, 300)); /* not good */
    streams_add_row(m, unary(2990, 50, 4000)); /* ends after the window */
    streams_add_row(m, unary(900, 50, 50000)); /* ended before */
    failed.outcome = OUTCOME_TRUNCATED;
    streams_add_row(m, failed);
    r = streams_sum_up(m);
    assert_false(r->s.is_streamed);
    assert_near(r->s.output_tokens_per_s, 321.0 / 2);
    assert_near(r->s.goodput_tokens_per_s, 4020.0 / 2);
    assert_int_equal(r->s.tokens.output.sum, 4320);
    assert_int_equal(r->s.tokens.output.n, 3);
    read_run_free(r);
}

/* Usage says 33 tokens, the events say nothing, or one each: what they do not
 * say came evenly, from 960 ms to 1120 ms, of which 3/4 are in the window. */
TEST(unsplit_tokens_come_evenly)
{
    static const struct {
        int64_t each;
        double inside;
    } cases[] = {
        {0, 33 * 0.75},
        {1, 4 + 28 * 0.75}, /* of 5, the first is before the window */
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct streams *m = streams_new(1000, 2000, "");
        struct shape p = worked_stream;
        struct read_run *r;
        struct facts *f;

        p.due_ms = 860;
        p.tokens = cases[i].each;
        f = streams_add(m, &p);
        f->event_tokens = 33;
        f->first_tokens = 1;
        f->output_tokens = 33;
        f->token_source = TOKENS_USAGE;
        f->is_split = 0;
        r = streams_sum_up(m);
        assert_near(r->s.output_tokens_per_s, cases[i].inside / 2);
        read_run_free(r);
    }
}

TEST(plain_answers_have_no_tokens)
{
    struct streams *m = streams_new(0, 1000, "");
    struct read_run *r;

    streams_add_row(m, row_ok(0, 10, 5));
    m->has_no_table = true;
    r = streams_sum_up(m);
    assert_false(r->s.has_tokens);
    assert_int_equal(r->s.notes.len, 0);
    assert_int_equal(r->s.quality.checked, 0);
    read_run_free(r);
}

/* ---- sums ---- */

TEST(sums_are_of_ok_requests_in_the_window)
{
    struct streams *m = streams_new(1000, 2000, "");
    struct shape p = worked_stream;
    struct read_run *r;
    const struct tokens *t;
    struct facts *f;

    p.due_ms = 500; /* in the warm-up */
    streams_add(m, &p);
    p.due_ms = 1500;
    f = streams_add(m, &p);
    f->prompt_asked = 100;
    f->prompt_tokens = 110;
    f->cached_tokens = 11;
    f->output_asked = 20;
    f->reasoning_tokens = 2;
    f->coalesced = 2;
    f->finish = FINISH_LENGTH;
    f = streams_add(m, &p);
    f->prompt_tokens = 90; /* and does not say how many were cached: none */
    f->finish = FINISH_STOP;
    f->token_source = TOKENS_USAGE;
    f->is_split = 0;
    f = streams_add(m, &p);
    f->outcome = OUTCOME_TRUNCATED;
    f->prompt_tokens = 1000;
    r = streams_sum_up(m);
    t = &r->s.tokens;
    assert_int_equal(t->requests, 2);
    assert_int_equal(t->prompt_asked.n, 1);
    assert_int_equal(t->prompt_asked.sum, 100);
    assert_int_equal(t->prompt.sum, 200);
    assert_near(token_mean(&t->prompt), 100);
    assert_int_equal(t->cached.sum, 11);
    assert_int_equal(t->cached.n, 1);
    assert_int_equal(tokens_cached_of(t), 200);
    assert_int_equal(t->output_asked.sum, 20);
    assert_int_equal(t->output.sum, 34);
    assert_near(token_mean(&t->output), 17);
    assert_int_equal(t->reasoning.sum, 2);
    assert_int_equal(t->source[TOKENS_IDS], 1);
    assert_int_equal(t->source[TOKENS_USAGE], 1);
    assert_true(tokens_are_mixed(t));
    assert_int_equal(t->finish[FINISH_LENGTH], 1);
    assert_int_equal(t->finish[FINISH_STOP], 1);
    assert_int_equal(t->streams, 2);
    assert_int_equal(t->assumed, 1);
    assert_int_equal(t->events, 10);
    assert_int_equal(t->coalesced, 2);
    assert_int_equal(t->event_tokens, 34);
    read_run_free(r);
}

TEST(one_source_is_not_mixed)
{
    struct tokens t = {.source = {[TOKENS_USAGE] = 5}};
    const struct token_sum none = {0};

    assert_false(tokens_are_mixed(&t));
    t.source[TOKENS_NONE] = 1;
    assert_true(tokens_are_mixed(&t));
    assert_true(token_mean(&none) < 0);
}

/* A damaged recording may hold any numbers. */
TEST(senseless_counts_do_no_harm)
{
    static const int64_t values[] = {-1, INT64_C(1) << 61, -(INT64_C(1) << 61),
                                     TIME_ABSENT};
    const struct window w = {0, NS_PER_S};
    struct tokens t = {0};

    for (size_t i = 0; i < COUNT(values); i++) {
        struct facts f = row_ok(0, 0, 10);
        int64_t *facts[] = {&f.events,        &f.coalesced,
                            &f.prompt_asked,  &f.prompt_tokens,
                            &f.cached_tokens, &f.output_asked,
                            &f.output_tokens, &f.reasoning_tokens,
                            &f.event_tokens,  &f.token_source,
                            &f.finish};

        for (size_t k = 0; k < COUNT(facts); k++)
            *facts[k] = values[i];
        tokens_see(&t, &w, &f);
        tokens_add(&t, &f, true);
    }
    assert_false(tokens_are_known(&t));
    assert_int_equal(t.good_output, 0);
    assert_true(tokens_inside(&t, INT64_MAX, 0) == 0);
}

/* ---- what the settings say of them ---- */

TEST(notes_go_by_the_settings)
{
    static const struct {
        bool ignore_eos;
        bool makes_prompts;
        const char *want;
    } cases[] = {
        {false, false, ""},
        {true, false, "early_stop"},
        {false, true, "cached_prompts"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct streams *m = streams_new(0, 1000, "");
        struct facts *f = streams_add(m, &worked_stream);
        struct read_run *r;

        f->finish = FINISH_STOP;
        f->prompt_tokens = 100;
        f->cached_tokens = 50;
        if (cases[i].makes_prompts)
            f->prompt_asked = 100;
        m->ignore_eos = cases[i].ignore_eos;
        r = streams_sum_up(m);
        assert_int_equal(r->s.notes.len, cases[i].want[0] != '\0');
        if (r->s.notes.len > 0)
            assert_string_equal(r->s.notes.list[0].name, cases[i].want);
        read_run_free(r);
    }
}

/* Nothing came of it, but streams were asked for: failures are shown. */
TEST(streams_that_failed_are_streams)
{
    struct streams *m = streams_new(0, 1000, "");
    struct read_run *r;

    streams_add_row(m, row_failed(0, 20, 5, OUTCOME_RESET));
    m->is_stream_asked = true;
    r = streams_sum_up(m);
    assert_true(r->s.is_streamed);
    assert_int_equal(r->s.spread[MEASURE_TPOT][VIEW_DUE].failed, 1);
    read_run_free(r);
}

/* ---- checks ---- */

static struct read_run *checked(const char *slo, int64_t passed, int64_t failed,
                                int64_t unfinished)
{
    struct streams *m = streams_new(0, 1000, slo);

    for (int64_t i = 0; i < passed + failed + unfinished; i++) {
        struct facts f = row_ok(0, i, 5);

        f.check = i < passed ? CHECK_PASSED : CHECK_FAILED;
        if (i >= passed + failed) {
            f.check = CHECK_NONE;
            f.outcome = OUTCOME_UNFINISHED;
        }
        streams_add_row(m, f);
    }
    streams_add_row(m, row_failed(0, 999, 1, OUTCOME_RESET)); /* unchecked */
    return streams_sum_up(m);
}

TEST(quality_is_of_those_checked)
{
    struct read_run *r = checked("", 87, 13, 0);
    const struct quality *q = &r->s.quality;

    assert_int_equal(q->checked, 100);
    assert_int_equal(q->passed, 87);
    assert_near(q->share, 0.87);
    assert_true(q->ci95.low < 0.87 && q->ci95.low > 0.3);
    assert_true(q->ci95.high > 0.87 && q->ci95.high <= 1);
    assert_int_equal(r->s.ok, 100); /* a failed check is no failure */
    assert_int_equal(r->s.good, 100);
    read_run_free(r);
}

TEST(quality_may_be_asked_for)
{
    static const struct {
        const char *slo;
        int64_t passed;
        int64_t failed;
        int64_t unfinished;
        enum verdict want;
    } cases[] = {
        {"quality >= 0.99", 693, 7, 0, VERDICT_PASS},
        {"quality >= 0.99", 692, 8, 0, VERDICT_FAIL},
        {"quality >= 0.99", 692, 7, 1, VERDICT_UNDECIDED},
        {"quality >= 0.99", 99, 0, 0, VERDICT_UNDECIDED} /* too few */,
        {"quality >= 0.98", 692, 7, 1, VERDICT_PASS},
        {"quality >= 0.99", 0, 0, 0, VERDICT_UNDECIDED},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct read_run *r = checked(cases[i].slo, cases[i].passed,
                                     cases[i].failed, cases[i].unfinished);
        const struct term_judgement *j = &r->s.judgement.terms[0];

        if (j->verdict != cases[i].want)
            print_error("case %zu\n", i);
        assert_int_equal(j->verdict, cases[i].want);
        assert_int_equal(j->is_unmeasured, r->s.quality.checked == 0);
        if (j->is_unmeasured)
            assert_string_equal(j->why, "no answer was checked");
        read_run_free(r);
    }
}

/* A limit of good requests is no objective of the run. */
TEST(limits_decide_good_and_nothing_else)
{
    struct streams *m = streams_new(0, 1000, "ttft:150,tpot:10.001,connect:1");
    struct shape slow = worked_stream;
    struct read_run *r;

    slow.first_ms = 150;
    for (int i = 0; i < 3; i++)
        streams_add(m, &worked_stream);
    streams_add(m, &slow);
    r = streams_sum_up(m);
    assert_int_equal(r->s.good, 3);
    assert_int_equal(r->s.verdict, VERDICT_NONE);
    assert_int_equal(r->s.judgement.terms[0].verdict, VERDICT_NONE);
    assert_near(r->s.judgement.terms[0].measured, 0.75);
    assert_near(r->s.judgement.terms[1].measured, 1);
    assert_string_equal(r->s.judgement.terms[2].why,
                        "no request has this measure");
    assert_near(r->s.goodput_tokens_per_s, 51);
    read_run_free(r);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
