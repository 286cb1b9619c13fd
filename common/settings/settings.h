/* settings.h - everything that can be set for a run, in one struct.
 *
 * An option table per block has for each key its flag, default, constraints and
 * help; the settings file, the command line, --set, the manifest and the help
 * all use it.  An unknown key is an error with its line.
 */
#ifndef COMMON_SETTINGS_SETTINGS_H
#define COMMON_SETTINGS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/buf.h"
#include "common/base/hash.h"
#include "common/base/str.h"
#include "common/settings/classes.h"
#include "common/settings/option.h"

struct err;
struct json_t;

enum scenario {
    SCENARIO_AUTO,
    SCENARIO_SERVER,        /* open loop */
    SCENARIO_CLOSED,        /* N clients in turn */
    SCENARIO_SINGLE_STREAM, /* one request at a time */
    SCENARIO_MULTI_STREAM,  /* one query of several requests at a time */
    SCENARIO_OFFLINE,       /* everything is due at the start */
    SCENARIO_TRACE,         /* open loop, as a file says */
    SCENARIO_SESSIONS,      /* conversations arrive; their turns wait */
};

/* Is the schedule independent of the server's answers? */
static inline bool scenario_is_open(int scenario)
{
    return scenario == SCENARIO_SERVER || scenario == SCENARIO_TRACE;
}

/* Do requests, or sessions of them, arrive at a rate? */
static inline bool scenario_has_rate(int scenario)
{
    return scenario == SCENARIO_SERVER || scenario == SCENARIO_SESSIONS;
}

/* Do requests start by a schedule?  Sessions do, but not their later turns. */
static inline bool scenario_has_schedule(int scenario)
{
    return scenario_is_open(scenario) || scenario_has_rate(scenario);
}

/* When a run ends. */
enum stop_choice { STOP_END, STOP_DECIDED };

/* Whose algorithm draws the schedule. */
enum seeds { SEEDS_OWN, SEEDS_MLPERF };

enum transport_choice { TRANSPORT_AUTO, TRANSPORT_NATIVE, TRANSPORT_CURL };
enum stream_choice { STREAM_AUTO, STREAM_ON, STREAM_OFF };
enum stub_tls { STUB_TLS_BY_FILES, STUB_TLS_SELF_SIGNED };
enum resume_choice { RESUME_ON, RESUME_OFF };
enum prompt_choice { PROMPT_AUTO, PROMPT_TEXT, PROMPT_IDS };
enum arrival {
    ARRIVAL_POISSON,
    ARRIVAL_CONSTANT,
    ARRIVAL_GAMMA,
    ARRIVAL_COUNT,
};

struct target_settings {
    struct strlist urls; /* requests take turns among them */
    char *method;        /* NULL: GET, or POST if there is a body */
    struct strmap headers;
    char *body; /* text, or @file */
    int api;    /* enum api_kind */
    char *model;
    char *model_version; /* NULL: the server chooses */
    int stream;          /* enum stream_choice */
    bool ignore_eos;     /* answers must have the requested length */
    char *temperature;   /* a number, as text; NULL: the server's */
    bool chunk_usage;    /* request the token count in each event */
    char *success;       /* common/wire/status.h; NULL: below 400, or 2xx */
    char *extra_body;    /* JSON object, or @file: members to add to the body */
    int64_t timeout_ns;
    int64_t connect_timeout_ns;
    bool no_keepalive;    /* a new connection per request */
    int64_t max_response; /* bytes */
    int transport;        /* enum transport_choice */
    bool http2;
    int64_t streams; /* of HTTP/2, per connection; 0: the server's limit */
    bool insecure;   /* TLS without verification */
    int tls_resume;  /* enum resume_choice */
    char *ca_file;
    char *cert; /* of the client, with its key */
    char *key;
    char *proxy;       /* URL; NULL: none; the environment is ignored */
    char *unix_socket; /* path to connect to instead of the host */
    char *connect_to;  /* host:port to connect to instead of the URL's */
    char *auth_env;    /* environment variable with the API key, ... */
    char *auth_file;   /* ... or file */
    bool no_preflight; /* send no request before the run */
    bool request_id;
    char *metrics; /* auto, off, or the URL of the server's own metrics */
};

