/* A trace read, and when its rows are due. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/schedule/source.h"
#include "loadgen/trace/trace.h"
#include "loadgen/trace/trace_survey.h"
#include "tests/support/replay.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define MAX_TEXT ((size_t)16 << 20)

/* ---- rows and damage ---- */

static void note(void *arg, const char *message)
{
    strlist_add(arg, message);
}

/* Read it all; what is wrong with it goes to `said`. */
static struct trace_counts read_all(const struct load_settings *load,
                                    struct strlist *said)
{
    struct trace t;
    struct err err = {0};
    const struct row *row;
    struct trace_counts counts;
    int rc = trace_open(&t, &load->trace, &err);

    t.on_damage = note;
    t.arg = said;
    while (rc == 0 && (rc = trace_next(&t, &row, &err)) > 0)
        rc = 0;
    if (rc < 0)
        fail_msg("%s", err.msg);
    counts = t.counts;
    trace_fini(&t);
    return counts;
}

TEST(damaged_lines_are_counted_and_told)
{
    struct load_settings load = replay_of(REPLAY_HEADER "1,10,10\n"
                                                        "\n"
                                                        "2,-10,10\n"
                                                        "3,10\n"
                                                        "4,0,0\n"
                                                        "3.5,10,10\n");
    struct strlist said = {0};
    struct trace_counts counts;
    static const char *const want[] = {
        ":4: input_length: negative",
        ":5: fewer fields than the first line",
        ":7: timestamp: goes back in time",
    };

    counts = read_all(&load, &said);
    assert_int_equal(counts.rows, 2);
    assert_int_equal(counts.damaged, 3);
    assert_int_equal(said.len, COUNT(want));
    for (size_t i = 0; i < COUNT(want); i++) {
        assert_int_equal(
            strncmp(said.items[i], load.trace.file, strlen(load.trace.file)),
            0);
        assert_string_equal(said.items[i] + strlen(load.trace.file), want[i]);
    }
    strlist_fini(&said);
    replay_forget(&load);
}

TEST(strict_stops_at_the_first)
{
    struct load_settings load = replay_of(REPLAY_HEADER "1,10,10\n2,x,1\n");
    struct survey s;
    struct err err = {0};

    load.trace.strict = true;
    assert_int_equal(survey_make(&s, &load, &err), -1);
    assert_int_equal(err.code, ERR_CONFIG);
    assert_non_null(strstr(err.msg, ":3: input_length: not a length"));
    survey_fini(&s);
    replay_forget(&load);
}

TEST(failures_of_burstgpt_are_left_out)
{
    struct load_settings load = replay_of(
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
        "5,ChatGPT,472,18,490,Conversation log\n"
        "6,ChatGPT,1087,0,1087,API log\n"
        "7,GPT-4,417,276,693,API log\n");
    struct strlist said = {0};
    struct trace_counts counts;

    load.trace.format = TRACE_AUTO;
    counts = read_all(&load, &said);
    assert_int_equal(counts.rows, 2);
    assert_int_equal(counts.failed, 1);
    assert_int_equal(counts.damaged, 0);
    strlist_fini(&said);
    replay_forget(&load);
}

