/* The document of a sweep: a row for each value with the medians of its runs,
 * the curves, and where they bend.  Keys are those of a run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "analyzer/report/run_doc.h"
#include "analyzer/report/study_doc.h"
#include "analyzer/studies/sweep.h"
#include "common/text/units.h"

#define SWEEP_SCHEMA 1
#define PLOT         30 /* columns of a curve */

/* The last word of the setting: "rate" for load.rate. */
static const char *short_key(const struct sweep_summary *s)
{
    const char *point = strrchr(s->set.key, '.');

    if (s->is_load && !s->has_rate)
        return "clients";
    return point ? point + 1 : s->set.key;
}

static struct doc_node *add_value(struct doc_node *in, const char *key,
                                  const char *label,
                                  const struct sweep_summary *s, double value)
{
    return doc_unit(doc_digits(doc_number(in, key, label, value), 6),
                    s->has_rate ? "/s" : s->set.unit);
}

/* ---- one value ---- */

/* The median is missing: why? */
static const char *why_without(const struct sweep_summary *s,
                               const struct sweep_value *v, enum trial_rate r)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct sweep_point *p = &s->points[i];

        if (p->counts && p->at->value == v->value && isnan(p->run.rate[r]))
            return trial_why_without(&p->run, r);
    }
    return "not known";
}

static void add_rates(struct doc_node *row, const struct sweep_summary *s,
                      const struct sweep_value *v)
{
    for (int i = 0; i < TRIAL_RATES; i++) {
        enum trial_rate r = (enum trial_rate)i;
        bool is_shown = r <= TRIAL_ATTAINMENT ||
                        (r == TRIAL_TOKENS && s->has_tokens) ||
                        (r == TRIAL_USD && s->has_cost);
        struct doc_node *n = doc_value(
            row, trial_rate_labels[r].kind, trial_rate_name(r),
            r == TRIAL_THROUGHPUT ? "finished" : trial_rate_labels[r].label,
            v->rate[r]);

        doc_track(doc_show_if(n, is_shown), trial_rate_labels[r].better);
        if (n->is_missing)
            doc_missing_if(n, true, why_without(s, v, r));
    }
}

static void add_measures(struct doc_node *row, const struct sweep_summary *s,
                         const struct sweep_value *v)
{
    struct doc_node *all = doc_section(row, "measures", "");

    for (int m = 0; v->counted > 0 && m < MEASURE_COUNT; m++) {
        const char *name = measure_name((enum measure)m);
        bool has_p99 =
            m == MEASURE_E2E ||
            (s->is_streamed && (m == MEASURE_TTFT || m == MEASURE_TPOT));
        struct doc_node *n;

        if (v->quantile_ns[m][0] == HIST_EMPTY)
            continue;
        n = doc_section(all, name, has_p99 ? "" : NULL);
        study_doc_quantiles(n, m, v->quantile_ns[m], m == MEASURE_E2E);
        run_doc_track(n, m);
    }
}

static void add_runs(struct doc_node *row, const struct sweep_summary *s,
                     const struct sweep_value *v)
{
    struct doc_node *list = doc_list(row, "runs", NULL);

    for (size_t i = 0; i < s->n; i++) {
        const struct sweep_point *p = &s->points[i];
        char *dir;
        struct doc_node *n;

        if (p->at->value != v->value)
            continue;
        dir = study_point_path(".", p->at);
        n = doc_row(list);
        doc_text(n, "dir", NULL, dir + strlen("./"));
        doc_count(n, "repeat", NULL, p->at->repeat);
        doc_textf(n, "seed", NULL, "%llu", (unsigned long long)p->run.seed);
        doc_text(n, "verdict", NULL, verdict_name(p->run.verdict));
        doc_bool(n, "counted", NULL, p->counts);
        if (p->run.distrust[0])
            doc_text(n, "not_trusted", NULL, p->run.distrust);
        if (p->run.stopped_by)
            doc_bool(n, "interrupted", NULL, true);
        free(dir);
    }
}

static void add_row(struct doc_node *table, const struct sweep_summary *s,
                    const struct sweep_value *v)
{
    struct doc_node *row = doc_row(table);

    add_value(row, "value", short_key(s), s, v->value);
    if (v->counted > 0) {
        add_rates(row, s, v);
        add_measures(row, s, v);
        doc_text(row, "verdict", s->terms.len > 0 ? "SLO" : NULL,
                 verdict_name(v->verdict));
        doc_show(doc_bool(row, "overloaded", "", v->is_overloaded), "%s",
                 v->is_overloaded ? "overloaded" : "");
        doc_unless(row, DOC_SHARE, "e2e_p99_share", NULL, v->e2e_p99_share,
                   v->e2e_p99_share < 0, "no request succeeded");
        if (v->counted < v->runs)
            doc_textf(row, NULL, "runs", "%zu of %zu", v->counted, v->runs);
    } else {
        doc_null(row, "verdict", "no run at this value can be trusted");
        doc_section(row, "measures", NULL);
        doc_text(row, NULL, "", "discarded: no run can be trusted");
    }
    add_runs(row, s, v);
}

