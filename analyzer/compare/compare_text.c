/* A comparison that a person reads: the answer first, then what it rests on.
 */
#include <stdio.h>

#include "analyzer/compare/compare.h"
#include "analyzer/compare/quantity.h"
#include "common/base/buf.h"
#include "common/settings/settings.h"

/* ---- what is compared ---- */

static void put_sides(const struct comparison *c, struct buf *out)
{
    char name[SHOW_TEXT];

    for (size_t i = 0; i < c->n; i++) {
        const struct side *s = &c->sides[i];

        buf_addf(out, "%-10s %s  ", i ? "" : "compare", show_side(i, name));
        settings_describe_path(s->dir, out);
        if (s->is_set)
            buf_addf(out, "  %zu trials%s", s->n,
                     s->is_one_launch ? " of one launch" : "");
        buf_adds(out, "\n");
    }
    buf_adds(out, "load       ");
    buf_addf(out, "%s\n", c->sides[0].runs[0].load);
}

static void put_basis(const struct comparison *c, struct buf *out)
{
    static const char *const texts[] = {
        [BASIS_PAIRS] =
            "pairs of trials that took turns; A and B are medians, B - A and "
            "B / A means over the pairs, with Student's intervals",
        [BASIS_TRIALS] =
            "trials; A and B are medians, B - A and B / A of means, with "
            "Welch's intervals",
        [BASIS_SLICES] =
            "20 blocks in time of one launch a side, which is weaker: what is "
            "the same within a launch does not show (--trials 5)",
        [BASIS_NONE] = "trials on some sides and single runs on others: no "
                       "intervals",
    };

    buf_addf(out, "over       %s\n", texts[c->basis]);
}

/* ---- why not ---- */

static void put_obstacles(const struct comparison *c, struct buf *out)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct side *s = &c->sides[i];

        for (size_t k = 0; k < s->n; k++) {
            if (!s->runs[k].why[0])
                continue;
            buf_adds(out, "WARNING    ");
            settings_describe_path(s->runs[k].dir, out);
            buf_addf(out, ": not compared: %s\n", s->runs[k].why);
        }
    }
}

/* Throughput is only worth what is kept of the objective. */
static void put_missed(const struct comparison *c, struct buf *out)
{
    char name[SHOW_TEXT];

    for (size_t i = 0; i < c->n; i++) {
        const struct side *s = &c->sides[i];
        size_t missed = side_missed(s);

        if (missed > 0)
            buf_addf(out,
                     "WARNING    %s misses its SLO in %zu of %zu: its "
                     "throughput is not deliverable\n",
                     show_side(i, name), missed, s->n);
    }
}

static void put_difference(const struct difference *d, struct buf *out)
{
    char name[SHOW_TEXT];

    buf_addf(out, "  %-22s ", d->key);
    settings_describe_path(d->a, out);
    buf_adds(out, "  |  ");
    settings_describe_path(d->b, out);
    buf_addf(out, " (%s)", show_side(d->side, name));
    buf_addf(out, "   %s\n", d->is_declared ? "the variable" : d->why);
}

static void put_differences(const struct comparison *c,
                            enum difference_kind kind, const char *title,
                            struct buf *out)
{
    bool is_first = true;

    for (size_t i = 0; i < c->differences.len; i++) {
        const struct difference *d = &c->differences.list[i];

        if (d->is_declared || d->kind != kind)
            continue;
        if (is_first)
            buf_addf(out, "%s: what, A, the other, why it matters\n", title);
        is_first = false;
        put_difference(d, out);
    }
}

static void put_variable(const struct comparison *c, struct buf *out)
{
    if (!c->vary) {
        buf_adds(out, "varied     nothing is declared (--vary)\n");
        return;
    }
    buf_adds(out, "varied     ");
    settings_describe_path(c->vary, out);
    for (size_t i = 0; i < c->n; i++) {
        const char *value =
            strmap_get(&c->sides[i].runs[0].conditions, c->vary);

        buf_adds(out, i ? " | " : ": ");
        settings_describe_path(value ? value : "(none)", out);
    }
    buf_adds(out, c->vary_differs ? "\n" : " (it does not differ)\n");
}

