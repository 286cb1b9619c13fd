/* The document of a study with variants: what they are, a table for each load
 * with the best first, and where and why the order changes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "analyzer/report/study_doc.h"
#include "analyzer/studies/variants.h"
#include "common/base/buf.h"
#include "common/base/str.h"

#define MAX_LINE   16384
#define RATIO_TEXT 32

/* ---- one variant at one load ---- */

/* null where it is not known, which values below 0 say. */
static struct doc_node *known(struct doc_node *n)
{
    return doc_missing_if(n, !(n->number >= 0), NULL);
}

static void add_parts(struct doc_node *row, const struct server_parts *p)
{
    struct doc_node *n;

    if (p->from == PARTS_NONE) {
        doc_null(row, "server", NULL);
        return;
    }
    n = doc_section(row, "server", "");
    known(doc_value(n, DOC_MS, "queue_ms", "queue", p->queue_ns * 1e-6));
    known(doc_value(n, DOC_MS, "work_ms", "work", p->work_ns * 1e-6));
    known(doc_number(n, "batch", "batch", p->batch));
    doc_text(n, "from", NULL, parts_from_name(p->from));
}

static void add_cell(struct doc_node *row, const struct variants_summary *s,
                     const struct variant_cell *c)
{
    char p50[32];

    doc_count(row, "runs", NULL, (int64_t)c->runs);
    doc_show(doc_show_if(
                 doc_count(row, "counted", "valid runs", (int64_t)c->counted),
                 c->counted < c->runs),
             "%zu of %zu", c->counted, c->runs);
    if (c->counted == 0) {
        doc_text(row, NULL, "",
                 c->runs > 0 ? "no run at this load can be trusted"
                             : "not recorded");
        return;
    }
    snprintf(p50, sizeof(p50), "%s p50", measure_name(s->measure));
    doc_ns(row, "p50", p50, c->latency_ns.value);
    doc_missing_if(
        doc_range(row, "p50_ci95_ms", NULL, DOC_MS,
                  (struct interval){c->latency_ns.range.low * 1e-6,
                                    c->latency_ns.range.high * 1e-6}),
        !c->latency_ns.has_range, NULL);
    doc_ns(row, "p99", "p99", c->tail_ns);
    doc_rate(row, "offered_rps", NULL, c->offered_rps);
    doc_rate(row, "goodput_rps", "goodput", c->goodput_rps.value);
    doc_range_of(row, "goodput_ci95", "(95%)", DOC_RATE, &c->goodput_rps);
    doc_rate(row, "throughput_rps", "throughput", c->throughput_rps.value);
    doc_range_of(row, "throughput_ci95", NULL, DOC_RATE, &c->throughput_rps);
    doc_share(row, "attainment", NULL, c->attainment);
    if (s->has_tokens)
        doc_digits(doc_rate(row, "output_tokens_per_s", "output tokens",
                            c->tokens_per_s),
                   5);
    if (s->has_cost)
        known(doc_usd(row, "usd_per_1000_good", "per 1000 good",
                      c->usd_per_1000_good));
    add_parts(row, &c->parts);
    doc_show_if(doc_text(row, "verdict", "SLO", verdict_name(c->verdict)),
                s->has_slo);
    doc_show(doc_bool(row, "overloaded", "", c->is_overloaded), "%s",
             c->is_overloaded ? "overloaded" : "");
}

static void add_place(struct doc_node *row, const struct variants_summary *s,
                      const struct variant_place *p)
{
    doc_missing_if(doc_count(row, "rank", "rank", (int64_t)p->rank),
                   p->rank == 0, NULL);
    doc_text(row, "variant", "variant", s->list[p->variant].entry->name);
}

/* ---- against the best ---- */

/* "+12%", or "x4.8" if it or its range is far from 1. */
static const char *show_ratio(const struct variant_pair *p, double ratio,
                              char out[static RATIO_TEXT])
{
    if (p->ratio > 1.0 / 3 && p->range.low > 1.0 / 3 && p->range.high < 3)
        snprintf(out, RATIO_TEXT, "%+.3g%%", 100 * (ratio - 1));
    else
        snprintf(out, RATIO_TEXT, "x%.3g", ratio);
    return out;
}

