/* The file that vLLM's benchmark saves (vllm/benchmarks/serve.py): its keys in
 * its order, its units, its formulas. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/profile/profile.h"
#include "analyzer/report/json_parts.h"
#include "analyzer/report/report.h"
#include "analyzer/summary.h"
#include "common/apis.h"
#include "common/buf.h"
#include "common/clk.h"
#include "common/json.h"
#include "common/settings.h"
#include "common/xalloc.h"

#define MAX_TEXT ((size_t)16 << 20)

/* Lists are handed on when they have got so long. */
#define PIECE ((size_t)64 << 10)

/* Longer runs have no peaks: nobody makes them, a damaged file may. */
#define MAX_SECONDS 1e7

/* ---- peaks, in seconds that begin with the first success ---- */

struct peaks {
    double tokens; /* events in a second, as that tool counts them */
    int64_t requests;
};

/* The end of each pause of a request, in turn; -1 after the last. */
static double pause_of(const struct profile *p, const struct profile_request *r,
                       size_t i)
{
    size_t before = (size_t)r->silent.n_before;
    size_t inside = before + r->n_pauses;
    size_t between = inside + (size_t)r->silent.n_between;

    if (i < before)
        return r->silent.before_ns;
    if (i < inside)
        return p->requests.pauses[r->first_pause + i - before];
    if (i < between)
        return 0;
    return i < between + (size_t)r->silent.n_after ? r->silent.after_ns : -1;
}

static void count_request(const struct profile *p,
                          const struct profile_request *r, double start_s,
                          size_t n_seconds, double *tokens, int64_t *requests)
{
    double at_s = start_s + r->ttft_ns / NS_PER_S;
    double end_s = start_s + r->e2e_ns / NS_PER_S;
    double pause_ns = 0;

    for (size_t i = 0; pause_ns >= 0; i++) {
        at_s += pause_ns / NS_PER_S;
        if (at_s >= 0 && (size_t)at_s < n_seconds)
            tokens[(size_t)at_s]++;
        pause_ns = pause_of(p, r, i);
    }
    for (size_t s = (size_t)start_s; s <= (size_t)end_s && s < n_seconds; s++)
        requests[s]++;
}

static struct peaks find_peaks(const struct profile *p)
{
    const struct profile_requests *all = &p->requests;
    double first_s = INFINITY;
    double last_s = -INFINITY;
    struct peaks peaks = {0};
    int64_t *requests;
    double *tokens;
    size_t n;

    for (size_t i = 0; i < all->len; i++) {
        double start_s = (double)all->items[i].issued / NS_PER_S;

        if (!all->items[i].succeeds)
            continue;
        first_s = fmin(first_s, start_s);
        last_s = fmax(last_s, start_s + all->items[i].e2e_ns / NS_PER_S);
    }
    if (!(last_s >= first_s && last_s - first_s < MAX_SECONDS))
        return peaks;
    n = (size_t)ceil(last_s - first_s) + 1;
    tokens = xcalloc(n, sizeof(*tokens));
    requests = xcalloc(n, sizeof(*requests));
    for (size_t i = 0; i < all->len; i++) {
        const struct profile_request *r = &all->items[i];

        if (r->succeeds)
            count_request(p, r, (double)r->issued / NS_PER_S - first_s, n,
                          tokens, requests);
    }
    for (size_t i = 0; i < n; i++) {
        peaks.tokens = fmax(peaks.tokens, tokens[i]);
        if (requests[i] > peaks.requests)
            peaks.requests = requests[i];
    }
    free(tokens);
    free(requests);
    return peaks;
}

/* ---- the run ---- */

/* The local time of the client at the end; here UTC. */
static json_t *date_of(const struct profile *p)
{
    char text[32];

    clk_format_utc(p->ended_ns, "%Y%m%d-%H%M%S", text, sizeof(text));
    return p->ended_ns > 0 ? json_string(text) : json_null();
}

