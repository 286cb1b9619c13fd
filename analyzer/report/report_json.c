/* summary.json: the keys that scripts rely on.  Times are milliseconds; what
 * cannot be given is null, with the reason in a _note beside it. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/json_parts.h"
#include "analyzer/report/report.h"
#include "analyzer/tally/summary.h"
#include "common/base/json.h"
#include "common/base/redact.h"
#include "common/settings/settings.h"

#define SUMMARY_SCHEMA 1

static const char *reason(double ns)
{
    if (ns == HIST_TOO_FEW)
        return "n too small";
    if (ns == HIST_BEYOND)
        return "beyond failures";
    if (ns == HIST_OUT_OF_RANGE)
        return "out of range";
    return "no samples";
}

void json_put_ns(json_t *o, const char *name, double ns)
{
    char key[32];

    snprintf(key, sizeof(key), "%s_ms", name);
    if (ns >= 0) {
        json_object_set_new(o, key, json_real(ns / 1e6));
        return;
    }
    json_object_set_new(o, key, json_null());
    snprintf(key, sizeof(key), "%s_note", name);
    json_object_set_new(o, key, json_string(reason(ns)));
}

void json_put_nothing(json_t *o, const char *name, const char *why)
{
    char note[40];

    snprintf(note, sizeof(note), "%s_note", name);
    json_object_set_new(o, name, json_null());
    json_object_set_new(o, note, json_string(why));
}

json_t *json_text_or_null(const char *text)
{
    return text ? json_bytes(text, strlen(text)) : json_null();
}

json_t *json_number_or_null(double value)
{
    return value >= 0 ? json_real(value) : json_null();
}

static void put_spread(json_t *o, const struct spread *s)
{
    json_object_set_new(o, "n", json_integer(s->n));
    json_object_set_new(o, "failed", json_integer(s->failed));
    if (s->out_of_range > 0)
        json_object_set_new(o, "out_of_range", json_integer(s->out_of_range));
    json_put_ns(o, "mean", s->mean_ns);
    for (int i = 0; i < SUMMARY_QUANTILES; i++)
        json_put_ns(o, summary_quantile_name[i], (double)s->quantile_ns[i]);
    json_put_ns(o, "max", (double)s->max_ns);
}

json_t *json_spread(const struct spread *s)
{
    json_t *o = json_object();

    put_spread(o, s);
    return o;
}

static json_t *measures(const struct summary *s)
{
    json_t *all = json_object();

    for (int m = 0; m < MEASURE_COUNT; m++) {
        json_t *o = json_spread(&s->spread[m][VIEW_DUE]);

        if (measure_is_of_answer((enum measure)m))
            json_object_set_new(o, "ok", json_spread(&s->spread[m][VIEW_OK]));
        if (measure_has_sent((enum measure)m))
            json_object_set_new(o, "sent",
                                json_spread(&s->spread[m][VIEW_SENT]));
        if (m == MEASURE_TPOT || m == MEASURE_ITL)
            json_object_set_new(o, "assumed",
                                json_boolean(s->tokens.assumed > 0));
        json_object_set_new(all, measure_name((enum measure)m), o);
    }
    return all;
}

static json_t *outcomes(const struct summary *s)
{
    json_t *o = json_object();

    for (int i = 0; i < OUTCOME_COUNT; i++) {
        if (i != OUTCOME_OK && i != OUTCOME_UNSENT && s->outcome[i] > 0)
            json_object_set_new(o, outcome_name((enum outcome)i),
                                json_integer(s->outcome[i]));
    }
    return o;
}

/* {"302": 108}, without 200. */
static json_t *statuses(const struct summary *s)
{
    json_t *o = json_object();

    for (size_t i = 0; i < s->n_statuses; i++) {
        char name[8];

        snprintf(name, sizeof(name), "%d", s->statuses[i].status);
        json_object_set_new(o, name, json_integer(s->statuses[i].count));
    }
    return o;
}

static json_t *failures(const struct summary *s)
{
    json_t *array = json_array();

    for (size_t i = 0; i < s->failures.len; i++) {
        const struct failure_kind *k = &s->failures.kinds[i];

        json_array_append_new(
            array, json_pack("{ss, ss, sI}", "outcome",
                             outcome_name((enum outcome)k->outcome), "text",
                             k->text, "count", (json_int_t)k->count));
    }
    return array;
}

