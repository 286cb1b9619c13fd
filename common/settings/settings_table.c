/* The option tables of a run and of studies: each key, flag, default,
 * constraint and help text.  Those of servers are in settings_table_server.c.
 */
#include "common/settings/settings.h"

#include <string.h>

#include "common/base/err.h"
#include "common/settings/settings_table.h"
#include "common/spec/abort_rule.h"
#include "common/spec/answer_check.h"
#include "common/spec/cpu_list.h"
#include "common/spec/dist.h"
#include "common/spec/load_shape.h"
#include "common/spec/shard_id.h"
#include "common/spec/slo.h"
#include "common/spec/until.h"
#include "common/text/units.h"
#include "common/text/url.h"
#include "common/wire/api_names.h"
#include "common/wire/status.h"
#include "common/wire/tensor.h"

/* Each takes memory before the run starts, and no machine opens more. */
#define MAX_CLIENTS    1000000
#define MAX_QUERY_SIZE 32768

/* clang-format off */
const char *const transport_names[] = {"auto", "native", "curl", NULL};
static const char *const resume_names[] = {"on", "off", NULL};
const char *const stream_names[] = {"auto", "on", "off", NULL};
const char *const scenario_names[] = {
    [SCENARIO_AUTO] = "auto",
    [SCENARIO_SERVER] = "server",
    [SCENARIO_CLOSED] = "closed",
    [SCENARIO_SINGLE_STREAM] = "single-stream",
    [SCENARIO_MULTI_STREAM] = "multi-stream",
    [SCENARIO_OFFLINE] = "offline",
    [SCENARIO_TRACE] = "trace",
    [SCENARIO_SESSIONS] = "sessions",
    NULL,
};
static const char *const stop_names[] = {"end", "decided", NULL};
static const char *const seeds_names[] = {"own", "mlperf", NULL};
const char *const arrival_names[] = {
    [ARRIVAL_POISSON] = "poisson",
    [ARRIVAL_CONSTANT] = "constant",
    [ARRIVAL_GAMMA] = "gamma",
    [ARRIVAL_COUNT] = NULL,
};
const char *const trace_format_names[] = {
    [TRACE_AUTO] = "auto",         [TRACE_AZURE] = "azure",
    [TRACE_BURSTGPT] = "burstgpt", [TRACE_MOONCAKE] = "mooncake",
    [TRACE_BAILIAN] = "bailian",   [TRACE_CSV] = "csv",
    [TRACE_JSONL] = "jsonl",       NULL,
};
static const char *const unit_names[] = {"s", "ms", "us", "ns", NULL};
const char *const prompt_names[] = {"auto", "text", "ids", NULL};
const char *const data_format_names[] = {
    [DATA_AUTO] = "auto", [DATA_JSONL] = "jsonl",
    [DATA_CSV] = "csv",   [DATA_TEXT] = "text",
    [DATA_SHAREGPT] = "sharegpt", [DATA_TENSORS] = "tensors", NULL,
};
const char *const data_select_names[] = {
    [SELECT_PERMUTATION] = "permutation",
    [SELECT_REPLACEMENT] = "replacement",
    [SELECT_ORDER] = "order", NULL,
};
static const char *const turns_names[] = {
    [TURNS_FIRST] = "first", [TURNS_ALL] = "all",
    [TURNS_SESSION] = "session", NULL,
};
static const char *const history_names[] = {
    [HISTORY_SERVER] = "server", [HISTORY_RECORDED] = "recorded", NULL,
};
static const char *const unique_names[] = {
    [UNIQUE_AUTO] = "auto", [UNIQUE_TRUE] = "true",
    [UNIQUE_FALSE] = "false", NULL,
};
static const char *const vary_names[] = {
    [VARY_RATE] = "rate", [VARY_CONCURRENCY] = "concurrency", NULL,
};
static const char *const order_names[] = {
    [ORDER_RANDOM] = "random", [ORDER_GIVEN] = "given", NULL,
};
/* clang-format on */

static int check_number(const char *text, struct err *err)
{
    return units_parse_number(text, &(double){0}, err);
}

/* vLLM's default. */
static int check_rate(const char *text, struct err *err)
{
    return strcmp(text, "inf") != 0
               ? 0
               : err_set(err, ERR_CONFIG,
                         "'inf' is not a rate; --scenario offline sends all "
                         "requests at once");
}

static int check_metrics(const char *text, struct err *err)
{
    if (strcmp(text, "auto") == 0 || strcmp(text, "off") == 0)
        return 0;
    if (strstr(text, "://") && strncmp(text, "null:", 5) != 0)
        return url_check(text, err);
    return err_set(err, ERR_CONFIG, "'%s' is not auto, off or a URL", text);
}

static int check_speed(const char *text, struct err *err)
{
    double speed;

    if (units_parse_number(text, &speed, err))
        return -1;
    if (!(speed >= 1e-6 && speed <= 1e6))
        return err_set(err, ERR_CONFIG,
                       "'%s' is not between 1e-6 and 1e6; 4 means four times "
                       "as fast",
                       text);
    return 0;
}

