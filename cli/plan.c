#include "cli/plan.h"
#include "analyzer/verdict/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/verdict/judge.h"
#include "cli/cli.h"
#include "cli/no_effect.h"
#include "cli/settings_args.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/settings/settings.h"
#include "common/spec/load_shape.h"
#include "common/spec/slo.h"
#include "common/stats/share_test.h"
#include "common/text/redact.h"
#include "common/text/units.h"
#include "common/text/url.h"
#include "common/wire/api_names.h"
#include "loadgen/engine/run_limits.h"
#include "loadgen/payload/dataset.h"
#include "loadgen/payload/prompt_collisions.h"
#include "loadgen/prepare/preflight.h"
#include "loadgen/schedule/rate_shape.h"
#include "server-stub/stub.h"
#include "study/study.h"

#define MAX_PLAN  65536
#define MAX_DOUBT 256

#define PLAN_WHOLE "answers come in one piece, so ttft equals e2e"

/* Ten parts of the window, and three of each kind in each
 * (analyzer/tally/cache_check.c gives no ratio of fewer). */
#define MIN_CACHE_CHECK 60

/* Assumed where the number of requests is not known. */
#define MANY 1e6

/* ---- how many, and when ---- */

/* The warm-up goes at the rate that the first stage starts with. */
static double first_rate_rps(const struct load_settings *load)
{
    struct load_stage first = {.from_rps = load->rate_rps};
    struct err ignored = {0};

    if (load->stages.len > 0)
        load_stage_parse(load->stages.items[0], &first, &ignored);
    return first.from_rps;
}

/* Of an open loop: as long as that many requests are expected to take. */
static double warmup_ns(const struct load_settings *load)
{
    return load->warmup_requests > 0
               ? (double)load->warmup_requests * 1e9 / first_rate_rps(load)
               : (double)load->warmup_ns;
}

/* Expected arrivals in `length_ns` of the schedule, from `after_ns` after the
 * start of the window on. */
static double arrivals(const struct load_settings *load, double after_ns,
                       int64_t length_ns)
{
    double from_ns = warmup_ns(load) + after_ns;
    struct err ignored = {0};
    struct shape shape;
    double n = 0;

    if (scenario_has_rate(load->scenario) && length_ns > 0 &&
        !shape_init(&shape, load, &ignored)) {
        shape_end_warmup(&shape, warmup_ns(load));
        n = shape_arrivals(&shape, from_ns + (double)length_ns) -
            shape_arrivals(&shape, from_ns);
        n *= plan_turns(load);
        shape_fini(&shape);
    }
    return n;
}

/* Requests that the window will hold, or at least; 0: not known. */
static double plan_requests(const struct run_plan *known)
{
    const struct load_settings *load = &known->used.load;
    double max_n = arrivals(load, 0, load_longest_ns(load));
    double min_n = arrivals(load, 0, load->min_duration_ns);

    if (load->scenario == SCENARIO_TRACE)
        return (double)(known->trace.rows - known->trace.warmup_rows -
                        known->trace.cooldown_rows);
    if (load->requests > 0)
        min_n = (double)load->requests;
    else if (load->min_requests > 0)
        min_n = fmax(min_n, (double)load->min_requests);
    return min_n > 0 && (max_n <= 0 || min_n < max_n) ? min_n : max_n;
}

/* Deviation of the count over the root of its mean. */
static double count_cv(const struct load_settings *load)
{
    if (load->arrival == ARRIVAL_CONSTANT || load->exact)
        return 0;
    return load->arrival == ARRIVAL_GAMMA ? load->cv : 1;
}

/* A window of n requests that ends by its count lasts as long as they take. */
static double window_ns(const struct load_settings *load, double n)
{
    double longest_ns = (double)load_longest_ns(load);
    double counted_ns = load->rate_rps > 0 ? n / load->rate_rps * 1e9 : 0;

    return longest_ns > 0 && (longest_ns < counted_ns || load->requests == 0)
               ? longest_ns
               : counted_ns;
}

