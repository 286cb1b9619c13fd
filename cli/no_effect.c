#include "cli/no_effect.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/settings/settings.h"
#include "loadgen/payload/dataset.h"
#include "loadgen/prepare/preflight.h"

/* What has its default was not given, as far as anybody can tell. */
#define DEFAULT_LENGTH    "256"
#define DEFAULT_OUTPUT    "128"
#define DEFAULT_TOLERANCE 0.1
#define DEFAULT_SETTLE_NS NS_PER_S

struct claim {
    const char *key;
    bool is_idle;
    const char *why;
};

static void tell(const struct claim *claims, size_t n, no_effect_fn *found,
                 void *arg)
{
    for (size_t i = 0; i < n; i++) {
        if (claims[i].is_idle)
            found(arg, claims[i].key, claims[i].why);
    }
}

#define TELL(claims, found, arg)                                               \
    tell(claims, sizeof(claims) / sizeof((claims)[0]), found, arg)

static bool is_stream(int scenario)
{
    return scenario == SCENARIO_SINGLE_STREAM ||
           scenario == SCENARIO_MULTI_STREAM;
}

static void find_in_load(const struct settings *s, const struct run_plan *known,
                         no_effect_fn *found, void *arg)
{
    const struct load_settings *load = &s->load;
    const struct survey *trace = &known->trace;
    bool is_traced = load->scenario == SCENARIO_TRACE;
    const char *format = trace->format ? trace->format : "";
    const struct claim claims[] = {
        {"load.arrival",
         load->arrival != ARRIVAL_POISSON && !scenario_has_rate(load->scenario),
         "this scenario has no arrivals of its own"},
        {"load.duration",
         !is_traced && load->stages.len == 0 && load->max_duration_ns > 0 &&
             load->max_duration_ns < load->duration_ns,
         "load.max_duration is shorter"},
        {"load.requests",
         is_traced && load->requests > trace->rows - trace->warmup_rows -
                                           trace->cooldown_rows,
         "the trace has fewer rows"},
        {"load.duration", is_traced && trace->asked_ns > load->duration_ns,
         "the trace is shorter"},
        {"trace.unit",
         is_traced && load->trace.unit != UNIT_S &&
             strcmp(format, "csv") != 0 && strcmp(format, "jsonl") != 0,
         "this format says itself what its times are"},
        {"client.connections",
         load->scenario == SCENARIO_SINGLE_STREAM && s->client.connections > 1,
         "the single stream has one request at a time"},
        {"client.threads",
         is_stream(load->scenario) && known->asked_threads > 1,
         "there is one request or query at a time"},
        {"study.settle",
         s->study.settle_ns != DEFAULT_SETTLE_NS && s->study.trials <= 1,
         "it is the pause between trials, and this is one run"},
    };

    TELL(claims, found, arg);
}

/* Of what requests carry. */
static void find_in_data(const struct settings *s, const struct dataset *data,
                         no_effect_fn *found, void *arg)
{
    const struct data_settings *d = &s->data;
    bool is_traced = s->load.scenario == SCENARIO_TRACE;
    bool has_reference =
        d->reference_output > 0 || (data && dataset_has_lengths(data));
    const struct claim claims[] = {
        {"data.format", !d->file && d->format != DATA_AUTO,
         "there is no data.file (--data)"},
        {"data.turns", !d->file && d->turns != TURNS_FIRST,
         "there is no data.file (--data)"},
        {"data.select", !d->file && d->select != SELECT_PERMUTATION,
         "there is no data.file (--data)"},
        {"data.limit", data && !data->is_tensors && d->limit > (int64_t)data->n,
         "there are fewer samples"},
        {"data.nonce", d->nonce != 0 && d->unique == UNIQUE_FALSE,
         "prompts are sent as they are (data.unique false)"},
        {"data.input_tokens",
         (d->file || is_traced) && strcmp(d->input_tokens, DEFAULT_LENGTH) != 0,
         is_traced ? "the trace says how long prompts are"
                   : "prompts are those of data.file"},
        {"data.output_tokens",
         is_traced && strcmp(d->output_tokens, DEFAULT_OUTPUT) != 0,
         "the trace says how long answers are"},
        {"data.output_tolerance",
         d->output_tolerance != DEFAULT_TOLERANCE && !has_reference,
         "there is no length to compare with (data.reference_output_tokens)"},
    };

    TELL(claims, found, arg);
}

/* A price that was looked up stands where one that is given does. */
static void find_in_cost(const struct settings *s, no_effect_fn *found,
                         void *arg)
{
    const struct claim claims[] = {
        {"cost.machine", s->cost.machine && !(s->cost.usd_per_hour > 0),
         "there is no price of it (--prices); report --prices takes it later"},
    };

    TELL(claims, found, arg);
}

void no_effect_find(const struct settings *s, const struct run_plan *known,
                    no_effect_fn *found, void *arg)
{
    find_in_load(s, known, found, arg);
    find_in_cost(s, found, arg);
    if (s->classes.len == 0)
        find_in_data(s, known->data, found, arg);
}
