/* What is suggested follows from the verdict and what it rests on. */
#include <stdbool.h>
#include <string.h>

#include "analyzer/tally/summary.h"
#include "analyzer/verdict/next_step.h"
#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/wire/api_names.h"
#include "tests/support/madesummary.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"

/* 1000 requests at 100/s, all of them well. */
static struct made_summary *fine(enum verdict verdict)
{
    struct made_summary *m = made_summary_bare("http://host/");
    struct summary *s = &m->s;

    s->dir = "runs/a";
    m->settings.load.scenario = SCENARIO_SERVER;
    m->settings.load.rate_rps = 100;
    m->settings.load.duration_ns = 10 * NS_PER_S;
    s->scheduled = s->issued = s->ok = s->outcome[OUTCOME_OK] = 1000;
    s->offered_rps = 100;
    s->window_length_s = 10;
    s->threads = 2;
    s->trust.valid = true;
    s->verdict = s->judgement.verdict = verdict;
    return m;
}

static void judge_by(struct made_summary *m, const char *slo)
{
    struct judgement *j = &m->s.judgement;

    m->s.slo = slo_of(slo);
    j->len = m->s.slo.len;
    for (size_t i = 0; i < j->len; i++)
        j->terms[i] = (struct term_judgement){.term = &m->s.slo.terms[i],
                                              .verdict = m->s.verdict};
}

static void expect(struct made_summary *m, const char *first,
                   const char *second)
{
    const char *want[] = {first, second};
    struct next next;

    next_make(&m->s, &next);
    for (size_t i = 0; i < COUNT(want); i++) {
        if (want[i])
            assert_string_equal(next.lines[i], want[i]);
        else
            assert_string_equal(next.lines[i], "");
    }
    made_summary_free(m);
}

TEST(a_check_that_failed_has_its_remedy)
{
    static const struct {
        const char *check;
        const char *line;
    } cases[] = {
        {"lag p99", "run again with --spin 80us, or at half the rate (--rate "
                    "50)"},
        {"busy", "run again with more threads (-t 4), or at half the rate "
                 "(--rate 50)"},
        {"connection cap", "run again with a higher limit "
                           "(--max-in-flight 14), or at half the rate (--rate "
                           "50)"},
        {"steal", "run again on CPUs that no other process uses (--cpus, or "
                  "another host)"},
        {"disk", "run again with the recording on a faster disk (-o)"},
        {"what is to come", NULL},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_summary *m = fine(VERDICT_INVALID);

        m->s.trust.checks[0] = (struct check){.name = "range"}; /* a note */
        m->s.trust.checks[1] =
            (struct check){.name = cases[i].check, .is_fatal = true};
        m->s.trust.len = 2;
        expect(m, cases[i].line, NULL);
    }
}

/* A client that waits for connections is late as well. */
TEST(a_cap_on_connections_comes_before_its_effects)
{
    struct made_summary *m = fine(VERDICT_INVALID);

    m->settings.client.connections = 2;
    m->s.trust.checks[0] = (struct check){.name = "lag p50", .is_fatal = true};
    m->s.trust.checks[1] =
        (struct check){.name = "connection cap", .is_fatal = true};
    m->s.trust.len = 2;
    expect(
        m,
        "run again with more connections (-c 4), or at half the rate (--rate "
        "50)",
        NULL);
}

TEST(a_closed_loop_has_no_rate_to_lower)
{
    struct made_summary *m = fine(VERDICT_INVALID);

    m->settings.load.scenario = SCENARIO_CLOSED;
    m->s.trust.checks[0] = (struct check){.name = "busy", .is_fatal = true};
    m->s.trust.len = 1;
    expect(m, "run again with more threads (-t 4)", NULL);
}

