#include "analyzer/verdict/claim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/text_show.h"
#include "analyzer/studies/trials.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/config.h"
#include "common/recording/manifest.h"
#include "common/settings/settings.h"
#include "common/text/redact.h"
#include "common/wire/api_names.h"

static void put_server(const struct summary *s, struct buf *out)
{
    const struct settings *set = s->settings;
    char *url = redact_url(settings_url(set));

    if (set->has_stub)
        buf_adds(out, "The bundled stub");
    else
        settings_describe_path(url, out);
    free(url);
    buf_addf(out, " (%s", api_names[set->target.api]);
    if (set->target.model && set->target.model[0]) {
        buf_adds(out, ", model ");
        settings_describe_path(set->target.model, out);
    }
    for (size_t i = 0; i < set->conditions.keys.len; i++) {
        buf_adds(out, ", ");
        settings_describe_path(set->conditions.keys.items[i], out);
        buf_adds(out, " ");
        settings_describe_path(set->conditions.values.items[i], out);
    }
    buf_adds(out, ")");
}

static void put_rates(const struct summary *s, struct buf *out)
{
    if (s->slo.len > 0)
        buf_addf(out,
                 " delivered %.4g good requests/s of %.4g/s offered "
                 "(attainment %.4g%%, 95%% interval %.4g%% to %.4g%%)",
                 s->goodput_rps, s->offered_rps, 100 * s->attainment,
                 100 * s->attainment_ci95.low, 100 * s->attainment_ci95.high);
    else
        buf_addf(out, " answered %.4g requests/s of %.4g/s offered",
                 s->completed_rps, s->offered_rps);
    if (s->has_tokens)
        buf_addf(out, " and %.4g output tokens/s", s->output_tokens_per_s);
}

/* A claim states measurements: it needs no verdict. */
static void put_answer(enum verdict verdict, bool is_shown, struct buf *out)
{
    buf_adds(out, verdict == VERDICT_PASS   ? ": met"
                  : verdict == VERDICT_FAIL ? ": MISSED, so the server cannot "
                                              "deliver this load"
                                            : ": not decided by these samples");
    if (!is_shown && (verdict == VERDICT_PASS || verdict == VERDICT_FAIL))
        buf_adds(out, " (as observed, not shown with 95% confidence)");
}

static void put_slo(const struct summary *s, struct buf *out)
{
    char text[UNITS_TEXT];

    for (size_t i = 0; i < s->judgement.len; i++) {
        const struct term_judgement *j = &s->judgement.terms[i];

        buf_addf(out, "%s%s", i ? ", " : "; SLO ", j->term->text);
        if (j->term->kind == SLO_QUANTILE)
            buf_addf(out, " (measured %s)",
                     text_show_ns((double)j->measured_ns, text));
    }
    if (s->judgement.len == 0) {
        const struct spread *e2e = &s->spread[MEASURE_E2E][VIEW_DUE];

        buf_addf(out, "; e2e p50 %s",
                 text_show_ns((double)e2e->quantile_ns[0], text));
        buf_addf(out, ", p99 %s",
                 text_show_ns((double)e2e->quantile_ns[3], text));
        return;
    }
    put_answer(s->verdict, true, out);
}

static void put_load(const struct summary *s, struct buf *out)
{
    struct buf line;

    buf_init(&line, 4096);
    settings_describe_load(&s->settings->load, &line);
    buf_addf(out, "; %.*s", (int)strcspn(buf_text(&line), "\n"),
             buf_text(&line));
    buf_fini(&line);
    if (s->has_data && s->data.sha256)
        buf_addf(out, ", data sha256 %.12s", s->data.sha256);
    else if (s->has_data)
        buf_addf(out, ", %s prompts",
                 s->data.source ? s->data.source : "synthetic");
}

/* scheduled = ok + failed + unsent. */
static void put_due(int64_t due, int64_t ok, int64_t failed, struct buf *out)
{
    buf_addf(out,
             "; %lld requests due = %lld ok + %lld failed + %lld unsent, "
             "latencies from due time, failures counted as infinitely slow",
             (long long)due, (long long)ok, (long long)failed,
             (long long)(due - ok - failed));
}

