/* How a run stands, in as many columns as there are. */
#include <stdbool.h>
#include <string.h>

#include "cli/live.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/stats/hist.h"
#include "loadgen/engine/progress.h"
#include "tests/support/test.h"

#define MAX_TEXT 8192

#define NONE                                                                   \
    {                                                                          \
        HIST_EMPTY, HIST_EMPTY, HIST_EMPTY                                     \
    }

/* ---- moments of runs ---- */

static const struct run_progress nothing_sent = {
    .planned_s = 60, .is_open_loop = true, .e2e = NONE, .lag = NONE};

static const struct run_progress amid = {
    .elapsed_s = 12.4,
    .planned_s = 60,
    .is_open_loop = true,
    .asked_rps = 500,
    .sent_rps = 498.4,
    .done_rps = 20.25,
    .issued = 5980,
    .in_flight = 12,
    .outcome = {[OUTCOME_OK] = 5968},
    .e2e = {12300 * NS_PER_US, 48100 * NS_PER_US, HIST_EMPTY},
    .lag = {80100, 300 * NS_PER_US, 1200 * NS_PER_US},
};

static const struct run_progress many_errors = {
    .elapsed_s = 3700,
    .planned_s = 3605,
    .is_open_loop = true,
    .asked_rps = 0,
    .issued = 123456,
    .in_flight = 7,
    .unsent = 9,
    .outcome = {[OUTCOME_OK] = 100,
                [OUTCOME_CONNECT] = 11,
                [OUTCOME_RESET] = 22,
                [OUTCOME_TIMEOUT] = 33,
                [OUTCOME_STATUS] = 44444,
                [OUTCOME_INBAND] = 55,
                [OUTCOME_TRUNCATED] = 66,
                [OUTCOME_MALFORMED] = 77,
                [OUTCOME_EMPTY] = 88,
                [OUTCOME_UNFINISHED] = 99,
                [OUTCOME_UNSENT] = 9},
    .has_slo = true,
    .good = 90,
    .due = 45000,
    .e2e = {HIST_BEYOND, HIST_OUT_OF_RANGE, HIST_EMPTY},
    .lag = {0, 5, 3 * NS_PER_S},
};

static const struct run_progress by_count = {.elapsed_s = 65,
                                             .planned_requests = 1000,
                                             .sent_rps = 12345.6,
                                             .done_rps = 12345.4,
                                             .issued = 999,
                                             .has_slo = true,
                                             .e2e = NONE,
                                             .lag = NONE};

static const struct run_progress streaming = {
    .elapsed_s = 2,
    .planned_s = 60,
    .sent_rps = 5,
    .done_rps = 4,
    .issued = 9,
    .in_flight = 5,
    .outcome = {[OUTCOME_OK] = 4},
    .e2e = {NS_PER_S, 2 * NS_PER_S, HIST_EMPTY},
    .has_streams = true,
    .ttft = {120 * NS_PER_MS, HIST_BEYOND, HIST_EMPTY},
    .lag = NONE,
};

static const struct run_progress all_at_once = {.elapsed_s = 5,
                                                .planned_requests = 1000,
                                                .is_offline = true,
                                                .sent_rps = 100,
                                                .done_rps = 100,
                                                .issued = 600,
                                                .in_flight = 100,
                                                .e2e = NONE,
                                                .lag = {5, 5, 5}};

static const struct run_progress after_the_window = {.elapsed_s = 12,
                                                     .planned_s = 15,
                                                     .has_phases = true,
                                                     .phase = PHASE_COOLDOWN,
                                                     .e2e = NONE,
                                                     .lag = NONE};

static const struct run_progress *const moments[] = {
    &nothing_sent, &amid, &many_errors, &by_count, &streaming};

static const char *block_of(const struct run_progress *p, int columns,
                            bool has_colour, struct buf *out)
{
    const struct view_style style = {.columns = columns,
                                     .has_colour = has_colour};

    buf_reset(out);
    progress_view_block(p, &style, out);
    assert_false(out->overflowed);
    return buf_text(out);
}

#define MANY_ERRORS(which)                                                     \
    "time     [####################] 1h01m of 1h00m, waiting for answers\n"    \
    "last second\n"                                                            \
    "rate     asked 0/s, sent 0/s, done 0/s\n"                                 \
    "e2e      p50 failed, p99 > 1h\n"                                          \
    "lag      p50 0ns, p99 5ns, max 3.00s\n"                                   \
    "so far\n"                                                                 \
    "requests 123456 sent, 7 in flight, 9 unsent\n"                            \
    "good     0.2% of 45000\n"                                                 \
    "errors   " which "\n"