static int check_prefix(const char *text, struct err *err)
{
    int64_t tokens;

    if (units_parse_count(text, &tokens, err))
        return -1;
    if (tokens > DIST_MAX_TOKENS)
        return err_set(err, ERR_CONFIG, "'%s' is more than 3,000,000 tokens",
                       text);
    return 0;
}

/* One request in one would leave nothing to the other shards. */
static int check_probe_shard(const char *text, struct err *err)
{
    int64_t every;

    if (units_parse_count(text, &every, err))
        return -1;
    return every == 1 ? err_set(err, ERR_CONFIG,
                                "'1' leaves no request to the other shards; "
                                "use 0, or 2 or more")
                      : 0;
}

/* "stub.max_batch=1,2,4..16". */
static int check_vary(const char *text, struct err *err)
{
    const char *equals = strchr(text, '=');

    if (!equals || equals == text ||
        !memchr(text, '.', (size_t)(equals - text)))
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a setting with values; write "
                       "stub.max_batch=1,2,4..16",
                       text);
    return numlist_check(equals + 1, err);
}

/* clang-format off */
static const struct opt top[] = {
    {OPT("name", "name", text, name), .group = GROUP_OUTPUT,
     .help = "name of the run, shown in every report"},
    {OPT("slo", "slo", list, slo), .splits_commas = true, .group = GROUP_GOAL,
     .check = slo_check_term,
     .help = "service level objective, such as 'e2e p99 < 200ms' (whole "
             "answer), 'ttft p99 < 100ms' (first token) or 'errors < 0.1%' "
             "(can be repeated); all terms of a list, or separated by commas in "
             "the flag, must be met; 'gold: e2e p99 < 100ms' belongs to a "
             "separate SLO named gold, which has its own verdict"},
    {OPT("slo.require", "require", choice, require), .names = slo_require_names,
     .initial = "observed", .group = GROUP_GOAL,
     .help = "how certain the verdict must be: observed (the measured values "
             "decide) or shown (proven with 95% confidence); with shown, the exit "
             "status is 4 if the run is too short for a certain verdict"},
    {FLAG("goodput", list, slo), .splits_commas = true,
     .takes_word = slo_is_like_limit, .check = slo_check_limit,
     .help = "limits that a request must meet to be good, in ms: ttft:200 "
             "tpot:50 e2el:5000"},
    {OPT("checks", "check", list, checks), .check = check_check,
     .help = "rule for a correct answer: 'exact TEXT', 'contains TEXT', 'regex "
             "EXPR', 'json /a/0 = 3.5 +- 0.01', 'tensor y = 1 2', 'length "
             "10..20' or 'label'; can be repeated"},
    {OPT("conditions", "label", map, conditions), .separator = '=',
     .help = "condition to record with the run, such as hardware=1xL4; can be "
             "repeated"},
};

