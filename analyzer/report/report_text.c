/* The report a person reads: the verdict first, then what it rests on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/report.h"
#include "analyzer/report/text_parts.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/redact.h"
#include "common/base/str.h"
#include "common/base/units.h"
#include "common/base/url.h"
#include "common/settings/settings.h"
#include "common/wire/status.h"

#define MAX_REASONS 8

/* ---- what ran ---- */

static void put_conditions(const struct strmap *map, struct buf *out)
{
    if (map->keys.len == 0)
        return;
    buf_adds(out, "conditions ");
    for (size_t i = 0; i < map->keys.len; i++) {
        buf_adds(out, i ? ", " : "");
        printable_add(map->keys.items[i], out);
        buf_adds(out, "=");
        printable_add(map->values.items[i], out);
    }
    buf_adds(out, "\n");
}

/* Does it send only after an answer? */
static bool is_closed_loop(int scenario)
{
    return scenario == SCENARIO_CLOSED || scenario == SCENARIO_SINGLE_STREAM ||
           scenario == SCENARIO_MULTI_STREAM;
}

/* What of it was not replayed, and what its times are worth. */
static void put_trace(const struct summary *s, struct buf *out)
{
    const struct trace_seen *t = &s->trace;

    if (!s->has_trace)
        return;
    buf_addf(out, "trace      %s, %lld rows", t->format ? t->format : "",
             (long long)t->rows);
    if (t->damaged > 0)
        buf_addf(out, "; %lld damaged line%s left out", (long long)t->damaged,
                 t->damaged == 1 ? "" : "s");
    if (t->failed > 0)
        buf_addf(out, "; %lld requests that failed back then left out",
                 (long long)t->failed);
    if (t->tied > 0 && s->settings->load.trace.spread_ns == 0)
        buf_addf(out, "; %lld at the time of the row before",
                 (long long)t->tied);
    buf_adds(out, "\n");
}

static void put_data(const struct summary *s, struct buf *out)
{
    const struct data_seen *d = &s->data;

    if (!s->has_data || !d->sha256)
        return;
    buf_adds(out, "data       ");
    printable_add(s->settings->data.file ? s->settings->data.file : "", out);
    buf_addf(out, ", %lld sample%s, sha256 %.12s…", (long long)d->samples,
             d->samples == 1 ? "" : "s", d->sha256);
    if (s->settings->data.accuracy)
        buf_adds(out, ", each once, answers in answers.jsonl");
    if (s->settings->data.unique == UNIQUE_FALSE)
        buf_adds(out, ", prompts as they are");
    if (d->left_out > 0)
        buf_addf(out, "; %lld conversations without an answer left out",
                 (long long)d->left_out);
    buf_adds(out, "\n");
}

static void put_title(const struct summary *s, struct buf *out)
{
    const struct settings *set = s->settings;
    char *url = redact_url(settings_url(set)); /* older recordings have more */

    printable_add(set->name ? set->name : "run", out);
    buf_addf(out, ": %s %s", set->target.method ? set->target.method : "", url);
    free(url);
    if (set->target.urls.len > 1)
        buf_addf(out, " and %zu more in turn", set->target.urls.len - 1);
    buf_adds(out, "\n");
    buf_adds(out, "load       ");
    settings_describe_load(&set->load, out);
    if (is_closed_loop(set->load.scenario))
        buf_adds(out, "           closed loop: a slow server is asked less "
                      "often, which hides its latencies under overload; an "
                      "open loop (--rate) shows them\n");
    if (set->load.scenario == SCENARIO_SESSIONS)
        buf_adds(out, "           sessions: open-loop arrivals; later turns "
                      "wait for answers (closed inside), so that a slow server "
                      "is asked less often; not to be compared with an open "
                      "loop of requests\n");
    put_trace(s, out);
    put_data(s, out);
    put_conditions(&set->conditions, out);
}

/* ---- the verdict ---- */

static const char *const verdict_text[] = {
    [VERDICT_NONE] = "none: no SLO was given",
    [VERDICT_PASS] = "PASS: the SLO is met",
    [VERDICT_FAIL] = "FAIL: the SLO is missed",
    [VERDICT_UNDECIDED] = "UNDECIDED: this run cannot answer the question",
    [VERDICT_INVALID] = "INVALID: do not use these numbers",
};

