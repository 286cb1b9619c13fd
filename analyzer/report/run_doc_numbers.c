/* The numbers of a run's document: counts, rates, misses, cost, classes,
 * latencies and distributions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "analyzer/report/run_doc.h"
#include "analyzer/tally/summary.h"
#include "common/settings/settings.h"
#include "common/text/units.h"
#include "common/wire/status.h"

#define MAX_REASONS 8 /* texts of failures that people see */
#define BAR_WIDTH   48

/* ---- counts and rates ---- */

static void add_failures(struct doc_node *in, const struct summary *s)
{
    struct doc_node *by_outcome =
        doc_section(in, "by_outcome", "failures by outcome");
    struct doc_node *by_status = doc_section(in, "by_status", "statuses");

    for (int i = 0; i < OUTCOME_COUNT; i++) {
        const char *name = outcome_name((enum outcome)i);

        if (i != OUTCOME_OK && i != OUTCOME_UNSENT && s->outcome[i] > 0)
            doc_count(by_outcome, name, name, s->outcome[i]);
    }
    for (size_t i = 0; i < s->n_statuses; i++) {
        /* gRPC's are below HTTP's. */
        const char *name = rpc_status_name(s->statuses[i].status);
        char number[16];

        snprintf(number, sizeof(number), "%d", s->statuses[i].status);
        doc_show(doc_count(by_status, number, name ? name : number,
                           s->statuses[i].count),
                 "x %lld", (long long)s->statuses[i].count);
    }
}

void run_doc_requests(struct doc_node *root, const struct summary *s)
{
    struct doc_node *n = doc_section(root, "requests", "requests");
    int64_t connections = s->fresh_connections + s->reused_connections;
    struct doc_node *list;
    struct doc_node *part;

    doc_count(n, "scheduled", "scheduled", s->scheduled);
    doc_sep(doc_count(n, "issued", "issued", s->issued), " = ");
    doc_sep(doc_count(n, "unsent", "unsent", s->unsent), " + ");
    doc_sep(doc_count(n, "ok", "ok", s->ok), "; issued = ");
    doc_sep(doc_count(n, "failed", "failed", s->failed), " + ");
    doc_sep(doc_help(doc_count(n, "good", "good", s->good),
                     "ok, and within every limit for good requests"),
            "; ");
    add_failures(n, s);
    part = doc_section(n, NULL, "outside the window");
    doc_count(part, "in_warmup", "warm-up", s->warmup_requests);
    doc_show_if(
        doc_count(part, "in_cooldown", "cool-down", s->cooldown_requests),
        s->cooldown_s > 0);
    part = doc_section(n, NULL, "connections");
    doc_count(part, "opened_connection", "opened", s->fresh_connections);
    doc_count(part, "reused_connection", "reused", s->reused_connections);
    doc_unless(part, DOC_SHARE, "reuse", "share of reuse",
               connections > 0
                   ? (double)s->reused_connections / (double)connections
                   : 0,
               connections == 0, "no samples");
    doc_count(part, "retried", "requests sent again", s->retried);
    doc_show_if(doc_count(part, "resends", "times in all", s->resends),
                s->resends > s->retried);

    list = doc_table(root, "failures", "failures (whole run)");
    for (size_t i = 0; i < s->failures.len; i++) {
        const struct failure_kind *k = &s->failures.kinds[i];
        struct doc_node *row = doc_show_if(doc_row(list), i < MAX_REASONS);

        doc_count(row, "count", "count", k->count);
        doc_text(row, "outcome", "outcome",
                 outcome_name((enum outcome)k->outcome));
        doc_text(row, "text", "text", k->text);
    }
    if (s->failures.len > MAX_REASONS)
        doc_text_only(
            doc_line(list, DOC_PLAIN, "manifest.json lists the others"));
}

