/* The document of one run: the verdict first, then what it rests on.  The keys
 * are those of summary.json, which scripts rely on. */
#include "analyzer/report/run_doc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "analyzer/report/text_show.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/settings/settings.h"
#include "common/stats/share_test.h"
#include "common/text/redact.h"
#include "common/text/url.h"

#define SUMMARY_SCHEMA 1
#define MAX_TEXT       4096

/* ---- what ran ---- */

/* Does it send only after an answer? */
static bool is_closed_loop(int scenario)
{
    return scenario == SCENARIO_CLOSED || scenario == SCENARIO_SINGLE_STREAM ||
           scenario == SCENARIO_MULTI_STREAM;
}

static void add_load(struct doc_node *root, const struct settings *set)
{
    struct doc_node *load = doc_section(root, NULL, "load");
    struct buf text;

    buf_init(&text, MAX_TEXT);
    settings_describe_load(&set->load, &text);
    doc_line(load, DOC_PLAIN, "%.*s", (int)strcspn(buf_text(&text), "\n"),
             buf_text(&text));
    buf_fini(&text);
    if (is_closed_loop(set->load.scenario))
        doc_detail(
            doc_line(load, DOC_PLAIN,
                     "closed loop: a slow server receives fewer requests, "
                     "which hides its latencies under overload; an open loop "
                     "(--rate) shows them"));
    if (set->load.scenario == SCENARIO_SESSIONS)
        doc_detail(
            doc_line(load, DOC_PLAIN,
                     "sessions arrive in an open loop; later turns wait for "
                     "answers, so a slow server receives fewer requests; do "
                     "not compare with an open loop of requests"));
    doc_text(load, "scenario", NULL, scenario_names[set->load.scenario]);
}

static void add_trace(struct doc_node *root, const struct summary *s)
{
    const struct trace_settings *t = &s->settings->load.trace;
    const struct trace_seen *seen = &s->trace;
    struct doc_node *n;

    if (!s->has_trace) {
        doc_null(root, "trace", NULL);
        return;
    }
    n = doc_section(root, "trace", "trace");
    doc_text(n, "format", "", seen->format);
    doc_text(n, "file", NULL, t->file);
    doc_count(n, "rows", "rows", seen->rows);
    doc_show_if(doc_count(n, "damaged", "damaged lines skipped", seen->damaged),
                seen->damaged > 0);
    doc_show_if(doc_count(n, "failed", "failed requests skipped", seen->failed),
                seen->failed > 0);
    doc_show_if(doc_count(n, "tied", "rows with the time of the previous row",
                          seen->tied),
                seen->tied > 0 && t->spread_ns == 0);
    doc_number(n, "time_scale", NULL, t->time_scale);
    doc_seconds(n, "spread_s", NULL, (double)t->spread_ns / 1e9);
    doc_seconds(n, "from_s", NULL, (double)t->from_ns / 1e9);
    doc_unless(n, DOC_SECONDS, "to_s", NULL, (double)t->to_ns / 1e9,
               t->to_ns <= 0, NULL);
}

static void add_data(struct doc_node *root, const struct summary *s)
{
    const struct data_settings *set = &s->settings->data;
    const struct data_seen *d = &s->data;
    struct doc_node *n;

    if (!s->has_data) {
        doc_null(root, "data", NULL);
        return;
    }
    n = doc_section(root, "data", d->sha256 ? "data" : NULL);
    doc_text(n, "file", "", set->file);
    doc_text(n, "source", NULL, d->source);
    doc_text(n, "format", NULL, d->format);
    doc_count(n, "samples", "samples", d->samples);
    doc_show(doc_text(n, "sha256", "sha256", d->sha256), "%.12s…",
             d->sha256 ? d->sha256 : "");
    doc_show_if(doc_count(n, "left_out",
                          "conversations without an answer skipped",
                          d->left_out),
                d->left_out > 0);
    doc_text(n, "select", NULL, data_select_names[set->select]);
    doc_unless(n, DOC_SHARE, "cached_share", NULL, d->cached_share,
               d->cached_share < 0, NULL);
    if (set->accuracy)
        doc_text(n, NULL, "",
                 "each sample is sent once and its answer saved in "
                 "answers.jsonl");
    if (set->unique == UNIQUE_FALSE)
        doc_text(n, NULL, "", "prompts are sent unchanged");
}

