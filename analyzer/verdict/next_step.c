#include "analyzer/verdict/next_step.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/settings/settings.h"
#include "common/text/units.h"
#include "common/wire/api_names.h"

/* The next rate to try after a pass. */
#define MORE_RATE 1.5

static const char *show_rate(double rps, char out[static UNITS_TEXT])
{
    snprintf(out, UNITS_TEXT, rps >= 1000 ? "%.0f" : "%.3g", rps);
    return out;
}

/* The rate in the settings, if another one could be used; 0: none. */
static double rate_of(const struct summary *s)
{
    const struct load_settings *load = &s->settings->load;

    return scenario_is_open(load->scenario) ? load->rate_rps : 0;
}

/* ---- an invalid run ---- */

enum remedy_kind { SPIN, THREADS, IN_FLIGHT, RESOURCES, CPUS, DISK };

/* Causes first: a cap on connections, for example, makes the client late. */
static const struct {
    const char *check;
    enum remedy_kind kind;
} remedies[] = {
    {"connection cap", IN_FLIGHT},
    {"client resources", RESOURCES},
    {"lag p50", SPIN},
    {"lag p99", SPIN},
    {"unsent", THREADS},
    {"pace", THREADS},
    {"rate", THREADS},
    {"buffer wait", THREADS},
    {"busy", THREADS},
    {"cpu wait", CPUS},
    {"suspended", CPUS},
    {"steal", CPUS},
    {"throttled", CPUS},
    {"disk", DISK},
};

static void put_remedy(const struct summary *s, enum remedy_kind kind,
                       struct buf *out)
{
    int64_t connections = s->settings->client.connections;
    int64_t max_in_flight = s->settings->client.max_in_flight;
    char rate[UNITS_TEXT];

    switch (kind) {
    case SPIN:
        buf_adds(out, "run again with --spin 80us");
        break;
    case THREADS:
        buf_addf(out, "run again with more threads (-t %lld)",
                 2LL * s->threads);
        break;
    case IN_FLIGHT:
        if (connections > 0)
            buf_addf(out, "run again with more connections (-c %lld)",
                     2LL * connections);
        else if (max_in_flight > 0)
            buf_addf(out,
                     "run again with a higher limit (--max-in-flight %lld)",
                     2LL * max_in_flight);
        else
            buf_adds(out, "run again with a higher limit (--max-in-flight)");
        break;
    case RESOURCES:
        buf_adds(out, "run again with more local ports or open files (see the "
                      "failures)");
        break;
    case CPUS:
        buf_adds(out, "run again on CPUs that no other process uses (--cpus, "
                      "or another host)");
        return;
    case DISK:
        buf_adds(out, "run again with the recording on a faster disk (-o)");
        return;
    }
    if (rate_of(s) > 0)
        buf_addf(out, ", or at half the rate (--rate %s)",
                 show_rate(rate_of(s) / 2, rate));
}

/* The first remedy whose check failed. */
static void about_trust(const struct summary *s, struct buf *out)
{
    for (size_t k = 0; k < sizeof(remedies) / sizeof(remedies[0]); k++) {
        const struct check *c = trust_find(&s->trust, remedies[k].check);

        if (c && !c->ok && c->is_fatal) {
            put_remedy(s, remedies[k].kind, out);
            return;
        }
    }
}

/* ---- a run without an answer ---- */

static double max_needed(const struct judgement *j)
{
    int64_t max = 0;

    for (size_t i = 0; i < j->len; i++) {
        if (j->terms[i].more_needed > max)
            max = j->terms[i].more_needed;
    }
    return (double)max;
}

/* Of a window's length, in standard deviations of the number of requests. */
#define MARGIN 2