/* Sessions do not end with the window: at its edges some of their turns are
 * missing. */
static void put_requests(const struct load_settings *load, double n,
                         struct buf *out)
{
    double turns = plan_turns(load);
    double cv = count_cv(load);

    buf_adds(out, "requests   ");
    if (load->scenario == SCENARIO_SESSIONS && !load->turns)
        buf_addf(out,
                 "about %.0f sessions in the window; the data set says how "
                 "many turns each has\n",
                 n);
    else if (load->scenario == SCENARIO_SESSIONS && n <= 0)
        buf_addf(out, "about %.4g turns per session\n", turns);
    else if (load->scenario == SCENARIO_SESSIONS)
        buf_addf(out,
                 "at most about %.0f in the window: %.0f sessions of %.4g "
                 "turns on average\n",
                 n, n / turns, turns);
    else if (n <= 0)
        buf_adds(out, "as many as the server answers in time\n");
    else if (load->min_duration_ns > 0 || load->min_requests > 0)
        buf_addf(out, "about %.0f in the window, or more\n", n);
    else if (cv > 0 && n != (double)load->requests)
        buf_addf(out, "about %.0f in the window, give or take %.0f (95%%)\n", n,
                 ceil(1.96 * cv * sqrt(n)));
    else
        buf_addf(out, "%.0f in the window\n", n);
    if (load->warmup_ns > 0 && load->rate_rps > 0)
        buf_addf(out, "           about %.0f in the warm-up\n",
                 first_rate_rps(load) * turns * (double)load->warmup_ns / 1e9);
    if (load->warmup_requests > 0)
        buf_addf(out, "           %lld in the warm-up\n",
                 (long long)load->warmup_requests);
    if (load->cooldown_ns > 0 && load->rate_rps > 0)
        buf_addf(out, "           about %.0f in the cool-down\n",
                 arrivals(load, window_ns(load, n), load->cooldown_ns));
}

/* What ends the window other than the clock; NULL: nothing. */
static const char *end_of(const struct load_settings *load)
{
    if (load->scenario == SCENARIO_OFFLINE)
        return "the last answer";
    if (load->min_duration_ns > 0 && load->min_requests > 0)
        return "both minima are reached";
    if (load->min_duration_ns > 0)
        return "the minimum is over";
    return load->requests > 0 || load->min_requests > 0
               ? "all requests were due"
               : NULL;
}

static void put_phases(const struct settings *s, struct buf *out)
{
    int64_t drain_ns =
        s->load.drain_ns == OPT_AUTO ? s->target.timeout_ns : s->load.drain_ns;
    int64_t longest_ns = load_longest_ns(&s->load);
    int64_t cooldown_ns = load_cooldown_ns(&s->load);
    const char *end = end_of(&s->load);
    char text[UNITS_TEXT];

    buf_adds(out, "phases     ");
    if (s->load.warmup_ns > 0)
        buf_addf(out, "warm-up %s, then ",
                 units_show_duration((double)s->load.warmup_ns, text));
    if (s->load.warmup_requests > 0)
        buf_addf(out, "warm-up of %lld requests, then ",
                 (long long)s->load.warmup_requests);
    buf_adds(out, "window ");
    if (end)
        buf_addf(out, "until %s", end);
    if (longest_ns > 0)
        buf_addf(out, "%s%s", end ? ", at most " : "",
                 units_show_duration((double)longest_ns, text));
    if (cooldown_ns > 0)
        buf_addf(out, ", then cool-down%s %s",
                 s->load.cooldown_ns == OPT_AUTO
                     ? " until its requests have ended, at most"
                     : "",
                 units_show_duration((double)cooldown_ns, text));
    if (s->load.scenario != SCENARIO_OFFLINE)
        buf_addf(out, ", then at most %s for requests in flight",
                 units_show_duration((double)drain_ns, text));
    buf_adds(out, "\n");
}