static void add_what_ran(struct doc_node *root, const struct summary *s)
{
    const struct settings *set = s->settings;
    char *url = redact_url(settings_url(set)); /* older recordings have more */
    struct doc_node *n;
    char utc[32];

    doc_count(root, "schema", NULL, SUMMARY_SCHEMA);
    doc_text(root, "name", NULL, set->name ? set->name : "");
    clk_format_utc(s->started_ns, CLK_TEXT_FORMAT, utc, sizeof(utc));
    doc_text(root, "started", NULL, s->started_ns > 0 ? utc : NULL);
    if (set->target.urls.len > 1)
        doc_line(root, DOC_PLAIN, "%s: %s %s and %zu more URLs in turn",
                 set->name ? set->name : "run",
                 set->target.method ? set->target.method : "", url,
                 set->target.urls.len - 1);
    else
        doc_line(root, DOC_PLAIN, "%s: %s %s", set->name ? set->name : "run",
                 set->target.method ? set->target.method : "", url);
    free(url);
    if (set->client.shard)
        doc_textf(doc_section(root, NULL, "shard"), "shard", "", "%s",
                  set->client.shard);
    if (set->client.shard)
        doc_line(root, DOC_WARNING,
                 "these are the numbers of one shard; merge all of them with "
                 "tailgate merge");
    add_load(root, set);
    add_trace(root, s);
    add_data(root, s);
    n = doc_section(root, "conditions", "conditions");
    for (size_t i = 0; i < set->conditions.keys.len; i++)
        doc_text(n, set->conditions.keys.items[i],
                 set->conditions.keys.items[i],
                 set->conditions.values.items[i]);
}

/* ---- the verdict ---- */

/* A limit that defines good requests; it is not judged. */
static bool is_limit(const struct slo_term *term)
{
    return term->kind == SLO_LIMIT || term->kind == SLO_CHECK;
}

static void add_measured(struct doc_node *row, const struct term_judgement *j)
{
    struct doc_node *n;

    if (j->term->kind == SLO_QUANTILE) {
        n = doc_ns(row, "measured", "measured", (double)j->measured_ns);
        if (j->is_few) /* as in the table of percentiles */
            doc_show(n, "too few");
        return;
    }
    n = j->term->kind == SLO_GOODPUT
            ? doc_rate(row, "measured", "measured", j->measured)
            : doc_share(row, "measured", "measured", j->measured);
    if (j->is_unmeasured)
        doc_brief(doc_missing_if(n, true, j->why), "not measured");
    else if (is_limit(j->term))
        doc_show(n, "kept by %.4g%%", 100 * j->measured);
}

/* What the verdict rests on.  The limit lies outside the interval exactly if
 * the verdict is shown. */
