/* The course of a run: bins of time, and what is said of made series. */
#include <math.h>
#include <stdbool.h>

#include "analyzer/verdict/steady.h"
#include "common/base/clk.h"
#include "common/base/rng.h"
#include "common/measure/measure.h"
#include "tests/support/mm1.h"
#include "tests/support/test.h"

static struct series series; /* too large for a stack under a sanitizer */

static const struct steady_ask open_loop = {.is_open = true, .is_whole = true};

static void begin(int64_t start_ms, int64_t end_ms)
{
    series_init(&series, (struct window){.start_ns = start_ms * NS_PER_MS,
                                         .end_ns = end_ms * NS_PER_MS});
}

/* Due and sent at once. */
static void add(double from_s, double to_s)
{
    struct facts f = {.due = (int64_t)(from_s * 1e9),
                      .sent = (int64_t)(from_s * 1e9),
                      .end = (int64_t)(to_s * 1e9)};

    series_add_value(&series, series_add(&series, &f), 0, f.end - f.due);
}

static void assert_close(double got, double want)
{
    if (!(fabs(got - want) <= 1e-6 * fmax(1, fabs(want))))
        fail_msg("%.9g instead of %.9g", got, want);
}

/* ---- bins ---- */

/* A hand-made run of 1 s of warm-up and a window of 12 s, in bins of 10 ms. */
TEST(what_is_in_flight)
{
    double x[SERIES_MAX];

    begin(1000, 13000);
    assert_int_equal(series.first, 100);
    assert_int_equal(series.n, 1300);
    add(-2, 100);    /* all through it, and before */
    add(0.5, 3.005); /* from before the window; ends in the middle of a bin */
    add(3.002, 3.004);
    add(12.9, 14); /* beyond the end */
    add(14, 15);   /* not in it at all */
    series_add(&series,
               &(struct facts){.due = 0, .sent = TIME_ABSENT, .end = NS_PER_S});
    series_in_flight(&series, x);
    assert_close(x[0], 1);
    assert_close(x[49], 1);
    assert_close(x[50], 2);
    assert_close(x[100], 2);
    assert_close(x[299], 2);
    assert_close(x[300], 1 + 0.5 + 0.2);
    assert_close(x[301], 1);
    assert_close(x[1289], 1);
    assert_close(x[1290], 2);
    assert_close(x[1299], 2);
    assert_close(series.ended, 2); /* at 3.005 and 3.004 s */
    assert_close(series.ended_flight_ns, 2.507e9);
}

/* Whatever the order and the lengths, the area is the time spent in it. */
TEST(the_area_is_the_time_in_flight)
{
    struct rng rng = rng_stream(7, RNG_ARRIVAL);
    double x[SERIES_MAX];
    double want = 0;
    double sum = 0;

    begin(700, 5000);
    for (int i = 0; i < 2000; i++) {
        double from = rng_uniform(&rng) * 7 - 1;
        double to = from + rng_exponential(&rng) * (i % 3 ? 0.001 : 2);

        add(from, to);
        want += fmax(0, fmin(to, 5) - fmax(from, 0));
    }
    series_in_flight(&series, x);
    for (size_t i = 0; i < series.n; i++)
        sum += x[i] * series.width_ns / 1e9;
    /* The first bin begins before 0, within its width. */
    assert_true(series.origin_ns <= 0 && series.origin_ns > -series.width_ns);
    if (!(fabs(sum - want) < 0.01 * want))
        fail_msg("%g s instead of %g", sum, want);
}

TEST(times_that_make_no_sense_do_no_harm)
{
    static const int64_t odd[] = {INT64_MIN + 1, -1, INT64_MAX, INT64_MAX - 1};

    for (size_t i = 0; i < COUNT(odd); i++) {
        for (size_t k = 0; k < COUNT(odd); k++) {
            begin(0, 1000);
            series_add_value(
                &series,
                series_add(&series, &(struct facts){.due = odd[i],
                                                    .sent = odd[k],
                                                    .end = odd[i]}),
                0, odd[k]);
        }
    }
    begin(1000, 1000); /* an empty window */
    add(0, 1);
    assert_int_equal(series.n, 0);
    assert_int_equal(steady_load(&series, &open_loop).state, LOAD_UNKNOWN);
    assert_false(steady_warmup(&series, 0).is_found);
    assert_non_null(steady_halves(&series, 0).why);
}

