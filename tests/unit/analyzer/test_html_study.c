/* Pages and pictures of studies, from documents made by hand: their keys are
 * those of the JSON. */
#include <math.h>
#include <string.h>

#include "analyzer/html/page.h"
#include "analyzer/html/study_page.h"
#include "analyzer/report/doc.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "tests/support/golden.h"
#include "tests/support/keep.h"
#include "tests/support/rendered.h"
#include "tests/support/test.h"

#define HOSTILE "</script><script>alert(1)</script>"

static void add_latency(struct doc_node *in, double p99_ms)
{
    struct doc_node *m =
        doc_section(doc_section(in, "measures", NULL), "e2e", NULL);

    doc_number(m, "p50_ms", NULL, p99_ms / 4);
    doc_number(m, "p99_ms", NULL, p99_ms);
}

static void add_capacity(struct doc_node *root)
{
    struct doc_node *list = doc_list(root, "terms", NULL);
    struct doc_node *n = doc_row(list);

    doc_text(n, "term", NULL, "e2e p99 < 50ms");
    doc_bool(n, "binds", NULL, true);
    doc_number(n, "allowed_share", NULL, 0.01);
    doc_number(n, "capacity_rps", NULL, 270);
    doc_range(n, "capacity_ci90", NULL, DOC_NUMBER,
              (struct interval){250, 290});
    doc_number(n, "miss_share_slope", NULL, 15);
    n = doc_row(list);
    doc_text(n, "term", NULL, "errors < 1%");
    doc_bool(n, "binds", NULL, false);
    doc_number(n, "allowed_share", NULL, 0.01);
    doc_number(n, "capacity_rps", NULL, NAN);
}

static struct doc *search_of(size_t n)
{
    static const double rates[] = {50, 100, 200, 400, 300, 260};
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *list;

    doc_text(root, "kind", NULL, "search");
    list = doc_list(root, "slo", NULL);
    doc_line(list, DOC_PLAIN, "e2e p99 < 50ms");
    doc_text(root, "outcome", "outcome", "found");
    doc_text(root, "why", NULL, HOSTILE);
    doc_number(root, "capacity_rps", "capacity", 270);
    doc_range(root, "capacity_ci90", NULL, DOC_NUMBER,
              (struct interval){250, 290});
    doc_text(root, "binding", NULL, "e2e p99 < 50ms");
    add_capacity(root);
    list = doc_list(root, "probes", NULL);
    for (size_t i = 0; i < n; i++) {
        struct doc_node *p = doc_row(list);
        bool is_missed = rates[i] > 280;

        doc_text(p, "dir", NULL, HOSTILE);
        doc_text(p, "role", NULL, i == 2 ? "confirmation" : "probe");
        doc_number(p, "value", NULL, rates[i]);
        doc_number(p, "usd_per_1000_good_requests", NULL, 1 / rates[i]);
        doc_number(p, "offered_rps", NULL, rates[i] * 1.01);
        doc_number(p, "throughput_rps", NULL, rates[i]);
        doc_number(p, "goodput_rps", NULL, is_missed ? 10 : rates[i]);
        doc_text(p, "verdict", NULL, is_missed ? "fail" : "pass");
        doc_text(p, "set_aside", NULL, i == 5 ? "lag p99" : NULL);
        add_latency(p, is_missed ? 400 : 10 + rates[i] / 10);
        p = doc_row(doc_list(p, "terms", NULL));
        doc_text(p, "term", NULL, "e2e p99 < 50ms");
        doc_number(p, "miss_share", NULL, is_missed ? 0.4 : rates[i] / 1e5);
        doc_range(p, "miss_share_ci90", NULL, DOC_NUMBER,
                  (struct interval){0.0001, 0.6});
        doc_range(p, "interval_ms", NULL, DOC_NUMBER,
                  (struct interval){8, is_missed ? NAN : 48});
    }
    return d;
}

/* A search for a number of clients that ended with this outcome; NAN: a load
 * that is not known. */
