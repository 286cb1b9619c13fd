/* The document of a search: the answer, what it rests on, and the probes as a
 * curve of misses over the load.  Values that are not known are null. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "analyzer/report/study_doc.h"
#include "analyzer/search/search_read.h"
#include "common/base/xalloc.h"
#include "common/text/units.h"

#define SEARCH_SCHEMA 1
#define PLOT          40
#define LOWEST        0.0001 /* miss share at the left end of the curve */

static struct doc_node *with_unit(struct doc_node *n,
                                  const struct search_summary *s)
{
    return doc_unit(n, s->has_rate ? "/s" : " clients");
}

/* "capacity_rps", or "capacity_clients". */
static struct doc_node *add_load(struct doc_node *in, const char *name,
                                 const char *label,
                                 const struct search_summary *s, double value)
{
    char key[48];

    snprintf(key, sizeof(key), "%s_%s", name, s->has_rate ? "rps" : "clients");
    return with_unit(doc_number(in, key, label, value), s);
}

static struct doc_node *add_interval(struct doc_node *in, const char *key,
                                     const char *label,
                                     const struct search_summary *s,
                                     struct interval i)
{
    return doc_missing_if(
        with_unit(doc_range(in, key, label, DOC_NUMBER, i), s),
        !isfinite(i.low) && !isfinite(i.high), NULL);
}

/* ---- the answer ---- */

/* Is the reason more than what the headline says? */
static bool has_more_to_say(const struct search_answer *a)
{
    switch (a->outcome) {
    case SEARCH_AT_LEAST:
    case SEARCH_BUDGET:
    case SEARCH_UNDECIDED:
    case SEARCH_NOT_PROBED:
        return a->why[0] != '\0';
    default:
        return false;
    }
}

static void add_headline(struct doc_node *n, const struct search_summary *s)
{
    const struct search_answer *a = &s->answer;
    char text[UNITS_TEXT];
    const char *unit = s->has_rate ? "/s" : " clients";

    switch (a->outcome) {
    case SEARCH_NEVER:
        doc_line(n, DOC_PLAIN, "none: %s", a->why);
        break;
    case SEARCH_CLIENT:
        doc_line(n, DOC_PLAIN, "at least %s%s%s: the client is the limit",
                 units_show_number(a->at_least, text), unit,
                 isfinite(a->confirmed) ? "" : ", not confirmed");
        break;
    case SEARCH_AT_LEAST:
        doc_line(n, DOC_PLAIN, "at least %s%s, the highest load allowed",
                 units_show_number(a->at_least, text), unit);
        break;
    case SEARCH_NOT_PROBED:
        doc_line(n, DOC_PLAIN, "not known: the probes do not reach it");
        break;
    case SEARCH_UNDECIDED:
        doc_line(n, DOC_PLAIN, "UNDECIDED");
        break;
    default:
        if (!isfinite(a->capacity))
            doc_line(n, DOC_PLAIN, "not known yet");
    }
}