/* DATA_AUTO: by the file's first bytes and its name. */
enum data_format_choice {
    DATA_AUTO,
    DATA_JSONL,
    DATA_CSV,
    DATA_TEXT,
    DATA_SHAREGPT,
    DATA_TENSORS,
};

enum data_select { SELECT_PERMUTATION, SELECT_REPLACEMENT, SELECT_ORDER };
enum data_turns { TURNS_FIRST, TURNS_ALL, TURNS_SESSION };

/* Whose answers the later turns of a session contain. */
enum data_history { HISTORY_SERVER, HISTORY_RECORDED };

enum unique_choice { UNIQUE_AUTO, UNIQUE_TRUE, UNIQUE_FALSE };

struct dataset;

/* Content of requests. */
struct data_settings {
    char *file;              /* of samples; NULL: prompts are generated */
    int format;              /* enum data_format_choice */
    char *prompt;            /* name of the field; NULL: its usual names */
    char *output;            /* the same, with the tokens to generate */
    char *label;             /* the same, with the correct answer */
    int turns;               /* enum data_turns, of conversations */
    int history;             /* enum data_history, of sessions */
    int select;              /* enum data_select */
    int64_t limit;           /* samples to use; 0: all */
    int unique;              /* enum unique_choice */
    bool repeats;            /* the flag for UNIQUE_FALSE */
    int64_t shared_prefix;   /* tokens at the start of every prompt */
    double cache_hit_rate;   /* share of prompts that were sent before */
    char *input_tokens;      /* a distribution of counts */
    char *output_tokens;     /* the same */
    char *documents;         /* the same, for rerank */
    double reference_output; /* expected mean of answers; 0: not given */
    double output_tolerance; /* accepted difference, as a share of it */
    int prompts;             /* enum prompt_choice */
    struct strlist tensors;  /* name, type and shape of each input */
    bool binary;             /* HTTP: send them as raw bytes */
    bool typed;              /* gRPC: send them as typed lists */
    int64_t first_id;        /* token ids to draw from */
    int64_t last_id;
    uint64_t nonce;   /* of this run, so that no cache has its prompts */
    bool accuracy;    /* each sample once, answers are saved */
    bool cache_check; /* half of the requests carry the same prompt */

    /* Not options, all borrowed: the samples, once the file was read (NULL: not
     * yet), and the workload in which this is class number `class` (NULL: the
     * run has no classes). */
    const struct dataset *loaded;
    const struct classes *workload;
    size_t class;
};

/* TRACE_AUTO: by the first line of the file. */
enum trace_format_choice {
    TRACE_AUTO,
    TRACE_AZURE,
    TRACE_BURSTGPT,
    TRACE_MOONCAKE,
    TRACE_BAILIAN,
    TRACE_CSV,
    TRACE_JSONL,
};

enum time_unit { UNIT_S, UNIT_MS, UNIT_US, UNIT_NS };

struct timeline;

/* A trace to replay. */
struct trace_settings {
    char *file;        /* NULL: none */
    int format;        /* enum trace_format_choice */
    double time_scale; /* how many times as fast */
    int64_t from_ns;   /* after its first row */
    int64_t to_ns;     /* the same; 0: to its end */
    int64_t spread_ns; /* trace time over which equal times are spread */
    bool strict;       /* a damaged line ends the run */

    /* CSV and JSONL only. */
    char *time; /* name of the column; NULL: its usual name */
    char *input;
    char *output;
    char *blocks;
    int unit;             /* enum time_unit, of times that are numbers */
    int64_t block_tokens; /* of a prompt that one block id stands for */

    /* Not options: found when the file was read. */
    double peak_rps;
    int64_t rows;                    /* that are replayed; 0: unknown */
    const struct timeline *timeline; /* when they are due; borrowed, or NULL */
};