static struct doc *search_of_clients(const char *outcome, double capacity,
                                     double at_least)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);

    doc_text(root, "kind", NULL, "search");
    doc_text(root, "by", NULL, "concurrency");
    doc_text(root, "outcome", NULL, outcome);
    doc_text(root, "why", NULL, "the reason");
    doc_number(root, "capacity_clients", NULL, capacity);
    doc_range(root, "capacity_ci90", NULL, DOC_NUMBER,
              (struct interval){capacity - 2, capacity + 2});
    doc_number(root, "at_least_clients", NULL, at_least);
    return d;
}

static struct doc *sweep_of(const char *key)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *list;

    doc_text(root, "kind", NULL, "sweep");
    doc_text(root, "key", NULL, key);
    doc_line(doc_list(root, "slo", NULL), DOC_PLAIN, "e2e p99 < 30ms");
    doc_number(root, "within_slo", NULL, 200);
    doc_number(root, "knee", NULL, 300);
    doc_count(root, "recorded", NULL, 5);
    doc_count(root, "withdrawn", NULL, 1);
    list = doc_list(root, "values", NULL);
    for (int i = 1; i <= 4; i++) {
        struct doc_node *v = doc_row(list);

        doc_number(v, "value", NULL, 100.0 * i);
        doc_number(v, "completed_rps", NULL, 99.0 * i);
        doc_number(v, "goodput_rps", NULL, i < 3 ? 99.0 * i : 50);
        doc_number(v, "usd_per_1000_good_requests", NULL, 0.1 / i);
        doc_text(v, "verdict", NULL, i < 3 ? "pass" : "fail");
        add_latency(v, 12.0 * i);
    }
    return d;
}

static struct doc *sweep(void)
{
    return sweep_of("load.rate");
}

/* study.json names the key, and it may have been written by others. */
static struct doc *hostile_sweep(void)
{
    return sweep_of(HOSTILE "\" onload=\"alert(2)");
}

static struct doc *trials(void)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *list;
    struct doc_node *n;

    doc_text(root, "kind", NULL, "trials");
    doc_text(root, "verdict", NULL, "pass");
    n = doc_section(root, "trials", NULL);
    doc_count(n, "recorded", NULL, 5);
    doc_count(n, "asked", NULL, 5);
    doc_count(n, "counted", NULL, 4);
    list = doc_list(root, "each", NULL);
    for (int i = 1; i <= 5; i++) {
        n = doc_row(list);
        doc_count(n, "trial", NULL, i);
        doc_bool(n, "counted", NULL, i != 3);
        doc_text(n, "verdict", NULL, "pass");
        doc_number(n, "e2e_p99_ms", NULL, 20 + i);
    }
    n = doc_section(doc_section(root, "measures", NULL), "e2e", NULL);
    n = doc_section(n, "p99_ms", NULL);
    doc_number(n, "median", NULL, 23);
    doc_range(n, "median_ci", NULL, DOC_NUMBER, (struct interval){21, 25});
    return d;
}

static struct doc *variants_by(const char *varied)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *list = doc_list(root, "variants", NULL);

    doc_text(root, "kind", NULL, "variants");
    doc_text(root, "varied", NULL, varied);
    for (int v = 0; v < 3; v++) {
        struct doc_node *n = doc_row(list);
        struct doc_node *points;

        doc_text(n, "name", NULL, v == 0 ? HOSTILE : v == 1 ? "b" : "c");
        points = doc_list(n, "points", NULL);
        for (int i = 1; i <= 3; i++) {
            struct doc_node *p = doc_row(points);

            doc_number(p, "value", NULL, 10.0 * i);
            doc_number(p, "goodput_rps", NULL, 10.0 * i - v);
            doc_range(p, "goodput_ci95", NULL, DOC_NUMBER,
                      (struct interval){10.0 * i - v - 1, 10.0 * i - v + 1});
            doc_number(p, "p50_ms", NULL, 5.0 * i + v);
        }
    }
    return d;
}

static struct doc *variants(void)
{
    return variants_by("load.rate");
}

static struct doc *hostile_variants(void)
{
    return variants_by(HOSTILE);
}

/* Of searches: a capacity with its interval for each.  A sweep may bracket them
 * as well, but is about the same loads. */
