/* The documents of comparisons: of recordings, of a history, and of searches.
 * The answer first, then what it rests on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare/capacities.h"
#include "analyzer/compare/compare.h"
#include "analyzer/compare/compare_history.h"
#include "analyzer/compare/quantity.h"
#include "analyzer/report/doc.h"
#include "common/base/buf.h"
#include "common/base/clk.h"

#define COMPARE_SCHEMA 1
#define HISTORY_SCHEMA 1

/* ---- quantities ---- */

static enum doc_kind kind_of(const struct quantity *q)
{
    return q->kind == QUANTITY_QUANTILE ? DOC_MS
           : quantity_is_share(q)       ? DOC_SHARE
           : q->kind == QUANTITY_COST   ? DOC_USD
                                        : DOC_RATE;
}

/* Times are in ns, and become ms. */
static double scale_of(const struct quantity *q)
{
    return q->kind == QUANTITY_QUANTILE ? 1e-6 : 1;
}

static const char *unit_of(const struct quantity *q)
{
    return q->kind == QUANTITY_QUANTILE ? "ms" : quantity_unit(q);
}

/* null if it is missing or among the failures. */
static struct doc_node *add_quantity(struct doc_node *in, const char *key,
                                     const char *label,
                                     const struct quantity *q, double x,
                                     bool is_present)
{
    struct doc_node *n = doc_value(in, kind_of(q), key, label, x * scale_of(q));

    if (n->is_missing)
        doc_brief(n, "failed");
    if (!is_present)
        doc_brief(doc_missing_if(n, true, NULL), NULL);
    return n;
}

/* ---- what is compared ---- */

/* "baseline": the side's name for people. */
static const char *name_of(const struct comparison *c, size_t side,
                           char out[static SHOW_TEXT])
{
    const char *dirs[COMPARE_MAX_SIDES];

    for (size_t i = 0; i < c->n; i++)
        dirs[i] = c->sides[i].dir;
    return show_side_name(dirs, c->n, side, out);
}

static void add_sides(struct doc_node *root, const struct comparison *c)
{
    struct doc_node *list = doc_list(root, "sides", "compare");

    for (size_t i = 0; i < c->n; i++) {
        const struct side *s = &c->sides[i];
        struct doc_node *n = doc_row(list);
        struct doc_node *runs;
        char name[SHOW_TEXT];

        doc_text(n, "name", NULL, show_side(i, name));
        doc_show_if(doc_text(n, "label", "", name_of(c, i, name)),
                    strcmp(name, s->dir) != 0);
        doc_sep(doc_text(n, "dir", "", s->dir), "  ");
        doc_bool(n, "is_trial_set", NULL, s->is_set);
        doc_count(n, "trials", s->is_set ? "trials" : NULL,
                  s->is_set ? (int64_t)s->n : 1);
        doc_show_if(doc_show(doc_bool(n, "one_launch", "",
                                      s->is_one_launch || !s->is_set),
                             "of one server start"),
                    s->is_set && s->is_one_launch);
        doc_count(n, "misses_slo", NULL, (int64_t)side_missed(s));
        runs = doc_list(n, "runs", NULL);
        for (size_t k = 0; k < s->n_all; k++) {
            const struct compared_run *run = &s->runs[k];
            struct doc_node *row = doc_row(runs);

            doc_text(row, "dir", NULL, run->dir);
            doc_bool(row, "compared", NULL, !run->why[0]);
            doc_text(row, "why", NULL, run->why[0] ? run->why : NULL);
            doc_bool(row, "misses_slo", NULL, run->breaks_slo);
            doc_text(row, "load", NULL, run->load);
        }
    }
    doc_line(doc_section(root, NULL, "load"), DOC_PLAIN, "%s",
             c->sides[0].runs[0].load);
}