struct load_settings {
    int scenario;           /* enum scenario */
    bool is_scenario_found; /* not an option: it was auto, and is resolved */
    int arrival;            /* enum arrival */
    double rate_rps;        /* 0: not given */
    struct strlist
        stages;  /* common/spec/load_shape.h; instead of rate and duration */
    char *shape; /* common/spec/load_shape.h, which becomes stages */
    char *
        rate_table; /* common/spec/load_shape.h; a file, which becomes stages */
    double table_speed;  /* how many times as fast */
    double cv;           /* of gamma gaps */
    int64_t burst_on_ns; /* 0: no bursts */
    int64_t burst_off_ns;
    bool exact;          /* exactly the expected number of arrivals */
    int64_t duration_ns; /* 0: not given */
    int64_t warmup_ns;
    int64_t warmup_requests; /* instead of warmup_ns: number of requests */
    int64_t cooldown_ns; /* the load continues this long after the window; or
                            OPT_AUTO: load_cooldown_ns() */
    int64_t requests;    /* 0: as many as the duration gives */
    int64_t min_duration_ns; /* the run continues until both are reached; */
    int64_t min_requests;    /* 0: not given */
    int stop;                /* enum stop_choice */
    int64_t max_duration_ns; /* of the window in any case; 0: none */
    int64_t clients;         /* of a closed loop */
    int64_t concurrency;     /* the flag for clients, or max_in_flight */
    int64_t query_size;      /* requests of a query of the multi-stream */
    char *think;             /* a client's time from answer to request; NULL */
    char *turns;             /* of a session, a distribution of counts; NULL */
    int64_t drain_ns;        /* wait for requests in flight; or OPT_AUTO */
    uint64_t seed;
    int seeds;                  /* enum seeds */
    uint64_t schedule_seed;     /* of LoadGen's schedule */
    uint64_t qsl_seed;          /* of its set of samples */
    uint64_t sample_index_seed; /* of the choice of samples */
    char *abort_on;             /* common/spec/abort_rule.h; NULL: never */
    struct trace_settings trace;
};

/* A run that stops as soon as it is decided may take this many times its
 * duration. */
#define STOP_DECIDED_LONGEST 3

/* The longest time that the window can take; 0: unlimited.  Stages and traces
 * have their own length. */
static inline int64_t load_longest_ns(const struct load_settings *load)
{
    bool may_go_on = load->stop == STOP_DECIDED && load->stages.len == 0 &&
                     load->scenario == SCENARIO_SERVER && !load->exact;
    int64_t asked_ns =
        (may_go_on ? STOP_DECIDED_LONGEST : 1) * load->duration_ns;
    int64_t most_ns = load->max_duration_ns;

    return most_ns > 0 && (asked_ns == 0 || asked_ns > most_ns) ? most_ns
                                                                : asked_ns;
}

/* The longest time for which the load continues after the window; 0: it does
 * not.  OPT_AUTO: half of the window, or the drain time if that is shorter,
 * where time alone ends the window and the schedule goes on after it.  An
 * automatic cool-down ends earlier if it can
 * (loadgen/schedule/window_limits.h).
 */
int64_t load_cooldown_ns(const struct load_settings *load);

struct client_settings {
    int64_t connections;   /* maximum; OPT_AUTO: as many as needed */
    int64_t max_in_flight; /* requests; or OPT_AUTO until the run starts */
    int64_t max_burst;     /* requests sent at once after a suspension */
    int64_t channels;      /* gRPC, per address; OPT_AUTO: one per thread */
    int64_t preconnect;    /* connections to open before the run */
    int64_t threads;       /* OPT_AUTO until the run starts */
    char *shard;           /* this machine's share, such as 2/8; NULL: all */
    int64_t probe_shard;   /* the last shard sends one request in this many; 0:
                              as many as the others */
    char *cpus;            /* list such as 0,2-3 to pin them to; NULL: none */
    int64_t spin_ns;       /* poll instead of sleeping around a send */
    int64_t memory; /* bytes of all responses; OPT_AUTO until the run starts */
};

/* Where the stub puts the reasoning of a model. */
enum reasoning {
    REASONING_CONTENT, /* in delta.reasoning_content */
    REASONING_PLAIN,   /* in delta.reasoning */
    REASONING_HIDDEN,  /* not at all */
};

/* Whose metric names the stub offers in addition to its own. */
enum metrics_style {
    METRICS_OWN,
    METRICS_VLLM,
    METRICS_SGLANG,
    METRICS_TGI,
    METRICS_TRITON,
};

#define STUB_MAX_EMBEDDING 8192