static struct doc *variants_of(const char *study)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *list = doc_list(root, "variants", NULL);
    struct doc_node *ranking = doc_list(root, "capacity_ranking", NULL);
    struct doc_node *order = doc_row(doc_list(root, "rankings", NULL));

    doc_text(root, "kind", NULL, "variants");
    doc_text(root, "of", NULL, study);
    doc_number(order, "value", NULL, 50);
    doc_text(order, "by", NULL, "e2e p99");
    order = doc_list(order, "order", NULL);
    doc_text(doc_row(order), "variant", NULL, "b");
    for (int v = 0; v < 2; v++) {
        struct doc_node *n = doc_row(list);
        struct doc_node *c = doc_section(n, "capacity", NULL);

        doc_text(n, "name", NULL, v == 0 ? HOSTILE : "b");
        doc_number(c, "capacity_rps", NULL, 100 + 50 * v);
        doc_range(c, "range", NULL, DOC_NUMBER,
                  (struct interval){95 + 50 * v, 106 + 50 * v});
        n = doc_row(ranking);
        doc_count(n, "rank", NULL, v + 1);
        doc_text(n, "variant", NULL, v == 0 ? "b" : HOSTILE);
    }
    return d;
}

static struct doc *searched_variants(void)
{
    return variants_of("search");
}

static struct doc *swept_variants(void)
{
    return variants_of("sweep");
}

static struct doc *comparison(void)
{
    static const char *const names[] = {"e2e p99", "e2e p50", "completed"};
    static const char *const verdicts[] = {"better", "worse",
                                           "no difference shown"};
    static const double ratios[] = {0.7, 1.2, 1.001};
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *list;

    doc_text(root, "verdict", NULL, "better");
    doc_text(root, "over", NULL, "blocks");
    doc_text(root, "claim", NULL, HOSTILE);
    list = doc_list(root, "findings", NULL);
    for (int i = 0; i < 3; i++) {
        struct doc_node *n = doc_row(list);

        doc_text(n, "quantity", NULL, names[i]);
        doc_text(n, "unit", NULL, "ms");
        doc_bool(n, "asked", NULL, i < 2);
        doc_number(n, "confidence", NULL, 0.975);
        doc_number(n, "a", NULL, 10);
        doc_number(n, "b", NULL, 10 * ratios[i]);
        doc_number(n, "ratio", NULL, ratios[i]);
        doc_range(n, "ratio_interval", NULL, DOC_NUMBER,
                  (struct interval){ratios[i] * 0.9, ratios[i] * 1.1});
        doc_text(n, "verdict", NULL, verdicts[i]);
    }
    list = doc_list(root, "sides", NULL);
    doc_text(doc_row(list), "label", NULL, "old");
    doc_text(doc_row(list), "label", NULL, "new");
    list = doc_list(root, "quantiles", NULL);
    for (int i = 0; i < 3; i++) {
        struct doc_node *n = doc_row(list);

        doc_text(n, "measure", NULL, "e2e");
        doc_number(n, "p", NULL, 100 - pow(10, 1 - i) * 5);
        doc_number(n, "a_ms", NULL, 10 * (i + 1));
        doc_number(n, "b_ms", NULL, 7 * (i + 1));
        doc_number(n, "difference_ms", NULL, -3 * (i + 1));
        doc_range(n, "difference_interval_ms", NULL, DOC_NUMBER,
                  (struct interval){-5 * (i + 1), i == 0 ? 1 : -1});
    }
    return d;
}

static struct doc *capacities(void)
{
    struct doc *d = doc_new();
    struct doc_node *list;

    doc_text(doc_root(d), "quantity", NULL, "capacity");
    doc_text(doc_root(d), "answer", NULL, "better");
    list = doc_list(doc_root(d), "sides", NULL);
    for (int i = 0; i < 2; i++) {
        struct doc_node *n = doc_row(list);

        doc_text(n, "dir", NULL, i ? "b" : HOSTILE);
        doc_number(n, "capacity", NULL, 100 + 20 * i);
        doc_range(n, "capacity_ci90", NULL, DOC_NUMBER,
                  (struct interval){95 + 20 * i, 105 + 20 * i});
        doc_number(n, "ratio", NULL, i ? 1.2 : NAN);
    }
    return d;
}