static void add_evidence(struct doc_node *row, const struct term_judgement *j)
{
    bool is_judged = j->verdict != VERDICT_NONE;
    char low[UNITS_TEXT];
    char high[UNITS_TEXT];

    doc_missing_if(doc_bool(row, "shown", NULL, j->is_shown), !is_judged, NULL);
    doc_unless(row, DOC_NUMBER, "decide_in_s", NULL, j->decide_in_s,
               !isfinite(j->decide_in_s) || !is_judged, NULL);
    doc_unless(row, DOC_NUMBER, "n_effective", NULL, j->n_effective, !is_judged,
               NULL);
    doc_unless(row, DOC_SHARE, "missed", "missed", j->missed, !is_judged, NULL);
    doc_unless(row, DOC_SHARE, "allowed", "allowed", j->allowed, !is_judged,
               NULL);
    if (j->term->kind != SLO_QUANTILE) {
        bool is_known = is_judged && !j->is_unmeasured;

        doc_missing_if(doc_range(row, "ci90", NULL, DOC_SHARE, j->ci90),
                       !is_known, NULL);
        if (is_known)
            doc_textf(row, NULL, "90% interval", "%.3g%% to %.3g%%",
                      100 * j->ci90.low, 100 * j->ci90.high);
        return;
    }
    doc_missing_if(
        doc_range(row, "ci90_ms", NULL, DOC_NS,
                  (struct interval){(double)j->low_ns, (double)j->high_ns}),
        j->high_ns < 0, j->is_unjudgeable ? j->why : "n too small");
    doc_missing_if(doc_ns(row, "above", NULL, (double)j->low_ns),
                   j->low_ns <= 0, "no limit is shown to be missed");
    doc_missing_if(doc_ns(row, "tightest", NULL, (double)j->high_ns),
                   j->high_ns < 0, "no limit is shown to be met");
    if (j->low_ns > 0 && j->high_ns >= 0)
        doc_textf(row, NULL, "90% interval", "%s to %s",
                  units_show_duration((double)j->low_ns, low),
                  units_show_duration((double)j->high_ns, high));
    else if (j->high_ns >= 0)
        doc_textf(row, NULL, "90% interval", "below %s",
                  units_show_duration((double)j->high_ns, high));
    else if (j->low_ns > 0)
        doc_textf(row, NULL, "90% interval", "above %s",
                  units_show_duration((double)j->low_ns, low));
    else
        doc_text(row, NULL, "90% interval",
                 j->is_unjudgeable ? "none" : "too few");
}

static void add_term(struct doc_node *table, const struct term_judgement *j,
                     bool is_shown)
{
    struct doc_node *row = doc_show_if(doc_row(table), is_shown);
    bool is_open =
        j->verdict == VERDICT_UNDECIDED || j->verdict == VERDICT_NONE;
    struct doc_node *n;

    doc_text(row, "term", "term", j->term->text);
    n = doc_text(row, "verdict", "verdict", verdict_name(j->verdict));
    if (is_limit(j->term))
        doc_show(n, "limit");
    add_measured(row, j);
    add_evidence(row, j);
    doc_missing_if(doc_bool(row, "met", NULL, j->verdict == VERDICT_PASS),
                   is_open, NULL);
    n = NULL;
    if (j->verdict == VERDICT_NONE)
        doc_text(row, "met_note", NULL,
                 "a limit for good requests; measured is the share that keeps "
                 "it");
    else if (j->more_needed > 0)
        n = doc_textf(row, "met_note", "", "about %lld more requests needed",
                      (long long)j->more_needed);
    else if (j->why)
        n = doc_text(row, "met_note", "", j->why);
    if (!n && (j->more_needed > 0 || j->why))
        doc_text(row, NULL, "", j->why ? j->why : "more requests needed");
}

void run_doc_terms(struct doc_node *in, const struct judgement *j,
                   bool shows_tiers)
{
    struct doc_node *table = doc_table(in, "slo", "");

    for (size_t i = 0; i < j->len; i++)
        add_term(table, &j->terms[i],
                 shows_tiers || !j->terms[i].term->tier[0]);
}

void run_doc_attainment(struct doc_node *in, bool has_due, double attainment,
                        const struct interval *ci95)
{
    struct doc_node *n = doc_share(in, "attainment", "attainment", attainment);

    doc_help(n, "share of the requests due in the window that were good");
    doc_bounds(doc_track(n, DOC_HIGHER), *ci95);
    doc_digits(doc_missing_if(n, !has_due, "no samples"), 6);
    n = doc_range(in, "attainment_ci95", "95% interval", DOC_SHARE, *ci95);
    doc_digits(doc_missing_if(n, !has_due, "no samples"),
               ci95->low < 0.99 ? 3 : 6);
}

