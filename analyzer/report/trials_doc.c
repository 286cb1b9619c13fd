/* The document of a set of trials: the verdict, each trial, what they come to
 * together.  Keys are those of a run; a number of a run is here an object with
 * median, min, max and interval. */
#include <math.h>
#include <stdio.h>

#include "analyzer/report/doc.h"
#include "analyzer/report/study_doc.h"
#include "analyzer/studies/trials.h"

#define TRIALS_SCHEMA 1

const struct trial_rate_label trial_rate_labels[TRIAL_RATES] = {
    [TRIAL_OFFERED] = {"offered", DOC_RATE},
    [TRIAL_COMPLETED] = {"completed", DOC_RATE},
    [TRIAL_GOODPUT] = {"goodput", DOC_RATE},
    [TRIAL_THROUGHPUT] = {"finished in the window", DOC_RATE},
    [TRIAL_ATTAINMENT] = {"attainment", DOC_SHARE},
    [TRIAL_TOKENS] = {"output tokens in the window", DOC_RATE},
    [TRIAL_GOOD_TOKENS] = {"output tokens of good requests", DOC_RATE},
    [TRIAL_QUALITY] = {"quality", DOC_SHARE},
    [TRIAL_USD] = {"per 1000 good requests", DOC_USD},
    [TRIAL_USD_TOKENS] = {"per million good tokens", DOC_USD},
};

void study_doc_quantiles(struct doc_node *in, int measure,
                         const double ns[static SUMMARY_QUANTILES],
                         bool shows_p50)
{
    for (int q = 0; q < SUMMARY_QUANTILES; q++) {
        char label[32];

        snprintf(label, sizeof(label), "%s %s",
                 measure_name((enum measure)measure), summary_quantile_name[q]);
        doc_show_if(doc_ns(in, summary_quantile_name[q], label, ns[q]),
                    q == SUMMARY_P99 || (q == SUMMARY_P50 && shows_p50));
    }
}

/* A value over trials may lie among the failures. */
static struct doc_node *add_number(struct doc_node *in, const char *key,
                                   const char *label, double value,
                                   enum doc_kind kind)
{
    return doc_brief(doc_value(in, kind, key, label, value), "failed");
}

static enum doc_kind kind_of(const struct slo_term *term)
{
    return term->kind == SLO_QUANTILE  ? DOC_NS
           : term->kind == SLO_GOODPUT ? DOC_RATE
                                       : DOC_SHARE;
}

static void add_over(struct doc_node *in, const struct over_trials *o,
                     enum doc_kind kind)
{
    const struct uncertain *median = &o->median.median;

    if (!o->is_known) {
        bool is_few = o->missing == HIST_TOO_FEW;

        doc_brief(doc_unless(in, DOC_NUMBER, "median", "median", 0, true,
                             is_few ? "n too small" : "no samples"),
                  is_few ? "n small" : "-");
        doc_count(in, "trials_without", "trials without it",
                  (int64_t)o->n_missing);
        return;
    }
    add_number(in, "median", "median", median->value, kind);
    add_number(in, "min", "min", o->least, kind);
    doc_missing_if(add_number(in, "max", "max", o->greatest, kind),
                   !isfinite(o->greatest), "beyond failures");
    doc_brief(
        doc_missing_if(doc_range_of(in, "median_ci", "interval of the median",
                                    kind, median),
                       !median->has_range, "one trial"),
        median->has_range ? "failed" : NULL);
}

/* ---- the verdict ---- */

static void add_confidence(struct doc_node *n, const struct trials_summary *s)
{
    bool is_cut = trials_are_cut(s);

    doc_share(n, "confidence", NULL, s->confidence);
    doc_bool(n, "confidence_reached", NULL, s->confidence >= TRIALS_CONFIDENCE);
    doc_count(n, "needed", NULL, (int64_t)s->needed);
    if (s->counted < 2)
        doc_line(n, DOC_PLAIN,
                 "fewer than two trials finished: their median cannot be "
                 "bounded");
    else
        doc_line(n, DOC_PLAIN,
                 "%zu of %zu trials must agree%s: %.4g%% confidence in the "
                 "median%s",
                 s->needed, is_cut ? (size_t)s->set.asked : s->counted,
                 is_cut ? " (not all of them finished)" : "",
                 100 * s->confidence,
                 s->confidence < TRIALS_CONFIDENCE
                     ? "; 95% requires at least 6 trials"
                     : "");
}

