/* The classes of a mix in the report a person reads: a row for each and the
 * total, then how long each took and what was asked of it. */
#include <stdio.h>

#include "analyzer/report/text_parts.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"

/* A longer name takes room from its row alone. */
#define NAME_WIDTH 17

struct row {
    const char *name;
    double share;
    int64_t scheduled;
    int64_t ok;
    int64_t failed;
    int64_t unsent;
    double offered_rps;
    double throughput_rps;
    double goodput_rps;
    double attainment;
    struct interval ci95;
};

static void put_row(const struct row *r, struct buf *out)
{
    buf_addf(out, "%-*s %5.3g%% %8lld %8lld %7lld %7lld %9.5g %9.5g %9.5g",
             NAME_WIDTH, r->name, 100 * r->share, (long long)r->scheduled,
             (long long)r->ok, (long long)r->failed, (long long)r->unsent,
             r->offered_rps, r->throughput_rps, r->goodput_rps);
    if (r->scheduled > 0)
        buf_addf(out, "  %.5g%% (%.5g%% to %.5g%%)", 100 * r->attainment,
                 100 * r->ci95.low, 100 * r->ci95.high);
    buf_adds(out, "\n");
}

static void put_counts(const struct summary *s, struct buf *out)
{
    buf_addf(out, "%-*s %6s %8s %8s %7s %7s %9s %9s %9s  %s\n", NAME_WIDTH,
             "classes", "share", "due", "ok", "failed", "unsent", "offered/s",
             "ended/s", "goodput/s", "good (95% interval)");
    for (size_t i = 0; i < s->n_classes; i++) {
        const struct class_summary *c = &s->classes[i];

        put_row(&(struct row){c->name, c->share, c->scheduled, c->ok, c->failed,
                              c->unsent, c->offered_rps, c->throughput_rps,
                              c->goodput_rps, c->attainment,
                              c->attainment_ci95},
                out);
    }
    put_row(&(struct row){"total", 1, s->scheduled, s->ok, s->failed, s->unsent,
                          s->offered_rps, s->throughput_rps, s->goodput_rps,
                          s->attainment, s->attainment_ci95},
            out);
}

static void put_measures(const struct class_summary *c, struct buf *out)
{
    static const enum measure shown[] = {MEASURE_E2E, MEASURE_TTFT,
                                         MEASURE_TPOT};

    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        char name[64];

        if (shown[i] != MEASURE_E2E && !c->is_streamed)
            continue;
        snprintf(name, sizeof(name), "%s %s", c->name, measure_name(shown[i]));
        text_put_row(name, &c->spread[shown[i]], out);
    }
}

static void put_slo(const struct class_summary *c, struct buf *out)
{
    if (c->judgement.len == 0)
        return;
    buf_addf(out, "%s: %s\n", c->name, verdict_name(c->judgement.verdict));
    text_put_terms(&c->judgement, out);
    text_put_tiers(&c->tiers, c->scheduled > 0, out);
}

void text_put_class_verdicts(const struct summary *s, struct buf *out)
{
    for (size_t i = 0; i < s->n_classes; i++) {
        enum verdict v = s->classes[i].judgement.verdict;

        if (v == VERDICT_FAIL || v == VERDICT_UNDECIDED)
            buf_addf(out, "  class %-18s %s; its terms are below\n",
                     s->classes[i].name, verdict_name(v));
    }
}

void text_put_classes(const struct summary *s, struct buf *out)
{
    if (s->n_classes == 0)
        return;
    put_counts(s, out);
    for (size_t i = 0; i < s->n_classes; i++)
        put_slo(&s->classes[i], out);
    buf_adds(out, "\n");
    text_put_heading(out);
    for (size_t i = 0; i < s->n_classes; i++)
        put_measures(&s->classes[i], out);
    buf_adds(out, "\n");
}