/* "none +12% (95%: +8% to +16%)" */
static void put_ratio(const struct variants_summary *s, size_t variant,
                      const struct variant_pair *p, enum ranked_by usual,
                      struct buf *out)
{
    char measure[VARIANTS_MEASURE];
    char at[RATIO_TEXT];
    char low[RATIO_TEXT];
    char high[RATIO_TEXT];

    buf_addf(out, "%s", s->list[variant].entry->name);
    if (!p->is_known)
        return;
    if (p->by != usual)
        buf_addf(out, ", in %s,", variants_show_measure(s, p->by, measure));
    buf_addf(out, " %s (95%%: %s to %s)", show_ratio(p, p->ratio, at),
             show_ratio(p, p->range.low, low),
             show_ratio(p, p->range.high, high));
}

/* What is known about a pair that is not called different. */
static void put_open(const struct variants_summary *s, size_t value,
                     const struct variant_pair *p, struct buf *out)
{
    const struct variants_ranking *r = &s->rankings[value];
    size_t rounds;

    if (!p->is_known) {
        buf_adds(out, r->is_within ? " (its run is too short to compare parts "
                                     "of it)"
                                   : " (too few rounds have both)");
        return;
    }
    if (p->is_same) {
        buf_addf(out, ", the same within %.3g%%", 100 * s->smallest);
        return;
    }
    if (r->is_within || fabs(p->contrast.mean) < log1p(s->smallest))
        return;
    rounds = block_rounds_needed(&p->contrast, p->corrected, s->confidence);
    if (rounds > 0)
        buf_addf(out,
                 ", about %zu more %s would show a difference of this size",
                 rounds - p->contrast.rounds,
                 rounds - p->contrast.rounds == 1 ? "round" : "rounds");
    else
        buf_adds(out, ", more than 1000 rounds would show a difference of "
                      "this size");
}

static void add_line(struct strlist *lines, struct buf *line)
{
    if (line->len > 0)
        strlist_add(lines, buf_text(line));
    buf_fini(line);
}

/* Which is best, and by which measure. */
static void say_best(const struct variants_summary *s, size_t value,
                     struct strlist *lines)
{
    const struct variants_ranking *r = &s->rankings[value];
    size_t best = r->places[0].variant;
    const struct variant_cell *c = &s->list[best].cells[value];
    const char *name = s->list[best].entry->name;
    char measure[VARIANTS_MEASURE];
    enum ranked_by by = c->is_overloaded ? RANKED_BY_THROUGHPUT : r->by;
    bool is_alone = r->ranked > 1;
    struct buf line;

    for (size_t i = 1; i < r->ranked; i++)
        is_alone &= variants_standing(s, value, best, r->places[i].variant) ==
                    STANDING_AHEAD;
    buf_init(&line, MAX_LINE);
    buf_addf(&line, "best by %s%s: %s", variants_show_measure(s, by, measure),
             is_alone ? "" : " as observed", name);
    if (r->are_too_few)
        buf_adds(&line, " (too few requests for the quantile of the SLO)");
    if (c->verdict == VERDICT_FAIL)
        buf_adds(&line, "; it misses the SLO");
    add_line(lines, &line);
}

/* "worse than a: b +12% (...); c +20% (...)", or those that are not. */
static void say_others(const struct variants_summary *s, size_t value,
                       bool is_worse, struct strlist *lines)
{
    const struct variants_ranking *r = &s->rankings[value];
    size_t best = r->places[0].variant;
    struct buf line;

    buf_init(&line, MAX_LINE);
    for (size_t i = 1; i < r->ranked; i++) {
        size_t v = r->places[i].variant;
        struct variant_pair p = variants_pair(s, value, best, v);

        if ((p.standing == STANDING_AHEAD) != is_worse)
            continue;
        if (line.len > 0)
            buf_adds(&line, "; ");
        else
            buf_addf(&line, "%s %s: ",
                     is_worse ? "worse than" : "not distinguishable from",
                     s->list[best].entry->name);
        put_ratio(s, v, &p, r->by, &line);
        if (!is_worse)
            put_open(s, value, &p, &line);
    }
    add_line(lines, &line);
}

