/* The option tables of the server under test: its cost, the command that
 * starts it, and the stub, a simulated server. */
#include <string.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/settings/settings_table.h"
#include "common/spec/dist.h"
#include "common/spec/fault.h"
#include "common/wire/sse.h"

const char *const batching_names[] = {"none", "static", "dynamic", "continuous",
                                      NULL};
const char *const router_names[] = {"shared",      "round-robin",
                                    "random",      "least-outstanding",
                                    "two-choices", NULL};
const char *const discipline_names[] = {"fifo", "priority", NULL};
static const char *const stub_tls_names[] = {"off", "self-signed", NULL};
const char *const reasoning_names[] = {"reasoning_content", "reasoning",
                                       "hidden", NULL};
const char *const metrics_names[] = {"own", "vllm",   "sglang",
                                     "tgi", "triton", NULL};

/* Is its first word one of these?  `forms` shows them with their arguments. */
static int check_first(const char *text, const char *const *known,
                       const char *forms, struct err *err)
{
    size_t len = strcspn(text, " ");

    for (size_t i = 0; known[i]; i++) {
        if (strlen(known[i]) == len && strncmp(known[i], text, len) == 0)
            return 0;
    }
    return err_set(err, ERR_CONFIG, "'%s' is not one of: %s", text, forms);
}

static int check_memory(const char *text, struct err *err)
{
    static const char *const known[] = {"pid",  "group",  "cgroup",
                                        "stub", "server", NULL};

    return check_first(text, known, "pid N, group N, cgroup DIR, stub, server",
                       err);
}

static int check_energy(const char *text, struct err *err)
{
    static const char *const known[] = {"auto", "rapl", "nvml", "series", NULL};

    return check_first(text, known, "auto, rapl, nvml, series URL NAME", err);
}

static int check_eos(const char *text, struct err *err)
{
    return strcmp(text, "none") == 0 ? 0 : dist_check_counts(text, err);
}

static int check_grpc_port(const char *text, struct err *err)
{
    return strcmp(text, "none") == 0 ? 0 : opt_port.parse(&(int){0}, text, err);
}

/* clang-format off */
static const struct opt cost[] = {
    {OPT("usd_per_hour", "usd-per-hour", number, cost.usd_per_hour),
     .help = "price of one replica of the server per hour in USD, for the cost "
             "per good request"},
    {OPT("replicas", "replicas", count, cost.replicas), .is_positive = true,
     .initial = "1", .help = "number of replicas of the server, for the cost"},
    {OPT("usd_per_gb_egress", "usd-per-gb-egress", number,
         cost.usd_per_gb_egress),
     .help = "price in USD per GB (1e9 bytes) that the server sends"},
    {OPT("usd_per_gb_month", "usd-per-gb-month", number,
         cost.usd_per_gb_month),
     .requires = "cost.storage_gb", .is_lenient = true,
     .help = "price of storage in USD per GB and month (730 hours)"},
    {OPT("storage_gb", "storage-gb", number, cost.storage_gb),
     .requires = "cost.usd_per_gb_month", .is_lenient = true,
     .help = "GB stored for all replicas together, such as model files"},
    {OPT("prices", "prices", text, cost.prices), .path = OPT_PATH,
     .help = "CSV file of machine,usd_per_hour from which the price of a "
             "replica is taken"},
    {OPT("machine", "machine", text, cost.machine),
     .help = "machine of one replica as the price file names it, or 4xL4 for "
             "four times L4 (default: the condition 'hardware')"},
    {OPT("memory_of", "memory-of", text, cost.memory_of),
     .check = check_memory,
     .help = "measure the server's memory on this host during the run: 'pid "
             "N', 'group N', 'cgroup DIR', stub or server; a baseline ignores "
             "the times of such a run"},
    {OPT("energy", "energy", text, cost.energy), .check = check_energy,
     .help = "measure energy during the run: auto, rapl, nvml or 'series URL "
             "NAME' for a Prometheus series"},
    {OPT("co2_g_per_kwh", "co2-g-per-kwh", number, cost.co2_g_per_kwh),
     .help = "CO2 emission of electricity in grams per kilowatt-hour"},
};

static const struct opt server[] = {
    {KEY("start", text, server.start), .is_command = true,
     .conflicts = "stub",
     .help = "shell command that runs the server in the foreground; it is "
             "started for each run and ended after it; {port} in it, and in "
             "target.url, is a free port"},
    {KEY("ready", text, server.ready), .is_command = true,
     .requires = "server.start",
     .help = "URL that answers, or shell command that exits with 0, once the "
             "server is ready (default: target.url)"},
    {KEY("ready_within", duration, server.ready_ns), .is_positive = true,
     .initial = "5m", .help = "time limit for the server to become ready"},
    {KEY("stop", text, server.stop), .is_command = true,
     .requires = "server.start",
     .help = "shell command that stops the server, run before SIGTERM is sent"},
    {KEY("grace", duration, server.grace_ns), .initial = "10s",
     .help = "time for the server to end before SIGKILL is sent"},
};

