#include "common/settings/foreign_flags.h"

#include <string.h>

/* Notes of several flags. */
#define WHOLE_URL "the whole URL, such as http://host:8000/v1/chat/completions"
#define NO_TOKENIZER                                                           \
    "no tokenizer is needed: the server counts tokens, and --input-"           \
    "len sets the length of prompts"
#define IS_RECORDED                                                            \
    "every run is recorded; 'tailgate report DIR --format vllm-"               \
    "json' prints the keys of vLLM"
#define ALL_SHOWN                                                              \
    "every measure is recorded; 'tailgate report DIR' shows its "              \
    "percentiles"
#define BODY_MEMBER "a JSON object, such as '{\"top_p\": 0.9}'"
#define LENGTH      "a length, or 'normal MEAN DEVIATION'"
#define RAMP        "such as 'ramp 1/s 50/s over 5m'"

/* clang-format off */
const struct foreign_flag foreign_flags[] = {
    {"base-url", "vLLM bench", "url", WHOLE_URL},
    {"host", "vLLM bench", "url", WHOLE_URL},
    {"port", "vLLM bench", "url", WHOLE_URL},
    {"endpoint", "vLLM bench", "url", WHOLE_URL},
    {"backend", "vLLM bench", "api", NULL},
    {"served-model-name", "vLLM bench", "model", NULL},
    {"tokenizer", "vLLM bench", NULL, NO_TOKENIZER},
    {"tokenizer-mode", "vLLM bench", NULL, NO_TOKENIZER},
    {"skip-tokenizer-init", "vLLM bench", NULL, NO_TOKENIZER},
    {"trust-remote-code", "vLLM bench", NULL, NO_TOKENIZER},
    {"burstiness", "vLLM bench", "cv", "with --arrival gamma; cv = 1 / sqrt(burstiness)"},
    {"num-warmups", "vLLM bench", "warmup-requests", NULL},
    {"dataset-path", "vLLM bench", "data", NULL},
    {"dataset-name", "vLLM bench", "data", "its format is detected; without it prompts are random"},
    {"random-input-len", "vLLM bench", "input-len", NULL},
    {"random-output-len", "vLLM bench", "output-len", NULL},
    {"sharegpt-output-len", "vLLM bench", "output-len", NULL},
    {"random-range-ratio", "vLLM bench", "input-len", "with a distribution: --input-len 'uniform 100 400'"},
    {"random-prefix-len", "vLLM bench", "shared-prefix", NULL},
    {"percentile-metrics", "vLLM bench", NULL, ALL_SHOWN},
    {"metric-percentiles", "vLLM bench", NULL, ALL_SHOWN},
    {"save-result", "vLLM bench", NULL, IS_RECORDED},
    {"save-detailed", "vLLM bench", NULL, IS_RECORDED},
    {"append-result", "vLLM bench", NULL, IS_RECORDED},
    {"result-dir", "vLLM bench", "out", NULL},
    {"result-filename", "vLLM bench", "out", NULL},
    {"metadata", "vLLM bench", "label", NULL},
    {"disable-tqdm", "vLLM bench", "quiet", NULL},
    {"ready-check-timeout-sec", "vLLM bench", "wait-ready", NULL},
    {"top-p", "vLLM bench", "extra-body", BODY_MEMBER},
    {"top-k", "vLLM bench", "extra-body", BODY_MEMBER},
    {"min-p", "vLLM bench", "extra-body", BODY_MEMBER},
    {"logprobs", "vLLM bench", "extra-body", BODY_MEMBER},
    {"frequency-penalty", "vLLM bench", "extra-body", BODY_MEMBER},
    {"presence-penalty", "vLLM bench", "extra-body", BODY_MEMBER},
    {"repetition-penalty", "vLLM bench", "extra-body", BODY_MEMBER},
    {"lora-modules", "vLLM bench", NULL, "use classes with one model each in a settings file"},
    {"request-id-prefix", "vLLM bench", "request-id", NULL},
    {"ramp-up-strategy", "vLLM bench", "shape", RAMP},
    {"ramp-up-start-rps", "vLLM bench", "shape", RAMP},
    {"ramp-up-end-rps", "vLLM bench", "shape", RAMP},
    {"sweep-max-concurrency", "vLLM bench", NULL, "use 'tailgate sweep --concurrencies 1,2,4'"},
    {"vus", "k6", "concurrency", NULL},
    {"u", "k6", "concurrency", NULL},
    {"iterations", "k6", "requests", NULL},
    {"i", "k6", "requests", NULL},
    {"insecure-skip-tls-verify", "k6", "insecure", NULL},
    {"no-connection-reuse", "k6", "no-keepalive", NULL},
    {"no-vu-connection-reuse", "k6", "no-keepalive", NULL},
    {"summary-export", "k6", "json", NULL},
    {"summary-trend-stats", "k6", NULL, "'tailgate report DIR' shows all percentiles"},
    {"tag", "k6", "label", NULL},
    {"user-agent", "k6", "header", "-H 'User-Agent: TEXT'"},
    {"http-debug", "k6", "show", NULL},
    {"threshold", "k6", "slo", NULL},
    {"thresholds", "k6", "slo", NULL},
    {"rates", "sweep", NULL, "'tailgate sweep' makes a run at each of several rates"},
    {"latency", "wrk", NULL, "percentiles are always reported"},
    {"L", "wrk", NULL, "percentiles are always reported"},
    {"script", "wrk", NULL, "there are no scripts; use --body @FILE, or --data FILE for several prompts"},
    {"s", "wrk", NULL, "there are no scripts; use --body @FILE, or --data FILE for several prompts"},
    {"z", "hey and oha", "duration", NULL},
    {"m", "hey and h2load", "method", "or --streams for h2load"},
    {"b", "hey", "body", NULL},
    {"D", "hey, oha and h2load", "body", "@FILE; -d for the duration of h2load"},
    {"a", "hey", "header", "-H 'Authorization: ...'"},
    {"T", "hey and oha", "header", "-H 'Content-Type: ...'"},
    {"x", "hey and oha", "proxy", NULL},
    {"disable-keepalive", "hey and oha", "no-keepalive", NULL},
    {"disable-redirects", "hey and k6", NULL, "redirects are never followed"},
    {"max-redirects", "hey and k6", NULL, "redirects are never followed"},
    {"disable-compression", "hey", NULL, "no compression is requested"},
    {"latency-correction", "oha", NULL, "times always count from when a request was due"},
    {"no-tui", "oha", "quiet", NULL},
    {"max-concurrent-streams", "h2load", "streams", NULL},
    {"warm-up-time", "h2load", "warmup", NULL},
    {"h1", "h2load", NULL, "HTTP/1.1 is the default"},
    {"amount", "autocannon", "requests", NULL},
    {"pipelining", "autocannon", NULL, "HTTP/1 pipelining is not available; use --http2"},
    {"p", "autocannon", NULL, "HTTP/1 pipelining is not available; use --http2"},
    {"target", "GuideLLM", "url", WHOLE_URL},
    {"rate-type", "GuideLLM", "scenario", "or 'tailgate sweep' for several rates"},
    {"max-seconds", "GuideLLM", "duration", NULL},
    {"max-requests", "GuideLLM", "requests", NULL},
    {"output-path", "GuideLLM", "out", NULL},
    {"warmup-percent", "GuideLLM", "warmup", "a duration"},
    {"cooldown-percent", "GuideLLM", "cooldown", "a duration"},
    {"random-seed", "GuideLLM and AIPerf", "seed", NULL},
    {"processor", "GuideLLM", NULL, "no tokenizer is needed: the server counts tokens"},
    {"endpoint-type", "AIPerf", "api", NULL},
    {"custom-endpoint", "AIPerf", "url", "the whole URL"},
    {"request-count", "AIPerf", "requests", NULL},
    {"benchmark-duration", "AIPerf", "duration", NULL},
    {"measurement-interval", "AIPerf", "duration", NULL},
    {"benchmark-grace-period", "AIPerf", "drain", NULL},
    {"warmup-request-count", "AIPerf", "warmup-requests", NULL},
    {"warmup-duration", "AIPerf", "warmup", NULL},
    {"input-file", "AIPerf", "data", NULL},
    {"isl", "AIPerf", "input-len", LENGTH},
    {"synthetic-input-tokens-mean", "AIPerf", "input-len", LENGTH},
    {"synthetic-input-tokens-stddev", "AIPerf", "input-len", LENGTH},
    {"osl", "AIPerf", "output-len", LENGTH},
    {"output-tokens-mean", "AIPerf", "output-len", LENGTH},
    {"output-tokens-stddev", "AIPerf", "output-len", LENGTH},
    {"arrival-pattern", "AIPerf", "arrival", NULL},
    {"arrival-smoothness", "AIPerf", "cv", "with --arrival gamma; cv = 1 / sqrt(smoothness)"},
    {"fixed-schedule", "AIPerf", "trace", NULL},
    {"artifact-dir", "AIPerf", "out", NULL},
    {"extra-inputs", "AIPerf", "extra-body", NULL},
    {"request-timeout-seconds", "AIPerf", "timeout", NULL},
    {"wait-for-model-timeout", "AIPerf", "wait-ready", NULL},
    {"num-profile-runs", "AIPerf", "trials", NULL},
    {"streaming", "AIPerf", "stream", "on; the default where the API streams"},
    {"num-sessions", "AIPerf", NULL, "sessions arrive at --rate; use --session-turns and --requests"},
    {"conversation-num", "AIPerf", NULL, "sessions arrive at --rate; use --session-turns and --requests"},
    {"conversation-turn-mean", "AIPerf", "session-turns", NULL},
    {"ui", "AIPerf", "quiet", NULL},
    {"concurrency-range", "perf_analyzer", NULL, "use 'tailgate sweep --concurrencies 1,2..8'"},
    {"request-rate-range", "perf_analyzer", NULL, "use 'tailgate sweep --rates 10,20..100'"},
};
/* clang-format on */

const size_t n_foreign_flags = sizeof(foreign_flags) / sizeof(foreign_flags[0]);

const struct foreign_flag *foreign_flag_find(const char *name)
{
    for (size_t i = 0; i < n_foreign_flags; i++) {
        if (strcmp(foreign_flags[i].name, name) == 0)
            return &foreign_flags[i];
    }
    return NULL;
}