static void put_counts(const struct summary *s, struct buf *out)
{
    put_due(s->scheduled, s->ok, s->failed, out);
    if (s->cost.is_there && s->cost.usd_per_1000_good >= 0)
        buf_addf(out, "; %.4g USD per thousand good requests at %.4g USD/hour",
                 s->cost.usd_per_1000_good, s->cost.usd_per_hour);
    if (s->cost.usd_egress > 0)
        buf_addf(out, " and %.4g USD/GB of egress",
                 s->settings->cost.usd_per_gb_egress);
    if (s->quality.checked > 0)
        buf_addf(out, "; quality %.4g%% of %lld checked answers",
                 100 * s->quality.share, (long long)s->quality.checked);
}

static void put_client(const struct summary *s, const struct manifest *m,
                       const char *how, struct buf *out)
{
    const char *version = manifest_text(m, NULL, "tailgate");
    const char *cpu = manifest_text(m, "environment", "cpu_model");
    const char *utc = manifest_text(m, "clock", "utc");

    buf_addf(out, "; %s, tailgate %s", how, version ? version : "");
    if (cpu && cpu[0]) {
        buf_adds(out, ", on ");
        settings_describe_path(cpu, out);
    }
    if (s->rtt_floor_ns > 0)
        buf_addf(out, ", minimum round trip %.4g us",
                 (double)s->rtt_floor_ns / 1e3);
    if (utc)
        buf_addf(out, ", %s", utc);
    buf_adds(out, ".\n");
}

/* Why there is no claim; NULL: there is one. */
static const char *why_not(const struct summary *s)
{
    if (s->stopped_by || s->integrity.was_killed)
        return "interrupted";
    if (s->aborted)
        return "aborted";
    if (s->scheduled == 0)
        return "empty";
    return s->verdict == VERDICT_INVALID ? verdict_name(s->verdict) : NULL;
}

bool run_claim(const struct summary *s, const struct manifest *m,
               struct buf *out)
{
    const char *why = why_not(s);

    if (why) {
        buf_addf(out, "no claim: the run is %s\n", why);
        return false;
    }
    put_server(s, out);
    put_rates(s, out);
    put_slo(s, out);
    put_load(s, out);
    put_counts(s, out);
    put_client(s, m, "one run", out);
    return true;
}

/* ---- a set of trials ---- */

/* "12 [11, 14]": the median over trials and its interval. */
static void put_median(const struct over_trials *o, enum text_kind kind,
                       struct buf *out)
{
    const struct uncertain *m = &o->median.median;
    char text[UNITS_TEXT];

    if (!o->is_known) {
        buf_adds(out, o->missing == HIST_TOO_FEW ? "unknown (n too small)"
                                                 : "unknown");
        return;
    }
    buf_adds(out, text_show_kind(m->value, kind, text));
    if (!m->has_range)
        return;
    buf_addf(out, " [%s", text_show_kind(m->range.low, kind, text));
    buf_addf(out, ", %s]", text_show_kind(m->range.high, kind, text));
}

static void put_set_rates(const struct trials_summary *t, struct buf *out)
{
    buf_adds(out, t->n_terms > 0 ? " delivered " : " answered ");
    put_median(&t->rate[t->n_terms > 0 ? TRIAL_GOODPUT : TRIAL_COMPLETED],
               TEXT_RATE, out);
    buf_addf(out, " %srequests/s of ", t->n_terms > 0 ? "good " : "");
    put_median(&t->rate[TRIAL_OFFERED], TEXT_RATE, out);
    buf_adds(out, "/s offered");
    if (t->n_terms > 0) {
        buf_adds(out, " (attainment ");
        put_median(&t->rate[TRIAL_ATTAINMENT], TEXT_SHARE, out);
        buf_adds(out, ")");
    }
    if (trials_have_rate(t, TRIAL_TOKENS)) {
        buf_adds(out, " and ");
        put_median(&t->rate[TRIAL_TOKENS], TEXT_RATE, out);
        buf_adds(out, " output tokens/s");
    }
}

