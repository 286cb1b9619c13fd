/* The HTML report: numbers in words, axes, bins, and the page of made runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/html/chart/svg.h"
#include "analyzer/html/html_text.h"
#include "analyzer/html/page.h"
#include "analyzer/html/run_page.h"
#include "analyzer/tally/run_bins.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/stats/hist.h"
#include "tests/support/golden.h"
#include "tests/support/keep.h"
#include "tests/support/maderun.h"
#include "tests/support/rendered.h"
#include "tests/support/rows.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define NB "\u202f"

/* ---- words ---- */

TEST(durations_have_three_digits)
{
    static const struct {
        double ns;
        const char *want;
    } cases[] = {
        {0, "0" NB "ms"},
        {17, "17.0" NB "ns"},
        {1500, "1.50" NB "µs"},
        {402.6e6, "403" NB "ms"},
        {999.96e6, "1,000" NB "ms"},
        {1.25e9, "1.25" NB "s"},
        {119e9, "119" NB "s"},
        {600e9, "10.0" NB "min"},
        {HIST_BEYOND, "failed"},
        {HIST_TOO_FEW, "–"},
        {HIST_EMPTY, "–"},
    };
    char text[SHOW_TEXT];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(show_ns(cases[i].ns, text), cases[i].want);
}

TEST(shares_are_never_rounded_to_all)
{
    static const struct {
        double share;
        const char *want;
    } cases[] = {{0, "0%"},          {1, "100%"},         {0.83, "83.0%"},
                 {0.9999, "99.99%"}, {0.99999, "99.99%"}, {0.00036, "0.036%"},
                 {0.0025, "0.25%"},  {NAN, "–"},          {4e-6, "<0.001%"}};
    char text[SHOW_TEXT];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(show_share(cases[i].share, text), cases[i].want);
}

TEST(changes_are_plain_numbers)
{
    static const struct {
        double ratio;
        const char *want;
    } cases[] = {{0.63, "37% lower"},
                 {1.042, "4.2% higher"},
                 {1.0035, "0.35% higher"},
                 {1.0001, "the same"},
                 {1.994, "99.4% higher"},
                 {2, "2 times as high"},
                 {7.214, "7.21 times as high"},
                 {99.7, "99.7 times as high"},
                 {12345, "12,345 times as high"},
                 {0.004, "99.6% lower"},
                 {1e-6, "99.99% lower"},
                 {0, "100% lower"},
                 {NAN, "–"}};
    static const struct change_words words = {"lower", "higher",
                                              "times as high"};
    char text[SHOW_TEXT];

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(show_change(cases[i].ratio, &words, text),
                            cases[i].want);
}

TEST(numbers_and_times)
{
    char text[SHOW_TEXT];

    assert_string_equal(show_count(5604, text), "5,604");
    assert_string_equal(show_count(-1234567, text), "-1,234,567");
    assert_string_equal(show_number(93.44, text), "93.4");
    assert_string_equal(show_number(4142.4, text), "4,142");
    assert_string_equal(show_number(9.996, text), "10.0");
    assert_string_equal(show_time(12.5, text), "12.5" NB "s");
    assert_string_equal(show_time(754, text), "12:34");
    assert_string_equal(show_time(5400, text), "1:30:00");
    assert_string_equal(show_time(11105, text), "3:05:05");
    assert_string_equal(show_tick_ns(3e8, text), "300" NB "ms");
}

TEST(text_from_outside_is_never_markup)
{
    struct buf out;

    buf_init(&out, 4096);
    html_escape(&out, "<script>alert(\"1\" & '2')</script>\x1b[31m\xff");
    assert_string_equal(
        buf_text(&out),
        "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;"
        "?[31m?");
    buf_reset(&out);
    html_escape(&out,
                "a\uFFFEb\uFFFFc\uFFFD"); /* not in XML, except the last */
    assert_string_equal(buf_text(&out), "a?b?c\uFFFD");
    buf_fini(&out);
}

TEST(coordinates_are_short)
{
    struct buf out;

    buf_init(&out, 4096);
    put_number(&out, 12.04, 1);
    buf_adds(&out, " ");
    put_number(&out, -0.01, 1);
    buf_adds(&out, " ");
    put_number(&out, 100, 0);
    buf_adds(&out, " ");
    put_number(&out, NAN, 1);
    buf_adds(&out, " ");
    put_number(&out, 3.6e12, 0); /* an hour in ns */
    assert_string_equal(buf_text(&out), "12 0 100 null 3600000000000");
    buf_fini(&out);
}