TEST(a_file_that_is_no_trace_is_refused)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"", "is empty"},
        {"\n\n", "is empty"},
        {"a,b\n", ":1: no column 'timestamp'"},
        {REPLAY_HEADER, "no rows to replay; 0 rows were read, 0 lines"},
        {REPLAY_HEADER "x,1,1\n",
         "no rows to replay; 0 rows were read, 1 lines"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct load_settings load = replay_of(cases[i].text);
        struct survey s;
        struct err err = {0};

        assert_int_equal(survey_make(&s, &load, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_non_null(strstr(err.msg, cases[i].want));
        survey_fini(&s);
        replay_forget(&load);
    }
}

/* ---- when they are due ---- */

#define MAX_DUE 4000

struct schedule {
    size_t len;
    int64_t due_ns[MAX_DUE];
    int64_t input[MAX_DUE];
    int64_t end_ns;
};

/* What one lane gives out, at the places of the whole. */
static void add_lane(const struct load_settings *load, struct lane lane,
                     struct schedule *out)
{
    void *self = xcalloc(1, source_trace.state_size);
    struct err err = {0};

    if (source_trace.init(self, load, lane, &err))
        fail_msg("%s", err.msg);
    while (source_trace.peek_ns(self) != DUE_NEVER) {
        int64_t peeked_ns = source_trace.peek_ns(self);
        struct due due = source_trace.take(self);

        assert_int_equal(due.at_ns, peeked_ns);
        assert_in_range(due.seq, 0, MAX_DUE - 1);
        assert_int_equal(due.seq % lane.workers, lane.worker);
        out->due_ns[due.seq] = due.at_ns;
        out->input[due.seq] = due.row->input;
        out->len++;
    }
    out->end_ns = source_trace.due_end_ns(self);
    assert_null(source_trace.failure(self));
    source_trace.fini(self);
    free(self);
}

static struct schedule *schedule_of(const struct load_settings *load,
                                    int64_t workers)
{
    struct schedule *s = xcalloc(1, sizeof(*s));

    for (int64_t i = 0; i < workers; i++)
        add_lane(load, (struct lane){.worker = i, .workers = workers}, s);
    return s;
}

TEST(times_are_cut_and_scaled)
{
    static const struct {
        struct trace_settings t;
        int64_t warmup_ms;
        int64_t duration_ms;
        int64_t requests;
        size_t want;
        int64_t first_input; /* rows carry 1, 2, 3, ... */
        int64_t first_ms;
        int64_t last_ms;
    } cases[] = {
        {{.time_scale = 1}, 0, 0, 0, 6, 1, 0, 10000},
        {{.time_scale = 4}, 0, 0, 0, 6, 1, 0, 2500},
        {{.time_scale = 0.5}, 0, 0, 0, 6, 1, 0, 20000},
        {{.time_scale = 1, .from_ns = 1500 * NS_PER_MS},
         0,
         0,
         0,
         4,
         3,
         500,
         8500},
        {{.time_scale = 2, .from_ns = NS_PER_S, .to_ns = 4 * NS_PER_S},
         0,
         0,
         0,
         3,
         2,
         0,
         1000},
        {{.time_scale = 1}, 0, 3000, 0, 3, 1, 0, 2000},
        {{.time_scale = 1}, 2000, 1500, 0, 4, 1, 0, 3000},
        {{.time_scale = 1}, 0, 0, 2, 2, 1, 0, 1000},
        {{.time_scale = 1}, 1500, 0, 2, 4, 1, 0, 3000},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct load_settings load = replay_of(
            REPLAY_HEADER "100,1,1\n101,2,1\n102,3,1\n103,4,1\n104,5,1\n"
                          "110,6,1\n");
        struct schedule *s;

        load.trace.time_scale = cases[i].t.time_scale;
        load.trace.from_ns = cases[i].t.from_ns;
        load.trace.to_ns = cases[i].t.to_ns;
        load.warmup_ns = cases[i].warmup_ms * NS_PER_MS;
        load.duration_ns = cases[i].duration_ms * NS_PER_MS;
        load.requests = cases[i].requests;
        s = schedule_of(&load, 1);
        assert_int_equal(s->len, cases[i].want);
        assert_int_equal(s->input[0], cases[i].first_input);
        assert_int_equal(s->due_ns[0], cases[i].first_ms * NS_PER_MS);
        assert_int_equal(s->due_ns[s->len - 1], cases[i].last_ms * NS_PER_MS);
        free(s);
        replay_forget(&load);
    }
}

/* 30 steps of 3 s, as many rows in each as its place among them. */
static char *stepped(void)
{
    struct buf text;
    int row = 0;

    buf_init(&text, MAX_TEXT);
    buf_adds(&text, REPLAY_HEADER);
    for (int step = 1; step <= 30; step++) {
        for (int i = 0; i < step; i++)
            buf_addf(&text, "%d,%d,7\n", step * 3, ++row);
    }
    return text.data;
}

TEST(the_schedule_is_the_same_for_any_number_of_lanes)
{
    char *text = stepped();

    for (int64_t spread_s = 0; spread_s <= 3; spread_s += 3) {
        struct load_settings load = replay_of(text);
        struct schedule *one;

        load.trace.spread_ns = spread_s * NS_PER_S;
        load.trace.time_scale = 7;
        load.trace.from_ns = 10 * NS_PER_S;
        load.warmup_ns = NS_PER_S;
        load.requests = 300;
        one = schedule_of(&load, 1);
        assert_true(one->len > 300);
        for (int64_t workers = 2; workers <= 3; workers++) {
            struct schedule *many = schedule_of(&load, workers);

            assert_int_equal(many->len, one->len);
            assert_memory_equal(many->due_ns, one->due_ns, sizeof(one->due_ns));
            assert_memory_equal(many->input, one->input, sizeof(one->input));
            assert_int_equal(many->end_ns, one->end_ns);
            free(many);
        }
        free(one);
        replay_forget(&load);
    }
    free(text);
}

TEST(a_spread_keeps_order_and_step)
{
    char *text = stepped();
    struct load_settings load = replay_of(text);
    struct schedule *s;
    size_t at = 0;

    load.trace.spread_ns = 3 * NS_PER_S;
    s = schedule_of(&load, 1);
    assert_int_equal(s->len, 30 * 31 / 2);
    for (int step = 0; step < 30; step++) {
        for (int i = 0; i <= step; i++, at++) {
            int64_t start_ns = 3 * NS_PER_S * step;

            assert_int_equal(s->input[at], at + 1);
            assert_true(s->due_ns[at] >= start_ns);
            assert_true(s->due_ns[at] < start_ns + 3 * NS_PER_S);
            assert_true(at == 0 || s->due_ns[at] >= s->due_ns[at - 1]);
        }
    }
    free(s);
    free(text);
    replay_forget(&load);
}

/* Over three of the trace's steps: a row whose place is before the one before
 * goes with it, and the plan says so. */
TEST(a_spread_that_is_too_wide_is_counted)
{
    char *text = stepped();
    struct load_settings load = replay_of(text);
    struct schedule *schedule;
    struct survey s;
    struct err err = {0};
    int64_t held = 0;

    load.trace.spread_ns = 3 * NS_PER_S;
    assert_int_equal(survey_make(&s, &load, &err), 0);
    assert_int_equal(s.held, 0);
    survey_fini(&s);
    load.trace.spread_ns = 9 * NS_PER_S;
    schedule = schedule_of(&load, 1);
    for (size_t i = 1; i < schedule->len; i++)
        held += schedule->due_ns[i] == schedule->due_ns[i - 1];
    assert_int_equal(survey_make(&s, &load, &err), 0);
    assert_true(held > 0);
    assert_int_equal(s.held, held);
    survey_fini(&s);
    free(schedule);
    free(text);
    replay_forget(&load);
}

/* As uniform points are: mean 1/2, variance 1/12, whatever the group's size. */
TEST(a_spread_is_uniform)
{
    struct buf text;
    struct load_settings load;
    struct schedule *s;
    double sum = 0;
    double squares = 0;

    buf_init(&text, MAX_TEXT);
    buf_adds(&text, REPLAY_HEADER);
    for (int i = 0; i < 3000; i++)
        buf_addf(&text, "%d,%d,7\n", i / 10, i + 1);
    load = replay_of(buf_text(&text));
    load.trace.spread_ns = NS_PER_S;
    s = schedule_of(&load, 1);
    for (size_t i = 0; i < s->len; i++) {
        double u = (double)(s->due_ns[i] % NS_PER_S) / 1e9;

        sum += u;
        squares += u * u;
    }
    sum /= (double)s->len;
    squares /= (double)s->len;
    assert_true(fabs(sum - 0.5) < 0.02); /* four standard errors */
    assert_true(fabs(squares - sum * sum - 1.0 / 12) < 0.006);
    free(s);
    buf_fini(&text);
    replay_forget(&load);
}

TEST(a_spread_forgives_as_much_disorder)
{
    struct load_settings load =
        replay_of(REPLAY_HEADER "0,1,1\n5,2,1\n3,3,1\n2,4,1\n6,5,1\n");
    struct strlist said = {0};
    struct trace_counts counts;

    load.trace.spread_ns = 2 * NS_PER_S;
    counts = read_all(&load, &said);
    assert_int_equal(counts.rows, 4);
    assert_int_equal(counts.damaged, 1);
    strlist_fini(&said);
    replay_forget(&load);
}

/* A file that was good when the run was planned, and is not any more. */
TEST(a_schedule_that_breaks_off_says_why)
{
    struct load_settings load =
        replay_of(REPLAY_HEADER "0,1,1\n1,2,1\nx\n2,3,1\n");
    void *self = xcalloc(1, source_trace.state_size);
    struct err err = {0};

    load.trace.strict = true;
    assert_int_equal(source_trace.init(self, &load,
                                       (struct lane){.worker = 0, .workers = 1},
                                       &err),
                     0);
    source_trace.take(self);
    assert_int_equal(source_trace.peek_ns(self), NS_PER_S);
    source_trace.take(self);
    assert_null(source_trace.failure(self));
    assert_true(source_trace.peek_ns(self) == DUE_NEVER);
    assert_non_null(source_trace.failure(self));
    assert_int_equal(source_trace.failure(self)->code, ERR_IO);
    assert_non_null(strstr(source_trace.failure(self)->msg, ":4: timestamp"));
    assert_int_equal(source_trace.due_end_ns(self), NS_PER_S + 1);
    source_trace.fini(self);
    free(self);
    replay_forget(&load);
}

TEST(a_file_that_became_shorter_is_noticed)
{
    struct load_settings load = replay_of(REPLAY_HEADER "0,1,1\n1,2,1\n");
    struct err err = {0};

    for (int64_t worker = 0; worker < 2; worker++) {
        void *self = xcalloc(1, source_trace.state_size);

        load.trace.rows = 3;
        assert_int_equal(
            source_trace.init(self, &load,
                              (struct lane){.worker = worker, .workers = 2},
                              &err),
            0);
        source_trace.take(self);
        assert_true(source_trace.peek_ns(self) == DUE_NEVER);
        assert_non_null(strstr(source_trace.failure(self)->msg,
                               "has changed: it ends after 2 of 3 rows"));
        source_trace.fini(self);
        free(self);
    }
    replay_forget(&load);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
