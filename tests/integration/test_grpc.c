/* gRPC from end to end, against the stub: every API, what is in its answers,
 * and what comes over the wire that should not.  The stub's faults are
 * test_grpc_faults.c's. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "tests/support/h2raw.h"
#include "tests/support/keep.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define INFER   "/inference.GRPCInferenceService/ModelInfer"
#define STREAM  "/inference.GRPCInferenceService/ModelStreamInfer"
#define PREDICT "/tensorflow.serving.PredictionService/Predict"
#define ECHO    "/any.Echo/Unary"

#define MAX_FLAGS 20

/* Files of the scratch directory. */
static struct {
    char run[200]; /* what a run leaves */
    char sample[200];
    char message[200];
    char lines[200];
} at;

static void name_file(char out[static 200], const char *name)
{
    snprintf(out, 200, "%s/%s", tmpdir_root(), name);
}

static int set_up(void **state)
{
    int rc = tmpdir_setup(state);

    name_file(at.run, "run");
    name_file(at.sample, "x.bin");
    name_file(at.message, "m.bin");
    name_file(at.lines, "m.jsonl");
    return rc;
}

/* A stub that listens for gRPC; *url is the caller's. */
static struct proc start(const char *const *flags, char **url)
{
    const char *argv[MAX_FLAGS + 5] = {"tailgate", "stub", "--grpc-port", "0"};
    struct proc stub;
    char *http;
    char *line;
    size_t n = 4;

    for (; *flags && n < MAX_FLAGS + 4; flags++)
        argv[n++] = *flags;
    stub = stub_start(argv, &http);
    line = proc_read_line(&stub);
    *url = xstrdup(strstr(line, "grpc"));
    return stub;
}

#define FLAGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* `tailgate run` on a path of it, with these flags; what comes of it is in the
 * directory "run". */
static struct proc start_run(const char *url, const char *path,
                             const char *const *flags)
{
    const char *argv[MAX_FLAGS + 8] = {"tailgate", "run"};
    char *target = keepf("%s%s", url, path);
    struct proc run;
    size_t n = 2;

    argv[n++] = target;
    argv[n++] = "-q";
    argv[n++] = "--force";
    argv[n++] = "-o";
    argv[n++] = at.run;
    for (; *flags && n < MAX_FLAGS + 7; flags++)
        argv[n++] = *flags;
    run = proc_start(argv);
    return run;
}

static json_t *run_on(const char *url, const char *path, int status,
                      const char *const *flags)
{
    struct proc run = start_run(url, path, flags);

    run_must_end(&run, at.run, status);
    return load_summary(at.run);
}

/* All of this outcome, in words that begin so. */
static double failures_beginning(const json_t *summary, const char *outcome,
                                 const char *text)
{
    const json_t *kinds = json_object_get(summary, "failures");
    const json_t *kind;
    double n = 0;
    size_t i;

    json_array_foreach(kinds, i, kind)
    {
        const char *name = json_string_value(json_object_get(kind, "outcome"));
        const char *said = json_string_value(json_object_get(kind, "text"));

        if (name && said && strcmp(name, outcome) == 0 &&
            strncmp(said, text, strlen(text)) == 0)
            n += json_number_value(json_object_get(kind, "count"));
    }
    return n;
}

/* ---- what goes out comes back ---- */

#define SAMPLE "\0\0\xc0\x3f\0\0\x10\xc0" /* 1.5 and -2.25 */

TEST(tensors_come_back)
{
    static const struct {
        const char *path;
        const char *check;
        const char *flag;
    } cases[] = {
        {"", "tensor output0 = 1.5 -2.25", "--json"},
        {"", "tensor output0 = 1.5 -2.25", "--typed-tensors"},
        {INFER, "tensor output0 = 1.4 -2.2 +- 0.2", "--json"},
        {STREAM, "tensor output0 = 1.5 -2.25", "--json"},
        {STREAM, "tensor output0 = 1.5 -2.25", "--typed-tensors"},
        {PREDICT, "tensor x = 1.5 -2.25", "--json"},
        {PREDICT, "tensor x = 1.5 -2.25", "--typed-tensors"},
    };
    char *url;
    struct proc stub = start(FLAGS(NULL), &url);

    tmpdir_write("x.bin", SAMPLE, sizeof(SAMPLE) - 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        json_t *summary =
            run_on(url, cases[i].path, 0,
                   FLAGS("--model", "stub", "--tensor", "x FP32 2", "--data",
                         at.sample, "--data-format", "tensors", "--check",
                         cases[i].check, "-c", "2", "-n", "20", cases[i].flag));

        if (number_at(summary, "requests.ok") != 20 ||
            number_at(summary, "quality.passed") != 20)
            fail_msg("%s %s", cases[i].path, cases[i].flag);
    }
    stub_stop(&stub);
    free(url);
}

