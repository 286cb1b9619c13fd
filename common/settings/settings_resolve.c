/* What follows from the settings, and what needs more than a rule of the
 * option tables (settings_rules.c) to be refused. */
#include "common/settings/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "common/spec/load_shape.h"
#include "common/spec/prices.h"
#include "common/spec/slo.h"
#include "common/text/url.h"
#include "common/wire/api_names.h"

#define DEFAULT_DURATION_NS (10 * NS_PER_S)

int settings_read_text(const struct settings *s, const char *path, size_t max,
                       char **text, struct err *err)
{
    const char *kept = s->texts ? strmap_get(s->texts, path) : NULL;

    if (kept) {
        *text = xstrdup(kept);
        return 0;
    }
    if (file_read_text(path, max, text, err))
        return -1;
    if (s->texts)
        strmap_put(s->texts, path, *text);
    return 0;
}

/* ---- rate and scenario ---- */

const char *settings_rate_key(const struct load_settings *load)
{
    if (load->shape)
        return "shape";
    if (load->rate_table)
        return "rate_table";
    return load->stages.len > 0 ? "stages" : "rate";
}

/* The window is as long as all stages, and the rate is their mean. */
static int resolve_stages(struct settings *s, struct err *err)
{
    struct load_settings *load = &s->load;
    const char *key = settings_rate_key(load);
    double requests = 0;
    char *table = NULL;
    int rc = 0;

    if (load->shape)
        rc = load_shape_expand(load->shape, &load->stages, err);
    else if (load->rate_table)
        rc = settings_read_text(s, load->rate_table, RATETABLE_MAX, &table, err)
                 ? -1
                 : ratetable_parse(load->rate_table, table, load->table_speed,
                                   &load->stages, err);
    free(table);
    for (size_t i = 0; rc == 0 && i < load->stages.len; i++) {
        struct load_stage stage;

        rc = load_stage_parse(load->stages.items[i], &stage, err);
        if (rc == 0 && stage.length_ns > INT64_MAX / 2 - load->duration_ns)
            rc = err_set(err, ERR_CONFIG, "the stages are too long in total");
        if (rc)
            break;
        load->duration_ns += stage.length_ns;
        requests +=
            (stage.from_rps + stage.to_rps) / 2 * (double)stage.length_ns / 1e9;
    }
    if (rc == 0 && load->stages.len > 0) {
        load->rate_rps = requests / ((double)load->duration_ns / 1e9);
        if (!(load->rate_rps > 0))
            rc = err_set(err, ERR_CONFIG, "the rate is 0 all the time");
    }
    return rc ? err_context(err, "load.%s", key) : 0;
}

static bool has_one_client(int scenario)
{
    return scenario == SCENARIO_SINGLE_STREAM ||
           scenario == SCENARIO_MULTI_STREAM || scenario == SCENARIO_OFFLINE;
}

static int resolve_clients(struct load_settings *load,
                           const struct client_settings *client,
                           struct err *err)
{
    if (scenario_has_rate(load->scenario) && !(load->rate_rps > 0))
        return err_set(err, ERR_CONFIG,
                       "load.scenario: %s requires load.rate (--rate)",
                       scenario_names[load->scenario]);
    if (has_one_client(load->scenario))
        load->clients = 1;
    if (load->scenario != SCENARIO_CLOSED)
        return 0;
    if (load->clients == 0 && client->connections > 0)
        load->clients = client->connections;
    if (load->clients == 0)
        return err_set(err, ERR_CONFIG,
                       "load: neither a rate (--rate) nor a number of clients "
                       "(-c) is given");
    return 0;
}

/* ---- window ---- */

/* Queries are sent whole. */
static int64_t whole_queries(const struct load_settings *load, int64_t requests)
{
    int64_t size = load->query_size;

    return load->scenario == SCENARIO_MULTI_STREAM && requests > 0
               ? (requests - 1) / size * size + size
               : requests;
}

static int resolve_length(struct load_settings *load, struct err *err)
{
    struct load_stage first = {0};

    if (load->max_duration_ns > 0 &&
        load->max_duration_ns < load->min_duration_ns)
        return err_set(err, ERR_CONFIG,
                       "load.max_duration is shorter than load.min_duration");
    if (load->warmup_requests > 0 && load->stages.len > 0) {
        if (load_stage_parse(load->stages.items[0], &first, err))
            return -1;
        if (!(first.from_rps > 0))
            return err_set(err, ERR_CONFIG,
                           "load.warmup_requests requires a first stage above "
                           "0/s; use load.warmup instead");
    }
    load->warmup_requests = whole_queries(load, load->warmup_requests);
    load->requests = whole_queries(load, load->requests);
    load->min_requests = whole_queries(load, load->min_requests);
    if (load->duration_ns == 0 && load->requests == 0 &&
        load->min_duration_ns == 0 && load->min_requests == 0 &&
        load->max_duration_ns == 0 && load->scenario != SCENARIO_TRACE)
        load->duration_ns = DEFAULT_DURATION_NS;
    if (load->exact && load->duration_ns == 0)
        return err_set(err, ERR_CONFIG,
                       "load.exact requires load.duration or load.stages");
    return 0;
}