static void put_set_slo(const struct trials_summary *t, struct buf *out)
{
    for (size_t i = 0; i < t->n_terms; i++) {
        const struct set_term *term = &t->terms[i];
        long long open = (long long)t->counted - term->kept - term->missed;

        buf_adds(out, i ? ", " : "; SLO ");
        if (term->class)
            buf_addf(out, "class %s ", term->class);
        buf_addf(out, "%s (measured ", term->term.text);
        put_median(&term->measured, text_kind_of(&term->term), out);
        buf_addf(out, ", kept by %lld of %zu", (long long)term->kept,
                 t->counted);
        if (open > 0)
            buf_addf(out, ", undecided in %lld", open);
        buf_adds(out, ")");
    }
    if (t->n_terms == 0) {
        buf_adds(out, "; e2e p50 ");
        put_median(&t->quantile[MEASURE_E2E][SUMMARY_P50], TEXT_NS, out);
        buf_adds(out, ", p99 ");
        put_median(&t->quantile[MEASURE_E2E][SUMMARY_P99], TEXT_NS, out);
        return;
    }
    put_answer(t->verdict, t->is_shown, out);
}

static void put_set_counts(const struct trials_summary *t,
                           const struct summary *first, struct buf *out)
{
    int64_t due = 0;
    int64_t ok = 0;
    int64_t failed = 0;
    int64_t checked = 0;

    for (size_t i = 0; i < t->n; i++) {
        if (!trial_counts(&t->trials[i]))
            continue;
        due += t->trials[i].scheduled;
        ok += t->trials[i].ok;
        failed += t->trials[i].failed;
        checked += t->trials[i].checked;
    }
    put_due(due, ok, failed, out);
    if (t->rate[TRIAL_USD].is_known) {
        buf_adds(out, "; ");
        put_median(&t->rate[TRIAL_USD], TEXT_RATE, out);
        buf_addf(out, " USD per thousand good requests at %.4g USD/hour",
                 first->cost.usd_per_hour);
    }
    if (trials_have_rate(t, TRIAL_QUALITY)) {
        buf_adds(out, "; quality ");
        put_median(&t->rate[TRIAL_QUALITY], TEXT_SHARE, out);
        buf_addf(out, " of %lld checked answers", (long long)checked);
    }
}

/* Why there is no claim; NULL: there is one. */
static const char *why_no_claim(const struct trials_summary *t)
{
    for (size_t i = 0; i < t->n; i++) {
        if (t->trials[i].was_aborted)
            return "has an aborted trial";
        if (t->trials[i].lost)
            return "has a trial whose manifest.json is lost";
    }
    if (t->stopped_by || t->counted + t->discarded < t->n)
        return "was interrupted";
    if (t->set.failed[0] || trials_are_cut(t))
        return "ended early";
    if (t->counted < 2)
        return "is a single trial, which has no interval";
    return t->verdict == VERDICT_INVALID ? "is invalid" : NULL;
}

bool trials_claim(const struct trials_summary *t, const struct summary *first,
                  const struct manifest *m, struct buf *out)
{
    const char *why = why_no_claim(t);
    char how[200];

    if (why) {
        buf_addf(out, "no claim: the set of trials %s\n", why);
        return false;
    }
    snprintf(how, sizeof(how),
             "medians over %zu trials with different seeds, %s, with their "
             "%.4g%% intervals in brackets",
             t->counted,
             t->set.launched_by == LAUNCHED_ONCE
                 ? "all with one start of the server"
                 : "the server restarted for each",
             100 * t->confidence);
    put_server(first, out);
    put_set_rates(t, out);
    put_set_slo(t, out);
    put_load(first, out);
    put_set_counts(t, first, out);
    put_client(first, m, how, out);
    return true;
}