static void add_variable(struct doc_node *root, const struct comparison *c)
{
    struct doc_node *n;
    struct doc_node *values;

    if (!c->vary) {
        doc_null(root, "vary", NULL);
        doc_line(doc_section(root, NULL, "varied"), DOC_PLAIN,
                 "nothing is declared (--vary)");
        return;
    }
    n = doc_section(root, "vary", "varied");
    doc_text(n, "key", "", c->vary);
    doc_show_if(doc_show(doc_bool(n, "differs", "", c->vary_differs),
                         "(it does not differ)"),
                !c->vary_differs);
    values = doc_list(n, "values", NULL);
    for (size_t i = 0; i < c->n; i++) {
        const char *value =
            strmap_get(&c->sides[i].runs[0].conditions, c->vary);
        char name[SHOW_TEXT];

        doc_text(values, NULL, NULL, value);
        doc_text(n, NULL, name_of(c, i, name), value ? value : "(none)");
    }
}

static void add_basis(struct doc_node *root, const struct comparison *c)
{
    static const struct {
        const char *name;
        const char *text;
    } bases[] = {
        [BASIS_PAIRS] = {"pairs",
                         "pairs of trials that took turns; values are medians, "
                         "difference and ratio are means over the pairs, with "
                         "Student's intervals"},
        [BASIS_TRIALS] = {"trials",
                          "trials; values are medians, difference and ratio "
                          "are of means, with Welch's intervals"},
        [BASIS_SLICES] = {"blocks",
                          "20 blocks in time of one server start per side, "
                          "which is weaker: differences between server starts "
                          "do not show (--trials 5)"},
        [BASIS_NONE] = {"none", "trials on some sides and single runs on "
                                "others: no intervals"},
    };

    doc_show(doc_text(doc_section(root, NULL, "over"), "over", "",
                      bases[c->basis].name),
             "%s", bases[c->basis].text);
}

/* "": not given. */
static const char *condition_of(const struct side *s, const char *key)
{
    const char *value = strmap_get(&s->runs[0].conditions, key);

    return value ? value : "";
}

static void add_warnings(struct doc_node *root, const struct comparison *c)
{
    struct doc_node *n = doc_section(root, NULL, "");
    char name[SHOW_TEXT];

    for (size_t i = 0; i < c->n; i++) {
        const struct side *s = &c->sides[i];

        if (s->is_invalid && s->is_set)
            doc_line(n, DOC_WARNING, "%s: too few of its trials can be trusted",
                     name_of(c, i, name));
        for (size_t k = 0; k < s->n_all; k++) {
            const struct compared_run *run = &s->runs[k];

            if (run->why[0])
                doc_line(n, DOC_WARNING, "%s: %s: %s", run->dir,
                         s->is_set && run->is_discarded ? "discarded"
                                                        : "not compared",
                         run->why);
            else if (run->stopped_s > 0)
                doc_line(n, DOC_WARNING,
                         "%s: ended after %.3g s, before the planned end of "
                         "its window, because its SLO was decided",
                         run->dir, run->stopped_s);
        }
        if (side_missed(s) > 0)
            doc_line(n, DOC_WARNING,
                     "%s misses its SLO in %zu of %zu runs: its throughput is "
                     "not deliverable",
                     name_of(c, i, name), side_missed(s), s->n);
        if (strcmp(condition_of(s, "target.insecure"), "true") == 0)
            doc_line(n, DOC_WARNING,
                     "%s: INSECURE: the server's certificate was not verified",
                     name_of(c, i, name));
    }
}

/* An empty setting, as people see it. */
static const char *named(const char *value)
{
    return value[0] ? value : "(none)";
}

/* People see those of each kind in a table of their own. */
static void add_difference(struct doc_node *table, const struct comparison *c,
                           const struct difference *d)
{
    static const char *const kinds[] = {
        [DIFFERENCE_NOTED] = "noted",
        [DIFFERENCE_WARNS] = "warning",
        [DIFFERENCE_MUST] = "must match",
    };
    struct doc_node *row = doc_row(table);
    char name[SHOW_TEXT];

    doc_text(row, "key", "condition", d->key);
    doc_show(doc_text(row, "a", name_of(c, 0, name), d->a), "%s", named(d->a));
    doc_show(doc_text(row, "b", "the other", d->b), "%s", named(d->b));
    doc_text(row, "side", c->n > 2 ? "side" : NULL, show_side(d->side, name));
    doc_show(row->last, "%s", name_of(c, d->side, name));
    doc_text(row, "kind", NULL, kinds[d->kind]);
    doc_bool(row, "declared", NULL, d->is_declared);
    doc_text(row, "why", "why it matters", d->why);
}

