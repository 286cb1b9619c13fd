/* The same recording in the words of other tools: the stream that they all call
 * something else, what each counts as a success, and its percentiles. */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/profile/profile.h"
#include "analyzer/report/doc.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/wire/api_names.h"
#include "tests/support/golden.h"
#include "tests/support/rendered.h"
#include "tests/support/rows.h"
#include "tests/support/streams.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MS       ((double)NS_PER_MS)
#define NONE     (-3.0) /* HIST_EMPTY */
#define MAX_TEXT 65536

static struct read_run *read_as(struct streams *m, enum api_kind api)
{
    struct read_run *r = streams_sum_up(m);

    r->rec.settings.target.api = (int)api;
    return r;
}

static struct profile made(const struct read_run *r, const char *name)
{
    const struct profile_ops *ops = profile_find(name);
    struct err err = {0};
    struct profile p;

    assert_non_null(ops);
    assert_int_equal(profile_make(&p, ops, &r->s, PROFILE_LIST_NONE, &err), 0);
    return p;
}

/* Begun when it was due. */
static struct facts *add_worked(struct streams *m)
{
    struct facts *f = streams_add(m, &worked_stream);

    f->issued = f->due;
    f->opened = f->first;
    f->closing = f->last;
    return f;
}

static void assert_ms(double ns, double want_ms)
{
    assert_true(fabs(ns - (want_ms < 0 ? want_ms : want_ms * MS)) < 0.005 * MS);
}

/* ttft 100 ms, then 4 events of 4 tokens, 40 ms apart: six numbers for one. */
TEST(the_worked_stream_by_every_tool)
{
    static const struct {
        const char *name;
        enum api_kind api;
        double itl_mean;
        double itl_p50;
        double itl_p90;
        double tpot;
    } cases[] = {
        {"vllm", API_OPENAI_CHAT, 40, 40, 40, 10},
        {"sglang", API_SGLANG, 10, 10, 10, 10},
        {"sglang", API_OPENAI_CHAT, 40, 40, 40, 10},
        {"inference-perf", API_OPENAI_CHAT, 10, 0, 40, 10},
        {"aiperf", API_OPENAI_CHAT, 10, 10, 10, NONE},
        {"guidellm", API_OPENAI_CHAT, 10, 10, 10, 260.0 / 17},
        {"mlperf", API_OPENAI_CHAT, NONE, NONE, NONE, 10},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct streams *m = streams_new(0, 1000, "ttft p99 < 1s");
        struct read_run *r;
        struct profile p;

        add_worked(m);
        r = read_as(m, cases[i].api);
        p = made(r, cases[i].name);
        assert_ms(p.lines[PROFILE_TTFT].mean.theirs, 100);
        assert_ms(p.lines[PROFILE_E2E].mean.theirs, 260);
        assert_ms(p.lines[PROFILE_ITL].mean.theirs, cases[i].itl_mean);
        assert_ms(p.lines[PROFILE_ITL].quantile[0].theirs, cases[i].itl_p50);
        assert_ms(p.lines[PROFILE_ITL].quantile[1].theirs, cases[i].itl_p90);
        assert_ms(p.lines[PROFILE_TPOT].mean.theirs, cases[i].tpot);
        assert_ms(p.lines[PROFILE_TTFT].mean.ours, 100);
        assert_int_equal(p.completed, 1);
        assert_int_equal(p.output_tokens, 17);
        read_run_free(r);
    }
}

/* 19 of 10 ms and one of a second. */
TEST(percentiles_by_each_rule)
{
    static const struct {
        enum percentile_rule rule;
        double p95;
        double p99;
    } cases[] = {
        {PERCENTILE_LINEAR, 59.5, 811.9},
        {PERCENTILE_NEAREST, 10, 1000},
        {PERCENTILE_LOADGEN, 1000, 1000},
    };
    struct values v = {0};

    assert_true(isnan(values_percentile(&v, PERCENTILE_LINEAR, 0.5)));
    values_add(&v, 1000, 1);
    values_add(&v, 10, 19);
    values_sort(&v);
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_true(fabs(values_percentile(&v, cases[i].rule, 0.95) -
                         cases[i].p95) < 1e-9);
        assert_true(fabs(values_percentile(&v, cases[i].rule, 0.99) -
                         cases[i].p99) < 1e-9);
    }
    assert_true(fabs(values_mean(&v) - 59.5) < 1e-9);
    assert_true(fabs(values_deviation(&v) - sqrt(0.95 * 0.05) * 990) < 1e-9);
    values_fini(&v);
}