TEST(too_few_need_more_time)
{
    struct made_summary *m = fine(VERDICT_UNDECIDED);

    judge_by(m, "e2e p99.9 < 1s");
    m->s.judgement.terms[0].more_needed = 1995;
    expect(m, "run 22 s longer: --duration 32s", NULL);
    m = fine(VERDICT_UNDECIDED);
    judge_by(m, "e2e p99.9 < 1s");
    m->s.judgement.terms[0].more_needed = 1995;
    m->settings.load.requests = 1000;
    expect(m, "run again with more requests: -n 2995", NULL);
}

static struct made_summary *needs_1995(void)
{
    struct made_summary *m = fine(VERDICT_UNDECIDED);

    judge_by(m, "e2e p99.9 < 1s");
    m->s.judgement.terms[0].more_needed = 1995;
    m->settings.load.duration_ns = 0;
    return m;
}

/* Another key next to the one that was used would be refused. */
TEST(the_key_is_the_one_that_was_given)
{
    struct made_summary *m = needs_1995();

    m->settings.load.min_duration_ns = 10 * NS_PER_S;
    expect(m, "run again with more requests: --min-requests 2995", NULL);
    m = needs_1995();
    m->settings.load.min_requests = 1000;
    expect(m, "run again with more requests: --min-requests 2995", NULL);
    m = needs_1995();
    strlist_add(&m->settings.load.stages, "100/s 10s");
    expect(m, "run 22 s longer: use longer stages", NULL);
    m = needs_1995();
    m->settings.data.accuracy = true;
    m->settings.load.requests = 1000;
    expect(m, "use a larger data set: each sample is sent once", NULL);
    m = needs_1995();
    m->settings.load.scenario = SCENARIO_TRACE;
    expect(
        m,
        "replay at least 2995 rows: a longer part of the trace, or more trials",
        NULL);
}

TEST(a_class_needs_its_share_of_more)
{
    struct made_summary *m = fine(VERDICT_UNDECIDED);
    struct class_summary *c = xcalloc(1, sizeof(*c));

    m->s.classes = c;
    m->s.n_classes = 1;
    c->share = 0.1;
    c->judgement.len = 1;
    c->judgement.terms[0].more_needed = 200;
    expect(m, "run 22 s longer: --duration 32s", NULL);
}

TEST(what_is_unfinished_needs_time_to_end)
{
    struct made_summary *m = fine(VERDICT_UNDECIDED);

    m->s.outcome[OUTCOME_UNFINISHED] = 3;
    expect(m,
           "use a longer --drain, so that requests in flight at the end can "
           "finish",
           NULL);
}

/* The limit is above what was measured, to three digits. */
TEST(a_missed_limit_is_shown_as_it_was_kept)
{
    struct made_summary *m = fine(VERDICT_FAIL);

    judge_by(m, "ttft p99 < 200ms,errors < 1%,e2e p50 < 1s");
    m->s.judgement.terms[0].high_ns = 231 * NS_PER_MS;
    m->s.judgement.terms[2].verdict = VERDICT_PASS;
    expect(m,
           "judge by limits that this run meets with 95% confidence: tailgate "
           "report "
           "runs/a --slo 'ttft p99 < 231ms'",
           "try half the rate: --rate 50");
    m = fine(VERDICT_FAIL);
    judge_by(m, "ttft p99 < 200ms,e2e p50 < 1s");
    m->s.judgement.terms[0].high_ns = 1000 * NS_PER_MS;
    m->s.judgement.terms[1].high_ns = 2010 * NS_PER_MS;
    expect(m,
           "judge by limits that this run meets with 95% confidence: tailgate "
           "report "
           "runs/a --slo 'ttft p99 < 1.00s, "
           "e2e p50 "
           "< 2.01s'",
           "try half the rate: --rate 50");
    m = fine(VERDICT_FAIL);
    judge_by(m, "ttft p99 < 200ms");
    m->s.judgement.terms[0].high_ns = 1000 * NS_PER_MS;
    m->s.steady.load.state = LOAD_OVER; /* then it depends on the length */
    expect(m, "try half the rate: --rate 50", NULL);
}

