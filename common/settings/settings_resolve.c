/* What follows from the rest of the settings, and what contradicts itself. */
#include "common/settings/settings.h"

#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/url.h"
#include "common/base/xalloc.h"
#include "common/spec/load_stage.h"
#include "common/wire/api_names.h"

#define DEFAULT_DURATION_NS (10 * NS_PER_S)
#define DEFAULT_QUERY_SIZE  8 /* as in the table */
#define MAX_QUERY_SIZE      32768

/* More than one machine can open; each takes memory before the run starts. */
#define MAX_CLIENTS INT64_C(1000000)

static int check_arrivals(const struct load_settings *load, struct err *err)
{
    if ((load->burst_on_ns > 0) != (load->burst_off_ns > 0))
        return err_set(err, ERR_CONFIG,
                       "load.burst_on: goes with load.burst_off");
    if (!scenario_has_rate(load->scenario) &&
        (load->exact || load->burst_on_ns > 0))
        return err_set(err, ERR_CONFIG,
                       "load.%s: the %s scenario has no arrivals of its own",
                       load->exact ? "exact" : "burst_on",
                       scenario_names[load->scenario]);
    if (load->cv != 1 && load->arrival != ARRIVAL_GAMMA)
        return err_set(err, ERR_CONFIG, "load.cv: goes with arrival gamma");
    if (load->exact && load->requests > 0)
        return err_set(err, ERR_CONFIG,
                       "load.exact: the rate and the duration say how many, "
                       "not load.requests");
    if (load->exact && load->duration_ns == 0)
        return err_set(err, ERR_CONFIG,
                       "load.exact: needs a duration or stages");
    return 0;
}

static int scenario_of(const struct load_settings *load)
{
    if (load->trace.file)
        return SCENARIO_TRACE;
    return load->rate_rps > 0 ? SCENARIO_SERVER : SCENARIO_CLOSED;
}

static int check_rate(const struct load_settings *load, struct err *err)
{
    const char *name = scenario_names[load->scenario];
    bool has_rate = load->rate_rps > 0;

    if (!scenario_has_rate(load->scenario))
        return !has_rate
                   ? 0
                   : err_set(err, ERR_CONFIG,
                             "load.%s: the %s scenario sends when answers "
                             "came, not at a rate",
                             settings_rate_key(load), name);
    if (!has_rate)
        return err_set(err, ERR_CONFIG,
                       "load.rate: the %s scenario needs a rate (--rate)",
                       name);
    if (load->clients > 0)
        return err_set(err, ERR_CONFIG,
                       "load.clients: an open loop has a rate, not clients; "
                       "cap its connections with -c");
    return 0;
}

/* Of those who wait for answers. */
static int resolve_clients(struct load_settings *load,
                           const struct client_settings *client,
                           struct err *err)
{
    bool is_one = load->scenario != SCENARIO_CLOSED;

    if (is_one && load->clients > 1)
        return err_set(err, ERR_CONFIG, "load.clients: the %s scenario has one",
                       scenario_names[load->scenario]);
    if (is_one)
        load->clients = 1;
    else if (load->clients == 0 && client->connections > 0)
        load->clients = client->connections;
    if (load->clients == 0)
        return err_set(err, ERR_CONFIG,
                       "load: neither a rate (--rate) nor clients (-c) given");
    return 0;
}

static int resolve_scenario(struct load_settings *load,
                            const struct client_settings *client,
                            struct err *err)
{
    if (load->scenario == SCENARIO_AUTO)
        load->scenario = scenario_of(load);
    if (load->scenario == SCENARIO_TRACE)
        return 0;
    if (check_rate(load, err))
        return -1;
    return scenario_has_rate(load->scenario)
               ? 0
               : resolve_clients(load, client, err);
}

static int check_think(const struct load_settings *load, struct err *err)
{
    if (load->scenario != SCENARIO_CLOSED &&
        load->scenario != SCENARIO_SESSIONS && load->think)
        return err_set(
            err, ERR_CONFIG,
            "load.think: clients of a closed loop or of sessions think; "
            "the %s scenario has none that do",
            scenario_names[load->scenario]);
    return 0;
}

