/* What is said before anything is sent: the plan of `validate` and of `run
 * --dry-run`, and warnings with file and line.  No server listens at the
 * target.
 */
#include <string.h>
#include <unistd.h>

#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define URL "http://127.0.0.1:1"

static char *write_file(const char *text)
{
    return tmpdir_write("s.yaml", text, strlen(text));
}

static void must_have(const char *text, const char *want)
{
    if (!strstr(text, want))
        fail_msg("no '%s' in:\n%s", want, text);
}

static const struct {
    const char *text;
    const char *want[5];
} plans[] = {
    {"target: {url: \"" URL "/v1/chat/completions\", model: m}\n"
     "load: {rate: 50, duration: 60s, warmup: 10s}\n"
     "slo: [ttft p99 < 200ms, errors < 1%]\n",
     {"api        openai-chat, answers as streams, model m\n",
      "phases     warm-up 10.0s, then window 60.0s, then cool-down until its "
      "requests have ended, at most 30.0s, then at most 30.0s",
      "requests   about 3000 in the window, give or take 108 (95%)\n"
      "           about 500 in the warm-up\n"
      "rate       50/s expected in the window, 48.2/s to 51.8/s by chance "
      "(95%)\n",
      "data       prompts of 256 tokens, generated for this run, all "
      "different; "
      "answers of 128\n",
      "slo        ttft p99 < 200ms: needs at least 299 requests; this run "
      "has enough\n           showing a pass takes about 460 independent "
      "requests if a fifth of the allowed 1% miss the limit, 1146 if half do\n "
      "          "
      "(9.20s and 22.9s at this rate; "}},
    {"target: {url: \"" URL "\"}\n"
     "load: {stages: [0..100/s 2s], max_duration: 1s, exact: true}\n",
     {"requests   25 in the window\n"
      "rate       25/s expected in the window, peak 100/s\n"}},
    {"target: {url: \"" URL "\"}\n"
     "load: {shape: spike 5/s 50/s at 1m for 10s}\n",
     {"spike 5/s 50/s at 1m for 10s, window 130s",
      "requests   about 1100 in the window, give or take 66 (95%)\n",
      ", peak 50/s\n"}},
    {"target: {url: \"" URL "\"}\n"
     "load: {rate: 5, min_duration: 10s, min_requests: 100}\n",
     {"phases     window until both minima are reached, then",
      "requests   about 100 in the window, or more\n"}},
    {"target: {url: \"" URL "\"}\n"
     "load: {rate: 50, requests: 100, warmup_requests: 30, "
     "cooldown: 2s}\n",
     {"phases     warm-up of 30 requests, then window until all requests "
      "were due, then cool-down 2.00s, then at most",
      "requests   100 in the window\n"
      "           30 in the warm-up\n"
      "           about 100 in the cool-down\n"}},
    {"target: {url: \"" URL "\"}\n"
     "load: {stages: [10/s 10s, 50/s 10s], warmup_requests: 30, "
     "cooldown: 2s}\n",
     {"requests   about 600 in the window",
      "           30 in the warm-up\n"
      "           about 100 in the cool-down\n"}},
    {"target: {url: \"" URL "\"}\nload: {scenario: offline, requests: 5}\n",
     {"phases     window until the last answer\n",
      "requests   5 in the window\n"}},
    {"target: {url: \"" URL "\"}\nload: {clients: 5}\n",
     {"requests   as many as the server answers in time\n"}},
    {"target: {url: \"" URL "/v2/models/m/infer\"}\nload: {rate: 5}\n"
     "data: {tensors: [x FP32 1x4, y INT8 2]}\n",
     {"data       tensors of random numbers: x FP32 1x4, y INT8 2\n"}},
    {"target: {url: \"" URL "/v1/embeddings\"}\nload: {rate: 5}\n",
     {"data       prompts of 256 tokens, generated for this run, all "
      "different\n"}},
    {"target: {url: \"" URL "/v1/embeddings\"}\nload: {clients: 5}\n"
     "data: {input_tokens: 2}\n",
     {"data       prompts of 2 tokens, generated for this run, so short that "
      "some "
      "repeat by chance\n"}},
    {"target: {url: \"" URL "/v2/models/m/infer\"}\nload: {rate: 5}\n"
     "data: {file: t.bin, format: tensors, tensors: [x FP32 1x4]}\n",
     {"t.bin, tensors, 4 samples of 16 bytes, sha256 "}},
    {"target: {url: \"" URL "\"}\n"
     "load: {rate: 5, duration: 100s, stop: decided}\n"
     "slo: [e2e p90 < 1s]\n",
     {"stop       as soon as the SLO is decided; "}},
    {"target: {url: \"" URL "/v1/embeddings\"}\nload: {rate: 5}\n"
     "data: {unique: false}\n",
     {"data       prompts of 256 tokens, generated from the seed, the same in "
      "each run\n"}},
    {"target: {url: \"" URL "/v1/embeddings\"}\nload: {rate: 5}\n"
     "data: {cache_hit_rate: 30%, shared_prefix: 50}\n",
     {"data       prompts of 256 tokens, generated for this run, 30% start "
      "with "
      "an earlier prompt, after 50 tokens that all prompts share\n"}},
};