TEST(inputs_are_those_of_the_model)
{
    char *url;
    struct proc stub = start(FLAGS(NULL), &url);
    json_t *summary = run_on(
        url, "", 0,
        FLAGS("--model", "stub", "--wait-ready", "10s", "-c", "1", "-n", "5"));

    assert_true(number_at(summary, "requests.ok") == 5);
    stub_stop(&stub);
    free(url);
}

/* Bytes of the user's own, as they are, whatever they are. */
TEST(any_message_goes_out)
{
    static const char lines[] = "{\"prompt\":\"aGVsbG8=\"}\n"
                                "{\"prompt\":\"aGVsbG8\"}\n";
    char *url;
    struct proc stub = start(FLAGS(NULL), &url);
    char *body = keepf("@%s", at.message);
    json_t *summary;

    tmpdir_write("m.bin", "{{\0hello\xff", 9);
    tmpdir_write("m.jsonl", lines, sizeof(lines) - 1);
    summary = run_on(url, ECHO, 0,
                     FLAGS("--body", body, "-c", "1", "-n", "5", "--check",
                           "contains hello"));
    assert_true(number_at(summary, "quality.passed") == 5);
    summary = run_on(url, ECHO, 0,
                     FLAGS("--data", at.lines, "-c", "1", "-n", "6", "--check",
                           "exact hello", "-H", "x-y: z", "-H", "x-bin: AAEC",
                           "--request-id"));
    assert_true(number_at(summary, "quality.passed") == 6);
    summary = run_on(url, ECHO, 0, FLAGS("-c", "1", "-n", "2"));
    assert_true(number_at(summary, "requests.ok") == 2);
    stub_stop(&stub);
    free(url);
}

/* A prompt of a data set is what the model's input of texts holds: it comes
 * back as it went out. */
TEST(prompts_go_into_texts)
{
    static const char lines[] = "{\"prompt\":\"say \\\"hi\\\"\"}\n";
    static const char *const forms[] = {"data.typed=false", "data.typed=true"};
    char *url;
    struct proc stub = start(FLAGS(NULL), &url);

    tmpdir_write("m.jsonl", lines, sizeof(lines) - 1);
    for (size_t i = 0; i < COUNT(forms); i++) {
        json_t *summary = run_on(
            url, INFER, 0,
            FLAGS("--model", "stub", "--data", at.lines, "--tensor", "n INT8 3",
                  "--tensor", "t BYTES 1", "--set", forms[i], "--check",
                  "contains say \"hi\"", "-c", "1", "-n", "4"));

        assert_true(number_at(summary, "quality.passed") == 4);
    }
    stub_stop(&stub);
    free(url);
}

/* ---- streams ---- */

TEST(streams_are_measured)
{
    char *url;
    struct proc stub =
        start(FLAGS("--service", "llm", "--decode", "5ms"), &url);
    json_t *summary =
        run_on(url, "/any.Echo/Stream", 0,
               FLAGS("--stream", "on", "--body", "x", "-c", "2", "-n", "4"));

    assert_true(number_at(summary, "requests.ok") == 4);
    assert_true(number_at(summary, "measures.ttft.n") == 4);
    /* A client that is late sees several messages at once, but never the last
     * one before its time. */
    assert_true(number_at(summary, "measures.gap.n") >= 4);
    assert_true(number_at(summary, "measures.e2e.mean_ms") >=
                number_at(summary, "measures.gap.n"));

    /* Who takes it for a unary call is told. */
    summary = run_on(url, "/any.Echo/Stream", 1,
                     FLAGS("--body", "x", "-c", "1", "-n", "3"));
    assert_true(failures_beginning(summary, "malformed", "several messages") ==
                3);
    stub_stop(&stub);
    free(url);
}

/* ---- what comes over the wire ---- */

/* :status 200 and content-type: application/grpc, as HPACK writes them. */
#define HEADERS                                                                \
    {                                                                          \
        H2RAW_HEADERS, H2RAW_END_HEADERS, true,                                \
            "\x88\x5f\x10"                                                     \
            "application/grpc",                                                \
            19                                                                 \
    }
/* Trailers with grpc-status, a number. */
#define STATUS(digit)                                                          \
    {                                                                          \
        H2RAW_HEADERS, H2RAW_END_HEADERS | H2RAW_END_STREAM, true,             \
            "\0\x0bgrpc-status\1" digit, 15                                    \
    }
