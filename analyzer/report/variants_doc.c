/* The document of a study with variants: what they are, a table for each load
 * with the best first, and where and why the order changes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "analyzer/report/study_doc.h"
#include "analyzer/studies/variants.h"

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
    struct doc_node *n;
    char p50[32];

    doc_count(row, "runs", NULL, (int64_t)c->runs);
    doc_count(row, "counted", NULL, (int64_t)c->counted);
    if (c->counted == 0) {
        doc_text(row, NULL, "",
                 c->runs > 0 ? "no run at this load can be trusted"
                             : "not recorded");
        return;
    }
    snprintf(p50, sizeof(p50), "%s p50", measure_name(s->measure));
    n = doc_track(doc_ns(row, "p50", p50, c->latency_ns.value), DOC_LOWER);
    if (c->latency_ns.has_range)
        doc_bounds(n, c->latency_ns.range);
    doc_missing_if(
        doc_range(row, "p50_ci95_ms", NULL, DOC_MS,
                  (struct interval){c->latency_ns.range.low * 1e-6,
                                    c->latency_ns.range.high * 1e-6}),
        !c->latency_ns.has_range, NULL);
    doc_track(doc_ns(row, "p99", "p99", c->tail_ns), DOC_LOWER);
    doc_rate(row, "offered_rps", NULL, c->offered_rps);
    doc_rate(row, "completed_rps", "completed", c->completed_rps);
    n = doc_track(doc_rate(row, "goodput_rps", "goodput", c->goodput_rps.value),
                  DOC_HIGHER);
    if (c->goodput_rps.has_range)
        doc_bounds(n, c->goodput_rps.range);
    doc_range_of(row, "goodput_ci95", "(95%)", DOC_RATE, &c->goodput_rps);
    doc_rate(row, "throughput_rps", NULL, c->throughput_rps.value);
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

/* ---- the ranking at one load ---- */

static const char *const by_names[] = {"slo", "median", "throughput"};

/* Compared with the first; what ranks them is shown unless p50 and p99 are. */
static void add_against(struct doc_node *row, const struct variants_summary *s,
                        size_t value, size_t variant)
{
    const struct variants_ranking *r = &s->rankings[value];
    const struct variant_pair *p =
        variants_pair(s, value, r->places[0].variant, variant);
    const struct variant_cell *c = &s->list[variant].cells[value];
    double x = variants_value(c, r->by);
    size_t len = strlen(s->ranked);
    struct doc_node *n;
    bool is_other = len < 3 || (strcmp(s->ranked + len - 3, "p50") != 0 &&
                                strcmp(s->ranked + len - 3, "p99") != 0);

    if (r->by == RANKED_BY_SLO && s->limit_ns > 0) {
        x *= (double)s->limit_ns;
        n = doc_ns(row, "ranked", s->ranked,
                   c->counted == 0 ? HIST_EMPTY
                   : isnan(x)      ? HIST_BEYOND
                                   : x);
        doc_show_if(n, is_other);
    } else if (r->by == RANKED_BY_SLO) {
        doc_share(row, "share_of_limit", "of its limit", x);
    }
    n = doc_signed(doc_unless(row, DOC_SHARE, "worse_by", "worse by",
                              p->ratio.value - 1, p->rounds == 0, NULL));
    if (p->rounds > 0 && p->by != r->by) {
        doc_show(n, "%+.4g%% in %s", 100 * n->number, by_names[p->by]);
        doc_text(row, "worse_in", NULL, by_names[p->by]);
    }
    doc_signed(
        doc_missing_if(doc_range(row, "worse_by_ci95", "(95%)", DOC_SHARE,
                                 (struct interval){p->ratio.range.low - 1,
                                                   p->ratio.range.high - 1}),
                       !p->ratio.has_range, NULL));
}

