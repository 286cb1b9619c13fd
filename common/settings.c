#include "common/settings.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/apis.h"
#include "common/clk.h"
#include "common/err.h"
#include "common/suggest.h"
#include "common/units.h"
#include "common/url.h"
#include "common/xalloc.h"
#include "common/yaml.h"

#define DEFAULT_DURATION_NS (10 * NS_PER_S)
#define DEFAULT_QUERY_SIZE  8 /* as in the table */
#define MAX_QUERY_SIZE      32768

/* More than one machine can open; each takes memory before the run starts. */
#define MAX_CLIENTS INT64_C(1000000)

struct opt_set settings_set(struct settings *s, enum settings_block block)
{
    return (struct opt_set){.block = settings_blocks[block], .base = s};
}

void settings_init(struct settings *s)
{
    s->has_stub = false;
    s->data.loaded = NULL;
    for (int b = 0; b < BLOCK_COUNT; b++) {
        struct opt_set set = settings_set(s, (enum settings_block)b);

        opt_init(&set);
    }
}

void settings_fini(struct settings *s)
{
    for (int b = 0; b < BLOCK_COUNT; b++) {
        struct opt_set set = settings_set(s, (enum settings_block)b);

        opt_fini(&set);
    }
}

/* ---- the file ---- */

/* One place in a settings file. */
struct spot {
    const char *path;
    const struct yaml_node *node;
    struct err *err;
    const char *list; /* it is an item of this list ... */
    size_t place;     /* ... at this place, from 1; 0: it is none */
};

static int refuse(const struct spot *at)
{
    if (at->place > 0)
        return err_context(at->err, "%s:%zu: %s[%zu]", at->path, at->node->line,
                           at->list, at->place);
    return err_context(at->err, "%s:%zu: %s", at->path, at->node->line,
                       at->node->key);
}

static int refuse_kind(const struct spot *at, const char *wanted)
{
    err_set(at->err, ERR_CONFIG, "must be %s", wanted);
    return refuse(at);
}

static int assign(const struct opt_set *set, const struct opt *opt,
                  const char *text, const struct spot *at)
{
    return opt_assign(set, opt, text, at->err) ? refuse(at) : 0;
}

static int assign_list(const struct opt_set *set, const struct opt *opt,
                       const struct spot *at)
{
    opt_clear(set, opt);
    if (at->node->kind == YAML_SCALAR)
        return assign(set, opt, at->node->text, at);
    for (size_t i = 0; i < at->node->len; i++) {
        struct spot item = {at->path, &at->node->items[i], at->err,
                            at->node->key, i + 1};

        if (item.node->kind != YAML_SCALAR)
            return refuse_kind(&item, "a plain value");
        if (assign(set, opt, item.node->text, &item))
            return -1;
    }
    return 0;
}

static int assign_entry(const struct opt_set *set, const struct opt *opt,
                        const struct spot *at)
{
    char *text;
    int rc;

    if (at->node->kind != YAML_SCALAR)
        return refuse_kind(at, "a plain value");
    if (strchr(at->node->key, opt->separator))
        return refuse_kind(at, "a key without separators");
    text = xasprintf("%s%c%s", at->node->key, opt->separator, at->node->text);
    rc = assign(set, opt, text, at);
    free(text);
    return rc;
}

static int assign_map(const struct opt_set *set, const struct opt *opt,
                      const struct spot *at)
{
    if (at->node->kind != YAML_MAP)
        return refuse_kind(at, "a map of key: value");
    for (size_t i = 0; i < at->node->len; i++) {
        struct spot entry = {
            .path = at->path, .node = &at->node->items[i], .err = at->err};

        if (assign_entry(set, opt, &entry))
            return -1;
    }
    return 0;
}

static int assign_node(const struct opt_set *set, const struct opt *opt,
                       const struct spot *at)
{
    switch (opt->type->kind) {
    case OPT_LIST:
        if (at->node->kind == YAML_MAP)
            return refuse_kind(at, "a list");
        return assign_list(set, opt, at);
    case OPT_MAP:
        return assign_map(set, opt, at);
    default:
        if (at->node->kind != YAML_SCALAR)
            return refuse_kind(at, "a plain value");
        return assign(set, opt, at->node->text, at);
    }
}