/* ---- the curves ---- */

/* Which time is shown: that of the objective's main measure. */
static enum measure plotted(const struct sweep_summary *s)
{
    return s->is_streamed ? MEASURE_TTFT : MEASURE_E2E;
}

/* Whole powers of ten around all values. */
static struct interval scale_of(const struct sweep_summary *s)
{
    struct interval c = {.low = INFINITY, .high = 0};

    for (size_t i = 0; i < s->n_values; i++) {
        const double *ns = s->values[i].quantile_ns[plotted(s)];

        if (s->values[i].counted == 0 || !(ns[0] > 0))
            continue;
        c.low = fmin(c.low, ns[0]);
        c.high = fmax(c.high, ns[SUMMARY_P99] > 0 ? ns[SUMMARY_P99] : ns[0]);
    }
    if (c.high > 0) {
        c.low = pow(10, floor(log10(c.low)));
        c.high = pow(10, ceil(log10(c.high)));
    }
    if (!(c.high > c.low))
        c.high = 10 * c.low;
    return c;
}

/* From the median to p99; '>' where that failed. */
static struct doc_plot plot_of_times(const struct sweep_summary *s,
                                     const struct sweep_value *v,
                                     struct interval scale)
{
    const double *ns = v->quantile_ns[plotted(s)];
    struct doc_plot plot = {.a = NAN,
                            .b = NAN,
                            .low = scale.low,
                            .high = scale.high,
                            .is_log = true,
                            .width = PLOT,
                            .before = ' ',
                            .at_a = 'o',
                            .between = '.',
                            .at_b = 'x'};

    if (v->counted == 0 || !(ns[0] > 0))
        return plot;
    plot.a = ns[0];
    if (ns[SUMMARY_P99] > 0) {
        plot.b = ns[SUMMARY_P99];
    } else if (ns[SUMMARY_P99] == HIST_BEYOND) {
        plot.b = scale.high;
        plot.at_b = '>';
    }
    return plot;
}

static void add_curves(struct doc_node *root, const struct sweep_summary *s)
{
    struct interval scale = scale_of(s);
    struct doc_node *table;
    char rates[64];
    char times[96];
    char low[UNITS_TEXT];
    char high[UNITS_TEXT];

    if (!isfinite(scale.low))
        return;
    snprintf(rates, sizeof(rates), "# goodput, - completed, to %.5g/s",
             s->most_completed_rps);
    snprintf(times, sizeof(times), "%s o p50 to x p99, %s to %s",
             measure_name(plotted(s)), units_show_duration(scale.low, low),
             units_show_duration(scale.high, high));
    table = doc_text_only(doc_table(root, NULL, ""));
    for (size_t i = 0; i < s->n_values; i++) {
        const struct sweep_value *v = &s->values[i];
        struct doc_node *row = doc_row(table);
        struct doc_plot plot = {
            .a = v->rate[TRIAL_GOODPUT],
            .b = v->rate[TRIAL_COMPLETED],
            .high = s->most_completed_rps > 0 ? s->most_completed_rps : 1,
            .width = PLOT,
            .before = '#',
            .between = '-'};

        if (v->counted == 0)
            plot.a = plot.b = NAN;
        add_value(row, NULL, short_key(s), s, v->value);
        doc_plot(row, rates, &plot);
        plot = plot_of_times(s, v, scale);
        doc_plot(row, times, &plot);
    }
}

/* ---- what it comes to ---- */

static struct doc_node *add_mark(struct doc_node *root, const char *key,
                                 const char *heading,
                                 const struct sweep_summary *s,
                                 const struct sweep_value *v, const char *why)
{
    struct doc_node *n = doc_section(root, NULL, heading);

    doc_missing_if(add_value(n, key, "", s, v ? v->value : 0), !v, why);
    return n;
}