/* The sentences about one load. */
static void say_ranking(const struct variants_summary *s, size_t value,
                        struct strlist *lines)
{
    const struct variants_ranking *r = &s->rankings[value];
    struct buf line;

    if (r->ranked > 0)
        say_best(s, value, lines);
    say_others(s, value, false, lines);
    say_others(s, value, true, lines);
    buf_init(&line, MAX_LINE);
    for (size_t i = r->ranked; i < s->set.n; i++) {
        const struct variant *v = &s->list[r->places[i].variant];
        const struct variant_cell *c = &v->cells[value];

        if (c->runs > 0)
            buf_addf(&line, "%s%s (too few valid runs: %zu of %zu needed)",
                     line.len ? ", " : "not ranked: ", v->entry->name,
                     c->counted, r->needed > 0 ? r->needed : 1);
    }
    add_line(lines, &line);
    if (r->is_within && r->ranked > 1)
        strlist_add(
            lines, "fewer than 3 rounds: parts of the runs are compared; how "
                   "much a server differs from start to start is not included");
}

/* As a share: 0.12 for 12 % worse. */
static void add_against(struct doc_node *row, const struct variants_summary *s,
                        size_t value, const struct variant_place *p)
{
    const struct variants_ranking *r = &s->rankings[value];
    size_t best = r->places[0].variant;
    struct variant_pair pair = {0};
    char at[RATIO_TEXT];
    char low[RATIO_TEXT];
    char high[RATIO_TEXT];
    bool is_known;

    if (p->variant != best)
        pair = variants_pair(s, value, best, p->variant);
    is_known = p->rank > 0 && pair.is_known;
    doc_show(doc_unless(row, DOC_SHARE, "worse_by", "worse by", pair.ratio - 1,
                        !is_known, NULL),
             "%s", show_ratio(&pair, pair.ratio, at));
    doc_show(doc_missing_if(doc_range(row, "worse_by_ci95", "(95%)", DOC_SHARE,
                                      (struct interval){pair.range.low - 1,
                                                        pair.range.high - 1}),
                            !is_known, NULL),
             "%s to %s", show_ratio(&pair, pair.range.low, low),
             show_ratio(&pair, pair.range.high, high));
    doc_bool(row, "shown_to_be_worse", NULL, pair.standing == STANDING_AHEAD);
}

/* What they are ranked by, where that is neither p50 nor p99. */
static void add_ranked_value(struct doc_node *row,
                             const struct variants_summary *s, size_t value,
                             size_t variant)
{
    const struct variants_ranking *r = &s->rankings[value];
    double x = exp(r->log_value[variant]);
    char name[VARIANTS_MEASURE];
    bool is_ns = r->by == RANKED_BY_MEDIAN ||
                 (r->by == RANKED_BY_SLO && s->limit_ns > 0);

    variants_show_measure(s, r->by, name);
    if (is_ns)
        doc_show_if(doc_ns(row, "ranked_value", name,
                           isnan(x)                 ? HIST_BEYOND
                           : r->by == RANKED_BY_SLO ? x * (double)s->limit_ns
                                                    : x),
                    r->by == RANKED_BY_SLO && s->quantile != 0.99 &&
                        s->quantile != 0.5);
    else
        doc_unless(row, DOC_SHARE, "ranked_share",
                   r->by == RANKED_BY_SLO ? "of its limit"
                   : r->counts_good       ? "good"
                                          : "not good",
                   r->counts_good && r->by == RANKED_BY_MISSES ? 1 / x : x,
                   isnan(x), NULL);
}

