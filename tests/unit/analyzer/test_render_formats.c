/* Renderings for machines: Markdown, JUnit, trackers and JSON Schema. */
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "analyzer/report/render/render_trackers.h"
#include "analyzer/report/run_doc.h"
#include "common/base/buf.h"
#include "tests/support/golden.h"
#include "tests/support/keep.h"
#include "tests/support/madesummary.h"
#include "tests/support/rendered.h"
#include "tests/support/schema.h"
#include "tests/support/test.h"

#define HOSTILE "<b>|`x`|</b> @you #777 *a* [l](u) \x1b[31m\n- \"'&"
#define MAX_OUT ((size_t)1 << 20)

static char *rendered(const struct doc *d, enum doc_format format)
{
    struct buf out;
    char *text;

    buf_init(&out, MAX_OUT);
    doc_render(d, format, &out);
    text = keepf("%s", buf_text(&out));
    buf_fini(&out);
    return text;
}

static char *junit(const struct doc *d, const char *name)
{
    struct buf out;
    char *text;

    buf_init(&out, MAX_OUT);
    doc_render_junit(d, name, &out);
    text = keepf("%s", buf_text(&out));
    buf_fini(&out);
    return text;
}

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, word)); p += strlen(word))
        n++;
    return n;
}

/* ---- whole reports ---- */

/* A run in which no two numbers are alike, in each format. */
TEST(a_whole_run_in_each_format)
{
    static const struct {
        enum doc_format format;
        const char *golden;
    } cases[] = {
        {DOC_AS_MARKDOWN, "run.md"},
        {DOC_AS_BENCHER, "run-bencher.json"},
        {DOC_AS_GITHUB_SMALLER, "run-github-smaller.json"},
        {DOC_AS_GITHUB_BIGGER, "run-github-bigger.json"},
        {DOC_AS_LLM_D, "run-llm-d.json"},
    };
    struct made_summary *m = made_summary_new(10000);
    struct doc *d;

    m->s.trust.valid = true;
    m->s.stopped_by = 0;
    m->s.integrity.was_killed = false;
    m->s.aborted = NULL;
    m->s.started_ns = INT64_C(1767225599000000000);
    d = run_doc(&m->s);
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_golden(cases[i].golden, rendered(d, cases[i].format));
    assert_golden("run-junit.xml", junit(d, "rec"));
    doc_free(d);
    made_summary_free(m);
}

/* ---- texts from outside ---- */

static struct doc *hostile(void)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *n;

    doc_text(root, "name", NULL, HOSTILE);
    doc_line(root, DOC_PLAIN, "%s", HOSTILE);
    n = doc_section(root, NULL, "verdict");
    doc_text(n, "verdict", "", "fail");
    n = doc_row(doc_table(n, "slo", ""));
    doc_text(n, "term", "term", HOSTILE);
    doc_text(n, "verdict", "verdict", "fail");
    doc_text(n, NULL, HOSTILE, "\xEF\xBF\xBF");
    n = doc_list(root, "next", "next");
    doc_line(n, DOC_ADVICE, "- 1. %s", HOSTILE);
    doc_line(n, DOC_ADVICE, "7. %s", HOSTILE);
    doc_track(doc_rate(root, "goodput_rps", "goodput", 1), DOC_HIGHER);
    doc_conclude(d, CONCLUSION_NO);
    return d;
}

TEST(markdown_from_outside_is_text)
{
    struct doc *d = hostile();
    const char *text = rendered(d, DOC_AS_MARKDOWN);

    assert_null(strstr(text, "<b>"));
    assert_null(strstr(text, "`x`"));
    assert_null(strstr(text, "@you"));
    assert_null(strstr(text, "#777"));
    assert_null(strstr(text, "*a*"));
    assert_null(strstr(text, "[l]"));
    assert_null(strchr(text, '\x1b'));
    assert_says(text, "@&#8203;you");
    assert_says(text, "- **next**: &#45; 1. ");
    assert_says(text, "\n  - 7&#46; ");
    doc_free(d);
}

/* A comment has a maximum: a table that is too large for it is folded, and left
 * out with the details if those are too large as well. */
#define LONG "and some words that make the table too large"