/* What ends an offline run is its last answer. */
static int check_offline(const struct load_settings *load, struct err *err)
{
    if (load->requests == 0)
        return err_set(err, ERR_CONFIG,
                       "load.requests: the offline scenario sends all at once; "
                       "say how many (-n)");
    if (load->warmup_ns > 0 || load->warmup_requests > 0)
        return err_set(err, ERR_CONFIG,
                       "load.%s: the offline scenario has none, all is "
                       "due at the start",
                       load->warmup_ns > 0 ? "warmup" : "warmup_requests");
    if (load->cooldown_ns > 0)
        return err_set(err, ERR_CONFIG,
                       "load.cooldown: the offline scenario has none, it ends "
                       "with its last answer");
    if (load->duration_ns > 0)
        return err_set(err, ERR_CONFIG,
                       "load.duration: the offline scenario ends with its last "
                       "answer; bound it with load.max_duration");
    if (load->drain_ns != OPT_AUTO)
        return err_set(err, ERR_CONFIG,
                       "load.drain: the offline scenario waits for every "
                       "answer; bound it with load.max_duration");
    return 0;
}

/* Both end the warm-up, and a stage that begins with nothing never gives as
 * many as were asked for. */
static int check_warmup(const struct load_settings *load, struct err *err)
{
    struct load_stage first = {0};

    if (load->warmup_requests == 0)
        return 0;
    if (load->warmup_ns > 0)
        return err_set(err, ERR_CONFIG,
                       "load.warmup_requests: instead of load.warmup, not "
                       "beside it");
    if (load->stages.len == 0)
        return 0;
    if (load_stage_parse(load->stages.items[0], &first, err))
        return -1;
    if (!(first.from_rps > 0))
        return err_set(err, ERR_CONFIG,
                       "load.warmup_requests: the first stage begins at 0/s, "
                       "so that none would come; give load.warmup a time");
    return 0;
}

/* A query goes out whole. */
static int64_t whole_queries(const struct load_settings *load, int64_t requests)
{
    int64_t size = load->query_size;

    return load->scenario == SCENARIO_MULTI_STREAM && requests > 0
               ? (requests - 1) / size * size + size
               : requests;
}

static int resolve_length(struct load_settings *load, struct err *err)
{
    bool has_least = load->min_duration_ns > 0 || load->min_requests > 0;
    bool has_most = load->duration_ns > 0 || load->requests > 0;

    if (has_least && has_most)
        return err_set(err, ERR_CONFIG,
                       "load.%s: instead of duration and requests, not beside "
                       "them; max_duration may bound it",
                       load->min_requests > 0 ? "min_requests"
                                              : "min_duration");
    if (load->max_duration_ns > 0 &&
        load->max_duration_ns < load->min_duration_ns)
        return err_set(err, ERR_CONFIG,
                       "load.max_duration: shorter than load.min_duration");
    if (load->scenario == SCENARIO_OFFLINE)
        return check_offline(load, err);
    if (check_warmup(load, err))
        return -1;
    load->warmup_requests = whole_queries(load, load->warmup_requests);
    load->requests = whole_queries(load, load->requests);
    load->min_requests = whole_queries(load, load->min_requests);
    if (!has_least && !has_most && load->max_duration_ns == 0 &&
        load->scenario != SCENARIO_TRACE)
        load->duration_ns = DEFAULT_DURATION_NS;
    return 0;
}

static int check_query(const struct load_settings *load, struct err *err)
{
    if (load->scenario != SCENARIO_MULTI_STREAM &&
        load->query_size != DEFAULT_QUERY_SIZE)
        return err_set(err, ERR_CONFIG,
                       "load.samples_per_query: goes with the multi-stream "
                       "scenario");
    if (load->query_size > MAX_QUERY_SIZE)
        return err_set(err, ERR_CONFIG, "load.samples_per_query: at most %d",
                       MAX_QUERY_SIZE);
    return 0;
}

static int check_stop(const struct settings *s, struct err *err)
{
    if (s->load.stop == STOP_END)
        return 0;
    if (!scenario_is_open(s->load.scenario))
        return err_set(err, ERR_CONFIG,
                       "load.stop: the %s scenario asks a slow server less "
                       "often; only an open loop can be decided early",
                       scenario_names[s->load.scenario]);
    if (s->slo.len == 0)
        return err_set(err, ERR_CONFIG,
                       s->classes.len > 0
                           ? "load.stop: decided is about the SLO of the run, "
                             "which has none; those of classes do not count"
                           : "load.stop: there is no SLO to decide on");
    return 0;
}

/* Seeds of LoadGen that were given, the schedule's aside. */
static bool has_sample_seeds(const struct load_settings *load)
{
    return load->qsl_seed != 0 || load->sample_index_seed != 0;
}