static void add_window(struct doc_node *root, const struct summary *s)
{
    struct doc_node *w = doc_section(root, "window", "window");

    doc_seconds(w, "length_s", "length", s->window_length_s);
    doc_seconds(w, "start_s", NULL, s->window_start_s);
    doc_seconds(w, "warmup_s", s->warmup_s > 0 ? "warm-up" : NULL, s->warmup_s);
    doc_show_if(doc_seconds(w, "cooldown_s", "cool-down", s->cooldown_s),
                s->cooldown_s > 0);
    doc_bool(w, "cut_by_max_duration", NULL, s->cut_by_max_duration);
    doc_unless(w, DOC_SHARE, "e2e_p99_share", NULL, s->e2e_p99_share,
               s->e2e_p99_share < 0, "no request succeeded");
}

void run_doc_rates(struct doc_node *root, const struct summary *s)
{
    static const char tokens[] = " tokens/s";
    bool has_tokens = s->has_tokens && tokens_have_output(&s->tokens);
    const struct {
        const char *key;
        const char *label;
        const char *help;
        double value;
        const char *unit; /* NULL: bytes */
        enum doc_better better;
    } rates[] = {
        {"offered_rps", "offered", "requests due in the window", s->offered_rps,
         "/s", DOC_UNTRACKED},
        {"completed_rps", "completed",
         "requests due in the window that ended ok", s->completed_rps, "/s",
         DOC_HIGHER},
        {"goodput_rps", "goodput", "requests due in the window that were good",
         s->goodput_rps, "/s", DOC_HIGHER},
        {"goodput_tokens_per_s", "output of good requests",
         "output tokens of good requests", s->goodput_tokens_per_s, tokens,
         DOC_HIGHER},
        {"throughput_rps", "finished in the window",
         "requests that ended ok in the window, whenever they were due",
         s->throughput_rps, "/s", DOC_HIGHER},
        {"output_tokens_per_s", "output in the window",
         "output tokens that arrived in the window", s->output_tokens_per_s,
         tokens, DOC_HIGHER},
        {"bytes_in_per_s", "received", NULL, s->bytes_in_per_s, NULL,
         DOC_UNTRACKED},
        {"bytes_out_per_s", "sent", NULL, s->bytes_out_per_s, NULL,
         DOC_UNTRACKED},
    };
    struct doc_node *n;

    add_window(root, s);
    n = doc_section(root, NULL, "rates");
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        bool is_counted = has_tokens || rates[i].unit != tokens;
        struct doc_node *rate =
            doc_value(n, rates[i].unit ? DOC_RATE : DOC_BYTES, rates[i].key,
                      rates[i].label, rates[i].value);

        doc_unit(doc_help(rate, rates[i].help),
                 rates[i].unit ? rates[i].unit : "/s");
        doc_track(rate, rates[i].better);
        doc_missing_if(rate, !is_counted || s->window_length_s <= 0,
                       is_counted ? "the window is empty"
                                  : "token counts are not available");
    }
    if (s->verdict == VERDICT_FAIL)
        doc_line(n, DOC_PLAIN,
                 "the SLO is missed: this goodput is not deliverable");
    run_doc_attainment(n, s->scheduled > 0, s->attainment, &s->attainment_ci95);
}

/* ---- what is good ---- */

void run_doc_misses(struct doc_node *root, const struct summary *s)
{
    const struct misses *m = &s->misses;
    /* With one limit it is clear what was missed. */
    bool is_shown = misses_limits(m) >= 2 && m->not_good > 0;
    struct doc_node *n =
        doc_show_if(doc_section(root, "misses", "misses"), is_shown);
    struct doc_node *table;
    int64_t only = 0;

    doc_count(n, "not_good", "not good", m->not_good);
    doc_sep(doc_count(n, "failed", "failed", m->failed), " = ");
    doc_sep(doc_count(n, "several", "missed several limits", m->several),
            " + ");
    for (int i = 0; i < GOOD_LIMITS; i++)
        only += m->by[i].only;
    doc_sep(doc_count(n, "one", "missed one limit", only), " + ");
    table = doc_table(n, "limits", "");
    for (int i = 0; i < GOOD_LIMITS; i++) {
        const struct limit_misses *l = &m->by[i];
        struct doc_node *row;

        if (l->limit_ns <= 0)
            continue;
        row = doc_row(table);
        doc_text(row, "measure", "measure", misses_name(i));
        doc_brief(doc_unless(row, DOC_NS, "limit_ms",
                             s->n_classes > 0 ? "tightest limit" : "limit",
                             (double)l->limit_ns, i == GOOD_CHECK, NULL),
                  "required");
        doc_count(row, "missed", "missed", l->missed);
        doc_share(row, "missed_share", "share",
                  m->not_good > 0 ? (double)l->missed / (double)m->not_good
                                  : 0);
        doc_count(row, "only", "missed only this", l->only);
    }
}