static void add_answer(struct doc_node *root, const struct search_summary *s)
{
    const struct search_answer *a = &s->answer;
    bool is_estimate =
        isfinite(a->capacity) &&
        (a->outcome == SEARCH_FOUND || a->outcome == SEARCH_ESTIMATED ||
         a->outcome == SEARCH_BUDGET || a->outcome == SEARCH_UNDECIDED ||
         a->outcome == SEARCH_GOES_ON);
    struct doc_node *n = doc_section(root, NULL, "capacity");
    char text[SEARCH_TEXT];

    doc_text(n, "outcome", NULL, search_outcome_name(a->outcome));
    doc_text(n, "why", NULL, a->why);
    doc_bool(n, "interrupted", NULL, s->set.stopped_by != 0);
    add_headline(n, s);
    doc_bounds(doc_track(add_load(n, "capacity", is_estimate ? "" : NULL, s,
                                  a->capacity),
                         search_conclusion(s) == CONCLUSION_YES
                             ? DOC_HIGHER
                             : DOC_UNTRACKED),
               a->ci);
    doc_show_if(add_interval(n, "capacity_ci90", "90% interval", s, a->ci),
                is_estimate && isfinite(a->ci.low) && isfinite(a->ci.high));
    doc_sep(
        doc_show_if(add_load(n, "confirmed", "", s, a->confirmed), is_estimate),
        "; ");
    if (is_estimate && isfinite(a->confirmed))
        doc_show(n->last, "%s at %.4g%s", search_confirmed_how(a), a->confirmed,
                 s->has_rate ? "/s" : " clients");
    else if (is_estimate)
        doc_sep(doc_text(n, NULL, "", "not confirmed"), "; ");
    doc_missing_if(doc_bool(n, "confirmed_met", NULL, a->confirmed_met),
                   !isfinite(a->confirmed), NULL);
    doc_number(n, "miss_share_slope", NULL, a->slope);
    doc_number(n, "relaxation_s", NULL, a->relax_s);
    doc_bool(n, "windows_short", NULL, a->is_short);
    if (a->outcome == SEARCH_NOT_PROBED)
        add_interval(n, "missing", NULL, s, a->missing);
    if (is_estimate && a->outcome == SEARCH_BUDGET)
        doc_line(n, DOC_PLAIN,
                 "the time is over: a longer --budget narrows the interval%s",
                 isfinite(a->confirmed) ? "" : " and confirms the estimate");
    else if (has_more_to_say(a))
        doc_line(n, DOC_PLAIN, "%s", a->why);
    if (s->is_of_others)
        doc_line(n, DOC_PLAIN,
                 "by another SLO than the search used; no new load was sent");
    else if (s->set.stopped_by)
        doc_line(n, DOC_PLAIN,
                 "interrupted by signal %lld; --resume continues it",
                 (long long)s->set.stopped_by);
    if (s->set.failed[0])
        doc_line(n, DOC_PLAIN, "ended early: %s", s->set.failed);
    if (a->outcome == SEARCH_ESTIMATED)
        doc_line(n, DOC_PLAIN, "an estimate: no run has confirmed it");
    n = doc_section(root, NULL, "bracket");
    search_bracket(s->has_rate ? SEARCH_RATE : SEARCH_CONCURRENCY, a, text);
    if (text[0])
        doc_line(n, DOC_PLAIN, "single probes %s", text);
    add_load(n, "at_least", NULL, s, a->at_least);
    add_load(n, "at_most", NULL, s, a->at_most);
    add_load(n, "met_to", NULL, s, a->met_to);
    add_load(n, "missed_from", NULL, s, a->missed_from);
    doc_text(doc_section(root, NULL, "binding"), "binding", "", a->binding);
}

/* What each term alone would allow. */
static void add_capacities(struct doc_node *root,
                           const struct search_summary *s)
{
    struct doc_node *list = doc_list(root, "terms", NULL);

    for (size_t i = 0; i < s->terms.slo.len; i++) {
        const struct slo_term *t = &s->terms.slo.terms[i];
        const struct search_capacity *c = &s->answer.terms[i];
        struct doc_node *n;

        if (slo_allowed(t) < 0)
            continue;
        n = doc_row(list);
        doc_text(n, "term", NULL, t->text);
        doc_bool(n, "binds", NULL,
                 s->answer.binding && strcmp(s->answer.binding, t->text) == 0);
        doc_share(n, "allowed_share", NULL, slo_allowed(t));
        add_load(n, "capacity", NULL, s, c->capacity);
        add_interval(n, "capacity_ci90", NULL, s, c->ci);
        doc_number(n, "miss_share_slope", NULL, c->slope);
    }
}

/* ---- the client, and what was spent ---- */

static bool is_beyond_by(const struct search_summary *s, const char *check)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct search_result *r = &s->probes[i].result;

        if (r->value >= s->answer.client_limit &&
            search_is_discarded_by(r, check))
            return true;
    }
    return false;
}

/* By why probes were discarded there. */
static const char *what_limits(const struct search_summary *s)
{
    if (is_beyond_by(s, SEARCH_EXHAUSTED))
        return "out of local ports, open files or memory at";
    if (is_beyond_by(s, SEARCH_CAPPED))
        return "too few connections (--connections) at";
    if (is_beyond_by(s, SEARCH_BUSY))
        return "busy and too slow itself at";
    return "too late, though not busy (the machine may be the cause), from";
}

static void add_client(struct doc_node *root, const struct search_summary *s)
{
    const struct calibration_stamp *c = &s->calibration;
    json_t *stamp = calibration_stamp_to_json(c);
    struct doc_node *n = doc_section(root, NULL, "client");
    char text[UNITS_TEXT];

    if (c->standing == CALIBRATED && c->of.max_rate_rps > 0)
        doc_line(n, DOC_PLAIN, "reliable up to %s%s by its calibration",
                 calibration_is_at_least(&c->of) ? "at least " : "",
                 units_show_rate(c->of.max_rate_rps, text));
    else
        doc_line(n, DOC_PLAIN, "%s: tailgate calibrate measures its limit",
                 c->standing == CALIBRATION_STALE
                     ? "its calibration does not apply here"
                     : "not calibrated");
    add_load(n, "client_limit", what_limits(s), s, s->answer.client_limit);
    doc_json(n, "calibration", stamp);
    json_decref(stamp);
}