static const struct opt target[] = {
    {OPT("url", "url", list, target.urls), .is_per_class = true,
     .group = GROUP_TARGET, .complete = url_complete, .check = url_check,
     .help = "URL to send requests to; http:// can be omitted; if the flag is "
             "repeated, requests use the URLs in turn"},
    {OPT("method", "method", text, target.method), .letter = 'X',
     .is_per_class = true, .help = "HTTP method (default GET, or POST with a "
                                   "body)"},
    {OPT("headers", "header", map, target.headers), .letter = 'H',
     .separator = ':', .secret = OPT_SECRET_HEADER, .is_per_class = true,
     .group = GROUP_TARGET, .help = "request header (can be repeated)"},
    {OPT("body", "body", text, target.body), .path = OPT_PATH_AT,
     .secret = OPT_NOT_SECRET, .is_per_class = true, .group = GROUP_DATA,
     .help = "request body, or @FILE to read it from a file"},
    {OPT("api", "api", choice, target.api), .names = api_names,
     .initial = "auto", .is_per_class = true, .group = GROUP_TARGET,
     .help = "API of the server; auto detects it from the URL"},
    {OPT("model", "model", text, target.model), .is_per_class = true,
     .group = GROUP_TARGET,
     .help = "name of the model (default: the one the server reports)"},
    {OPT("model_version", "model-version", text, target.model_version),
     .help = "gRPC only: version of the model (default: the server chooses)"},
    {OPT("stream", "stream", choice, target.stream), .names = stream_names,
     .initial = "auto", .is_per_class = true,
     .help = "request answers as a stream of events; auto does so if the API "
             "supports it"},
    {OPT("ignore_eos", "ignore-eos", switch, target.ignore_eos),
     .is_per_class = true,
     .help = "make the server generate the requested number of tokens; any "
             "other number counts as a failure"},
    {OPT("temperature", "temperature", text, target.temperature),
     .check = check_number, .is_per_class = true,
     .help = "sampling temperature (default: the server's)"},
    {OPT("chunk_usage", "chunk-usage", switch, target.chunk_usage),
     .is_per_class = true,
     .help = "request the token count in every event of a stream"},
    {OPT("success", "success", text, target.success), .check = statuses_check,
     .is_per_class = true,
     .help = "HTTP statuses that count as success, such as 200,201 or 2xx "
             "(default: below 400; 2xx for model APIs)"},
    {OPT("extra_body", "extra-body", text, target.extra_body),
     .path = OPT_PATH_AT, .secret = OPT_NOT_SECRET, .is_per_class = true,
     .help = "JSON object, or @FILE, whose members are added to every body"},
    {OPT("timeout", "timeout", duration, target.timeout_ns),
     .is_positive = true, .initial = "30s", .group = GROUP_TARGET,
     .help = "time limit of a request; it starts when the request is due, even "
             "if it is sent late"},
    {OPT("connect_timeout", "connect-timeout", duration,
         target.connect_timeout_ns), .is_positive = true, .initial = "10s",
     .help = "time limit for opening a connection"},
    {OPT("no_keepalive", "no-keepalive", switch, target.no_keepalive),
     .help = "open a new connection for every request"},
    {OPT("max_response", "max-response", size, target.max_response),
     .is_positive = true, .initial = "1GB",
     .help = "largest response; a longer one counts as malformed"},
    {OPT("transport", "transport", choice, target.transport),
     .names = transport_names, .initial = "auto",
     .help = "HTTP client: native (the built-in one) or curl (libcurl); auto "
             "uses curl only for what native cannot do"},
    {OPT("http2", "http2", switch, target.http2),
     .help = "use HTTP/2, with several requests per connection; for http:// "
             "URLs without negotiation (prior knowledge)"},
    {OPT("streams", "streams", count, target.streams), .is_positive = true,
     .requires = "target.http2",
     .help = "maximum number of requests at a time on an HTTP/2 connection "
             "(default: the server's limit)"},
    {OPT("insecure", "insecure", switch, target.insecure), .letter = 'k',
     .help = "do not verify the server's certificate; the report mentions it"},
    {OPT("tls_resume", "tls-resume", choice, target.tls_resume),
     .names = resume_names, .initial = "on",
     .help = "resume TLS sessions where the server offers it, so that later "
             "handshakes are shorter"},
    {OPT("ca_file", "cacert", text, target.ca_file), .path = OPT_PATH,
     .help = "file with the certificate authorities to trust (PEM)"},
    {OPT("cert", "cert", text, target.cert), .path = OPT_PATH,
     .requires = "target.key", .help = "file with the client certificate (PEM)"},
    {OPT("key", "key", text, target.key), .path = OPT_PATH,
     .requires = "target.cert",
     .help = "file with the key of the client certificate (PEM)"},
    {OPT("proxy", "proxy", text, target.proxy), .check = url_check_proxy,
     .secret = OPT_SECRET_URL, .conflicts = "target.unix_socket",
     .help = "URL of a proxy to use; proxy variables of the environment are "
             "ignored"},
    {OPT("unix_socket", "unix-socket", text, target.unix_socket),
     .path = OPT_PATH,
     .help = "connect to this Unix socket instead of the URL's host"},
    {OPT("connect_to", "connect-to", text, target.connect_to),
     .check = url_check_place,
     .conflicts = "target.proxy, target.unix_socket",
     .help = "connect to this host:port; the Host header and TLS still use the "
             "URL's host"},
    {OPT("auth_env", "auth-env", text, target.auth_env),
     .is_key_source = true, .conflicts = "target.auth_file",
     .group = GROUP_TARGET,
     .help = "environment variable with the API key, sent as Authorization: "
             "Bearer"},
    {OPT("auth_file", "auth-file", text, target.auth_file), .path = OPT_PATH,
     .help = "file with the API key"},
    {OPT("request_id", "request-id", switch, target.request_id),
     .help = "send the header x-tailgate-id with the request's number in the "
             "schedule"},
    {OPT("no_preflight", "no-preflight", switch, target.no_preflight),
     .help = "do not send one request to each target before the run to see "
             "whether it is refused; for cold starts"},
    {OPT("metrics", "metrics", text, target.metrics), .initial = "auto",
     .check = check_metrics,
     .help = "URL of the server's Prometheus metrics, scraped every second; "
             "auto tries /metrics for model APIs, off disables it"},
};