/* ---- the answer ---- */

static void put_one_answer(const struct comparison *c, size_t i,
                           struct buf *out)
{
    const struct finding *f = &c->findings[i];

    buf_addf(out, "           %s: %s", c->qs.list[i].name,
             finding_verdict_name(f->verdict));
    if (f->ratio.has_range)
        buf_addf(out, ", B / A %.4g, %.4g%% interval [%.4g, %.4g]",
                 f->ratio.value, f->confidence * 100, f->ratio.range.low,
                 f->ratio.range.high);
    if (f->verdict == FINDING_NO_DIFFERENCE && f->visible >= 0)
        buf_addf(out, "; a difference below %.3g%% could not have been seen",
                 f->visible * 100);
    if (f->why)
        buf_addf(out, " (%s)", f->why);
    if (c->regression >= 0)
        buf_addf(out, "; worse by more than %.4g%%: %s", c->regression * 100,
                 c->regressions[i] == REGRESSION_YES  ? "yes"
                 : c->regressions[i] == REGRESSION_NO ? "no"
                                                      : "cannot tell");
    buf_adds(out, "\n");
}

static void put_refusal(const struct comparison *c, struct buf *out)
{
    size_t n = c->differences.must;

    if (n > 0)
        buf_addf(out,
                 "verdict    REFUSED: %zu condition%s that must match %s not\n",
                 n, n == 1 ? "" : "s", n == 1 ? "does" : "do");
    else
        buf_adds(out, "verdict    CANNOT TELL: a recording may not be "
                      "compared\n");
}

static void put_verdict(const struct comparison *c, struct buf *out)
{
    static const char *const texts[] = {
        [COMPARE_NO_DIFFERENCE] = "NO DIFFERENCE SHOWN",
        [COMPARE_BETTER] = "B IS BETTER",
        [COMPARE_WORSE] = "B IS WORSE",
        [COMPARE_TOLERATED] = "B IS WORSE, WITHIN THE THRESHOLD",
        [COMPARE_CANNOT_TELL] = "CANNOT TELL",
        [COMPARE_RANKED] = "RANKED",
    };

    if (!c->is_compared) {
        put_refusal(c, out);
        return;
    }
    buf_addf(out, "verdict    %s\n", texts[c->answer]);
    for (size_t i = 0; c->n == 2 && i < c->qs.asked; i++)
        put_one_answer(c, i, out);
}

static void put_claim(const struct comparison *c, struct buf *out)
{
    struct buf claim;

    buf_init(&claim, CLAIM_MAX);
    claim_make(c, &claim);
    if (claim.len > 0)
        buf_addf(out, "claim      %s\n", buf_text(&claim));
    buf_fini(&claim);
}

/* ---- tables ---- */

static void put_interval(const char *low, const char *high, bool has_it,
                         char out[static 2 * SHOW_TEXT])
{
    if (has_it)
        snprintf(out, (size_t)2 * SHOW_TEXT, "[%.60s, %.60s]", low, high);
    else
        out[0] = '\0';
}

static void put_finding(const struct quantity *q, const struct finding *f,
                        struct buf *out)
{
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];
    char low[SHOW_TEXT];
    char high[SHOW_TEXT];
    char range[2 * SHOW_TEXT];
    char ratio[SHOW_TEXT] = "";
    const char *missing = f->is_measured ? "n small" : "-";

    put_interval(show_difference(q, f->difference.range.low, low),
                 show_difference(q, f->difference.range.high, high),
                 f->difference.has_range, range);
    if (f->ratio.has_range)
        snprintf(ratio, sizeof(ratio), "%.4g [%.4g, %.4g]", f->ratio.value,
                 f->ratio.range.low, f->ratio.range.high);
    buf_addf(out, "  %-12s %10s %10s ", q->name,
             f->has_a ? show_value(q, f->a, a) : missing,
             f->has_b ? show_value(q, f->b, b) : missing);
    buf_addf(out, "%10s %-22s %-24s %s",
             f->difference.has_range
                 ? show_difference(q, f->difference.value, a)
                 : "-",
             range, ratio, finding_verdict_name(f->verdict));
    if (f->visible >= 0)
        buf_addf(out, "; %.3g%% would show", f->visible * 100);
    if (f->widened > 1)
        buf_addf(out, "; interval widened %.3g times: few samples beyond",
                 f->widened);
    if (f->why)
        buf_addf(out, ": %s", f->why);
    buf_adds(out, "\n");
}