struct stub_settings {
    char *bind;
    int port;
    char *grpc_port; /* "none", or a port */
    int64_t grpc_max_message;
    int64_t grpc_max_age_ns; /* 0: connections stay */
    int tls;                 /* enum stub_tls */
    char *tls_cert;          /* NULL: none */
    char *tls_key;
    char *tls_ca; /* NULL: clients need no certificate */
    char *model;
    uint64_t seed;

    char *service; /* common/spec/dist.h */
    int64_t prefill_ns;
    int64_t decode_ns;
    int64_t decode_item_ns;
    int64_t chunk_tokens;
    char *prompt_tokens; /* a distribution of counts */
    char *output_tokens; /* the same */
    int64_t kv_tokens;

    int batching; /* index into batching_names */
    int64_t max_batch;
    int64_t max_delay_ns;
    struct strlist preferred;
    int64_t max_running;

    int64_t replicas;
    int router; /* index into router_names; 0: one shared queue */
    struct strlist speed;
    int64_t queue_max;
    int64_t full_status;
    int discipline; /* index into discipline_names */

    int64_t delay_ns;
    int64_t stall_ns;
    int64_t stall_every_ns;
    struct strlist faults; /* common/spec/fault.h */
    int64_t cold;
    double cold_factor;
    double drift;
    bool cache;
    bool prefix_cache;
    int64_t reasoning_tokens;
    int reasoning_as; /* enum reasoning */
    bool accumulate;
    char *eos_tokens; /* a distribution of counts, or "none" */
    int64_t tokens_per_event;
    int64_t events_per_write;
    struct strlist sse; /* common/wire/sse.h */
    int64_t embedding_size;
    int metrics_style; /* enum metrics_style */
    bool awake;
    int64_t body_bytes;
};

#define STUDY_MAX_TRIALS 1000

/* Many runs. */
struct study_settings {
    int64_t trials;
    int64_t max_discarded; /* runs that are made again because they cannot be
                              trusted; OPT_AUTO: as many as were planned, at
                              least two */
    char *until;           /* "e2e p99 +- 5%": go on until then; NULL: none */
    int64_t settle_ns;     /* between two of them */
    char *restart; /* shell command; NULL: the server is not restarted */
    double smallest_difference; /* between variants, worth mentioning; share */
};

/* What a search or a sweep varies; a sweep can vary other settings, too. */
enum vary_choice { VARY_RATE, VARY_CONCURRENCY };

/* The search for the largest load that meets the SLO.  It chooses times of 0.
 */
struct search_settings {
    int by;             /* enum vary_choice */
    double start;       /* a guess; 0: none */
    double least;       /* smallest load to probe (search.min); 0: any */
    double most;        /* largest load to probe (search.max); 0: any */
    double tolerance;   /* of the interval, to either side */
    int64_t probe_ns;   /* window of a probe near the boundary */
    int64_t confirm_ns; /* window of the confirmation */
    bool no_confirm;    /* the estimate is the answer */
    int64_t budget_ns;  /* of the whole search; 0: unlimited */
};

enum sweep_order { ORDER_RANDOM, ORDER_GIVEN };

/* One run at each of several values. */
struct sweep_settings {
    char *rates;         /* common/text/units.h; one of the three is given */
    char *concurrencies; /* the same */
    char *vary;          /* KEY=VALUES */
    int64_t repeats;
    int order; /* enum sweep_order */
};

/* A server that is started for each run. */
struct server_settings {
    char *start;      /* shell command; NULL: the server is not started */
    char *ready;      /* URL or shell command; NULL: the target's URL */
    int64_t ready_ns; /* time limit for that */
    char *stop;       /* shell command; NULL: only signals are sent */
    int64_t grace_ns;
};

/* What the server costs. */
struct cost_settings {
    double usd_per_hour; /* per replica; 0: unknown */
    int64_t replicas;
    double usd_per_gb_egress; /* per 1e9 bytes that the server sends */
    double usd_per_gb_month;  /* per 1e9 bytes that are stored for a month */
    double storage_gb;        /* stored for all replicas together */
    char *prices;             /* file; NULL: none, or the price was looked up */
    char *machine;            /* NULL: the condition `hardware` */
    char *memory_of;          /* process whose memory is measured; NULL: none */
    char *energy;             /* how energy is measured; NULL: it is not */
    double co2_g_per_kwh;     /* 0: unknown */
};