/* By chance the rate of a window is not that of the process. */
static void put_rate(const struct load_settings *load, double n,
                     struct buf *out)
{
    int64_t window_ns = load_longest_ns(load);
    double rps = load->rate_rps;
    double share = n > 0 ? 1.96 * count_cv(load) / sqrt(n) : 0;
    double peak = plan_peak_rps(load);
    char text[UNITS_TEXT];
    char low[UNITS_TEXT];
    char high[UNITS_TEXT];

    if (!scenario_is_open(load->scenario))
        return;
    if (window_ns > 0 && load->requests == 0)
        rps = n / ((double)window_ns / 1e9);
    if (load->scenario == SCENARIO_TRACE)
        share = 0;
    buf_addf(out, "rate       %s expected in the window",
             units_show_rate(rps, text));
    if (share > 0)
        buf_addf(out, ", %s to %s by chance (95%%)",
                 units_show_rate(rps * fmax(0, 1 - share), low),
                 units_show_rate(rps * (1 + share), high));
    if (peak > rps * 1.001)
        buf_addf(out, ", peak %s", units_show_rate(peak, text));
    buf_adds(out, "\n");
}

/* ---- what is sent ---- */

static bool is_streamed(const struct target_settings *t)
{
    return t->stream != STREAM_OFF && api_can_stream((enum api_kind)t->api);
}

static void put_target(const struct settings *s, struct buf *out)
{
    const struct target_settings *t = &s->target;
    char *url = redact_url(settings_url(s));

    buf_addf(out, "target     %s %s%s\n", t->method, url,
             s->has_stub ? " at the stub of the run" : "");
    if (t->urls.len > 1)
        buf_addf(out, "           and %zu more URLs in turn\n",
                 t->urls.len - 1);
    free(url);
    if (t->api == API_HTTP)
        return;
    buf_addf(out, "api        %s, answers %s", api_names[t->api],
             is_streamed(t) ? "as streams" : "in one piece");
    if (t->model) {
        buf_adds(out, ", model ");
        printable_add(t->model, out);
    }
    buf_adds(out, "\n");
}

/* How prompts are made, and which of them repeat among n requests (0: not
 * known). */
static void put_made(const struct settings *s, double n, struct buf *out)
{
    const struct data_settings *d = &s->data;
    bool is_traced = s->load.scenario == SCENARIO_TRACE;

    if (is_traced)
        buf_adds(out, "prompts as long as the trace says, ");
    else
        buf_addf(out, "prompts of %s tokens, ", d->input_tokens);
    buf_adds(out, d->unique == UNIQUE_FALSE
                      ? "generated from the seed, the same in each run"
                      : "generated for this run");
    if (d->cache_check)
        buf_adds(out, ", half of them the same, all of one length");
    else if (d->unique != UNIQUE_FALSE && d->cache_hit_rate == 0 && !is_traced)
        buf_adds(out, prompt_collisions_expected(s, n > 0 ? n : MANY) < 1
                          ? ", all different"
                          : ", so short that some repeat by chance");
    settings_describe_reuse(d, out);
}

/* `data` is the data set; NULL: there is none. */
static void put_data(const struct settings *s, const struct dataset *data,
                     double n, struct buf *out)
{
    const struct data_settings *d = &s->data;

    if (data) {
        dataset_describe(data, d, out);
        return;
    }

    buf_adds(out, "data       ");
    if (s->target.body)
        buf_adds(out, "the body that was given");
    else if (s->target.api == API_HTTP)
        buf_adds(out, "no body");
    else if (s->target.api == API_GRPC)
        buf_adds(out, d->file ? "messages of the data set" : "empty messages");
    else if (api_takes_tensors((enum api_kind)s->target.api) &&
             d->tensors.len == 0)
        buf_adds(out,
                 "tensors of random numbers, as the server describes them");
    else if (api_takes_tensors((enum api_kind)s->target.api))
        for (size_t i = 0; i < d->tensors.len; i++)
            buf_addf(out, "%s%s", i ? ", " : "tensors of random numbers: ",
                     d->tensors.items[i]);
    else
        put_made(s, n, out);
    if (!s->target.body && api_generates((enum api_kind)s->target.api) &&
        s->load.scenario != SCENARIO_TRACE)
        buf_addf(out, "; answers of %s", d->output_tokens);
    buf_adds(out, "\n");
}

