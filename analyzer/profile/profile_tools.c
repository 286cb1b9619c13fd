/* What other tools count, each in a table.  The rules are those of their
 * sources as of 2026; docs/profiles.md has them in words. */
#include <math.h>
#include <string.h>

#include "analyzer/profile/profile.h"
#include "common/base/clk.h"

#define SENT_NOT_DUE                                                           \
    "counted from when the client got round to it, not from when it was due; " \
    "failures left out; percentiles between neighbours"

/* ---- pieces of rules ---- */

static double between(int64_t from, int64_t to)
{
    return from == TIME_ABSENT || to == TIME_ABSENT ? NAN : (double)(to - from);
}

static int64_t or_else(int64_t time, int64_t other)
{
    return time != TIME_ABSENT ? time : other;
}

/* A duration over so many tokens; NAN below one. */
static double share(double ns, int64_t tokens)
{
    return tokens > 0 ? ns / (double)tokens : NAN;
}

static bool is_ok(const struct facts *f, const struct profile_run *run)
{
    (void)run;
    return f->outcome == OUTCOME_OK;
}

/* An answer of status 200 whose stream fails, ends early or is empty. */
static bool is_ok_by_status(const struct facts *f,
                            const struct profile_run *run)
{
    switch ((enum outcome)f->outcome) {
    case OUTCOME_OK:
    case OUTCOME_INBAND:
        return true;
    case OUTCOME_TRUNCATED:
        return f->detail == RESPONSE_NO_TERMINATOR;
    case OUTCOME_EMPTY:
        return run->is_chat;
    default:
        return false;
    }
}

static int64_t counted(const struct facts *f)
{
    return facts_count(f->output_tokens);
}

static int64_t counted_or_one(const struct facts *f)
{
    int64_t n = counted(f);

    return n == TIME_ABSENT ? 1 : n;
}

static int64_t counted_or_asked(const struct facts *f)
{
    bool has_usage = f->token_source == TOKENS_USAGE ||
                     f->token_source == TOKENS_CHUNK_USAGE;
    int64_t asked = facts_count(f->output_asked);

    return has_usage || asked == TIME_ABSENT ? counted_or_one(f) : asked;
}

static double first_content(const struct facts *f,
                            const struct profile_run *run)
{
    (void)run;
    return between(f->issued, f->first);
}

static double until_end(const struct facts *f, const struct profile_run *run)
{
    (void)run;
    return between(f->issued, f->end);
}

static double until_content(const struct facts *f,
                            const struct profile_run *run)
{
    (void)run;
    return between(f->issued, f->last);
}

static double content_per_token(const struct facts *f,
                                const struct profile_run *run)
{
    (void)run;
    return share(between(f->first, f->last), counted_or_one(f) - 1);
}

static enum profile_pause pause_none(const struct profile_run *run)
{
    (void)run;
    return PAUSE_OF_REQUEST;
}

static enum profile_pause pause_stamped(const struct profile_run *run)
{
    (void)run;
    return PAUSE_STAMPED;
}

static enum profile_pause pause_of_event(const struct profile_run *run)
{
    (void)run;
    return PAUSE_OF_EVENT;
}

/* ---- vLLM ---- */

/* Its client looks at the status 200 and for an event with `choices`, not at
 * the content type, error events, the terminator or the length. */
static bool vllm_succeeds(const struct facts *f, const struct profile_run *run)
{
    bool has_chunk = f->choices > 0 || f->events > 0;

    (void)run;
    if (f->status != 0 && f->status != 200)
        return false;
    switch ((enum outcome)f->outcome) {
    case OUTCOME_OK:
        return true;
    case OUTCOME_INBAND:
    case OUTCOME_EMPTY:
        return has_chunk;
    case OUTCOME_TRUNCATED:
        return has_chunk && f->detail == RESPONSE_NO_TERMINATOR;
    case OUTCOME_MALFORMED:
        return has_chunk && (f->detail == RESPONSE_NOT_A_STREAM ||
                             f->detail == RESPONSE_WRONG_LENGTH);
    default:
        return false;
    }
}

/* Older recordings have the first event, whatever it carries. */
static double vllm_ttft(const struct facts *f, const struct profile_run *run)
{
    (void)run;
    return between(f->issued,
                   or_else(f->choices_first, or_else(f->opened, f->first)));
}