static const struct opt load[] = {
    {OPT("scenario", "scenario", choice, load.scenario),
     .names = scenario_names, .initial = "auto", .group = GROUP_LOAD,
     .help = "when requests are sent: server (at a rate), closed (N clients, "
             "each waits for its answer), single-stream (one at a time), "
             "multi-stream (one group of requests at a time), offline (all at once), trace "
             "(at the times in a file), sessions (conversations that start at "
             "a rate), auto (the scenario follows from the other flags); auto "
             "is trace with --trace, server with --rate, otherwise closed"},
    {OPT("arrival", "arrival", choice, load.arrival), .names = arrival_names,
     .initial = "poisson", .scenarios = WITH_RATE, .is_lenient = true,
     .help = "how the times between requests are distributed"},
    {OPT("rate", "rate", rate, load.rate_rps), .letter = 'R',
     .aliases = "rps qps request-rate", .check = check_rate,
     .scenarios = WITH_RATE, .group = GROUP_LOAD,
     .help = "requests per second, such as 50, 0.5 or 2/m (per minute); with "
             "sessions: new sessions per second"},
    {OPT("stages", "stage", list, load.stages), .splits_commas = true,
     .check = load_stage_check, .scenarios = WITH_RATE,
     .conflicts = "load.shape, load.rate_table, load.rate, load.duration, "
                  "load.burst_on, load.min_duration, load.min_requests",
     .help = "rate and duration of one stage: '50/s 30s', or '10/s..100/s 1m' "
             "for a ramp; can be repeated; replaces --rate and --duration"},
    {OPT("shape", "shape", text, load.shape), .check = load_shape_check,
     .scenarios = WITH_RATE,
     .conflicts = "load.rate_table, load.rate, load.duration, load.burst_on, "
                  "load.min_duration, load.min_requests",
     .help = "shape of the rate over time: 'ramp 10/s 100/s over 5m', 'step "
             "10/s 100/s by 10/s every 30s', 'spike 50/s 500/s at 1m for 10s', "
             "'bursts 50/s 500/s every 1m for 5s of 10m' or 'soak 50/s for "
             "8h'; replaces --rate and --duration"},
    {OPT("rate_table", "rate-table", text, load.rate_table), .path = OPT_PATH,
     .scenarios = WITH_RATE,
     .conflicts = "load.rate, load.duration, load.burst_on, "
                  "load.min_duration, load.min_requests",
     .help = "file with lines 'time,rate', such as '6:30,40': the rates of a "
             "day, for instance; replaces --rate and --duration"},
    {OPT("table_speed", "table-speed", number, load.table_speed),
     .initial = "1", .check = check_speed, .requires = "load.rate_table",
     .help = "speed of the rate table: 2 goes through it in half the time, "
             "at the same rates"},
    {OPT("cv", "cv", number, load.cv), .initial = "1",
     .requires = "load.arrival: gamma",
     .help = "coefficient of variation of the gaps between gamma arrivals; "
             "above 1 arrivals cluster"},
    {OPT("burst_on", "burst-on", duration, load.burst_on_ns), .initial = "0s",
     .scenarios = WITH_RATE, .requires = "load.burst_off",
     .help = "length of each burst; requests are sent only in bursts, at the "
             "same mean rate"},
    {OPT("burst_off", "burst-off", duration, load.burst_off_ns),
     .initial = "0s", .requires = "load.burst_on",
     .help = "pause between two bursts"},
    {OPT("exact", "exact", switch, load.exact), .scenarios = WITH_RATE,
     .conflicts = "load.requests",
     .help = "send exactly rate x duration requests instead of a random "
             "number around it"},
    {OPT("duration", "duration", duration, load.duration_ns), .letter = 'd',
     .is_positive = true, .scenarios = ALL_BUT(OFFLINE), .group = GROUP_LOAD,
     .help = "length of the measured window (default 10s); with --requests "
             "there is no default"},
    {OPT("warmup", "warmup", duration, load.warmup_ns), .initial = "0s",
     .scenarios = ALL_BUT(OFFLINE), .group = GROUP_LOAD,
     .help = "send requests for this long before the window, without measuring "
             "them"},
    {OPT("warmup_requests", "warmup-requests", count, load.warmup_requests),
     .is_positive = true, .scenarios = ALL_BUT_BOTH(OFFLINE, SESSIONS),
     .conflicts = "load.warmup",
     .help = "number of requests before the window that are not measured"},
    {OPT("cooldown", "cooldown", duration, load.cooldown_ns),
     .takes_auto = true, .initial = "auto", .scenarios = ALL_BUT(OFFLINE),
     .help = "continue the load for this long after the window, so that "
             "requests of the window also end under load; not measured; auto: "
             "until 99.5% of them have ended, at most half of the window"},
    {OPT("requests", "requests", count, load.requests), .letter = 'n',
     .aliases = "num-prompts", .is_positive = true, .group = GROUP_LOAD,
     .help = "stop after this many requests"},
    {OPT("min_duration", "min-duration", duration, load.min_duration_ns),
     .is_positive = true, .conflicts = "load.duration, load.requests",
     .help = "continue for at least this long, and until --min-requests is "
             "reached"},
    {OPT("min_requests", "min-requests", count, load.min_requests),
     .is_positive = true, .conflicts = "load.duration, load.requests",
     .help = "continue until at least this many requests were due, and until "
             "--min-duration is over"},
    {OPT("max_duration", "max-duration", duration, load.max_duration_ns),
     .is_positive = true,
     .help = "end the window after this time in any case"},
    {OPT("stop", "stop", choice, load.stop), .names = stop_names,
     .initial = "end", .scenarios = FOR(SERVER) | FOR(TRACE),
     .requires = "slo",
     .help = "when the run stops: end (after its duration) or decided (as soon "
             "as it is certain whether the SLO is met, after at most three "
             "times its duration)"},
    {OPT("clients", "clients", count, load.clients), .is_positive = true,
     .max = MAX_CLIENTS, .scenarios = FOR(CLOSED),
     .help = "number of clients of a closed loop"},
    {FLAG("concurrency", count, load.concurrency), .is_positive = true,
     .aliases = "max-concurrency", .max = MAX_CLIENTS, .group = GROUP_LOAD,
     .scenarios = ALL_BUT_BOTH(SINGLE_STREAM, MULTI_STREAM),
     .conflicts = "sweep.concurrencies, search.by: concurrency",
     .help = "number of clients, each of which waits for its answer before it "
             "sends again; with --rate: maximum number of requests in flight"},
    {OPT("think", "think", text, load.think), .check = dist_check,
     .scenarios = FOR(CLOSED) | FOR(SESSIONS),
     .help = "think time between an answer and the client's next request: "
             "'exponential 2s', 'fixed 500ms'"},
    {OPT("turns", "session-turns", text, load.turns),
     .check = dist_check_counts, .scenarios = FOR(SESSIONS),
     .help = "number of turns per session: 4, 'uniform 1 8'; each turn waits "
             "for the previous answer and repeats the conversation so far"},
    {OPT("samples_per_query", "samples-per-query", count, load.query_size),
     .is_positive = true, .max = MAX_QUERY_SIZE, .initial = "8",
     .scenarios = FOR(MULTI_STREAM),
     .help = "number of requests per query in the multi-stream scenario"},
    {OPT("drain", "drain", duration, load.drain_ns), .takes_auto = true,
     .initial = "auto", .scenarios = ALL_BUT(OFFLINE),
     .help = "how long to wait at the end for requests in flight; auto waits "
             "for their timeout"},
    {OPT("seed", "seed", seed, load.seed), .initial = "1",
     .group = GROUP_LOAD,
     .help = "random seed of the schedule; the same seed gives the same "
             "schedule"},
    {OPT("seeds", "seeds", choice, load.seeds), .names = seeds_names,
     .initial = "own",
     .scenarios = FOR(SERVER) | FOR(SINGLE_STREAM) | FOR(MULTI_STREAM) |
                  FOR(OFFLINE),
     .conflicts = "load.stages, load.shape, load.rate_table, load.burst_on, "
                  "load.exact",
     .help = "random numbers of the schedule: own (tailgate's), or mlperf (the "
             "schedule and sample order of MLPerf LoadGen)"},
    {OPT("schedule_rng_seed", "schedule-rng-seed", seed, load.schedule_seed),
     .initial = "0", .requires = "load.seeds: mlperf",
     .help = "seed of the schedule (LoadGen: schedule_rng_seed)"},
    {OPT("qsl_rng_seed", "qsl-rng-seed", seed, load.qsl_seed), .initial = "0",
     .requires = "load.seeds: mlperf, data.file",
     .help = "seed for shuffling the data set (LoadGen: qsl_rng_seed)"},
    {OPT("sample_index_rng_seed", "sample-index-rng-seed", seed,
         load.sample_index_seed), .initial = "0",
     .requires = "load.seeds: mlperf, data.file",
     .help = "seed for choosing samples (LoadGen: sample_index_rng_seed)"},
    {OPT("abort_on", "abort-on", text, load.abort_on), .check = abort_check,
     .help = "abort the run when too many requests fail: 'errors > 50%', "
             "'errors > 10% over 30s'"},
};