/* ---- axes ---- */

TEST(ticks_are_round_and_inside)
{
    static const struct axis axes[] = {
        {.high = 65, .kind = TICK_TIME},
        {.high = 104, .kind = TICK_RATE},
        {.high = 3, .kind = TICK_COUNT},
        {.low = 1e6, .high = 3e9, .is_log = true, .kind = TICK_NS},
        {.low = 2.1e8, .high = 2.9e8, .is_log = true, .kind = TICK_NS},
        {.high = 1.05, .kind = TICK_SHARE},
        {.low = 0.001, .high = 0.9, .is_odds = true, .kind = TICK_SHARE},
    };

    for (size_t i = 0; i < sizeof(axes) / sizeof(axes[0]); i++) {
        double ticks[AXIS_TICKS];
        size_t n = axis_ticks(&axes[i], 6, ticks);

        assert_in_range(n, 2, 12);
        for (size_t k = 0; k < n; k++) {
            assert_true(ticks[k] >= axes[i].low * 0.999);
            assert_true(ticks[k] <= axes[i].high * 1.001);
            assert_false(signbit(ticks[k]));
            assert_true(k == 0 || ticks[k] > ticks[k - 1]);
        }
    }
}

/* ---- a run ---- */

struct drawn {
    struct read_run *r; /* its directory */
    struct recording rec;
    struct summary s;
    struct run_bins bins;
};

static struct drawn *draw(struct made_run *m)
{
    struct drawn *d = keep(xcalloc(1, sizeof(*d)));
    struct err err = {0};

    d->r = made_run_sum_up(m, NULL);
    assert_int_equal(recording_open(&d->rec, d->r->rec.dir, &err), 0);
    assert_int_equal(
        summary_make_keeping(&d->s, &d->rec, NULL,
                             &(struct summary_extras){.bins = &d->bins}, &err),
        0);
    return d;
}

static void end_drawing(struct drawn *d)
{
    run_bins_fini(&d->bins);
    summary_fini(&d->s);
    recording_close(&d->rec);
    read_run_free(d->r);
}

/* 600 requests in 6 s after 1 s of warm-up; every tenth takes 200 ms, and two
 * fail. */
static struct made_run *some_run(const char *slo)
{
    struct made_run *m = made_run_new(1000, 6000, slo);

    for (int64_t i = 0; i < 700; i++) {
        if (i == 300 || i == 301)
            made_run_add(m, row_failed(i, i * 10, 30, OUTCOME_RESET));
        else
            made_run_add(m, row_ok(i, i * 10, i % 10 == 0 ? 200 : 5 + i % 7));
    }
    m->end.due_end_ns = 7 * NS_PER_S;
    return m;
}

TEST(every_request_is_in_one_bin)
{
    struct drawn *d = draw(some_run("e2e p99 < 100ms"));
    const struct run_bins *b = &d->bins;
    int64_t due = 0;
    int64_t ok = 0;
    int64_t good = 0;
    int64_t beyond = 0;
    int64_t values = 0;

    assert_int_equal(b->n, 140); /* of 50 ms */
    for (size_t k = 0; k < b->n; k++) {
        due += b->due[k];
        ok += b->ok[k];
        good += b->good[k];
        for (int row = 0; row < BINS_ROWS; row++) {
            values += b->values[BINS_E2E].cells[k][row];
            if (row >= BINS_BASE)
                beyond += b->values[BINS_E2E].cells[k][row];
        }
    }
    assert_int_equal(due, 700);
    assert_int_equal(ok, 698);
    assert_int_equal(values, 698);
    assert_int_equal(beyond, 69); /* one of the 70 failed */
    assert_int_equal(good, 698 - 69);
    end_drawing(d);
}

/* The limit is an edge of the rows, to the nanosecond. */
TEST(the_limit_is_an_edge)
{
    static const int64_t limits_ms[] = {1, 7, 100, 333, 1000, 59999};

    for (size_t i = 0; i < sizeof(limits_ms) / sizeof(limits_ms[0]); i++) {
        int64_t limit[GOOD_LIMITS] = {[MEASURE_E2E] = limits_ms[i] * NS_PER_MS};
        struct run_bins b;

        run_bins_init(&b, (struct window){0, NS_PER_S}, NS_PER_S, limit);
        for (int64_t off = -1; off <= 1; off++) {
            struct facts f = row_ok(0, 0, 1);

            f.last = limit[MEASURE_E2E] + off;
            run_bins_add(&b, &f, false);
        }
        assert_int_equal(b.values[BINS_E2E].cells[0][BINS_BASE - 1], 1);
        assert_int_equal(b.values[BINS_E2E].cells[0][BINS_BASE], 2);
        run_bins_fini(&b);
    }
}

