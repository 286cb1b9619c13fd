/* One run's recording in every format: they all tell of the same requests. */
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "tests/support/hlog.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/strangers.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static char *recording;
static int status; /* of the run, and so of its reports */

static char *reported_with(const char *const *argv, int want)
{
    struct proc_result r = proc_run(argv);
    char *out = xstrdup(r.out);

    proc_expect(&r, want);
    assert_string_equal(r.err, "");
    return out;
}

static char *reported(const char *const *argv)
{
    return reported_with(argv, status);
}

/* By another SLO: the verdict may be another one, and decides. */
static int status_by(const char *flag, const char *slo)
{
    struct proc_result r =
        proc_run(ARGS("report", recording, "--format", "json", flag, slo));
    json_t *json = json_loads(r.out, 0, NULL);
    const char *verdict = json_string_value(json_object_get(json, "verdict"));
    int want = strcmp(verdict, "pass") == 0   ? 0
               : strcmp(verdict, "fail") == 0 ? 1
                                              : 4;

    proc_expect(&r, want);
    json_decref(json);
    return want;
}

static json_t *reported_json(void)
{
    char *text = reported(ARGS("report", recording, "--format", "json"));
    json_t *json = json_loads(text, 0, NULL);

    assert_non_null(json);
    free(text);
    return json;
}

/* Streams, of which every tenth is refused, over three seconds; a part of them
 * in the warm-up. */
static int make_recording(void **state)
{
    struct proc_result r;
    struct proc stub;
    char *target;
    char *url;

    assert_int_equal(tmpdir_setup(state), 0);
    recording = tmpdir_path("run");
    stub =
        stub_start(ARGS("stub", "--service", "llm", "--batching", "continuous",
                        "--prefill", "1us", "--decode", "1ms", "--decode-item",
                        "0s", "--fault", "status=503 every=10"),
                   &url);
    target = keepf("%s/v1/completions", url);
    r = proc_run(ARGS("run", target, "--rate", "200", "-n", "600", "--warmup",
                      "500ms", "--output-len", "5", "--metrics", "off", "--slo",
                      "ttft p90 < 1us, errors < 90%", "-q", "-o", recording));
    run_expect(&r, recording, 1);
    status = r.status;
    stub_stop(&stub);
    return 0;
}

/* ---- HdrHistogram's formats ---- */

/* The log's buckets end within 1 in 1000 above the middle that we give. */
static void assert_near(int64_t ns, double ms)
{
    if (fabs((double)ns / 1e6 - ms) > 1e-3 * ms)
        print_error("%lld ns, %.9g ms\n", (long long)ns, ms);
    assert_true(fabs((double)ns / 1e6 - ms) <= 1e-3 * ms);
}

TEST(the_log_adds_up_to_the_summary)
{
    static const struct {
        const char *tag;
        const char *n;
        const char *failed;
        const char *p50;
        const char *p90; /* of the ok, which are all that a log has */
    } cases[] = {
        {"e2e", "measures.e2e.n", "measures.e2e.failed",
         "measures.e2e.ok.p50_ms", "measures.e2e.ok.p90_ms"},
        {"ttft", "measures.ttft.n", "measures.ttft.failed",
         "measures.ttft.ok.p50_ms", "measures.ttft.ok.p90_ms"},
        {"lag", "measures.lag.n", "measures.lag.failed", "measures.lag.p50_ms",
         "measures.lag.p90_ms"},
    };
    char *text = reported(ARGS("report", recording, "--format", "hlog"));
    json_t *json = reported_json();

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct hlog h = hlog_read(text, cases[i].tag);

        assert_int_equal(h.count, number_at(json, cases[i].n) -
                                      number_at(json, cases[i].failed));
        assert_near(hlog_quantile_ns(&h, 0.5), number_at(json, cases[i].p50));
        assert_near(hlog_quantile_ns(&h, 0.9), number_at(json, cases[i].p90));
        assert_true(h.intervals >= 2);
        assert_true(h.last_s - h.first_s == h.intervals - 1);
        hlog_fini(&h);
    }
    assert_non_null(strstr(text, "#[ttft: left out "));
    free(text);
    json_decref(json);
}