static const struct opt trace[] = {
    {OPT("file", "trace", text, load.trace.file), .path = OPT_PATH,
     .scenarios = FOR(TRACE),
     .help = "file with a trace to replay: when requests are sent and how long "
             "they are; can be compressed (gz, zst)"},
    {OPT("format", "trace-format", choice, load.trace.format),
     .names = trace_format_names, .initial = "auto", .requires = "trace.file",
     .help = "format of the trace; csv and jsonl use the column names, auto "
             "looks at the first line"},
    {OPT("time_scale", "time-scale", number, load.trace.time_scale),
     .initial = "1", .check = check_speed, .requires = "trace.file",
     .help = "speed of the replay: 2 replays the trace in half the time"},
    {OPT("from", "from", duration, load.trace.from_ns), .initial = "0s",
     .requires = "trace.file",
     .help = "start this long after the trace's first row, in trace time"},
    {OPT("to", "to", duration, load.trace.to_ns), .is_positive = true,
     .requires = "trace.file",
     .help = "end this long after the trace's first row, in trace time "
             "(default: the end of the trace)"},
    {OPT("spread", "spread", duration, load.trace.spread_ns), .initial = "0s",
     .requires = "trace.file",
     .help = "resolution of the times in the trace; rows with the same time "
             "are spread over it"},
    {OPT("strict", "strict", switch, load.trace.strict),
     .requires = "trace.file",
     .help = "treat a damaged line as an error instead of skipping it"},
    {OPT("time", "time-column", text, load.trace.time),
     .requires = "trace.file, trace.format: auto|csv|jsonl",
     .help = "csv and jsonl: column with the time (default timestamp)"},
    {OPT("input", "input-column", text, load.trace.input),
     .requires = "trace.file, trace.format: auto|csv|jsonl",
     .help = "csv and jsonl: column with the prompt's tokens (default "
             "input_length)"},
    {OPT("output", "output-column", text, load.trace.output),
     .requires = "trace.file, trace.format: auto|csv|jsonl",
     .help = "csv and jsonl: column with the answer's tokens (default "
             "output_length)"},
    {OPT("blocks", "blocks-column", text, load.trace.blocks),
     .requires = "trace.file, trace.format: auto|csv|jsonl",
     .help = "csv and jsonl: column with the ids of the prompt's blocks; equal "
             "ids mean equal text (default hash_ids)"},
    {OPT("unit", "time-unit", choice, load.trace.unit), .names = unit_names,
     .initial = "s", .requires = "trace.file",
     .help = "csv and jsonl: unit of times that are numbers"},
    {OPT("block_tokens", "block-tokens", count, load.trace.block_tokens),
     .is_positive = true, .initial = "512", .requires = "trace.file",
     .help = "number of tokens that one block id stands for"},
};