/* ---- the SLO ---- */

/* The number of samples of a term among n requests, and what they are. */
static double samples_of(const struct slo_term *term,
                         const struct load_settings *load, double n,
                         const char **what)
{
    *what = term->measure == MEASURE_QUERY ? "queries" : "requests";
    return term->measure == MEASURE_QUERY ? n / (double)load->query_size : n;
}

/* Is it a share of requests, which a number of them can show? */
static bool has_samples(const struct slo_term *term)
{
    double allowed = judge_allowed(term, 0);

    return term->kind != SLO_GOODPUT && allowed > 0 && allowed < 1;
}

static bool has_measure(const struct slo_term *term)
{
    return term->kind == SLO_QUANTILE || term->kind == SLO_LIMIT;
}

static bool streams(const struct settings *s)
{
    return is_streamed(&s->target);
}

void plan_warn_whole(const struct settings *s, const struct strlist *slo)
{
    for (size_t i = 0; i < slo->len && !settings_some(streams, s); i++) {
        struct slo_term term;

        if (slo_parse_term(slo->items[i], &term, &(struct err){0}) == 0 &&
            has_measure(&term) && term.measure == MEASURE_TTFT)
            log_note("warning: --slo: %s: " PLAN_WHOLE, slo->items[i]);
    }
}

static bool checks(const struct settings *s)
{
    return s->checks.len > 0;
}

/* Why a run of n requests (0: not known) cannot answer this term: "needs at
 * least 2995 independent requests; ..."; nothing if it can. */
static void plan_doubt(const struct settings *s, const struct slo_term *term,
                       double requests, struct buf *out)
{
    char text[UNITS_TEXT];
    const char *what;
    double n = samples_of(term, &s->load, requests, &what);
    double min_n = has_samples(term)
                       ? (double)judge_min_requests(judge_allowed(term, 0))
                       : 0;
    /* A request that timed out is beyond every limit, so a limit above the
     * timeout is never seen to be kept or missed. */
    bool is_beyond_timeout =
        has_measure(term) && s->load.scenario != SCENARIO_OFFLINE &&
        (term->measure == MEASURE_E2E || term->measure == MEASURE_TTFT) &&
        term->limit_ns > s->target.timeout_ns;

    if (has_measure(term) && term->measure == MEASURE_QUERY &&
        s->load.scenario != SCENARIO_MULTI_STREAM)
        buf_adds(out, "only the multi-stream scenario has queries, so there "
                      "is nothing to measure");
    else if (n > 0 && n < min_n)
        buf_addf(out,
                 "needs at least %.0f %s; this run is TOO SHORT: it has about "
                 "%.0f",
                 min_n, what, n);
    else if (has_measure(term) && measure_is_of_stream(term->measure) &&
             !settings_some(streams, s))
        buf_adds(out, "answers come in one piece, so there is nothing to "
                      "measure");
    else if (has_measure(term) && term->measure == MEASURE_TTFT &&
             !settings_some(streams, s))
        buf_adds(out, PLAN_WHOLE);
    else if (is_beyond_timeout)
        buf_addf(out,
                 "the limit is above target.timeout (%s), which ends requests "
                 "earlier",
                 units_print_duration(s->target.timeout_ns, text));
    else if ((term->kind == SLO_QUALITY || term->kind == SLO_CHECK) &&
             !settings_some(checks, s))
        buf_adds(out, "no answer is checked (set checks)");
}

/* How long a run must be to show a pass, for servers that miss a fifth and half
 * of what is allowed. */