TEST(quantiles_of_bins_are_close)
{
    struct drawn *d = draw(some_run("e2e p99 < 100ms"));
    const struct run_bins *b = &d->bins;

    assert_in_range((int64_t)run_bins_quantile_ns(b, BINS_E2E, 0, b->n, 0.5),
                    7 * NS_PER_MS, 9 * NS_PER_MS);
    assert_in_range((int64_t)run_bins_quantile_ns(b, BINS_E2E, 0, b->n, 0.95),
                    195 * NS_PER_MS, 205 * NS_PER_MS);
    /* The bin of the two failures has five requests, too few for p95. */
    assert_true(run_bins_quantile_ns(b, BINS_E2E, 60, 61, 0.95) == HIST_EMPTY);
    assert_true(run_bins_quantile_ns(b, BINS_E2E, 60, 61, 0.5) > 0);
    end_drawing(d);
}

static char *page_of(const struct drawn *d)
{
    const struct run_page r = {
        .s = &d->s, .bins = &d->bins, .manifest = &d->rec.manifest};
    struct buf out;
    char *text;

    buf_init(&out, PAGE_MAX);
    run_page_render(&r, &out);
    text = keepf("%s", buf_text(&out));
    buf_fini(&out);
    return text;
}

/* The sections with charts, whose numbers are all from the bins. */
static char *charts_of(char *page)
{
    char *charts = strstr(page, "<section class=\"sec\" id=\"requests\"");
    char *end = strstr(page, "<section class=\"sec\" id=\"trust\"");

    assert_non_null(charts);
    assert_non_null(end);
    *end = '\0';
    return charts;
}

/* What is shown does not reach across its limit, and what is only observed
 * does; the page says which it is. */
TEST(no_row_contradicts_itself)
{
    int shown = 0;
    int observed = 0;

    for (int64_t every = 4; every < 400; every = every * 3 / 2) {
        struct made_run *m = made_run_new(
            0, 9000, "e2e p90 < 100.5ms, good >= 97%, e2e p50 < 10ms");
        struct drawn *d;

        for (int64_t i = 0; i < 900; i++)
            made_run_add(m, row_ok(i, i * 10, i % every == 0 ? 200 : 5));
        m->end.due_end_ns = 9 * NS_PER_S;
        d = draw(m);
        for (char *row = page_of(d); (row = strstr(row, "<div class=\"row v-"));
             row++) {
            char *text =
                keepf("%.*s", (int)(strstr(row, "</div></div>") - row), row);
            bool is_across = strstr(text, "across the limit") != NULL;

            assert_int_equal(is_across, strstr(text, "as observed") != NULL);
            assert_true(is_across || strstr(text, ", shown"));
            observed += is_across;
            shown += !is_across;
        }
        end_drawing(d);
    }
    assert_true(shown > 5 && observed > 2);
}

TEST(the_page_of_a_run)
{
    struct drawn *d = draw(some_run("e2e p99 < 100ms, errors < 1%"));
    char *page = page_of(d);

    assert_string_equal(page, page_of(d)); /* the same bytes twice */
    assert_says(page, "<title>FAIL · ");
    assert_says(page, "The server missed its objective");
    assert_says(page, "data-chart=\"spectrum-e2e\"");
    assert_says(page, "data-chart=\"heat-e2e\"");
    assert_says(page, "data-chart=\"rates\"");
    assert_null(strstr(page, " style=")); /* the policy would refuse it */
    assert_null(strstr(page, "src=\"http"));
    assert_null(strstr(page, "-0%"));
    assert_golden("html-run.html", charts_of(page));
    end_drawing(d);
}

/* Charts that need more are left out, and nothing else breaks. */
TEST(short_runs_have_a_page)
{
    for (int64_t n = 0; n <= 5; n++) {
        struct made_run *m = made_run_new(0, 1000, "e2e p99 < 100ms");
        struct drawn *d;
        char *page;

        if (n > 0)
            made_run_add_fast(m, 0, n);
        d = draw(m);
        page = page_of(d);
        assert_says(page, "</html>");
        assert_null(strstr(page, "nan"));
        assert_null(strstr(page, "inf%"));
        end_drawing(d);
    }
}