static void add_fluidity(struct doc_node *in, const struct fluid_summary *f)
{
    struct doc_node *n = doc_section(in, "fluidity", "fluidity");

    doc_help(n, "whether the tokens of a stream arrived in time to be read");
    doc_value(n, DOC_NS, "first_limit_ms", "first token within",
              (double)f->limits.first_ns);
    doc_value(n, DOC_NS, "next_limit_ms",
              f->is_assumed ? "each later token (one per event assumed) within"
                            : "each later token within",
              (double)f->limits.next_ns);
    doc_share(n, "tokens_in_time", "tokens in time", f->tokens_in_time);
    doc_number(n, "index_mean", "index mean", f->mean);
    doc_number(n, "index_p50", "p50", f->p50);
    doc_number(n, "index_p1", "p1", f->p1);
    doc_count(n, "streams", "streams", f->due);
    doc_count(n, "failed", NULL, f->failed);
    doc_count(n, "fluid", "fluid streams", f->fluid);
    doc_sep(doc_show(doc_number(n, "fluid_from", "", FLUID_INDEX),
                     "(index at least %.4g)", FLUID_INDEX),
            " ");
    doc_share(n, "fluid_share", "share", f->share);
    doc_rate(n, "fluid_rps", "rate", f->fluid_rps);
    doc_show_if(
        doc_count(n, "unknown", "streams whose events are lost", f->unknown),
        f->unknown > 0);
    doc_bool(n, "assumed", NULL, f->is_assumed);
}

void run_doc_tiers(struct doc_node *in, const struct tiers *t, bool has_due)
{
    struct doc_node *list = doc_list(in, "tiers", "");
    const struct tier_summary *best = tiers_best(t);

    for (size_t i = 0; i < t->len; i++) {
        const struct tier_summary *tier = &t->items[i];
        struct doc_node *row = doc_row(list);

        doc_text(row, "name", "tier", tier_name(tier));
        doc_text(row, "verdict", "", verdict_name(tier->verdict));
        doc_count(row, "good", NULL, tier->good);
        doc_rate(row, "goodput_rps", "goodput", tier->goodput_rps);
        doc_rate(row, "goodput_tokens_per_s", NULL, tier->goodput_tokens_per_s);
        run_doc_attainment(row, has_due, tier->attainment,
                           &tier->attainment_ci95);
        run_doc_terms(row, &tier->judgement, true);
        if (tier->fluid.is_there)
            add_fluidity(row, &tier->fluid);
        else
            doc_null(row, "fluidity", NULL);
    }
    doc_brief(doc_missing_if(doc_text(in, "best_tier",
                                      t->len > 0 ? "best tier met:" : NULL,
                                      best ? tier_name(best) : NULL),
                             !best,
                             t->len > 0 ? "none is met" : "there are no tiers"),
              "none");
}

/* With "; worst: shard 3 on node7 (12)" for a run on several machines. */
static void add_advice(struct doc_node *row, const struct check *c,
                       const struct shard_rows *shards)
{
    struct doc_node *n = doc_text(row, "advice", "advice", c->advice);
    const char *host;
    char value[UNITS_TEXT];

    if (shards->n == 0)
        return;
    doc_missing_if(doc_count(row, "worst_shard", NULL, c->worst_shard),
                   c->worst_shard < 0, NULL);
    if (c->worst_shard < 0)
        return;
    host = shards->items[c->worst_shard].info.host;
    doc_number(row, "worst_value", NULL, c->worst_value);
    doc_show(n, "%s; worst: shard %lld%s%s (%s)", c->advice,
             (long long)c->worst_shard, host[0] ? " on " : "", host,
             text_show_number(c->worst_value, 4, value));
}

static const char *trust_line(const struct trust *t)
{
    if (!t->valid)
        return t->is_only_late ? "the client was LATE: do not quote latencies"
                               : "the numbers can NOT be trusted";
    for (size_t i = 0; i < t->len; i++) {
        if (!t->checks[i].ok && t->checks[i].is_damage)
            return t->checks[i].advice;
    }
    return "the numbers can be trusted";
}

