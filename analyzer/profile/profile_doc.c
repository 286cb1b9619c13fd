/* The document of a profile: the tool's numbers above ours, and why they
 * differ. */
#include <stdio.h>

#include "analyzer/profile/profile.h"
#include "analyzer/report/doc.h"
#include "analyzer/tally/summary.h"

static void add_numbers(struct doc_node *row, const struct profile_line *line,
                        bool is_ours)
{
    doc_ns(row, "mean", "mean", is_ours ? line->mean.ours : line->mean.theirs);
    for (int q = 0; q < PROFILE_QUANTILES; q++)
        doc_ns(row, profile_quantile_name[q], profile_quantile_name[q],
               is_ours ? line->quantile[q].ours : line->quantile[q].theirs);
}

static void add_time(struct doc_node *rows, const struct profile *p,
                     enum profile_time time)
{
    static const enum measure measures[PROFILE_TIMES] = {
        MEASURE_TTFT, MEASURE_ITL, MEASURE_TPOT, MEASURE_E2E};
    const struct profile_line *line = &p->lines[time];
    int64_t n = p->summary->spread[measures[time]][VIEW_DUE].n;
    const char *name = profile_time_name[time];
    struct doc_node *both =
        doc_section(rows, name, line->n > 0 || n > 0 ? "" : NULL);
    struct doc_node *row;
    char label[64];

    if (line->is_theirs) {
        snprintf(label, sizeof(label), "%s %s", name, p->ops->name);
        row = doc_section(both, "theirs", label);
        doc_count(row, "n", "n", line->n);
        add_numbers(row, line, false);
        doc_ns(row, "std", NULL, line->deviation);
    } else {
        doc_null(both, "theirs", NULL);
        doc_line(both, DOC_PLAIN, "%s: %s has no such number", name,
                 p->ops->name);
    }
    snprintf(label, sizeof(label), "%s tailgate", name);
    row = doc_section(both, "ours", label);
    doc_count(row, NULL, "n", n);
    add_numbers(row, line, true);
    doc_text(both, "why", NULL, line->is_theirs ? line->why : NULL);
    if (line->is_theirs && line->why)
        doc_line(both, DOC_PLAIN, "  %s: %s", p->ops->name, line->why);
}

static void add_rate(struct doc_node *rows, const struct profile *p,
                     enum profile_rate rate)
{
    static const char *const keys[PROFILE_RATES] = {
        "requests_per_s", "output_tokens_per_s", "goodput_rps"};
    const struct profile_pair *pair = &p->rates[rate];
    const char *why = p->ops->why_rate[rate];
    struct doc_node *row = doc_section(
        rows, keys[rate],
        rate == PROFILE_GOODPUT ? "good requests" : profile_rate_name[rate]);

    doc_show_if(row, pair->ours >= 0 || pair->theirs >= 0);
    doc_unless(row, DOC_RATE, "theirs", p->ops->name, pair->theirs,
               pair->theirs < 0, NULL);
    doc_unless(row, DOC_RATE, "ours", "tailgate", pair->ours, pair->ours < 0,
               NULL);
    doc_show_if(doc_text(row, "why", "why they differ", why),
                pair->theirs >= 0);
}

struct doc *profile_doc(const struct profile *p)
{
    const struct summary *s = p->summary;
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *n = doc_section(root, NULL, "profile");

    doc_show(doc_text(n, "profile", "", p->ops->name),
             "%s: what it would have reported for this recording",
             p->ops->name);
    doc_text(doc_section(root, NULL, "clock"), "clock_starts", "starts",
             p->ops->start);
    n = doc_section(root, NULL, "requests");
    doc_text(n, NULL, "", p->ops->name);
    doc_sep(doc_count(n, "completed", "completed", p->completed), ": ");
    doc_count(n, "failed", "failed", p->failed);
    doc_seconds(n, "duration_s", "over", p->duration_s);
    doc_sep(doc_count(n, "ours_ok", "ok", s->ok), "; tailgate: ");
    doc_count(n, "ours_failed", "failed", s->failed);
    doc_count(n, "ours_unsent", "unsent", s->unsent);
    n = doc_section(root, NULL, s->has_tokens ? "tokens" : NULL);
    doc_text(n, NULL, "", p->ops->name);
    doc_sep(doc_count(n, "input_tokens", "in", p->input_tokens), ": ");
    doc_count(n, "output_tokens", "out", p->output_tokens);
    doc_sep(doc_text(n, NULL, "", "of the completed requests"), " ");
    n = doc_rows(root, NULL, "");
    for (int i = 0; i < PROFILE_TIMES; i++)
        add_time(n, p, (enum profile_time)i);
    n = doc_rows(root, NULL, "");
    for (int i = 0; i < PROFILE_RATES; i++)
        add_rate(n, p, (enum profile_rate)i);
    doc_text(doc_section(root, NULL, "note"), "note", "", p->ops->note);
    return d;
}