void run_doc_cost(struct doc_node *root, const struct summary *s)
{
    const struct cost *c = &s->cost;
    const char *no_tokens = "token counts are not available";
    bool is_decided = s->verdict == VERDICT_PASS || s->verdict == VERDICT_FAIL;
    bool has_parts = c->usd_storage > 0 || c->usd_egress > 0;
    struct doc_node *n;

    if (!c->is_there) {
        doc_null(root, "cost", "no price was given (cost.usd_per_hour)");
        return;
    }
    n = doc_section(root, "cost", "cost");
    doc_usd(n, "usd", "for the window", c->usd);
    doc_sep(doc_usd(n, "usd_machines", has_parts ? "machines" : NULL,
                    c->usd_machines),
            " = ");
    doc_sep(
        doc_usd(n, "usd_storage", has_parts ? "storage" : NULL, c->usd_storage),
        " + ");
    doc_sep(
        doc_usd(n, "usd_egress", has_parts ? "egress" : NULL, c->usd_egress),
        " + ");
    doc_track(doc_unless(n, DOC_USD, "usd_per_1000_good_requests",
                         "per thousand good requests", c->usd_per_1000_good,
                         c->usd_per_1000_good < 0, "no request was good"),
              DOC_LOWER);
    doc_unless(n, DOC_USD, "usd_per_million_good_tokens",
               "per million good output tokens", c->usd_per_million_good_tokens,
               c->usd_per_million_good_tokens < 0,
               s->has_tokens && tokens_have_output(&s->tokens)
                   ? "no request was good"
                   : no_tokens);
    doc_unless(n, DOC_USD, "usd_per_million_tokens",
               "per million output tokens", c->usd_per_million_tokens,
               c->usd_per_million_tokens < 0,
               s->has_tokens ? "none arrived" : no_tokens);
    doc_usd(n, "usd_per_hour", NULL, s->settings->cost.usd_per_hour);
    doc_count(n, "replicas", NULL, s->settings->cost.replicas);
    doc_usd(n, "usd_per_gb_egress", NULL, s->settings->cost.usd_per_gb_egress);
    doc_usd(n, "usd_per_gb_month", NULL, s->settings->cost.usd_per_gb_month);
    doc_number(n, "storage_gb", NULL, s->settings->cost.storage_gb);
    doc_missing_if(doc_bool(n, "deliverable", NULL, s->verdict == VERDICT_PASS),
                   !is_decided, "it is not known whether the SLO is met");
    if (s->verdict == VERDICT_FAIL)
        doc_line(n, DOC_PLAIN,
                 "the SLO is missed: these costs are not deliverable");
    else if (s->good == 0)
        doc_line(n, DOC_PLAIN, "no request was good");
}

/* ---- classes ---- */