static void add_checks(struct doc_node *root, const struct trust *t,
                       const struct shard_rows *shards)
{
    struct doc_node *n = doc_section(root, "trust", "checks");
    struct doc_node *passed;
    struct doc_node *table;

    doc_show(doc_bool(n, "valid", "", t->valid), "%s", trust_line(t));
    doc_bool(n, "late_only", NULL, t->is_only_late);
    passed = doc_section(n, NULL, "passed");
    table = doc_table(n, "checks", "");
    for (size_t i = 0; i < t->len; i++) {
        const struct check *c = &t->checks[i];
        char limit[UNITS_TEXT];
        struct doc_node *row = doc_show_if(doc_row(table), !c->ok);

        if (c->ok)
            doc_text(passed, NULL, "", c->name);
        doc_text(row, "name", "not passed", c->name);
        doc_bool(row, "ok", NULL, c->ok);
        doc_show(doc_bool(row, "fatal", "", c->is_fatal), "%s",
                 c->is_fatal ? "BAD" : "note");
        doc_number(row, "value", "value", c->value);
        doc_text(row, "bound", NULL, c->is_minimum ? "at least" : "at most");
        doc_show(doc_number(row, "limit", "limit", c->limit), "%s %s",
                 c->is_minimum ? "at least" : "at most",
                 text_show_number(c->limit, 4, limit));
        doc_text(row, "unit", "unit", c->unit);
        add_advice(row, c, shards);
    }
}

/* An aborted run, or one of an overloaded server, fails even if it kept every
 * term as far as it got. */
static const char *verdict_line(const struct summary *s)
{
    static const char *const texts[] = {
        [VERDICT_NONE] = "none: no SLO was given",
        [VERDICT_PASS] = "PASS as observed: the SLO is met",
        [VERDICT_FAIL] = "FAIL as observed: the SLO is missed",
        [VERDICT_UNDECIDED] =
            "UNDECIDED: this run does not show whether the SLO is met",
        [VERDICT_INVALID] = "INVALID: do not use these numbers",
    };
    bool fails_otherwise =
        s->verdict == VERDICT_FAIL && s->answer != VERDICT_FAIL;

    if (s->aborted && fails_otherwise)
        return "FAIL: the run was aborted";
    if (summary_is_overloaded(s) && fails_otherwise)
        return "FAIL: the server is overloaded";
    if (s->cache.is_there && s->verdict == VERDICT_NONE)
        return "none: a cache check makes no claim about performance";
    if (s->is_shown)
        return s->verdict == VERDICT_PASS
                   ? "PASS, shown with 95% confidence: the SLO is met"
                   : "FAIL, shown with 95% confidence: the SLO is missed";
    return texts[s->verdict];
}

/* What cut the run short, or makes it useless. */
static void add_ending(struct doc_node *n, const struct summary *s)
{
    if (s->aborted)
        doc_line(n, DOC_PLAIN, "ABORTED %s", s->aborted);
    doc_text(n, "aborted", NULL, s->aborted);
    if (summary_is_overloaded(s))
        doc_line(n, DOC_PLAIN,
                 "OVERLOADED: requests in flight grew from %.4g in the first "
                 "tenth of the window to %.4g in the last; there is no steady "
                 "state, and percentiles depend on the length of the run",
                 s->steady.load.first, s->steady.load.last);
    if (s->decided[0])
        doc_line(n, DOC_PLAIN, "decided early: %s", s->decided);
    doc_text(n, "decided", NULL, s->decided[0] ? s->decided : NULL);
    if (s->cut_by_max_duration)
        doc_line(n, DOC_PLAIN,
                 "max_duration ended the run before everything was sent");
    if (s->stopped_by)
        doc_line(n, DOC_PLAIN,
                 "interrupted by signal %lld; the report covers what was "
                 "recorded",
                 (long long)s->stopped_by);
    if (s->integrity.was_killed)
        doc_line(n, DOC_PLAIN,
                 "the run was killed; the report covers what was recorded");
    doc_bool(n, "interrupted", NULL,
             s->stopped_by != 0 || s->integrity.was_killed);
}