static json_t *requests(const struct summary *s)
{
    json_t *o = json_pack(
        "{sI, sI, sI, sI, sI, so, sI, sI, sI, sI}", "scheduled",
        (json_int_t)s->scheduled, "issued", (json_int_t)s->issued, "unsent",
        (json_int_t)s->unsent, "ok", (json_int_t)s->ok, "failed",
        (json_int_t)s->failed, "by_outcome", outcomes(s), "good",
        (json_int_t)s->good, "in_warmup", (json_int_t)s->warmup_requests,
        "opened_connection", (json_int_t)s->fresh_connections, "retried",
        (json_int_t)s->retried);
    int64_t connections = s->fresh_connections + s->reused_connections;

    json_object_set_new(o, "in_cooldown", json_integer(s->cooldown_requests));
    json_object_set_new(o, "by_status", statuses(s));
    json_object_set_new(o, "reused_connection",
                        json_integer(s->reused_connections));
    if (connections > 0)
        json_object_set_new(
            o, "reuse",
            json_real((double)s->reused_connections / (double)connections));
    else
        json_put_nothing(o, "reuse", "no samples");
    return o;
}

/* The lowest limit that would have been met. */
static void put_tightest(json_t *o, int64_t ns)
{
    if (ns >= 0) {
        json_put_ns(o, "tightest", (double)ns);
        return;
    }
    json_object_set_new(o, "tightest_ms", json_null());
    json_object_set_new(o, "tightest_note",
                        json_string("no limit would have been met"));
}

static json_t *term(const struct term_judgement *j)
{
    json_t *o = json_pack("{ss}", "term", j->term->text);

    if (j->term->kind == SLO_QUANTILE) {
        json_put_ns(o, "measured", (double)j->measured_ns);
        json_object_set_new(o, "n_effective", json_real(j->n_effective));
        put_tightest(o, j->tightest_ns);
    } else if (j->is_unmeasured) {
        json_put_nothing(o, "measured", j->why);
    } else {
        json_object_set_new(o, "measured", json_real(j->measured));
    }
    json_object_set_new(o, "verdict", json_string(verdict_name(j->verdict)));
    if (j->verdict == VERDICT_UNDECIDED || j->verdict == VERDICT_NONE)
        json_object_set_new(o, "met", json_null());
    else
        json_object_set_new(o, "met", json_boolean(j->verdict == VERDICT_PASS));
    if (j->verdict == VERDICT_NONE)
        json_object_set_new(o, "met_note",
                            json_string("a limit of good requests; measured is "
                                        "the share that keeps it"));
    else if (j->more_needed > 0)
        json_object_set_new(o, "met_note",
                            json_sprintf("about %lld more requests needed",
                                         (long long)j->more_needed));
    else if (j->why)
        json_object_set_new(o, "met_note", json_string(j->why));
    return o;
}

json_t *json_terms(const struct judgement *j)
{
    json_t *array = json_array();

    for (size_t i = 0; i < j->len; i++)
        json_array_append_new(array, term(&j->terms[i]));
    return array;
}

static json_t *check(const struct check *c)
{
    return json_pack("{ss, sb, sb, sf, sf, ss, ss, ss}", "name", c->name, "ok",
                     c->ok, "fatal", c->is_fatal, "value", c->value, "limit",
                     c->limit, "bound", c->is_minimum ? "at least" : "at most",
                     "unit", c->unit, "advice", c->advice);
}

static json_t *trust(const struct summary *s)
{
    json_t *checks = json_array();

    for (size_t i = 0; i < s->trust.len; i++)
        json_array_append_new(checks, check(&s->trust.checks[i]));
    return json_pack("{sb, so}", "valid", s->trust.valid, "checks", checks);
}

static json_t *integrity(const struct summary *s)
{
    return json_pack("{sb, sI, sI, sI, sI}", "killed", s->integrity.was_killed,
                     "lost_requests", (json_int_t)s->integrity.lost_requests,
                     "lost_events", (json_int_t)s->integrity.lost_events,
                     "skipped_bytes", (json_int_t)s->damage.skipped_bytes,
                     "cut_off_bytes", (json_int_t)s->damage.cut_off_bytes);
}