static struct doc *history_that(const char *verdict)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *list = doc_list(root, "segments", NULL);

    doc_text(root, "verdict", NULL, verdict);
    doc_text(root, "quantity", NULL, "e2e p99");
    doc_text(root, "unit", NULL, "ms");
    doc_number(root, "loss_share", NULL, 0.2);
    for (int i = 0; i < 2; i++) {
        struct doc_node *n = doc_row(list);

        doc_number(n, "first", NULL, 3 * i);
        doc_number(n, "n", NULL, 3);
        doc_number(n, "median", NULL, 10 + 2 * i);
    }
    list = doc_list(root, "points", NULL);
    for (int i = 0; i < 6; i++) {
        struct doc_node *n = doc_row(list);

        doc_bool(n, "used", NULL, true);
        doc_text(n, "dir", NULL, HOSTILE);
        doc_number(n, "value", NULL, i < 3 ? 10 : 12);
    }
    return d;
}

static struct doc *history(void)
{
    return history_that("worse");
}

static struct doc *short_history(void)
{
    return history_that("cannot tell");
}

static struct doc *scaling_that_costs(const char *cost)
{
    static const double k[] = {1, 2, 4, 8};
    static const double speedup[] = {1, 1.9, 3.4, 4.8};
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *list;

    doc_text(root, "regime", NULL, "strong");
    doc_text(root, "answer", NULL, "scales");
    doc_number(root, "efficiency_threshold", NULL, 0.7);
    doc_number(doc_section(root, "verdict", NULL), "recommended_k", NULL, 4);
    list = doc_section(root, "bend", NULL);
    doc_count(list, "k", NULL, 8);
    doc_text(list, "guess", NULL, "imbalance");
    doc_text(list, "evidence", NULL, "the slowest of 8 takes twice as long");
    list = doc_row(doc_list(root, "red_flags", "RED FLAG"));
    doc_text(list, "name", "", "one worker");
    doc_sep(doc_text(list, "says", "", "it is slow"), ": ");
    doc_number(root, "quality_tolerance", NULL, 0.02);
    list = doc_list(root, "points", NULL);
    for (int i = 0; i < 4; i++) {
        struct doc_node *n = doc_row(list);

        doc_number(n, "k", NULL, k[i]);
        doc_number(n, "speedup", NULL, speedup[i]);
        doc_number(n, "efficiency", NULL, speedup[i] / k[i]);
        if (cost)
            doc_number(n, cost, NULL, k[i] / speedup[i]);
        doc_number(n, "law_speedup", NULL, speedup[i] * 0.98);
        doc_range(n, "speedup_ci95", NULL, DOC_NUMBER,
                  (struct interval){speedup[i] * 0.95, speedup[i] * 1.05});
        doc_bool(n, "below_threshold", NULL, i == 3);
        doc_number(n, "quality", NULL, i == 1 ? 0.7 : 0.8);
        doc_bool(n, "excluded", NULL, i == 1);
        n = doc_section(n, "quality_gate", NULL);
        doc_text(n, "verdict", NULL, i == 1 ? "drifted" : "held");
        doc_range(n, "drift_ci95", NULL, DOC_NUMBER,
                  (struct interval){-0.01, 0.01});
    }
    return d;
}

static struct doc *scaling(void)
{
    return scaling_that_costs(NULL);
}

static struct doc *scaling_of_runs(void)
{
    return scaling_that_costs("usd_per_run");
}

static struct doc *scaling_of_units(void)
{
    return scaling_that_costs("usd_per_unit");
}

static struct doc *against_at(double ratio)
{
    struct doc *d = doc_new();
    struct doc_node *rows = doc_section(doc_root(d), "ratios", NULL);

    doc_text(doc_root(d), "baseline", NULL, "v1");
    doc_number(doc_section(rows, "time_s", NULL), "ratio", NULL, ratio);
    doc_number(doc_section(rows, "quality", NULL), "ratio", NULL, 0.99);
    return d;
}

static struct doc *against(void)
{
    return against_at(1.3);
}

static struct doc *against_the_same(void)
{
    return against_at(1.001);
}

static struct doc *search(void)
{
    return search_of(6);
}

static struct doc *search_without_probes(void)
{
    return search_of(0);
}

static struct doc *nothing_known(void)
{
    return doc_new();
}