static void add_pairs(struct doc_node *n, const struct variants_summary *s,
                      size_t value)
{
    static const char *const by_names[] = {
        [RANKED_BY_SLO] = "slo",
        [RANKED_BY_MEDIAN] = "median",
        [RANKED_BY_MISSES] = "misses",
        [RANKED_BY_THROUGHPUT] = "throughput",
    };
    static const char *const results[] = {
        [STANDING_UNKNOWN] = "no difference shown",
        [STANDING_AHEAD] = "a is better",
        [STANDING_BEHIND] = "b is better",
    };
    const struct variants_ranking *r = &s->rankings[value];
    struct doc_node *list;

    doc_text(n, "by", NULL, by_names[r->by]);
    doc_bool(n, "within_runs", NULL, r->is_within);
    doc_count(n, "runs_needed", NULL, (int64_t)r->needed);
    list = doc_list(n, "pairs", NULL);
    for (size_t a = 0; a < s->set.n; a++) {
        for (size_t b = a + 1; b < s->set.n; b++) {
            struct variant_pair p = variants_pair(s, value, a, b);
            struct doc_node *row;

            if (!p.is_known)
                continue;
            row = doc_row(list);
            doc_text(row, "a", NULL, s->list[a].entry->name);
            doc_text(row, "b", NULL, s->list[b].entry->name);
            doc_text(row, "by", NULL, by_names[p.by]);
            doc_count(row, "rounds", NULL, (int64_t)p.contrast.rounds);
            doc_number(row, "ratio", NULL, p.ratio);
            doc_range(row, "ratio_ci95", NULL, DOC_NUMBER, p.range);
            doc_number(row, "p_value", NULL, p.p_value);
            doc_count(row, "corrected_for", NULL, (int64_t)p.corrected);
            doc_text(row, "result", NULL, results[p.standing]);
            doc_bool(row, "same", NULL, p.is_same);
        }
    }
}

/* ---- capacity ---- */

static void add_capacity(struct doc_node *in, const struct variants_summary *s,
                         const struct capacity *c)
{
    const char *unit = s->is_rate ? "/s" : NULL;

    doc_unit(doc_number(in, s->is_rate ? "capacity_rps" : "capacity",
                        "capacity", c->value),
             unit);
    doc_unless(in, DOC_NUMBER, "confidence", NULL, SEARCH_CONFIDENCE,
               c->is_bracket, NULL);
    doc_brief(doc_unit(doc_range(in, "range",
                                 c->is_bracket ? "bracket" : "90% interval",
                                 DOC_NUMBER, c->range),
                       unit),
              "open");
    doc_bool(in, "is_bracket", NULL, c->is_bracket);
    known(doc_usd(in, "usd_per_1000", "per 1000 requests", c->usd_per_1000));
    if (c->binding[0])
        doc_text(in, "binding", "binding", c->binding);
    doc_text(in, "outcome", NULL, search_outcome_name(c->outcome));
    doc_text(in, "why", NULL, c->why);
    doc_text(in, NULL, "",
             c->outcome == SEARCH_ESTIMATED ? "not confirmed"
             : c->outcome != SEARCH_FOUND   ? c->why
                                            : "");
}

static void add_capacities(struct doc_node *root,
                           const struct variants_summary *s)
{
    struct doc_node *list = doc_list(root, "capacity_ranking", NULL);
    struct doc_node *table = doc_text_only(
        doc_table(root, NULL, "the highest load that meets the SLO"));

    for (size_t i = 0; s->has_capacity && i < s->set.n; i++) {
        const struct variant_place *p = &s->capacities[i];
        struct doc_node *row = doc_row(table);

        add_place(doc_row(list), s, p);
        add_place(row, s, p);
        if (p->rank > 0)
            add_capacity(row, s, &s->list[p->variant].capacity);
        else
            doc_text(row, NULL, "", "not known");
    }
}

/* ---- the variants ---- */