static void put_length(const struct load_settings *load, double allowed,
                       const char *what, struct buf *out)
{
    static const double shares[] = {0.2, 0.5};
    double n[2];
    char text[UNITS_TEXT];

    for (size_t i = 0; i < 2; i++)
        n[i] = ceil(share_needed(shares[i] * allowed, allowed, SHARE_LEVEL));
    buf_addf(out,
             "\n           showing a pass takes about %.0f independent %s if "
             "a fifth of the allowed %.3g%% miss the limit, %.0f if half do",
             n[0], what, 100 * allowed, n[1]);
    if (load->rate_rps > 0)
        buf_addf(out, "\n           (%s",
                 units_show_duration(n[0] / load->rate_rps * 1e9, text));
    if (load->rate_rps > 0)
        buf_addf(
            out,
            " and %s at this rate; near capacity, where requests depend on "
            "each other, 10 to 100 times as long)",
            units_show_duration(n[1] / load->rate_rps * 1e9, text));
}

static void put_slo(const struct settings *s, const struct slo *slo,
                    double requests, struct buf *out)
{
    if (s->data.cache_check && slo->len > 0) {
        buf_adds(out, "slo        not judged in a cache check\n");
        return;
    }
    for (size_t i = 0; i < slo->len; i++) {
        const struct slo_term *term = &slo->terms[i];
        const char *what;
        size_t before;

        samples_of(term, &s->load, requests, &what);
        buf_addf(out, "slo        %s: ", term->text);
        before = out->len;
        plan_doubt(s, term, requests, out);
        if (out->len == before && has_samples(term))
            buf_addf(out, "needs at least %.0f %s%s",
                     (double)judge_min_requests(judge_allowed(term, 0)), what,
                     requests > 0 ? "; this run has enough" : "");
        if (has_samples(term))
            put_length(&s->load, judge_allowed(term, 0), what, out);
        else if (out->len == before)
            buf_adds(out, "counted over all requests");
        buf_adds(out, "\n");
    }
}

/* As for a run, with its share of the requests. */
static void put_class(const struct settings *run, size_t i, double requests,
                      const struct dataset *data, struct buf *out)
{
    const struct class_settings *c = &run->classes.items[i];
    double share = classes_share(&run->classes, i);
    double n = requests * share;
    /* Both the number of requests and the share of the class vary by chance. */
    double cv =
        requests == (double)run->load.requests ? 0 : count_cv(&run->load);
    double deviation = sqrt(requests * share * (share * cv * cv + 1 - share));
    struct err ignored = {0};
    struct slo slo;

    buf_addf(out, "\nclass      %s: %.4g%% of the requests", c->name,
             100 * share);
    if (n > 0)
        buf_addf(out, ", about %.0f in the window, give or take %.0f (95%%)", n,
                 ceil(1.96 * deviation));
    buf_adds(out, "\n");
    put_target(c->settings, out);
    put_data(c->settings, data, n, out);
    if (slo_parse_all(&c->settings->slo, &slo, &ignored) == 0)
        put_slo(c->settings, &slo, n, out);
}

static void plan_view(const struct run_plan *known, const struct slo *slo,
                      struct buf *out)
{
    const struct settings *s = &known->used;
    const struct survey *trace = &known->trace;
    double n = plan_requests(known);
    char text[UNITS_TEXT];

    if (s->classes.len == 0)
        put_target(s, out);
    buf_adds(out, "load       ");
    settings_describe_load(&s->load, out);
    put_phases(s, out);
    if (s->load.scenario != SCENARIO_TRACE) {
        put_requests(&s->load, n, out);
    } else { /* it says how many, exactly */
        survey_describe(trace, &s->load, out);
        buf_addf(out, "requests   %.0f in the window\n", n);
        if (trace->warmup_rows > 0)
            buf_addf(out, "           %lld in the warm-up\n",
                     (long long)trace->warmup_rows);
        if (s->load.cooldown_ns > 0)
            buf_addf(out, "           %lld in the cool-down\n",
                     (long long)trace->cooldown_rows);
    }
    put_rate(&s->load, n, out);
    if (s->classes.len == 0)
        put_data(s, known->data, n, out);
    if (s->warmup.len > 0) {
        buf_adds(out, "           and in the warm-up:\n");
        put_data(s->warmup.items[0].settings, known->warmup_data, n, out);
    }
    buf_addf(out, "memory     responses may use %s in total (client.memory)\n",
             units_show_size((double)s->client.memory, text));
    put_slo(s, slo, n, out);
    if (s->load.stop == STOP_DECIDED) /* see common/measure/decide.h */
        buf_adds(out, "stop       as soon as the SLO is decided; checked after "
                      "5 s, 10 s, 20 s ... of the window;\n"
                      "           the window may take up to three times "
                      "load.duration\n");
    for (size_t i = 0; i < s->classes.len; i++)
        put_class(s, i, n, known->class_data[i], out);
    if (s->study.trials > 1)
        buf_addf(out,
                 "study      %lld trials like this, each with its own seed\n",
                 (long long)s->study.trials);
}