static char *page_of(const struct doc *d)
{
    struct buf out;
    char *text;

    buf_init(&out, PAGE_MAX);
    study_page_render(d, "dir", "tailgate report dir", &out);
    text = keepf("%s", buf_text(&out));
    buf_fini(&out);
    return text;
}

TEST(every_kind_has_a_page)
{
    static const struct {
        struct doc *(*make)(void);
        const char *says[3];
    } cases[] = {
        {search,
         {"The server takes 270 requests per second", "data-chart=\"latency\"",
          "data-chart=\"path\""}},
        {search,
         {"limits the capacity", "the fitted line", "no probe missed it"}},
        {search,
         {"data-chart=\"missed\"", "data-chart=\"cost\"",
          ">confirmation</span>"}},
        {search_without_probes, {"FOUND", "nothing to draw", ""}},
        {sweep,
         {"met up to 200", "data-chart=\"cost\"",
          "is at 300 requests per second. 1 of 5 runs cannot be trusted"}},
        {hostile_sweep,
         {"<th scope=\"col\">&lt;/script&gt;&lt;script&gt;alert(1)",
          "&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload=&quot;alert(2) →",
          ""}},
        {trials, {"in repeated trials", "data-chart=\"e2e99\"", "interval of"}},
        {variants, {"3 variants", "data-chart=\"goodput\"", ""}},
        {hostile_variants,
         {"<th scope=\"col\">&lt;/script&gt;&lt;script&gt;alert(1)", "", ""}},
        {searched_variants,
         {"b takes the most load", "b: 150/s (90% interval 145 to 156).",
          "data-chart=\"capacities\""}},
        {swept_variants, {"b is ahead", "At 50 by e2e p99: b.", ""}},
        {against_the_same, {"As fast as the baseline.", "", ""}},
        {comparison,
         {"new is better than old: whole answer, p99 is 30% lower",
          "data-chart=\"forest\"", "The sentence to quote"}},
        {comparison,
         {"new minus old", "data-chart=\"both-e2e\"",
          "data-chart=\"diff-e2e\""}},
        {comparison,
         {"The 97.5% interval of the ratio of whole answer, p99 is 0.63 to "
          "0.77. Whole answer, p50: worse.",
          "Each side is one run: the intervals are over blocks",
          "aria-label=\"Numbers: new divided by old\""}},
        {capacities, {"1.2 times the load", "data-chart=\"capacities\"", ""}},
        {short_history, {"do not tell whether whole answer, p99 has", "", ""}},
        {history,
         {"Whole answer, p99 has become 20% worse", "data-chart=\"history\"",
          "data-s=\"median\""}},
        {scaling,
         {"pay off up to 4", "data-chart=\"speedup\"",
          "data-chart=\"efficiency\""}},
        {scaling,
         {"bends from 8 on", "excluded: quality drifted", "gate 78.0%"}},
        {scaling,
         {"<b>Red flag:</b> one worker: it is slow", "What bends it",
          "<span>imbalance</span><span class=\"d\">the slowest"}},
        {scaling,
         {"<div class=\"n\">4<span> workers</span>", "<div class=\"n\">3.40×",
          "<div class=\"n\">8<span> workers"}},
        {scaling_of_units, {"data-chart=\"usd_per_unit\"", "", ""}},
        {scaling_of_runs, {"data-chart=\"usd_per_run\"", "", ""}},
        {against, {"1.3 times as fast", "data-chart=\"forest\"", ""}},
        {nothing_known, {"A report of tailgate", "", ""}},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct doc *d = cases[i].make();
        char *page = page_of(d);

        for (int k = 0; k < 3; k++)
            assert_says(page, "%s", cases[i].says[k]);
        assert_says(page, "</html>");
        assert_null(strstr(page, "<script>alert"));
        assert_null(strstr(page, "onload=\""));
        assert_null(strstr(page, " style="));
        assert_null(strstr(page, "\"nan"));
        assert_string_equal(page, page_of(d));
        doc_free(d);
    }
}

/* The first of them stand below the headline, wherever they are, unless nobody
 * is to see them. */