static void add_variant(struct doc_node *list, struct doc_node *shown,
                        const struct variants_summary *s,
                        const struct variant *v)
{
    struct doc_node *n = doc_row(list);
    struct doc_node *row = doc_row(shown);
    struct doc_node *points;

    doc_text(n, "name", NULL, v->entry->name);
    doc_text(row, NULL, "variant", v->entry->name);
    if (v->says)
        doc_text(n, "says", NULL, v->says);
    doc_text(row, NULL, "settings",
             v->says ? v->says : "no run came to its end");
    if (v->entry->failed[0]) {
        doc_text(n, "failed", NULL, v->entry->failed);
        doc_text(row, NULL, "failed", v->entry->failed);
    }
    if (v->distrust[0]) {
        doc_text(n, "not_counted", NULL, v->distrust);
        doc_lines(n, "invalid_runs", NULL, &v->invalid);
        doc_textf(row, NULL, "not counted", "%s%s", v->invalid.items[0],
                  v->invalid.len > 1 ? " and others" : "");
    }
    if (v->capacity.is_present)
        add_capacity(doc_section(n, "capacity", NULL), s, &v->capacity);
    else
        doc_null(n, "capacity", NULL);
    points = doc_list(n, "points", NULL);
    for (size_t k = 0; k < s->n_values; k++) {
        struct doc_node *point = doc_row(points);

        doc_number(point, "value", NULL, s->values[k]);
        add_cell(point, s, &v->cells[k]);
    }
}

static void add_rankings(struct doc_node *root,
                         const struct variants_summary *s)
{
    struct doc_node *list = doc_list(root, "rankings", NULL);
    char text[VARIANTS_VALUE];

    for (size_t i = 0; i < s->n_values; i++) {
        struct doc_node *n = doc_row(list);
        struct doc_node *table;
        struct doc_node *order;
        struct strlist says = {0};
        char title[VARIANTS_VALUE + 8];

        doc_number(n, "value", NULL, s->values[i]);
        say_ranking(s, i, &says);
        add_pairs(n, s, i);
        doc_lines(n, "says", NULL, &says);
        order = doc_list(n, "order", NULL);
        snprintf(title, sizeof(title), "at %s",
                 variants_show_value(s, s->values[i], text));
        table = doc_text_only(
            doc_table(root, NULL, s->set.of == STUDY_SEARCH ? NULL : title));
        for (size_t k = 0; k < s->set.n; k++) {
            const struct variant_place *p = &s->rankings[i].places[k];
            struct doc_node *row = doc_row(table);
            struct doc_node *told = doc_row(order);

            add_place(told, s, p);
            add_ranked_value(told, s, i, p->variant);
            add_against(told, s, i, p);
            add_place(row, s, p);
            add_ranked_value(row, s, i, p->variant);
            add_against(row, s, i, p);
            add_cell(row, s, &s->list[p->variant].cells[i]);
        }
        for (size_t k = 0; k < says.len; k++)
            doc_line(table, DOC_PLAIN, "%s", says.items[k]);
        strlist_fini(&says);
    }
}

/* ---- where the order changes ---- */

/* "none, then continuous" */
static void add_first(struct doc_node *root, const struct variants_summary *s,
                      const char *when, size_t value)
{
    const struct variant_place *p = s->rankings[value].places;
    struct doc_node *n = doc_section(root, NULL, when);
    char text[VARIANTS_VALUE];

    doc_text(n, NULL, "at", variants_show_value(s, s->values[value], text));
    for (size_t i = 0; i < s->set.n; i++) {
        if (p[i].rank > 0)
            doc_sep(doc_text(n, NULL, "", s->list[p[i].variant].entry->name),
                    i == 0                       ? ": "
                    : p[i].rank == p[i - 1].rank ? " = "
                                                 : ", then ");
    }
}