static void show_differences(struct doc_node *root, const struct comparison *c,
                             enum difference_kind kind, const char *title)
{
    struct doc_node *table = doc_text_only(doc_table(root, NULL, title));

    for (size_t i = 0; i < c->differences.len; i++) {
        const struct difference *d = &c->differences.list[i];

        if (!d->is_declared && d->kind == kind)
            add_difference(table, c, d);
    }
}

/* ---- the answer ---- */

static void add_answer(struct doc_node *n, const struct comparison *c, size_t i)
{
    const struct finding *f = &c->findings[i];
    struct doc_node *one = doc_section(n, NULL, c->qs.list[i].name);

    doc_text(one, NULL, "", finding_verdict_name(f->verdict));
    if (f->ratio.has_range) {
        char interval[SHOW_TEXT];

        snprintf(interval, sizeof(interval), "%.4g%% interval",
                 f->confidence * 100);
        doc_number(one, NULL, "ratio", f->ratio.value);
        doc_range_of(one, NULL, interval, DOC_NUMBER, &f->ratio);
    }
    if (f->verdict == FINDING_NO_DIFFERENCE && f->visible >= 0)
        doc_sep(doc_textf(one, NULL, "",
                          "a difference below %.3g%% could not have been seen",
                          f->visible * 100),
                "; ");
    if (f->why)
        doc_sep(doc_textf(one, NULL, "", "(%s)", f->why), " ");
    if (c->regression >= 0)
        doc_sep(doc_textf(one, NULL, "", "worse by more than %.4g%%: %s",
                          c->regression * 100,
                          c->regressions[i] == REGRESSION_YES  ? "yes"
                          : c->regressions[i] == REGRESSION_NO ? "no"
                                                               : "cannot tell"),
                "; ");
}

static void add_verdict(struct doc_node *root, const struct comparison *c)
{
    static const char *const texts[] = {
        [COMPARE_NO_DIFFERENCE] = "NO DIFFERENCE SHOWN",
        [COMPARE_BETTER] = "BETTER",
        [COMPARE_WORSE] = "WORSE",
        [COMPARE_TOLERATED] = "WORSE, WITHIN THE THRESHOLD",
        [COMPARE_CANNOT_TELL] = "CANNOT TELL",
        [COMPARE_RANKED] = "RANKED",
    };
    struct doc_node *n = doc_section(root, NULL, "verdict");
    struct doc_node *verdict =
        doc_text(n, "verdict", "", compare_answer_name(c->answer));
    size_t must = c->differences.must;
    struct buf claim;
    char first[SHOW_TEXT];
    char second[SHOW_TEXT];

    if (c->is_compared && c->n == 2)
        doc_show(verdict, "%s: %s against %s", texts[c->answer],
                 name_of(c, 1, second), name_of(c, 0, first));
    else if (c->is_compared)
        doc_show(verdict, "%s", texts[c->answer]);
    else if (must > 0)
        doc_show(verdict, "REFUSED: %zu condition%s that must be the same",
                 must, must == 1 ? " differs" : "s differ");
    else
        doc_show(verdict, "CANNOT TELL: a recording cannot be compared");
    for (size_t i = 0; c->is_compared && c->n == 2 && i < c->qs.asked; i++)
        add_answer(n, c, i);
    doc_unless(n, DOC_NUMBER, "regression_threshold", NULL, c->regression,
               c->regression < 0, NULL);
    doc_count(n, "mismatches", NULL, (int64_t)must);

    buf_init(&claim, CLAIM_MAX);
    claim_make(c, &claim);
    doc_text(doc_section(root, NULL, "claim"), "claim", "",
             claim.len > 0 ? buf_text(&claim) : NULL);
    buf_fini(&claim);
}

/* ---- tables ---- */

static void add_regression(struct doc_node *row, const struct comparison *c,
                           size_t i)
{
    if (c->regression < 0 || i >= c->qs.asked)
        doc_null(row, "regression", NULL);
    else if (c->regressions[i] == REGRESSION_YES ||
             c->regressions[i] == REGRESSION_NO)
        doc_bool(row, "regression", NULL, c->regressions[i] == REGRESSION_YES);
    else
        doc_text(row, "regression", NULL, "cannot tell");
}