/* In an older recording, which has the first and the last event: a chat's role
 * comes 30 ms after it was sent, the usage 20 ms after the last token, and it
 * was sent 5 ms late. */
TEST(what_a_role_and_the_usage_do)
{
    struct streams *m = streams_new(0, 1000, "e2e p99 < 1s");
    struct facts *f = add_worked(m);
    struct read_run *r;
    struct profile p;

    f->issued = f->due + 5 * NS_PER_MS;
    f->sent = f->issued;
    f->opened = f->issued + 30 * NS_PER_MS;
    f->closing = f->last + 20 * NS_PER_MS;
    f->end = f->closing;
    r = read_as(m, API_OPENAI_CHAT);
    p = made(r, "vllm");
    assert_ms(p.lines[PROFILE_TTFT].mean.theirs, 30);
    assert_ms(p.lines[PROFILE_E2E].mean.theirs, 255);
    assert_ms(p.lines[PROFILE_TPOT].mean.theirs, (255 - 30) / 16.0);
    assert_int_equal(p.lines[PROFILE_ITL].n, 5); /* role to content is one */
    assert_ms(p.lines[PROFILE_ITL].mean.theirs, (65 + 4 * 40) / 5.0);
    p = made(r, "aiperf");
    assert_ms(p.lines[PROFILE_TTFT].mean.theirs, 95);
    assert_ms(p.lines[PROFILE_E2E].mean.theirs, 255);
    p = made(r, "mlperf");
    assert_ms(p.lines[PROFILE_TTFT].mean.theirs, 100);
    assert_ms(p.lines[PROFILE_E2E].mean.theirs, 280);
    assert_true(p.rates[PROFILE_REQUESTS].theirs == 0); /* one less */
    read_run_free(r);
}

/* Ten streams of which some fail, each in another way. */
static struct read_run *failing_run(void)
{
    static const struct {
        enum outcome outcome;
        int64_t detail;
    } ends[] = {
        {OUTCOME_INBAND, RESPONSE_ERROR_EVENT},
        {OUTCOME_TRUNCATED, RESPONSE_NO_TERMINATOR},
        {OUTCOME_TRUNCATED, 0},
        {OUTCOME_STATUS, 503},
        {OUTCOME_TIMEOUT, 0},
    };
    struct streams *m =
        streams_new(0, 1000, "ttft p99 < 200ms,tpot p99 < 11ms");

    for (int i = 0; i < 10; i++) {
        struct facts *f = add_worked(m);

        if (i < (int)COUNT(ends)) {
            f->outcome = ends[i].outcome;
            f->detail = ends[i].detail;
        }
    }
    return read_as(m, API_OPENAI_CHAT);
}

TEST(what_counts_as_a_success)
{
    static const struct {
        const char *name;
        int64_t completed;
        double goodput; /* of 1.26 s or so; below 0: it has none */
    } cases[] = {
        {"vllm", 7, 7 / 0.26},   {"sglang", 7, NONE},
        {"aiperf", 5, 5 / 0.26}, {"guidellm", 5, 5},
        {"mlperf", 5, NONE},     {"inference-perf", 5, 5 / 0.26},
    };
    struct read_run *r = failing_run();

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct profile p = made(r, cases[i].name);

        assert_int_equal(p.completed, cases[i].completed);
        assert_int_equal(p.completed + p.failed, 10);
        assert_true(fabs(p.rates[PROFILE_GOODPUT].theirs - cases[i].goodput) <
                    0.01);
        assert_true(p.rates[PROFILE_GOODPUT].ours == 5);
        assert_int_equal(p.lines[PROFILE_TTFT].n, cases[i].completed);
    }
    read_run_free(r);
}

