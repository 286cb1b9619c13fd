#include "server-stub/stub_config.h"

#include <string.h>

#include "common/base/err.h"
#include "common/base/units.h"
#include "common/config.h"
#include "common/settings/settings.h"
#include "common/spec/dist.h"
#include "common/wire/sse_style.h"
#include "server-stub/front/http_answer.h"

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
    sim->kv_tokens = service.kind == SERVICE_LLM ? s->kv_tokens : 0;
    return 0;
}

static int read_preferred(const struct stub_settings *s,
                          struct policy_settings *p, struct err *err)
{
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
                           "stub.preferred: sizes rise from 1 to max_batch");
        p->preferred[p->n_preferred++] = size;
    }
    return 0;
}

static int read_policy(const struct stub_settings *s, struct sim_settings *sim,
                       struct err *err)
{
    if (s->max_batch < 1)
        return err_set(err, ERR_CONFIG, "stub.max_batch: at least 1");
    if (s->max_running < 1)
        return err_set(err, ERR_CONFIG, "stub.max_running: at least 1");
    sim->policy = policy_find(batching_names[s->batching]);
    sim->policy_settings = (struct policy_settings){
        .max_batch = s->max_batch,
        .max_delay_ns = s->max_delay_ns,
        .max_running = s->max_running,
    };
    return read_preferred(s, &sim->policy_settings, err);
}

static int read_replicas(const struct stub_settings *s,
                         struct sim_settings *sim, struct err *err)
{
    if (s->replicas < 1 || s->replicas > SIM_MAX_REPLICAS)
        return err_set(err, ERR_CONFIG, "stub.replicas: 1 to %d",
                       SIM_MAX_REPLICAS);
    if (s->speed.len > (size_t)s->replicas)
        return err_set(err, ERR_CONFIG,
                       "stub.speed: more speeds than replicas");
    sim->replicas = (size_t)s->replicas;
    if (s->router > 0)
        sim->router = router_find(router_names[s->router]);
    for (size_t i = 0; i < s->speed.len; i++) {
        if (units_parse_number(s->speed.items[i], &sim->speed[i], err))
            return err_context(err, "stub.speed");
        if (!(sim->speed[i] > 0))
            return err_set(err, ERR_CONFIG, "stub.speed: above 0");
    }
    return 0;
}

static int read_stalls(const struct stub_settings *s, struct sim_settings *sim,
                       struct err *err)
{
    if (s->stall_ns > 0 && s->stall_every_ns == 0)
        return err_set(err, ERR_CONFIG,
                       "stub.stall: needs stub.stall_every as well");
    if (s->stall_ns == 0 && s->stall_every_ns > 0)
        return err_set(err, ERR_CONFIG,
                       "stub.stall_every: needs stub.stall as well");
    if (s->stall_ns > 0 && s->stall_ns >= s->stall_every_ns)
        return err_set(err, ERR_CONFIG,
                       "stub.stall: must be shorter than stub.stall_every");
    sim->stalls =
        (struct stalls){.stall_ns = s->stall_ns, .every_ns = s->stall_every_ns};
    return 0;
}

/* The model's name stands in JSON as it is. */
static bool is_plain_text(const char *s)
{
    for (; *s; s++) {
        if ((unsigned char)*s < ' ' || *s == '"' || *s == '\\')
            return false;
    }
    return true;
}

static int check_rest(const struct stub_settings *s, struct err *err)
{
    if (!is_plain_text(s->model))
        return err_set(err, ERR_CONFIG,
                       "stub.model: no quotes, backslashes or line ends");
    if (s->body_bytes < ANSWER_MIN_BODY || s->body_bytes > ANSWER_MAX_BODY)
        return err_set(err, ERR_CONFIG,
                       "stub.body_size: must be from %d bytes to 64 MiB",
                       ANSWER_MIN_BODY);
    if (s->embedding_size < 1 || s->embedding_size > STUB_MAX_EMBEDDING)
        return err_set(err, ERR_CONFIG, "stub.embedding_size: 1 to %d",
                       STUB_MAX_EMBEDDING);
    if (s->full_status != 429 && s->full_status != 503)
        return err_set(err, ERR_CONFIG, "stub.full_status: 429 or 503");
    return 0;
}

/* An option that was not given is printed as an empty text. */
static bool is_given(const char *text)
{
    return text && text[0];
}

bool stub_has_tls(const struct stub_settings *s)
{
    return is_given(s->tls_cert);
}

bool stub_asks_clients(const struct stub_settings *s)
{
    return is_given(s->tls_ca);
}

static int check_grpc(const struct stub_settings *s, struct err *err)
{
    bool is_on = strcmp(s->grpc_port, "none") != 0;

    if (is_on && !HAVE_GRPC)
        return err_set(err, ERR_CONFIG, "stub.grpc_port: built without gRPC");
    if (stub_has_tls(s) && !is_on)
        return err_set(err, ERR_CONFIG,
                       "stub.tls_cert: needs stub.grpc_port as well");
    if (stub_has_tls(s) != is_given(s->tls_key))
        return err_set(err, ERR_CONFIG,
                       "stub.tls_cert: goes together with stub.tls_key");
    if (stub_asks_clients(s) && !stub_has_tls(s))
        return err_set(err, ERR_CONFIG,
                       "stub.tls_ca: needs stub.tls_cert as well");
    return 0;
}

static int read_words(const struct stub_settings *s, struct stub_config *config,
                      struct err *err)
{
    config->has_eos = strcmp(s->eos_tokens, "none") != 0;
    if (config->has_eos && dist_parse_counts(s->eos_tokens, &config->eos, err))
        return err_context(err, "stub.eos_tokens");
    if (s->tokens_per_event < 1)
        return err_set(err, ERR_CONFIG, "stub.tokens_per_event: at least 1");
    if (s->events_per_write < 1)
        return err_set(err, ERR_CONFIG, "stub.events_per_write: at least 1");
    if (sse_style_parse(&s->sse, &config->sse, err))
        return err_context(err, "stub.sse");
    return 0;
}

int stub_config(const struct stub_settings *s, struct stub_config *config,
                struct err *err)
{
    struct sim_settings *sim = &config->sim;

    *config = (struct stub_config){0};
    sim->queue_max = s->queue_max;
    sim->by_priority = s->discipline == 1;
    sim->cold_jobs = s->cold;
    sim->cold_factor = s->cold_factor;
    sim->drift_per_min = s->drift;
    sim->seed = s->seed;
    if (check_rest(s, err) || check_grpc(s, err) || read_model(s, sim, err) ||
        read_policy(s, sim, err) || read_replicas(s, sim, err) ||
        read_stalls(s, sim, err) || read_words(s, config, err))
        return -1;
    if (fault_plan_parse(&s->faults, &config->faults, err))
        return err_context(err, "stub.faults");
    return 0;
}