static void add_terms(struct doc_node *in, const struct trials_summary *s)
{
    struct doc_node *table = doc_table(in, "slo", "");

    for (size_t i = 0; i < s->n_terms; i++) {
        const struct set_term *t = &s->terms[i];
        struct doc_node *row = doc_row(table);
        bool is_ns = t->term.kind == SLO_QUANTILE;

        if (t->class)
            doc_text(row, "class", "class", t->class);
        doc_text(row, "term", "term", t->term.text);
        doc_text(row, "verdict", "verdict", verdict_name(t->verdict));
        doc_show_if(doc_count(row, "kept", "trials that keep it", t->kept),
                    t->verdict != VERDICT_NONE);
        doc_show_if(doc_count(row, "missed", "miss it", t->missed),
                    t->verdict != VERDICT_NONE);
        add_over(doc_section(row, is_ns ? "measured_ms" : "measured", ""),
                 &t->measured, kind_of(&t->term));
    }
}

static void add_verdict(struct doc_node *root, const struct trials_summary *s)
{
    static const char *const text[] = {
        [VERDICT_NONE] = "none: no SLO was given",
        [VERDICT_PASS] = "PASS: the SLO is met",
        [VERDICT_FAIL] = "FAIL: the SLO is missed",
        [VERDICT_UNDECIDED] = "UNDECIDED: too few trials agree",
        [VERDICT_INVALID] = "INVALID: a trial cannot be trusted",
    };
    struct doc_node *n = doc_section(root, NULL, "verdict");

    doc_show(doc_text(n, "verdict", "", verdict_name(s->verdict)), "%s",
             s->verdict == VERDICT_UNDECIDED && trials_are_cut(s)
                 ? "UNDECIDED: the set was interrupted"
                 : text[s->verdict]);
    if (s->withdrawn_by > 0) {
        const struct trial *t = &s->trials[s->withdrawn_by - 1];

        doc_textf(n, "verdict_note", NULL, "trial %lld cannot be trusted",
                  (long long)s->withdrawn_by);
        doc_line(n, DOC_PLAIN,
                 "trial %lld cannot be trusted%s%s: tailgate report "
                 "%s/trial-%lld",
                 (long long)t->number, t->distrust[0] ? ", by " : "",
                 t->distrust, s->dir, (long long)t->number);
    }
    doc_bool(n, "interrupted", NULL, s->stopped_by != 0);
    if (s->stopped_by)
        doc_line(n, DOC_PLAIN,
                 "interrupted by signal %lld; the report covers what was "
                 "recorded",
                 (long long)s->stopped_by);
    if (s->set.failed[0]) {
        doc_text(n, "ended_by", NULL, s->set.failed);
        doc_line(n, DOC_PLAIN, "ended early: %s", s->set.failed);
    }
    add_confidence(n, s);
    add_terms(n, s);
}

/* ---- each trial ---- */

static bool has_measure(const struct trials_summary *s, int m)
{
    const struct over_trials *o = &s->quantile[m][0];

    return o->is_known || o->missing != HIST_EMPTY;
}

static void add_remark(struct doc_node *row, const struct trial *t)
{
    const char *ending = t->stopped_by    ? "interrupted, not counted"
                         : t->was_killed  ? "killed, not counted"
                         : t->was_aborted ? "aborted"
                                          : "";
    char requests[48] = "";
    char events[48] = "";

    if (t->lost_requests > 0)
        snprintf(requests, sizeof(requests), "%lld requests lost",
                 (long long)t->lost_requests);
    if (t->lost_events > 0)
        snprintf(events, sizeof(events), "%lld content events lost",
                 (long long)t->lost_events);
    doc_textf(row, NULL, "", "%s%s%s%s%s", ending,
              ending[0] && requests[0] ? "; " : "", requests,
              (ending[0] || requests[0]) && events[0] ? "; " : "", events);
}