/* Of good requests, and not judged. */
static bool is_limit(const struct slo_term *term)
{
    return term->kind == SLO_LIMIT || term->kind == SLO_CHECK;
}

static void put_measured(const struct term_judgement *j, struct buf *out)
{
    char text[UNITS_TEXT];

    if (j->is_unmeasured)
        buf_adds(out, "not measured");
    else if (j->term->kind == SLO_QUANTILE)
        buf_addf(out, "measured %s",
                 text_show_ns((double)j->measured_ns, text));
    else if (j->term->kind == SLO_GOODPUT)
        buf_addf(out, "measured %.4g/s", j->measured);
    else if (is_limit(j->term))
        buf_addf(out, "kept by %.4g%%", 100 * j->measured);
    else
        buf_addf(out, "measured %.4g%%", 100 * j->measured);
}

void text_put_term(const struct term_judgement *j, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_addf(out, "  %-24s %-9s ", j->term->text,
             is_limit(j->term) ? "limit" : verdict_name(j->verdict));
    put_measured(j, out);
    if (j->term->kind == SLO_QUANTILE && j->tightest_ns >= 0)
        buf_addf(out, ", tightest limit met %s",
                 text_show_ns((double)j->tightest_ns, text));
    if (j->more_needed > 0)
        buf_addf(out, "; about %lld more requests needed",
                 (long long)j->more_needed);
    else if (j->why)
        buf_addf(out, "; %s", j->why);
    buf_adds(out, "\n");
}

static bool is_by_tier(const struct judgement *j)
{
    return j->len > 0 && j->terms[0].term->tier[0];
}

/* The terms of a tier stand below, with the other tiers. */
void text_put_terms(const struct judgement *j, struct buf *out)
{
    for (size_t i = 0; i < j->len; i++) {
        if (!j->terms[i].term->tier[0])
            text_put_term(&j->terms[i], out);
    }
}

/* Those that failed; the others are named below, in one line. */
static void put_failed_checks(const struct trust *t, struct buf *out)
{
    for (size_t i = 0; i < t->len; i++) {
        const struct check *c = &t->checks[i];
        char value[UNITS_TEXT];
        char limit[UNITS_TEXT];

        if (!c->ok)
            buf_addf(out, "  %-14s %-4s %s %s (%s %s): %s\n", c->name,
                     c->is_fatal ? "BAD" : "note",
                     text_show_number(c->value, 4, value), c->unit,
                     c->is_minimum ? "at least" : "at most",
                     text_show_number(c->limit, 4, limit), c->advice);
    }
}

/* An aborted run, or one of a server that is overloaded, fails also where every
 * term was kept as far as it got. */
static const char *verdict_line(const struct summary *s)
{
    if (s->aborted && s->verdict == VERDICT_FAIL && s->answer != VERDICT_FAIL)
        return "FAIL: the run was aborted";
    if (summary_is_overloaded(s) && s->verdict == VERDICT_FAIL &&
        s->answer != VERDICT_FAIL)
        return "FAIL: the server is overloaded";
    if (s->cache.is_there && s->verdict == VERDICT_NONE)
        return "none: a cache check makes no claim about performance";
    return verdict_text[s->verdict];
}

static void put_aborted(const char *why, struct buf *out)
{
    if (!why)
        return;
    buf_adds(out, "           ABORTED ");
    printable_add(why, out);
    buf_adds(out, "\n");
}

static void put_verdict(const struct summary *s, struct buf *out)
{
    buf_addf(out, "verdict    %s", verdict_line(s));
    if (s->verdict == VERDICT_NONE && s->failed > 0 && s->issued > 0)
        buf_addf(out, "; %.3g%% of the requests failed",
                 100 * (double)s->failed / (double)s->issued);
    if (s->scheduled == 0)
        buf_adds(out, "; nothing was due in the window");
    if (is_by_tier(&s->judgement))
        buf_addf(out, " (by the last of its tiers, %s)", s->slo.terms[0].tier);
    buf_adds(out, "\n");
    put_aborted(s->aborted, out);
    text_put_overload(s, out);
    if (s->decided[0])
        buf_addf(out, "           decided early: %s\n", s->decided);
    if (s->cut_by_max_duration)
        buf_adds(out, "           max_duration ended it before all that was "
                      "asked for\n");
    if (s->stopped_by)
        buf_addf(out,
                 "           interrupted by signal %lld; what was "
                 "recorded is reported\n",
                 (long long)s->stopped_by);
    if (s->integrity.was_killed)
        buf_adds(out, "           the run was killed; what is left of it is "
                      "reported\n");
    put_failed_checks(&s->trust, out);
    text_put_terms(&s->judgement, out);
    text_put_tiers(&s->tiers, s->scheduled > 0, out);
    text_put_class_verdicts(s, out);
}

