/* A run over gRPC ends, and reacts to signals, whatever the server does. */
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>

#include "common/base/xalloc.h"
#include "tests/support/forty.h"
#include "tests/support/h2raw.h"
#include "tests/support/keep.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* More than sockets hold. */
#define BODY_LEN ((size_t)4 << 20)

/* Both windows are as large as they can be, so that nothing but the socket
 * holds the client back. */
static const struct h2raw_frame hello[] = {
    {H2RAW_SETTINGS, 0, false, "\0\4\x7f\xff\xff\xff", 6},
    {H2RAW_WINDOW, 0, false, "\x7f\xff\0\0", 4},
    {0}};

static const struct h2raw_frame floods[][2] = {
    {{0}},
    {{H2RAW_PING, 0, false, "12345678", 8}, {0}},
    {{H2RAW_SETTINGS, 0, false, "\0\4\0\1\0\0", 6}, {0}},
};

static char *body;

static int setup(void **state)
{
    char *zeros = xcalloc(1, BODY_LEN);
    int rc = tmpdir_setup(state);

    body = keepf("@%s", tmpdir_write("body", zeros, BODY_LEN));
    free(zeros);
    return rc;
}

#define METHOD "/any.Echo/Unary"

/* Start a server that sends this and reads nothing, and a run against it. */
static struct proc start(const struct h2raw_frame *flood, struct h2raw *server,
                         const char *dir, const char *flag, const char *value)
{
    struct proc run;
    char *url;

    *server = h2raw_start_deaf(hello, flood);
    url = keepf("%s" METHOD, server->url);
    run = proc_start(ARGS("run", url, "--body", body, "-c", "4", flag, value,
                          "--timeout", "200ms", "--no-preflight", "-q",
                          "--force", "-o", dir));
    return run;
}

TEST(a_run_ends)
{
    char *dir = tmpdir_path("run");

    for (size_t i = 0; i < COUNT(floods); i++) {
        struct h2raw server;
        struct proc run = start(floods[i], &server, dir, "-n", "4");

        run_must_time_out(&run, dir, 4, "no answer within the timeout");
        h2raw_stop(&server);
    }
}

/* The signal comes when calls have been cancelled and cannot end. */
TEST(a_signal_ends_it)
{
    char *dir = tmpdir_path("signal");
    struct h2raw server;
    struct proc run = start(floods[0], &server, dir, "-d", "1h");

    wait_for_outcome(dir, OUTCOME_TIMEOUT, -1);
    kill(run.pid, SIGTERM);
    must_end(&run, 128 + SIGTERM);
    json_decref(load_summary(dir));
    h2raw_stop(&server);
}

/* max_response limits the sum of the messages. */
TEST(a_stream_is_bounded)
{
    struct h2raw server = h2raw_start_endless(16000);
    char *dir = tmpdir_path("endless");
    char *url = keepf("%s" METHOD, server.url);
    json_t *summary;
    struct proc run =
        proc_start(ARGS("run", url, "-c", "1", "-n", "1", "--max-response",
                        "4MiB", "-q", "-o", dir));

    run_must_end(&run, dir, 1);
    summary = load_summary(dir);
    assert_int_equal(failures_saying(summary, "malformed",
                                     "longer than target.max_response"),
                     1);
    h2raw_stop(&server);
}

/* 40,000 bytes in three frames, which is within the windows at the beginning.
 */
TEST(memory_is_bounded)
{
    static const char bytes[16000] = {0, 0, 0, (char)(40000 >> 8),
                                      (char)(40000 & 0xff)};
    static const char zeros[16000];
    static const struct h2raw_frame frames[] = {
        {H2RAW_HEADERS, H2RAW_END_HEADERS, true,
         "\x88\x5f\x10"
         "application/grpc",
         19},
        {H2RAW_DATA, 0, true, bytes, sizeof(bytes)},
        {H2RAW_DATA, 0, true, zeros, sizeof(zeros)},
        {H2RAW_DATA, 0, true, zeros, 8005},
        {H2RAW_HEADERS, H2RAW_END_HEADERS | H2RAW_END_STREAM, true,
         "\0\x0bgrpc-status\1"
         "0",
         15},
        {0}};
    struct h2raw server = h2raw_start(frames, false);
    char *dir = tmpdir_path("memory");
    json_t *summary;
    struct proc run = proc_start(
        ARGS("run", server.url, "--model", "m", "--tensor", "x FP32 1", "-c",
             "1", "-n", "3", "--memory", "16KB", "-q", "-o", dir));

    must_end(&run, 4);
    summary = load_summary(dir);
    assert_true(check_failed(summary, "client memory"));
    assert_int_equal(failures_of(summary, "truncated"), 3);
    h2raw_stop(&server);
}

GROUP_FIXTURE(setup, tmpdir_teardown)