#define DATA(flags, bytes)                                                     \
    {                                                                          \
        H2RAW_DATA, flags, true, bytes, sizeof(bytes) - 1                      \
    }
#define END                                                                    \
    {                                                                          \
        0, 0, false, NULL, 0                                                   \
    }

static const struct {
    struct h2raw_frame frames[5];
    bool closes;
    const char *outcome;
    const char *text; /* that it begins with */
} answers[] = {
    {{HEADERS, DATA(0, "\0\0\0\0\2hi"), STATUS("0"), END}, false, "ok", ""},
    {{HEADERS, STATUS("0"), END},
     false,
     "malformed",
     "status OK without a message"},
    {{HEADERS, STATUS("8"), END},
     false,
     "status",
     "gRPC status RESOURCE_EXHAUSTED"},
    {{HEADERS, DATA(H2RAW_END_STREAM, "\0\0\0\0\2hi"), END},
     false,
     "truncated",
     "the stream ended without a status"},
    {{HEADERS, DATA(0, "\0\0\0\0\x09hi"), END}, true, "reset", ""},
    {{{H2RAW_RST_STREAM, 0, true, "\0\0\0\2", 4}, END},
     false,
     "reset",
     "Received RST_STREAM"},
    {{{H2RAW_GOAWAY, 0, false, "\0\0\0\0\0\0\0\0bye", 11}, END},
     false,
     "reset",
     "GOAWAY received"},
    {{END}, true, "reset", ""},
    {{{H2RAW_HEADERS, H2RAW_END_HEADERS | H2RAW_END_STREAM, true, "\x8d", 1},
      END},
     false,
     "status",
     "gRPC status UNIMPLEMENTED"},
};

TEST(wrong_frames_are_outcomes)
{
    for (size_t i = 0; i < COUNT(answers); i++) {
        struct h2raw server = h2raw_start(answers[i].frames, answers[i].closes);
        bool is_ok = strcmp(answers[i].outcome, "ok") == 0;
        json_t *summary = run_on(
            server.url, ECHO, is_ok ? 0 : 1,
            FLAGS("--body", "x", "-c", "1", "-n", "3", "--no-preflight"));

        if (is_ok ? number_at(summary, "requests.ok") != 3
                  : failures_beginning(summary, answers[i].outcome,
                                       answers[i].text) != 3)
            fail_msg("%zu: not 3 %s: %s", i, answers[i].outcome,
                     json_dumps(json_object_get(summary, "failures"), 0));
        h2raw_stop(&server);
    }
}

/* ---- before a run ---- */

static void must_refuse(const char *url, int status, const char *said,
                        const char *const *flags)
{
    struct proc run = start_run(url, "", flags);
    struct proc_result r = proc_wait(&run);

    if (r.status != status || !strstr(r.err, said))
        fail_msg("%d, not %d with '%s': %s", r.status, status, said, r.err);
}

TEST(what_cannot_run_is_said)
{
    static const char line[] = "{\"prompt\":\"hi\"}\n";
    char url[40];
    char said[80];

    snprintf(url, sizeof(url), "grpc://127.0.0.1:%d", refusing_port());
    must_refuse(url, 3, "Connection refused",
                FLAGS("--model", "m", "--tensor", "x FP32 1", "-c", "1"));
    tmpdir_write("m.jsonl", line, sizeof(line) - 1);
    snprintf(said, sizeof(said), "tailgate: %s: ModelMetadata: ", url);
    must_refuse(url, 3, said,
                FLAGS("--model", "m", "--data", at.lines, "-c", "1"));
    must_refuse(url, 3,
                "Connection refused (called because no --tensor is given)",
                FLAGS("--model", "m", "-c", "1"));
    must_refuse(url, 2, "--model is required", FLAGS("-c", "1"));
    must_refuse(url, 2, "--proxy cannot be combined with gRPC",
                FLAGS("-c", "1", "--proxy", "http://127.0.0.1:1"));
    must_refuse(url, 2, "--success cannot be set for gRPC",
                FLAGS("-c", "1", "--success", "2xx"));
    must_refuse(url, 2, "--api tgi requires an http://",
                FLAGS("-c", "1", "--api", "tgi"));
    must_refuse(url, 2, "the method is missing",
                FLAGS("-c", "1", "--api", "grpc"));
    must_refuse("grpc://127.0.0.1:1" PREDICT, 2, "kserve-grpc calls " INFER,
                FLAGS("-c", "1", "--api", "kserve-grpc"));
    must_refuse(url, 3, "not ready within 300ms",
                FLAGS("--model", "m", "--tensor", "x FP32 1", "-c", "1",
                      "--wait-ready", "300ms"));
}

GROUP_FIXTURE(set_up, tmpdir_teardown)