static void add_pairs(struct doc_node *list, const struct variants_summary *s,
                      size_t value)
{
    static const char *const results[] = {"no difference shown", "a is better",
                                          "b is better"};

    for (size_t k = 0; k < s->set.n * s->set.n; k++) {
        const struct variant_pair *p = &s->rankings[value].pairs[k];
        struct doc_node *row;

        if (k / s->set.n >= k % s->set.n || p->rounds == 0)
            continue;
        row = doc_row(list);
        doc_text(row, "a", NULL, s->list[k / s->set.n].entry->name);
        doc_text(row, "b", NULL, s->list[k % s->set.n].entry->name);
        doc_text(row, "by", NULL, by_names[p->by]);
        doc_count(row, "rounds", NULL, (int64_t)p->rounds);
        doc_number(row, "ratio", NULL, p->ratio.value);
        doc_range_of(row, "ratio_ci95", NULL, DOC_NUMBER, &p->ratio);
        doc_text(row, "result", NULL, results[p->shown]);
        doc_bool(row, "same", NULL, p->is_same);
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
        doc_text(row, NULL, "a run does not count", v->distrust);
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

/* "e2e p95" */
static const char *ranked_by(const struct variants_summary *s, size_t value,
                             char out[static sizeof(s->ranked)])
{
    if (s->rankings[value].by == RANKED_BY_SLO)
        snprintf(out, sizeof(s->ranked), "%s", s->ranked);
    else
        snprintf(out, sizeof(s->ranked), "%s p50", measure_name(s->measure));
    return out;
}

static void add_rankings(struct doc_node *root,
                         const struct variants_summary *s)
{
    struct doc_node *list = doc_list(root, "rankings", NULL);
    char text[VARIANTS_VALUE];
    char by[sizeof(s->ranked)];

    for (size_t i = 0; i < s->n_values; i++) {
        struct doc_node *n = doc_row(list);
        struct doc_node *table;
        struct doc_node *order;
        char title[VARIANTS_VALUE + sizeof(s->ranked) + 8];

        doc_show(doc_number(n, "value", NULL, s->values[i]), "%s",
                 variants_show_value(s, s->values[i], text));
        doc_text(n, "by", NULL, ranked_by(s, i, by));
        add_pairs(doc_list(n, "pairs", NULL), s, i);
        order = doc_list(n, "order", NULL);
        snprintf(title, sizeof(title), "at %s, by %s",
                 variants_show_value(s, s->values[i], text), by);
        table = doc_text_only(
            doc_table(root, NULL, s->set.of == STUDY_SEARCH ? NULL : title));
        for (size_t k = 0; k < s->set.n; k++) {
            const struct variant_place *p = &s->rankings[i].places[k];
            struct doc_node *row = doc_row(table);
            struct doc_node *ordered = doc_row(order);

            add_place(ordered, s, p);
            add_against(ordered, s, i, p->variant);
            add_place(row, s, p);
            add_against(row, s, i, p->variant);
            add_cell(row, s, &s->list[p->variant].cells[i]);
        }
    }
}

/* ---- where the order changes ---- */

/* Has a pair too few rounds to show a difference? */
static bool are_few(const struct variants_summary *s, size_t value)
{
    bool are = false;

    for (size_t k = 0; k < s->set.n * s->set.n; k++) {
        const struct variant_pair *p = &s->rankings[value].pairs[k];

        are |= p->rounds > 0 && p->rounds < VARIANTS_MIN_ROUNDS;
    }
    return are;
}

/* "none, then continuous" */
static void add_first(struct doc_node *root, const struct variants_summary *s,
                      const char *when, size_t value)
{
    const struct variant_place *p = s->rankings[value].places;
    bool is_observed = are_few(s, value);
    struct doc_node *n = doc_section(root, NULL, when);
    char text[VARIANTS_VALUE];

    doc_text(n, NULL, "at", variants_show_value(s, s->values[value], text));
    for (size_t i = 0; i < s->set.n; i++) {
        if (p[i].rank > 0)
            doc_sep(doc_text(n, NULL, "", s->list[p[i].variant].entry->name),
                    i == 0                       ? ": "
                    : is_observed                ? ", "
                    : p[i].rank == p[i - 1].rank ? " = "
                                                 : ", then ");
    }
    if (s->set.n == 0 || p[0].rank == 0)
        doc_sep(doc_text(n, NULL, "", "not known, no run can be trusted"),
                ": ");
    else if (is_observed)
        doc_sep(doc_text(n, NULL, "", "(as observed)"), " ");
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
    doc_bool(n, "shown", NULL, x->is_shown);
    doc_text(n, "why", NULL, x->why);
    doc_line(shown, DOC_PLAIN, "%s%s is ahead of %s at %s, behind it at %s%s%s",
             x->is_shown ? "" : "as observed: ", early, late,
             variants_show_value(s, s->values[x->from], from),
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
    bool has_few = false;
    struct doc_node *n;

    if (is_shown)
        add_first(root, s, s->n_values > 1 ? "light load" : "order", 0);
    if (is_shown && s->n_values > 1)
        add_first(root, s, "high load", s->n_values - 1);
    n = doc_section(root, NULL, is_shown ? "crossover" : NULL);
    for (size_t i = 0; i < s->n_crossings; i++)
        add_crossover(list, n, s, &s->crossings[i]);
    if (s->n_values > 1 && s->n_crossings == 0)
        doc_line(n, DOC_PLAIN, "none: no two variants change places");
    n = doc_section(root, NULL, is_shown ? "ranking" : NULL);
    doc_line(n, DOC_PLAIN,
             "rank: 1 + the number of variants shown to be better; '=': no "
             "difference shown");
    doc_line(n, DOC_PLAIN,
             "shown: over rounds with the same arrivals, the interval of the "
             "ratio, corrected for all pairs and loads, excludes 1, and the "
             "ratio is %.3g%% or more",
             100 * s->smallest);
    for (size_t i = 0; i < s->n_values; i++)
        has_few |= is_shown && are_few(s, i);
    if (has_few)
        doc_line(n, DOC_PLAIN,
                 "as observed: too few rounds to show a difference; use %s %d "
                 "or more",
                 s->set.of == STUDY_SWEEP ? "--repeats" : "--trials",
                 VARIANTS_MIN_ROUNDS);
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
    if (s->is_insecure)
        doc_line(doc_section(root, NULL, ""), DOC_WARNING,
                 "INSECURE: the server's certificate was not verified");
    doc_text(root, "measure", NULL, measure_name(s->measure));
    doc_share(root, "smallest_difference", NULL, s->smallest);
    doc_text(root, "varied", NULL, s->key[0] ? s->key : "load.rate");
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
    doc_conclude(d, variants_conclusion(s));
    doc_set_brief(d, variants_brief);
    return d;
}