/* ---- warnings ---- */

/* "warning: chat.yaml:9: data.limit: ...", or "warning: --data-limit: ..." */
static void warn_at(const struct settings_file *file, size_t line, char *text,
                    size_t size)
{
    if (!settings_name_as_given(file, text, size) && line > 0)
        log_note("warning: %s:%zu: %s", file->path, line, text);
    else
        log_note("warning: %s", text);
}

/* "warning: chat.yaml:9: slo: ..." for each term that the run cannot answer. */
static void warn(const struct settings_file *file, const char *key,
                 const struct settings *s, double requests)
{
    struct err ignored = {0};
    struct buf doubt;
    struct slo slo;
    char about[MAX_DOUBT * 2];

    if (slo_parse_all(&s->slo, &slo, &ignored))
        return; /* refused elsewhere */
    buf_init(&doubt, MAX_DOUBT);
    for (size_t i = 0; i < slo.len; i++) {
        const char *text = s->slo.items[i];
        size_t line = settings_line_of(file, key, text);

        buf_reset(&doubt);
        plan_doubt(s, &slo.terms[i], requests, &doubt);
        if (doubt.len == 0)
            continue;
        snprintf(about, sizeof(about), "%s: %s: %s", key, text,
                 buf_text(&doubt));
        warn_at(file, line, about, sizeof(about));
    }
    buf_fini(&doubt);
}

/* "warning: chat.yaml:9: data.limit: ..." */
static void warn_of(const struct settings_file *file, const char *key,
                    const char *why)
{
    size_t line = settings_line_of(file, key, NULL);
    char text[MAX_DOUBT];

    snprintf(text, sizeof(text), "%s: %s", key, why);
    warn_at(file, line, text, sizeof(text));
}

static void warn_no_effect(void *arg, const char *key, const char *why)
{
    char text[MAX_DOUBT];

    snprintf(text, sizeof(text), "has no effect: %s", why);
    warn_of(arg, key, text);
}

/* There is a limited number of short prompts. */
static void warn_of_repeats(const struct settings_file *file, const char *key,
                            const struct settings *s, double requests)
{
    double repeats = prompt_collisions_expected(s, requests);
    char text[MAX_DOUBT];

    if (repeats < 1)
        return;
    snprintf(
        text, sizeof(text),
        "so short that about %.0f of %.0f prompts repeat by chance and may "
        "be in a cache",
        repeats, requests);
    warn_of(file, key, text);
}

/* A request to an API that is not recognised is sent, but it is probably not
 * what was meant. */
static void warn_of_api(const struct settings_file *file, const char *whose,
                        const struct settings *s)
{
    char key[96];
    struct url url;
    struct buf doubt;
    size_t start;

    /* If the user gives the body, plain HTTP is intended. */
    if (s->target.api != API_HTTP || s->target.body ||
        url_parse(settings_url(s), &url, &(struct err){0}))
        return;
    buf_init(&doubt, MAX_DOUBT);
    buf_addf(&doubt, "plain HTTP requests (%s) are sent: ", s->target.method);
    start = doubt.len;
    api_doubt_path(url.path, &doubt);
    if (doubt.len > start) {
        snprintf(key, sizeof(key), "%.64starget.url", whose);
        warn_of(file, key, buf_text(&doubt));
    }
    buf_fini(&doubt);
}