static double vllm_e2e(const struct facts *f, const struct profile_run *run)
{
    (void)run;
    return between(f->issued, or_else(f->choices_last, f->last));
}

static double vllm_tpot(const struct facts *f, const struct profile_run *run)
{
    return share(vllm_e2e(f, run) - vllm_ttft(f, run), counted_or_one(f) - 1);
}

static const struct profile_ops vllm = {
    .name = "vllm",
    .start = "just before the request is handed to the HTTP client",
    .percentile = PERCENTILE_LINEAR,
    .span = SPAN_ALL_ENDED,
    .has_goodput = true,
    .lacking_is_kept = true,
    .tpot_limit = PROFILE_TPOT,
    .counts_silent = true,
    .succeeds = vllm_succeeds,
    .value = {vllm_ttft, NULL, vllm_tpot, vllm_e2e},
    .pause = pause_of_event,
    .tokens = counted_or_one,
    .why = {SENT_NOT_DUE "; an event without content, such as a chat's role, "
                         "is a first token",
            "a value for each event, however many tokens it has",
            "(e2e - ttft) / (tokens - 1): what comes with the first event "
            "counts as one token; failures left out",
            SENT_NOT_DUE "; until the last event with choices, which may have "
                         "no content"},
    .why_rate = {"the time until the last answer is divided by too; a stream "
                 "that fails after its first event is a success",
                 "as requests/s, tokens by the server's usage",
                 "without tpot its limit is kept; latencies from when it was "
                 "sent; the time until the last answer is divided by too"},
    .note = "a Python client adds about 1 ms to each ttft; pauses around an "
            "event without content between two with content are counted as "
            "one pause and one of 0; where the server counts no tokens that "
            "tool uses its own tokenizer, and this the recording's count",
};

/* ---- SGLang ---- */

static double sglang_tpot(const struct facts *f, const struct profile_run *run)
{
    return share(until_end(f, run) - first_content(f, run),
                 counted_or_asked(f) - 1);
}

static enum profile_pause sglang_pause(const struct profile_run *run)
{
    return run->is_sglang ? PAUSE_OF_TOKEN : PAUSE_OF_EVENT;
}

static const struct profile_ops sglang = {
    .name = "sglang",
    .start = "after its limit of concurrency, on a new connection each time",
    .percentile = PERCENTILE_LINEAR,
    .span = SPAN_ALL_ENDED,
    .succeeds = is_ok_by_status,
    .value = {first_content, NULL, sglang_tpot, until_end},
    .pause = sglang_pause,
    .tokens = counted_or_asked,
    .why = {SENT_NOT_DUE,
            "of its own API as ours; of OpenAI's a value for each event",
            "(e2e - ttft) / (tokens - 1), until the terminator; failures left "
            "out",
            SENT_NOT_DUE "; until the terminator"},
    .why_rate = {"the time until the last answer is divided by too; a stream "
                 "that fails after its status is a success",
                 "where the server counts no tokens, as many as were asked "
                 "for",
                 NULL},
    .note = "that tool opens a connection for every request; the recording's "
            "were kept unless it says otherwise",
};

/* ---- AIPerf ---- */

static double aiperf_itl(const struct facts *f, const struct profile_run *run)
{
    return share(until_content(f, run) - first_content(f, run),
                 counted_or_one(f) - 1);
}

static const struct profile_ops aiperf = {
    .name = "aiperf",
    .start = "before the request, on the worker that has its credit",
    .percentile = PERCENTILE_LINEAR,
    .span = SPAN_CONTENT,
    .has_goodput = true,
    .tpot_limit = PROFILE_ITL,
    .succeeds = is_ok,
    .value = {first_content, aiperf_itl, NULL, until_content},
    .pause = pause_none,
    .tokens = counted_or_one,
    .why = {SENT_NOT_DUE,
            "a value for each request, (e2e - ttft) / (tokens - 1): what "
            "others call tpot",
            NULL, SENT_NOT_DUE},
    .why_rate = {"from the first start to the last content of the successes",
                 "as requests/s; tokens by a tokenizer of its own unless told "
                 "otherwise, here by the recording's count",
                 "what has no inter-token latency is not good; from the first "
                 "start to the last content"},
};

/* ---- GuideLLM ---- */