/* ---- counts and rates ---- */

static void put_failures(const struct summary *s, struct buf *out)
{
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        if (i != OUTCOME_OK && i != OUTCOME_UNSENT && s->outcome[i] > 0)
            buf_addf(out, ", %s %lld", outcome_name((enum outcome)i),
                     (long long)s->outcome[i]);
    }
}

/* What they said, of the whole run. */
static void put_reasons(const struct failure_list *f, struct buf *out)
{
    for (size_t i = 0; i < f->len && i < MAX_REASONS; i++) {
        buf_addf(out, "           %lld x %s: ", (long long)f->kinds[i].count,
                 outcome_name((enum outcome)f->kinds[i].outcome));
        printable_add(f->kinds[i].text, out);
        buf_adds(out, " (whole run)\n");
    }
    if (f->len > MAX_REASONS)
        buf_adds(out, "           more of them in manifest.json\n");
}

/* A redirection is an answer, and not what was asked for. */
static void put_statuses(const struct summary *s, struct buf *out)
{
    for (size_t i = 0; i < s->n_statuses; i++) {
        const char *name = rpc_status_name(s->statuses[i].status);

        buf_addf(out, "%s", i ? ", " : "           status ");
        if (name)
            buf_addf(out, "%s", name); /* gRPC's, which are below HTTP's */
        else
            buf_addf(out, "%d", s->statuses[i].status);
        buf_addf(out, " x %lld", (long long)s->statuses[i].count);
    }
    if (s->n_statuses > 0)
        buf_adds(out, "\n");
}

static void put_connections(const struct summary *s, struct buf *out)
{
    int64_t all = s->fresh_connections + s->reused_connections;

    buf_addf(out, "           %lld opened a connection, %lld reused one",
             (long long)s->fresh_connections, (long long)s->reused_connections);
    if (all > 0)
        buf_addf(out, " (%.4g%%)",
                 100 * (double)s->reused_connections / (double)all);
    buf_addf(out, ", %lld were sent again on a new one\n",
             (long long)s->retried);
}

static void put_counts(const struct summary *s, struct buf *out)
{
    buf_addf(out,
             "requests   %lld scheduled = %lld issued + %lld unsent\n"
             "           %lld issued = %lld ok + %lld failed",
             (long long)s->scheduled, (long long)s->issued,
             (long long)s->unsent, (long long)s->issued, (long long)s->ok,
             (long long)s->failed);
    put_failures(s, out);
    buf_adds(out, "\n");
    put_reasons(&s->failures, out);
    put_statuses(s, out);
    buf_addf(out, "           %lld good; %lld more in the warm-up",
             (long long)s->good, (long long)s->warmup_requests);
    if (s->cooldown_s > 0)
        buf_addf(out, ", %lld in the cool-down",
                 (long long)s->cooldown_requests);
    buf_adds(out, "\n");
    put_connections(s, out);
}

static void put_rates(const struct summary *s, struct buf *out)
{
    char in[UNITS_TEXT];
    char sent[UNITS_TEXT];

    buf_addf(out,
             "rates      offered %.6g/s: %lld ok, %lld failed, %lld unsent\n"
             "           throughput %.6g/s (ended ok in the window)\n"
             "           goodput %.6g/s%s\n",
             s->offered_rps, (long long)s->ok, (long long)s->failed,
             (long long)s->unsent, s->throughput_rps, s->goodput_rps,
             s->verdict == VERDICT_FAIL ? "; the SLO is missed: not deliverable"
                                        : "");
    if (s->has_tokens && tokens_have_output(&s->tokens))
        buf_addf(out,
                 "           output %.6g tokens/s (arrived in the window), "
                 "%.6g of good requests\n",
                 s->output_tokens_per_s, s->goodput_tokens_per_s);
    buf_addf(out, "           %s/s in, %s/s out, over %.6g s\n",
             units_show_size(s->bytes_in_per_s, in),
             units_show_size(s->bytes_out_per_s, sent), s->window_length_s);
    if (s->scheduled > 0)
        buf_addf(out,
                 "attainment %.6g%% of what was due is good (95%% interval "
                 "%.6g%% to %.6g%%)\n",
                 100 * s->attainment, 100 * s->attainment_ci95.low,
                 100 * s->attainment_ci95.high);
}

