#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/settings_args.h"
#include "common/buf.h"
#include "common/err.h"
#include "common/redact.h"
#include "common/slo.h"
#include "common/stage.h"
#include "common/stats.h"
#include "loadgen/data/dataset.h"
#include "loadgen/preflight.h"
#include "server-stub/stub.h"

#define MAX_PLAN 65536

/* Requests that the window will hold, or at least; 0 if nobody can know. */
static double expected_requests(const struct load_settings *load)
{
    int64_t longest_ns = load_longest_ns(load);
    double most = load->rate_rps * (double)longest_ns / 1e9;
    double least = load->rate_rps * (double)load->min_duration_ns / 1e9;

    if (load->requests > 0)
        least = (double)load->requests;
    else if (load->min_requests > 0)
        least = fmax(least, (double)load->min_requests);
    return least > 0 && (most <= 0 || least < most) ? least : most;
}

static bool is_least(const struct load_settings *load)
{
    return load->min_duration_ns > 0 || load->min_requests > 0;
}

/* The warm-up goes at the rate that the first stage starts with. */
static double first_rate_rps(const struct load_settings *load)
{
    struct stage first = {.from_rps = load->rate_rps};
    struct err ignored = {0};

    if (load->stages.len > 0)
        stage_parse(load->stages.items[0], &first, &ignored);
    return first.from_rps;
}

static void put_requests(const struct load_settings *load, struct buf *out)
{
    double n = expected_requests(load);
    double cv = load->arrival == ARRIVAL_CONSTANT || load->exact ? 0
                : load->arrival == ARRIVAL_GAMMA                 ? load->cv
                                                                 : 1;

    buf_adds(out, "requests   ");
    if (n <= 0)
        buf_adds(out, "as many as the server answers in time\n");
    else if (is_least(load))
        buf_addf(out, "about %.0f in the window, or more\n", n);
    else if (cv > 0 && n != (double)load->requests)
        buf_addf(out, "about %.0f in the window, give or take %.0f (95%%)\n", n,
                 ceil(1.96 * cv * sqrt(n)));
    else
        buf_addf(out, "%.0f in the window\n", n);
    if (load->warmup_ns > 0 && load->rate_rps > 0)
        buf_addf(out, "           about %.0f before it, as warm-up\n",
                 first_rate_rps(load) * (double)load->warmup_ns / 1e9);
}

/* Of how many samples a quantile is taken among n requests, and what they are.
 */
static double samples_of(const struct slo_term *term,
                         const struct load_settings *load, double n,
                         const char **what)
{
    *what = term->measure == MEASURE_QUERY ? "queries" : "requests";
    return term->measure == MEASURE_QUERY ? n / (double)load->query_size : n;
}

static bool has_samples(const struct slo_term *term)
{
    return term->kind == SLO_QUANTILE && (term->measure == MEASURE_QUERY ||
                                          !measure_is_pooled(term->measure));
}

/* A trace says how many, exactly. */
static void put_trace(const struct load_settings *load, const struct survey *s,
                      struct buf *out)
{
    survey_describe(s, load, out);
    buf_addf(out, "requests   %lld in the window\n",
             (long long)(s->rows - s->warmup_rows));
    if (s->warmup_rows > 0)
        buf_addf(out, "           %lld before it, as warm-up\n",
                 (long long)s->warmup_rows);
}

static void put_slo(const struct slo *slo, const struct load_settings *load,
                    double requests, struct buf *out)
{
    for (size_t i = 0; i < slo->len; i++) {
        const struct slo_term *term = &slo->terms[i];
        const char *what;
        double n = samples_of(term, load, requests, &what);
        double least;

        buf_addf(out, "slo        %s", term->text);
        if (has_samples(term)) {
            least = (double)stats_least_n(term->quantile);
            buf_addf(out, ": needs at least %.0f independent %s%s", least, what,
                     n > 0 && n < least ? "; this run is TOO SHORT" : "");
        }
        buf_adds(out, "\n");
    }
}

static void put_load(const struct settings *s, const struct preflight *known,
                     const struct slo *slo, struct buf *out)
{
    double n = expected_requests(&s->load);

    buf_adds(out, "load       ");
    settings_describe_load(&s->load, out);
    if (s->load.scenario == SCENARIO_TRACE) {
        n = (double)(known->trace.rows - known->trace.warmup_rows);
        put_trace(&s->load, &known->trace, out);
    } else {
        put_requests(&s->load, out);
    }
    put_slo(slo, &s->load, n, out);
}

static int put_plan(struct settings *s, struct buf *out, struct err *err)
{
    struct preflight known;
    struct slo slo;
    char *url;

    if (slo_parse(&s->slo, &slo, err))
        return -1;
    if (s->has_stub && stub_check(&s->stub, err))
        return -1;
    if (preflight(s, &known, err)) {
        preflight_fini(&known);
        return -1;
    }
    url = redact_url(settings_url(s));
    buf_addf(out, "target     %s %s%s", s->target.method, url,
             s->has_stub ? " at the stub beside the run" : "");
    if (s->target.urls.len > 1)
        buf_addf(out, " and %zu more in turn", s->target.urls.len - 1);
    buf_adds(out, "\n");
    free(url);
    put_load(s, &known, &slo, out);
    if (known.data)
        dataset_describe(known.data, &s->data, out);
    preflight_fini(&known);
    return 0;
}

static int run(const char *const *argv, struct err *err)
{
    struct settings_args a;
    struct buf out;
    int rc = settings_args_read(&a, NULL, argv, err);

    buf_init(&out, MAX_PLAN);
    if (rc == 0)
        rc = settings_args_used(&a, put_plan(&a.settings, &out, err), err);
    if (rc == 0)
        rc = cli_print(buf_text(&out), err);
    buf_fini(&out);
    settings_args_fini(&a);
    return rc;
}

static const struct opt_block *const blocks[] = {
    &settings_args_block, &block_top,  &block_target, &block_load,
    &block_trace,         &block_data, &block_client, NULL,
};

const struct command cmd_validate = {
    .name = "validate",
    .usage = "SETTINGS|URL [FLAGS]",
    .help = "check settings and print the plan, without sending anything",
    .run = run,
    .blocks = blocks,
};