/* Why a verdict is not shown if no length of the run is known to show it. */
static const char *why_open(const struct summary *s)
{
    if (s->trust.is_only_late && s->verdict == VERDICT_FAIL)
        return ": the client was late, which may have caused some of the "
               "misses";
    if (!isfinite(s->decide_in_s))
        return " is too close to decide with more requests";
    if (s->settings->load.stop == STOP_DECIDED)
        return ": the checks for an early end make the test stricter; a "
               "longer run may decide";
    return ": a test of several terms is stricter; a longer run may decide";
}

/* Why a verdict is only observed, and what it would take to show it.  Names the
 * term that takes longest to pass, or shortest to fail. */
static void add_not_shown(struct doc_node *n, const struct summary *s)
{
    const struct term_judgement *worst = NULL;
    const struct judgement *j = &s->judgement;
    bool is_open = (s->verdict == VERDICT_PASS || s->verdict == VERDICT_FAIL) &&
                   s->answer == s->verdict;

    doc_missing_if(doc_bool(n, "shown", NULL, s->is_shown),
                   s->verdict != VERDICT_PASS && s->verdict != VERDICT_FAIL,
                   NULL);
    doc_number(n, "shown_confidence", NULL, 1 - SHARE_LEVEL);
    doc_unless(n, DOC_NUMBER, "decide_in_s", NULL, s->decide_in_s,
               !isfinite(s->decide_in_s) || s->verdict == VERDICT_NONE ||
                   (!s->is_shown && !(s->decide_in_s > 0)),
               NULL);
    for (size_t i = 0; i <= s->n_classes && is_open; i++) {
        for (size_t k = 0; k < j->len; k++) {
            const struct term_judgement *t = &j->terms[k];
            bool is_worse =
                !worst || (s->verdict == VERDICT_PASS
                               ? t->decide_in_s > worst->decide_in_s
                               : t->decide_in_s < worst->decide_in_s);

            if (t->verdict == s->verdict && is_worse)
                worst = t;
        }
        if (i < s->n_classes)
            j = &s->classes[i].judgement;
    }
    if (s->trust.is_only_late && s->verdict == VERDICT_PASS)
        doc_line(n, DOC_PLAIN,
                 "the client was late (%s), which only makes these latencies "
                 "longer: the server is at least this good",
                 s->trust.late);
    if (s->is_shown || !worst)
        return;
    if (isfinite(s->decide_in_s) && s->decide_in_s > 0)
        doc_line(n, DOC_PLAIN,
                 "not yet certain: too few requests for %s (%.3g%% missed it, "
                 "%.3g%% are allowed); about %.0f s more would decide",
                 worst->term->text, 100 * worst->missed, 100 * worst->allowed,
                 ceil(s->decide_in_s));
    else
        doc_line(n, DOC_PLAIN,
                 "not certain: %s (%.3g%% missed it, %.3g%% are allowed)%s",
                 worst->term->text, 100 * worst->missed, 100 * worst->allowed,
                 why_open(s));
}