/* ---- latencies ---- */

void text_put_row(const char *name, const struct spread *p, struct buf *out)
{
    char text[UNITS_TEXT];

    if (p->n == 0)
        return;
    buf_addf(out, "%-17s %8lld %7lld %8s", name, (long long)p->n,
             (long long)p->failed, text_show_ns(p->mean_ns, text));
    for (int i = 0; i < SUMMARY_QUANTILES; i++) {
        double ns = (double)p->quantile_ns[i];

        buf_addf(out, " %8s",
                 ns == HIST_TOO_FEW ? "n small" : text_show_ns(ns, text));
    }
    buf_addf(out, " %8s\n", text_show_ns((double)p->max_ns, text));
}

/* A measure of the answer, as often as it is looked at. */
static void put_views(const char *name, const struct spread p[VIEW_COUNT],
                      struct buf *out)
{
    static const char *const view_name[VIEW_COUNT] = {
        "from due", "ok, from due", "from sent"};

    for (int v = 0; v < VIEW_COUNT; v++) {
        char text[32];

        snprintf(text, sizeof(text), "%s %s", name, view_name[v]);
        text_put_row(text, &p[v], out);
    }
}

/* With its failures, and beside them the successes alone. */
static void put_with_ok(const char *name, const struct spread p[VIEW_COUNT],
                        struct buf *out)
{
    char text[32];

    text_put_row(name, &p[VIEW_DUE], out);
    if (p[VIEW_DUE].failed == 0)
        return;
    snprintf(text, sizeof(text), "%s, ok", name);
    text_put_row(text, &p[VIEW_OK], out);
}

static void put_stream(const struct summary *s, struct buf *out)
{
    bool assumed = s->tokens.assumed > 0;

    if (!s->is_streamed)
        return;
    put_views("ttft", s->spread[MEASURE_TTFT], out);
    put_with_ok(assumed ? "tpot assumed" : "tpot", s->spread[MEASURE_TPOT],
                out);
    text_put_row(assumed ? "itl assumed" : "itl",
                 &s->spread[MEASURE_ITL][VIEW_DUE], out);
    text_put_row("gap", &s->spread[MEASURE_GAP][VIEW_DUE], out);
    put_with_ok("stall", s->spread[MEASURE_STALL], out);
    text_put_row("tail", &s->spread[MEASURE_TAIL][VIEW_DUE], out);
}

void text_put_heading(struct buf *out)
{
    buf_addf(out, "%-17s %8s %7s %8s", "", "n", "failed", "mean");
    for (int i = 0; i < SUMMARY_QUANTILES; i++)
        buf_addf(out, " %8s", summary_quantile_name[i]);
    buf_addf(out, " %8s\n", "max");
}

static void put_latencies(const struct summary *s, struct buf *out)
{
    text_put_heading(out);
    put_views("e2e", s->spread[MEASURE_E2E], out);
    text_put_row("query from due", &s->spread[MEASURE_QUERY][VIEW_DUE], out);
    put_stream(s, out);
    text_put_row("ttfb from due", &s->spread[MEASURE_TTFB][VIEW_DUE], out);
    text_put_row("connect", &s->spread[MEASURE_CONNECT][VIEW_DUE], out);
    text_put_row("tls", &s->spread[MEASURE_TLS][VIEW_DUE], out);
    text_put_row(s->settings->load.scenario == SCENARIO_OFFLINE
                     ? "wait for its turn"
                     : "client lag",
                 &s->spread[MEASURE_LAG][VIEW_DUE], out);
}

/* ---- the client ---- */

/* Where a request went on its way to the target. */
static void put_way(const struct summary *s, struct buf *out)
{
    const struct target_settings *t = &s->settings->target;
    char *proxy = t->proxy ? redact_url(t->proxy) : NULL;

    if (s->transport && strcmp(s->transport, "null") != 0) {
        buf_addf(out, "way        %s transport, HTTP/%s%s", s->transport,
                 t->http2 || url_is_grpc(settings_url(s->settings)) ? "2"
                                                                    : "1.1",
                 settings_uses_tls(s->settings) ? " over TLS" : "");
        if (proxy)
            buf_addf(out, ", by proxy %s", proxy);
        if (t->unix_socket) {
            buf_adds(out, ", by unix socket ");
            printable_add(t->unix_socket, out);
        }
        buf_adds(out, "\n");
    }
    free(proxy);
}

