/* The option table of the stub: a model server to test against. */
#include <string.h>

#include "common/settings/settings.h"
#include "common/spec/dist.h"
#include "common/spec/fault.h"
#include "common/spec/service.h"
#include "common/wire/sse.h"

#define AT(field) offsetof(struct settings, stub.field)

const char *const batching_names[] = {"none", "static", "dynamic", "continuous",
                                      NULL};
const char *const router_names[] = {"shared",      "round-robin",
                                    "random",      "least-outstanding",
                                    "two-choices", NULL};
const char *const discipline_names[] = {"fifo", "priority", NULL};
const char *const reasoning_names[] = {"reasoning_content", "reasoning",
                                       "hidden", NULL};
const char *const metrics_names[] = {"own", "vllm",   "sglang",
                                     "tgi", "triton", NULL};

static int check_eos(const char *text, struct err *err)
{
    return strcmp(text, "none") == 0 ? 0 : dist_check_counts(text, err);
}

static int check_grpc_port(const char *text, struct err *err)
{
    int port;

    return strcmp(text, "none") == 0 ? 0
                                     : opt_port.parse(&port, NULL, text, err);
}

/* clang-format off */
static const struct opt opts[] = {
    {.key = "bind", .flag = "bind", .type = &opt_text, .offset = AT(bind),
     .initial = "127.0.0.1", .help = "address to listen on"},
    {.key = "port", .flag = "port", .type = &opt_port, .offset = AT(port),
     .initial = "0", .help = "port to listen on; 0 takes a free one"},
    {.key = "grpc_port", .flag = "grpc-port", .type = &opt_text,
     .offset = AT(grpc_port), .initial = "none", .check = check_grpc_port,
     .help = "port for gRPC, beside HTTP: none, or a port; 0 takes a free one"},
    {.key = "grpc_max_message", .flag = "grpc-max-message", .type = &opt_size,
     .offset = AT(grpc_max_message), .initial = "4MiB",
     .help = "gRPC: a longer message gets RESOURCE_EXHAUSTED"},
    {.key = "grpc_max_age", .flag = "grpc-max-age", .type = &opt_duration,
     .offset = AT(grpc_max_age_ns), .initial = "0s",
     .help = "gRPC: a connection is told to go away (GOAWAY) after about this "
             "long; 0: never"},
    {.key = "tls_cert", .flag = "tls-cert", .type = &opt_text,
     .offset = AT(tls_cert), .path = OPT_PATH,
     .help = "gRPC: serve TLS with this certificate, a file ..."},
    {.key = "tls_key", .flag = "tls-key", .type = &opt_text,
     .offset = AT(tls_key), .path = OPT_PATH, .help = "gRPC: ... and its key"},
    {.key = "tls_ca", .flag = "tls-ca", .type = &opt_text,
     .offset = AT(tls_ca), .path = OPT_PATH,
     .help = "gRPC: clients need a certificate that this one has signed"},
    {.key = "model", .flag = "model", .type = &opt_text, .offset = AT(model),
     .initial = "stub", .help = "name of the model"},
    {.key = "seed", .flag = "seed", .type = &opt_seed, .offset = AT(seed),
     .initial = "1", .help = "of everything that is drawn"},

    {.key = "service", .flag = "service", .type = &opt_text,
     .offset = AT(service), .initial = "none", .check = service_check,
     .help = "service time of a batch: none, 'fixed 2ms', 'exponential 2ms', "
             "'lognormal 20ms 5ms', 'empirical 0:1ms 50:2ms 100:9ms', 'batch "
             "5ms 1ms' (base, per item), or llm"},
    {.key = "prefill", .flag = "prefill", .type = &opt_duration,
     .offset = AT(prefill_ns), .initial = "100us",
     .help = "llm: time to read a prompt token"},
    {.key = "decode", .flag = "decode", .type = &opt_duration,
     .offset = AT(decode_ns), .initial = "10ms",
     .help = "llm: time of a decode step ..."},
    {.key = "decode_item", .flag = "decode-item", .type = &opt_duration,
     .offset = AT(decode_item_ns), .initial = "200us",
     .help = "llm: ... and for each request in it"},
    {.key = "chunk", .flag = "chunk", .type = &opt_count,
     .offset = AT(chunk_tokens), .initial = "0",
     .help = "llm: prompt tokens read beside a step; 0: prefill stalls "
             "decoding"},
    {.key = "prompt_tokens", .flag = "prompt-tokens", .type = &opt_text,
     .offset = AT(prompt_tokens), .initial = "256",
     .check = dist_check_counts,
     .help = "llm: prompt length where the request has no text: 256, "
             "'lognormal 512 256'"},
    {.key = "output_tokens", .flag = "output-tokens", .type = &opt_text,
     .offset = AT(output_tokens), .initial = "64", .check = dist_check_counts,
     .help = "llm: answer length where the request has no max_tokens"},
    {.key = "kv_tokens", .flag = "kv-tokens", .type = &opt_count,
     .offset = AT(kv_tokens), .initial = "0",
     .help = "llm: KV cache of a replica, in tokens; 0: no bound"},

    {.key = "batching", .flag = "batching", .type = &opt_choice,
     .offset = AT(batching), .names = batching_names, .initial = "none",
     .help = "who joins a batch, and when"},
    {.key = "max_batch", .flag = "max-batch", .type = &opt_count,
     .offset = AT(max_batch), .initial = "8",
     .help = "largest batch of static and dynamic batching"},
    {.key = "max_delay", .flag = "max-delay", .type = &opt_duration,
     .offset = AT(max_delay_ns), .initial = "0s",
     .help = "longest that a request waits for company"},
    {.key = "preferred", .flag = "preferred", .type = &opt_list,
     .offset = AT(preferred), .splits_commas = true,
     .help = "batch sizes that dynamic batching makes at once: 4,8"},
    {.key = "max_running", .flag = "max-running", .type = &opt_count,
     .offset = AT(max_running), .initial = "32",
     .help = "requests at a time under continuous batching"},

    {.key = "replicas", .flag = "replicas", .type = &opt_count,
     .offset = AT(replicas), .initial = "1", .help = "servers, 1 to 64"},
    {.key = "router", .flag = "router", .type = &opt_choice,
     .offset = AT(router), .names = router_names, .initial = "shared",
     .help = "where requests wait: one queue for all, or one each behind a "
             "router"},
    {.key = "speed", .flag = "speed", .type = &opt_list, .offset = AT(speed),
     .splits_commas = true,
     .help = "speed of each replica: 1,1,0.5; those not named have 1"},
    {.key = "queue", .flag = "queue", .type = &opt_count,
     .offset = AT(queue_max), .initial = "0",
     .help = "most that may wait in a queue; 0: no bound"},
    {.key = "full_status", .flag = "full-status", .type = &opt_count,
     .offset = AT(full_status), .initial = "503",
     .help = "answer when the queue is full, with Retry-After"},
    {.key = "discipline", .flag = "discipline", .type = &opt_choice,
     .offset = AT(discipline), .names = discipline_names, .initial = "fifo",
     .help = "of the queue; priority: the header x-priority, low first"},

    {.key = "delay", .flag = "delay", .type = &opt_duration,
     .offset = AT(delay_ns), .initial = "0s",
     .help = "added to every answer, without a queue"},
    {.key = "stall", .flag = "stall", .type = &opt_duration,
     .offset = AT(stall_ns), .initial = "0s",
     .help = "stand still for this long ..."},
    {.key = "stall_every", .flag = "stall-every", .type = &opt_duration,
     .offset = AT(stall_every_ns), .initial = "0s",
     .help = "... once in this interval"},
    {.key = "faults", .flag = "fault", .type = &opt_list, .offset = AT(faults),
     .check = fault_check,
     .help = "'status=503 p=1%', 'reset every=100', 'truncated n=7', 'hang=2s "
             "from=10s to=12s'; repeats"},
    {.key = "cold", .flag = "cold", .type = &opt_count, .offset = AT(cold),
     .initial = "0", .help = "until so many requests are served, work is slower ..."},
    {.key = "cold_factor", .flag = "cold-factor", .type = &opt_number,
     .offset = AT(cold_factor), .initial = "10",
     .help = "... by this factor"},
    {.key = "drift", .flag = "drift", .type = &opt_share, .offset = AT(drift),
     .initial = "0", .help = "slower by this share each minute"},
    {.key = "cache", .flag = "cache", .type = &opt_switch, .offset = AT(cache),
     .help = "answer a body that was seen before at once"},
    {.key = "prefix_cache", .flag = "prefix-cache", .type = &opt_switch,
     .offset = AT(prefix_cache),
     .help = "llm: what begins as a body before it did is not read again"},
    {.key = "reasoning_tokens", .flag = "reasoning-tokens", .type = &opt_count,
     .offset = AT(reasoning_tokens), .initial = "0",
     .help = "chat: so many tokens at the start of an answer are reasoning"},
    {.key = "reasoning_as", .flag = "reasoning-as", .type = &opt_choice,
     .offset = AT(reasoning_as), .names = reasoning_names,
     .initial = "reasoning_content", .help = "chat: how that is shown"},
    {.key = "accumulate", .flag = "accumulate", .type = &opt_switch,
     .offset = AT(accumulate),
     .help = "Triton's generate_stream: each event has all the text so far"},
    {.key = "eos_tokens", .flag = "eos-tokens", .type = &opt_text,
     .offset = AT(eos_tokens), .initial = "none", .check = check_eos,
     .help = "answers end by themselves after so many tokens, unless the "
             "request has ignore_eos: none, 100, 'lognormal 100 50'"},
    {.key = "tokens_per_event", .flag = "tokens-per-event", .type = &opt_count,
     .offset = AT(tokens_per_event), .initial = "1",
     .help = "tokens in an event of a stream"},
    {.key = "events_per_write", .flag = "events-per-write", .type = &opt_count,
     .offset = AT(events_per_write), .initial = "1",
     .help = "events of a stream that are written together"},
    {.key = "sse", .flag = "sse", .type = &opt_list, .offset = AT(sse),
     .check = sse_style_check, .splits_commas = true,
     .help = "how events are written: crlf or cr, no-space, named, split; "
             "keep-alives before each: comments, empty, pings"},
    {.key = "embedding_size", .flag = "embedding-size", .type = &opt_count,
     .offset = AT(embedding_size), .initial = "16",
     .help = "numbers in an embedding, where the request does not say"},
    {.key = "metrics_style", .flag = "metrics-style", .type = &opt_choice,
     .offset = AT(metrics_style), .names = metrics_names, .initial = "own",
     .help = "whose names the metrics have beside the stub's own"},
    {.key = "awake", .flag = "awake", .type = &opt_switch, .offset = AT(awake),
     .help = "never sleep: no wake-up in the latency, but a CPU taken"},
    {.key = "body_size", .flag = "body-size", .type = &opt_size,
     .offset = AT(body_bytes), .initial = "32",
     .help = "bytes in the body of a plain answer, at least 2"},
};
/* clang-format on */

const struct opt_block block_stub = {"stub", opts,
                                     sizeof(opts) / sizeof(opts[0])};