TEST(warnings_are_in_the_head)
{
    struct doc *d = trials();
    struct doc_node *hidden = doc_section(doc_root(d), NULL, "");
    struct doc_node *n = doc_section(doc_root(d), NULL, "");
    char *head;

    doc_line(hidden, DOC_WARNING, "for programs only");
    doc_show_if(hidden, false);
    for (int i = 0; i < 6; i++)
        doc_line(n, DOC_WARNING, "warning %d " HOSTILE, i);
    head = page_of(d);
    *strstr(head, "id=\"charts\"") = '\0';
    assert_says(head,
                "<p class=\"warn\"><b>Warning:</b> warning 0 &lt;/script&gt;");
    assert_says(head, "warning 3 ");
    assert_null(strstr(head, "warning 4 "));
    assert_null(strstr(head, "for programs only"));
    assert_says(head, "2 more warnings are among the numbers below.");
    doc_free(d);
}

/* Remarks about the answers are rows of a list with this label, in run_doc.c.
 */
TEST(remarks_are_in_the_head)
{
    struct doc *d = trials();
    struct doc_node *n = doc_row(doc_list(doc_root(d), "notes", "WARNING"));
    char *head;

    doc_text(n, "name", "", "short");
    doc_sep(doc_count(n, "count", "", 5), ": ");
    doc_sep(doc_count(n, "of", "", 20), " of ");
    doc_sep(doc_text(n, "text", "", HOSTILE), ": ");
    head = page_of(d);
    *strstr(head, "id=\"charts\"") = '\0';
    assert_says(head, "<p class=\"warn\"><b>Warning:</b> short: 5 of 20: "
                      "&lt;/script&gt;");
    doc_free(d);
}

/* The headline is about what was asked for, and says what the verdict says. */
TEST(the_headline_of_a_comparison)
{
    static const struct {
        const char *answer;
        const char *verdicts[3]; /* of rows; the first was not asked for */
        double ratios[3];
        const char *headline;
        const char *sub;
    } cases[] = {
        {"worse",
         {"better", "no difference shown", "worse"},
         {0.5, 1, 2.5},
         "new is worse than old: goodput is 2.5 times as high.",
         "interval of the ratio of goodput is"},
        {"worse within the threshold",
         {"better", "worse", "worse"},
         {0.5, 1.5, 2.5},
         "new is worse than old: whole answer, p99 is 50% higher.",
         "interval of the ratio of whole answer, p99 is"},
        {"better",
         {"worse", "better", "no difference shown"},
         {200, 0.004, 1},
         "new is better than old: whole answer, p99 is 99.6% lower.",
         "Goodput: no difference shown."},
        {"no difference shown",
         {"worse", "no difference shown", "no difference shown"},
         {200, 1.1, 1},
         "No difference is shown between new and old.",
         "interval of the ratio of whole answer, p99 is"},
    };
    static const char *const names[] = {"e2e p50", "e2e p99", "goodput"};

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct doc *d = doc_new();
        struct doc_node *root = doc_root(d);
        struct doc_node *list = doc_list(root, "sides", NULL);
        char *page;

        doc_text(root, "verdict", NULL, cases[i].answer);
        doc_text(doc_row(list), "label", NULL, "old");
        doc_text(doc_row(list), "label", NULL, "new");
        list = doc_list(root, "findings", NULL);
        for (int k = 0; k < 3; k++) {
            struct doc_node *n = doc_row(list);

            doc_text(n, "quantity", NULL, names[k]);
            doc_bool(n, "asked", NULL, k > 0);
            doc_text(n, "verdict", NULL, cases[i].verdicts[k]);
            doc_number(n, "ratio", NULL, cases[i].ratios[k]);
            doc_range(n, "ratio_interval", NULL, DOC_NUMBER,
                      (struct interval){cases[i].ratios[k] * 0.9,
                                        cases[i].ratios[k] * 1.1});
            doc_number(n, "confidence", NULL, 0.95);
        }
        page = page_of(d);
        assert_says(page, "%s", cases[i].headline);
        assert_says(page, "%s", cases[i].sub);
        assert_null(strstr(page, "e+0"));
        doc_free(d);
    }
}

