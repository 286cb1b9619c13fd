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
    list = doc_list(root, "probes", NULL);
    for (size_t i = 0; i < n; i++) {
        struct doc_node *p = doc_row(list);
        bool is_missed = rates[i] > 280;

        doc_text(p, "dir", NULL, HOSTILE);
        doc_number(p, "value", NULL, rates[i]);
        doc_number(p, "offered_rps", NULL, rates[i] * 1.01);
        doc_number(p, "throughput_rps", NULL, rates[i]);
        doc_number(p, "goodput_rps", NULL, is_missed ? 10 : rates[i]);
        doc_text(p, "verdict", NULL, is_missed ? "fail" : "pass");
        doc_text(p, "set_aside", NULL, i == 5 ? "lag p99" : NULL);
        add_latency(p, is_missed ? 400 : 10 + rates[i] / 10);
        p = doc_row(doc_list(p, "terms", NULL));
        doc_number(p, "miss_share", NULL, is_missed ? 0.4 : rates[i] / 1e5);
    }
    return d;
}

static struct doc *sweep(void)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *list;

    doc_text(root, "kind", NULL, "sweep");
    doc_text(root, "key", NULL, "load.rate");
    doc_line(doc_list(root, "slo", NULL), DOC_PLAIN, "e2e p99 < 30ms");
    doc_number(root, "within_slo", NULL, 200);
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

static struct doc *variants(void)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *list = doc_list(root, "variants", NULL);

    doc_text(root, "kind", NULL, "variants");
    doc_text(root, "varied", NULL, "load.rate");
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

static struct doc *comparison(void)
{
    static const char *const names[] = {"e2e p99", "e2e p50", "goodput"};
    static const char *const verdicts[] = {"better", "worse",
                                           "no difference shown"};
    static const double ratios[] = {0.7, 1.2, 1.001};
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *list;

    doc_text(root, "verdict", NULL, "better");
    doc_text(root, "claim", NULL, HOSTILE);
    list = doc_list(root, "findings", NULL);
    for (int i = 0; i < 3; i++) {
        struct doc_node *n = doc_row(list);

        doc_text(n, "quantity", NULL, names[i]);
        doc_text(n, "unit", NULL, "ms");
        doc_number(n, "a", NULL, 10);
        doc_number(n, "b", NULL, 10 * ratios[i]);
        doc_number(n, "ratio", NULL, ratios[i]);
        doc_range(n, "ratio_interval", NULL, DOC_NUMBER,
                  (struct interval){ratios[i] * 0.9, ratios[i] * 1.1});
        doc_text(n, "verdict", NULL, verdicts[i]);
    }
    return d;
}

static struct doc *scaling(void)
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
    list = doc_list(root, "points", NULL);
    for (int i = 0; i < 4; i++) {
        struct doc_node *n = doc_row(list);

        doc_number(n, "k", NULL, k[i]);
        doc_number(n, "speedup", NULL, speedup[i]);
        doc_number(n, "efficiency", NULL, speedup[i] / k[i]);
        doc_number(n, "law_speedup", NULL, speedup[i] * 0.98);
        doc_range(n, "speedup_ci95", NULL, DOC_NUMBER,
                  (struct interval){speedup[i] * 0.95, speedup[i] * 1.05});
        doc_bool(n, "below_threshold", NULL, i == 3);
    }
    return d;
}

static struct doc *against(void)
{
    struct doc *d = doc_new();
    struct doc_node *rows = doc_section(doc_root(d), "ratios", NULL);

    doc_text(doc_root(d), "baseline", NULL, "v1");
    doc_number(doc_section(rows, "time", NULL), "ratio", NULL, 1.3);
    doc_number(doc_section(rows, "quality", NULL), "ratio", NULL, 0.99);
    return d;
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
        {search_without_probes, {"FOUND", "nothing to draw", ""}},
        {sweep, {"met up to 200", "data-chart=\"cost\"", ""}},
        {trials, {"repeated trials", "data-chart=\"e2e99\"", "interval of"}},
        {variants, {"3 variants", "data-chart=\"goodput\"", ""}},
        {comparison, {"30% lower", "data-chart=\"forest\"", ""}},
        {scaling,
         {"pay off up to 4", "data-chart=\"speedup\"",
          "data-chart=\"efficiency\""}},
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
        assert_null(strstr(page, " style="));
        assert_null(strstr(page, "\"nan"));
        assert_string_equal(page, page_of(d));
        doc_free(d);
    }
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