static void add_look(struct doc_node *in, const struct search_summary *s)
{
    struct doc_node *n;

    if (s->look.value <= 0)
        return;
    n = doc_section(in, "look", NULL);
    doc_number(n, "clients", NULL, s->look.value);
    doc_rate(n, "throughput_rps", NULL, s->look.throughput_rps);
}

static void add_spent(struct doc_node *root, const struct search_summary *s)
{
    const struct search_answer *a = &s->answer;
    struct doc_node *n = doc_section(root, NULL, "spent");
    size_t confirmations = 0;
    char text[UNITS_TEXT];

    for (size_t i = 0; i < s->n; i++)
        confirmations += s->probes[i].at->role == POINT_CONFIRM;
    add_look(n, s);
    doc_count(n, NULL, "probes", (int64_t)(s->n - confirmations));
    doc_count(n, NULL, "confirmations", (int64_t)confirmations);
    doc_show_if(doc_count(n, "set_aside", "discarded", (int64_t)a->discarded),
                a->discarded > 0);
    doc_count(n, "requests", "requests", a->requests);
    doc_show(doc_seconds(n, "took_s", "time", (double)a->took_ns / 1e9), "%s",
             units_show_span(a->took_ns, text));
}

/* ---- the probes ---- */

/* The term that is shown: the one that binds. */
static size_t shown_term(const struct search_summary *s)
{
    for (size_t i = 0; i < s->terms.slo.len; i++) {
        if (s->answer.binding &&
            strcmp(s->terms.slo.terms[i].text, s->answer.binding) == 0)
            return i;
    }
    return 0;
}

static double ms_of(int64_t ns)
{
    return ns < 0 ? NAN : (double)ns / 1e6;
}

static void add_terms(struct doc_node *row, const struct search_summary *s,
                      const struct search_result *r)
{
    struct doc_node *list = doc_list(row, "terms", NULL);

    for (size_t i = 0; i < r->n_terms; i++) {
        const struct search_counts *c = &r->terms[i];
        struct doc_node *n = doc_row(list);

        doc_text(n, "term", NULL, s->terms.slo.terms[i].text);
        doc_count(n, "n", NULL, c->n);
        doc_count(n, "misses", NULL, c->misses);
        doc_share(n, "miss_share", NULL,
                  c->n > 0 ? (double)c->misses / (double)c->n : NAN);
        doc_missing_if(
            doc_range(n, "miss_share_ci90", NULL, DOC_SHARE, c->missed_ci90),
            c->n == 0, NULL);
        if (s->terms.slo.terms[i].kind != SLO_QUANTILE)
            continue;
        doc_value(n, DOC_MS, "measured_ms", NULL, ms_of(c->measured_ns));
        /* No upper end: no limit is shown to be met. */
        doc_range(n, "interval_ms", NULL, DOC_MS,
                  (struct interval){c->low_ns > 0 ? ms_of(c->low_ns) : 0,
                                    ms_of(c->high_ns)});
    }
}

static void add_measures(struct doc_node *row, const struct trial *t,
                         enum measure shown)
{
    static const enum measure kept[] = {MEASURE_E2E, MEASURE_TTFT,
                                        MEASURE_TPOT};
    struct doc_node *all = doc_section(row, "measures", "");

    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        enum measure m = kept[i];

        if (t->quantile_ns[m][0] == HIST_EMPTY)
            continue;
        study_doc_quantiles(
            doc_section(all, measure_name(m), m == shown ? "" : NULL), (int)m,
            t->quantile_ns[m], true);
    }
}

/* '|' is what the term allows, '*' what was missed. */
static void add_misses(struct doc_node *row, const struct search_counts *c,
                       const struct slo_term *t)
{
    double share = c->n > 0 ? (double)c->misses / (double)c->n : NAN;
    double allowed = slo_allowed(t);
    struct doc_plot plot = {.a = fmin(share, allowed),
                            .b = fmax(share, allowed),
                            .low = LOWEST,
                            .high = 1,
                            .is_log = true,
                            .width = PLOT,
                            .before = ' ',
                            .at_a = share <= allowed ? '*' : '|',
                            .between = ' ',
                            .at_b = share <= allowed ? '|' : '*'};
    char legend[256];

    doc_share(row, NULL, "missed", share);
    snprintf(legend, sizeof(legend), "%s: * missed, | allowed, 0.01%% to 100%%",
             t->text);
    if (c->n > 0)
        doc_plot(row, legend, &plot);
}

