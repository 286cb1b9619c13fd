/* The short form of a document: which lines stay, how they are wrapped, and
 * where colour is used. */
#include <stdbool.h>
#include <string.h>

#include "analyzer/compare/quantity.h"
#include "analyzer/report/brief.h"
#include "analyzer/report/doc.h"
#include "analyzer/report/run_doc.h"
#include "common/base/buf.h"
#include "tests/support/keep.h"
#include "tests/support/test.h"

#define MAX_TEXT 65536

static char *shown(void (*make)(struct brief *b, const struct doc_node *root),
                   const struct doc *d, const struct brief_style *style)
{
    struct brief *b = brief_new(style);
    struct buf out;
    char *text;

    buf_init(&out, MAX_TEXT);
    make(b, d ? doc_root(d) : NULL);
    brief_render(b, &out);
    brief_free(b);
    assert_false(out.overflowed);
    text = keepf("%s", buf_text(&out));
    buf_fini(&out);
    return text;
}

static const struct brief_style narrow = {.columns = 60};
static const struct brief_style usual = {.columns = 80};

static size_t count(const char *text, const char *what)
{
    size_t n = 0;

    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

/* ---- what stays ---- */

static void make_many(struct brief *b, const struct doc_node *root)
{
    (void)root;
    brief_line(b, 5, "load");
    brief_words(b, "least important");
    for (int i = 0; i < 20; i++) {
        brief_item(b, i == 0 ? 0 : 3, i == 0 ? "SLO" : "");
        brief_words(b, "term %c", 'a' + i);
    }
    brief_line(b, 1, "trust");
    brief_words(b, "yes");
    brief_line(b, 0, "verdict");
    brief_words(b, "PASS");
}

TEST(the_least_important_lines_are_left_out)
{
    char *text = shown(make_many, NULL, &usual);

    assert_int_equal(count(text, "\n"), BRIEF_ROWS);
    assert_null(strstr(text, "least important"));
    assert_non_null(strstr(text, "SLO        term a\n           term b\n"));
    assert_non_null(strstr(text, "           term i\n"
                                 "           and 11 more; -v shows all\n"
                                 "trust      yes\n"
                                 "verdict    PASS\n"));
}

static void make_must(struct brief *b, const struct doc_node *root)
{
    (void)root;
    for (int i = 0; i < 15; i++) {
        brief_line(b, 0, "why");
        brief_words(b, "reason");
    }
}

TEST(what_must_be_said_is_said)
{
    assert_int_equal(count(shown(make_must, NULL, &usual), "\n"), 15);
}

/* Of a streamed run with an SLO on this measure, one line more than there is
 * room for. */
static struct doc *streamed_doc(const char *measure)
{
    static const char *const names[] = {"e2e", "ttft", "tpot"};
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *measures = doc_section(root, "measures", "");
    struct doc_node *row = doc_row(doc_table(root, "slo", ""));
    struct doc_node *verdict = doc_section(root, NULL, "verdict");

    for (size_t i = 0; i < COUNT(names); i++) {
        struct doc_node *n = doc_section(measures, names[i], names[i]);

        doc_count(n, "n", "", 100);
        doc_ns(n, "p50", "p50", 1e6);
    }
    doc_textf(row, "term", "term", "%s p50 < 1s", measure);
    doc_text(row, "verdict", "verdict", "pass");
    doc_text(root, "verdict", NULL, "pass");
    doc_text(verdict, NULL, "", "PASS");
    for (int i = 0; i < 7; i++)
        doc_line(verdict, DOC_PLAIN, "reason %d", i);
    return d;
}

TEST(the_latency_that_the_slo_asks_for_stays)
{
    static const struct {
        const char *measure;
        const char *stays;
        const char *goes;
    } cases[] = {{"e2e", "\ne2e        p50 ", "\ntpot "},
                 {"ttft", "\ntpot       p50 ", "\ne2e "},
                 {"tpot", "\ntpot       p50 ", "\ne2e "}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct doc *d = streamed_doc(cases[i].measure);
        char *text = shown(run_brief, d, &usual);

        assert_int_equal(count(text, "\n"), BRIEF_ROWS);
        assert_non_null(strstr(text, "\nttft       p50 "));
        assert_non_null(strstr(text, cases[i].stays));
        assert_null(strstr(text, cases[i].goes));
        doc_free(d);
    }
}

/* ---- rows ---- */

static void make_long(struct brief *b, const struct doc_node *root)
{
    (void)root;
    brief_line(b, 0, "requests");
    brief_words(
        b, "119 due (39.667/s), 119 ok (39.667/s), 119 within SLO (39.667/s)");
    brief_optional(b);
    brief_words(b, ", 676 tokens/s");
    brief_line(b, 0, "url");
    brief_words(b, "http://%s/", keepf("%0100d", 1));
}

TEST(rows_end_between_items)
{
    assert_non_null(strstr(shown(make_long, NULL, &narrow),
                           "requests   119 due (39.667/s), 119 ok (39.667/s),\n"
                           "           119 within SLO (39.667/s)\nurl "));
    assert_non_null(
        strstr(shown(make_long, NULL, &(struct brief_style){.columns = 90}),
               "119 within SLO (39.667/s), 676 tokens/s\n"));
}

TEST(no_row_is_wider_than_the_terminal)
{
    static const int widths[] = {0, 40, 41, 60, 80, 200};

    for (size_t i = 0; i < COUNT(widths); i++) {
        const char *line =
            shown(make_long, NULL, &(struct brief_style){.columns = widths[i]});
        size_t max = widths[i] < 40 ? 40 : (size_t)widths[i];

        for (; *line; line += strcspn(line, "\n") + 1)
            assert_in_range(strcspn(line, "\n"), 1, max);
    }
}

static void make_where(struct brief *b, const struct doc_node *root)
{
    (void)root;
    brief_where(b);
}

TEST(the_command_for_everything_can_be_copied)
{
    struct brief_style style = {
        .columns = 80, .dir = "a b", .more = "tailgate report 'a b' -v"};

    assert_string_equal(
        shown(make_where, NULL, &style),
        "recording  a b/  (all numbers: tailgate report 'a b' -v)\n");
    style.columns = 50;
    assert_string_equal(shown(make_where, NULL, &style), "recording  a b/\n");
    style.dir = NULL;
    assert_string_equal(shown(make_where, NULL, &style),
                        "more       tailgate report 'a b' -v\n");
}

/* ---- colour ---- */

static void make_toned(struct brief *b, const struct doc_node *root)
{
    brief_line(b, 0, "");
    brief_tone(b, brief_tone_of(doc_at(root, "verdict")), "%s", "\x1b[2Jword");
}

TEST(colour_only_where_it_is_wanted)
{
    static const struct {
        const char *verdict;
        const char *code;
    } cases[] = {{"pass", "\x1b[1;32m"},
                 {"fail", "\x1b[1;31m"},
                 {"invalid", "\x1b[1;31m"},
                 {"undecided", "\x1b[1;33m"}};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct doc *d = doc_new();
        const struct brief_style coloured = {.columns = 80, .has_colour = true};

        doc_text(doc_root(d), "verdict", "", cases[i].verdict);
        assert_string_equal(shown(make_toned, d, &usual),
                            "           ?[2Jword\n");
        assert_string_equal(
            shown(make_toned, d, &coloured),
            keepf("           %s?[2Jword\x1b[0m\n", cases[i].code));
        doc_free(d);
    }
}