static const struct opt data[] = {
    {OPT("file", "data", text, data.file), .path = OPT_PATH,
     .scenarios = ALL_BUT(TRACE), .group = GROUP_DATA,
     .help = "file with the requests to send: JSONL, CSV, text, ShareGPT or "
             "tensors; can be compressed (gz, zst)"},
    {OPT("format", "data-format", choice, data.format),
     .names = data_format_names, .initial = "auto", .requires = "data.file",
     .is_lenient = true,
     .help = "format of the data file; auto looks at its first bytes and its "
             "name"},
    {OPT("prompt", "prompt-field", text, data.prompt),
     .requires = "data.file",
     .help = "field with the prompt (default: prompt, text, messages, "
             "input_ids, ...)"},
    {OPT("output", "output-field", text, data.output),
     .requires = "data.file",
     .help = "field with the number of tokens to generate (default: "
             "output_tokens, max_tokens, ...)"},
    {OPT("label", "label-field", text, data.label), .requires = "data.file",
     .help = "field with the correct answer (default: label, answer, ...)"},
    {OPT("turns", "turns", choice, data.turns), .names = turns_names,
     .initial = "first", .requires = "data.file", .is_lenient = true,
     .help = "part of a conversation to send: its first question, all of it up "
             "to the last answer, or (session) one question per turn"},
    {OPT("history", "history", choice, data.history), .names = history_names,
     .initial = "server", .requires = "data.turns: session",
     .help = "answers that later turns of a session contain: the server's, or "
             "those recorded in the data file"},
    {OPT("select", "select", choice, data.select), .names = data_select_names,
     .initial = "permutation", .requires = "data.file", .is_lenient = true,
     .help = "order of samples: permutation (each once, then again in "
             "another order), replacement (at random, with repetition), "
             "order (as in the file)"},
    {OPT("limit", "data-limit", count, data.limit), .is_positive = true,
     .requires = "data.file",
     .help = "number of samples to use: the first ones with --select order, "
             "otherwise random ones"},
    {OPT("unique", "unique", choice, data.unique), .names = unique_names,
     .initial = "auto",
     .help = "start every prompt with a random word, so that all prompts "
             "differ, also from those of other runs"},
    {FLAG("repeat-prompts", switch, data.repeats),
     .conflicts = "data.unique: true",
     .help = "send prompts unchanged, the same as --unique false"},
    {OPT("shared_prefix", "shared-prefix", count, data.shared_prefix),
     .initial = "0", .check = check_prefix,
     .help = "number of tokens at the start of prompts that are the same in "
             "every prompt"},
    {OPT("cache_hit_rate", "cache-hit-rate", share, data.cache_hit_rate),
     .initial = "0%", .scenarios = ALL_BUT_BOTH(TRACE, SESSIONS),
     .help = "share of requests that start with an earlier prompt"},
    {OPT("accuracy", "accuracy", switch, data.accuracy),
     .requires = "data.file",
     .scenarios = ALL_BUT_BOTH(MULTI_STREAM, SESSIONS),
     .conflicts = "load.stages, load.shape, load.rate_table, load.duration, "
                  "load.warmup, load.warmup_requests, load.cooldown, "
                  "load.requests, load.min_duration, load.min_requests, "
                  "data.select: replacement, data.cache_hit_rate",
     .help = "send each sample once, in order and unchanged, and save the "
             "answers in answers.jsonl"},
    {OPT("cache_check", "cache-check", switch, data.cache_check),
     .scenarios = ALL_BUT_BOTH(TRACE, SESSIONS),
     .conflicts = "data.unique: false, data.cache_hit_rate, data.accuracy, "
                  "data.format: tensors, load.stop: decided",
     .help = "test whether the server caches answers: half of the requests "
             "repeat one prompt, the others are new and equally long; the SLO "
             "is not judged"},
    {OPT("input_tokens", "input-len", text, data.input_tokens),
     .path = OPT_PATH_AT, .initial = "256", .check = dist_check_lengths,
     .scenarios = ALL_BUT(TRACE), .conflicts = "data.file", .is_lenient = true,
     .group = GROUP_DATA,
     .help = "length of generated prompts in tokens, such as 256 or 'uniform "
             "100 400'; 'lognormal 512 256' has the mean 512 and the standard "
             "deviation 256; 'empirical @FILE' takes lengths from a file"},
    {OPT("output_tokens", "output-len", text, data.output_tokens),
     .path = OPT_PATH_AT, .initial = "128", .check = dist_check_lengths,
     .scenarios = ALL_BUT(TRACE), .is_lenient = true, .group = GROUP_DATA,
     .help = "number of tokens to generate per answer, such as 128 or a "
             "distribution as for --input-len"},
    {OPT("reference_output_tokens", "reference-output-len", number,
         data.reference_output), .initial = "0",
     .help = "expected mean length of answers in tokens; the report warns if "
             "it differs; 0 takes it from the data file"},
    {OPT("output_tolerance", "output-tolerance", share,
         data.output_tolerance), .initial = "10%",
     .help = "accepted difference from the expected mean length"},
    {OPT("documents", "documents", text, data.documents), .initial = "16",
     .check = dist_check_counts,
     .help = "rerank only: number of documents per request, each as long as a "
             "prompt"},
    {OPT("prompts", "prompts", choice, data.prompts), .names = prompt_names,
     .initial = "auto",
     .help = "send prompts as text or as token ids; auto sends ids if the API "
             "accepts them"},
    {OPT("tensors", "tensor", list, data.tensors), .check = tensor_check,
     .help = "input tensor of the model, 'x FP32 1x16'; can be repeated "
             "(default: as the server describes them)"},
    {OPT("binary", "binary-tensors", switch, data.binary),
     .help = "KServe v2 over HTTP: send tensors as raw bytes after the JSON"},
    {OPT("typed", "typed-tensors", switch, data.typed),
     .help = "gRPC only: send tensors as typed lists instead of raw bytes"},
    {OPT("first_id", "first-id", count, data.first_id), .initial = "1000",
     .help = "smallest token id of generated prompts"},
    {OPT("last_id", "last-id", count, data.last_id), .initial = "9999",
     .help = "largest token id of generated prompts"},
    {OPT("nonce", "nonce", seed, data.nonce), .initial = "0",
     .conflicts = "data.unique: false", .is_lenient = true,
     .help = "seed of generated prompts; 0 chooses a new one for each run"},
};

