/* What other tools count, each in a table.  The rules are those of their
 * sources as of 2026; docs/profiles.md has them in words. */
#include <math.h>
#include <string.h>

#include "analyzer/profile/profile.h"
#include "common/base/clk.h"

#define SENT_NOT_DUE                                                           \
    "counted from the start of sending, not from the due time; failures are "  \
    "ignored; percentiles are interpolated"

/* ---- pieces of rules ---- */

static double between(int64_t from, int64_t to)
{
    return from == TIME_ABSENT || to == TIME_ABSENT ? NAN : (double)(to - from);
}

static int64_t or_else(int64_t time, int64_t other)
{
    return time != TIME_ABSENT ? time : other;
}

/* A duration divided by a number of tokens; NAN if that is below 1. */
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
                         "counts as the first token",
            "one value per event, regardless of its number of tokens",
            "(e2e - ttft) / (tokens - 1): the first event counts as one token; "
            "failures are ignored",
            SENT_NOT_DUE "; ends with the last event with choices, which may "
                         "have no content"},
    .why_rate = {"divided by the time until the last answer; a stream that "
                 "fails after its first event counts as a success",
                 "as requests/s; tokens are the server's usage",
                 "a request without tpot meets the limit of tpot; latencies "
                 "are counted from sending; divided by the time until the last "
                 "answer"},
    .note = "a Python client adds about 1 ms to each ttft; if an event without "
            "content is between two with content, the two pauses are counted "
            "as one pause and one of 0; if the server reports no token counts, "
            "that tool uses its own tokenizer, and this report the recording's "
            "counts",
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
    .start = "when its concurrency limit admits the request, on a new "
             "connection each time",
    .percentile = PERCENTILE_LINEAR,
    .span = SPAN_ALL_ENDED,
    .succeeds = is_ok_by_status,
    .value = {first_content, NULL, sglang_tpot, until_end},
    .pause = sglang_pause,
    .tokens = counted_or_asked,
    .why = {SENT_NOT_DUE,
            "SGLang's own API: as ours; OpenAI's: one value per event",
            "(e2e - ttft) / (tokens - 1), until the terminator; failures are "
            "ignored",
            SENT_NOT_DUE "; ends with the terminator"},
    .why_rate = {"divided by the time until the last answer; a stream that "
                 "fails after its status counts as a success",
                 "if the server reports no token counts, the requested number "
                 "is used",
                 NULL},
    .note = "that tool opens a connection for every request; the recorded run "
            "reused connections, unless it used --no-keepalive",
};

/* ---- AIPerf ---- */

static double aiperf_itl(const struct facts *f, const struct profile_run *run)
{
    return share(until_content(f, run) - first_content(f, run),
                 counted_or_one(f) - 1);
}

static const struct profile_ops aiperf = {
    .name = "aiperf",
    .start = "just before the worker sends the request",
    .percentile = PERCENTILE_LINEAR,
    .span = SPAN_CONTENT,
    .has_goodput = true,
    .tpot_limit = PROFILE_ITL,
    .succeeds = is_ok,
    .value = {first_content, aiperf_itl, NULL, until_content},
    .pause = pause_none,
    .tokens = counted_or_one,
    .why = {SENT_NOT_DUE,
            "one value per request, (e2e - ttft) / (tokens - 1), which other "
            "tools call tpot",
            NULL, SENT_NOT_DUE},
    .why_rate = {"divided by the time from the first start to the last content "
                 "of a successful request",
                 "as requests/s; that tool uses its own tokenizer by default, "
                 "this report the recording's counts",
                 "a request without inter-token latency is not good; divided "
                 "by the time from the first start to the last content"},
};

/* ---- GuideLLM ---- */

static double guidellm_tpot(const struct facts *f,
                            const struct profile_run *run)
{
    return share(until_content(f, run), counted_or_one(f));
}

static const struct profile_ops guidellm = {
    .name = "guidellm",
    .start = "when the request is sent, by the wall clock",
    .percentile = PERCENTILE_NEAREST,
    .span = SPAN_WINDOW,
    .has_goodput = true,
    .tpot_limit = PROFILE_ITL,
    .succeeds = is_ok,
    .value = {first_content, content_per_token, guidellm_tpot, until_end},
    .pause = pause_none,
    .tokens = counted_or_one,
    .why = {"counted from sending; failures are ignored",
            "one value per request, (last - first) / (tokens - 1), not one per "
            "pause",
            "(last - start) / tokens, which includes the time to the first "
            "token",
            "counted from sending until the stream is closed; failures are "
            "ignored"},
    .why_rate = {"that tool averages a rate over the window; this is the "
                 "number that ended in the window, divided by its length",
                 "as requests/s; all tokens count when the request ends",
                 "latencies are counted from sending; the limit of tpot is "
                 "applied to itl; requests that cannot be judged are ignored"},
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
    .start = "when the request is sent",
    .percentile = PERCENTILE_LINEAR,
    .span = SPAN_REQUESTS,
    .has_goodput = true,
    .tpot_limit = PROFILE_TPOT,
    .succeeds = is_ok,
    .value = {inference_perf_ttft, NULL, content_per_token, until_end},
    .pause = pause_stamped,
    .tokens = counted_or_one,
    .why = {SENT_NOT_DUE "; an answer of one token has no ttft",
            "one value per token: tokens of one event arrive together, so all "
            "but one of their pauses are 0",
            "(last - first) / (tokens - 1): the first event counts as one "
            "token; failures are ignored",
            SENT_NOT_DUE "; ends when the answer is processed"},
    .why_rate = {"divided by the time from the first start to the last end of "
                 "all requests",
                 "as requests/s; that tool uses its own tokenizer by default, "
                 "this report the recording's counts",
                 "a request without ttft is not good; divided by the time from "
                 "the first start to the last end of a successful request"},
    .note = "that tool ignores reasoning: if a model streams its reasoning, "
            "the first token of that tool is later than here",
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
    .start = "at the due time of the request",
    .percentile = PERCENTILE_LOADGEN,
    .span = SPAN_LAST_ISSUED,
    .succeeds = is_ok,
    .value = {mlperf_ttft, NULL, mlperf_tpot, mlperf_e2e},
    .tokens = counted_or_one,
    .why = {"LoadGen waits forever for a request that fails; here failures are "
            "ignored",
            NULL, "(e2e - ttft) / (tokens - 1), until the answer is complete",
            "ends when the answer is complete; failures are ignored"},
    .why_rate = {"one request less, divided by the time until the request that "
                 "was due last has ended, even if others end later; offline: "
                 "all requests, until the last end",
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