static void add_class_counts(struct doc_node *row, double window_s,
                             const struct class_summary *c)
{
    const bool is_empty = window_s <= 0;
    struct doc_node *requests;

    doc_text(row, "name", "class", c->name);
    doc_share(row, "share", "share", c->share);
    doc_text(row, "verdict", NULL, verdict_name(c->judgement.verdict));
    requests = doc_section(row, "requests", "");
    doc_count(requests, "scheduled", "due", c->scheduled);
    doc_count(requests, "issued", NULL, c->issued);
    doc_count(requests, "ok", "ok", c->ok);
    doc_count(requests, "failed", "failed", c->failed);
    doc_count(requests, "unsent", "unsent", c->unsent);
    doc_count(requests, "good", NULL, c->good);
    doc_unless(row, DOC_RATE, "offered_rps", "offered", c->offered_rps,
               is_empty, "the window is empty");
    doc_unless(row, DOC_RATE, "completed_rps", "completed", c->completed_rps,
               is_empty, "the window is empty");
    doc_unless(row, DOC_RATE, "goodput_rps", "goodput", c->goodput_rps,
               is_empty, "the window is empty");
    doc_unless(row, DOC_RATE, "throughput_rps", "finished", c->throughput_rps,
               is_empty, "the window is empty");
    run_doc_attainment(row, c->scheduled > 0, c->attainment,
                       &c->attainment_ci95);
}

/* What people see of a class elsewhere than in the table of counts. */
static void show_class(struct doc_node *slo, struct doc_node *times,
                       const struct class_summary *c)
{
    static const enum measure shown[] = {MEASURE_E2E, MEASURE_TTFT,
                                         MEASURE_TPOT};

    if (c->judgement.len > 0) {
        struct doc_node *n = doc_section(slo, NULL, c->name);

        doc_text(n, NULL, "", verdict_name(c->judgement.verdict));
        run_doc_terms(n, &c->judgement, false);
        run_doc_tiers(n, &c->tiers, c->scheduled > 0);
    }
    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
        char name[80];

        if ((shown[i] != MEASURE_E2E && !c->is_streamed) ||
            c->spread[shown[i]].n == 0)
            continue;
        snprintf(name, sizeof(name), "%s %s", c->name, measure_name(shown[i]));
        run_doc_spread(doc_section(times, name, name), &c->spread[shown[i]]);
    }
}

void run_doc_classes(struct doc_node *root, const struct summary *s)
{
    struct doc_node *table = doc_table(root, "classes", "");
    struct doc_node *slo = doc_text_only(doc_section(root, NULL, ""));
    struct doc_node *times = doc_text_only(doc_rows(root, NULL, "classes"));

    for (size_t i = 0; i < s->n_classes; i++) {
        const struct class_summary *c = &s->classes[i];
        struct doc_node *row = doc_row(table);
        struct doc_node *measures;

        add_class_counts(row, s->window_length_s, c);
        measures = doc_section(row, "measures", NULL);
        for (int m = 0; m < MEASURE_COUNT; m++) {
            if (!measure_is_pooled((enum measure)m))
                run_doc_spread(
                    doc_section(measures, measure_name((enum measure)m), NULL),
                    &c->spread[m]);
        }
        run_doc_terms(row, &c->judgement, true);
        run_doc_tiers(doc_section(row, NULL, NULL), &c->tiers,
                      c->scheduled > 0);
        show_class(slo, times, c);
    }
    if (s->n_classes > 0) {
        const struct class_summary total = {
            .name = "total",
            .share = 1,
            .scheduled = s->scheduled,
            .ok = s->ok,
            .failed = s->failed,
            .unsent = s->unsent,
            .offered_rps = s->offered_rps,
            .completed_rps = s->completed_rps,
            .goodput_rps = s->goodput_rps,
            .throughput_rps = s->throughput_rps,
            .attainment = s->attainment,
            .attainment_ci95 = s->attainment_ci95,
        };

        add_class_counts(doc_text_only(doc_row(table)), s->window_length_s,
                         &total);
    }
}

/* ---- targets ---- */