TEST(failures_are_named)
{
    struct made_summary *m = fine(VERDICT_FAIL);

    judge_by(m, "e2e p99 < 200ms");
    m->s.judgement.terms[0].high_ns = HIST_BEYOND;
    m->s.failed = 40;
    m->s.outcome[OUTCOME_RESET] = 10;
    m->s.outcome[OUTCOME_TIMEOUT] = 30;
    expect(m, "check the failures: 30 of 40 have the outcome 'timeout'",
           "try half the rate: --rate 50");
    m = fine(VERDICT_NONE);
    m->s.ok = 0;
    expect(m,
           "no request succeeded: --show sends one and prints the request and "
           "the answer",
           NULL);
}

/* Of every request, and where prompts are ids that we drew. */
TEST(a_400_of_token_ids_is_about_the_vocabulary)
{
    static const struct {
        int api;
        int prompts;
        int status;
        int64_t count;
        bool has_hint;
    } cases[] = {
        {API_OPENAI_COMPLETIONS, PROMPT_AUTO, 400, 1000, true},
        {API_SGLANG, PROMPT_IDS, 400, 1000, true},
        {API_OPENAI_COMPLETIONS, PROMPT_TEXT, 400, 1000, false},
        {API_OPENAI_CHAT, PROMPT_AUTO, 400, 1000, false},
        {API_OPENAI_COMPLETIONS, PROMPT_AUTO, 404, 1000, false},
        {API_OPENAI_COMPLETIONS, PROMPT_AUTO, 400, 999, false},
    };
    static const char hint[] =
        "prompts are token ids from 1000 to 9999, which may be outside the "
        "server's vocabulary: set its last id (--last-id) or send text "
        "(--prompts text)";
    static const char show[] =
        "no request succeeded: --show sends one and prints the request and "
        "the answer";

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_summary *m = fine(VERDICT_NONE);

        m->s.ok = 0;
        m->s.failed = 1000;
        m->settings.target.api = cases[i].api;
        m->settings.data.prompts = cases[i].prompts;
        m->settings.data.first_id = 1000;
        m->settings.data.last_id = 9999;
        m->s.statuses[0].status = cases[i].status;
        m->s.statuses[0].count = cases[i].count;
        m->s.n_statuses = 1;
        expect(m, cases[i].has_hint ? hint : show,
               cases[i].has_hint ? show : NULL);
    }
}

TEST(a_run_that_went_well_asks_for_more)
{
    struct made_summary *m = fine(VERDICT_PASS);

    expect(m, "to find the limit, try a higher rate: --rate 150", NULL);
    m = fine(VERDICT_NONE);
    m->s.spread[MEASURE_E2E][VIEW_DUE].quantile_ns[3] = 41 * NS_PER_MS;
    expect(m,
           "judge the run by an SLO, such as what it measured (a new run "
           "misses that half of the time): tailgate report runs/a --slo 'e2e "
           "p99 < "
           "41.1ms'",
           NULL);
    m = fine(VERDICT_NONE);
    m->s.dir = "my run's"; /* one word to a shell */
    m->s.spread[MEASURE_E2E][VIEW_DUE].quantile_ns[3] = 41 * NS_PER_MS;
    expect(m,
           "judge the run by an SLO, such as what it measured (a new run "
           "misses that half of the time): tailgate report 'my run'\\''s' "
           "--slo 'e2e "
           "p99 < "
           "41.1ms'",
           NULL);
    m = fine(VERDICT_NONE);
    m->s.spread[MEASURE_E2E][VIEW_DUE].quantile_ns[3] = 41 * NS_PER_MS;
    m->s.cache.is_there = true; /* which has none */
    expect(m, NULL, NULL);
    m = fine(VERDICT_NONE);
    m->s.spread[MEASURE_E2E][VIEW_DUE].quantile_ns[3] = HIST_TOO_FEW;
    expect(m, NULL, NULL);
    m = fine(VERDICT_UNDECIDED);
    m->s.stopped_by = 2;
    expect(m, "the run was interrupted: run it again", NULL);
}