static int check_own_seeds(const struct load_settings *load, struct err *err)
{
    if (load->schedule_seed != 0 || has_sample_seeds(load))
        return err_set(err, ERR_CONFIG,
                       "load.%s: goes with seeds mlperf; our own is load.seed",
                       load->schedule_seed != 0 ? "schedule_rng_seed"
                       : load->qsl_seed != 0    ? "qsl_rng_seed"
                                                : "sample_index_rng_seed");
    return 0;
}

/* LoadGen's samples begin with the first request, and it knows no order of the
 * file. */
static int check_samples(const struct settings *s, struct err *err)
{
    const struct load_settings *load = &s->load;

    if (s->data.accuracy)
        return 0;
    if (s->data.select == SELECT_ORDER)
        return err_set(err, ERR_CONFIG,
                       "load.seeds: LoadGen takes samples by permutation or "
                       "with replacement (data.select), not in order");
    if (load->warmup_ns > 0 || load->warmup_requests > 0)
        return err_set(err, ERR_CONFIG,
                       "load.%s: with seeds mlperf and a data set the first "
                       "request has LoadGen's first sample",
                       load->warmup_ns > 0 ? "warmup" : "warmup_requests");
    return 0;
}

static int check_seeds(const struct settings *s, struct err *err)
{
    const struct load_settings *load = &s->load;
    bool is_server = load->scenario == SCENARIO_SERVER;
    bool is_known = is_server || load->scenario == SCENARIO_SINGLE_STREAM ||
                    load->scenario == SCENARIO_MULTI_STREAM ||
                    load->scenario == SCENARIO_OFFLINE;

    if (load->seeds == SEEDS_OWN)
        return check_own_seeds(load, err);
    if (!is_known || (is_server && (load->arrival != ARRIVAL_POISSON ||
                                    load->stages.len > 0 ||
                                    load->burst_on_ns > 0 || load->exact)))
        return err_set(err, ERR_CONFIG,
                       "load.seeds: mlperf is a schedule of Poisson arrivals "
                       "at one rate, without bursts or exact counts");
    if (s->data.file)
        return check_samples(s, err);
    if (has_sample_seeds(load) || !is_server)
        return err_set(err, ERR_CONFIG,
                       "load.%s: draws samples of a data set (--data), and "
                       "there is none",
                       load->qsl_seed != 0            ? "qsl_rng_seed"
                       : load->sample_index_seed != 0 ? "sample_index_rng_seed"
                                                      : "seeds");
    return 0;
}

static int check_way(const struct target_settings *t, struct err *err)
{
    if (t->proxy && t->unix_socket)
        return err_set(err, ERR_CONFIG,
                       "target.proxy: not beside target.unix_socket");
    if (!t->cert != !t->key)
        return err_set(err, ERR_CONFIG, "target.%s: goes with target.%s",
                       t->cert ? "cert" : "key", t->cert ? "key" : "cert");
    return 0;
}

static int check_bound(const char *key, int64_t count, struct err *err)
{
    if (count > MAX_CLIENTS)
        return err_set(err, ERR_CONFIG, "%s: %lld; at most 1M are possible",
                       key, (long long)count);
    return 0;
}

static int detect_api(const char *text, int *api, struct err *err)
{
    struct url url;

    if (url_parse(text, &url, err))
        return err_context(err, "target.url");
    *api = (int)(url_is_grpc(url.scheme) ? api_detect_grpc(url.path)
                                         : api_detect(url.path, NULL));
    return 0;
}

/* A request without a body asks no model anything. */
static int find_api(struct target_settings *t, struct err *err)
{
    bool posts = !t->method || strcmp(t->method, "POST") == 0;

    if (t->api != API_AUTO)
        return 0;
    t->api = API_HTTP;
    for (size_t i = 0; posts && i < t->urls.len; i++) {
        int api = API_HTTP;

        if (detect_api(t->urls.items[i], &api, err))
            return -1;
        if (i > 0 && api != t->api)
            return err_set(err, ERR_CONFIG,
                           "target.url: %s and %s cannot be mixed; say which "
                           "(--api)",
                           api_names[t->api], api_names[api]);
        t->api = api;
    }
    return 0;
}

/* An API and the scheme of a URL say the same, or one of them is wrong. */
static int check_scheme(const struct target_settings *t, struct err *err)
{
    bool is_grpc = api_is_grpc((enum api_kind)t->api);

    for (size_t i = 0; i < t->urls.len; i++) {
        if (url_is_grpc(t->urls.items[i]) != is_grpc &&
            strncmp(t->urls.items[i], "null:", 5) != 0)
            return err_set(err, ERR_CONFIG, "target.api: %s is spoken over %s",
                           api_names[t->api],
                           is_grpc ? "grpc:// or grpcs://"
                                   : "http:// or https://");
    }
    return 0;
}