static void add_finding(struct doc_node *row, const struct comparison *c,
                        size_t i)
{
    const struct quantity *q = &c->qs.list[i];
    const struct finding *f = &c->findings[i];
    const char *missing = f->is_measured ? "too few" : "-";
    const bool has_range = f->difference.has_range;
    struct doc_node *n;
    char name[SHOW_TEXT];

    doc_show(doc_text(row, "quantity", "quantity", q->name), "%s",
             quantity_label(q));
    doc_text(row, "unit", NULL, unit_of(q));
    doc_bool(row, "asked", NULL, i < c->qs.asked);
    doc_bool(row, "more_is_better", NULL, quantity_more_is_better(q));
    n = add_quantity(row, "a", name_of(c, 0, name), q, f->a, f->has_a);
    if (!f->has_a)
        doc_brief(n, missing);
    n = add_quantity(row, "b", name_of(c, 1, name), q, f->b, f->has_b);
    if (!f->has_b)
        doc_brief(n, missing);
    doc_signed(add_quantity(row, "difference", "difference", q,
                            f->difference.value, has_range));
    n = doc_range(row, "difference_interval", "interval", kind_of(q),
                  (struct interval){f->difference.range.low * scale_of(q),
                                    f->difference.range.high * scale_of(q)});
    doc_missing_if(doc_signed(n), !has_range, NULL);
    doc_unless(row, DOC_NUMBER, "ratio", "ratio", f->ratio.value,
               !f->ratio.has_range, NULL);
    doc_range_of(row, "ratio_interval", "interval", DOC_NUMBER, &f->ratio);
    doc_number(row, "confidence", NULL, f->confidence);
    doc_show_if(doc_number(row, "widened",
                           "few samples, interval widened by a factor of",
                           f->widened),
                f->widened > 1);
    doc_unless(row, DOC_SHARE, "visible_share", "smallest visible difference",
               f->visible, f->visible < 0, NULL);
    doc_text(row, "verdict", "verdict", finding_verdict_name(f->verdict));
    doc_text(row, "note", "", f->why);
    add_regression(row, c, i);
}

static void add_findings(struct doc_node *root, const struct comparison *c)
{
    struct doc_node *table = doc_table(root, "findings", "");

    if (!c->is_compared || c->n != 2)
        return;
    doc_text_only(doc_line(table, DOC_PLAIN,
                           "requested quantities: %.4g%% each, so that any of "
                           "them is wrong in at most 5%% of comparisons",
                           c->findings[0].confidence * 100));
    for (size_t i = 0; i < c->qs.shown; i++) {
        if (i == c->qs.asked)
            doc_text_only(doc_line(table, DOC_PLAIN,
                                   "other quantities: 95%% each, so that about "
                                   "one in twenty is wrong"));
        add_finding(
            doc_show_if(doc_row(table),
                        i < c->qs.asked ||
                            (c->findings[i].is_measured &&
                             c->qs.list[i].kind != QUANTITY_THROUGHPUT)),
            c, i);
    }
}

static int by_measure(const void *a, const void *b)
{
    const struct quantity *x = *(const struct quantity *const *)a;
    const struct quantity *y = *(const struct quantity *const *)b;

    return x->measure != y->measure
               ? (x->measure > y->measure) - (x->measure < y->measure)
               : (x->q > y->q) - (x->q < y->q);
}

