/* The text report renders the summary: every number of it, and none of its own.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/report.h"
#include "analyzer/report/run_doc.h"
#include "analyzer/report/text_show.h"
#include "analyzer/tally/summary.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "tests/support/golden.h"
#include "tests/support/madesummary.h"
#include "tests/support/rendered.h"
#include "tests/support/test.h"

static bool is_label(const char *number)
{
    /* e2e; percentiles and the 95 % interval; the limits of the SLO */
    static const char *const labels[] = {"2",  "50", "90",   "95",
                                         "99", "9",  "99.9", "0"};

    for (size_t i = 0; i < COUNT(labels); i++) {
        if (strcmp(labels[i], number) == 0)
            return true;
    }
    return false;
}

/* Every number in the text that is no label. */
static struct strlist numbers_in(const char *text)
{
    struct strlist list = {0};

    while (*(text += strcspn(text, "0123456789"))) {
        size_t len = strspn(text, "0123456789.");
        char *number = xstrndup(text, len);

        if (!is_label(number))
            strlist_add(&list, number);
        free(number);
        text += len;
    }
    return list;
}

static bool holds(const struct strlist *list, const char *item)
{
    for (size_t i = 0; i < list->len; i++) {
        if (strcmp(list->items[i], item) == 0)
            return true;
    }
    return false;
}

/* Change every number of the summary, and every number of the text changes. */
TEST(text_has_no_number_of_its_own)
{
    struct made_summary *a = made_summary_new(10000);
    struct made_summary *b = made_summary_new(50050);
    char *text_a = report_verbose(&a->s);
    char *text_b = report_verbose(&b->s);
    struct strlist in_a = numbers_in(text_a);
    struct strlist in_b = numbers_in(text_b);

    assert_true(in_a.len > 60);
    assert_int_equal(in_a.len, in_b.len);
    for (size_t i = 0; i < in_a.len; i++) {
        if (holds(&in_b, in_a.items[i]))
            print_error("%s stands in both\n", in_a.items[i]);
        assert_false(holds(&in_b, in_a.items[i]));
    }
    strlist_fini(&in_a);
    strlist_fini(&in_b);
    made_summary_free(a);
    made_summary_free(b);
}

TEST(a_whole_run)
{
    struct made_summary *m = made_summary_new(10000);

    assert_golden_doc("run", run_doc(&m->s));
    made_summary_free(m);
}

/* A row of the table, with what cannot be given in words. */
TEST(a_missing_number_says_why)
{
    struct made_summary *m = made_summary_new(10000);
    struct spread *p = &m->s.spread[MEASURE_E2E][VIEW_DUE];

    *p = (struct spread){.n = 60, .failed = 7, .mean_ns = HIST_BEYOND};
    p->quantile_ns[0] = 12300000;
    p->quantile_ns[1] = HIST_BEYOND;
    p->quantile_ns[2] = HIST_BEYOND;
    p->quantile_ns[3] = HIST_TOO_FEW;
    p->quantile_ns[4] = HIST_OUT_OF_RANGE;
    p->max_ns = HIST_BEYOND;
    m->s.spread[MEASURE_CONNECT][VIEW_DUE].n = 0;
    assert_golden_doc("run-latencies", doc_of_part(run_doc_latencies, &m->s));
    made_summary_free(m);
}

TEST(text_opens_with_the_verdict)
{
    static const struct {
        enum verdict verdict;
        const char *want;
    } cases[] = {
        {VERDICT_NONE, "verdict    none"},
        {VERDICT_PASS, "verdict    PASS"},
        {VERDICT_FAIL, "verdict    FAIL"},
        {VERDICT_UNDECIDED, "verdict    UNDECIDED"},
        {VERDICT_INVALID, "verdict    INVALID"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct made_summary *m = made_summary_new(10000);
        char *text;

        m->s.verdict = cases[i].verdict;
        m->s.trust.valid = cases[i].verdict != VERDICT_INVALID;
        text = report_verbose(&m->s);
        assert_says(text, "%s", cases[i].want);
        assert_int_equal(strstr(text, "can NOT be trusted") != NULL,
                         cases[i].verdict == VERDICT_INVALID);
        assert_int_equal(strstr(text, "not deliverable") != NULL,
                         cases[i].verdict == VERDICT_FAIL);
        made_summary_free(m);
    }
}

/* Above every number that was measured: the verdict, then what failed, each in
 * a line of its own.  What passed is one line at the end. */
TEST(text_says_first_why_a_run_is_invalid)
{
    struct made_summary *m = made_summary_new(10000);
    struct trust *t = &m->s.trust;

    m->s.verdict = VERDICT_INVALID;
    t->checks[0] = (struct check){.name = "lag p99",
                                  .unit = "ms",
                                  .is_fatal = true,
                                  .value = 12.5,
                                  .limit = 2,
                                  .advice = "free its CPU"};
    t->checks[2] = (struct check){.name = "unsent", .ok = true, .advice = ""};
    t->checks[3] = (struct check){.name = "steal", .ok = true, .advice = ""};
    t->len = 4;
    assert_golden_doc("run-invalid", run_doc(&m->s));
    made_summary_free(m);
}

/* A reader, and who copies it to a flag, wants no exponent. */
TEST(large_numbers_are_whole)
{
    static const struct {
        double value;
        int digits;
        const char *text;
    } cases[] = {
        {0.40912, 3, "0.409"},   {12.34, 3, "12.3"},  {999.4, 3, "999"},
        {999.6, 3, "1000"},      {3381.4, 3, "3381"}, {-3381.4, 3, "-3381"},
        {1234567, 4, "1234567"}, {10.81, 4, "10.81"}, {0, 3, "0"},
    };
    char text[UNITS_TEXT];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(
            text_show_number(cases[i].value, cases[i].digits, text),
            cases[i].text);
}
