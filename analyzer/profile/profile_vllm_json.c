/* The file that vLLM's benchmark saves (vllm/benchmarks/serve.py): its keys in
 * its order, its units, its formulas. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/profile/profile.h"
#include "analyzer/report/report.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/text/json.h"
#include "common/wire/api_names.h"

#define MAX_TEXT ((size_t)16 << 20)

/* Lists are handed on when they have got so long. */
#define PIECE ((size_t)64 << 10)

/* ---- the run ---- */

static json_t *text_or_null(const char *text)
{
    return text ? json_bytes(text, strlen(text)) : json_null();
}

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
    json_object_set_new(o, "model_id", text_or_null(s->target.model));
    json_object_set_new(o, "tokenizer_id", text_or_null(s->target.model));
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
                        p->rates[PROFILE_GOODPUT].theirs >= 0
                            ? json_real(p->rates[PROFILE_GOODPUT].theirs)
                            : json_null());
    json_object_set_new(o, "output_throughput",
                        json_real(or_zero(p->rates[PROFILE_TOKENS].theirs)));
    json_object_set_new(
        o, "total_token_throughput",
        json_real(p->duration_s > 0 ? (double)tokens / p->duration_s : 0));
}

static void put_peaks(json_t *o, const struct profile *p)
{
    json_object_set_new(o, "max_output_tokens_per_s",
                        json_real((double)p->peaks.events));
    json_object_set_new(o, "max_concurrent_requests",
                        json_integer(p->peaks.requests));
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

/* Where the text goes, and what became of it. */
struct sink {
    struct buf buf;
    int (*put)(const char *text, struct err *err);
    struct err *err;
    int rc;
};

/* Hand on what there is, if it is longer than that. */
static void flush(struct sink *to, size_t longer_than)
{
    if (to->rc == 0 && to->buf.overflowed)
        to->rc =
            err_set(to->err, ERR_FORMAT,
                    "vllm-json: a value is longer than %zu bytes", to->buf.max);
    if (to->rc == 0 && to->buf.len > longer_than) {
        to->rc = to->put(buf_text(&to->buf), to->err);
        buf_reset(&to->buf);
    }
}

static void put_seconds(struct sink *to, double ns)
{
    buf_addf(&to->buf, "%.9f", ns / NS_PER_S);
}

static void put_input(const struct profile *p, const struct profile_request *r,
                      struct sink *to)
{
    (void)p;
    buf_addf(&to->buf, "%lld", (long long)r->input_tokens);
}

static void put_output(const struct profile *p, const struct profile_request *r,
                       struct sink *to)
{
    (void)p;
    buf_addf(&to->buf, "%lld", (long long)r->output_tokens);
}

static void put_ttft(const struct profile *p, const struct profile_request *r,
                     struct sink *to)
{
    (void)p;
    put_seconds(to, r->ttft_ns);
}

/* The pauses of a request in their order; -1 after the last. */
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

static void put_itl(const struct profile *p, const struct profile_request *r,
                    struct sink *to)
{
    double ns;

    buf_adds(&to->buf, "[");
    for (size_t i = 0; to->rc == 0 && (ns = pause_of(p, r, i)) >= 0; i++) {
        buf_adds(&to->buf, i > 0 ? ", " : "");
        put_seconds(to, ns);
        flush(to, PIECE);
    }
    buf_adds(&to->buf, "]");
}

static void put_start(const struct profile *p, const struct profile_request *r,
                      struct sink *to)
{
    put_seconds(to, (double)(p->start_ns + r->issued));
}

/* The text of such failures, where the recording has one. */
static void put_error(const struct profile *p, const struct profile_request *r,
                      struct sink *to)
{
    const struct failure_list *known = &p->summary->failures;
    const char *text = outcome_name((enum outcome)r->outcome);
    json_t *value;

    for (size_t i = known->len; i-- > 0;) {
        if (known->kinds[i].outcome == r->outcome &&
            known->kinds[i].detail == r->detail)
            text = known->kinds[i].text;
    }
    value = text_or_null(r->succeeds ? "" : text);
    json_print_value(value, &to->buf);
    json_decref(value);
}

static const struct {
    const char *key;
    void (*put)(const struct profile *p, const struct profile_request *r,
                struct sink *to);
} lists[] = {
    {"input_lens", put_input},  {"output_lens", put_output},
    {"ttfts", put_ttft},        {"itls", put_itl},
    {"start_times", put_start}, {"errors", put_error},
};

static void put_lists(const struct profile *p, struct sink *to)
{
    for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++) {
        buf_addf(&to->buf, ",\n  \"%s\": [", lists[l].key);
        for (size_t i = 0; i < p->requests.len && to->rc == 0; i++) {
            buf_adds(&to->buf, i > 0 ? ", " : "");
            lists[l].put(p, &p->requests.items[i], to);
            flush(to, PIECE);
        }
        buf_adds(&to->buf, "]");
    }
}

int profile_vllm_json(const struct profile *p, bool detailed,
                      int (*put)(const char *text, struct err *err),
                      struct err *err)
{
    static const char end[] = "\n}\n";
    struct sink to = {.put = put, .err = err};
    json_t *o = json_object();

    put_setup(o, p);
    put_counts(o, p);
    put_peaks(o, p);
    put_times(o, p);
    buf_init(&to.buf, MAX_TEXT);
    json_print(o, &to.buf);
    json_decref(o);
    if (detailed && !to.buf.overflowed) {
        to.buf.len -= sizeof(end) - 1; /* comes after the lists */
        put_lists(p, &to);
        buf_adds(&to.buf, end);
    }
    flush(&to, 0);
    buf_fini(&to.buf);
    return to.rc;
}

const struct report_ops report_vllm = {
    .name = "vllm-json",
    .profile = "vllm",
    .render_profile = profile_vllm_json,
};