void run_doc_targets(struct doc_node *root, const struct target_rows *t,
                     bool is_streamed)
{
    const struct target_row *worst =
        t->stragglers > 0 ? &t->items[t->slowest] : NULL;
    struct doc_node *table;
    struct doc_node *n;

    if (t->n == 0)
        return;
    table = doc_table(root, "targets", "targets");
    for (size_t i = 0; i < t->n; i++) {
        const struct target_row *x = &t->items[i];
        struct doc_node *row = doc_row(table);

        doc_text(row, "name", "target", x->name);
        doc_count(row, "n", "sent", x->n);
        doc_count(row, "ok", "ok", x->ok);
        doc_ns(row, "e2e_p50", "e2e p50", (double)x->e2e_ns[TARGET_P50]);
        doc_ns(row, "e2e_p99", "e2e p99", (double)x->e2e_ns[TARGET_P99]);
        if (is_streamed) {
            doc_ns(row, "ttft_p50", "ttft p50", (double)x->ttft_ns[TARGET_P50]);
            doc_ns(row, "ttft_p99", "ttft p99", (double)x->ttft_ns[TARGET_P99]);
        }
        doc_share(row, "misses_share", "not good",
                  (double)(x->n - x->good) / (double)x->n);
        doc_unless(row, DOC_NUMBER, "times_others", "times the others",
                   x->slower, isnan(x->slower), "n too small");
        doc_show(doc_bool(row, "straggler", "", x->is_straggler), "%s",
                 x->is_straggler ? "STRAGGLER" : "");
    }
    n = doc_section(root, NULL, worst ? "straggler" : NULL);
    doc_text(n, "straggler", "", worst ? worst->name : NULL);
    if (worst)
        doc_sep(doc_textf(n, NULL, "",
                          "takes %.3g times as long as the others (the test "
                          "is explained in docs/metrics.md)",
                          worst->slower),
                " ");
}

/* ---- shards ---- */

void run_doc_shards(struct doc_node *root, const struct shard_rows *t)
{
    struct doc_node *table;

    if (t->n == 0)
        return;
    table = doc_table(root, "shards", "shards");
    for (size_t i = 0; i < t->n; i++) {
        const struct shard_row *x = &t->items[i];
        struct doc_node *row = doc_row(table);
        const char *state = x->is_missing         ? "missing"
                            : x->info.was_killed  ? "killed"
                            : x->info.damaged > 0 ? "damaged"
                                                  : "complete";
        double start_ms = (double)x->offset_ns / 1e6;

        doc_count(row, "index", "shard", x->info.index);
        doc_text(row, "host", "host", x->info.host);
        doc_text(row, "state", "recording", state);
        doc_count(row, "threads", "threads", x->info.threads);
        doc_count(row, "n", "due", x->due);
        doc_count(row, "ok", "ok", x->ok);
        doc_count(row, "unsent", "unsent", x->unsent);
        doc_ns(row, "lag_p99", "lag p99", (double)x->lag_p99_ns);
        doc_ns(row, "e2e_p50", "e2e p50", (double)x->e2e_p50_ns);
        doc_ns(row, "e2e_p99", "e2e p99", (double)x->e2e_p99_ns);
        doc_missing_if(doc_show(doc_number(row, "start_offset_ms",
                                           "start off by", start_ms),
                                "%+.3fms", start_ms),
                       x->is_missing, NULL);
        doc_missing_if(doc_ns(row, "clock_error", "clock error at most",
                              (double)x->info.clock_error_ns),
                       x->is_missing || x->info.clock_error_ns == 0, NULL);
        doc_missing_if(doc_show(doc_bool(row, "clock_synchronised", "clock",
                                         x->info.is_synchronised),
                                "%s",
                                x->info.is_synchronised ? "synchronised"
                                                        : "NOT synchronised"),
                       x->is_missing, NULL);
        if (x->info.offset_error_ns > 0) {
            double off_ms = (double)x->info.clock_offset_ns / 1e6;
            double error_ms = (double)x->info.offset_error_ns / 1e6;

            doc_show(doc_number(row, "clock_offset_ms", "clock off by", off_ms),
                     "%+.3fms +- %.3fms", off_ms, error_ms);
            doc_number(row, "clock_offset_error_ms", NULL, error_ms);
            if (x->info.is_corrected)
                doc_show(doc_number(row, "clock_drift_ppm", "clock drift",
                                    x->info.drift_ppm),
                         "%+.1f ppm", x->info.drift_ppm);
        }
    }
    if (t->has_offsets)
        doc_line(root, DOC_PLAIN,
                 "clocks: compared by the launcher; shard %lld%s%s is off by "
                 "%+.3f ms, the most of all%s",
                 (long long)t->furthest,
                 t->items[t->furthest].info.host[0] ? " on " : "",
                 t->items[t->furthest].info.host,
                 (double)t->items[t->furthest].info.clock_offset_ns / 1e6,
                 t->are_corrected ? "; all started by one clock" : "");
    else if (!t->is_one_host)
        doc_line(
            root, DOC_PLAIN,
            "clocks: only the kernel's own bounds of their errors are known; "
            "recordings cannot show an offset between machines");
}