static const struct opt stub[] = {
    {OPT("bind", "bind", text, stub.bind), .initial = "127.0.0.1",
     .help = "address to listen on"},
    {OPT("port", "port", port, stub.port), .initial = "0",
     .group = GROUP_SERVER, .help = "port to listen on, 0 for a free one"},
    {OPT("grpc_port", "grpc-port", text, stub.grpc_port), .initial = "none",
     .check = check_grpc_port,
     .help = "port for gRPC, in addition to HTTP; 0 chooses a free one"},
    {OPT("grpc_max_message", "grpc-max-message", size, stub.grpc_max_message),
     .initial = "4MiB",
     .help = "gRPC: largest message; a longer one gets RESOURCE_EXHAUSTED"},
    {OPT("grpc_max_age", "grpc-max-age", duration, stub.grpc_max_age_ns),
     .initial = "0s",
     .help = "gRPC: close connections (GOAWAY) after about this time; 0 means "
             "never"},
    {OPT("tls", "tls", choice, stub.tls), .names = stub_tls_names,
     .initial = "off",
     .help = "speak TLS, on HTTP/1.1 and HTTP/2, with a certificate that is "
             "made for this stub and signs itself (self-signed); or see "
             "tls_cert"},
    {OPT("tls_cert", "tls-cert", text, stub.tls_cert), .path = OPT_PATH,
     .help = "file with the certificate for TLS"},
    {OPT("tls_key", "tls-key", text, stub.tls_key), .path = OPT_PATH,
     .help = "file with the key of that certificate"},
    {OPT("tls_ca", "tls-ca", text, stub.tls_ca), .path = OPT_PATH,
     .help = "require client certificates signed by this authority"},
    {OPT("model", "model", text, stub.model), .initial = "stub",
     .group = GROUP_SERVER, .help = "name of the model"},
    {OPT("seed", "seed", seed, stub.seed), .initial = "1",
     .group = GROUP_SERVER, .help = "random seed"},

    {OPT("service", "service", text, stub.service), .initial = "none",
     .check = service_check, .group = GROUP_SERVER,
     .help = "service time of a batch: none, 'fixed 2ms', 'exponential 2ms', "
             "'lognormal 20ms 5ms', 'empirical 0:1ms 50:2ms 100:9ms', 'batch "
             "5ms 1ms' (base, per item), or llm"},
    {OPT("prefill", "prefill", duration, stub.prefill_ns), .initial = "100us",
     .group = GROUP_SERVER, .help = "llm: time to read one prompt token"},
    {OPT("decode", "decode", duration, stub.decode_ns), .initial = "10ms",
     .group = GROUP_SERVER, .help = "llm: base time of a decode step"},
    {OPT("decode_item", "decode-item", duration, stub.decode_item_ns),
     .initial = "200us", .group = GROUP_SERVER,
     .help = "llm: additional time of a decode step per request in it"},
    {OPT("chunk", "chunk", count, stub.chunk_tokens), .initial = "0",
     .help = "llm: prompt tokens read along with each decode step; with 0 "
             "prefill stalls decoding"},
    {OPT("prompt_tokens", "prompt-tokens", text, stub.prompt_tokens),
     .initial = "256", .check = dist_check_counts,
     .help = "llm: prompt length of requests without text: 256, 'lognormal 512 "
             "256'"},
    {OPT("output_tokens", "output-tokens", text, stub.output_tokens),
     .initial = "64", .check = dist_check_counts, .group = GROUP_SERVER,
     .help = "llm: answer length of requests without max_tokens"},
    {OPT("kv_tokens", "kv-tokens", count, stub.kv_tokens), .initial = "0",
     .help = "llm: size of a replica's KV cache in tokens; 0 means unlimited"},

    {OPT("batching", "batching", choice, stub.batching),
     .names = batching_names, .initial = "none", .group = GROUP_SERVER,
     .help = "how requests are combined into batches"},
    {OPT("max_batch", "max-batch", count, stub.max_batch), .initial = "8",
     .group = GROUP_SERVER,
     .help = "static and dynamic batching: largest batch"},
    {OPT("max_delay", "max-delay", duration, stub.max_delay_ns),
     .initial = "0s", .group = GROUP_SERVER,
     .help = "static and dynamic batching: longest time that a request waits "
             "for a batch to fill"},
    {OPT("preferred", "preferred", list, stub.preferred),
     .splits_commas = true,
     .help = "dynamic batching: batch sizes that start without waiting, such "
             "as 4,8"},
    {OPT("max_running", "max-running", count, stub.max_running),
     .initial = "32", .group = GROUP_SERVER,
     .help = "continuous batching: largest number of requests at a time"},

    {OPT("replicas", "replicas", count, stub.replicas), .initial = "1",
     .group = GROUP_SERVER, .help = "number of replicas, 1 to 64"},
    {OPT("router", "router", choice, stub.router), .names = router_names,
     .initial = "shared",
     .help = "queue of the replicas: one that all share, or one each, chosen "
             "by a router"},
    {OPT("speed", "speed", list, stub.speed), .splits_commas = true,
     .help = "speed of each replica, such as 1,1,0.5; 1 for those not listed"},
    {OPT("queue", "queue", count, stub.queue_max), .initial = "0",
     .group = GROUP_SERVER,
     .help = "longest queue; 0 means unlimited"},
    {OPT("full_status", "full-status", count, stub.full_status),
     .initial = "503",
     .help = "HTTP status when the queue is full, sent with Retry-After"},
    {OPT("discipline", "discipline", choice, stub.discipline),
     .names = discipline_names, .initial = "fifo",
     .help = "order of the queue; priority uses the header x-priority, low "
             "values first"},

    {OPT("delay", "delay", duration, stub.delay_ns), .initial = "0s",
     .help = "delay added to every answer, outside the queue"},
    {OPT("stall", "stall", duration, stub.stall_ns), .initial = "0s",
     .help = "length of a pause of the whole server, repeated every "
             "--stall-every"},
    {OPT("stall_every", "stall-every", duration, stub.stall_every_ns),
     .initial = "0s", .help = "interval between the starts of two pauses"},
    {OPT("faults", "fault", list, stub.faults), .check = fault_check,
     .group = GROUP_SERVER,
     .help = "fault to inject: 'status=503 p=1%', 'reset every=100', "
             "'truncated n=7', 'hang=2s from=10s to=12s'; can be repeated"},
    {OPT("cold", "cold", count, stub.cold), .initial = "0",
     .help = "number of requests at the start that are served more slowly"},
    {OPT("cold_factor", "cold-factor", number, stub.cold_factor),
     .initial = "10", .help = "factor by which those requests are slower"},
    {OPT("drift", "drift", share, stub.drift), .initial = "0",
     .help = "share by which the server becomes slower every minute"},
    {OPT("cache", "cache", switch, stub.cache),
     .help = "answer a repeated body immediately"},
    {OPT("prefix_cache", "prefix-cache", switch, stub.prefix_cache),
     .help = "llm: do not read the start of a prompt again if an earlier "
             "prompt began the same way"},
    {OPT("reasoning_tokens", "reasoning-tokens", count,
         stub.reasoning_tokens), .initial = "0",
     .help = "chat: number of tokens at the start of an answer that are "
             "reasoning"},
    {OPT("reasoning_as", "reasoning-as", choice, stub.reasoning_as),
     .names = reasoning_names, .initial = "reasoning_content",
     .help = "chat: field that shows the reasoning"},
    {OPT("accumulate", "accumulate", switch, stub.accumulate),
     .help = "Triton generate_stream: repeat the text so far in each event"},
    {OPT("eos_tokens", "eos-tokens", text, stub.eos_tokens),
     .initial = "none", .check = check_eos,
     .help = "number of tokens after which an answer ends by itself, unless "
             "the request has ignore_eos: none, 100, 'lognormal 100 50'"},
    {OPT("tokens_per_event", "tokens-per-event", count,
         stub.tokens_per_event), .initial = "1",
     .help = "tokens per event of a stream"},
    {OPT("events_per_write", "events-per-write", count,
         stub.events_per_write), .initial = "1",
     .help = "events of a stream per write"},
    {OPT("sse", "sse", list, stub.sse), .check = sse_style_check,
     .splits_commas = true,
     .help = "how events are written: crlf or cr, no-space, named, split; and "
             "keep-alives before each: comments, empty, pings"},
    {OPT("embedding_size", "embedding-size", count, stub.embedding_size),
     .initial = "16",
     .help = "numbers per embedding if the request does not specify it"},
    {OPT("metrics_style", "metrics-style", choice, stub.metrics_style),
     .names = metrics_names, .initial = "own",
     .help = "server whose metric names are offered in addition to the stub's "
             "own"},
    {OPT("busy_poll", "busy-poll", switch, stub.awake), .old_key = "awake",
     .old_flag = "awake",
     .help = "poll instead of sleeping: no wake-up delay, but one CPU is always "
             "busy"},
    {OPT("body_size", "body-size", size, stub.body_bytes), .initial = "32",
     .help = "bytes in the body of a plain answer, at least 2"},
};
/* clang-format on */

const struct opt_block block_cost = BLOCK("cost", cost);
const struct opt_block block_server = BLOCK("server", server);
const struct opt_block block_stub = BLOCK("stub", stub);