static void put_findings(const struct comparison *c, struct buf *out)
{
    buf_addf(
        out,
        "\nasked for: together wrong in at most 5%% of comparisons, %.4g%% "
        "each\n",
        c->findings[0].confidence * 100);
    buf_addf(out, "  %-12s %10s %10s %10s %-22s %-24s\n", "", "A", "B", "B - A",
             "interval", "B / A");
    for (size_t i = 0; i < c->qs.len; i++) {
        if (i == c->qs.asked)
            buf_adds(out, "others: each at 95% on its own; of twenty that are "
                          "alike one seems to differ\n");
        if (i < c->qs.asked || c->findings[i].is_measured)
            put_finding(&c->qs.list[i], &c->findings[i], out);
    }
}

static void put_ranking(const struct comparison *c, const struct ranking *r,
                        struct buf *out)
{
    const struct quantity *q = &c->qs.list[r->quantity];
    char value[SHOW_TEXT];
    char name[SHOW_TEXT];

    buf_addf(out,
             "\n%s, %s first; the same rank: not shown to be worse than "
             "the first that has it\n",
             q->name,
             quantity_more_is_better(q) ? "the highest" : "the lowest");
    for (size_t i = 0; i < c->n; i++) {
        const struct placed *p = &r->list[i];

        if (p->rank)
            buf_addf(out, "  %2zu  ", p->rank);
        else
            buf_adds(out, "   -  ");
        buf_addf(out, "%-3s %10s  ", show_side(p->side, name),
                 p->has_value ? show_value(q, p->value, value) : "n too small");
        settings_describe_path(c->sides[p->side].dir, out);
        buf_adds(out, "\n");
    }
    if (r->unknown)
        buf_addf(out, "  %zu pair%s cannot be told apart for want of samples\n",
                 r->unknown, r->unknown == 1 ? "" : "s");
}

static void put_unfair(const struct fairness_check *k, struct buf *out)
{
    buf_addf(out, "  %-8s %-15s %s\n", fairness_answer_name(k->answer), k->name,
             k->says);
    buf_addf(out, "  %-8s %-15s to mend it: %s\n", "", "", k->mend);
}

static void put_fairness(const struct fairness *f, struct buf *out)
{
    const char *between = "  passed   ";

    buf_addf(out, "\nfairness: %zu failed, %zu unknown, %zu passed\n",
             f->failed, f->unknown, FAIRNESS_CHECKS - f->failed - f->unknown);
    for (size_t i = 0; i < FAIRNESS_CHECKS; i++) {
        if (f->checks[i].answer != FAIRNESS_PASSED)
            put_unfair(&f->checks[i], out);
    }
    for (size_t i = 0; i < FAIRNESS_CHECKS; i++) {
        if (f->checks[i].answer != FAIRNESS_PASSED)
            continue;
        buf_addf(out, "%s%s", between, f->checks[i].name);
        between = ", ";
    }
    buf_adds(out, "\n");
}

void compare_render_text(const struct comparison *c, struct buf *out)
{
    put_verdict(c, out);
    put_claim(c, out);
    put_sides(c, out);
    put_variable(c, out);
    put_basis(c, out);
    put_obstacles(c, out);
    put_missed(c, out);
    put_differences(c, DIFFERENCE_MUST, "must match, and does not", out);
    put_differences(c, DIFFERENCE_WARNS, "WARNING, client or host differs",
                    out);
    if (c->is_compared && c->n == 2)
        put_findings(c, out);
    for (size_t i = 0; c->rankings && i < c->qs.asked; i++)
        put_ranking(c, &c->rankings[i], out);
    put_fairness(&c->fairness, out);
    buf_adds(out, "\n");
    put_differences(c, DIFFERENCE_NOTED, "noted", out);
}
