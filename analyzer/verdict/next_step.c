#include "analyzer/verdict/next_step.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/units.h"
#include "common/settings/settings.h"
#include "common/wire/api_names.h"

/* Not more than this is asked for at once. */
#define MORE_RATE 1.5

/* ---- numbers as one would type them ---- */

/* Up to so many digits that it is not less. */
static double rounded_up(double value, int digits)
{
    double step = pow(10, floor(log10(value)) + 1 - digits);

    return ceil(value / step * (1 - 1e-12)) * step;
}

/* A limit that a quantile of `ns`, known to three digits, is strictly below. */
static const char *show_limit(int64_t ns, char out[static UNITS_TEXT])
{
    return units_show_duration(rounded_up((double)(ns + 1) * 1.001, 3), out);
}

static const char *show_rate(double rps, char out[static UNITS_TEXT])
{
    snprintf(out, UNITS_TEXT, rps >= 1000 ? "%.0f" : "%.3g", rps);
    return out;
}

/* The one rate that was asked for, which could be another; 0: there is none. */
static double rate_of(const struct summary *s)
{
    const struct load_settings *load = &s->settings->load;

    return scenario_is_open(load->scenario) ? load->rate_rps : 0;
}

/* ", or at half the rate (--rate 50)", where that can be said. */
static void put_half_rate(const struct summary *s, struct buf *out)
{
    char rate[UNITS_TEXT];

    if (rate_of(s) > 0)
        buf_addf(out, ", or at half the rate (--rate %s)",
                 show_rate(rate_of(s) / 2, rate));
}

/* ---- an invalid run: a remedy per check ---- */

static void remedy_late(const struct summary *s, struct buf *out)
{
    buf_adds(out, "run again with --spin 80us");
    put_half_rate(s, out);
}

static void remedy_busy(const struct summary *s, struct buf *out)
{
    buf_addf(out, "run again with more threads (-t %lld)", 2LL * s->threads);
    put_half_rate(s, out);
}

static void remedy_cap(const struct summary *s, struct buf *out)
{
    buf_adds(out, "run again with room for more in flight (--max-in-flight");
    if (s->settings->client.max_in_flight > 0)
        buf_addf(out, " %lld", 2LL * s->settings->client.max_in_flight);
    buf_adds(out, ")");
    put_half_rate(s, out);
}

static void remedy_resources(const struct summary *s, struct buf *out)
{
    buf_adds(out, "run again with more local ports or open files (the failures "
                  "say which)");
    put_half_rate(s, out);
}

static void remedy_cpu(const struct summary *s, struct buf *out)
{
    (void)s;
    buf_adds(out, "run again where nobody else uses the client's CPUs (--cpus, "
                  "or another host)");
}

static void remedy_disk(const struct summary *s, struct buf *out)
{
    (void)s;
    buf_adds(out, "run again with the recording on a faster disk (-o)");
}

static const struct {
    const char *check;
    void (*put)(const struct summary *s, struct buf *out);
} remedies[] = {
    {"lag p50", remedy_late},     {"lag p99", remedy_late},
    {"unsent", remedy_busy},      {"pace", remedy_busy},
    {"rate", remedy_busy},        {"connection cap", remedy_cap},
    {"buffer wait", remedy_busy}, {"busy", remedy_busy},
    {"cpu wait", remedy_cpu},     {"suspended", remedy_cpu},
    {"steal", remedy_cpu},        {"throttled", remedy_cpu},
    {"disk", remedy_disk},        {"client resources", remedy_resources},
};

/* False: this check has none. */
static bool put_remedy(const char *check, const struct summary *s,
                       struct buf *out)
{
    for (size_t i = 0; i < sizeof(remedies) / sizeof(remedies[0]); i++) {
        if (strcmp(check, remedies[i].check) == 0) {
            remedies[i].put(s, out);
            return true;
        }
    }
    return false;
}

/* Of the first check that failed and has one. */
static void about_trust(const struct summary *s, struct buf *out)
{
    for (size_t i = 0; i < s->trust.len; i++) {
        const struct check *c = &s->trust.checks[i];

        if (!c->ok && c->is_fatal && put_remedy(c->name, s, out))
            return;
    }
}

/* ---- a run that has no answer ---- */

static int64_t most_needed_by(const struct judgement *j)
{
    int64_t most = 0;

    for (size_t i = 0; i < j->len; i++) {
        if (j->terms[i].more_needed > most)
            most = j->terms[i].more_needed;
    }
    return most;
}

/* A class gets its share of those that are sent. */
static int64_t most_needed(const struct summary *s)
{
    double most = (double)most_needed_by(&s->judgement);

    for (size_t i = 0; i < s->n_classes; i++) {
        const struct class_summary *c = &s->classes[i];

        most = fmax(most, (double)most_needed_by(&c->judgement) / c->share);
    }
    return (int64_t)ceil(most);
}

/* By the key that the run went by: another beside it would be refused. */
static void about_samples(const struct summary *s, struct buf *out)
{
    const struct load_settings *load = &s->settings->load;
    int64_t more = most_needed(s);
    long long total = s->scheduled + more;
    double more_s =
        s->offered_rps > 0 ? ceil((double)more / s->offered_rps) : 0;

    if (s->verdict != VERDICT_UNDECIDED || more == 0)
        return;
    if (s->settings->data.accuracy)
        buf_adds(out, "each sample is sent once: take a larger data set");
    else if (load->scenario == SCENARIO_TRACE)
        buf_addf(out,
                 "take %lld rows of a trace: a longer part, or more trials",
                 total);
    else if (load->min_requests > 0 || load->min_duration_ns > 0)
        buf_addf(out, "run again with more requests: --min-requests %lld",
                 total);
    else if (load->requests > 0 || more_s == 0)
        buf_addf(out, "run again with more requests: -n %lld", total);
    else if (load->stages.len > 0)
        buf_addf(out, "run for %.0f s more: longer stages", more_s);
    else
        buf_addf(out, "run for %.0f s more: --duration %.0fs", more_s,
                 ceil(s->window_length_s) + more_s);
}