/* Names the setting that the run used: a second one would be refused. */
static void about_samples(const struct summary *s, struct buf *out)
{
    const struct load_settings *load = &s->settings->load;
    double most = max_needed(&s->judgement);
    int64_t more;
    long long total;
    double more_s;

    for (size_t i = 0; i < s->n_classes; i++) {
        const struct class_summary *c = &s->classes[i];

        most = fmax(most, max_needed(&c->judgement) / c->share);
    }
    more = (int64_t)ceil(most);
    total = s->scheduled + more;
    more_s = s->offered_rps > 0
                 ? ceil(((double)more + MARGIN * sqrt((double)total)) /
                        s->offered_rps)
                 : 0;
    if (s->verdict != VERDICT_UNDECIDED || more == 0)
        return;
    if (s->settings->data.accuracy)
        buf_adds(out, "use a larger data set: each sample is sent once");
    else if (load->scenario == SCENARIO_TRACE)
        buf_addf(out,
                 "replay at least %lld rows: a longer part of the trace, or "
                 "more trials",
                 total);
    else if (load->min_requests > 0 || load->min_duration_ns > 0)
        buf_addf(out, "run again with more requests: --min-requests %lld",
                 total);
    else if (load->requests > 0 || more_s == 0)
        buf_addf(out, "run again with more requests: -n %lld", total);
    else if (load->stages.len > 0)
        buf_addf(out, "run %.0f s longer: use longer stages", more_s);
    else
        buf_addf(out, "run %.0f s longer: --duration %.0fs", more_s,
                 ceil(s->window_length_s) + more_s);
}

static void about_unfinished(const struct summary *s, struct buf *out)
{
    if (s->verdict == VERDICT_UNDECIDED &&
        s->outcome[OUTCOME_UNFINISHED] > s->integrity.lost_requests &&
        !s->integrity.was_killed)
        buf_adds(out, "use a longer --drain, so that requests in flight at the "
                      "end can finish");
}

static void about_its_end(const struct summary *s, struct buf *out)
{
    if (s->stopped_by || s->integrity.was_killed)
        buf_adds(out, "the run was interrupted: run it again");
    else if (s->integrity.lost_requests > 0)
        buf_adds(out, "the recording is incomplete: copy it again, or run it "
                      "again");
}

/* ---- a run whose answer is no ---- */

/* The vocabulary of a small model may not have all default token ids. */
static void about_vocabulary(const struct summary *s, struct buf *out)
{
    const struct settings *set = s->settings;
    bool takes_ids = set->target.api == API_OPENAI_COMPLETIONS ||
                     set->target.api == API_OPENAI_EMBEDDINGS ||
                     set->target.api == API_SGLANG;
    bool are_ids = takes_ids && !set->target.body && !set->data.file &&
                   set->load.scenario != SCENARIO_SESSIONS &&
                   set->data.prompts != PROMPT_TEXT;

    if (s->ok == 0 && s->n_statuses == 1 && s->statuses[0].status == 400 &&
        s->statuses[0].count == s->failed && are_ids)
        buf_addf(out,
                 "prompts are token ids from %lld to %lld, which may be "
                 "outside the server's vocabulary: set its last id (--last-id) "
                 "or send text (--prompts text)",
                 (long long)set->data.first_id, (long long)set->data.last_id);
}

static void about_nothing_ok(const struct summary *s, struct buf *out)
{
    if (s->issued > 0 && s->ok == 0)
        buf_adds(out, "no request succeeded: --show sends one and prints the "
                      "request and the answer");
}

/* "tailgate report DIR --slo '", quoted for a shell. */
static void add_report(const struct summary *s, struct buf *out)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789_./+,:@%-";

    buf_adds(out, "tailgate report ");
    if (strspn(s->dir, plain) == strlen(s->dir)) {
        buf_adds(out, s->dir);
    } else {
        buf_adds(out, "'");
        for (const char *p = s->dir; *p; p++)
            buf_addf(out, *p == '\'' ? "'\\%c'" : "%c", *p);
        buf_adds(out, "'");
    }
    buf_adds(out, " --slo '");
}

/* For the quantiles that missed their limits: the lowest ones that the run
 * shows to be met. */