static void add_trial(struct doc_node *table, const struct trials_summary *s,
                      const struct trial *t)
{
    const double *e2e = t->quantile_ns[MEASURE_E2E];
    struct doc_node *row = doc_show_if(doc_row(table), !t->lost);

    doc_count(row, "trial", "trial", t->number);
    doc_textf(row, "seed", "seed", "%llu", (unsigned long long)t->seed);
    doc_text(row, "verdict", "verdict", verdict_name(t->verdict));
    doc_bool(row, "counted", NULL, trial_is_whole(t));
    doc_bool(row, "interrupted", NULL, t->stopped_by != 0);
    doc_count(row, "scheduled", "requests", t->scheduled);
    doc_count(row, "failed", "failed", t->failed);
    for (int r = 0; r < TRIAL_RATES; r++)
        doc_show_if(add_number(row, trial_rate_name((enum trial_rate)r),
                               trial_rate_labels[r].label, t->rate[r],
                               trial_rate_labels[r].kind),
                    r == TRIAL_COMPLETED || r == TRIAL_GOODPUT ||
                        r == TRIAL_ATTAINMENT);
    doc_ns(row, "e2e_p50", "e2e p50", e2e[SUMMARY_P50]);
    doc_ns(row, "e2e_p99", "e2e p99", e2e[SUMMARY_P99]);
    if (t->is_streamed)
        doc_ns(row, "ttft_p99", "ttft p99",
               t->quantile_ns[MEASURE_TTFT][SUMMARY_P99]);
    if (t->lost)
        doc_text(row, "manifest_lost", NULL, t->lost);
    if (t->distrust[0])
        doc_text(row, "not_trusted", NULL, t->distrust);
    if (t->was_aborted)
        doc_bool(row, "aborted", NULL, true);
    doc_count(row, "lost_requests", NULL, t->lost_requests);
    doc_count(row, "lost_events", NULL, t->lost_events);
    add_remark(row, t);
    if (t->lost)
        doc_text_only(doc_line(
            table, DOC_PLAIN,
            "%lld lost: manifest.json %s, not counted: tailgate report "
            "%s/trial-%lld",
            (long long)t->number, t->lost, s->dir, (long long)t->number));
}

static void add_odd(struct doc_node *root, const struct trials_summary *s)
{
    struct doc_node *list = doc_list(root, "odd", "odd");

    for (size_t i = 0; i < s->n_odd; i++) {
        const struct odd_trial *x = &s->odd[i];
        enum doc_kind kind = x->is_ns ? DOC_NS : DOC_SHARE;
        struct doc_node *row = doc_row(list);

        doc_count(row, "trial", "trial", x->number);
        doc_sep(doc_text(row, "what", "", x->what), ": ");
        doc_sep(add_number(row, x->is_ns ? "value_ms" : "value", "", x->value,
                           kind),
                " ");
        add_number(row, x->is_ns ? "median_ms" : "median", "median", x->median,
                   kind);
        doc_sep(doc_text(row, NULL, "", "it is counted"), "; ");
    }
}

/* ---- over trials ---- */

static void add_rates(struct doc_node *rows, const struct trials_summary *s)
{
    static const struct trial none;
    const struct trial *first = trials_first(s) ? trials_first(s) : &none;

    for (int i = 0; i < TRIAL_RATES; i++) {
        enum trial_rate r = (enum trial_rate)i;
        const char *name = trial_rate_name(r);

        if (trials_have_rate(s, r))
            add_over(doc_section(rows, name, trial_rate_labels[r].label),
                     &s->rate[r], trial_rate_labels[r].kind);
        else
            doc_null(rows, name, trial_why_without(first, r));
    }
}