/* ---- latencies ---- */

void run_doc_spread(struct doc_node *in, const struct spread *s)
{
    doc_count(in, "n", "n", s->n);
    doc_count(in, "failed", "failed", s->failed);
    if (s->out_of_range > 0)
        doc_count(in, "out_of_range", NULL, s->out_of_range);
    doc_ns(in, "mean", "mean", s->mean_ns);
    for (int i = 0; i < SUMMARY_QUANTILES; i++)
        doc_ns(in, summary_quantile_name[i], summary_quantile_name[i],
               (double)s->quantile_ns[i]);
    doc_ns(in, "max", "max", (double)s->max_ns);
}

/* Which rows of a measure people see: its own, the successes alone, and the
 * same from when it was sent. */
struct measure_rows {
    const char *label;
    const char *ok;   /* NULL: not shown */
    const char *sent; /* the same */
    bool is_of_stream;
    bool ok_needs_failures;
};

static const struct measure_rows measure_rows[MEASURE_COUNT] = {
    [MEASURE_E2E] = {"e2e from due", "e2e ok, from due", "e2e from sent", false,
                     false},
    [MEASURE_TTFT] = {"ttft from due", "ttft ok, from due", "ttft from sent",
                      true, false},
    [MEASURE_TPOT] = {"tpot", "tpot, ok", NULL, true, true},
    [MEASURE_ITL] = {"itl", NULL, NULL, true, false},
    [MEASURE_GAP] = {"gap", NULL, NULL, true, false},
    [MEASURE_STALL] = {"stall", "stall, ok", NULL, true, true},
    [MEASURE_TAIL] = {"tail", NULL, NULL, true, false},
    [MEASURE_QUERY] = {"query from due", NULL, NULL, false, false},
    [MEASURE_TTFB] = {"ttfb from due", NULL, NULL, false, false},
    [MEASURE_CONNECT] = {"connect", NULL, NULL, false, false},
    [MEASURE_TLS] = {"tls", NULL, NULL, false, false},
    [MEASURE_LAG] = {"client lag", NULL, NULL, false, false},
};

static struct doc_node *add_measure_row(struct doc_node *rows,
                                        const struct summary *s, enum measure m)
{
    bool is_guess =
        (m == MEASURE_TPOT || m == MEASURE_ITL) && s->tokens.assumed > 0;
    const char *name = measure_rows[m].label ? measure_rows[m].label : "";
    char label[48];

    if (m == MEASURE_LAG && s->settings->load.scenario == SCENARIO_OFFLINE)
        name = "wait before sending";
    snprintf(label, sizeof(label), "%s%s", name, is_guess ? " (assumed)" : "");
    return doc_section(rows, measure_name(m), label);
}

void run_doc_track(const struct doc_node *quantiles, int measure)
{
    static const char *const keys[] = {"p50_ms", "p90_ms", "p99_ms"};

    if (!quantiles->label) /* of streams, and nothing was streamed */
        return;
    if (measure != MEASURE_E2E && measure != MEASURE_TTFT &&
        measure != MEASURE_TPOT && measure != MEASURE_QUERY)
        return;
    for (struct doc_node *n = quantiles->first; n; n = n->next) {
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
            if (n->key && strcmp(n->key, keys[i]) == 0)
                doc_track(n->type == DOC_SECTION ? n->first : n, DOC_LOWER);
        }
    }
}