TEST(markdown_fits_into_a_comment)
{
    static const struct {
        int rows;
        const char *says;
        const char * not ;
    } cases[] = {
        {10, "row 9 ", "<details>"},
        {3000, "The details are too long for a comment", "row 9 "},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct doc *d = doc_new();
        struct doc_node *root = doc_root(d);
        struct doc_node *table;
        const char *text;

        doc_text(root, "verdict", "verdict", "pass");
        table = doc_table(root, "values", "values");
        for (int row = 0; row < cases[i].rows; row++)
            doc_textf(doc_row(table), "name", "name", "row %d " LONG, row);
        doc_line(root, DOC_PLAIN, "the last sentence");
        text = rendered(d, DOC_AS_MARKDOWN);
        assert_says(text, "%s", cases[i].says);
        assert_null(strstr(text, cases[i].not ));
        assert_says(text, "the last sentence");
        assert_true(strlen(text) < 65536);
        doc_free(d);
    }
}

/* XML 1.0 has no way to write most control characters. */
TEST(junit_from_outside_is_text)
{
    struct doc *d = hostile();
    const char *text = junit(d, HOSTILE);

    assert_null(strstr(text, "<b>"));
    assert_null(strchr(text, '\x1b'));
    assert_null(strstr(text, "\xEF\xBF\xBF"));
    assert_says(text,
                "name=\"&#60;b&#62;|`x`|&#60;/b&#62; @you #777 *a* [l](u) "
                "?[31m?- &#34;&#39;&#38;\"");
    doc_free(d);
}

TEST(trackers_take_any_name)
{
    struct doc *d = hostile();
    json_t *json = json_loads(rendered(d, DOC_AS_BENCHER), 0, NULL);

    assert_int_equal(json_object_size(json), 1);
    assert_non_null(json_object_get(
        json, "<b>|`x`|</b> @you #777 *a* [l](u) ?[31m?- \"'&"));
    json_decref(json);
    doc_free(d);
}

/* ---- JUnit: red exactly if the exit status is ---- */

static struct doc *judged(const char *verdict, const char *term, bool is_valid,
                          enum conclusion conclusion)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *n;

    doc_text(root, "verdict", "verdict", verdict);
    n = doc_row(doc_table(root, "slo", ""));
    doc_text(n, "term", "term", "e2e p99 < 1s");
    doc_text(n, "verdict", "verdict", term);
    doc_text(n, NULL, "measured", "312ms");
    n = doc_section(root, "trust", "checks");
    doc_bool(n, "valid", "", is_valid);
    n = doc_row(doc_table(n, "checks", ""));
    doc_text(n, "name", "name", "lag p99");
    doc_bool(n, "ok", NULL, is_valid);
    doc_bool(n, "fatal", "", true);
    doc_track(doc_rate(root, "goodput_rps", "goodput", 7), DOC_HIGHER);
    doc_conclude(d, conclusion);
    return d;
}

TEST(junit_says_what_the_exit_status_says)
{
    static const struct {
        const char *verdict;
        const char *term;
        bool is_valid;
        enum conclusion conclusion;
        size_t failures;
        size_t errors;
        size_t skipped;
    } cases[] = {
        {"pass", "pass", true, CONCLUSION_YES, 0, 0, 0},
        {"fail", "fail", true, CONCLUSION_NO, 2, 0, 0},
        {"fail", "pass", true, CONCLUSION_NO, 1, 0, 0}, /* overloaded */
        {"undecided", "undecided", true, CONCLUSION_UNDECIDED, 0, 2, 0},
        {"pass", "pass", true, CONCLUSION_UNDECIDED, 0, 1, 0}, /* not shown */
        {"invalid", "pass", false, CONCLUSION_INVALID, 0, 3, 0},
        {"pass", "pass", false, CONCLUSION_YES, 0, 0, 1}, /* late only */
        {"none", "none", true, CONCLUSION_YES, 0, 0, 1},
        {"none", "none", true, CONCLUSION_FAILED, 0, 1, 1},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct doc *d = judged(cases[i].verdict, cases[i].term,
                               cases[i].is_valid, cases[i].conclusion);
        const char *text = junit(d, "x");

        assert_int_equal(count_of(text, "<failure"), cases[i].failures);
        assert_int_equal(count_of(text, "<error"), cases[i].errors);
        assert_int_equal(count_of(text, "<skipped"), cases[i].skipped);
        assert_int_equal(count_of(text, "<testcase"), 3);
        assert_says(text,
                    "<testsuites name=\"x\" tests=\"3\" failures=\"%zu\" "
                    "errors=\"%zu\">",
                    cases[i].failures, cases[i].errors);
        doc_free(d);
    }
}