/* Of the figures: "5.00 <span>/s" and what its legend says are one number. */
static void assert_legend(const char *page, const char *series,
                          const char *value)
{
    const char *at = strstr(page, keepf("data-s=\"%s\"", series));

    assert_non_null(at);
    at = strstr(at, "<span class=\"v\">");
    assert_non_null(at);
    assert_string_equal(keepf("%.*s", (int)strcspn(at + 16, "<"), at + 16),
                        value);
}

/* The last bin is shorter than the others, and p90 is among the failures. */
TEST(legends_and_figures_agree)
{
    struct made_run *m = made_run_new(0, 1050, "e2e p90 < 100ms");
    struct drawn *d;
    char *page;

    made_run_add_fast(m, 0, 4);
    made_run_add_reset(m, 1);
    m->end.due_end_ns = 1050 * NS_PER_MS;
    d = draw(m);
    page = page_of(d);
    assert_says(page, "<div class=\"n\">4.76<span>/s");
    assert_legend(strstr(page, "data-fig=\"rates\""), "due", "4.76/s");
    assert_legend(strstr(page, "data-fig=\"rates\""), "good", "3.81/s");
    assert_legend(strstr(page, "data-fig=\"spectrum-e2e\""), "due", "failed");
    end_drawing(d);
}

/* Quantiles between the points of the spectrum: the legend, the strip and the
 * table have one number. */
TEST(any_quantile_of_the_slo_is_shown_as_judged)
{
    static const char *const slos[] = {"e2e p80 < 100ms", "e2e p98 < 100ms",
                                       "e2e p99.5 < 100ms"};

    for (size_t i = 0; i < COUNT(slos); i++) {
        struct made_run *m = made_run_new(0, 9000, slos[i]);
        struct drawn *d;
        const char *judged;
        char *page;
        char text[SHOW_TEXT];

        for (int64_t k = 0; k < 900; k++)
            made_run_add(m, row_ok(k, k * 10, 5 + (k * 7919) % 900 / 10));
        m->end.due_end_ns = 9 * NS_PER_S;
        d = draw(m);
        judged = show_ns((double)d->s.judgement.terms[0].measured_ns, text);
        page = page_of(d);
        assert_legend(strstr(page, "data-fig=\"spectrum-e2e\""), "due", judged);
        if (i == 0) /* the others need more requests per bin */
            assert_legend(strstr(page, "data-fig=\"quant-e2e\""), "hi", judged);
        assert_says(page, "<th scope=\"row\">p%.4g<td>%s",
                    100 * d->s.judgement.terms[0].term->quantile, judged);
        end_drawing(d);
    }
}

/* An answer of one token has no time per token: no chart says that it is 0. */
TEST(answers_of_one_token_have_no_pace)
{
    struct made_run *m = made_run_new(0, 1000, "ttft p90 < 1s");
    struct drawn *d;
    char *page;

    for (int64_t k = 0; k < 100; k++) {
        struct facts f = row_ok(k, k * 10, 50);

        f.events = f.event_tokens = f.first_tokens = 1;
        made_run_add(m, f);
    }
    m->end.due_end_ns = NS_PER_S;
    d = draw(m);
    page = page_of(d);
    assert_says(page, "data-chart=\"spectrum-ttft\"");
    assert_null(strstr(page, "spectrum-tpot"));
    assert_null(strstr(page, "id=\"m-tpot\""));
    assert_null(strstr(page, "id=\"shape\"")); /* there is nothing in it */
    assert_null(strstr(page, "class=\"more\"></div>"));
    end_drawing(d);
}

/* The window may begin inside a bin: shares are of the requests due in it. */
TEST(shares_of_the_plane_are_at_most_all)
{
    struct made_run *m =
        made_run_new(1036, 964, "ttft p90 < 1s, tpot p90 < 1s");
    struct drawn *d;
    char *plane;

    for (int64_t k = 0; k < 200; k++) {
        struct facts f = row_ok(k, k * 10 + 8, 50);

        f.first -= (20 + k % 9) * NS_PER_MS;
        f.events = f.event_tokens = 11;
        f.first_tokens = 1;
        made_run_add(m, f);
    }
    m->end.due_end_ns = 2 * NS_PER_S;
    d = draw(m);
    plane = strstr(page_of(d), "data-fig=\"plane\"");
    assert_non_null(plane);
    *strstr(plane, "</figure>") = '\0';
    assert_says(plane, ">100%%<");
    end_drawing(d);
}

