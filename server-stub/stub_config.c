#include "server-stub/stub_config.h"

#include <stddef.h>
#include <string.h>

#include "common/base/err.h"
#include "common/config.h"
#include "common/settings/settings.h"
#include "common/spec/dist.h"
#include "common/text/units.h"
#include "common/wire/sse.h"
#include "server-stub/front/http_answer.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int read_model(const struct stub_settings *s, struct sim_settings *sim,
                      struct err *err)
{
    static const struct model_ops *const models[] = {
        [SERVICE_PLAIN] = &model_plain,
        [SERVICE_BATCH] = &model_batch,
        [SERVICE_LLM] = &model_llm,
    };
    struct model_settings *m = &sim->model_settings;
    struct service service;

    if (service_parse(s->service, &service, err))
        return err_context(err, "stub.service");
    sim->model = models[service.kind];
    sim->kv_tokens = service.kind == SERVICE_LLM ? s->kv_tokens : 0;
    *m = (struct model_settings){
        .service = service.dist,
        .base_ns = service.base_ns,
        .per_item_ns = service.per_item_ns,
        .prefill_ns = s->prefill_ns,
        .decode_ns = s->decode_ns,
        .decode_item_ns = s->decode_item_ns,
        .chunk_tokens = s->chunk_tokens,
    };
    if (dist_parse_counts(s->prompt_tokens, &m->prompt, err))
        return err_context(err, "stub.prompt_tokens");
    if (dist_parse_counts(s->output_tokens, &m->output, err))
        return err_context(err, "stub.output_tokens");
    return 0;
}

static int read_lists(const struct stub_settings *s, struct sim_settings *sim,
                      struct err *err)
{
    struct policy_settings *p = &sim->policy_settings;

    if (s->preferred.len > POLICY_MAX_PREFERRED)
        return err_set(err, ERR_CONFIG, "stub.preferred: more than %d sizes",
                       POLICY_MAX_PREFERRED);
    for (size_t i = 0; i < s->preferred.len; i++) {
        int64_t size;

        if (units_parse_count(s->preferred.items[i], &size, err))
            return err_context(err, "stub.preferred");
        if (size < 1 || size > s->max_batch ||
            (i > 0 && size <= p->preferred[i - 1]))
            return err_set(err, ERR_CONFIG,
                           "stub.preferred: sizes must ascend from 1 to "
                           "stub.max_batch");
        p->preferred[p->n_preferred++] = size;
    }
    if (s->speed.len > (size_t)s->replicas)
        return err_set(err, ERR_CONFIG,
                       "stub.speed: more speeds than replicas");
    for (size_t i = 0; i < s->speed.len; i++) {
        if (units_parse_number(s->speed.items[i], &sim->speed[i], err))
            return err_context(err, "stub.speed");
        if (!(sim->speed[i] > 0))
            return err_set(err, ERR_CONFIG, "stub.speed: must be above 0");
    }
    return 0;
}

/* An option that was not given may be NULL or empty. */
static bool is_given(const char *text)
{
    return text && text[0];
}

bool stub_has_tls(const struct stub_settings *s)
{
    return is_given(s->tls_cert) || s->tls == STUB_TLS_SELF_SIGNED;
}

bool stub_asks_clients(const struct stub_settings *s)
{
    return is_given(s->tls_ca);
}

static int check_ranges(const struct stub_settings *s, struct err *err)
{
    const struct {
        const char *key;
        int64_t value;
        int64_t max; /* INT64_MAX: none */
    } ranges[] = {
        {"max_batch", s->max_batch, INT64_MAX},
        {"max_running", s->max_running, INT64_MAX},
        {"replicas", s->replicas, SIM_MAX_REPLICAS},
        {"embedding_size", s->embedding_size, STUB_MAX_EMBEDDING},
        {"tokens_per_event", s->tokens_per_event, INT64_MAX},
        {"events_per_write", s->events_per_write, INT64_MAX},
    };

    for (size_t i = 0; i < COUNT(ranges); i++) {
        if (ranges[i].value >= 1 && ranges[i].value <= ranges[i].max)
            continue;
        if (ranges[i].max == INT64_MAX)
            return err_set(err, ERR_CONFIG, "stub.%s: must be at least 1",
                           ranges[i].key);
        return err_set(err, ERR_CONFIG, "stub.%s: must be from 1 to %lld",
                       ranges[i].key, (long long)ranges[i].max);
    }
    return 0;
}