struct settings {
    char *name;
    struct target_settings target;
    struct load_settings load;
    struct data_settings data;
    struct strlist slo;
    int require;           /* enum slo_require */
    struct strlist checks; /* common/spec/answer_check.h */
    struct client_settings client;
    struct strmap conditions;
    struct study_settings study;
    struct search_settings search;
    struct sweep_settings sweep;
    struct cost_settings cost;
    struct server_settings server;
    struct stub_settings stub;
    bool has_stub; /* a stub is started for the run */
    struct classes classes;
    struct classes warmup;   /* at most one: the data of the warm-up */
    struct classes variants; /* of a study: what each overrides */
    struct strlist varied;   /* of a variant: the keys that it overrides */

    /* The files that were read to resolve the settings, by their path: a study
     * resolves them again and again, and must not read another table in the
     * middle.  Borrowed; NULL: they are read each time. */
    struct strmap *texts;
};

enum settings_block {
    BLOCK_TOP,
    BLOCK_TARGET,
    BLOCK_LOAD,
    BLOCK_TRACE,
    BLOCK_DATA,
    BLOCK_CLIENT,
    BLOCK_STUDY,
    BLOCK_SEARCH,
    BLOCK_SWEEP,
    BLOCK_COST,
    BLOCK_SERVER,
    BLOCK_STUB,
    BLOCK_COUNT,
};

extern const struct opt_block block_top;
extern const struct opt_block block_target;
extern const struct opt_block block_load;
extern const struct opt_block block_trace;
extern const struct opt_block block_data;
extern const struct opt_block block_client;
extern const struct opt_block block_study;
extern const struct opt_block block_search;
extern const struct opt_block block_sweep;
extern const struct opt_block block_cost;
extern const struct opt_block block_server;
extern const struct opt_block block_stub;

/* The same, by enum settings_block. */
extern const struct opt_block *const settings_blocks[BLOCK_COUNT];

/* Names of the choices above and of those of a stub; NULL-terminated. */
extern const char *const transport_names[];
extern const char *const stream_names[];
extern const char *const prompt_names[];
extern const char *const data_format_names[];
extern const char *const data_select_names[];
extern const char *const scenario_names[];
extern const char *const arrival_names[];
extern const char *const trace_format_names[];
extern const char *const batching_names[];
extern const char *const router_names[];
extern const char *const discipline_names[];
extern const char *const reasoning_names[];
extern const char *const metrics_names[];

/* Every option has its default. */
void settings_init(struct settings *s);
void settings_fini(struct settings *s);

/* Overwrite the options of `s` with those of `from`.  Classes, and fields that
 * are not options, are left as they are. */
void settings_copy(struct settings *s, const struct settings *from);

/* Initialise `s` as a deep copy: classes, warm-up and variants too.  What only
 * a run finds out (data set, timeline of a trace) is not copied.  The copy must
 * not be moved in memory once it has classes. */
void settings_clone(struct settings *s, const struct settings *from);

struct opt_set settings_set(struct settings *s, enum settings_block block);

/* A settings file, read once: later messages take their line numbers from this
 * text, and the manifest names its hash. */
struct settings_file {
    char *path; /* owned; NULL: none */
    struct buf text;
    char sha256[SHA256_TEXT]; /* "": it was not read, or is a recording */
    struct strmap given;      /* key -> "--rate", or the key itself for --set:
                                 what the command line set over the file */
};

/* ERR_CONFIG, ERR_IO.  settings_file_fini() in any case. */
int settings_file_read(struct settings_file *file, const char *path,
                       struct err *err);
void settings_file_fini(struct settings_file *file);

/* Overwrite the settings that the file contains.  ERR_CONFIG "file:line: ...".
 */
int settings_load_file(struct settings *s, const struct settings_file *file,
                       struct err *err);

/* Read a file and do the same. */
int settings_load(struct settings *s, const char *path, struct err *err);

/* The option of a full key of `len` bytes, "load.rate" or "slo"; *block is its
 * block.  NULL if there is no such option; *block is BLOCK_COUNT if the block
 * does not exist either. */