static void about_unfinished(const struct summary *s, struct buf *out)
{
    if (s->verdict == VERDICT_UNDECIDED && s->outcome[OUTCOME_UNFINISHED] > 0 &&
        !s->integrity.was_killed)
        buf_adds(out, "let what is in flight at the end come to its end: a "
                      "longer --drain");
}

static void about_its_end(const struct summary *s, struct buf *out)
{
    if (s->stopped_by || s->integrity.was_killed)
        buf_adds(out, "it did not come to its end: run it again");
}

/* ---- a run whose answer is no ---- */

static bool are_prompts_ids(const struct settings *s)
{
    bool takes_ids = s->target.api == API_OPENAI_COMPLETIONS ||
                     s->target.api == API_OPENAI_EMBEDDINGS ||
                     s->target.api == API_SGLANG;

    return takes_ids && !s->target.body && !s->data.file &&
           s->load.scenario != SCENARIO_SESSIONS &&
           s->data.prompts != PROMPT_TEXT;
}

/* Small vocabularies end before the ids that are drawn by default. */
static void about_vocabulary(const struct summary *s, struct buf *out)
{
    if (s->ok == 0 && s->n_statuses == 1 && s->statuses[0].status == 400 &&
        s->statuses[0].count == s->failed && are_prompts_ids(s->settings))
        buf_addf(out,
                 "prompts are token ids from %lld to %lld, which the server's "
                 "vocabulary may lack: --last-id gives its last one, or send "
                 "text (--prompts text)",
                 (long long)s->settings->data.first_id,
                 (long long)s->settings->data.last_id);
}

static void about_nothing_ok(const struct summary *s, struct buf *out)
{
    if (s->issued > 0 && s->ok == 0)
        buf_adds(out, "no request succeeded: --show sends one and prints both "
                      "sides of it");
}

/* "ttft p99" of "ttft p99 < 200ms". */
static int name_len(const struct slo_term *term)
{
    int len = (int)strcspn(term->text, "<");

    while (len > 0 && term->text[len - 1] == ' ')
        len--;
    return len;
}

/* As a shell takes it for one word. */
static void add_word(const char *word, struct buf *out)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789_./+,:@%-";

    if (strspn(word, plain) == strlen(word)) {
        buf_adds(out, word);
        return;
    }
    buf_adds(out, "'");
    for (; *word; word++)
        buf_addf(out, *word == '\'' ? "'\\%c'" : "%c", *word);
    buf_adds(out, "'");
}

/* The command that judges the recording by an SLO, as far as its quote. */
static void add_report(const struct summary *s, struct buf *out)
{
    buf_adds(out, "tailgate report ");
    add_word(s->dir, out);
    buf_adds(out, " --slo '");
}

/* The tightest limits, of the quantiles that missed theirs. */
static void about_limits(const struct summary *s, struct buf *out)
{
    bool has_any = false;

    if (s->verdict != VERDICT_FAIL)
        return;
    for (size_t i = 0; i < s->judgement.len; i++) {
        const struct term_judgement *j = &s->judgement.terms[i];
        char limit[UNITS_TEXT];

        if (j->term->kind != SLO_QUANTILE || j->verdict != VERDICT_FAIL ||
            j->tightest_ns < 0)
            continue;
        if (!has_any) {
            buf_adds(out, "what it did keep: ");
            add_report(s, out);
        }
        buf_addf(out, "%s%.*s < %s", has_any ? ", " : "", name_len(j->term),
                 j->term->text,
                 units_show_duration((double)j->tightest_ns, limit));
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
        buf_addf(out, "look into what failed: %lld of %lld by %s",
                 (long long)s->outcome[worst], (long long)s->failed,
                 outcome_name((enum outcome)worst));
}

static void about_less(const struct summary *s, struct buf *out)
{
    char rate[UNITS_TEXT];

    if (s->verdict == VERDICT_FAIL && rate_of(s) > 0)
        buf_addf(out, "see if it holds at half the rate: --rate %s",
                 show_rate(rate_of(s) / 2, rate));
}

/* ---- a run that went well ---- */

static void about_more(const struct summary *s, struct buf *out)
{
    char rate[UNITS_TEXT];

    if (s->verdict == VERDICT_PASS && rate_of(s) > 0)
        buf_addf(out, "see if it holds at more: --rate %s",
                 show_rate(MORE_RATE * rate_of(s), rate));
}

static void about_no_slo(const struct summary *s, struct buf *out)
{
    enum measure m = s->is_streamed ? MEASURE_TTFT : MEASURE_E2E;
    int64_t ns = s->spread[m][VIEW_DUE].quantile_ns[SUMMARY_P99];
    char limit[UNITS_TEXT];

    if (s->verdict != VERDICT_NONE || s->cache.is_there || s->ok == 0 ||
        ns <= 0)
        return;
    buf_adds(out, "judge it by an SLO: ");
    add_report(s, out);
    buf_addf(out, "%s %s < %s'", measure_name(m),
             summary_quantile_name[SUMMARY_P99], show_limit(ns, limit));
}

/* ---- the table, the most urgent first ---- */

/* Each appends its line, or nothing. */
static void (*const rules[])(const struct summary *s, struct buf *out) = {
    about_vocabulary, about_nothing_ok, about_trust,  about_its_end,
    about_samples,    about_unfinished, about_limits, about_failures,
    about_less,       about_more,       about_no_slo,
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