static void consider_keys(struct suggest *s, const struct opt_block *block)
{
    for (size_t i = 0; i < block->len; i++) {
        if (block->opts[i].key)
            suggest_consider(s, block->opts[i].key);
    }
}

/* A key, and the block that it is of. */
struct meant {
    const struct opt_block *block;
    const struct opt *opt; /* NULL: none */
};

/* What has this very key elsewhere, or the flag of this name. */
static struct meant find_meant(const struct opt_block *here, const char *key)
{
    struct meant m = {here, opt_by_flag_as_key(here, key)};

    for (int b = 0; b < BLOCK_COUNT && !m.opt; b++)
        m = (struct meant){settings_blocks[b],
                           opt_by_key(settings_blocks[b], key)};
    for (int b = 0; b < BLOCK_COUNT && !m.opt; b++)
        m = (struct meant){settings_blocks[b],
                           opt_by_flag_as_key(settings_blocks[b], key)};
    return m;
}

static int refuse_key(const struct opt_block *block, const char *key,
                      struct err *err)
{
    const char *in = block->name ? " in " : "";
    const char *name = block->name ? block->name : "";
    const struct meant meant = find_meant(block, key);
    struct suggest s = {.word = key};
    char hint[64];

    if (meant.opt)
        return err_set(err, ERR_CONFIG,
                       "unknown key '%s'%s%s; did you mean '%s%s%s'?", key, in,
                       name, meant.block->name ? meant.block->name : "",
                       meant.block->name ? "." : "", meant.opt->key);
    consider_keys(&s, block);
    for (int b = 0; b < BLOCK_COUNT && !block->name; b++) {
        if (settings_blocks[b]->name)
            suggest_consider(&s, settings_blocks[b]->name);
    }
    return err_set(err, ERR_CONFIG, "unknown key '%s'%s%s%s", key, in, name,
                   suggest_text(&s, "", hint, sizeof(hint)));
}

static int load_block(const struct opt_set *set, const struct spot *at)
{
    if (at->node->kind != YAML_MAP)
        return refuse_kind(at, "a map of key: value");
    for (size_t i = 0; i < at->node->len; i++) {
        struct spot entry = {
            .path = at->path, .node = &at->node->items[i], .err = at->err};
        const struct opt *opt = opt_by_key(set->block, entry.node->key);

        if (!opt) {
            refuse_key(set->block, entry.node->key, at->err);
            return err_context(at->err, "%s:%zu", at->path, entry.node->line);
        }
        if (assign_node(set, opt, &entry))
            return -1;
    }
    return 0;
}

static int block_by_name(const char *name, size_t len)
{
    for (int b = 0; b < BLOCK_COUNT; b++) {
        const char *known = settings_blocks[b]->name;

        if (known && strlen(known) == len && memcmp(known, name, len) == 0)
            return b;
    }
    return -1;
}

static int load_entry(struct settings *s, const struct spot *at)
{
    struct opt_set top = settings_set(s, BLOCK_TOP);
    const struct opt *opt = opt_by_key(top.block, at->node->key);
    int block = block_by_name(at->node->key, strlen(at->node->key));

    if (opt)
        return assign_node(&top, opt, at);
    if (block >= 0) {
        struct opt_set set = settings_set(s, (enum settings_block)block);

        if (block == BLOCK_STUB)
            s->has_stub = true;

        return load_block(&set, at);
    }
    refuse_key(top.block, at->node->key, at->err);
    return err_context(at->err, "%s:%zu", at->path, at->node->line);
}

int settings_load(struct settings *s, const char *path, struct err *err)
{
    struct yaml_node root;
    int rc = 0;

    if (yaml_load_file(&root, path, err))
        return -1;
    for (size_t i = 0; i < root.len && rc == 0; i++) {
        struct spot at = {.path = path, .node = &root.items[i], .err = err};

        rc = load_entry(s, &at);
    }
    yaml_fini(&root);
    return rc;
}

/* ---- --set block.key=value ---- */

