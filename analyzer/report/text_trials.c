/* A trial set as text: the verdict, each trial, what they come to together. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/report/text_parts.h"
#include "analyzer/report/trials_report.h"
#include "analyzer/studies/trials.h"
#include "common/base/buf.h"

#define VALUE_WIDTH 10
#define NAME_WIDTH  27 /* usd_per_million_good_tokens */

/* ---- the verdict ---- */

static void put_launches(const struct trials_summary *s, struct buf *out)
{
    static const char *const text[] = {
        [LAUNCHED_ONCE] =
            "one launch: all are of one server process (--restart)",
        [LAUNCHED_STUB] = "the stub was started anew for each trial",
        [LAUNCHED_RESTART] = "the server was started anew before each trial",
        [LAUNCHED_SERVER] = "the server was started anew for each trial",
    };

    buf_addf(out, "launches   %lld: %s\n",
             (long long)study_set_launches(&s->set), text[s->set.launched_by]);
    if (s->set.against[0])
        buf_addf(out, "           in turns with %s\n", s->set.against);
}

static void put_trust(const struct trials_summary *s, struct buf *out)
{
    const struct trial *t = &s->trials[s->withdrawn_by - 1];

    buf_addf(out,
             "           trial %lld is not to be trusted%s%s: tailgate "
             "report %s/trial-%lld\n",
             (long long)t->number, t->distrust[0] ? ", by " : "", t->distrust,
             s->dir, (long long)t->number);
}

static void put_term(const struct trials_summary *s, const struct set_term *t,
                     struct buf *out)
{
    const struct over_trials *o = &t->measured;
    enum text_kind kind = text_kind_of(&t->term);
    char text[UNITS_TEXT];

    buf_addf(out, "  %-9s  ", verdict_name(t->verdict));
    if (t->class)
        buf_addf(out, "class %s, ", t->class);
    buf_addf(out, "%s:", t->term.text);
    if (t->verdict != VERDICT_NONE)
        buf_addf(out, " %lld of %zu trials keep it, %lld miss it;",
                 (long long)t->kept, s->counted, (long long)t->missed);
    if (!o->is_known) {
        buf_addf(out, " %zu trials have no value of it\n", o->n_missing);
        return;
    }
    buf_addf(out, " median %s",
             text_show_kind(o->median.median.value, kind, text));
    buf_addf(out, ", %s", text_show_kind(o->least, kind, text));
    buf_addf(out, " to %s\n", text_show_kind(o->greatest, kind, text));
}

static void put_confidence(const struct trials_summary *s, struct buf *out)
{
    if (s->counted < 2) {
        buf_adds(out, "           fewer than two trials finished: their median "
                      "cannot be bounded\n");
        return;
    }
    buf_addf(out, "           %zu of %zu trials must agree", s->needed,
             trials_are_cut(s) ? (size_t)s->set.asked : s->counted);
    if (trials_are_cut(s))
        buf_addf(out, "; %zu finished", s->counted);
    buf_addf(out, ": %.4g%% confidence in the median", 100 * s->confidence);
    buf_adds(out, s->confidence < TRIALS_CONFIDENCE
                      ? "; 95% cannot be reached with fewer than 6\n"
                      : "\n");
}

static void put_verdict(const struct trials_summary *s, struct buf *out)
{
    static const char *const text[] = {
        [VERDICT_NONE] = "none: no SLO was given",
        [VERDICT_PASS] = "PASS: the SLO is met",
        [VERDICT_FAIL] = "FAIL: the SLO is missed",
        [VERDICT_UNDECIDED] = "UNDECIDED: too few trials agree",
        [VERDICT_INVALID] = "INVALID: a trial cannot be trusted",
    };

    buf_addf(out, "verdict    %s\n",
             s->verdict == VERDICT_UNDECIDED && trials_are_cut(s)
                 ? "UNDECIDED: the set was interrupted"
                 : text[s->verdict]);
    if (s->withdrawn_by > 0)
        put_trust(s, out);
    if (s->stopped_by)
        buf_addf(out,
                 "           interrupted by signal %lld; what was "
                 "recorded is reported\n",
                 (long long)s->stopped_by);
    if (s->set.failed[0])
        buf_addf(out, "           ended early: %s\n", s->set.failed);
    put_confidence(s, out);
    for (size_t i = 0; i < s->n_terms; i++)
        put_term(s, &s->terms[i], out);
}

/* ---- each trial ---- */

static bool has_measure(const struct trials_summary *s, int m)
{
    const struct over_trials *o = &s->quantile[m][0];
    bool is_there = o->is_known || o->missing != HIST_EMPTY;

    return is_there && (m != MEASURE_TTFT || trials_first(s)->is_streamed);
}

static void put_ns(double ns, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_addf(out, " %9s",
             ns == HIST_TOO_FEW ? "n small" : text_show_ns(ns, text));
}

static void put_remark(const struct trial *t, struct buf *out)
{
    if (t->stopped_by)
        buf_adds(out, "  interrupted, not counted");
    else if (t->was_killed)
        buf_adds(out, "  killed, not counted");
    else if (t->was_aborted)
        buf_adds(out, "  aborted");
    if (t->lost_requests > 0)
        buf_addf(out, "  %lld requests lost", (long long)t->lost_requests);
    if (t->lost_events > 0)
        buf_addf(out, "  %lld content events lost", (long long)t->lost_events);
}