static void add_probe(struct doc_node *row, const struct search_summary *s,
                      const struct search_probe *p, size_t term)
{
    const struct search_result *r = &p->result;
    const struct slo_term *t = &s->terms.slo.terms[term];
    char *dir = study_point_path(".", p->at);

    doc_text(row, "dir", "probe", dir + strlen("./"));
    free(dir);
    doc_text(row, "role", NULL,
             p->at->role == POINT_CONFIRM ? "confirmation" : "probe");
    doc_number(row, "value", s->has_rate ? "rate" : "clients", r->value);
    doc_rate(row, "offered_rps", NULL, r->offered_rps);
    doc_rate(row, "completed_rps", NULL, r->completed_rps);
    doc_rate(row, "throughput_rps", NULL, r->throughput_rps);
    doc_rate(row, "goodput_rps", NULL,
             p->is_lost ? NAN : p->run.rate[TRIAL_GOODPUT]);
    if (p->run.has_tokens)
        doc_rate(row, "goodput_tokens_per_s", NULL,
                 p->run.rate[TRIAL_GOOD_TOKENS]);
    if (p->run.has_cost) {
        doc_usd(row, trial_rate_name(TRIAL_USD), NULL, p->run.rate[TRIAL_USD]);
        doc_usd(row, trial_rate_name(TRIAL_USD_TOKENS), NULL,
                p->run.rate[TRIAL_USD_TOKENS]);
    }
    doc_count(row, "requests", "requests", r->requests);
    doc_seconds(row, "window_s", "window", (double)r->window_ns / 1e9);
    doc_seconds(row, "took_s", NULL, (double)r->took_ns / 1e9);
    if (!p->is_lost)
        add_measures(row, &p->run,
                     t->kind == SLO_QUANTILE ? t->measure : MEASURE_E2E);
    add_misses(row, &r->terms[term], t);
    doc_bool(row, "overloaded", NULL, r->is_overloaded);
    doc_bool(row, "ended_early", NULL, r->ended_early);
    doc_text(row, "set_aside", "discarded", r->discarded);
    doc_text(row, "verdict", NULL,
             p->is_lost ? NULL : verdict_name(p->run.verdict));
    if (p->run.distrust[0])
        doc_text(row, "not_trusted", NULL, p->run.distrust);
    add_terms(row, s, r);
    doc_text(row, NULL, "",
             r->ended_early                      ? "ended early"
             : r->is_overloaded && !r->discarded ? "overloaded"
                                                 : "");
}

static int by_value(const void *a, const void *b)
{
    double x = (*(const struct search_probe *const *)a)->result.value;
    double y = (*(const struct search_probe *const *)b)->result.value;

    return (x > y) - (x < y);
}

/* Programs see the probes as they were made, people by their load. */
static void add_probes(struct doc_node *root, const struct search_summary *s)
{
    const struct search_probe **sorted =
        xcalloc(s->n, sizeof(struct search_probe *));
    struct doc_node *made = doc_list(root, "probes", NULL);
    struct doc_node *shown = doc_text_only(doc_table(root, NULL, ""));
    size_t term = shown_term(s);

    for (size_t i = 0; i < s->n; i++) {
        sorted[i] = &s->probes[i];
        add_probe(doc_row(made), s, sorted[i], term);
    }
    qsort(sorted, s->n, sizeof(struct search_probe *), by_value);
    for (size_t i = 0; i < s->n; i++)
        add_probe(doc_row(shown), s, sorted[i], term);
    free(sorted);
}

struct doc *search_doc(const struct search_summary *s)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *n;

    doc_count(root, "schema", NULL, SEARCH_SCHEMA);
    doc_text(root, "kind", NULL, "search");
    doc_text(root, "name", NULL, s->name ? s->name : "");
    doc_text(root, "by", NULL, s->has_rate ? "rate" : "concurrency");
    doc_paragraph(root, s->title);
    n = doc_section(root, NULL, "search");
    doc_line(n, DOC_PLAIN, "the highest %s that meets",
             s->has_rate ? "request rate" : "number of concurrent clients");
    n = doc_list(n, "slo", "");
    for (size_t i = 0; i < s->terms.slo.len; i++)
        doc_line(n, DOC_PLAIN, "%s", s->terms.slo.terms[i].text);
    add_answer(root, s);
    add_capacities(root, s);
    add_client(root, s);
    add_spent(root, s);
    add_probes(root, s);
    doc_conclude(d, search_conclusion(s));
    doc_set_brief(d, search_brief);
    return d;
}