static json_t *network(const struct summary *s)
{
    json_t *o;

    if (s->rtt_floor_ns > 0)
        return json_pack("{sf, sI, sI}", "rtt_floor_ms",
                         (double)s->rtt_floor_ns / 1e6, "segments",
                         (json_int_t)s->segments, "retransmits",
                         (json_int_t)s->retransmits);
    o = json_object();
    json_put_nothing(o, "rtt_floor_ms", "not known");
    json_put_nothing(o, "segments", "not known");
    json_put_nothing(o, "retransmits", "not known");
    return o;
}

static json_t *client(const struct summary *s)
{
    int64_t max_in_flight = s->settings->client.max_in_flight;
    json_t *o = json_pack("{sI, sb}", "threads", (json_int_t)s->threads,
                          "insecure", s->settings->target.insecure);

    if (max_in_flight > 0)
        json_object_set_new(o, "max_in_flight", json_integer(max_in_flight));
    else
        json_put_nothing(o, "max_in_flight", "not known");
    return o;
}

/* Where a request went on its way to the target. */
static json_t *way(const struct summary *s)
{
    const struct target_settings *t = &s->settings->target;
    char *proxy = t->proxy ? redact_url(t->proxy) : NULL;
    json_t *o = json_pack("{ss, sb, so, so}", "http", t->http2 ? "2" : "1.1",
                          "tls", settings_uses_tls(s->settings), "proxy",
                          json_text_or_null(proxy), "unix_socket",
                          json_text_or_null(t->unix_socket));

    if (s->transport)
        json_object_set_new(o, "transport", json_string(s->transport));
    else
        json_put_nothing(o, "transport", "not known");
    free(proxy);
    return o;
}

/* What was known of the client before the run. */
static json_t *calibration(const struct summary *s)
{
    const struct calibration_stamp *c = &s->calibration;

    if (c->standing == CALIBRATION_NONE)
        return json_null();
    if (c->standing == CALIBRATION_STALE)
        return json_pack("{sn, sn, so}", "max_rate_rps", "used", "note",
                         json_sprintf("stale: %s", c->stale));
    if (s->calibration_used < 0)
        return json_pack("{ss, ss, sn, sn, ss}", "transport", c->transport,
                         "date", c->of.date, "max_rate_rps", "used", "note",
                         "not even the lowest rate was trusted");
    return json_pack("{ss, ss, sf, sb, sf, ss}", "transport", c->transport,
                     "date", c->of.date, "max_rate_rps", c->of.max_rate_rps,
                     "is_at_least", calibration_is_at_least(&c->of), "used",
                     s->calibration_used, "note",
                     "beside a stub on the same machine, without TLS");
}

/* What a trace came to, and how it was replayed. */
static json_t *trace(const struct summary *s)
{
    const struct trace_settings *t = &s->settings->load.trace;

    if (!s->has_trace)
        return json_null();
    return json_pack(
        "{so, so, sI, sI, sI, sI, sf, sf, sf, so}", "file",
        json_text_or_null(t->file), "format",
        json_text_or_null(s->trace.format), "rows", (json_int_t)s->trace.rows,
        "damaged", (json_int_t)s->trace.damaged, "failed",
        (json_int_t)s->trace.failed, "tied", (json_int_t)s->trace.tied,
        "time_scale", t->time_scale, "spread_s", (double)t->spread_ns / 1e9,
        "from_s", (double)t->from_ns / 1e9, "to_s",
        t->to_ns > 0 ? json_real((double)t->to_ns / 1e9) : json_null());
}

/* What requests carried. */
static json_t *data(const struct summary *s)
{
    const struct data_settings *d = &s->settings->data;

    if (!s->has_data)
        return json_null();
    return json_pack(
        "{so, so, so, so, sI, sI, ss, so}", "source",
        json_text_or_null(s->data.source), "file", json_text_or_null(d->file),
        "format", json_text_or_null(s->data.format), "sha256",
        json_text_or_null(s->data.sha256), "samples",
        (json_int_t)s->data.samples, "left_out", (json_int_t)s->data.left_out,
        "select", data_select_names[d->select], "cached_share",
        s->data.cached_share < 0 ? json_null()
                                 : json_real(s->data.cached_share));
}