const struct opt *settings_find(const char *name, size_t len,
                                enum settings_block *block);

/* "load.rate=80". */
int settings_assign(struct settings *s, const char *assignment,
                    struct err *err);

/* Fill in what follows from the rest, and refuse contradictions and what cannot
 * be run.  After this the settings are "as used".  ERR_CONFIG. */
int settings_resolve(struct settings *s, struct err *err);

/* The text of a file that the settings name, owned by the caller: as it was
 * when it was read first, if `texts` is set.  As file_read_text(). */
int settings_read_text(const struct settings *s, const char *path, size_t max,
                       char **text, struct err *err);

/* Before that: take the price of the machine from the price file. */
int settings_look_up_price(struct settings *s, struct err *err);

/* The key of `load` that gives the rate, for messages; static. */
const char *settings_rate_key(const struct load_settings *load);

/* The part of it that checks a server that is started for the run. */
int settings_check_server(const struct settings *s, struct err *err);

/* The part of it that checks the constraints of the option tables; the scenario
 * is resolved.  ERR_CONFIG "load.cv requires load.arrival: gamma". */
int settings_check_rules(const struct settings *s, struct err *err);

/* Called with "load.cv" (or "load.stop: decided") and "requires ...". */
typedef void settings_unmet_fn(void *arg, const char *subject,
                               const char *unmet);

/* Call `found` for each option that is given and has an unmet constraint: those
 * that are errors, or those that have no effect (`is_lenient`). */
void settings_each_unmet(const struct settings *s, bool is_lenient,
                         settings_unmet_fn *found, void *arg);

/* Replace {port} in every URL by the port of the started server; and the port
 * in the settings of a recording by {port} again. */
void settings_put_port(struct settings *s, int port);
void settings_forget_port(struct settings *s, int port);

/* The line of a key in a settings file ("load.rate", or for a class "classes:
 * chat: data.file"), or of its block; with `item`, of that item of the key's
 * list.  0 if the file has none of them. */
size_t settings_line_of(const struct settings_file *file, const char *key,
                        const char *item);

/* The same of the key only, not of its block. */
size_t settings_line_of_key(const struct settings_file *file, const char *key);

/* Rewrite a message: a key that a flag has set becomes the flag, and so does a
 * key that was not given if the message is about a flag.  True: the message
 * begins with a flag. */
bool settings_name_as_given(const struct settings_file *file, char *msg,
                            size_t size);

/* Name the settings in an error as they were given, and put the file, and the
 * line if the file has the key, before an error that begins with the key of a
 * setting ("load.rate: ...", "load.cv requires ..."). Other errors are left as
 * they are.  Returns -1. */
int settings_blame(const struct settings_file *file, struct err *err);

/* As used, with secrets redacted; the caller owns the reference. */
struct json_t *settings_to_json(const struct settings *s);

/* The same with secrets: for another process of this run, not to be kept. */
struct json_t *settings_to_json_with_secrets(const struct settings *s);

/* One block of it; the caller owns the reference. */
struct json_t *settings_block_to_json(const struct settings *s,
                                      enum settings_block block);

/* One block as the text of a settings file (JSON, which is YAML too). */
void settings_print_block(const struct settings *s, enum settings_block block,
                          struct buf *out);

/* Read them; keys of another version are ignored.  ERR_FORMAT. */
int settings_from_json(struct settings *s, const struct json_t *json,
                       struct err *err);

/* The same for one block; `json` can be NULL. */
int settings_block_from_json(struct settings *s, enum settings_block block,
                             const struct json_t *json, struct err *err);

/* The first URL of the target; "" if there is none. */
const char *settings_url(const struct settings *s);

/* Does the target use TLS? */
bool settings_uses_tls(const struct settings *s);

/* A path without characters that control a terminal. */
void settings_describe_path(const char *path, struct buf *out);

/* One line: "open loop, poisson 50/s, window 10s, seed 1". */
void settings_describe_load(const struct load_settings *load, struct buf *out);

/* What prompts have in common: ", 30% start with an earlier prompt"; nothing if
 * they have nothing in common. */
void settings_describe_reuse(const struct data_settings *d, struct buf *out);

#endif