/* All percentiles of the measures, in order, for a curve. */
static void add_quantiles(struct doc_node *root, const struct comparison *c)
{
    const struct quantity *sorted[QUANTITIES_MAX];
    struct doc_node *list;
    size_t n = 0;

    if (!c->is_compared || c->n != 2)
        return;
    list = doc_list(root, "quantiles", NULL);
    for (size_t i = 0; i < c->qs.len; i++) {
        if (c->qs.list[i].kind == QUANTITY_QUANTILE)
            sorted[n++] = &c->qs.list[i];
    }
    qsort(sorted, n, sizeof(const struct quantity *), by_measure);
    for (size_t i = 0; i < n; i++) {
        const struct finding *f = &c->findings[sorted[i] - c->qs.list];
        struct doc_node *row;

        if (!f->has_a || !f->has_b)
            continue;
        row = doc_row(list);
        doc_text(row, "measure", NULL, measure_name(sorted[i]->measure));
        doc_number(row, "p", NULL, 100 * sorted[i]->q);
        add_quantity(row, "a_ms", NULL, sorted[i], f->a, true);
        add_quantity(row, "b_ms", NULL, sorted[i], f->b, true);
        add_quantity(row, "difference_ms", NULL, sorted[i], f->difference.value,
                     f->difference.has_range);
        doc_missing_if(
            doc_range(row, "difference_interval_ms", NULL, DOC_MS,
                      (struct interval){f->difference.range.low * 1e-6,
                                        f->difference.range.high * 1e-6}),
            !f->difference.has_range, NULL);
    }
}

static void add_rankings(struct doc_node *root, const struct comparison *c)
{
    struct doc_node *list = doc_list(root, "rankings", "");

    for (size_t r = 0; c->rankings && r < c->qs.asked; r++) {
        const struct ranking *ranking = &c->rankings[r];
        const struct quantity *q = &c->qs.list[ranking->quantity];
        struct doc_node *n = doc_row(list);
        struct doc_node *table;
        char title[128];

        doc_text(n, "quantity", NULL, q->name);
        doc_text(n, "unit", NULL, unit_of(q));
        snprintf(title, sizeof(title),
                 "%s, %s first; equal ranks: not shown to be worse than the "
                 "first of that rank",
                 quantity_label(q),
                 quantity_more_is_better(q) ? "highest" : "lowest");
        table = doc_table(n, "places", title);
        for (size_t i = 0; i < c->n; i++) {
            const struct placed *p = &ranking->list[i];
            struct doc_node *row = doc_row(table);
            char letter[SHOW_TEXT];
            char name[SHOW_TEXT];

            doc_missing_if(doc_count(row, "rank", "rank", (int64_t)p->rank),
                           p->rank == 0, NULL);
            doc_show(doc_text(row, "side", "side", show_side(p->side, letter)),
                     "%s", name_of(c, p->side, name));
            doc_brief(
                add_quantity(row, "value", "value", q, p->value, p->has_value),
                p->has_value ? "failed" : "too few");
            doc_text(row, NULL, "recording", c->sides[p->side].dir);
        }
        doc_show_if(doc_count(n, "pairs_unknown",
                              "pairs with too few samples to compare",
                              (int64_t)ranking->unknown),
                    ranking->unknown > 0);
    }
}

static void add_fairness(struct doc_node *root, const struct fairness *f)
{
    struct doc_node *n = doc_section(root, "fairness", "fairness");
    struct doc_node *passed;
    struct doc_node *table;

    doc_count(n, "failed", "failed", (int64_t)f->failed);
    doc_count(n, "unknown", "unknown", (int64_t)f->unknown);
    doc_count(n, "passed", "passed",
              (int64_t)(FAIRNESS_CHECKS - f->failed - f->unknown));
    passed = doc_section(n, NULL, "passed");
    table = doc_table(n, "checks", "");
    for (size_t i = 0; i < FAIRNESS_CHECKS; i++) {
        const struct fairness_check *k = &f->checks[i];
        bool is_passed = k->answer == FAIRNESS_PASSED;
        struct doc_node *row = doc_show_if(doc_row(table), !is_passed);

        if (is_passed)
            doc_text(passed, NULL, "", k->name);
        doc_text(row, "answer", "", fairness_answer_name(k->answer));
        doc_text(row, "name", "check", k->name);
        doc_text(row, "says", "finding", k->says);
        doc_text(row, "mend", "how to fix it", k->mend);
    }
}