static void put_rate(json_t *o, const char *name, const struct summary *s,
                     double rate)
{
    if (s->window_length_s > 0)
        json_object_set_new(o, name, json_real(rate));
    else
        json_put_nothing(o, name, "the window is empty");
}

static void put_token_rate(json_t *o, const char *name, const struct summary *s,
                           double rate)
{
    if (s->has_tokens && tokens_have_output(&s->tokens))
        put_rate(o, name, s, rate);
    else
        json_put_nothing(o, name, "nobody counts them");
}

static void put_rates(json_t *o, const struct summary *s)
{
    put_rate(o, "offered_rps", s, s->offered_rps);
    put_rate(o, "throughput_rps", s, s->throughput_rps);
    put_rate(o, "goodput_rps", s, s->goodput_rps);
    if (s->scheduled > 0) {
        json_object_set_new(o, "attainment", json_real(s->attainment));
        json_object_set_new(o, "attainment_ci95",
                            json_pack("[f, f]", s->attainment_ci95.low,
                                      s->attainment_ci95.high));
    } else {
        json_put_nothing(o, "attainment", "no samples");
        json_put_nothing(o, "attainment_ci95", "no samples");
    }
    put_token_rate(o, "output_tokens_per_s", s, s->output_tokens_per_s);
    put_token_rate(o, "goodput_tokens_per_s", s, s->goodput_tokens_per_s);
    put_rate(o, "bytes_in_per_s", s, s->bytes_in_per_s);
    put_rate(o, "bytes_out_per_s", s, s->bytes_out_per_s);
}

static json_t *conditions(const struct strmap *map)
{
    json_t *o = json_object();

    for (size_t i = 0; i < map->keys.len; i++)
        json_object_set_new(
            o, map->keys.items[i],
            json_bytes(map->values.items[i], strlen(map->values.items[i])));
    return o;
}

struct json_t *json_of_summary(const struct summary *s)
{
    json_t *o = json_pack(
        "{si, ss, sb, ss, ss, s{sf, sf, sf}, so}", "schema", SUMMARY_SCHEMA,
        "verdict", verdict_name(s->verdict), "interrupted",
        s->stopped_by != 0 || s->integrity.was_killed, "name",
        s->settings->name ? s->settings->name : "", "scenario",
        scenario_names[s->settings->load.scenario], "window", "start_s",
        s->window_start_s, "length_s", s->window_length_s, "warmup_s",
        s->warmup_s, "requests", requests(s));

    json_object_set_new(json_object_get(o, "window"), "cooldown_s",
                        json_real(s->cooldown_s));
    json_object_set_new(json_object_get(o, "window"), "cut_by_max_duration",
                        json_boolean(s->cut_by_max_duration));
    json_object_set_new(o, "conditions", conditions(&s->settings->conditions));
    json_object_set_new(o, "aborted", json_text_or_null(s->aborted));
    json_object_set_new(o, "decided",
                        json_text_or_null(s->decided[0] ? s->decided : NULL));
    json_object_set_new(o, "trace", trace(s));
    json_object_set_new(o, "data", data(s));
    put_rates(o, s);
    json_object_set_new(o, "measures", measures(s));
    json_put_bars(o, s);
    json_put_answers(o, s);
    json_put_classes(o, s);
    json_put_steady(o, s);
    json_put_sessions(o, s);
    json_put_server(o, s);
    json_put_cache(o, s);
    json_put_mlperf(o, s);
    json_object_set_new(o, "slo", json_terms(&s->judgement));
    json_put_tiers(o, &s->tiers, s->scheduled > 0);
    json_put_goodput(o, s);
    json_put_metered(o, s);
    json_object_set_new(o, "failures", failures(s));
    json_object_set_new(o, "way", way(s));
    json_object_set_new(o, "network", network(s));
    json_object_set_new(o, "client", client(s));
    json_object_set_new(o, "calibration", calibration(s));
    json_object_set_new(o, "trust", trust(s));
    json_object_set_new(o, "recording", integrity(s));
    json_put_next(o, s);
    return o;
}

static void render(const struct summary *s, struct buf *out)
{
    json_t *o = json_of_summary(s);

    json_print(o, out);
    json_decref(o);
}

const struct report_ops report_json = {
    .name = "json",
    .render = render,
};