TEST(junit_has_the_message)
{
    struct doc *d = judged("fail", "fail", true, CONCLUSION_NO);

    assert_says(junit(d, "x"), "<testcase classname=\"slo\" name=\"e2e p99 "
                               "&#60; 1s\" time=\"0.000\">\n      <failure "
                               "type=\"fail\" message=\"measured 312ms\"/>");
    doc_free(d);
    d = judged("invalid", "pass", false, CONCLUSION_INVALID);
    assert_says(junit(d, "x"), "<error type=\"invalid\" message=\"the run is "
                               "invalid, measured 312ms\"/>");
    assert_says(junit(d, "x"), "<error type=\"not passed\" message=\"\"/>");
    doc_free(d);
}

/* ---- trackers ---- */

TEST(trackers_get_no_numbers_that_cannot_be_trusted)
{
    static const enum doc_format formats[] = {
        DOC_AS_BENCHER, DOC_AS_GITHUB_SMALLER, DOC_AS_GITHUB_BIGGER};
    struct doc *invalid = judged("invalid", "pass", false, CONCLUSION_INVALID);
    struct doc *late = judged("pass", "pass", false, CONCLUSION_YES);
    struct doc *valid = judged("fail", "fail", true, CONCLUSION_NO);
    struct doc *cut = judged("fail", "fail", true, CONCLUSION_NO);
    struct doc *aborted = judged("fail", "fail", true, CONCLUSION_NO);
    struct doc *none_due =
        judged("undecided", "undecided", true, CONCLUSION_UNDECIDED);
    struct doc *empty = doc_new();

    doc_count(doc_section(doc_root(none_due), "requests", NULL), "scheduled",
              NULL, 0);
    doc_bool(doc_root(cut), "interrupted", NULL, true);
    doc_text(doc_root(aborted), "aborted", NULL, "too many errors");
    assert_string_equal(doc_withheld(invalid), "a trust check failed");
    assert_string_equal(doc_withheld(late), "a trust check failed");
    assert_string_equal(doc_withheld(cut), "the run was interrupted");
    assert_string_equal(doc_withheld(aborted), "the run was aborted");
    assert_string_equal(doc_withheld(empty), "there is no result to track");
    assert_string_equal(doc_withheld(none_due),
                        "nothing was due in the window");
    assert_null(doc_withheld(valid));
    for (size_t i = 0; i < COUNT(formats); i++) {
        assert_true(doc_is_for_trackers(formats[i]));
        assert_null(strchr(rendered(invalid, formats[i]), '7'));
    }
    assert_true(doc_is_for_trackers(DOC_AS_LLM_D));
    assert_says(rendered(invalid, DOC_AS_LLM_D), "\"results\": {}");
    assert_string_equal(rendered(invalid, DOC_AS_BENCHER), "{}\n");
    assert_string_equal(rendered(invalid, DOC_AS_GITHUB_BIGGER), "[]\n");
    assert_says(rendered(valid, DOC_AS_BENCHER), "\"value\": 7.0");
    doc_free(invalid);
    doc_free(late);
    doc_free(valid);
    doc_free(cut);
    doc_free(aborted);
    doc_free(none_due);
    doc_free(empty);
}