TEST(plans_say_what_is_to_come)
{
    static const char zeros[64];

    tmpdir_write("t.bin", zeros, sizeof(zeros));
    for (size_t i = 0; i < COUNT(plans); i++) {
        char *file = write_file(plans[i].text);
        struct proc_result r = proc_run(ARGS("validate", file));
        struct proc_result dry = proc_run(ARGS("run", file, "--dry-run"));

        proc_expect(&r, 0);
        proc_expect(&dry, 0);
        for (size_t j = 0; j < 5 && plans[i].want[j]; j++)
            must_have(r.out, plans[i].want[j]);
        assert_string_equal(dry.out, r.out);
        assert_string_equal(r.err, "");
    }
}

/* "%s" is the file's path. */
TEST(doubts_have_file_and_line)
{
    static const struct {
        const char *text;
        const char *want;
    } cases[] = {
        {"target: {url: \"" URL "\"}\nload: {rate: 50, duration: 10s}\n"
         "slo:\n  - e2e p99 < 1s\n  - e2e p99.9 < 1s\n",
         ":5: slo: e2e p99.9 < 1s: needs at least 2995 requests; "
         "this run is TOO SHORT: it has about 500\n"},
        {"target: {url: \"" URL "\"}\nload: {rate: 50}\n"
         "slo: e2e p99.9 < 1s\n",
         ":3: slo: e2e p99.9 < 1s: needs at least 2995 requests; "
         "this run is TOO SHORT: it has about 500\n"},
        {"slo:\n  - tpot p50 < 1s\ntarget: {url: \"" URL "\"}\n"
         "load: {rate: 50}\n",
         ":2: slo: tpot p50 < 1s: answers come in one piece, so there is "
         "nothing to measure\n"},
        {"target: {url: \"" URL "\", timeout: 2s}\nload: {rate: 50}\n"
         "slo: [e2e p50 < 3s]\n",
         ":3: slo: e2e p50 < 3s: the limit is above target.timeout (2s), which "
         "ends requests earlier\n"},
        {"target: {url: \"" URL "\"}\nload: {rate: 50}\n"
         "slo: [quality >= 90%]\n",
         ":3: slo: quality >= 90%: no answer is checked (set checks)\n"},
        {"target: {url: \"" URL "\"}\nload: {rate: 50}\n"
         "slo: [query p50 < 1s]\n",
         ":3: slo: query p50 < 1s: only the multi-stream scenario has queries, "
         "so there is nothing to measure\n"},
        {"target: {url: \"" URL "/\", api: openai-completions, model: m}\n"
         "load: {rate: 50}\ndata:\n  input_tokens: 1\n",
         ":4: data.input_tokens: so short that about 14 of 500 prompts repeat "
         "by chance and may be in a cache\n"},
        {"target: {url: \"" URL "/\", api: openai-completions, model: m}\n"
         "load: {rate: 50}\nclasses:\n  - {name: a}\n"
         "  - {name: b, data: {input_tokens: 1}}\n",
         ":5: classes: b: data.input_tokens: so short that about 3 of 250 "
         "prompts repeat by chance and may be in a cache\n"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        char *file = write_file(cases[i].text);
        char *want = keepf("warning: %s%s", file, cases[i].want);
        struct proc_result r = proc_run(ARGS("validate", file));

        proc_expect(&r, 0);
        assert_string_equal(r.err, want);
        r = proc_run(ARGS("run", file, "-o", tmpdir_path("never")));
        proc_expect(&r, 3);
        must_have(r.err, want);
        assert_true(strstr(r.err, want) <
                    strstr(r.err, "refused")); /* before */
    }
}

/* What is given and makes no difference is said. */
static const struct {
    const char *text; /* behind the target */
    const char *want; /* behind the file */
} idle[] = {
    {"load: {rate: 5}\ndata:\n  select: order\n",
     ":4: data.select: has no effect: it requires data.file (--data)\n"},
    {"load: {rate: 5}\ncost:\n  machine: L4\n",
     ":4: cost.machine: has no effect: it requires cost.prices (--prices); "
     "report --prices can add them later\n"},
    {"load: {rate: 5}\ndata: {turns: all}\n",
     ":3: data.turns: has no effect: it requires data.file (--data)\n"},
    {"load: {rate: 5}\ndata: {format: csv}\n",
     ":3: data.format: has no effect: it requires data.file (--data)\n"},
    {"load: {rate: 5}\ndata: {file: two.jsonl, limit: 5}\n",
     ":3: data.limit: has no effect: the data file has fewer samples\n"},
    {"load: {rate: 5}\ndata: {file: two.jsonl, input_tokens: 9}\n",
     ":3: data.input_tokens: has no effect: it cannot be combined with "
     "data.file (--data)\n"},
    {"load: {rate: 5}\ndata: {unique: false, nonce: 7}\n",
     ":3: data.nonce: has no effect: it cannot be combined with data.unique: "
     "false\n"},
    {"load: {rate: 5}\ndata: {output_tolerance: 5%}\n",
     ":3: data.output_tolerance: has no effect: it requires "
     "data.reference_output_tokens\n"},
    {"load: {rate: 5}\nstudy: {settle: 3s}\n",
     ":3: study.settle: has no effect: it requires study.trials\n"},
    {"load: {clients: 3, arrival: constant}\n",
     ":2: load.arrival: has no effect: it requires load.scenario: server or "
     "sessions; without load.rate the scenario is closed\n"},
    {"load: {rate: 5, duration: 9s, max_duration: 5s}\n",
     ":2: load.duration: has no effect: load.max_duration is shorter\n"},
    {"load: {scenario: single-stream}\nclient: {connections: 5}\n",
     ":3: client.connections: has no effect: the single-stream scenario has "
     "one request at a time\n"},
    {"load: {scenario: single-stream}\nclient: {threads: 2}\n",
     ":3: client.threads: has no effect: there is one request or query at "
     "a time\n"},
    {"trace: {file: az.csv, unit: ms}\n",
     ":2: trace.unit: has no effect: it requires trace.format: csv or jsonl\n"},
    {"trace: {file: az.csv}\nload: {requests: 9}\n",
     ":3: load.requests: has no effect: the trace has fewer rows\n"},
    {"trace: {file: az.csv}\nload: {duration: 1h}\n",
     ":3: load.duration: has no effect: the trace is shorter\n"},
    {"load: {rate: 5, duration: 5s}\ndata: {cache_check: true}\n"
     "slo: [e2e p99.9 < 1s]\n",
     ":3: data.cache_check: needs at least 60 requests: ten parts of the "
     "window with three requests of each kind\n"},
};

TEST(what_has_no_effect)
{
    static const char samples[] = "{\"prompt\":\"a\"}\n{\"prompt\":\"b\"}\n";
    static const char rows[] = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
                               "2023-11-16 18:17:03,1,1\n"
                               "2023-11-16 18:17:05,1,1\n";

    tmpdir_write("two.jsonl", samples, strlen(samples));
    tmpdir_write("az.csv", rows, strlen(rows));
    for (size_t i = 0; i < COUNT(idle); i++) {
        char *text = keepf("target: {url: \"" URL "/v1/completions\"}\n%s",
                           idle[i].text);
        char *file = write_file(text);
        char *want = keepf("warning: %s%s", file, idle[i].want);
        struct proc_result r = proc_run(ARGS("validate", file));

        proc_expect(&r, 0);
        assert_string_equal(r.err, want);
    }
}

TEST(a_dry_run_leaves_nothing)
{
    char *dir = tmpdir_path("none");
    struct proc_result r =
        proc_run(ARGS("run", URL, "--rate", "5", "--dry-run", "-o", dir));

    proc_expect(&r, 0);
    assert_int_equal(access(dir, F_OK), -1);
    r = proc_run(ARGS("run", URL, "--rate", "5", "--dry-run", "--show"));
    proc_expect(&r, 2);
    assert_string_equal(r.err,
                        "tailgate: --show cannot be combined with --dry-run\n");
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