static const struct {
    const struct run_progress *p;
    int columns;
    const char *want;
} blocks[] = {
    {&nothing_sent, 80,
     "time     [....................] 0s of 1m00s, 1m00s left\n"
     "last second\n"
     "rate     asked 0/s, sent 0/s, done 0/s\n"
     "e2e      p50 -, p99 -\n"
     "lag      p50 -, p99 -, max -\n"
     "so far\n"
     "requests 0 sent, 0 in flight\n"
     "errors   none\n"},
    {&amid, 80,
     "time     [####................] 12s of 1m00s, 48s left\n"
     "last second\n"
     "rate     asked 500/s, sent 498/s, done 20.2/s\n"
     "e2e      p50 12.3ms, p99 48.1ms\n"
     "lag      p50 80.1us, p99 300us, max 1.20ms\n"
     "so far\n"
     "requests 5980 sent, 12 in flight\n"
     "errors   none\n"},
    {&streaming, 80,
     "time     [....................] 2s of 1m00s, 58s left\n"
     "last second\n"
     "rate     sent 5/s, done 4/s\n"
     "e2e      p50 1.00s, p99 2.00s\n"
     "ttft     p50 120ms, p99 failed\n"
     "lag      p50 -, p99 -, max -\n"
     "so far\n"
     "requests 9 sent, 5 in flight\n"
     "errors   none\n"},
    {&amid, 40,
     "time     12s of 1m00s, 48s left\n"
     "last second\n"
     "rate     asked 500/s, sent 498/s ..\n"
     "e2e      p50 12.3ms, p99 48.1ms\n"
     "lag      p50 80.1us, p99 300us ..\n"
     "so far\n"
     "requests 5980 sent, 12 in flight\n"
     "errors   none\n"},
    {&many_errors, 80,
     MANY_ERRORS("connect 11, reset 22, timeout 33, status 44444, in-band "
                 "error 55 ..")},
    {&many_errors, 200,
     MANY_ERRORS("connect 11, reset 22, timeout 33, status 44444, in-band "
                 "error 55, truncated 66, malformed 77, empty 88, unfinished "
                 "99")},
    {&all_at_once, 40,
     "time     5s\n"
     "last second\n"
     "rate     sent 100/s, done 100/s\n"
     "e2e      p50 -, p99 -\n"
     "so far\n"
     "requests 600 of 1000 sent ..\n"
     "errors   none\n"},
    {&after_the_window, 80,
     "time     [################....] 12s of 15s, 3s left, cool-down\n"
     "last second\n"
     "rate     sent 0/s, done 0/s\n"
     "e2e      p50 -, p99 -\n"
     "lag      p50 -, p99 -, max -\n"
     "so far\n"
     "requests 0 sent, 0 in flight\n"
     "errors   none\n"},
    {&by_count, 40,
     "time     1m05s\n"
     "last second\n"
     "rate     sent 12346/s, done 12345/s\n"
     "e2e      p50 -, p99 -\n"
     "lag      p50 -, p99 -, max -\n"
     "so far\n"
     "requests 999 of 1000 sent, 0 in flight\n"
     "good     -\n"
     "errors   none\n"},
};

TEST(every_fact_has_its_line)
{
    struct buf out;

    buf_init(&out, MAX_TEXT);
    for (size_t i = 0; i < COUNT(blocks); i++)
        assert_string_equal(
            block_of(blocks[i].p, blocks[i].columns, false, &out),
            blocks[i].want);
    buf_fini(&out);
}

/* Colour takes no columns. */
static size_t visible_length(const char *line, const char *end)
{
    size_t n = 0;

    while (line < end) {
        if (*line == '\x1b')
            line = strchr(line, 'm') + 1;
        else
            n++, line++;
    }
    return n;
}

TEST(no_line_fills_the_columns)
{
    static const int widths[] = {0, 1, 2, 5, 10, 11, 12, 20, 40, 80, 200};
    struct buf out;

    buf_init(&out, MAX_TEXT);
    for (size_t i = 0; i < COUNT(moments) * COUNT(widths) * 2; i++) {
        int columns = widths[i / 2 % COUNT(widths)];
        const struct run_progress *p = moments[i / 2 / COUNT(widths)];
        const char *line = block_of(p, columns, i % 2, &out);
        const char *end;
        int n = 0;

        for (; (end = strchr(line, '\n')); line = end + 1, n++)
            assert_true(visible_length(line, end) <=
                        (columns > 1 ? (size_t)columns - 1 : 0));
        assert_int_equal(*line, '\0');
        assert_int_equal(n, 8 + p->has_slo + p->has_streams); /* no jump */
    }
    buf_fini(&out);
}

TEST(colour_where_it_is_wanted)
{
    struct buf out;

    buf_init(&out, MAX_TEXT);
    assert_null(strchr(block_of(&many_errors, 80, false, &out), '\x1b'));
    assert_non_null(strstr(block_of(&many_errors, 80, true, &out),
                           "\x1b[2merrors   \x1b[0m\x1b[31mconnect 11"));
    assert_null(strstr(block_of(&amid, 80, true, &out), "\x1b[31m"));
    buf_fini(&out);
}

TEST(the_same_in_one_line)
{
    static const struct {
        const struct run_progress *p;
        const char *want;
    } cases[] = {
        {&nothing_sent,
         "     0s of 60s: asked 0/s, sent 0/s, done 0/s; 0 sent, 0 in flight; "
         "e2e p50 -, p99 -; errors none; lag p50 -, p99 -, max -\n"},
        {&amid,
         "    12s of 60s: asked 500/s, sent 498/s, done 20.2/s; 5980 sent, 12 "
         "in flight; e2e p50 12.3ms, p99 48.1ms; errors none; lag p50 80.1us, "
         "p99 300us, max 1.20ms\n"},
        {&streaming,
         "     2s of 60s: sent 5/s, done 4/s; 9 sent, 5 in flight; e2e p50 "
         "1.00s, p99 2.00s; ttft p50 120ms, p99 failed; errors none; lag p50 "
         "-, p99 -, max -\n"},
        {&by_count,
         "    65s: sent 12346/s, done 12345/s; 999 of 1000 sent, 0 in flight; "
         "e2e p50 -, p99 -; good -; errors none; lag p50 -, p99 -, max -\n"},
    };
    struct buf out;

    buf_init(&out, MAX_TEXT);
    for (size_t i = 0; i < COUNT(cases); i++) {
        buf_reset(&out);
        progress_view_line(cases[i].p, &out);
        assert_string_equal(buf_text(&out), cases[i].want);
    }
    buf_fini(&out);
}