static void add_verdict(struct doc_node *root, const struct summary *s)
{
    struct doc_node *n = doc_section(root, NULL, "verdict");
    bool is_by_tier =
        s->judgement.len > 0 && s->judgement.terms[0].term->tier[0];

    doc_show(doc_text(n, "verdict", "", verdict_name(s->verdict)), "%s",
             verdict_line(s));
    if (s->verdict == VERDICT_NONE && s->failed > 0 && s->issued > 0)
        doc_sep(doc_textf(n, NULL, "", "%.3g%% of the requests failed",
                          100 * (double)s->failed / (double)s->issued),
                "; ");
    if (s->scheduled == 0)
        doc_sep(doc_text(n, NULL, "", "nothing was due in the window"), "; ");
    if (is_by_tier)
        doc_sep(doc_textf(n, NULL, "", "(by the last of its tiers, %s)",
                          s->slo.terms[0].tier),
                " ");
    add_not_shown(n, s);
    add_ending(n, s);
    run_doc_terms(n, &s->judgement, false);
    run_doc_tiers(n, &s->tiers, s->scheduled > 0);
    for (size_t i = 0; i < s->n_classes; i++) {
        enum verdict v = s->classes[i].judgement.verdict;

        if (v == VERDICT_FAIL || v == VERDICT_UNDECIDED)
            doc_detail(doc_line(n, DOC_PLAIN,
                                "class %s: %s; see its terms below",
                                s->classes[i].name, verdict_name(v)));
    }
    add_checks(root, &s->trust, &s->shards);
}

/* ---- the client ---- */

static void add_way(struct doc_node *root, const struct summary *s)
{
    const struct target_settings *t = &s->settings->target;
    bool is_shown = s->transport && strcmp(s->transport, "null") != 0;
    struct doc_node *n =
        doc_section(root, "way", is_shown ? "transport" : NULL);
    char *proxy = t->proxy ? redact_url(t->proxy) : NULL;

    doc_missing_if(doc_text(n, "transport", "", s->transport), !s->transport,
                   "not known");
    doc_show(doc_text(n, "http", "HTTP", t->http2 ? "2" : "1.1"), "%s",
             t->http2 || url_is_grpc(settings_url(s->settings)) ? "2" : "1.1");
    doc_show_if(
        doc_show(doc_bool(n, "tls", "", settings_uses_tls(s->settings)), "TLS"),
        settings_uses_tls(s->settings));
    doc_text(n, "proxy", "proxy", proxy);
    doc_text(n, "unix_socket", "unix socket", t->unix_socket);
    free(proxy);

    if (s->tls) {
        n = doc_section(root, "tls", "TLS");
        doc_text(n, "protocol", "", s->tls);
        doc_count(n, "handshakes", "handshakes", s->tls_handshakes);
        doc_count(n, "resumed", "resumed", s->tls_resumed);
    }

    n = doc_section(root, "network", "network");
    doc_unless(n, DOC_NS, "rtt_floor_ms", "shortest round trip",
               (double)s->rtt_floor_ns, s->rtt_floor_ns <= 0, "not known");
    doc_missing_if(doc_count(n, "segments", "segments sent", s->segments),
                   s->rtt_floor_ns <= 0, "not known");
    doc_missing_if(doc_count(n, "retransmits", "retransmitted", s->retransmits),
                   s->rtt_floor_ns <= 0, "not known");
}

/* It says whether it was measured with TLS where the run differs. */
static void add_calibration(struct doc_node *client, const struct summary *s)
{
    const struct calibration_stamp *c = &s->calibration;
    bool has_tls = calibrated_has_tls(c->transport);
    struct doc_node *n;

    if (c->standing == CALIBRATION_NONE) {
        doc_null(client, "calibration", NULL);
        return;
    }
    n = doc_section(client, "calibration", "calibration");
    if (c->standing == CALIBRATION_STALE) {
        doc_null(n, "max_rate_rps", NULL);
        doc_null(n, "used", NULL);
        doc_textf(n, "note", "", "stale: %s", c->stale);
        return;
    }
    doc_unless(n, DOC_RATE, "max_rate_rps",
               calibration_is_at_least(&c->of) ? "reliable up to at least"
                                               : "reliable up to",
               c->of.max_rate_rps, s->calibration_used < 0, NULL);
    doc_missing_if(doc_digits(doc_share(n, "used", "of which this run used",
                                        s->calibration_used),
                              s->calibration_used < 0.1 ? 2 : 3),
                   s->calibration_used < 0, NULL);
    if (s->calibration_used >= 0)
        doc_bool(n, "is_at_least", NULL, calibration_is_at_least(&c->of));
    else
        doc_text(n, NULL, "", "the client was unreliable at every rate tried");
    doc_show(doc_text(n, "transport", "transport", c->transport), "%s%s",
             c->transport,
             settings_uses_tls(s->settings) == has_tls ? ""
             : has_tls                                 ? " with TLS"
                                                       : " without TLS");
    doc_show(doc_text(n, "date", "measured on", c->of.date), "%.10s%s%s",
             c->of.date, c->of.is_quick ? " (quick)" : "",
             c->of.is_disturbed ? " while other processes used the machine"
                                : "");
    doc_text(n, "note", NULL,
             s->calibration_used < 0 ? "not even the lowest rate was trusted"
             : has_tls ? "measured with a stub on the same machine, with TLS"
                       : "measured with a stub on the same machine, without "
                         "TLS");
}