/* ---- the warm-up ---- */

/* 100 ms for the first 3 s, then 10 ms, give or take one. */
static void add_step(double warm_s, double end_s)
{
    struct rng rng = rng_stream(1, RNG_SERVICE);

    for (int i = 0; i < (int)(end_s * 100); i++) {
        double at = i / 100.0;

        add(at, at + (at < warm_s ? 0.1 : 0.01) + rng_uniform(&rng) / 1000);
    }
}

TEST(a_step_is_where_the_warm_up_ends)
{
    static const struct {
        int64_t asked_ms;
        bool is_too_short;
    } cases[] = {{0, true}, {1000, true}, {4000, false}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct warmup_found w;

        begin(cases[i].asked_ms, 12000);
        add_step(3, 12);
        w = steady_warmup(&series, 0);
        assert_true(w.is_found);
        assert_true(w.found_s >= 3 && w.found_s < 3.2);
        assert_int_equal(w.suggested_s > 0, cases[i].is_too_short);
        if (cases[i].is_too_short)
            assert_true(w.suggested_s >= w.found_s && w.suggested_s < 3.3);
    }
    begin(0, 12000);
    add_step(8, 12); /* in the second half */
    assert_false(steady_warmup(&series, 0).is_found);
    assert_string_equal(steady_warmup(&series, 0).why,
                        "not known, the run is too short");
}

/* ---- the load ---- */

static struct load_judgement judged(void)
{
    return steady_load(&series, &open_loop);
}

TEST(what_is_flat_is_steady)
{
    struct load_judgement l;

    begin(0, 10000);
    add_step(0, 10);
    l = judged();
    assert_int_equal(l.state, LOAD_WITHIN);
    assert_true(l.has_little && l.little.holds);
    assert_false(steady_halves(&series, 0).is_drifting);
    assert_true(steady_warmup(&series, 0).suggested_s <= 0);
}

/* One server, one after the other, `rate` a second. */
static void add_fifo(double rate, double service_s, double end_s)
{
    double free_s = 0;

    for (int i = 0; i < (int)(rate * end_s); i++) {
        double at = i / rate;

        free_s = fmax(at, free_s) + service_s;
        add(at, free_s);
    }
}

TEST(a_ramp_is_overload)
{
    struct load_judgement l;

    begin(0, 5000);
    add_fifo(120, 0.01, 5);
    l = judged();
    assert_int_equal(l.state, LOAD_OVER);
    assert_true(fabs(l.overload.growth - 100) < 5); /* 20/s for 5 s */
    assert_false(l.little.holds);
    assert_true(steady_halves(&series, 0).is_drifting);
    begin(60000, 70000); /* long after it began */
    add_fifo(120, 0.01, 70);
    assert_int_equal(judged().state, LOAD_OVER);
    begin(0, 10000);
    add_fifo(5000, 0.01, 10); /* fifty times too much */
    assert_int_equal(judged().state, LOAD_OVER);
    begin(0, 5000);
    add_fifo(90, 0.01, 5);
    assert_int_equal(judged().state, LOAD_WITHIN);
}

/* A second at 190/s, a second of nothing: the server catches up each time. */
TEST(bursts_are_not_overload)
{
    double free_s = 0;

    begin(0, 10000);
    for (int second = 0; second < 10; second += 2) {
        for (int i = 0; i < 190; i++) {
            double at = second + i / 190.0;

            free_s = fmax(at, free_s) + 0.01;
            add(at, free_s);
        }
    }
    assert_int_equal(judged().state, LOAD_WITHIN);
}

/* From nothing to 400/s, each of which takes a second: twice as many in flight
 * at twice the rate. */
