#include "cli/no_effect.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/settings/settings.h"
#include "loadgen/payload/dataset.h"
#include "loadgen/prepare/preflight.h"

#define MAX_KEY 64
#define MAX_WHY 160

#define DEFAULT_TOLERANCE 0.1 /* as in the option table */

struct claim {
    const char *key;
    bool is_idle;
    const char *why;
};

struct search {
    const struct settings *settings;
    no_effect_fn *found;
    void *arg;
};

/* An option whose constraint is not met.  The data of a run with classes can be
 * meant for one of them. */
static void find_unmet(void *arg, const char *subject, const char *unmet)
{
    const struct search *s = arg;
    char key[MAX_KEY];
    char why[MAX_WHY];

    snprintf(key, sizeof(key), "%.*s", (int)strcspn(subject, ":"), subject);
    snprintf(why, sizeof(why), "it %s", unmet);
    if (s->settings->classes.len == 0 || strncmp(key, "data.", 5) != 0)
        s->found(s->arg, key, why);
}

void no_effect_find(const struct settings *s, const struct run_plan *known,
                    no_effect_fn *found, void *arg)
{
    const struct load_settings *load = &s->load;
    const struct data_settings *d = &s->data;
    const struct survey *trace = &known->trace;
    const struct dataset *data = known->data;
    bool is_traced = load->scenario == SCENARIO_TRACE;
    bool is_stream = load->scenario == SCENARIO_SINGLE_STREAM ||
                     load->scenario == SCENARIO_MULTI_STREAM;
    bool has_classes = s->classes.len > 0;
    bool has_reference =
        d->reference_output > 0 || (data && dataset_has_lengths(data));
    const char *format = trace->format ? trace->format : "";
    const struct claim claims[] = {
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
         "it requires trace.format: csv or jsonl"},
        {"client.connections",
         load->scenario == SCENARIO_SINGLE_STREAM && s->client.connections > 1,
         "the single-stream scenario has one request at a time"},
        {"client.threads", is_stream && known->asked_threads > 1,
         "there is one request or query at a time"},
        {"cost.machine", s->cost.machine && !(s->cost.usd_per_hour > 0),
         "it requires cost.prices (--prices); report --prices can add them "
         "later"},
        {"data.limit",
         !has_classes && data && !data->is_tensors &&
             d->limit > (int64_t)data->n,
         "the data file has fewer samples"},
        {"data.output_tolerance",
         !has_classes && d->output_tolerance != DEFAULT_TOLERANCE &&
             !has_reference,
         "it requires data.reference_output_tokens"},
    };

    settings_each_unmet(s, true, find_unmet, &(struct search){s, found, arg});
    for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
        if (claims[i].is_idle)
            found(arg, claims[i].key, claims[i].why);
    }
}