static void add_client(struct doc_node *root, const struct summary *s)
{
    int64_t max_in_flight = s->settings->client.max_in_flight;
    struct doc_node *both = doc_section(root, NULL, "client");
    struct doc_node *n = doc_section(both, "client", "");

    doc_count(n, "threads", "threads", s->threads);
    doc_missing_if(
        doc_count(n, "max_in_flight", "in-flight limit", max_in_flight),
        max_in_flight <= 0, "not known");
    doc_bool(n, "insecure", NULL, s->settings->target.insecure);
    add_calibration(both, s);
    if (s->settings->target.insecure)
        doc_line(both, DOC_WARNING,
                 "INSECURE: the server's certificate was not verified");
}

static void add_integrity(struct doc_node *root, const struct summary *s)
{
    const struct tgr_damage *d = &s->damage;
    bool is_damaged = d->skipped_bytes + d->cut_off_bytes > 0;
    struct doc_node *n = doc_section(root, "recording", "damage");

    doc_bool(n, "killed", NULL, s->integrity.was_killed);
    doc_count(n, "lost_requests", NULL, s->integrity.lost_requests);
    doc_show_if(doc_count(n, "skipped_bytes", "bytes skipped",
                          (int64_t)d->skipped_bytes),
                is_damaged);
    doc_show_if(doc_count(n, "cut_off_bytes", "bytes cut off",
                          (int64_t)d->cut_off_bytes),
                is_damaged);
    doc_show_if(doc_count(n, "lost_events", "content events lost",
                          s->integrity.lost_events),
                s->integrity.lost_events > 0);
}

struct doc *run_doc(const struct summary *s)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *next;

    add_what_ran(root, s);
    add_verdict(root, s);
    run_doc_cache(root, s);
    doc_break(root);
    run_doc_requests(root, s);
    run_doc_rates(root, s);
    run_doc_misses(root, s);
    if (s->fluid.is_there)
        add_fluidity(root, &s->fluid);
    else
        doc_null(root, "fluidity",
                 "requires streams, and limits for ttft and for tpot, gap or "
                 "itl");
    run_doc_cost(root, s);
    run_doc_metered(root, s);
    run_doc_answers(root, s);
    run_doc_classes(root, s);
    run_doc_targets(root, &s->targets, s->is_streamed);
    run_doc_shards(root, &s->shards);
    run_doc_latencies(root, s);
    run_doc_distribution(root, s);
    run_doc_curve(root, s->curve);
    run_doc_steady(root, s);
    run_doc_sessions(root, s);
    run_doc_server(root, s);
    run_doc_mlperf(root, s);
    add_way(root, s);
    add_client(root, s);
    add_integrity(root, s);
    next = doc_list(root, "next", "next");
    for (size_t i = 0; i < s->next.len; i++)
        doc_line(next, DOC_ADVICE, "%s", s->next.lines[i]);
    doc_conclude(d, summary_conclusion(s));
    doc_set_brief(d, run_brief);
    return d;
}