TEST(the_distribution_is_that_of_the_summary)
{
    char *text = reported(
        ARGS("report", recording, "--format", "hgrm", "--measure", "ttft"));
    char *sent = reported(
        ARGS("report", recording, "--format", "hgrm", "--from", "sent"));
    json_t *json = reported_json();
    char *want = keepf("Total count    = %12.0f]",
                       number_at(json, "measures.ttft.ok.n"));
    char *failed = keepf("#[left out: %.0f of %.0f that failed",
                         number_at(json, "measures.ttft.failed"),
                         number_at(json, "measures.ttft.n"));
    const char *median = strstr(text, " 0.500000000000 ");

    assert_non_null(strstr(text, want));
    assert_non_null(strstr(text, failed));
    assert_non_null(strstr(text, " 1.000000000000 "));
    assert_non_null(median);
    while (median > text && median[-1] != '\n')
        median--;
    assert_near(llround(strtod(median, NULL) * 1e6),
                number_at(json, "measures.ttft.ok.p50_ms"));
    assert_non_null(strstr(sent, "#[tailgate e2e from sent, in ms"));
    free(sent);
    free(text);
    json_decref(json);
}

/* ---- seconds ---- */

enum { START, LENGTH, SCHEDULED, MEASURED, ISSUED, OK, FAILED, GOOD, FLIGHT };

TEST(seconds_add_up_to_the_run)
{
    char *text = reported(ARGS("report", recording, "--format", "seconds"));
    json_t *json = reported_json();
    double sum[FLIGHT + 1] = {0};
    char *rest;
    char *line = strtok_r(text, "\n", &rest);
    double next_s = 0;

    assert_int_equal(strncmp(line, "start_s,length_s,scheduled,", 27), 0);
    while ((line = strtok_r(NULL, "\n", &rest))) {
        char *at = line;

        for (int c = START; c <= FLIGHT; c++, at++) {
            double value = strtod(at, &at);

            if (c == START)
                assert_true(value == next_s);
            next_s += c == START;
            sum[c] = c == FLIGHT ? value : sum[c] + value;
            assert_int_equal(*at, ',');
        }
    }
    assert_true(sum[SCHEDULED] == sum[ISSUED]); /* all were sent */
    assert_true(sum[ISSUED] == sum[OK] + sum[FAILED]);
    assert_true(sum[MEASURED] == number_at(json, "requests.scheduled"));
    assert_true(sum[SCHEDULED] == number_at(json, "requests.scheduled") +
                                      number_at(json, "requests.in_warmup"));
    json_decref(json);
    free(text);
}

/* ---- text and JSON ---- */

/* The first two lines are what was asked, which is in manifest.json. */
static const char *after_settings(const char *text)
{
    const char *end = strstr(text, "\nverdict ");

    assert_non_null(end);
    return end;
}

/* At most twelve lines of 80 columns, the verdict last.  What was asked, where
 * the recording is and how many lines are left out is not in the JSON. */
static void assert_brief(char *text, const json_t *json)
{
    static const char *const unchecked[] = {"run: ", "load ", "recording ",
                                            "           and ", "next "};
    size_t n = 0;
    char *rest;
    char *last = text;

    for (char *line = strtok_r(text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest), n++) {
        bool is_checked = strstr(line, "://") == NULL;

        for (size_t i = 0; i < COUNT(unchecked); i++)
            is_checked &=
                strncmp(line, unchecked[i], strlen(unchecked[i])) != 0;
        assert_true(strlen(line) <= 80 || strstr(line, "recording "));
        if (is_checked)
            assert_int_equal(strangers_in(line, json, NULL), 0);
        if (line[0] != ' ')
            last = line;
    }
    assert_in_range(n, 5, 12);
    assert_int_equal(strncmp(last, "verdict    ", 11), 0);
}

TEST(every_number_of_the_text_is_in_the_json)
{
    static const char tiers[] =
        "gold: ttft p50 < 1us, gold: tpot p50 < 1us, silver: ttft p50 < 5ms, "
        "silver: tpot p50 < 2ms, silver: errors < 50%";
    static const char *const slos[] = {NULL, "e2e p99 < 1h",
                                       "ttft p50 < 20ms, good >= 50%",
                                       "itl p99.9 < 1s", tiers};

    for (size_t i = 0; i < COUNT(slos); i++) {
        const char *flag = slos[i] ? "--slo" : NULL;
        int want = status_by(flag, slos[i]);
        char *text =
            reported_with(ARGS("report", recording, "-v", "--curve", "ttft",
                               "--usd-per-hour", "0.8", flag, slos[i]),
                          want);
        char *brief = reported_with(
            ARGS("report", recording, "--usd-per-hour", "0.8", flag, slos[i]),
            want);
        char *data = reported_with(ARGS("report", recording, "--format", "json",
                                        "--curve", "ttft", "--usd-per-hour",
                                        "0.8", flag, slos[i]),
                                   want);
        json_t *json = json_loads(data, 0, NULL);

        assert_non_null(json);
        assert_int_equal(strangers_in(after_settings(text), json, NULL), 0);
        assert_brief(brief, json);
        json_decref(json);
        free(data);
        free(brief);
        free(text);
    }
}