static double guidellm_tpot(const struct facts *f,
                            const struct profile_run *run)
{
    return share(until_content(f, run), counted_or_one(f));
}

static const struct profile_ops guidellm = {
    .name = "guidellm",
    .start = "when it is sent, by the wall clock",
    .percentile = PERCENTILE_NEAREST,
    .span = SPAN_WINDOW,
    .has_goodput = true,
    .tpot_limit = PROFILE_ITL,
    .succeeds = is_ok,
    .value = {first_content, content_per_token, guidellm_tpot, until_end},
    .pause = pause_none,
    .tokens = counted_or_one,
    .why = {"counted from when it was sent; failures left out",
            "a value for each request, (last - first) / (tokens - 1): no "
            "distribution of pauses",
            "(last - start) / tokens: the first token's time is in it",
            "counted from when it was sent, until the stream is closed; "
            "failures left out"},
    .why_rate = {"the mean of a rate over the window; here what ended in it, "
                 "over its length",
                 "as requests/s; all tokens of a request when it ends",
                 "latencies from when it was sent; a limit on tpot is held "
                 "against itl; what cannot be judged is left out"},
};

/* ---- inference-perf ---- */

/* One time of arrival is not enough for it. */
static double inference_perf_ttft(const struct facts *f,
                                  const struct profile_run *run)
{
    return counted_or_one(f) > 1 ? first_content(f, run) : NAN;
}

static const struct profile_ops inference_perf = {
    .name = "inference-perf",
    .start = "when it is sent",
    .percentile = PERCENTILE_LINEAR,
    .span = SPAN_REQUESTS,
    .has_goodput = true,
    .tpot_limit = PROFILE_TPOT,
    .succeeds = is_ok,
    .value = {inference_perf_ttft, NULL, content_per_token, until_end},
    .pause = pause_stamped,
    .tokens = counted_or_one,
    .why = {SENT_NOT_DUE "; an answer of one token has none",
            "the tokens of an event arrive together: all but one of its "
            "pauses are 0",
            "(last - first) / (tokens - 1): what comes with the first event "
            "counts as one token; failures left out",
            SENT_NOT_DUE "; until the answer is processed"},
    .why_rate = {"from the first start to the last end of all requests",
                 "as requests/s; tokens by a tokenizer of its own unless told "
                 "otherwise, here by the recording's count",
                 "what has no ttft is not good; from the first start to the "
                 "last end of the successes"},
    .note = "that tool does not see reasoning: where a model thinks aloud, its "
            "first token is later than here",
};

/* ---- MLPerf LoadGen ---- */

static double mlperf_ttft(const struct facts *f, const struct profile_run *run)
{
    (void)run;
    return between(f->due, f->first);
}

static double mlperf_e2e(const struct facts *f, const struct profile_run *run)
{
    (void)run;
    return between(f->due, f->end);
}

static double mlperf_tpot(const struct facts *f, const struct profile_run *run)
{
    return share(mlperf_e2e(f, run) - mlperf_ttft(f, run),
                 counted_or_one(f) - 1);
}

static const struct profile_ops mlperf = {
    .name = "mlperf",
    .start = "when it was scheduled",
    .percentile = PERCENTILE_LOADGEN,
    .span = SPAN_LAST_ISSUED,
    .succeeds = is_ok,
    .value = {mlperf_ttft, NULL, mlperf_tpot, mlperf_e2e},
    .tokens = counted_or_one,
    .why = {"a request that fails is waited for without end; here it is left "
            "out",
            NULL, "(e2e - ttft) / (tokens - 1), until the answer is complete",
            "until the answer is complete; failures left out"},
    .why_rate = {"one request less, over the time until the one that was due "
                 "last has ended: a straggler before it does not count; of an "
                 "offline set all requests, until the last end",
                 "as requests/s", NULL},
    .note = "its early stopping estimate is in the report itself (MLPerf)",
};

/* ---- all of them ---- */

static const struct profile_ops *const tools[] = {
    &vllm, &sglang, &aiperf, &guidellm, &inference_perf, &mlperf,
};

const char *const profile_names[] = {
    "vllm", "sglang", "aiperf", "guidellm", "inference-perf", "mlperf", NULL,
};

const struct profile_ops *profile_find(const char *name)
{
    for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++) {
        if (strcmp(tools[i]->name, name) == 0)
            return tools[i];
    }
    return NULL;
}
