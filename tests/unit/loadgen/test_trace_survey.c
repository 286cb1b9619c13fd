/* What a trace is said to hold before it is replayed. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/schedule/source.h"
#include "loadgen/trace/trace_survey.h"
#include "tests/support/replay.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

TEST(a_survey_says_what_the_replay_will_be)
{
    struct load_settings load =
        replay_of(REPLAY_HEADER "100,10,1\n101,20,2\n101,30,3\nx\n104,40,6\n");
    struct survey s;
    struct err err = {0};

    load.warmup_ns = 500 * NS_PER_MS;
    load.trace.time_scale = 2;
    if (survey_make(&s, &load, &err))
        fail_msg("%s", err.msg);
    assert_string_equal(s.format, "csv");
    assert_int_equal(s.rows, 4);
    assert_int_equal(s.warmup_rows, 1);
    assert_int_equal(s.tied, 1);
    assert_true(survey_is_quantised(&s));
    assert_int_equal(s.all.damaged, 1);
    assert_int_equal(s.damage.len, 1);
    assert_true(s.peak_rps == 3);
    assert_int_equal(hist_max_ns(&s.input), 40);
    assert_true(hist_mean_ns(&s.output) == 3);
    /* The last is due at 2 s; another would come after the mean gap. */
    assert_true(llabs(s.end_ns - 2666666667) <= 1);
    survey_fini(&s);

    load.trace.to_ns = 3 * NS_PER_S;
    assert_int_equal(survey_make(&s, &load, &err), 0);
    assert_int_equal(s.rows, 3);
    assert_int_equal(s.end_ns, 1500 * NS_PER_MS);
    survey_fini(&s);

    load.requests = 1;
    assert_int_equal(survey_make(&s, &load, &err), 0);
    assert_int_equal(s.rows, 2);
    assert_int_equal(s.end_ns, 500 * NS_PER_MS);
    survey_fini(&s);

    load.warmup_ns = 10 * NS_PER_S;
    assert_int_equal(survey_make(&s, &load, &err), -1);
    assert_non_null(strstr(err.msg, "load.warmup: no rows of the trace"));
    survey_fini(&s);
    replay_forget(&load);
}

/* At 0, 100, ... 900 ms; another would come at 1 s. */
#define TEN_ROWS                                                               \
    REPLAY_HEADER "0.0,1,1\n0.1,1,1\n0.2,1,1\n0.3,1,1\n0.4,1,1\n"              \
                  "0.5,1,1\n0.6,1,1\n0.7,1,1\n0.8,1,1\n0.9,1,1\n"

/* The cool-down is the last part of the replay, wherever that ends. */
TEST(a_survey_counts_by_phases)
{
    static const struct {
        int64_t warmup;
        int64_t cooldown_ms;
        int64_t requests;
        int64_t duration_ms;
        int64_t before;
        int64_t inside;
        int64_t after;
    } cases[] = {
        {3, 0, 0, 0, 3, 7, 0},   {3, 250, 0, 0, 3, 5, 2},
        {3, 250, 2, 0, 3, 2, 3}, {3, 250, 0, 200, 3, 2, 2},
        {0, 250, 0, 0, 0, 8, 2}, {3, 250, 6, 0, 3, 5, 2},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct load_settings load = replay_of(TEN_ROWS);
        struct survey s;
        struct err err = {0};

        load.warmup_requests = cases[i].warmup;
        load.cooldown_ns = cases[i].cooldown_ms * NS_PER_MS;
        load.requests = cases[i].requests;
        load.duration_ns = cases[i].duration_ms * NS_PER_MS;
        assert_int_equal(survey_make(&s, &load, &err), 0);
        assert_int_equal(s.warmup_rows, cases[i].before);
        assert_int_equal(s.cooldown_rows, cases[i].after);
        assert_int_equal(s.rows - s.warmup_rows - s.cooldown_rows,
                         cases[i].inside);
        survey_fini(&s);
        replay_forget(&load);
    }
}