static void add_marks(struct doc_node *root, const struct sweep_summary *s)
{
    struct doc_node *n =
        add_mark(root, "knee", s->knee ? "knee" : NULL, s, s->knee,
                 s->is_load ? "no request was completed" : "not a load");

    if (s->knee)
        doc_sep(doc_text(n, NULL, "",
                         "highest ratio of completed requests to e2e p50"),
                ": ");
    n = add_mark(root, "saturation", "saturation", s, s->saturation,
                 s->no_saturation);
    if (s->saturation)
        doc_sep(doc_text(n, NULL, "",
                         s->has_rate ? "from here the server does not keep up"
                                     : "more load completes less than 5% more"),
                ": ");
    else if (s->is_load)
        doc_text(n, NULL, "", s->no_saturation);
    doc_digits(doc_rate(n, "most_throughput_rps",
                        s->is_load && s->most_rps > 0
                            ? "highest rate that finished in a window"
                            : NULL,
                        s->most_rps),
               5);
    if (s->is_load && s->slow)
        doc_line(n, DOC_WARNING,
                 "at %.6g%s the slowest requests (e2e p99) take %.3g%% of the "
                 "window, more than %g%%: use a window %.2g times as long "
                 "(--duration)",
                 s->slow->value, s->has_rate ? "/s" : s->set.unit,
                 100 * s->slow->e2e_p99_share, 100 * SWEEP_LONG,
                 s->slow->e2e_p99_share / SWEEP_LONG);
    n = add_mark(root, "best_goodput", "goodput", s, s->best,
                 "no request of a run that can be trusted was good");
    if (s->best)
        doc_digits(
            doc_rate(n, NULL, "highest goodput", s->best->rate[TRIAL_GOODPUT]),
            5);
    n = add_mark(
        root, "within_slo", s->terms.len > 0 ? "SLO" : NULL, s, s->within,
        s->terms.len > 0 ? "the lowest value misses it" : "no SLO was given");
    if (s->within)
        doc_sep(
            doc_text(n, NULL, "", "the highest value tried that meets the SLO"),
            ": ");
    else if (s->terms.len > 0)
        doc_textf(n, NULL, "", "%s at the lowest value",
                  s->values[0].counted == 0 ? "no run can be trusted"
                  : s->values[0].verdict == VERDICT_UNDECIDED ? "undecided"
                                                              : "not met");
    if (s->is_load)
        doc_sep(doc_text(n, NULL, "", "tailgate search finds the boundary"),
                "; ");
}

static const char *why_discarded(const struct trial *run)
{
    return run->stopped_by     ? "interrupted"
           : run->distrust[0]  ? run->distrust
           : run->was_aborted  ? "aborted"
           : run->discarded[0] ? run->discarded
                               : "killed";
}

static void add_discarded(struct doc_node *root, const struct sweep_summary *s)
{
    struct doc_node *list = doc_text_only(doc_list(root, NULL, "discarded"));

    for (size_t i = 0; i < s->n; i++) {
        const struct sweep_point *p = &s->points[i];
        char *dir = study_point_path(s->dir, p->at);

        if (!p->counts)
            doc_line(list, DOC_PLAIN, "%.6g%s, %s: tailgate report %s",
                     p->at->value, s->has_rate ? "/s" : s->set.unit,
                     why_discarded(&p->run), dir);
        free(dir);
    }
}

struct doc *sweep_doc(const struct sweep_summary *s)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *n;

    doc_count(root, "schema", NULL, SWEEP_SCHEMA);
    doc_text(root, "kind", NULL, "sweep");
    doc_text(root, "name", NULL, s->name ? s->name : "");
    doc_paragraph(root, s->title);
    n = doc_section(root, NULL, "sweep");
    doc_text(n, "key", "", s->set.key);
    doc_text(n, "unit", NULL, s->set.unit);
    doc_sep(doc_count(n, NULL, "values", (int64_t)s->n_values), ": ");
    doc_count(n, "recorded", "runs recorded", (int64_t)s->n);
    doc_sep(doc_count(n, "planned", "", (int64_t)s->set.len), " of ");
    doc_count(n, "withdrawn", NULL, (int64_t)s->withdrawn);
    doc_line(doc_section(root, NULL, "load"), DOC_PLAIN, "the first: %s",
             s->load);
    doc_lines(root, "slo", "SLO", &s->terms);
    doc_bool(root, "interrupted", NULL, s->set.stopped_by != 0);
    n = doc_section(root, NULL, "ended");
    if (s->set.stopped_by)
        doc_line(n, DOC_PLAIN,
                 "interrupted by signal %lld; --resume continues it",
                 (long long)s->set.stopped_by);
    if (s->set.failed[0])
        doc_line(n, DOC_PLAIN, "early: %s", s->set.failed);
    n = doc_table(root, "values", "");
    for (size_t i = 0; i < s->n_values; i++)
        add_row(n, s, &s->values[i]);
    add_curves(root, s);
    add_marks(root, s);
    add_discarded(root, s);
    doc_conclude(d, sweep_conclusion(s));
    doc_set_brief(d, sweep_brief);
    return d;
}