static const struct opt client[] = {
    {OPT("connections", "connections", count, client.connections),
     .letter = 'c', .is_positive = true, .takes_auto = true, .initial = "auto",
     .max = MAX_CLIENTS, .group = GROUP_LOAD,
     .help = "maximum number of connections; without --rate and "
             "--concurrency it is also the number of clients"},
    {OPT("max_in_flight", "max-in-flight", count, client.max_in_flight),
     .is_positive = true, .takes_auto = true, .initial = "auto",
     .help = "maximum number of requests in flight; auto is 32k, or fewer if "
             "the limit of open files requires it"},
    {OPT("max_burst", "max-burst", count, client.max_burst), .initial = "1k",
     .help = "maximum number of requests sent at once after the client was "
             "suspended; the rest count as unsent"},
    {OPT("channels", "channels", count, client.channels), .is_positive = true,
     .takes_auto = true, .initial = "auto",
     .help = "gRPC only: connections per address, shared by all requests; auto "
             "is one per thread"},
    {OPT("preconnect", "preconnect", count, client.preconnect),
     .initial = "0", .conflicts = "target.no_keepalive",
     .help = "number of connections to open before the run starts"},
    {OPT("threads", "threads", count, client.threads), .letter = 't',
     .is_positive = true, .takes_auto = true, .initial = "auto",
     .help = "number of worker threads; auto depends on the rate and the "
             "cores"},
    {OPT("shard", "shard", text, client.shard), .check = shard_id_check,
     .conflicts = "stub, server.start, load.stop: decided, data.accuracy, "
                  "data.cache_check, study.trials, study.until, study.restart",
     .scenarios = ALL_BUT_BOTH(SINGLE_STREAM, MULTI_STREAM),
     .help = "send only this share of the run, I/N with I from 0; other "
             "machines send the rest; auto or auto/N takes I from the "
             "environment that mpirun, srun or an Indexed Job sets"},
    {OPT("probe_shard", "probe-shard", count, client.probe_shard),
     .initial = "0", .scenarios = FOR(SERVER) | FOR(TRACE),
     .check = check_probe_shard,
     .help = "with --shard or --launch: the last shard sends only one request "
             "in this many, such as 100, to measure; if the others measure "
             "longer latencies, their clients queue"},
    {OPT("cpus", "cpus", text, client.cpus), .check = cpus_check,
     .help = "CPUs to pin the worker threads to, such as 0,2-3"},
    {OPT("spin", "spin", duration, client.spin_ns), .initial = "0s",
     .help = "poll instead of sleeping for this long before and after each "
             "send: times are more accurate, but the client uses more CPU"},
    {OPT("memory", "memory", size, client.memory), .is_positive = true,
     .takes_auto = true, .initial = "auto",
     .help = "maximum memory for responses and conversations of sessions; a "
             "response that exceeds it fails as 'client memory', a "
             "conversation that does ends its session; auto is half of the "
             "RAM or of the cgroup's limit"},
};