/* Ten rows, a second of them: no run can wait for more. */
TEST(a_minimum_that_the_file_cannot_reach)
{
    static const struct {
        int64_t min_requests;
        int64_t min_ms;
        int64_t max_ms;
        int64_t cooldown_ms;
        const char *want; /* NULL: it can */
    } cases[] = {
        {10, 0, 0, 0, NULL},
        {11, 0, 0, 0, "load.min_requests: the trace has only 10"},
        {0, 1000, 0, 0, NULL},
        {0, 1001, 0, 0, "load.min_duration: the trace lasts only 1"},
        {11, 0, 500, 0, NULL}, /* which ends it sooner */
        {11, 0, 2000, 0, "load.min_requests: the trace has only 10"},
        {8, 0, 0, 250, NULL},
        {9, 0, 0, 250, "load.min_requests: the trace has only 8"},
        {0, 750, 0, 250, NULL},
        {0, 751, 0, 250, "load.min_duration: the trace lasts only 75"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct load_settings load = replay_of(TEN_ROWS);
        struct survey s;
        struct err err = {0};

        load.min_requests = cases[i].min_requests;
        load.min_duration_ns = cases[i].min_ms * NS_PER_MS;
        load.max_duration_ns = cases[i].max_ms * NS_PER_MS;
        load.cooldown_ns = cases[i].cooldown_ms * NS_PER_MS;
        assert_int_equal(survey_make(&s, &load, &err), cases[i].want ? -1 : 0);
        if (cases[i].want && !strstr(err.msg, cases[i].want))
            fail_msg("case %zu: %s", i, err.msg);
        survey_fini(&s);
        replay_forget(&load);
    }
}

/* Reading may take long, and so does finding the way to where it begins. */
TEST(who_is_interrupted_reads_no_further)
{
    struct load_settings load = replay_of(TEN_ROWS);
    const struct lane all = {.workers = 1};
    struct survey s;
    struct err err = {0};
    void *self = xcalloc(1, source_trace.state_size);

    load.trace.from_ns = 500 * NS_PER_MS;
    load.trace.rows = 5;
    atomic_store(&stop_signal, SIGINT);
    assert_int_equal(survey_make(&s, &load, &err), -1);
    assert_int_equal(err.code, ERR_STOPPED);
    survey_fini(&s);
    err = (struct err){0};
    assert_int_equal(source_trace.init(self, &load, all, &err), -1);
    assert_int_equal(err.code, ERR_STOPPED);
    source_trace.fini(self);

    /* A run that has begun ends by itself. */
    atomic_store(&stop_signal, 0);
    memset(self, 0, source_trace.state_size);
    assert_int_equal(source_trace.init(self, &load, all, &err), 0);
    atomic_store(&stop_signal, SIGINT);
    for (int i = 0; i < 5; i++) {
        assert_true(source_trace.peek_ns(self) < DUE_NEVER);
        source_trace.take(self);
    }
    assert_int_equal(source_trace.peek_ns(self), DUE_NEVER);
    assert_null(source_trace.failure(self));
    atomic_store(&stop_signal, 0);
    source_trace.fini(self);
    free(self);
    replay_forget(&load);
}

static uint64_t hash_of(const char *text)
{
    struct load_settings load = replay_of(text);
    struct survey s;
    struct err err = {0};
    uint64_t hash;

    assert_int_equal(survey_make(&s, &load, &err), 0);
    hash = s.hash;
    survey_fini(&s);
    replay_forget(&load);
    return hash;
}

TEST(the_hash_is_of_what_rows_say)
{
    uint64_t hash = hash_of(REPLAY_HEADER "1,2,3\n4,5,6\n");

    assert_true(hash == hash_of(REPLAY_HEADER "1.0,2,3\r\nnonsense\n4,5,6"));
    assert_false(hash == hash_of(REPLAY_HEADER "1,2,3\n4,5,7\n"));
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