struct doc *compare_doc(const struct comparison *c)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *all;

    doc_count(root, "schema", NULL, COMPARE_SCHEMA);
    add_verdict(root, c);
    add_sides(root, c);
    add_variable(root, c);
    add_basis(root, c);
    add_warnings(root, c);
    all = doc_table(root, "differences", NULL);
    for (size_t i = 0; i < c->differences.len; i++)
        add_difference(all, c, &c->differences.list[i]);
    show_differences(root, c, DIFFERENCE_MUST, "must match, and does not");
    show_differences(root, c, DIFFERENCE_WARNS,
                     "WARNING: client or host differs");
    add_findings(root, c);
    add_quantiles(root, c);
    add_rankings(root, c);
    add_fairness(root, &c->fairness);
    show_differences(root, c, DIFFERENCE_NOTED, "noted");
    doc_conclude(d, compare_conclusion(c->answer));
    doc_set_brief(d, compare_brief);
    return d;
}

/* ---- a history ---- */

static void add_history_answer(struct doc_node *root, const struct history *h)
{
    static const struct {
        const char *name;
        const char *text;
    } answers[] = {
        [HISTORY_NO_CHANGE] = {"no change for the worse",
                               "NO CHANGE FOR THE WORSE"},
        [HISTORY_BETTER] = {"better", "BETTER"},
        [HISTORY_WORSE] = {"worse", "WORSE"},
        [HISTORY_CANNOT_TELL] = {"cannot tell", "CANNOT TELL"},
    };
    struct doc_node *n = doc_section(root, NULL, "verdict");

    doc_show(doc_text(n, "verdict", "", answers[h->answer].name), "%s",
             answers[h->answer].text);
    doc_sep(doc_text(n, "note", "", h->why), ": ");
    doc_show(doc_unless(n, DOC_SHARE, "loss_share", "", h->loss,
                        h->segments.len <= 1, NULL),
             "%s, the last segment %s by %.3g%% than the one before",
             quantity_label(&h->quantity), h->loss > 0 ? "worse" : "better",
             fabs(h->loss) * 100);
    doc_unless(n, DOC_SHARE, "regression_threshold", "threshold", h->regression,
               h->regression < 0, NULL);
    doc_text(n, "quantity", NULL, h->quantity.name);
    doc_text(n, "unit", NULL, unit_of(&h->quantity));
    doc_text(doc_section(root, NULL, "load"), "load", "", h->load);
    n = doc_section(root, NULL, "over");
    doc_unit(doc_count(n, "used", "", (int64_t)h->used),
             " recordings under these conditions");
    doc_count(n, "left_out", "left out", (int64_t)(h->n - h->used));
}

static void add_segments(struct doc_node *root, const struct history *h)
{
    struct doc_node *list =
        doc_table(root, "segments", h->segments.len > 1 ? "segments" : NULL);

    for (size_t i = 0; i < h->segments.len; i++) {
        const struct segment *s = &h->segments.list[i];
        struct doc_node *row = doc_row(list);

        doc_count(row, NULL, "segment", (int64_t)i);
        doc_count(row, "first", NULL, (int64_t)s->first);
        doc_count(row, "n", "n", (int64_t)s->n);
        add_quantity(row, "median", "median", &h->quantity, s->median, true);
        doc_unless(row, DOC_NUMBER, "p", "p of the change", s->p, i == 0, NULL);
    }
}

static void add_point(struct doc_node *row, const struct history *h,
                      const struct history_point *p)
{
    char utc[32];

    clk_format_utc(p->started_ns, CLK_TEXT_FORMAT, utc, sizeof(utc));
    doc_text(row, "started", "started", p->started_ns > 0 ? utc : NULL);
    doc_bool(row, "used", NULL, p->is_used);
    add_quantity(row, "value", quantity_label(&h->quantity), &h->quantity,
                 p->value, p->is_used);
    doc_missing_if(doc_count(row, "segment", "segment", (int64_t)p->segment),
                   !p->is_used || h->segments.len == 0, NULL);
    doc_text(row, "dir", "recording", p->dir);
    doc_text(row, "why", "why", p->is_used ? NULL : p->why);
}