static void put_network(const struct summary *s, struct buf *out)
{
    char text[UNITS_TEXT];

    if (s->rtt_floor_ns <= 0)
        return;
    buf_addf(out,
             "network    round trip floor %s, %lld of %lld segments sent "
             "again\n",
             units_show_duration((double)s->rtt_floor_ns, text),
             (long long)s->retransmits, (long long)s->segments);
}

/* What TLS adds was not calibrated. */
static const char *without_tls(const struct summary *s)
{
    return settings_uses_tls(s->settings) ? " without TLS" : "";
}

static void put_calibration(const struct summary *s, struct buf *out)
{
    const struct calibration_stamp *c = &s->calibration;
    char rate[UNITS_TEXT];

    if (c->standing == CALIBRATION_STALE)
        buf_addf(out, "; its calibration is stale: %s", c->stale);
    if (c->standing != CALIBRATED)
        return;
    if (s->calibration_used < 0)
        buf_adds(out, "; good for no rate that was tried here");
    else
        buf_addf(out, "; good for %s%s here",
                 calibration_is_at_least(&c->of) ? "at least " : "",
                 units_show_rate(c->of.max_rate_rps, rate));
    buf_addf(out, " (%s%s, %scalibrated %.10s%s)", c->transport, without_tls(s),
             c->of.is_quick ? "quickly " : "", c->of.date,
             c->of.is_disturbed ? " while others used the machine" : "");
    if (s->calibration_used >= 0)
        buf_addf(out, ", %.*f%% used", s->calibration_used < 0.1 ? 1 : 0,
                 100 * s->calibration_used);
}

static void put_client(const struct summary *s, struct buf *out)
{
    int64_t max_in_flight = s->settings->client.max_in_flight;

    buf_addf(out, "client     %lld thread%s", (long long)s->threads,
             s->threads == 1 ? "" : "s");
    if (max_in_flight > 0)
        buf_addf(out, ", at most %lld in flight", (long long)max_in_flight);
    put_calibration(s, out);
    buf_adds(out, "\n");
    if (s->settings->target.insecure)
        buf_adds(out, "           INSECURE: the server's certificate was not "
                      "verified\n");
}

static void put_trust(const struct summary *s, struct buf *out)
{
    const char *separator = "; passed: ";

    buf_addf(out, "checks     %s", s->trust.valid ? "trusted" : "NOT trusted");
    for (size_t i = 0; i < s->trust.len; i++) {
        if (!s->trust.checks[i].ok)
            continue;
        buf_addf(out, "%s%s", separator, s->trust.checks[i].name);
        separator = ", ";
    }
    buf_adds(out, "\n");
    if (s->damage.skipped_bytes + s->damage.cut_off_bytes > 0)
        buf_addf(out, "damage     %llu bytes skipped, %llu cut off\n",
                 (unsigned long long)s->damage.skipped_bytes,
                 (unsigned long long)s->damage.cut_off_bytes);
    if (s->integrity.lost_events > 0)
        buf_addf(out, "           %lld content events lost\n",
                 (long long)s->integrity.lost_events);
}

static void render(const struct summary *s, struct buf *out)
{
    put_title(s, out);
    put_verdict(s, out);
    text_put_cache(s, out);
    buf_adds(out, "\n");
    put_counts(s, out);
    put_rates(s, out);
    text_put_goodput(s, out);
    text_put_metered(s, out);
    text_put_answers(s, out);
    buf_adds(out, "\n");
    text_put_classes(s, out);
    put_latencies(s, out);
    buf_adds(out, "\n");
    text_put_bars(s, out);
    text_put_curve(s, out);
    text_put_steady(s, out);
    text_put_sessions(s, out);
    text_put_server(s, out);
    text_put_mlperf(s, out);
    put_way(s, out);
    put_network(s, out);
    put_client(s, out);
    put_trust(s, out);
    text_put_next(s, out);
}

const struct report_ops report_text = {
    .name = "text",
    .render = render,
};