TEST(a_rate_that_rises_is_not_overload)
{
    begin(2000, 22000);
    for (int i = 0; i < 4400; i++) {
        double at = 22 * sqrt(i / 4400.0);

        add(at, at + 1);
    }
    assert_true(judged().overload.is_rising);
    assert_int_equal(judged().state, LOAD_WITHIN);
}

/* Answers of 8 s: nothing ends for 8 s. */
TEST(filling_up_is_not_overload)
{
    begin(0, 10000);
    for (int i = 0; i < 1000; i++)
        add(i / 100.0, i / 100.0 + 8);
    assert_true(judged().overload.is_rising);
    assert_int_equal(judged().state, LOAD_WITHIN);
}

/* Ten sessions a second, of one turn after the other, ten of a second each: ten
 * times as many in flight after ten seconds. */
TEST(sessions_that_go_on_are_not_overload)
{
    begin(0, 10000);
    for (int i = 0; i < 100; i++) {
        for (int turn = 0; turn < 10; turn++)
            add(i / 10.0 + turn, i / 10.0 + turn + 1);
    }
    assert_true(judged().overload.is_rising);
    assert_int_equal(judged().state, LOAD_WITHIN);
}

TEST(what_cannot_be_judged)
{
    static const struct {
        struct steady_ask ask;
        const char *why;
    } cases[] = {
        {{.is_whole = true},
         "in a closed loop a slow server gets fewer requests"},
        {{.is_whole = true, .is_offline = true},
         "all requests were due at once"},
        {{.is_open = true}, "the recording lacks requests"},
    };

    begin(0, 5000);
    add_fifo(120, 0.01, 5);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct load_judgement l = steady_load(&series, &cases[i].ask);

        assert_int_equal(l.state, LOAD_UNKNOWN);
        assert_string_equal(l.why, cases[i].why);
    }
    begin(0, 5000);
    add_fifo(9, 0.2, 5);
    assert_string_equal(judged().why, "too few requests");
}

/* ---- a queue of which theory knows everything ---- */

#define RATE 300

/* A window of 10 s after one of 1 s. */
static void draw_queue(uint64_t seed, double load)
{
    struct mm1 q = mm1_start(seed, 1.0 / RATE, load / RATE);

    begin(1000, 11000);
    while (q.now < 11) {
        double at;
        double time = mm1_next(&q, &at);

        add(at, at + time);
    }
}

/* The level is 0.001, and the effect of chance is subtracted as well: of 200
 * there may be 2 (more have a probability of 0.001), whatever the seeds. */
TEST(a_busy_queue_is_not_overloaded)
{
    static const double loads[] = {0.5, 0.8, 0.9};

    for (size_t i = 0; i < COUNT(loads); i++) {
        int alarms = 0;

        for (uint64_t seed = 1; seed <= 200; seed++) {
            draw_queue(seed, loads[i]);
            alarms += judged().state == LOAD_OVER;
        }
        if (alarms > 2)
            fail_msg("load %.1f: %d of 200", loads[i], alarms);
    }
}

/* 500 stay of 3,000, with a deviation of 74 (both flows are Poisson): chance is
 * far off, and ten blocks that rise by 50, give or take 23, seldom fail to be
 * in order.  One in a thousand does; of 100 three would have a probability of
 * 0.0002. */
TEST(too_much_is_found_in_ten_seconds)
{
    int found = 0;

    for (uint64_t seed = 1; seed <= 100; seed++) {
        draw_queue(seed, 1.2);
        found += judged().state == LOAD_OVER;
    }
    assert_true(found >= 98);
}

/* ---- the halves ---- */