/* As many series and points as there are: none takes the place of another. */
TEST(every_variant_and_every_trial_is_drawn)
{
    struct doc *d = doc_new();
    struct doc_node *list = doc_list(doc_root(d), "variants", NULL);
    char *page;

    doc_text(doc_root(d), "kind", NULL, "variants");
    for (int v = 0; v < 16; v++) {
        struct doc_node *n = doc_row(list);

        doc_textf(n, "name", NULL, "variant-%d", v);
        n = doc_list(n, "points", NULL);
        for (int i = 0; i < 60; i++) {
            struct doc_node *p = doc_row(n);

            doc_number(p, "value", NULL, i);
            doc_number(p, "goodput_rps", NULL, 1000 * v + i);
        }
    }
    page = page_of(d);
    for (int v = 0; v < 16; v++) {
        assert_says(page, "data-s=\"v%d\"", v);
        assert_says(page, "<th scope=\"row\">variant-%d<td>", v);
        assert_says(page, "data-tip=\"variant-%d at 59: ", v);
    }
    assert_null(strstr(page, "f-late rim"));
    assert_null(strstr(page, "f-fail rim"));
    doc_free(d);
}

TEST(the_outcome_of_a_search_by_clients)
{
    static const struct {
        const char *outcome;
        double capacity;
        double at_least;
        const char *badge;
        const char *headline;
        const char *sub;
    } cases[] = {
        {"found", 24, 22, "FOUND",
         "The server takes 24 concurrent clients within",
         "The 90% interval is 22 to 26 clients."},
        {"budget", 24, 22, "ESTIMATE",
         "The server takes about 24 concurrent clients within",
         "The time was over before"},
        {"undecided", 24, 22, "UNDECIDED",
         "they point to about 24 concurrent clients", "The reason"},
        {"undecided", NAN, NAN, "UNDECIDED", "do not settle the capacity.",
         "The reason"},
        {"at least", 90, 64, "AT LEAST",
         "at least 64 concurrent clients within its objective; no higher",
         "The reason"},
        {"client limit", NAN, 64, "CLIENT LIMIT",
         "at least 64 concurrent clients within its objective; this client "
         "cannot send more",
         "The reason"},
        {"never", NAN, NAN, "NEVER MET", "at no load", "The reason"},
        {"not probed", 24, NAN, "UNDECIDED", "do not reach the capacity",
         "The reason"},
        {"budget", NAN, 8, "UNDECIDED", "ended before it found", "The reason"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct doc *d = search_of_clients(cases[i].outcome, cases[i].capacity,
                                          cases[i].at_least);
        char *page = page_of(d);

        assert_says(page, "<title>%s · ", cases[i].badge);
        assert_says(page, "%s", cases[i].headline);
        assert_says(page, "%s", cases[i].sub);
        doc_free(d);
    }
}

/* Without a probe that counts no term is said to allow anything. */
TEST(discarded_probes_show_nothing)
{
    struct doc *d = search_of(0);
    struct doc_node *p = doc_row(doc_list(doc_root(d), "probes", NULL));
    char *page;

    doc_number(p, "offered_rps", NULL, 100);
    doc_text(p, "set_aside", NULL, "lag p99");
    page = page_of(d);
    assert_null(strstr(page, "class=\"slo\""));
    assert_null(strstr(page, "no probe missed it"));
    doc_free(d);
}

TEST(pictures_of_studies)
{
    static const struct {
        struct doc *(*make)(void);
        const char *name;
        const char *golden;
    } cases[] = {
        {search, "curve", "html-search.svg"},
        {sweep, "curve", "html-sweep.svg"},
        {trials, "trials", "html-trials.svg"},
        {variants, "curve", "html-variants.svg"},
        {comparison, "compare", "html-compare.svg"},
        {scaling, "scaling", "html-scaling.svg"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct doc *d = cases[i].make();
        struct err err = {0};
        struct buf out;

        buf_init(&out, PAGE_MAX);
        assert_int_equal(study_picture_render(d, cases[i].name, &out, &err), 0);
        assert_null(strstr(buf_text(&out), "class="));
        assert_golden(cases[i].golden, buf_text(&out));
        buf_reset(&out);
        assert_int_equal(study_picture_render(d, "cat", &out, &err), -1);
        assert_int_equal(err.code, ERR_USAGE);
        buf_fini(&out);
        doc_free(d);
    }
}