/* Scrapes that are unevenly spread: their mean is not that of the bins, and the
 * legend says what the sentences say. */
TEST(legends_of_the_server_agree_with_the_text)
{
    struct made_run *m = made_run_new(0, 6000, "e2e p90 < 100ms");
    struct drawn *d;
    char *page;

    made_run_add_fast(m, 0, 600);
    m->end.due_end_ns = 6 * NS_PER_S;
    for (int i = 0; i < MADE_RUN_LOOKS; i++)
        m->looks[i] = (struct server_scrape){
            .at = (i < 5 ? 500 + 100 * i : 5500) * NS_PER_MS,
            .running = i < 5 ? 2 : 8,
            .waiting = TIME_ABSENT,
            .cache_use = TIME_ABSENT,
            .queue_sum_us = TIME_ABSENT,
            .queue_count = TIME_ABSENT,
            .prompt_tokens = TIME_ABSENT,
            .generated_tokens = TIME_ABSENT,
            .cached_tokens = TIME_ABSENT,
            .preemptions = TIME_ABSENT,
            .requests = TIME_ABSENT};
    d = draw(m);
    page = page_of(d);
    assert_says(page, " running <b>3.00</b>");
    assert_legend(strstr(page, "data-fig=\"flight\""), "running", "3.00");
    end_drawing(d);
}

/* The warnings of the report stand below the headline. */
TEST(warnings_of_a_run_are_in_its_head)
{
    struct made_run *m = made_run_new(0, 9000, "e2e p90 < 1s");
    struct drawn *d;
    char *head;

    for (int64_t k = 0; k < 900; k++)
        made_run_add(m, row_ok(k, k * 10, k < 450 ? 5 + k % 3 : 60 + k % 3));
    m->end.due_end_ns = 9 * NS_PER_S;
    d = draw(m);
    head = page_of(d);
    assert_says(head, "<p><b>Warning:</b> the latency is not steady");
    *strstr(head, "<div class=\"figs\">") = '\0';
    assert_says(head, "<p class=\"warn\"><b>Warning:</b> the latency is not "
                      "steady: the two halves of the window differ</p>");
    end_drawing(d);
}

/* Load, target and client. */
TEST(conditions_are_named)
{
    static const char *const names[] = {"asked for", "objective", "URL",
                                        "API",       "timeout",   "kernel",
                                        "transport", "directory"};
    struct drawn *d = draw(some_run("e2e p99 < 100ms"));
    char *page = strstr(page_of(d), "id=\"conditions\"");

    assert_non_null(page);
    for (size_t i = 0; i < COUNT(names); i++)
        assert_says(page, "<dt>%s</dt><dd>", names[i]);
    end_drawing(d);
}

/* Columns of at least 20 requests, and the kinds of failures in the data. */
TEST(heat_maps_name_what_failed)
{
    struct drawn *d = draw(some_run("e2e p99 < 100ms"));
    char *page = page_of(d);

    assert_says(page, "\"kinds\":{\"reset\":{\"15\":2}}");
    assert_says(page, "failed, in the lane on top");
    assert_says(page, "<th scope=\"col\">failed<th scope=\"col\">reset");
    end_drawing(d);
}

/* Two classes with limits of their own, or of which one has no limit, have none
 * in common; what they share is drawn. */
TEST(only_limits_of_all_classes_are_drawn)
{
    static const struct {
        const char *slo_of_b;
        bool is_shared;
    } cases[] = {
        {", slo: [e2e p90 < 100ms]", true},
        {", slo: [e2e p90 < 1s]", false},
        {"", false},
    };

    for (size_t c = 0; c < COUNT(cases); c++) {
        bool is_shared = cases[c].is_shared;
        struct made_run *m = made_run_new(0, 1000, "");
        struct drawn *d;

        m->classes = keepf("classes:\n"
                           "  - {name: a, weight: 1, slo: [e2e p90 < 100ms]}\n"
                           "  - {name: b, weight: 1%s}\n",
                           cases[c].slo_of_b);
        for (int64_t i = 0; i < 100; i++) {
            struct facts f = row_ok(i, i * 10, 200);

            f.class = i % 2;
            made_run_add(m, f);
        }
        m->end.due_end_ns = NS_PER_S;
        d = draw(m);
        assert_int_equal(d->bins.values[BINS_E2E].has_limit, is_shared);
        assert_int_equal(strstr(page_of(d), "beyond the limit.") != NULL,
                         is_shared);
        assert_says(page_of(d), "e2e beyond the limit<");
        end_drawing(d);
    }
}