/* The shape of its gamma distribution: 1 is Poisson. */
static json_t *burstiness_of(const struct load_settings *load)
{
    if (load->arrival == ARRIVAL_CONSTANT)
        return json_string("inf");
    if (load->arrival == ARRIVAL_GAMMA && load->cv > 0)
        return json_real(1 / (load->cv * load->cv));
    return json_real(1);
}

static json_t *concurrency_of(const struct load_settings *load)
{
    if (load->scenario == SCENARIO_SINGLE_STREAM)
        return json_integer(1);
    return load->scenario == SCENARIO_CLOSED && load->clients > 0
               ? json_integer(load->clients)
               : json_null();
}

static void put_setup(json_t *o, const struct profile *p)
{
    const struct settings *s = p->summary->settings;
    const char *api = api_names[s->target.api];

    json_object_set_new(o, "date", date_of(p));
    json_object_set_new(o, "endpoint_type", json_string(api));
    json_object_set_new(o, "backend", json_string(api));
    json_object_set_new(o, "label", json_null());
    json_object_set_new(o, "model_id", json_text_or_null(s->target.model));
    json_object_set_new(o, "tokenizer_id", json_text_or_null(s->target.model));
    json_object_set_new(o, "num_prompts",
                        json_integer(p->completed + p->failed));
    json_object_set_new(o, "request_rate",
                        s->load.rate_rps > 0 ? json_real(s->load.rate_rps)
                                             : json_string("inf"));
    json_object_set_new(o, "burstiness", burstiness_of(&s->load));
    json_object_set_new(o, "max_concurrency", concurrency_of(&s->load));
}

static double or_zero(double value)
{
    return value >= 0 ? value : 0;
}

static void put_counts(json_t *o, const struct profile *p)
{
    int64_t tokens = p->input_tokens + p->output_tokens;

    json_object_set_new(o, "duration", json_real(p->duration_s));
    json_object_set_new(o, "completed", json_integer(p->completed));
    json_object_set_new(o, "failed", json_integer(p->failed));
    json_object_set_new(o, "total_input_tokens", json_integer(p->input_tokens));
    json_object_set_new(o, "total_output_tokens",
                        json_integer(p->output_tokens));
    json_object_set_new(o, "request_throughput",
                        json_real(or_zero(p->rates[PROFILE_REQUESTS].theirs)));
    json_object_set_new(o, "request_goodput",
                        json_number_or_null(p->rates[PROFILE_GOODPUT].theirs));
    json_object_set_new(o, "output_throughput",
                        json_real(or_zero(p->rates[PROFILE_TOKENS].theirs)));
    json_object_set_new(
        o, "total_token_throughput",
        json_real(p->duration_s > 0 ? (double)tokens / p->duration_s : 0));
}

static void put_peaks(json_t *o, const struct profile *p)
{
    struct peaks peaks = find_peaks(p);

    json_object_set_new(o, "max_output_tokens_per_s", json_real(peaks.tokens));
    json_object_set_new(o, "max_concurrent_requests",
                        json_integer(peaks.requests));
    json_object_set_new(o, "rtfx", json_real(0)); /* of audio */
}

/* mean_ttft_ms and so on; 0 where there is no value, as that tool has it. */
static void put_ms(json_t *o, const char *stat, const char *name, double ns)
{
    char key[32];

    snprintf(key, sizeof(key), "%s_%s_ms", stat, name);
    json_object_set_new(o, key, json_real(ns >= 0 ? ns / 1e6 : 0));
}

static void put_times(json_t *o, const struct profile *p)
{
    static const char *const names[PROFILE_TIMES] = {"ttft", "itl", "tpot",
                                                     "e2el"};

    for (int i = 0; i < PROFILE_TIMES; i++) {
        const struct profile_line *line = &p->lines[i];

        put_ms(o, "mean", names[i], line->mean.theirs);
        put_ms(o, "median", names[i], line->quantile[0].theirs);
        put_ms(o, "std", names[i], line->deviation);
        for (int q = 0; q < PROFILE_QUANTILES; q++)
            put_ms(o, profile_quantile_name[q], names[i],
                   line->quantile[q].theirs);
    }
}

