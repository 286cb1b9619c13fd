/* The document of a set of trials: the verdict, each trial, what they come to
 * together.  Keys are those of a run; a number of a run is here an object with
 * median, min, max and interval. */
#include <math.h>
#include <stdio.h>

#include "analyzer/report/doc.h"
#include "analyzer/report/run_doc.h"
#include "analyzer/report/study_doc.h"
#include "analyzer/studies/trials.h"

#define TRIALS_SCHEMA 1

const struct trial_rate_label trial_rate_labels[TRIAL_RATES] = {
    [TRIAL_OFFERED] = {"offered", DOC_RATE, DOC_UNTRACKED},
    [TRIAL_COMPLETED] = {"completed", DOC_RATE, DOC_HIGHER},
    [TRIAL_GOODPUT] = {"goodput", DOC_RATE, DOC_HIGHER},
    [TRIAL_THROUGHPUT] = {"finished in the window", DOC_RATE, DOC_HIGHER},
    [TRIAL_ATTAINMENT] = {"attainment", DOC_SHARE, DOC_HIGHER},
    [TRIAL_TOKENS] = {"output tokens in the window", DOC_RATE, DOC_HIGHER},
    [TRIAL_GOOD_TOKENS] = {"output tokens of good requests", DOC_RATE,
                           DOC_HIGHER},
    [TRIAL_QUALITY] = {"quality", DOC_SHARE, DOC_HIGHER},
    [TRIAL_USD] = {"per 1000 good requests", DOC_USD, DOC_LOWER},
    [TRIAL_USD_TOKENS] = {"per million good tokens", DOC_USD, DOC_LOWER},
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
    struct doc_node *n;

    if (!o->is_known) {
        bool is_few = o->missing == HIST_TOO_FEW;

        doc_brief(doc_unless(in, DOC_NUMBER, "median", "median", 0, true,
                             is_few ? "n too small" : "no samples"),
                  is_few ? "too few" : "-");
        doc_count(in, "trials_without", "trials without it",
                  (int64_t)o->n_missing);
        return;
    }
    n = add_number(in, "median", "median", median->value, kind);
    if (median->has_range)
        doc_bounds(n, median->range);
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

/* `needed` was once how many trials had to agree. */
static void add_confidence(struct doc_node *n, const struct trials_summary *s)
{
    doc_share(n, "confidence", NULL, s->confidence);
    doc_bool(n, "confidence_reached", NULL, s->confidence >= TRIALS_CONFIDENCE);
    doc_missing_if(doc_count(n, "needed", NULL, s->needed), s->needed == 0,
                   s->is_shown ? "the verdict is shown" : "not known");
    if (s->needed >= TRIALS_MANY)
        doc_line(n, DOC_PLAIN,
                 "no reasonable number of trials like these would show it: the "
                 "share of misses is too close to what is allowed");
    else if (s->needed > (int64_t)s->counted)
        doc_line(
            n, DOC_PLAIN,
            "too few trials: about %lld like these would show it with 95%% "
            "confidence",
            (long long)s->needed);
    if (s->counted < 2)
        doc_line(n, DOC_PLAIN,
                 "fewer than two trials count: their median cannot be bounded");
    else
        doc_detail(doc_line(n, DOC_PLAIN,
                            "intervals of medians have %.4g%% confidence%s",
                            100 * s->confidence,
                            s->confidence < TRIALS_CONFIDENCE
                                ? "; 95% requires at least 6 trials"
                                : ""));
}

/* What the verdict on a term is based on. */
static void add_evidence(struct doc_node *row, const struct set_term *t)
{
    bool is_share = t->allowed >= 0 && t->all.n > 0;
    bool has_bound = t->bounds.high > t->bounds.low;
    double bound = t->verdict == VERDICT_FAIL ? t->bounds.low : t->bounds.high;

    if (is_share) {
        doc_count(row, "misses", NULL, (int64_t)t->all.misses);
        doc_count(row, "n", NULL, (int64_t)t->all.n);
        doc_share(row, "share_missed", "missed", t->all.misses / t->all.n);
        doc_share(row, "share_allowed", "allowed", t->allowed);
        doc_missing_if(
            doc_share(row, "bound",
                      t->verdict == VERDICT_FAIL ? "at least" : "at most",
                      bound),
            !has_bound, "not tested");
        doc_number(row, "n_effective", "independent samples",
                   t->all.n_effective);
    } else if (t->verdict != VERDICT_NONE) {
        if (t->verdict == VERDICT_PASS)
            bound = t->bounds.low;
        doc_missing_if(doc_rate(row, "bound", NULL, bound), !has_bound,
                       "not tested");
    }
    doc_unless(row, DOC_NUMBER, "p", NULL, t->p, t->p >= 1, "not tested");
    doc_missing_if(doc_count(row, "needed", NULL, t->needed), t->needed == 0,
                   t->is_shown ? "the verdict is shown" : "not known");
}

static void add_terms(struct doc_node *in, const struct trials_summary *s)
{
    struct doc_node *table = doc_table(in, "slo", "");

    for (size_t i = 0; i < s->n_terms; i++) {
        const struct set_term *t = &s->terms[i];
        struct doc_node *row = doc_row(table);
        bool is_ns = t->term.kind == SLO_QUANTILE;
        bool is_judged = t->verdict != VERDICT_NONE;
        bool is_known =
            t->verdict == VERDICT_PASS || t->verdict == VERDICT_FAIL;

        if (t->class)
            doc_text(row, "class", "class", t->class);
        doc_text(row, "term", "term", t->term.text);
        doc_text(row, "verdict", "verdict", verdict_name(t->verdict));
        doc_show(doc_show_if(doc_bool(row, "shown", "", t->is_shown), is_known),
                 "%s", t->is_shown ? "shown" : "as observed");
        doc_show_if(doc_count(row, "kept", "trials that keep it", t->kept),
                    is_judged);
        doc_show_if(doc_count(row, "missed", "miss it", t->missed), is_judged);
        add_evidence(row, t);
        add_over(doc_section(row, is_ns ? "measured_ms" : "measured", ""),
                 &t->measured, kind_of(&t->term));
    }
}

static const char *verdict_text(const struct trials_summary *s)
{
    switch (s->verdict) {
    case VERDICT_PASS:
        return s->is_shown
                   ? "PASS, shown: the SLO is met"
                   : "PASS as observed: the SLO is met, but this is not "
                     "shown with 95% confidence";
    case VERDICT_FAIL:
        return s->is_shown ? "FAIL, shown: the SLO is missed"
                           : "FAIL as observed: the SLO is missed, but this is "
                             "not shown with 95% confidence";
    case VERDICT_UNDECIDED:
        return trials_are_cut(s) ? "UNDECIDED: the set was interrupted"
                                 : "UNDECIDED: too few samples";
    case VERDICT_INVALID:
        return "INVALID: too few trials can be trusted";
    default:
        return "none: no SLO was given";
    }
}

static void add_verdict(struct doc_node *root, const struct trials_summary *s)
{
    struct doc_node *n = doc_section(root, NULL, "verdict");

    doc_show(doc_text(n, "verdict", "", verdict_name(s->verdict)), "%s",
             verdict_text(s));
    doc_bool(n, "shown", NULL, s->is_shown);
    if (s->verdict == VERDICT_INVALID) {
        size_t needed = valid_runs_needed((size_t)s->set.asked);

        doc_textf(n, "verdict_note", NULL, "%zu valid trials, %zu are needed",
                  s->counted, needed);
        doc_line(n, DOC_PLAIN,
                 "%zu valid trials, %zu are needed; %zu discarded", s->counted,
                 needed, s->discarded);
    }
    doc_count(n, "late", NULL, (int64_t)s->late);
    if (s->late > 0)
        doc_line(n, DOC_WARNING,
                 "too few trials are valid; in %zu that count the client was "
                 "late, which only makes latencies longer: do not quote them",
                 s->late);
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

/* What study.until asks for, what the set reached, and which trials would reach
 * it. */
static void add_until(struct doc_node *root, const struct trials_summary *s)
{
    const struct set_precision *p = &s->precision;
    const char *unsplit =
        p->why ? p->why : "the trials are too short to tell it from the rest";
    struct doc_node *n;

    if (!s->has_until)
        return;
    n = doc_section(root, "until", "until");
    doc_textf(n, "asked", "", "%s p%.10g +- %.4g%%",
              measure_name(s->until.measure), 100 * s->until.quantile,
              100 * s->until.share);
    doc_sep(doc_show(doc_bool(n, "reached", "", p->is_reached), "%s",
                     p->is_reached ? "reached" : "not reached"),
            ": ");
    doc_brief(doc_missing_if(doc_ns(n, "value", p->why ? "" : "mean", p->value),
                             p->why, p->why),
              p->why);
    doc_show_if(doc_sep(doc_unless(n, DOC_SHARE, "half_width", "", p->half,
                                   p->why, p->why),
                        " +- "),
                !p->why);
    doc_unless(n, DOC_SHARE, "within_launches",
               p->is_split ? "one trial scatters within server starts by"
                           : NULL,
               p->within, !p->is_split, unsplit);
    doc_unless(n, DOC_SHARE, "between_launches",
               p->is_split ? "between server starts by" : NULL, p->between,
               !p->is_split, unsplit);
    doc_missing_if(doc_count(n, "recommended_trials", NULL, p->trials), p->why,
                   p->why);
    doc_unless(n, DOC_SECONDS, "recommended_s", NULL, p->length_s, p->why,
               p->why);
    if (p->trials >= TRIALS_MANY)
        doc_line(n, DOC_PLAIN,
                 "no reasonable number of trials is that precise");
    else if (!p->why)
        doc_line(n, DOC_PLAIN,
                 "recommended: %lld trials with a window of %.3g s",
                 (long long)p->trials, p->length_s);
}

/* ---- each trial ---- */

static bool has_measure(const struct trials_summary *s, int m)
{
    const struct over_trials *o = &s->quantile[m][0];

    return o->is_known || o->missing != HIST_EMPTY;
}

static void add_remark(struct doc_node *row, const struct trial *t)
{
    if (t->stopped_by || t->was_killed)
        doc_textf(row, NULL, "", "%s, not counted",
                  t->stopped_by ? "interrupted" : "killed");
    else if (t->discarded[0])
        doc_textf(row, NULL, "", "discarded: %s", t->discarded);
    else
        doc_text(row, NULL, "", t->was_aborted ? "aborted" : "");
}

/* The value of each SLO term in this trial. */
static void add_trial_terms(struct doc_node *row,
                            const struct trials_summary *s,
                            const struct trial *t)
{
    struct doc_node *list = doc_list(row, "terms", NULL);

    for (size_t i = 0; i < s->n_terms && !t->lost; i++) {
        const struct set_term *term = &s->terms[i];
        struct doc_node *n = doc_row(list);

        doc_text(n, "term", NULL, term->term.text);
        if (term->class)
            doc_text(n, "class", NULL, term->class);
        doc_text(n, "verdict", NULL, verdict_name(t->terms[i].verdict));
        if (term->term.kind == SLO_QUANTILE)
            doc_ns(n, "measured", NULL, t->terms[i].measured);
        else
            doc_number(n, "measured", NULL, t->terms[i].measured);
    }
}

static void add_trial(struct doc_node *table, const struct trials_summary *s,
                      const struct trial *t)
{
    const double *e2e = t->quantile_ns[MEASURE_E2E];
    struct doc_node *row = doc_show_if(doc_row(table), !t->lost);

    doc_count(row, "trial", "trial", t->number);
    doc_textf(row, "seed", "seed", "%llu", (unsigned long long)t->seed);
    doc_text(row, "verdict", "verdict", verdict_name(t->verdict));
    doc_bool(row, "counted", NULL, trial_counts(t));
    doc_text(row, "discarded", NULL,
             trial_is_whole(t) && t->discarded[0] ? t->discarded : NULL);
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
    add_trial_terms(row, s, t);
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

        struct doc_node *row;

        if (!trials_have_rate(s, r)) {
            doc_null(rows, name, trial_why_without(first, r));
            continue;
        }
        row = doc_section(rows, name, trial_rate_labels[r].label);
        add_over(row, &s->rate[r], trial_rate_labels[r].kind);
        doc_track(row->first, trial_rate_labels[r].better);
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
            row = doc_undotted(doc_section(measure, key, label));
            add_over(row, o, DOC_NS);
            if (o->is_known && o->mean.has_range && q == SUMMARY_P99)
                add_student(doc_section(row, "student", NULL), s, o, false);
        }
        run_doc_track(measure, m);
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
    doc_text(root, "name", NULL, s->name ? s->name : "");
    doc_paragraph(root, s->title ? s->title : "");
    n = doc_section(root, "trials", "trials");
    doc_count(n, "recorded", "recorded", (int64_t)s->n);
    doc_sep(doc_count(n, "asked", "", s->set.asked),
            (int64_t)s->n > s->set.asked ? " for " : " of ");
    doc_show_if(doc_count(n, "counted", "counted", (int64_t)s->counted),
                s->counted < s->n);
    doc_show_if(doc_count(n, "discarded", "discarded", (int64_t)s->discarded),
                s->discarded > 0);
    n = doc_section(root, NULL, "starts");
    doc_count(n, "launches", "", study_set_launches(&s->set));
    doc_sep(doc_text(n, NULL, "", launches[s->set.launched_by]), ": ");
    if (s->set.against[0])
        doc_text(n, "against", "in turns with", s->set.against);
    add_verdict(root, s);
    add_until(root, s);
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
    doc_conclude(d, trials_conclusion(s));
    doc_set_brief(d, trials_brief);
    return d;
}