static void add_student(struct doc_node *in, const struct trials_summary *s,
                        const struct over_trials *o, bool is_shown)
{
    doc_value(in, DOC_NS, "mean", is_shown ? "mean" : NULL, o->mean.value);
    doc_range(in, "ci95", is_shown ? "Student's 95% interval" : NULL, DOC_NS,
              o->mean.range);
    if (s->least_scheduled < TRIALS_HONEST_N)
        doc_textf(in, "note", is_shown ? "" : NULL,
                  "trials of %lld requests; reliable from about %d",
                  (long long)s->least_scheduled, TRIALS_HONEST_N);
}

static void add_measures(struct doc_node *rows, const struct trials_summary *s)
{
    static const bool is_shown[MEASURE_COUNT] = {[MEASURE_E2E] = true,
                                                 [MEASURE_TTFT] = true,
                                                 [MEASURE_TPOT] = true,
                                                 [MEASURE_STALL] = true,
                                                 [MEASURE_QUERY] = true};
    const struct trial *first = trials_first(s);
    struct doc_node *all = doc_section(rows, "measures", "");

    for (int m = 0; m < MEASURE_COUNT; m++) {
        const char *name = measure_name((enum measure)m);
        bool is_hidden =
            !is_shown[m] || (m == MEASURE_TTFT && first && !first->is_streamed);
        struct doc_node *measure;

        if (!has_measure(s, m))
            continue;
        measure = doc_section(all, name, is_hidden ? NULL : "");
        for (int q = 0; q < SUMMARY_QUANTILES; q++) {
            const struct over_trials *o = &s->quantile[m][q];
            struct doc_node *row;
            char key[16];
            char label[32];

            snprintf(key, sizeof(key), "%s_ms", summary_quantile_name[q]);
            snprintf(label, sizeof(label), "%s %s", name,
                     summary_quantile_name[q]);
            row = doc_section(measure, key, label);
            add_over(row, o, DOC_NS);
            if (o->is_known && o->mean.has_range && q == SUMMARY_P99)
                add_student(doc_section(row, "student", NULL), s, o, false);
        }
    }
}

struct doc *trials_doc(const struct trials_summary *s)
{
    static const char *const launches[] = {
        [LAUNCHED_ONCE] = "all trials used one server process (see --restart)",
        [LAUNCHED_STUB] = "the stub was restarted for each trial",
        [LAUNCHED_RESTART] = "the server was restarted before each trial",
        [LAUNCHED_SERVER] = "the server was restarted for each trial",
    };
    const struct over_trials *p99 = &s->quantile[MEASURE_E2E][SUMMARY_P99];
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *n;

    doc_count(root, "schema", NULL, TRIALS_SCHEMA);
    doc_text(root, "kind", NULL, "trials");
    doc_paragraph(root, s->title ? s->title : "");
    n = doc_section(root, "trials", "trials");
    doc_count(n, "recorded", "recorded", (int64_t)s->n);
    doc_sep(doc_count(n, "asked", "", s->set.asked), " of ");
    doc_show_if(doc_count(n, "counted", "finished", (int64_t)s->counted),
                s->counted < s->n);
    n = doc_section(root, NULL, "launches");
    doc_count(n, "launches", "", study_set_launches(&s->set));
    doc_sep(doc_text(n, NULL, "", launches[s->set.launched_by]), ": ");
    if (s->set.against[0])
        doc_text(n, "against", "in turns with", s->set.against);
    add_verdict(root, s);
    n = doc_table(root, "each", "");
    for (size_t i = 0; i < s->n; i++)
        add_trial(n, s, &s->trials[i]);
    add_odd(root, s);
    n = doc_rows(root, NULL, "over trials");
    add_rates(n, s);
    add_measures(n, s);
    if (p99->is_known && p99->mean.has_range)
        add_student(doc_text_only(doc_section(root, NULL, "e2e p99")), s, p99,
                    true);
    return d;
}