/* Elements of lists are benchmarks of their own; so are loads of a sweep. */
TEST(benchmarks_are_named_by_what_they_are)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *list = doc_table(root, "classes", "");
    struct doc_node *n = doc_row(list);
    const json_t *ttft;
    json_t *json;

    doc_text(root, "name", NULL, "chat");
    doc_text(n, "name", "class", "gold");
    n = doc_section(doc_section(n, "measures", NULL), "ttft", "");
    doc_bounds(doc_track(doc_ns(n, "p99", "p99", 3e6), DOC_LOWER),
               (struct interval){2e6, 5e6});
    n = doc_row(doc_list(root, "values", NULL));
    doc_unit(doc_number(n, "value", "rate", 200), "/s");
    doc_track(doc_ns(n, "p99.9", NULL, 4e6), DOC_LOWER);
    json = json_loads(rendered(d, DOC_AS_BENCHER), 0, NULL);
    ttft = json_object_get(json_object_get(json, "chat/gold"), "ttft-p99-ms");
    assert_number_at(ttft, "value", 3);
    assert_number_at(ttft, "lower_value", 2);
    assert_number_at(ttft, "upper_value", 5);
    assert_number_at(json_object_get(json, "chat/200/s"), "p999-ms/value", 4);
    json_decref(json);
    assert_says(rendered(d, DOC_AS_GITHUB_SMALLER),
                "\"name\": \"chat/gold: ttft p99_ms\",\n    \"unit\": "
                "\"ms\",\n    \"value\": 3.0,\n    \"range\": \"2 to 5\"");
    assert_string_equal(rendered(d, DOC_AS_GITHUB_BIGGER), "[]\n");
    doc_free(d);
}

/* ---- keys that jq takes ---- */

TEST(a_key_with_a_dot_has_a_second_name)
{
    struct doc *d = doc_new();
    json_t *json;

    doc_ns(doc_root(d), "p99.9", NULL, 5e6);
    doc_ns(doc_section(doc_root(d), "few", NULL), "p99.9", NULL,
           (double)-INFINITY);
    json = doc_json_of(d);
    assert_number_at(json, "p99.9_ms", 5);
    assert_number_at(json, "p999_ms", 5);
    assert_true(json_is_null(part_at(json, "few/p999_ms")));
    json_decref(json);
}

/* ---- schemas ---- */

/* Golden files that are whole documents. */
TEST(golden_files_are_as_their_schema_says)
{
    static const char *const cases[][2] = {
        {"run", "run"},
        {"run", "run-empty"},
        {"run", "run-invalid"},
        {"trials", "trials"},
        {"sweep", "sweep-withdrawn"},
        {"search", "search-remarks"},
        {"variants", "variants"},
        {"compare-searches", "capacities"},
        {"profile", "profile-vllm"},
        {"salvage", "salvage"},
    };

    for (size_t i = 0; i < COUNT(cases); i++)
        assert_schema_file(cases[i][0],
                           keepf("%s/tests/golden/%s.json",
                                 getenv("TAILGATE_SOURCE"), cases[i][1]));
}

TEST(schemas_describe_every_key)
{
    char *path = keepf("%s/docs/schema", getenv("TAILGATE_SOURCE"));
    DIR *dir = opendir(path);
    size_t n = 0;

    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        size_t len = strlen(e->d_name);
        json_t *schema;

        if (len < 6 || strcmp(e->d_name + len - 5, ".json") != 0)
            continue;
        schema = schema_load(keepf("%.*s", (int)len - 5, e->d_name));
        assert_described(schema);
        json_decref(schema);
        n++;
    }
    closedir(dir);
    assert_true(n >= 16);
}

/* The validator finds what is wrong. */
TEST(the_validator_can_say_no)
{
    static const struct {
        const char *json;
        const char *fault;
    } cases[] = {
        {"{\"of\": 1, \"missing\": 0, \"items\": []}", NULL},
        {"{\"of\": 1, \"missing\": 0}", ": 'items' is missing"},
        {"{\"of\": 1.5, \"missing\": 0, \"items\": []}",
         "/of: another type than the schema has"},
        {"{\"of\": 1, \"missing\": 0, \"items\": [], \"new\": 1}",
         ": 'new' is not in the schema"},
        {"{\"of\": 1, \"missing\": 0, \"items\": [{\"present\": true}]}",
         "/items/0: 'name' is missing"},
        {"{\"of\": 1, \"missing\": 0, \"of_note\": 3, \"items\": []}",
         "/of_note: another type than the schema has"},
    };
    json_t *schema = schema_load("checklist");

    for (size_t i = 0; i < COUNT(cases); i++) {
        json_t *json = json_loads(cases[i].json, 0, NULL);
        const char *fault = schema_fault(schema, json);

        if (cases[i].fault)
            assert_string_equal(fault, cases[i].fault);
        else
            assert_null(fault);
        json_decref(json);
    }
    json_decref(schema);
}
