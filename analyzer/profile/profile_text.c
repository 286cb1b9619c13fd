/* A profile for people: the tool's numbers above ours, and why they differ. */
#include <stdio.h>
#include <string.h>

#include "analyzer/profile/profile.h"
#include "analyzer/report/text_parts.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"

#define NAME_WIDTH 22

static void put_cell(double ns, struct buf *out)
{
    char text[UNITS_TEXT];
    const char *shown = text_show_ns(ns, text);

    buf_addf(out, " %8s",
             strcmp(shown, "n too small") == 0 ? "n small" : shown);
}

static void put_times(const char *name, const char *whose, int64_t n,
                      const struct profile_line *line, bool is_ours,
                      struct buf *out)
{
    char label[64];

    snprintf(label, sizeof(label), "%-5s %s", name, whose);
    buf_addf(out, "%-*s %9lld", NAME_WIDTH, label, (long long)n);
    put_cell(is_ours ? line->mean.ours : line->mean.theirs, out);
    for (int q = 0; q < PROFILE_QUANTILES; q++)
        put_cell(is_ours ? line->quantile[q].ours : line->quantile[q].theirs,
                 out);
    buf_adds(out, "\n");
}

static void put_line(const struct profile *p, enum profile_time time,
                     struct buf *out)
{
    static const enum measure measures[PROFILE_TIMES] = {
        MEASURE_TTFT, MEASURE_ITL, MEASURE_TPOT, MEASURE_E2E};
    const struct profile_line *line = &p->lines[time];
    int64_t n = p->summary->spread[measures[time]][VIEW_DUE].n;

    if (line->n == 0 && n == 0)
        return;
    if (line->is_theirs)
        put_times(profile_time_name[time], p->ops->name, line->n, line, false,
                  out);
    else
        buf_addf(out, "%-5s %s has no such number\n", profile_time_name[time],
                 p->ops->name);
    put_times("", "tailgate", n, line, true, out);
    if (line->is_theirs && line->why)
        buf_addf(out, "      %s: %s\n", p->ops->name, line->why);
}

static void put_rate(const struct profile *p, enum profile_rate rate,
                     struct buf *out)
{
    const struct profile_pair *pair = &p->rates[rate];

    if (pair->ours < 0 && pair->theirs < 0)
        return;
    buf_addf(out, "%s/s: ",
             rate == PROFILE_GOODPUT ? "good requests"
                                     : profile_rate_name[rate]);
    if (pair->theirs >= 0)
        buf_addf(out, "%s %.6g", p->ops->name, pair->theirs);
    else
        buf_addf(out, "%s has no such number", p->ops->name);
    buf_addf(out, ", tailgate %.6g\n", pair->ours);
    if (pair->theirs >= 0 && p->ops->why_rate[rate])
        buf_addf(out, "      %s: %s\n", p->ops->name, p->ops->why_rate[rate]);
}

void profile_text(const struct profile *p, struct buf *out)
{
    buf_addf(out, "profile    %s: what it would have said of this recording\n",
             p->ops->name);
    buf_addf(out, "clock      starts %s\n", p->ops->start);
    buf_addf(out,
             "requests   %s: %lld completed, %lld failed, over %.6g s; "
             "tailgate: %lld ok, %lld failed, %lld unsent\n",
             p->ops->name, (long long)p->completed, (long long)p->failed,
             p->duration_s, (long long)p->summary->ok,
             (long long)p->summary->failed, (long long)p->summary->unsent);
    if (p->summary->has_tokens)
        buf_addf(out, "tokens     %s: %lld in, %lld out, of the completed\n",
                 p->ops->name, (long long)p->input_tokens,
                 (long long)p->output_tokens);
    buf_addf(out, "\n%-*s %9s %8s %8s %8s %8s %8s\n", NAME_WIDTH, "", "n",
             "mean", "p50", "p90", "p95", "p99");
    for (int i = 0; i < PROFILE_TIMES; i++)
        put_line(p, (enum profile_time)i, out);
    buf_adds(out, "\n");
    for (int i = 0; i < PROFILE_RATES; i++)
        put_rate(p, (enum profile_rate)i, out);
    if (p->ops->note)
        buf_addf(out, "note       %s\n", p->ops->note);
}