/* ---- finding nodes ---- */

TEST(nodes_are_found_by_their_keys)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *hidden = doc_text_only(doc_section(root, NULL, "a"));
    struct doc_node *n = doc_section(root, NULL, "group");

    doc_count(hidden, "ok", "", 1);
    n = doc_section(n, "requests", "");
    doc_count(n, "ok", "", 7);
    assert_int_equal(doc_at(root, "requests.ok")->count, 7);
    assert_null(doc_at(root, "ok"));
    assert_null(doc_at(root, "requests.failed"));
    assert_null(doc_at(NULL, "requests"));
    assert_non_null(doc_labelled(root, "group"));
    assert_null(doc_labelled(root, "requests"));
    doc_free(d);
}

TEST(sides_are_named_by_what_differs)
{
    static const struct {
        const char *dirs[3];
        const char *names[3];
    } cases[] = {
        {{"runs/old", "runs/new/", "x"}, {"old", "new", "x"}},
        {{"a/run", "b/run", "/c/d/run"}, {"a/run", "b/run", "d/run"}},
        {{"same", "same", "other"}, {"A", "B", "other"}},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        for (size_t k = 0; k < 3; k++) {
            char name[SHOW_TEXT];

            assert_string_equal(show_side_name(cases[i].dirs, 3, k, name),
                                cases[i].names[k]);
        }
    }
}