int settings_assign(struct settings *s, const char *assignment, struct err *err)
{
    size_t path_len = strcspn(assignment, "=");
    size_t block_len = strcspn(assignment, ".=");
    int shown = (int)strcspn(assignment, "=: "); /* the rest may be a secret */
    bool is_nested = block_len < path_len;
    int block = is_nested ? block_by_name(assignment, block_len) : BLOCK_TOP;
    const char *rest = assignment + (is_nested ? block_len + 1 : 0);
    struct opt_set set;
    const struct opt *opt;
    char *key;
    int rc;

    if (assignment[path_len] != '=')
        return err_set(err, ERR_USAGE, "--set '%.*s': write block.key=value",
                       shown, assignment);
    if (!is_nested && block_by_name(assignment, path_len) >= 0)
        return err_set(err, ERR_USAGE,
                       "--set '%.*s': a block, not a key; write %.*s.key=value",
                       shown, assignment, (int)path_len, assignment);
    if (block < 0)
        return err_set(err, ERR_USAGE, "--set '%.*s': no block '%.*s'", shown,
                       assignment, (int)block_len, assignment);
    set = settings_set(s, (enum settings_block)block);
    key = xstrndup(rest, (size_t)(assignment + path_len - rest));
    opt = opt_by_key(set.block, key);
    if (!opt) {
        rc = refuse_key(set.block, key, err);
    } else {
        if (opt->type->kind == OPT_LIST)
            opt_clear(&set, opt);
        rc = opt_assign(&set, opt, assignment + path_len + 1, err);
    }
    free(key);
    return rc ? err_context(err, "--set %.*s", (int)path_len, assignment) : 0;
}

/* ---- what follows from the rest ---- */

