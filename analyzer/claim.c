#include "analyzer/claim.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/report/text_parts.h"
#include "analyzer/summary.h"
#include "common/apis.h"
#include "common/buf.h"
#include "common/config.h"
#include "common/recording/manifest.h"
#include "common/redact.h"
#include "common/settings.h"

/* A name may hold anything. */
static void put_named(const char *what, const char *value, struct buf *out)
{
    if (!value || !value[0])
        return;
    buf_addf(out, ", %s ", what);
    settings_describe_path(value, out);
}

static void put_who(const struct summary *s, struct buf *out)
{
    const struct settings *set = s->settings;
    char *url = redact_url(settings_url(set));

    if (set->has_stub)
        buf_adds(out, "The bundled stub");
    else
        settings_describe_path(url, out);
    free(url);
    buf_addf(out, " (%s", api_names[set->target.api]);
    put_named("model", set->target.model, out);
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
                 s->throughput_rps, s->offered_rps);
    if (s->has_tokens)
        buf_addf(out, " and %.4g output tokens/s", s->output_tokens_per_s);
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
    buf_adds(out, s->verdict == VERDICT_PASS
                      ? ": met"
                      : ": MISSED, so that this load is not deliverable");
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

static void put_counts(const struct summary *s, struct buf *out)
{
    buf_addf(out,
             "; %lld requests due = %lld ok + %lld failed + %lld unsent, "
             "latencies from due, failures beyond every percentile",
             (long long)s->scheduled, (long long)s->ok, (long long)s->failed,
             (long long)s->unsent);
    if (s->quality.checked > 0)
        buf_addf(out, "; quality %.4g%% of %lld checked answers",
                 100 * s->quality.share, (long long)s->quality.checked);
}

static void put_client(const struct summary *s, const struct manifest *m,
                       struct buf *out)
{
    const char *version = manifest_text(m, NULL, "tailgate");
    const char *utc = manifest_text(m, "clock", "utc");

    buf_addf(out, "; one run, tailgate %s", version ? version : "");
    put_named("on", manifest_text(m, "environment", "cpu_model"), out);
    if (s->rtt_floor_ns > 0)
        buf_addf(out, ", round trip floor %.4g us",
                 (double)s->rtt_floor_ns / 1e3);
    if (utc)
        buf_addf(out, ", %s", utc);
    buf_adds(out, ".\n");
}

bool run_claim(const struct summary *s, const struct manifest *m,
               struct buf *out)
{
    if (s->verdict == VERDICT_INVALID || s->verdict == VERDICT_UNDECIDED ||
        s->stopped_by || s->aborted || s->scheduled == 0) {
        buf_addf(out, "no claim: the run is %s\n",
                 s->stopped_by       ? "interrupted"
                 : s->aborted        ? "aborted"
                 : s->scheduled == 0 ? "empty"
                                     : verdict_name(s->verdict));
        return false;
    }
    put_who(s, out);
    put_rates(s, out);
    put_slo(s, out);
    put_load(s, out);
    put_counts(s, out);
    put_client(s, m, out);
    return true;
}