/* The text first; then the JSON's leaves, each by its name and as it is there.
 */
TEST(the_full_text_has_every_number_of_the_json)
{
    char *text = reported(ARGS("report", recording, "-v"));
    char *full = reported(ARGS("report", recording, "--format", "full"));
    json_t *json = reported_json();
    char line[64];

    assert_int_equal(strncmp(full, text, strlen(text)), 0);
    assert_int_equal(unsaid_in(full, json), 0);
    snprintf(line, sizeof(line), "\nmeasures.ttft.sent.n %.0f\n",
             number_at(json, "measures.ttft.sent.n"));
    assert_non_null(strstr(full, line));
    assert_non_null(strstr(full, "\ntrust.checks.0.name \"lag p50\"\n"));
    json_decref(json);
    free(full);
    free(text);
}

/* The limits of the bars and what is suggested are the same in both. */
TEST(the_report_says_what_to_do_next)
{
    char *text = reported(ARGS("report", recording, "-v"));
    json_t *json = reported_json();
    const json_t *next = json_object_get(json, "next");
    const json_t *rows =
        json_object_get(json_object_get(json, "distribution"), "rows");
    double count = number_at(json, "distribution.failed");
    const json_t *row;
    size_t i;

    assert_non_null(strstr(text, "\nttft from due\n"));
    assert_non_null(strstr(text, "\n------- limit 1.00us\n"));
    assert_true(json_array_size(next) > 0);
    json_array_foreach(next, i, row)
    {
        assert_non_null(strstr(text, json_string_value(row)));
    }
    json_array_foreach(rows, i, row)
    {
        count += number_at(row, "count");
    }
    assert_true(count == number_at(json, "measures.ttft.n"));
    json_decref(json);
    free(text);
}

/* ---- vLLM's file ---- */

/* Of each request a value, in longer lists than one piece of output. */
TEST(the_detailed_file_has_every_request)
{
    static const char *const lists[] = {"input_lens", "output_lens", "ttfts",
                                        "itls",       "start_times", "errors"};
    struct proc_result r = proc_run(
        ARGS("report", recording, "--format", "vllm-json", "--detailed"));
    json_t *json = json_loads(r.out, 0, NULL);
    double sum = 0;
    json_t *itl;
    size_t i;

    assert_non_null(json);
    for (i = 0; i < COUNT(lists); i++)
        assert_true((double)json_array_size(json_object_get(json, lists[i])) ==
                    number_at(json, "num_prompts"));
    json_array_foreach(json_object_get(json, "itls"), i, itl) sum +=
        (double)json_array_size(itl);
    assert_true(sum > number_at(json, "num_prompts"));
    assert_int_equal(strlen(json_string_value(json_object_get(json, "date"))),
                     15);
    json_decref(json);
}

/* ---- flags ---- */

TEST(flags_that_do_not_go_together)
{
    static const struct {
        const char *flags[4];
        const char *message;
    } cases[] = {
        {{"--measure", "ttft"}, "--measure and --from require --format hgrm"},
        {{"--from", "sent"}, "--measure and --from require --format hgrm"},
        {{"--format", "hgrm", "--measure", "speed"},
         "--measure: unknown measure 'speed'; the measures are e2e, "},
        {{"--detailed"}, "--detailed requires --format vllm-json"},
        {{"-v", "--format", "json"}, "--verbose requires --format text"},
        {{"-v", "--json"}, "--verbose requires --format text"},
        {{"--format", "xml"}, "hgrm"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const *f = cases[i].flags;
        struct proc_result r =
            proc_run(ARGS("report", recording, f[0], f[1], f[2], f[3]));

        proc_expect(&r, 2);
        assert_non_null(strstr(r.err, cases[i].message));
    }
}

GROUP_FIXTURE(make_recording, tmpdir_teardown)