/* The plane of streams names the limits that there are, and no others. */
TEST(only_limits_that_exist_are_named)
{
    static const struct {
        const char *slo;
        const char *says;
        const char *row;
        size_t rows;
    } cases[] = {
        {"ttft p90 < 1s, tpot p90 < 1s", "Only the lower left corner is good.",
         "within both limits", 4},
        {"ttft p90 < 1s", "What is left of the line keeps the limit.",
         "late first token", 2},
        {"tpot p90 < 1s", "What is below the line keeps the limit.",
         "slow pace", 2},
        {"e2e p90 < 1s", "per token after that.<", ">all", 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct made_run *m = made_run_new(0, 1000, cases[i].slo);
        struct drawn *d;
        char *plane;
        size_t rows = 0;

        for (int64_t k = 0; k < 100; k++) {
            struct facts f = row_ok(k, k * 10, 50);

            f.first -= (20 + k % 9) * NS_PER_MS;
            f.events = f.event_tokens = 11;
            f.first_tokens = 1;
            made_run_add(m, f);
        }
        m->end.due_end_ns = NS_PER_S;
        d = draw(m);
        plane = strstr(page_of(d), "data-fig=\"plane\"");
        assert_non_null(plane);
        *strstr(plane, "</table>") = '\0';
        assert_says(plane, "%s", cases[i].says);
        assert_says(plane, "%s", cases[i].row);
        for (char *row = plane; (row = strstr(row, "<tr><")); row++)
            rows++;
        assert_int_equal(rows, cases[i].rows + 1);
        end_drawing(d);
    }
}

/* An undecided run says which terms are not decided, and how much longer it
 * would have to be; terms that only hold as observed are not said to hold. */
TEST(undecided_terms_are_named)
{
    static const struct {
        int64_t every; /* one request in so many is slow */
        const char *slo;
        const char *says[3];
    } cases[] = {
        {700,
         "e2e p50 < 100ms, e2e p99.9 < 100ms",
         {"<b>e2e p99.9 &lt; 100ms</b> is not decided: about 2,295 more "
          "requests are needed. One other term holds.",
          "A run that is about ", " longer would decide it."}},
        {11,
         "e2e p99.9 < 500ms, e2e p90 < 100ms",
         {"One other term holds as observed.", "is not decided", ""}},
        {700,
         "e2e p99.9 < 100ms, e2e p99.91 < 100ms, e2e p99.92 < 100ms, e2e "
         "p99.93 < 100ms",
         {"<b>e2e p99.92 &lt; 100ms</b> is not decided",
          "1 more term does not hold or is not decided. ", ""}},
        {700,
         "e2e p99.9 < 100ms, e2e p99.91 < 100ms, e2e p99.92 < 100ms, e2e "
         "p99.93 < 100ms, e2e p99.94 < 100ms",
         {"2 more terms do not hold or are not decided. ", "", ""}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct made_run *m = made_run_new(0, 7000, cases[i].slo);
        struct drawn *d;
        char *page;

        for (int64_t k = 0; k < 700; k++)
            made_run_add(m,
                         row_ok(k, k * 10, k % cases[i].every == 0 ? 200 : 5));
        m->end.due_end_ns = 7 * NS_PER_S;
        d = draw(m);
        page = page_of(d);
        assert_says(page, "<title>UNDECIDED");
        for (int k = 0; k < 3; k++)
            assert_says(page, "%s", cases[i].says[k]);
        end_drawing(d);
    }
}

TEST(pictures_of_a_run)
{
    struct drawn *d = draw(some_run("e2e p99 < 100ms, errors < 1%"));
    const struct run_page r = {
        .s = &d->s, .bins = &d->bins, .manifest = &d->rec.manifest};
    struct err err = {0};
    struct buf out;

    for (size_t i = 0; run_picture_names[i]; i++) {
        buf_init(&out, PAGE_MAX);
        assert_int_equal(
            run_picture_render(&r, run_picture_names[i], &out, &err), 0);
        assert_null(strstr(buf_text(&out), "class="));
        assert_golden(keepf("html-%s.svg", run_picture_names[i]),
                      buf_text(&out));
        buf_fini(&out);
    }
    buf_init(&out, PAGE_MAX);
    assert_int_equal(run_picture_render(&r, "cat", &out, &err), -1);
    assert_int_equal(err.code, ERR_USAGE);
    buf_fini(&out);
    end_drawing(d);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