/* ---- schedule and data ---- */

/* LoadGen's samples begin with the first request, and it has no mode that keeps
 * the order of the file. */
static int check_mlperf(const struct settings *s, struct err *err)
{
    const struct load_settings *load = &s->load;
    bool is_server = load->scenario == SCENARIO_SERVER;

    if (load->seeds != SEEDS_MLPERF)
        return 0;
    if (is_server && load->arrival != ARRIVAL_POISSON)
        return err_set(err, ERR_CONFIG,
                       "load.seeds: mlperf requires load.arrival: poisson");
    if (!s->data.file && !is_server)
        return err_set(err, ERR_CONFIG,
                       "load.seeds: mlperf requires data.file (--data) if "
                       "load.scenario is %s",
                       scenario_names[load->scenario]);
    if (!s->data.file || s->data.accuracy)
        return 0;
    if (s->data.select == SELECT_ORDER)
        return err_set(err, ERR_CONFIG,
                       "load.seeds: mlperf cannot be combined with "
                       "data.select: order");
    if (load->warmup_ns > 0 || load->warmup_requests > 0)
        return err_set(err, ERR_CONFIG,
                       "load.seeds: mlperf with data.file cannot be combined "
                       "with load.%s: LoadGen's first sample goes into the "
                       "first request",
                       load->warmup_ns > 0 ? "warmup" : "warmup_requests");
    return 0;
}

/* ---- studies ---- */

static int check_search(const struct search_settings *s, struct err *err)
{
    const struct {
        const char *key;
        double value;
    } loads[] = {{"start", s->start}, {"min", s->least}, {"max", s->most}};

    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
        if (s->by == VARY_CONCURRENCY &&
            loads[i].value != floor(loads[i].value))
            return err_set(err, ERR_CONFIG,
                           "search.%s: %g is not a whole number of clients",
                           loads[i].key, loads[i].value);
    }
    if (s->most > 0 && s->least > s->most)
        return err_set(err, ERR_CONFIG, "search.min is above search.max");
    if (s->start > 0 &&
        ((s->most > 0 && s->start > s->most) || s->start < s->least))
        return err_set(err, ERR_CONFIG,
                       "search.start is not between search.min and search.max");
    return 0;
}

/* The price takes the place of the file, so that a recording does not depend on
 * it. */
int settings_look_up_price(struct settings *s, struct err *err)
{
    struct prices prices;
    char *text;
    int rc;

    if (!s->cost.prices)
        return 0;
    if (s->cost.usd_per_hour > 0)
        return err_set(err, ERR_CONFIG,
                       "cost.prices cannot be combined with "
                       "cost.usd_per_hour");
    if (settings_read_text(s, s->cost.prices, PRICES_MAX, &text, err))
        return err_context(err, "cost.prices");
    rc = prices_parse(&prices, s->cost.prices, text, err);
    free(text);
    if (rc == 0) {
        rc = prices_apply(&prices, s, err);
        prices_fini(&prices);
    }
    if (rc)
        return err_context(err, "cost.prices");
    free(s->cost.prices);
    s->cost.prices = NULL;
    return 0;
}

/* ---- target ---- */

/* The API of the URLs: only a POST is a request to a model.  Each URL must fit
 * it; a path that is not the method's would be ignored. */
static int resolve_api(struct target_settings *t, struct err *err)
{
    bool posts = !t->method || strcmp(t->method, "POST") == 0;
    bool is_auto = t->api == API_AUTO;
    const char *method;
    struct url url;
    bool is_grpc;

    if (is_auto)
        t->api = API_HTTP;
    for (size_t i = 0; is_auto && posts && i < t->urls.len; i++) {
        int api;

        if (url_parse(t->urls.items[i], &url, err))
            return err_context(err, "target.url");
        api = (int)(url_is_grpc(url.scheme) ? api_detect_grpc(url.path)
                                            : api_detect(url.path, NULL));
        if (i > 0 && api != t->api)
            return err_set(err, ERR_CONFIG,
                           "target.url: the URLs have different APIs, %s and "
                           "%s; choose one (--api)",
                           api_names[t->api], api_names[api]);
        t->api = api;
    }
    is_grpc = api_is_grpc((enum api_kind)t->api);
    for (size_t i = 0; i < t->urls.len; i++) {
        if (url_is_grpc(t->urls.items[i]) != is_grpc &&
            strncmp(t->urls.items[i], "null:", 5) != 0)
            return err_set(err, ERR_CONFIG, "target.api: %s requires %s URL",
                           api_names[t->api],
                           is_grpc ? "a grpc:// or grpcs://"
                                   : "an http:// or https://");
    }
    if (t->api == API_GRPC && t->urls.len > 0 &&
        strchr(strstr(t->urls.items[0], "://") + 3, '/') == NULL)
        return err_set(err, ERR_CONFIG,
                       "target.url: the method is missing; write "
                       "grpc://host:port/package.Service/Method");
    method = api_grpc_method((enum api_kind)t->api);
    for (size_t i = 0; method && i < t->urls.len; i++) {
        if (!url_parse(t->urls.items[i], &url, &(struct err){0}) &&
            strcmp(url.scheme, "null") != 0 && strcmp(url.path, "/") != 0 &&
            strcmp(url.path, method) != 0)
            return err_set(err, ERR_CONFIG,
                           "target.url: %s calls %s; omit the path, or use "
                           "--api grpc",
                           api_names[t->api], method);
    }
    return 0;
}