/* A failure that takes a second longer than the others is in the time of all,
 * not in that of the successes. */
TEST(goodput_has_a_time_of_its_own)
{
    struct streams *m = streams_new(0, 1000, "ttft p99 < 200ms");
    struct read_run *r;
    struct profile p;
    struct facts *f;

    add_worked(m);
    f = add_worked(m);
    f->outcome = OUTCOME_TIMEOUT;
    f->end += NS_PER_S;
    r = read_as(m, API_OPENAI_CHAT);
    p = made(r, "inference-perf");
    assert_true(fabs(p.rates[PROFILE_REQUESTS].theirs - 1 / 1.26) < 0.01);
    assert_true(fabs(p.rates[PROFILE_GOODPUT].theirs - 1 / 0.26) < 0.01);
    read_run_free(r);
}

/* When a run is killed, what is unfinished has left events, and no row. */
TEST(pauses_of_the_unfinished_are_nobodys)
{
    static const char *const names[] = {"vllm", "sglang", "inference-perf"};
    static const int64_t pauses[] = {4, 4, 16};

    for (size_t i = 0; i < COUNT(names); i++) {
        struct streams *m = streams_new(0, 1000, "ttft p99 < 1s");
        struct read_run *r;
        struct profile p;

        add_worked(m);
        add_worked(m);
        m->n--;
        m->was_killed = true;
        r = read_as(m, API_OPENAI_CHAT);
        p = made(r, names[i]);
        assert_int_equal(p.completed, 1);
        assert_int_equal(p.lines[PROFILE_ITL].n, pauses[i]);
        read_run_free(r);
    }
}

/* The second is of a class that has 50 ms for its first token, which takes 100;
 * the run has no limit of its own. */
TEST(of_a_mix_each_has_the_limits_of_its_class)
{
    static const char classes[] =
        "target: {url: 'http://h/v1/chat/completions', model: m}\n"
        "load: {rate: 1}\n"
        "classes:\n"
        "  - {name: slow, weight: 1, slo: [ttft p99 < 1s]}\n"
        "  - {name: quick, weight: 1, slo: [ttft p99 < 50ms]}\n";
    struct streams *m = streams_new(0, 1000, "good >= 1%");
    struct settings with;
    struct err err = {0};
    struct read_run *r;
    struct profile p;

    add_worked(m)->class = 0;
    add_worked(m)->class = 1;
    r = read_as(m, API_OPENAI_CHAT);
    settings_init(&with);
    assert_int_equal(
        settings_load(&with, tmpdir_write("mix.yaml", classes, strlen(classes)),
                      &err),
        0);
    r->s.settings = &with;
    with.target.api = API_OPENAI_CHAT;
    p = made(r, "vllm");
    assert_int_equal(p.completed, 2);
    assert_true(fabs(p.rates[PROFILE_GOODPUT].theirs - 1 / 0.26) < 0.01);
    settings_fini(&with);
    read_run_free(r);
}

/* All are due at once, so that the last is whichever ends last. */
TEST(an_offline_set_ends_with_its_last_answer)
{
    struct streams *m = streams_new(0, 1000, "ttft p99 < 1s");
    struct read_run *r;
    struct profile p;

    for (int i = 0; i < 4; i++) {
        struct facts *f = add_worked(m);

        f->end += i == 2 ? 240 * NS_PER_MS : 0;
    }
    r = read_as(m, API_OPENAI_CHAT);
    p = made(r, "mlperf");
    assert_true(fabs(p.rates[PROFILE_REQUESTS].theirs - 3 / 0.5) < 0.01);
    r->rec.settings.load.scenario = SCENARIO_OFFLINE;
    p = made(r, "mlperf");
    assert_true(fabs(p.rates[PROFILE_REQUESTS].theirs - 4 / 0.5) < 0.01);
    read_run_free(r);
}

TEST(text_and_json_say_the_same)
{
    struct read_run *r = failing_run();
    struct profile p = made(r, "vllm");

    assert_golden_doc("profile-vllm", profile_doc(&p));
    read_run_free(r);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