static const struct opt study[] = {
    {OPT("trials", "trials", count, study.trials), .is_positive = true,
     .max = STUDY_MAX_TRIALS, .initial = "1", .group = GROUP_LOAD,
     .help = "number of independent runs, each with its own seed"},
    {OPT("max_discarded", "max-discarded", count, study.max_discarded),
     .takes_auto = true, .initial = "auto", .max = STUDY_MAX_TRIALS,
     .help = "maximum number of runs of a study that are discarded and repeated "
             "because they failed a trust check; auto is the number of planned "
             "runs, at least 2"},
    {OPT("until", "until", text, study.until), .check = until_check,
     .help = "continue until the interval of a quantile is this narrow: 'e2e "
             "p99 +- 5%'; --trials is the maximum number of trials, or, "
             "without it, --duration the maximum length of the run"},
    {OPT("settle", "settle", duration, study.settle_ns), .initial = "1s",
     .requires = "study.trials", .is_lenient = true,
     .help = "pause between two runs"},
    {OPT("restart", "restart", text, study.restart), .is_command = true,
     .conflicts = "stub, server.start",
     .help = "shell command that restarts the server before each trial"},
    {OPT("smallest_difference", "smallest-difference", share,
         study.smallest_difference), .initial = "2%",
     .help = "variants that differ by less are not called different"},
};

static const struct opt search[] = {
    {OPT("by", "by", choice, search.by), .names = vary_names,
     .initial = "rate", .group = GROUP_LOAD,
     .help = "what to maximize: requests per second, or clients of a closed "
             "loop"},
    {OPT("start", "start", number, search.start), .is_positive = true,
     .group = GROUP_LOAD,
     .help = "load of the first probe (default: --rate, otherwise a light "
             "load)"},
    {OPT("min", "min", number, search.least), .old_key = "least",
     .old_flag = "least", .group = GROUP_LOAD,
     .help = "smallest load to probe"},
    {OPT("max", "max", number, search.most), .old_key = "most",
     .old_flag = "most", .is_positive = true, .group = GROUP_LOAD,
     .help = "largest load to probe"},
    {OPT("tolerance", "tolerance", share, search.tolerance),
     .is_positive = true, .initial = "4%",
     .help = "accepted uncertainty, as a share of the estimate"},
    {OPT("probe", "probe", duration, search.probe_ns), .is_positive = true,
     .help = "window of a probe close to the limit (default: by the relaxation "
             "time of the server)"},
    {OPT("confirm", "confirm", duration, search.confirm_ns),
     .is_positive = true,
     .help = "window of the confirming run (default: three windows of a "
             "probe; one if the client is the limit)"},
    {OPT("no_confirm", "no-confirm", switch, search.no_confirm),
     .help = "report the estimate without a confirming run"},
    {OPT("budget", "budget", duration, search.budget_ns), .is_positive = true,
     .group = GROUP_LOAD,
     .help = "time limit of the whole search; the result is the estimate and "
             "the bracket that are known by then"},
};

static const struct opt sweep[] = {
    {OPT("rates", "rates", text, sweep.rates), .check = numlist_check,
     .conflicts = "sweep.concurrencies, sweep.vary", .group = GROUP_LOAD,
     .help = "rates to run at: 10,20,40..200, where .. continues with the last "
             "difference"},
    {OPT("concurrencies", "concurrencies", text, sweep.concurrencies),
     .check = numlist_check, .conflicts = "sweep.vary", .group = GROUP_LOAD,
     .help = "numbers of clients of a closed loop to run with"},
    {OPT("vary", "vary", text, sweep.vary), .check = check_vary,
     .group = GROUP_LOAD,
     .help = "numeric setting to vary, with its values: "
             "stub.max_batch=1,2,4..16"},
    {OPT("repeats", "repeats", count, sweep.repeats), .is_positive = true,
     .max = STUDY_MAX_TRIALS, .initial = "1", .group = GROUP_LOAD,
     .help = "number of runs at each value, each with its own seed"},
    {OPT("order", "order", choice, sweep.order), .names = order_names,
     .initial = "random",
     .help = "order of the runs; random (by --seed) prevents slow drift from "
             "looking like an effect of the load"},
};
/* clang-format on */

const struct opt_block block_top = BLOCK(NULL, top);
const struct opt_block block_target = BLOCK("target", target);
const struct opt_block block_load = BLOCK("load", load);
const struct opt_block block_trace = BLOCK("trace", trace);
const struct opt_block block_data = BLOCK("data", data);
const struct opt_block block_client = BLOCK("client", client);
const struct opt_block block_study = BLOCK("study", study);
const struct opt_block block_search = BLOCK("search", search);
const struct opt_block block_sweep = BLOCK("sweep", sweep);

const struct opt_block *const settings_blocks[BLOCK_COUNT] = {
    [BLOCK_TOP] = &block_top,       [BLOCK_TARGET] = &block_target,
    [BLOCK_LOAD] = &block_load,     [BLOCK_TRACE] = &block_trace,
    [BLOCK_DATA] = &block_data,     [BLOCK_CLIENT] = &block_client,
    [BLOCK_STUDY] = &block_study,   [BLOCK_SEARCH] = &block_search,
    [BLOCK_SWEEP] = &block_sweep,   [BLOCK_COST] = &block_cost,
    [BLOCK_SERVER] = &block_server, [BLOCK_STUB] = &block_stub,
};