/* A path that is not the API's method would be passed over without a word. */
static int check_path(const struct target_settings *t, const char *text,
                      struct err *err)
{
    const char *method = api_grpc_method((enum api_kind)t->api);
    struct url url;

    if (!method || url_parse(text, &url, &(struct err){0}) ||
        strcmp(url.scheme, "null") == 0 || strcmp(url.path, "/") == 0 ||
        strcmp(url.path, method) == 0)
        return 0;
    return err_set(err, ERR_CONFIG,
                   "target.url: %s calls %s; leave the path away, or say "
                   "--api grpc",
                   api_names[t->api], method);
}

static int check_method(const struct target_settings *t, struct err *err)
{
    if (t->api == API_GRPC && t->urls.len > 0 &&
        strchr(strstr(t->urls.items[0], "://") + 3, '/') == NULL)
        return err_set(err, ERR_CONFIG,
                       "target.url: which method? "
                       "grpc://host:port/package.Service/Method");
    for (size_t i = 0; i < t->urls.len; i++) {
        if (check_path(t, t->urls.items[i], err))
            return -1;
    }
    return 0;
}

static int resolve_api(struct target_settings *t, struct err *err)
{
    struct url url;

    if (find_api(t, err) || check_scheme(t, err) || check_method(t, err))
        return -1;
    if (t->stream == STREAM_AUTO && t->api == API_GRPC)
        t->stream = STREAM_OFF; /* nobody can see it from outside */
    if (t->stream == STREAM_OFF && t->api == API_TRITON_GRPC_STREAM)
        return err_set(err, ERR_CONFIG,
                       "target.stream: triton-grpc-stream is one; in one piece "
                       "it is kserve-grpc");
    if (t->stream == STREAM_AUTO && t->urls.len > 0 &&
        !url_parse(t->urls.items[0], &url, &(struct err){0}) &&
        api_path_is_whole((enum api_kind)t->api, url.path))
        t->stream = STREAM_OFF;
    if (t->stream == STREAM_AUTO && !t->body &&
        api_can_stream((enum api_kind)t->api))
        t->stream = STREAM_ON;
    if (t->stream == STREAM_ON && !api_can_stream((enum api_kind)t->api))
        return err_set(err, ERR_CONFIG,
                       "target.stream: %s answers in one piece",
                       api_names[t->api]);
    return 0;
}

static int resolve_target(struct target_settings *t, struct err *err)
{
    if (resolve_api(t, err))
        return -1;
    if (!t->method)
        t->method = xstrdup(t->body || t->api != API_HTTP ? "POST" : "GET");
    return 0;
}

/* All but the classes. */
static int resolve_run(struct settings *s, struct err *err)
{
    if (s->target.urls.len == 0 && !s->has_stub)
        return err_set(err, ERR_CONFIG, "target.url: no target given");
    if (check_way(&s->target, err) ||
        check_bound("load.clients", s->load.clients, err) ||
        check_bound("client.connections", s->client.connections, err))
        return -1;
    if (settings_resolve_shape(&s->load, err))
        return -1;
    settings_choose_sessions(s);
    if (resolve_scenario(&s->load, &s->client, err) ||
        settings_check_trace(s, err) || settings_check_sessions(s, err) ||
        settings_resolve_data(s, err))
        return -1;
    if (check_query(&s->load, err) ||
        (!s->data.accuracy && resolve_length(&s->load, err)) ||
        check_arrivals(&s->load, err) || check_think(&s->load, err) ||
        check_seeds(s, err) || check_stop(s, err) ||
        settings_check_study(s, err) || settings_check_server(s, err) ||
        settings_check_cost(s, err))
        return -1;
    if (s->target.no_keepalive && s->client.preconnect > 0)
        return err_set(err, ERR_CONFIG,
                       "client.preconnect: not with target.no_keepalive");
    if (resolve_target(&s->target, err))
        return -1;
    if (!s->name)
        s->name = xstrdup("run");
    return 0;
}

/* A class is laid over what was asked of the run, not what became of it: its
 * URL may have another API. */
int settings_resolve(struct settings *s, struct err *err)
{
    classes_overlay(s);
    return resolve_run(s, err) ? -1 : classes_resolve(s, err);
}