static int check_arrivals(const struct load_settings *load, struct err *err)
{
    if ((load->burst_on_ns > 0) != (load->burst_off_ns > 0))
        return err_set(err, ERR_CONFIG,
                       "load.burst_on: goes with load.burst_off");
    if (load->scenario != SCENARIO_SERVER &&
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

static int resolve_scenario(struct load_settings *load,
                            struct client_settings *client, struct err *err)
{
    bool has_rate = load->rate_rps > 0;

    if (load->scenario == SCENARIO_AUTO)
        load->scenario = scenario_of(load);
    if (load->scenario == SCENARIO_TRACE)
        return 0;
    if (load->scenario == SCENARIO_SERVER) {
        if (!has_rate)
            return err_set(err, ERR_CONFIG,
                           "load.rate: the server scenario needs a rate "
                           "(--rate)");
        if (load->clients > 0)
            return err_set(err, ERR_CONFIG,
                           "load.clients: an open loop has a rate, not "
                           "clients; cap its connections with -c");
        return 0;
    }
    if (has_rate)
        return err_set(err, ERR_CONFIG,
                       "load.rate: the %s scenario sends when answers came, "
                       "not at a rate",
                       scenario_names[load->scenario]);
    if (load->scenario != SCENARIO_CLOSED) {
        if (load->clients > 1)
            return err_set(err, ERR_CONFIG,
                           "load.clients: the %s scenario has one",
                           scenario_names[load->scenario]);
        load->clients = 1;
        return 0;
    }
    if (load->clients == 0 && client->connections > 0)
        load->clients = client->connections;
    if (load->clients == 0)
        return err_set(err, ERR_CONFIG,
                       "load: neither a rate (--rate) nor clients (-c) given");
    return 0;
}

static int check_think(const struct load_settings *load, struct err *err)
{
    if (load->scenario != SCENARIO_CLOSED && load->think)
        return err_set(err, ERR_CONFIG,
                       "load.think: clients of a closed loop think; the %s "
                       "scenario has none that do",
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
    if (load->warmup_ns > 0)
        return err_set(err, ERR_CONFIG,
                       "load.warmup: the offline scenario has none, all is "
                       "due at the start");
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
                       "load.stop: there is no SLO to decide on");
    return 0;
}

static int check_seeds(const struct load_settings *load, struct err *err)
{
    if (load->seeds == SEEDS_OWN && load->schedule_seed != 0)
        return err_set(err, ERR_CONFIG,
                       "load.schedule_rng_seed: goes with seeds mlperf; our "
                       "own is load.seed");
    if (load->seeds == SEEDS_OWN)
        return 0;
    if (load->scenario != SCENARIO_SERVER || load->arrival != ARRIVAL_POISSON ||
        load->stages.len > 0 || load->burst_on_ns > 0 || load->exact)
        return err_set(err, ERR_CONFIG,
                       "load.seeds: mlperf is a schedule of Poisson arrivals "
                       "at one rate, without bursts or exact counts");
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
    *api = (int)api_detect(url.path, NULL);
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

static int resolve_api(struct target_settings *t, struct err *err)
{
    struct url url;

    if (find_api(t, err))
        return -1;
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

int settings_resolve(struct settings *s, struct err *err)
{
    if (s->target.urls.len == 0 && !s->has_stub)
        return err_set(err, ERR_CONFIG, "target.url: no target given");
    if (check_way(&s->target, err) ||
        check_bound("load.clients", s->load.clients, err) ||
        check_bound("client.connections", s->client.connections, err))
        return -1;
    if (settings_resolve_shape(&s->load, err) ||
        resolve_scenario(&s->load, &s->client, err) ||
        settings_check_trace(s, err) || settings_resolve_data(s, err))
        return -1;
    if (check_query(&s->load, err) ||
        (!s->data.accuracy && resolve_length(&s->load, err)) ||
        check_arrivals(&s->load, err) || check_think(&s->load, err) ||
        check_seeds(&s->load, err) || check_stop(s, err))
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

const char *settings_url(const struct settings *s)
{
    return s->target.urls.len > 0 ? s->target.urls.items[0] : "";
}

bool settings_uses_tls(const struct settings *s)
{
    return strncasecmp(settings_url(s), "https:", strlen("https:")) == 0;
}

static void describe_trace(const struct trace_settings *t, struct buf *out)
{
    char text[UNITS_TEXT];

    buf_adds(out, "open loop, trace ");
    settings_describe_path(t->file ? t->file : "", out);
    if (t->from_ns > 0)
        buf_addf(out, " from %s", units_print_duration(t->from_ns, text));
    if (t->to_ns > 0)
        buf_addf(out, " to %s", units_print_duration(t->to_ns, text));
    if (t->time_scale != 1)
        buf_addf(out, " at %s times its speed",
                 units_print_number(t->time_scale, text));
    if (t->spread_ns > 0)
        buf_addf(out, ", times spread over %s",
                 units_print_duration(t->spread_ns, text));
}

/* A trace ends where it ends, to the nanosecond. */
static const char *describe_window(const struct load_settings *load,
                                   char out[static UNITS_TEXT])
{
    return load->scenario == SCENARIO_TRACE
               ? units_show_duration((double)load->duration_ns, out)
               : units_print_duration(load->duration_ns, out);
}

static void describe_loop(const struct load_settings *load, struct buf *out)
{
    switch (load->scenario) {
    case SCENARIO_CLOSED:
        buf_addf(out, "closed loop, %lld clients", (long long)load->clients);
        if (load->think)
            buf_addf(out, " that think (%s)", load->think);
        break;
    case SCENARIO_SINGLE_STREAM:
        buf_adds(out, "single-stream, one request at a time");
        break;
    case SCENARIO_MULTI_STREAM:
        buf_addf(out, "multi-stream, one query of %lld requests at a time",
                 (long long)load->query_size);
        break;
    case SCENARIO_OFFLINE:
        buf_adds(out, "offline, all at once");
        break;
    case SCENARIO_TRACE:
        describe_trace(&load->trace, out);
        break;
    default:
        settings_describe_rate(load, out);
    }
}

void settings_describe_load(const struct load_settings *load, struct buf *out)
{
    char text[UNITS_TEXT];

    describe_loop(load, out);
    if (load->requests > 0)
        buf_addf(out, ", %lld requests", (long long)load->requests);
    if (load->duration_ns > 0)
        buf_addf(out, ", window %s", describe_window(load, text));
    if (load->min_requests > 0)
        buf_addf(out, ", at least %lld requests",
                 (long long)load->min_requests);
    if (load->min_duration_ns > 0)
        buf_addf(out, ", at least %s",
                 units_print_duration(load->min_duration_ns, text));
    if (load->max_duration_ns > 0)
        buf_addf(out, ", at most %s",
                 units_print_duration(load->max_duration_ns, text));
    if (load->warmup_ns > 0)
        buf_addf(out, " after %s of warm-up",
                 units_print_duration(load->warmup_ns, text));
    buf_addf(out, ", seed %llu\n", (unsigned long long)load->seed);
}