static int resolve_streaming(struct target_settings *t, struct err *err)
{
    struct url url;

    if (t->stream == STREAM_AUTO && t->api == API_GRPC)
        t->stream = STREAM_OFF; /* the URL does not tell */
    if (t->stream == STREAM_OFF && t->api == API_TRITON_GRPC_STREAM)
        return err_set(err, ERR_CONFIG,
                       "target.stream: off cannot be combined with "
                       "target.api: triton-grpc-stream; use kserve-grpc");
    if (t->stream == STREAM_AUTO && t->urls.len > 0 &&
        !url_parse(t->urls.items[0], &url, &(struct err){0}) &&
        api_path_is_whole((enum api_kind)t->api, url.path))
        t->stream = STREAM_OFF;
    if (t->stream == STREAM_AUTO && !t->body &&
        api_can_stream((enum api_kind)t->api))
        t->stream = STREAM_ON;
    if (t->stream == STREAM_ON && !api_can_stream((enum api_kind)t->api))
        return err_set(err, ERR_CONFIG,
                       "target.stream: on cannot be combined with target.api: "
                       "%s, which does not stream",
                       api_names[t->api]);
    return 0;
}

/* What the rules are about: the scenario, and the keys of flags that stand for
 * others.  A rate is that of sessions if their turns are given. */
static int resolve_rules(struct settings *s, struct err *err)
{
    struct load_settings *load = &s->load;
    bool has_rate =
        load->rate_rps > 0 || strcmp(settings_rate_key(load), "rate") != 0;

    if (s->target.urls.len == 0 && !s->has_stub)
        return err_set(err, ERR_CONFIG,
                       "target.url is missing: give a URL, or a settings file "
                       "that has one");
    if (s->data.repeats && s->data.unique == UNIQUE_AUTO)
        s->data.unique = UNIQUE_FALSE;
    load->is_scenario_found |= load->scenario == SCENARIO_AUTO;
    if (load->scenario == SCENARIO_AUTO)
        load->scenario = load->trace.file ? SCENARIO_TRACE
                         : has_rate       ? SCENARIO_SERVER
                                          : SCENARIO_CLOSED;
    if (load->scenario == SCENARIO_SERVER &&
        (load->turns || s->data.turns == TURNS_SESSION)) {
        load->scenario = SCENARIO_SESSIONS;
        load->is_scenario_found = true;
    }
    if (has_one_client(load->scenario) && load->clients == 1)
        load->clients = 0; /* a recording has the client of this scenario */
    if (settings_check_rules(s, err))
        return -1;
    if (load->concurrency > 0 && load->scenario == SCENARIO_CLOSED)
        load->clients = load->concurrency;
    else if (load->concurrency > 0)
        s->client.max_in_flight = load->concurrency;
    load->concurrency = 0;
    return 0;
}

/* A class overrides what was given for the run, not what was resolved: its URL
 * can have another API. */
int settings_resolve(struct settings *s, struct err *err)
{
    struct load_settings *load = &s->load;
    struct slo slo;

    classes_overlay(s);
    if (resolve_rules(s, err) || resolve_stages(s, err) ||
        resolve_clients(load, &s->client, err))
        return -1;
    if (slo_parse_all(&s->slo, &slo, err))
        return err_context(err, "slo");
    if (load->scenario == SCENARIO_SESSIONS && s->data.file &&
        s->data.turns != TURNS_SESSION)
        return err_set(err, ERR_CONFIG,
                       "data.file requires data.turns: session if "
                       "load.scenario is sessions");
    if (s->data.accuracy) {
        s->data.select = SELECT_ORDER;
        if (s->data.unique == UNIQUE_AUTO)
            s->data.unique = UNIQUE_FALSE;
    }
    if (load->trace.to_ns > 0 && load->trace.to_ns <= load->trace.from_ns)
        return err_set(err, ERR_CONFIG, "trace.to is not after trace.from");
    if ((!s->data.accuracy && resolve_length(load, err)) ||
        check_mlperf(s, err) || check_search(&s->search, err) ||
        settings_check_server(s, err) || resolve_api(&s->target, err) ||
        resolve_streaming(&s->target, err))
        return -1;
    if (!s->target.method)
        s->target.method = xstrdup(
            s->target.body || s->target.api != API_HTTP ? "POST" : "GET");
    if (!s->name)
        s->name = xstrdup("run");
    return classes_resolve(s, err);
}
