/* A profile for programs; and the file that vLLM's benchmark saves. */
#include <jansson.h>
#include <stdio.h>

#include "analyzer/profile/profile.h"
#include "analyzer/report/json_parts.h"
#include "analyzer/report/report.h"
#include "analyzer/summary.h"
#include "common/apis.h"
#include "common/json.h"
#include "common/settings.h"

static json_t *side(const struct profile_line *line, bool is_ours)
{
    json_t *o = json_object();

    json_put_ns(o, "mean", is_ours ? line->mean.ours : line->mean.theirs);
    for (int q = 0; q < PROFILE_QUANTILES; q++)
        json_put_ns(o, profile_quantile_name[q],
                    is_ours ? line->quantile[q].ours
                            : line->quantile[q].theirs);
    return o;
}

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static json_t *time_line(const struct profile_line *line)
{
    json_t *o = json_object();
    json_t *theirs = json_null();

    if (line->is_theirs) {
        theirs = side(line, false);
        json_object_set_new(theirs, "n", json_integer(line->n));
        json_put_ns(theirs, "std", line->deviation);
    }
    json_object_set_new(o, "theirs", theirs);
    json_object_set_new(o, "ours", side(line, true));
    json_object_set_new(o, "why",
                        text_or_null(line->is_theirs ? line->why : NULL));
    return o;
}

static json_t *number_or_null(double value)
{
    return value >= 0 ? json_real(value) : json_null();
}

static json_t *rate(const struct profile *p, enum profile_rate r)
{
    json_t *o = json_object();

    json_object_set_new(o, "theirs", number_or_null(p->rates[r].theirs));
    json_object_set_new(o, "ours", number_or_null(p->rates[r].ours));
    json_object_set_new(o, "why", text_or_null(p->ops->why_rate[r]));
    return o;
}

void profile_json(const struct profile *p, struct buf *out)
{
    static const char *const rate_keys[PROFILE_RATES] = {
        "requests_per_s", "output_tokens_per_s", "goodput_rps"};
    json_t *o = json_object();

    json_object_set_new(o, "profile", json_string(p->ops->name));
    json_object_set_new(o, "clock_starts", json_string(p->ops->start));
    json_object_set_new(o, "completed", json_integer(p->completed));
    json_object_set_new(o, "failed", json_integer(p->failed));
    json_object_set_new(o, "ours_ok", json_integer(p->summary->ok));
    json_object_set_new(o, "ours_failed", json_integer(p->summary->failed));
    json_object_set_new(o, "ours_unsent", json_integer(p->summary->unsent));
    json_object_set_new(o, "duration_s", json_real(p->duration_s));
    json_object_set_new(o, "input_tokens", json_integer(p->input_tokens));
    json_object_set_new(o, "output_tokens", json_integer(p->output_tokens));
    for (int i = 0; i < PROFILE_TIMES; i++)
        json_object_set_new(o, profile_time_name[i], time_line(&p->lines[i]));
    for (int i = 0; i < PROFILE_RATES; i++)
        json_object_set_new(o, rate_keys[i], rate(p, (enum profile_rate)i));
    json_object_set_new(o, "note", text_or_null(p->ops->note));
    json_print(o, out);
    json_decref(o);
}

/* ---- vLLM's keys ---- */

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

static double or_zero(double value)
{
    return value >= 0 ? value : 0;
}

void profile_vllm_json(const struct profile *p, struct buf *out)
{
    const struct settings *s = p->summary->settings;
    int64_t tokens = p->input_tokens + p->output_tokens;
    json_t *o = json_object();

    json_object_set_new(o, "endpoint_type",
                        json_string(api_names[s->target.api]));
    json_object_set_new(o, "backend", json_string(api_names[s->target.api]));
    json_object_set_new(o, "model_id", text_or_null(s->target.model));
    json_object_set_new(o, "num_prompts",
                        json_integer(p->completed + p->failed));
    json_object_set_new(o, "request_rate",
                        s->load.rate_rps > 0 ? json_real(s->load.rate_rps)
                                             : json_string("inf"));
    json_object_set_new(o, "duration", json_real(p->duration_s));
    json_object_set_new(o, "completed", json_integer(p->completed));
    json_object_set_new(o, "failed", json_integer(p->failed));
    json_object_set_new(o, "total_input_tokens", json_integer(p->input_tokens));
    json_object_set_new(o, "total_output_tokens",
                        json_integer(p->output_tokens));
    json_object_set_new(o, "request_throughput",
                        json_real(or_zero(p->rates[PROFILE_REQUESTS].theirs)));
    json_object_set_new(o, "request_goodput",
                        number_or_null(p->rates[PROFILE_GOODPUT].theirs));
    json_object_set_new(o, "output_throughput",
                        json_real(or_zero(p->rates[PROFILE_TOKENS].theirs)));
    json_object_set_new(
        o, "total_token_throughput",
        json_real(p->duration_s > 0 ? (double)tokens / p->duration_s : 0));
    put_times(o, p);
    json_print(o, out);
    json_decref(o);
}

const struct report_ops report_vllm = {
    .name = "vllm-json",
    .profile = "vllm",
    .render_profile = profile_vllm_json,
};