/* The intervals that this run alone can give. */
static void bound_quantiles(const struct doc_node *row, const struct steady *st,
                            enum measure m)
{
    for (struct doc_node *n = row->first; n; n = n->next) {
        for (size_t i = 0; i < st->n_within; i++) {
            const struct within *w = &st->within[i];

            if (w->measure == m && n->label && strcmp(w->name, n->label) == 0 &&
                w->section.verdict == SECTION_KNOWN)
                doc_bounds(n, w->section.quantile.range);
        }
    }
}

static void add_measure(struct doc_node *rows, const struct summary *s,
                        enum measure m)
{
    const struct measure_rows *w = &measure_rows[m];
    const struct spread *p = s->spread[m];
    struct doc_node *row = add_measure_row(rows, s, m);

    doc_show_if(row, w->label && p[VIEW_DUE].n > 0 &&
                         (s->is_streamed || !w->is_of_stream));
    run_doc_spread(row, &p[VIEW_DUE]);
    run_doc_track(row, (int)m);
    bound_quantiles(row, &s->steady, m);
    if (measure_is_of_answer(m))
        run_doc_spread(doc_section(row, "ok",
                                   p[VIEW_OK].n > 0 && (!w->ok_needs_failures ||
                                                        p[VIEW_DUE].failed > 0)
                                       ? w->ok
                                       : NULL),
                       &p[VIEW_OK]);
    if (measure_has_sent(m))
        run_doc_spread(
            doc_section(row, "sent", p[VIEW_SENT].n > 0 ? w->sent : NULL),
            &p[VIEW_SENT]);
    if (m == MEASURE_TPOT || m == MEASURE_ITL)
        doc_bool(row, "assumed", NULL, s->tokens.assumed > 0);
}

/* Explains the names of rows, and words in place of numbers. */
static void add_legend(struct doc_node *rows, const struct summary *s)
{
    bool is_small = false;

    if (s->is_streamed)
        doc_text_only(doc_line(
            rows, DOC_PLAIN,
            "ttft: to the first token; gap: between two events; itl: between "
            "two tokens; stall: longest gap of an answer; tail: from the last "
            "token to the end"));
    for (int m = 0; m < MEASURE_COUNT; m++) {
        const struct spread *p = &s->spread[m][VIEW_DUE];

        is_small |= measure_rows[m].label && p->n > 0 &&
                    (s->is_streamed || !measure_rows[m].is_of_stream) &&
                    p->quantile_ns[SUMMARY_QUANTILES - 1] == HIST_TOO_FEW;
    }
    if (is_small)
        doc_text_only(doc_line(rows, DOC_PLAIN,
                               "'too few': too few samples for this "
                               "percentile"));
    if (s->spread[MEASURE_E2E][VIEW_DUE].mean_ns == HIST_BEYOND)
        doc_text_only(doc_line(rows, DOC_PLAIN,
                               "'failed' in place of a time: failed requests "
                               "count as infinitely slow"));
}

void run_doc_latencies(struct doc_node *root, const struct summary *s)
{
    static const enum measure first[] = {
        MEASURE_E2E,  MEASURE_QUERY,   MEASURE_TTFT,  MEASURE_TPOT,
        MEASURE_ITL,  MEASURE_GAP,     MEASURE_STALL, MEASURE_TAIL,
        MEASURE_TTFB, MEASURE_CONNECT, MEASURE_TLS,   MEASURE_LAG};
    struct doc_node *rows = doc_rows(root, "measures", "");
    uint64_t done = 0;

    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
        add_measure(rows, s, first[i]);
        done |= UINT64_C(1) << first[i];
    }
    for (int m = 0; m < MEASURE_COUNT; m++) {
        if (!(done >> m & 1))
            add_measure(rows, s, (enum measure)m);
    }
    add_legend(rows, s);
}

