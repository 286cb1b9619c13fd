/* Both reports: runs that are out of the ordinary, and formats by their name.
 */
#include <jansson.h>
#include <stdbool.h>
#include <string.h>

#include "analyzer/report/report.h"
#include "analyzer/report/run_doc.h"
#include "analyzer/tally/summary.h"
#include "common/settings/settings.h"
#include "tests/support/golden.h"
#include "tests/support/madesummary.h"
#include "tests/support/rendered.h"
#include "tests/support/test.h"

TEST(a_run_without_verification_says_so)
{
    struct made_summary *m = made_summary_new(10000);
    json_t *json;
    char *text;

    m->settings.target.insecure = true;
    text = report_verbose(&m->s);
    json = report_parsed(&m->s);
    assert_says(text, "INSECURE: the server's certificate was not verified\n");
    assert_true(json_is_true(part_at(json, "client/insecure")));
    made_summary_free(m);
}

TEST(an_empty_run_can_be_rendered)
{
    struct settings settings;
    struct summary s = {.settings = &settings, .threads = 1};

    settings_init(&settings);
    for (int i = 0; i < MEASURE_COUNT; i++) {
        for (int v = 0; v < VIEW_COUNT; v++) {
            struct spread *p = &s.spread[i][v];

            p->mean_ns = HIST_EMPTY;
            p->max_ns = HIST_EMPTY;
            for (int q = 0; q < SUMMARY_QUANTILES; q++)
                p->quantile_ns[q] = HIST_EMPTY;
        }
    }
    assert_golden_doc("run-empty", run_doc(&s));
    settings_fini(&settings);
}

TEST(an_aborted_run_says_why)
{
    static const struct {
        enum verdict verdict;
        enum verdict judged;
        const char *line;
    } cases[] = {
        {VERDICT_NONE, VERDICT_NONE, "verdict    none: no SLO was given"},
        {VERDICT_FAIL, VERDICT_FAIL,
         "verdict    FAIL as observed: the SLO is missed"},
        {VERDICT_FAIL, VERDICT_PASS, "verdict    FAIL: the run was aborted"},
        {VERDICT_INVALID, VERDICT_FAIL, "verdict    INVALID"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct settings settings;
        struct summary s = {.settings = &settings,
                            .verdict = cases[i].verdict,
                            .judgement = {.verdict = cases[i].judged},
                            .answer = cases[i].judged,
                            .aborted = "errors > 5%: \x1b[2J"};
        json_t *json;
        char *text;

        settings_init(&settings);
        text = report_verbose(&s);
        assert_says(text, "%s", cases[i].line);
        assert_says(text, "\n           ABORTED errors > 5%%: ?[2J\n");
        json = report_parsed(&s);
        assert_text_at(json, "aborted", s.aborted);
        s.aborted = NULL;
        json = report_parsed(&s);
        assert_true(json_is_null(part_at(json, "aborted")));
        settings_fini(&settings);
    }
}

/* Twelve lines, whatever the verdict, and it is the last of them. */
TEST(the_short_report_ends_with_the_verdict)
{
    static const struct {
        enum verdict verdict;
        bool is_shown;
        const char *last;
    } cases[] = {
        {VERDICT_NONE, false, "verdict    none: no SLO was given"},
        {VERDICT_PASS, false, "verdict    PASS as observed: the SLO is met"},
        {VERDICT_PASS, true,
         "verdict    PASS, shown with 95% confidence: the SLO is met"},
        {VERDICT_FAIL, true,
         "verdict    FAIL, shown with 95% confidence: the SLO is missed"},
        {VERDICT_UNDECIDED, false,
         "verdict    UNDECIDED: this run does not show whether the SLO is met"},
        {VERDICT_INVALID, false,
         "verdict    INVALID: do not use these numbers"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_summary *m = made_summary_new(10000);
        const char *text;
        const char *last = "";
        size_t n = 0;

        m->s.verdict = m->s.answer = cases[i].verdict;
        m->s.is_shown = cases[i].is_shown;
        text = report_rendered(&report_text, &m->s);
        for (; *text; text += strcspn(text, "\n") + 1, n++) {
            last = text[0] == ' ' ? last : text;
            assert_in_range(strcspn(text, "\n"), 1, 80);
        }
        assert_in_range(n, 8, 12);
        assert_int_equal(strncmp(last, cases[i].last, strlen(cases[i].last)),
                         0);
        made_summary_free(m);
    }
}

TEST(formats_are_found_by_name)
{
    for (size_t i = 0; report_names[i]; i++) {
        assert_non_null(report_find(report_names[i]));
        assert_string_equal(report_find(report_names[i])->name,
                            report_names[i]);
    }
    assert_ptr_equal(report_find("json"), &report_json);
    assert_null(report_find("xml"));
}