static void add_crossover(struct doc_node *list, struct doc_node *shown,
                          const struct variants_summary *s,
                          const struct crossover *x)
{
    const char *early = s->list[x->early].entry->name;
    const char *late = s->list[x->late].entry->name;
    const char *second = strstr(x->why, ".  ");
    struct doc_node *n = doc_row(list);
    char at[VARIANTS_VALUE];
    char from[VARIANTS_VALUE];
    char to[VARIANTS_VALUE];

    doc_text(n, "ahead_below", NULL, early);
    doc_text(n, "ahead_above", NULL, late);
    doc_number(n, "at", NULL, x->at);
    doc_range(n, "between", NULL, DOC_NUMBER,
              (struct interval){s->values[x->from], s->values[x->to]});
    doc_text(n, "why", NULL, x->why);
    doc_line(shown, DOC_PLAIN, "%s is ahead of %s at %s, behind it at %s%s%s",
             early, late, variants_show_value(s, s->values[x->from], from),
             variants_show_value(s, s->values[x->to], to),
             isfinite(x->at) ? "; they cross at about " : "",
             isfinite(x->at)
                 ? variants_show_value(s, round(x->at * 10) / 10, at)
                 : "");
    /* A line for each side of it. */
    if (second) {
        doc_line(shown, DOC_PLAIN, "%.*s.", (int)(second - x->why), x->why);
        doc_line(shown, DOC_PLAIN, "%s.", second + strlen(".  "));
    } else {
        doc_line(shown, DOC_PLAIN, "%s", x->why);
    }
}

static void add_order(struct doc_node *root, const struct variants_summary *s)
{
    struct doc_node *list = doc_list(root, "crossovers", NULL);
    bool is_shown = s->set.of != STUDY_SEARCH && s->n_values > 0;
    struct doc_node *n;

    if (is_shown && s->rankings[0].ranked > 0)
        add_first(root, s, s->n_values > 1 ? "light load" : "order", 0);
    if (is_shown && s->n_values > 1 && s->rankings[s->n_values - 1].ranked > 0)
        add_first(root, s, "high load", s->n_values - 1);
    n = doc_section(root, NULL, is_shown ? "crossover" : NULL);
    for (size_t i = 0; i < s->n_crossings; i++)
        add_crossover(list, n, s, &s->crossings[i]);
    if (s->n_values > 1 && s->n_crossings == 0)
        doc_line(n, DOC_PLAIN, "none: no two variants change places");
    n = doc_section(root, NULL, is_shown ? "ranking" : NULL);
    doc_line(
        n, DOC_PLAIN,
        "different: the interval of the ratio within rounds, corrected for "
        "all pairs and loads, excludes 1, and the ratio is %.3g%% or more",
        100 * s->smallest);
    doc_line(n, DOC_PLAIN,
             "rank: 1 + the number of variants that are shown to be better; "
             "'=': the same rank");
}

struct doc *variants_doc(const struct variants_summary *s)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *list;
    struct doc_node *shown;

    doc_count(root, "schema", NULL, 1);
    doc_text(root, "kind", NULL, "variants");
    doc_text(root, "of", NULL, study_kind_name(s->set.of));
    doc_text(root, "name", NULL, s->title ? s->title : "");
    doc_line(root, DOC_PLAIN, "%s: %zu variants, %s",
             s->title ? s->title : "study", s->set.n,
             s->set.of == STUDY_TRIALS ? "runs" : study_kind_name(s->set.of));
    doc_show_if(doc_text(doc_section(root, NULL, "SLO"), "slo", "",
                         s->terms ? s->terms : ""),
                s->terms && s->terms[0]);
    doc_text(root, "measure", NULL, measure_name(s->measure));
    doc_text(root, "varied", NULL, s->key[0] ? s->key : "load.rate");
    doc_share(root, "smallest_difference", NULL, s->smallest);
    list = doc_list(root, "variants", NULL);
    shown = doc_text_only(doc_table(root, NULL, ""));
    for (size_t i = 0; i < s->set.n; i++)
        add_variant(list, shown, s, &s->list[i]);
    add_rankings(root, s);
    add_order(root, s);
    add_capacities(root, s);
    doc_bool(root, "interrupted", NULL, s->set.stopped_by != 0);
    if (s->set.stopped_by)
        doc_line(root, DOC_PLAIN, "interrupted: --resume continues it");
    return d;
}