/* ---- the distribution ---- */

static void add_bar(struct doc_node *row, int64_t count, int64_t greatest)
{
    const struct doc_plot plot = {.a = (double)count,
                                  .b = NAN,
                                  .high = (double)greatest,
                                  .width = BAR_WIDTH,
                                  .before = '#'};

    doc_count(row, "count", "count", count);
    doc_plot(row, "", &plot);
}

/* Failures and values beyond the histogram have no place on the scale. */
static void add_bar_without_range(struct doc_node *table, const char *name,
                                  int64_t count, int64_t greatest)
{
    struct doc_node *row;

    if (count == 0)
        return;
    row = doc_text_only(doc_row(table));
    doc_text(row, NULL, "from", name);
    add_bar(row, count, greatest);
}

void run_doc_distribution(struct doc_node *root, const struct summary *s)
{
    const struct bars *b = &s->bars;
    struct doc_node *n = doc_section(root, "distribution", "");
    bool has_limit = b->limit_ns > 0;
    int64_t greatest =
        b->failed > b->out_of_range ? b->failed : b->out_of_range;
    struct doc_node *table;
    char title[64];

    doc_text(n, "measure", NULL, measure_name(b->measure));
    doc_unless(n, DOC_NS, "limit_ms", NULL, (double)b->limit_ns,
               b->limit_ns <= 0, NULL);
    doc_count(n, "failed", NULL, b->failed);
    doc_count(n, "out_of_range", NULL, b->out_of_range);
    snprintf(title, sizeof(title), "%s from due", measure_name(b->measure));
    table = doc_table(n, "rows", title);
    for (size_t i = 0; i < b->len; i++)
        greatest = b->list[i].count > greatest ? b->list[i].count : greatest;
    for (size_t i = 0; i <= b->len && b->len > 0; i++) {
        struct doc_node *row;

        /* The limit is above the first row that does not keep it. */
        if (has_limit && (i == b->len || b->list[i].from_ns >= b->limit_ns)) {
            char text[UNITS_TEXT];

            doc_text_only(
                doc_line(table, DOC_PLAIN, "------- limit %s",
                         units_show_duration((double)b->limit_ns, text)));
            has_limit = false;
        }
        if (i == b->len)
            break;
        row = doc_row(table);
        doc_value(row, DOC_NS, "from_ms", "from", (double)b->list[i].from_ns);
        doc_value(row, DOC_NS, "to_ms", "to", (double)b->list[i].to_ns);
        add_bar(row, b->list[i].count, greatest);
    }
    if (b->len > 0) {
        add_bar_without_range(table, "> 1h", b->out_of_range, greatest);
        add_bar_without_range(table, "failed", b->failed, greatest);
    }
}

void run_doc_curve(struct doc_node *root, const struct curve *c)
{
    struct curve_point points[CURVE_MAX];
    struct doc_node *n;
    struct doc_node *table;
    size_t len;
    char title[96];

    if (!c)
        return;
    len = curve_points(c, points);
    n = doc_section(root, "curve", "");
    doc_text(n, "measure", NULL, measure_name(c->measure));
    doc_count(n, "n", NULL, curve_n(c));
    snprintf(title, sizeof(title),
             "share of %lld requests whose %s is within the limit",
             (long long)curve_n(c), measure_name(c->measure));
    table = doc_table(n, "points", title);
    for (size_t i = 0; i < len; i++) {
        struct doc_node *row = doc_row(table);

        doc_value(row, DOC_NS, "limit_ms", "limit", (double)points[i].limit_ns);
        doc_count(row, "within", "within", points[i].within);
        doc_digits(doc_share(row, "share", "share", points[i].share), 6);
        doc_digits(doc_range(row, "share_ci95", "95% interval", DOC_SHARE,
                             points[i].ci95),
                   6);
        doc_show(doc_bool(row, "slo", "", points[i].is_slo), "%s",
                 points[i].is_slo ? "<- limit of the SLO" : "");
    }
}