static int check_rest(const struct stub_settings *s, struct err *err)
{
    bool has_grpc = strcmp(s->grpc_port, "none") != 0;
    bool has_cert = is_given(s->tls_cert);
    const struct {
        const char *key;
        bool is_given;
        const char *required;
        bool has_required;
    } pairs[] = {
        {"stall", s->stall_ns > 0, "stall_every", s->stall_every_ns > 0},
        {"stall_every", s->stall_every_ns > 0, "stall", s->stall_ns > 0},
        {"tls_cert", has_cert, "tls_key", is_given(s->tls_key)},
        {"tls_key", is_given(s->tls_key), "tls_cert", has_cert},
        {"tls_ca", stub_asks_clients(s), "tls_cert", has_cert},
    };

    for (size_t i = 0; i < COUNT(pairs); i++) {
        if (pairs[i].is_given && !pairs[i].has_required)
            return err_set(err, ERR_CONFIG, "stub.%s: requires stub.%s",
                           pairs[i].key, pairs[i].required);
    }
    if (s->tls == STUB_TLS_SELF_SIGNED && (has_cert || has_grpc))
        return err_set(err, ERR_CONFIG,
                       "stub.tls: self-signed cannot be combined with stub.%s",
                       has_cert ? "tls_cert" : "grpc_port");
    if (has_grpc && !HAVE_GRPC)
        return err_set(err, ERR_CONFIG,
                       "stub.grpc_port: this tailgate was built without gRPC");
    if (s->stall_ns > 0 && s->stall_ns >= s->stall_every_ns)
        return err_set(err, ERR_CONFIG,
                       "stub.stall: must be shorter than stub.stall_every");
    if (s->body_bytes < ANSWER_MIN_BODY || s->body_bytes > ANSWER_MAX_BODY)
        return err_set(err, ERR_CONFIG,
                       "stub.body_size: must be from %d bytes to 64 MiB",
                       ANSWER_MIN_BODY);
    if (s->full_status != 429 && s->full_status != 503)
        return err_set(err, ERR_CONFIG, "stub.full_status: must be 429 or 503");
    for (const char *p = s->model; *p; p++) { /* it is put into JSON as it is */
        if ((unsigned char)*p < ' ' || *p == '"' || *p == '\\')
            return err_set(err, ERR_CONFIG,
                           "stub.model: cannot contain quotes, backslashes or "
                           "line ends");
    }
    return 0;
}

int stub_config(const struct stub_settings *s, struct stub_config *config,
                struct err *err)
{
    struct sim_settings *sim = &config->sim;

    *config = (struct stub_config){0};
    if (check_ranges(s, err) || check_rest(s, err))
        return -1;
    *sim = (struct sim_settings){
        .policy = policy_find(batching_names[s->batching]),
        .policy_settings = {.max_batch = s->max_batch,
                            .max_delay_ns = s->max_delay_ns,
                            .max_running = s->max_running},
        .router = s->router > 0 ? router_find(router_names[s->router]) : NULL,
        .replicas = (size_t)s->replicas,
        .queue_max = s->queue_max,
        .by_priority = s->discipline == 1,
        .stalls = {.stall_ns = s->stall_ns, .every_ns = s->stall_every_ns},
        .cold_jobs = s->cold,
        .cold_factor = s->cold_factor,
        .drift_per_min = s->drift,
        .seed = s->seed,
    };
    config->has_eos = strcmp(s->eos_tokens, "none") != 0;
    if (read_model(s, sim, err) || read_lists(s, sim, err))
        return -1;
    if (config->has_eos && dist_parse_counts(s->eos_tokens, &config->eos, err))
        return err_context(err, "stub.eos_tokens");
    if (sse_style_parse(&s->sse, &config->sse, err))
        return err_context(err, "stub.sse");
    if (fault_plan_parse(&s->faults, &config->faults, err))
        return err_context(err, "stub.faults");
    return 0;
}