void plan_warn_of_apis(const struct settings_file *file,
                       const struct settings *s)
{
    if (s->classes.len == 0)
        warn_of_api(file, "", s);
    for (size_t i = 0; i < s->classes.len; i++) {
        char whose[96];

        snprintf(whose, sizeof(whose),
                 "classes: %.50s: ", s->classes.items[i].name);
        warn_of_api(file, whose, s->classes.items[i].settings);
    }
}

/* Other tools take -c as the number of clients even with a rate. */
static void note_connections(const struct settings *s)
{
    long long n = (long long)s->client.connections;
    char rate[UNITS_TEXT];

    if (scenario_has_rate(s->load.scenario) && n > 0)
        log_note("rate       requests are sent at %s even if earlier ones are "
                 "not answered yet, on at most %lld connections (-c); omit the "
                 "rate for %lld clients that wait for their answers",
                 units_show_rate(s->load.rate_rps, rate), n, n);
}

/* A cache check judges no SLO.  Each class has its share of the requests. */
void plan_warn(void *arg, const struct run_plan *known)
{
    const struct settings_file *file = arg;
    const struct settings *s = &known->used;
    const struct classes *all = &s->classes;
    const struct survey *trace = &known->trace;
    double requests = plan_requests(known);
    char text[MAX_DOUBT];

    no_effect_find(s, known, warn_no_effect, arg);
    note_connections(s);
    if (trace->held > 0) {
        snprintf(text, sizeof(text),
                 "wider than a step of the trace's clock: %lld of %lld rows "
                 "are sent at the same time as the previous row",
                 (long long)trace->held, (long long)trace->rows);
        warn_of(file, "trace.spread", text);
    }
    if (s->data.cache_check) {
        if (requests > 0 && requests < MIN_CACHE_CHECK)
            warn_of(file, "data.cache_check",
                    "needs at least 60 requests: ten parts of the window "
                    "with three requests of each kind");
        return;
    }
    warn(file, "slo", s, requests);
    if (all->len == 0)
        warn_of_repeats(file, "data.input_tokens", s, requests);
    for (size_t i = 0; i < all->len; i++) {
        const struct class_settings *c = &all->items[i];
        char key[96];

        snprintf(key, sizeof(key), "classes: %.64s: slo", c->name);
        warn(file, key, c->settings, requests * classes_share(all, i));
        snprintf(key, sizeof(key), "classes: %.64s: data.input_tokens",
                 c->name);
        warn_of_repeats(file, key, c->settings,
                        requests * classes_share(all, i));
    }
}

/* ---- all of it ---- */

static int print_one(const struct study_source *source, struct err *err)
{
    struct run_plan plan;
    struct settings s;
    struct slo slo;
    struct buf out;
    int rc = study_settings(source, NULL, &s, err);

    buf_init(&out, MAX_PLAN);
    run_plan_init(&plan, &s);
    if (rc == 0 &&
        (slo_parse_all(&s.slo, &slo, err) ||
         (s.has_stub && stub_check(&s.stub, err)) || preflight(&plan, err)))
        rc = study_blame(source, err);
    if (rc == 0) {
        plan_view(&plan, &slo, &out);
        plan_warn_of_apis(source->file, &plan.used);
        plan_warn((void *)source->file, &plan);
        rc = cli_print(buf_text(&out), err);
    }
    run_plan_fini(&plan);
    settings_fini(&s);
    buf_fini(&out);
    return rc;
}

int plan_print(const struct settings_args *a, struct err *err)
{
    const struct classes *variants = &a->settings.variants;
    struct study_source source = settings_args_source(a);
    int rc = variants->len == 0 ? print_one(&source, err) : 0;

    for (size_t i = 0; rc == 0 && i < variants->len; i++) {
        struct buf line;

        source.variant = i + 1;
        buf_init(&line, MAX_PLAN);
        buf_addf(&line, "variant    %s\n", variants->items[i].name);
        rc = cli_print(buf_text(&line), err);
        buf_fini(&line);
        if (rc == 0)
            rc = print_one(&source, err);
    }
    return rc;
}