/* People see what is left out in a table of its own. */
struct doc *history_doc(const struct history *h)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *list = doc_list(root, "points", NULL);
    struct doc_node *used;
    struct doc_node *left_out;

    doc_count(root, "schema", NULL, HISTORY_SCHEMA);
    add_history_answer(root, h);
    add_segments(root, h);
    used = doc_text_only(doc_table(root, NULL, ""));
    left_out = doc_text_only(doc_table(root, NULL, "left out"));
    for (size_t i = 0; i < h->n; i++) {
        const struct history_point *p = &h->points[i];

        add_point(doc_row(list), h, p);
        add_point(doc_row(p->is_used ? used : left_out), h, p);
    }
    doc_conclude(d, history_conclusion(h));
    doc_set_brief(d, history_brief);
    return d;
}

/* ---- searches ---- */

static void add_capacity(struct doc_node *list, const struct capacities *c,
                         size_t i)
{
    const struct capacity_side *s = &c->sides[i];
    bool is_known = isfinite(s->capacity.value);
    bool is_compared = i > 0 && c->differences.must == 0;
    struct doc_node *n = doc_row(list);
    const char *dirs[COMPARE_MAX_SIDES];
    char name[SHOW_TEXT];
    char ratio[SHOW_TEXT + 16];

    for (size_t k = 0; k < c->n; k++)
        dirs[k] = c->sides[k].dir;
    doc_show_if(doc_text(n, "label", "", show_side_name(dirs, c->n, i, name)),
                strcmp(name, s->dir) != 0);
    doc_sep(doc_text(n, "dir", "", s->dir), "  ");
    doc_sep(doc_digits(doc_number(n, "capacity", "", s->capacity.value), 5),
            ": ");
    doc_show_if(doc_digits(doc_range(n, "capacity_ci90", "90% interval",
                                     DOC_NUMBER, s->capacity.range),
                           5),
                is_known);
    if (!is_known)
        doc_sep(doc_text(n, NULL, "", s->capacity.why), ": ");
    doc_bool(n, "is_bracket", NULL, s->capacity.is_bracket);
    doc_text(n, "outcome", NULL, search_outcome_name(s->capacity.outcome));
    doc_text(n, "binding", NULL, s->capacity.binding);
    doc_usd(n, "usd_per_1000", "per thousand requests at that load",
            s->capacity.usd_per_1000 > 0 ? s->capacity.usd_per_1000 : NAN);
    if (i == 0)
        return;
    snprintf(ratio, sizeof(ratio), "ratio to %s",
             show_side_name(dirs, c->n, 0, name));
    doc_sep(doc_unless(n, DOC_NUMBER, "ratio", is_compared ? ratio : NULL,
                       s->ratio, !s->has_ratio, NULL),
            "; ");
    doc_missing_if(doc_range(n, "ratio_ci90",
                             is_compared ? "90% interval" : NULL, DOC_NUMBER,
                             s->range),
                   !s->has_ratio, NULL);
    doc_sep(doc_text(n, "verdict", is_compared ? "" : NULL,
                     finding_verdict_name(s->verdict)),
            ": ");
}

struct doc *capacities_doc(const struct capacities *c)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *n = doc_section(root, NULL, "capacity");
    struct doc_node *list;

    doc_text(n, "quantity", NULL, "capacity");
    doc_count(n, NULL, "searches", (int64_t)c->n);
    doc_sep(doc_text(n, "answer", "", compare_answer_name(c->answer)), ": ");
    list = doc_list(root, "differences", "differs in");
    for (size_t i = 0; i < c->differences.len; i++) {
        const struct difference *df = &c->differences.list[i];
        struct doc_node *row = doc_row(list);

        doc_show(doc_bool(row, "declared", "", df->is_declared), "%s",
                 df->is_declared ? "varied:" : "REFUSED:");
        doc_sep(doc_text(row, "key", "", df->key), " ");
        doc_sep(doc_show(doc_text(row, "a", "", df->a), "%s", named(df->a)),
                ": ");
        doc_sep(doc_show(doc_text(row, "b", "", df->b), "%s", named(df->b)),
                " and ");
        doc_sep(doc_textf(row, NULL, "", "(%s)", df->why), " ");
    }
    list = doc_list(root, "sides", "sides");
    for (size_t i = 0; i < c->n; i++)
        add_capacity(list, c, i);
    doc_conclude(d, compare_conclusion(c->answer));
    doc_set_brief(d, capacities_brief);
    return d;
}