TEST(a_level_that_changes_is_a_drift)
{
    static const struct {
        double second_s;
        bool drifts;
    } cases[] = {{0.0105, false}, {0.012, true}, {0.008, true}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct rng rng = rng_stream(3, RNG_SERVICE);
        struct halves h;

        begin(0, 20000);
        for (int k = 0; k < 2000; k++) {
            double at = k / 100.0;
            double time = at < 10 ? 0.01 : cases[i].second_s;

            add(at, at + time * (0.9 + 0.2 * rng_uniform(&rng)));
        }
        h = steady_halves(&series, 0);
        assert_null(h.why);
        assert_int_equal(h.is_drifting, cases[i].drifts);
        assert_true(fabs(h.drift.first / 1e9 - 0.01) < 0.0005);
        assert_true(fabs(h.drift.second / 1e9 - cases[i].second_s) < 0.0005);
    }
}

/* The last quarter of each half has nine times as many requests, and slower
 * ones.  The means of the halves are those of their requests, as in the table.
 */
TEST(a_half_is_the_mean_of_its_requests)
{
    struct rng rng = rng_stream(5, RNG_SERVICE);
    double sum_s[2] = {0};
    int n[2] = {0};
    struct halves h;

    begin(0, 16000);
    for (int k = 0; k < 16 * 90; k++) {
        double at = k / 90.0 + 0.002; /* no due time at a border of bins */
        bool is_busy = (int)at % 8 >= 6;
        double time = (is_busy ? 0.02 : 0.01) * (0.9 + 0.2 * rng_uniform(&rng));

        if (!is_busy && k % 9 != 0)
            continue;
        add(at, at + time);
        sum_s[at >= 8] += time;
        n[at >= 8]++;
    }
    h = steady_halves(&series, 0);
    assert_null(h.why);
    assert_false(h.is_drifting);
    assert_close(h.drift.first / 1e6, 1e3 * sum_s[0] / n[0]);
    assert_close(h.drift.second / 1e6, 1e3 * sum_s[1] / n[1]);
}

/* One of two measures changes, and with it the number in flight. */
TEST(each_measure_and_what_is_in_flight_are_judged)
{
    struct rng rng = rng_stream(4, RNG_SERVICE);

    begin(0, 20000);
    for (int k = 0; k < 2000; k++) {
        double at = k / 100.0;
        double noise = 0.9 + 0.2 * rng_uniform(&rng);
        double time = (at < 10 ? 0.1 : 0.5) * noise;
        struct facts f = {.due = (int64_t)(at * 1e9),
                          .sent = (int64_t)(at * 1e9),
                          .end = (int64_t)((at + time) * 1e9)};
        ptrdiff_t bin = series_add(&series, &f);

        series_add_value(&series, bin, 0, (int64_t)(1e7 * noise));
        series_add_value(&series, bin, 1, f.end - f.due);
    }
    assert_false(steady_halves(&series, 0).is_drifting);
    assert_true(steady_halves(&series, 1).is_drifting);
    assert_true(steady_flight_halves(&series).is_drifting);
    assert_true(fabs(steady_flight_halves(&series).drift.first - 10) < 0.5);
    assert_true(fabs(steady_flight_halves(&series).drift.second - 49) < 1);
    /* Less than one request in flight is no matter. */
    begin(0, 20000);
    for (int k = 0; k < 2000; k++)
        add(k / 100.0, k / 100.0 + (k < 1000 ? 0.01 : 0.02));
    assert_true(steady_halves(&series, 0).is_drifting);
    assert_null(steady_flight_halves(&series).why);
    assert_false(steady_flight_halves(&series).is_drifting);
}

/* An M/M/1 queue is steady.  Below 1 % of alarms is asked for; at load 0.9 the
 * blocks are too short for what it remembers. */
TEST(a_busy_queue_seldom_drifts)
{
    static const struct {
        double load;
        int most; /* of 200 */
    } cases[] = {{0.5, 2}, {0.8, 2}, {0.9, 10}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        int alarms = 0;

        for (uint64_t seed = 1; seed <= 200; seed++) {
            draw_queue(seed, cases[i].load);
            alarms += steady_flight_halves(&series).is_drifting;
        }
        print_message("load %.1f: %d of 200\n", cases[i].load, alarms);
        if (alarms > cases[i].most)
            fail_msg("load %.1f: %d of 200", cases[i].load, alarms);
    }
}