static void put_trial(const struct trials_summary *s, const struct trial *t,
                      struct buf *out)
{
    if (t->lost) {
        buf_addf(out,
                 "%5lld %16llu lost: manifest.json %s, not counted: tailgate "
                 "report %s/trial-%lld\n",
                 (long long)t->number, (unsigned long long)t->seed, t->lost,
                 s->dir, (long long)t->number);
        return;
    }
    buf_addf(out, "%5lld %16llu %-9s %8lld %7lld %10.6g %10.6g %9.5g%%",
             (long long)t->number, (unsigned long long)t->seed,
             verdict_name(t->verdict), (long long)t->scheduled,
             (long long)t->failed, t->rate[TRIAL_THROUGHPUT],
             t->rate[TRIAL_GOODPUT], 100 * t->rate[TRIAL_ATTAINMENT]);
    put_ns(t->quantile_ns[MEASURE_E2E][SUMMARY_P50], out);
    put_ns(t->quantile_ns[MEASURE_E2E][SUMMARY_P99], out);
    if (has_measure(s, MEASURE_TTFT))
        put_ns(t->quantile_ns[MEASURE_TTFT][SUMMARY_P99], out);
    put_remark(t, out);
    buf_adds(out, "\n");
}

static void put_each(const struct trials_summary *s, struct buf *out)
{
    buf_addf(out, "%5s %16s %-9s %8s %7s %10s %10s %10s %9s %9s%s\n", "trial",
             "seed", "verdict", "requests", "failed", "throughput", "goodput",
             "attainment", "e2e p50", "e2e p99",
             has_measure(s, MEASURE_TTFT) ? "  ttft p99" : "");
    for (size_t i = 0; i < s->n; i++)
        put_trial(s, &s->trials[i], out);
    for (size_t i = 0; i < s->n_odd; i++) {
        const struct odd_trial *x = &s->odd[i];
        enum text_kind kind = x->is_ns ? TEXT_NS : TEXT_SHARE;
        char value[UNITS_TEXT];
        char median[UNITS_TEXT];

        buf_addf(out,
                 "odd        trial %lld: %s %s, median %s; it is counted\n",
                 (long long)x->number, x->what,
                 text_show_kind(x->value, kind, value),
                 text_show_kind(x->median, kind, median));
    }
}

/* ---- over trials ---- */

static void put_value(double value, enum text_kind kind, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_addf(out, " %*s", VALUE_WIDTH, text_show_kind(value, kind, text));
}

static void put_over(const char *name, const struct over_trials *o,
                     enum text_kind kind, struct buf *out)
{
    buf_addf(out, "%-*s", NAME_WIDTH, name);
    if (!o->is_known) {
        buf_addf(out, " %s in %zu of the trials\n",
                 o->missing == HIST_TOO_FEW ? "n too small" : "no samples",
                 o->n_missing);
        return;
    }
    put_value(o->median.median.value, kind, out);
    put_value(o->least, kind, out);
    put_value(o->greatest, kind, out);
    if (o->median.median.has_range) {
        put_value(o->median.median.range.low, kind, out);
        put_value(o->median.median.range.high, kind, out);
    }
    buf_adds(out, "\n");
}

static void put_measures(const struct trials_summary *s, struct buf *out)
{
    static const enum measure shown[] = {
        MEASURE_E2E, MEASURE_TTFT, MEASURE_TPOT, MEASURE_STALL, MEASURE_QUERY};

    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        for (int q = 0; q < SUMMARY_QUANTILES; q++) {
            char name[32];

            snprintf(name, sizeof(name), "%s %s", measure_name(shown[i]),
                     summary_quantile_name[q]);
            if (has_measure(s, (int)shown[i]))
                put_over(name, &s->quantile[shown[i]][q], TEXT_NS, out);
        }
    }
}

static void put_rates(const struct trials_summary *s, struct buf *out)
{
    for (int r = 0; r < TRIAL_RATES; r++) {
        if (trials_have_rate(s, (enum trial_rate)r))
            put_over(trial_rate_name((enum trial_rate)r), &s->rate[r],
                     r == TRIAL_ATTAINMENT || r == TRIAL_QUALITY ? TEXT_SHARE
                                                                 : TEXT_RATE,
                     out);
    }
}

static void put_student(const struct trials_summary *s, struct buf *out)
{
    const struct over_trials *o = &s->quantile[MEASURE_E2E][SUMMARY_P99];
    char text[UNITS_TEXT];

    if (!o->is_known || !o->mean.has_range)
        return;
    buf_addf(out, "e2e p99    mean %s", text_show_ns(o->mean.value, text));
    buf_addf(out, ", Student's 95%% interval %s",
             text_show_ns(o->mean.range.low, text));
    buf_addf(out, " to %s", text_show_ns(o->mean.range.high, text));
    if (s->least_scheduled < TRIALS_HONEST_N)
        buf_addf(out,
                 "; honest from about %d requests a trial, these have "
                 "%lld",
                 TRIALS_HONEST_N, (long long)s->least_scheduled);
    buf_adds(out, "\n");
}

void trials_text(const struct trials_summary *s, struct buf *out)
{
    buf_adds(out, s->title);
    buf_addf(out, "trials     %zu of %lld", s->n, (long long)s->set.asked);
    if (s->counted < s->n)
        buf_addf(out, ", %zu to their end", s->counted);
    buf_adds(out, "\n");
    put_launches(s, out);
    put_verdict(s, out);
    buf_adds(out, "\n");
    put_each(s, out);
    buf_addf(out, "\n%-*s %*s %*s %*s  interval of the median\n", NAME_WIDTH,
             "over trials", VALUE_WIDTH, "median", VALUE_WIDTH, "min",
             VALUE_WIDTH, "max");
    put_rates(s, out);
    put_measures(s, out);
    put_student(s, out);
}