/* ---- its requests ---- */

static void put_seconds(struct buf *out, double ns)
{
    buf_addf(out, "%.9f", ns / NS_PER_S);
}

static void put_input(const struct profile *p, const struct profile_request *r,
                      struct buf *out)
{
    (void)p;
    buf_addf(out, "%lld", (long long)r->input_tokens);
}

static void put_output(const struct profile *p, const struct profile_request *r,
                       struct buf *out)
{
    (void)p;
    buf_addf(out, "%lld", (long long)r->output_tokens);
}

static void put_ttft(const struct profile *p, const struct profile_request *r,
                     struct buf *out)
{
    (void)p;
    put_seconds(out, r->ttft_ns);
}

static void put_itl(const struct profile *p, const struct profile_request *r,
                    struct buf *out)
{
    double ns;

    buf_adds(out, "[");
    for (size_t i = 0; (ns = pause_of(p, r, i)) >= 0; i++) {
        buf_adds(out, i > 0 ? ", " : "");
        put_seconds(out, ns);
    }
    buf_adds(out, "]");
}

static void put_start(const struct profile *p, const struct profile_request *r,
                      struct buf *out)
{
    put_seconds(out, (double)(p->start_ns + r->issued));
}

/* The text of such failures, where the recording has one. */
static void put_error(const struct profile *p, const struct profile_request *r,
                      struct buf *out)
{
    const struct failures *known = &p->summary->failures;
    const char *text = outcome_name((enum outcome)r->outcome);
    json_t *value;

    for (size_t i = known->len; i-- > 0;) {
        if (known->kinds[i].outcome == r->outcome &&
            known->kinds[i].detail == r->detail)
            text = known->kinds[i].text;
    }
    value = json_string(r->succeeds ? "" : text);
    json_print_value(value, out);
    json_decref(value);
}

static const struct {
    const char *key;
    void (*put)(const struct profile *p, const struct profile_request *r,
                struct buf *out);
} lists[] = {
    {"input_lens", put_input},  {"output_lens", put_output},
    {"ttfts", put_ttft},        {"itls", put_itl},
    {"start_times", put_start}, {"errors", put_error},
};

typedef int put_fn(const char *text, struct err *err);

static int flush(struct buf *out, size_t at_least, put_fn *put, struct err *err)
{
    int rc = 0;

    if (out->len > at_least) {
        rc = put(buf_text(out), err);
        buf_reset(out);
    }
    return rc;
}

static int put_lists(const struct profile *p, struct buf *out, put_fn *put,
                     struct err *err)
{
    int rc = 0;

    for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++) {
        buf_addf(out, ",\n  \"%s\": [", lists[l].key);
        for (size_t i = 0; i < p->requests.len && rc == 0; i++) {
            buf_adds(out, i > 0 ? ", " : "");
            lists[l].put(p, &p->requests.items[i], out);
            rc = flush(out, PIECE, put, err);
        }
        buf_adds(out, "]");
    }
    return rc;
}

int profile_vllm_json(const struct profile *p, bool detailed, put_fn *put,
                      struct err *err)
{
    static const char end[] = "\n}\n";
    json_t *o = json_object();
    struct buf out;
    int rc = 0;

    put_setup(o, p);
    put_counts(o, p);
    put_peaks(o, p);
    put_times(o, p);
    buf_init(&out, MAX_TEXT);
    json_print(o, &out);
    json_decref(o);
    if (detailed) {
        out.len -= sizeof(end) - 1; /* comes after the lists */
        rc = put_lists(p, &out, put, err);
        buf_adds(&out, end);
    }
    if (rc == 0)
        rc = flush(&out, 0, put, err);
    buf_fini(&out);
    return rc;
}

const struct report_ops report_vllm = {
    .name = "vllm-json",
    .profile = "vllm",
    .render_profile = profile_vllm_json,
};