static void about_limits(const struct summary *s, struct buf *out)
{
    bool has_any = false;

    /* Under overload, latencies depend on the length of the run. */
    if (s->verdict != VERDICT_FAIL || summary_is_overloaded(s))
        return;
    for (size_t i = 0; i < s->judgement.len; i++) {
        const struct term_judgement *j = &s->judgement.terms[i];
        int name_len = (int)strcspn(j->term->text, "<"); /* "ttft p99 " */
        char limit[UNITS_TEXT];

        if (j->term->kind != SLO_QUANTILE || j->verdict != VERDICT_FAIL ||
            j->high_ns < 0)
            continue;
        while (name_len > 0 && j->term->text[name_len - 1] == ' ')
            name_len--;
        if (!has_any) {
            buf_adds(out, "judge by limits that this run meets with 95% "
                          "confidence: ");
            add_report(s, out);
        }
        buf_addf(out, "%s%.*s < %s", has_any ? ", " : "", name_len,
                 j->term->text, units_show_duration((double)j->high_ns, limit));
        has_any = true;
    }
    if (has_any)
        buf_adds(out, "'");
}

static void about_failures(const struct summary *s, struct buf *out)
{
    int worst = OUTCOME_OK;

    for (int i = 0; i < OUTCOME_COUNT; i++) {
        if (i != OUTCOME_OK && i != OUTCOME_UNSENT &&
            (worst == OUTCOME_OK || s->outcome[i] > s->outcome[worst]))
            worst = i;
    }
    if (s->verdict == VERDICT_FAIL && s->outcome[worst] > 0)
        buf_addf(out, "check the failures: %lld of %lld have the outcome '%s'",
                 (long long)s->outcome[worst], (long long)s->failed,
                 outcome_name((enum outcome)worst));
}

/* Another rate: half of one that failed, more than one that passed. */
static void about_rate(const struct summary *s, struct buf *out)
{
    char rate[UNITS_TEXT];

    if (s->verdict == VERDICT_FAIL && rate_of(s) > 0)
        buf_addf(out, "try half the rate: --rate %s",
                 show_rate(rate_of(s) / 2, rate));
    if (s->verdict == VERDICT_PASS && rate_of(s) > 0)
        buf_addf(out, "to find the limit, try a higher rate: --rate %s",
                 show_rate(MORE_RATE * rate_of(s), rate));
}

/* The limit is rounded up, so that the p99, known to three digits, keeps it. */
static void about_no_slo(const struct summary *s, struct buf *out)
{
    enum measure m = s->is_streamed ? MEASURE_TTFT : MEASURE_E2E;
    int64_t ns = s->spread[m][VIEW_DUE].quantile_ns[SUMMARY_P99];
    char limit[UNITS_TEXT];
    double above;
    double step;

    if (s->verdict != VERDICT_NONE || s->cache.is_there || s->ok == 0 ||
        ns <= 0)
        return;
    above = (double)(ns + 1) * 1.001;
    step = pow(10, floor(log10(above)) - 2); /* three digits */
    above = ceil(above / step * (1 - 1e-12)) * step;
    buf_adds(out,
             "judge the run by an SLO, such as what it measured (a new run "
             "misses that half of the time): ");
    add_report(s, out);
    buf_addf(out, "%s %s < %s'", measure_name(m),
             summary_quantile_name[SUMMARY_P99],
             units_show_duration(above, limit));
}

/* ---- the table, the most urgent first ---- */

/* Each appends its line, or nothing. */
static void (*const rules[])(const struct summary *s, struct buf *out) = {
    about_vocabulary, about_nothing_ok, about_trust,  about_its_end,
    about_samples,    about_unfinished, about_limits, about_failures,
    about_rate,       about_no_slo,
};

void next_make(const struct summary *s, struct next *out)
{
    struct buf line;

    *out = (struct next){0};
    buf_init(&line, NEXT_TEXT - 1);
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        buf_reset(&line);
        rules[i](s, &line);
        if (line.len > 0 && !line.overflowed && out->len < NEXT_MAX)
            snprintf(out->lines[out->len++], NEXT_TEXT, "%s", buf_text(&line));
    }
    buf_fini(&line);
}
