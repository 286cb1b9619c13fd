/* --show prints one request and its answer; --wait-ready waits for servers that
 * are still starting. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "tests/support/echoserver.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/rawserver.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static const char *const transports[] = {"native", "curl"};

static void must_say(const char *text, const char *what)
{
    if (!strstr(text, what))
        fail_msg("'%s' is not in: %s", what, text);
}

TEST(both_sides_are_printed)
{
    struct echoserver s = echoserver_start(&(struct echo_setup){0});
    char *dir = tmpdir_path("none");
    struct stat st;

    for (size_t t = 0; t < COUNT(transports); t++) {
        struct proc_result r = proc_run(
            ARGS("run", s.url, "--show", "--transport", transports[t], "--body",
                 "{\"text\": 1}", "-H", "x-team: me", "-o", dir));

        proc_expect(&r, 0);
        must_say(r.out, "> POST / HTTP/1.1\n");
        must_say(r.out, "> x-team: me\n");
        must_say(r.out, "> \n> {\"text\": 1}\n");
        must_say(r.out, "< HTTP/1.1 200 Echo\n");
        must_say(r.out, "< Set-Cookie: (redacted)\n");
        must_say(r.out, "< \n< POST / HTTP/1.1\n");
        must_say(r.out, "< {\"text\": 1}\n");
        must_say(r.out, "\noutcome    ok, HTTP status 200\n");
        must_say(r.out, "timing     connect ");
        must_say(r.out, ", first byte ");
        must_say(r.out, transports[t]);
        assert_string_equal(r.err, "");
        assert_int_equal(stat(dir, &st), -1);
    }
    echoserver_stop(&s);
}

/* Without --request-id it is none of ours. */
TEST(a_header_like_our_id_is_left_alone)
{
    struct echoserver s = echoserver_start(&(struct echo_setup){0});

    for (size_t t = 0; t < COUNT(transports); t++) {
        struct proc_result r =
            proc_run(ARGS("run", s.url, "--show", "--transport", transports[t],
                          "-H", "x-tailgate-id: 5"));

        proc_expect(&r, 0);
        must_say(r.out, "> x-tailgate-id: 5\n");
    }
    echoserver_stop(&s);
}

static const struct {
    const char *bytes;
    size_t len;
    enum raw_ending ending;
    int status; /* exit */
    const char *want;
} answers[] = {
#define ANSWER(text) text, sizeof(text) - 1
    {ANSWER("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n\0\x1b\xff"),
     RAW_CLOSE, 0, "< \\x00\\x1b\\xff\n\noutcome    ok"},
    {ANSWER("HTTP/1.1 404 None\r\nContent-Length: 2\r\n\r\nno"), RAW_CLOSE, 1,
     "< no\n\noutcome    status: HTTP status 404\n"},
    {ANSWER("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"), RAW_CLOSE, 1,
     "< hi\n\noutcome    truncated: "},
    {ANSWER("SSH-2.0-x\r\n"), RAW_CLOSE, 1, "outcome    malformed: "},
    {ANSWER(""), RAW_CLOSE, 1, "outcome    reset: closed before any response"},
    {ANSWER("HTTP/1.1 200 OK\r\n"), RAW_HOLD, 1,
     "outcome    timeout: no answer within the timeout\n"},
#undef ANSWER
};

TEST(answers_of_every_kind_are_shown)
{
    for (size_t i = 0; i < COUNT(answers) * COUNT(transports); i++) {
        size_t k = i / COUNT(transports);
        struct rawserver s = rawserver_start(answers[k].bytes, answers[k].len,
                                             answers[k].ending);
        struct proc_result r =
            proc_run(ARGS("run", s.url, "--show", "--timeout",
                          answers[k].ending == RAW_HOLD ? "1s" : "1h",
                          "--transport", transports[i % COUNT(transports)]));

        proc_expect(&r, answers[k].status);
        must_say(r.out, "> GET / HTTP/1.1\n");
        must_say(r.out, answers[k].want);
        rawserver_stop(&s);
    }
}

TEST(a_long_answer_is_cut)
{
    static const char head[] = "HTTP/1.1 200 OK\r\n\r\n";
    size_t len = sizeof(head) - 1 + 100000;
    char *bytes = xcalloc(1, len);
    struct rawserver s;

    memset(bytes, 'x', len);
    memcpy(bytes, head, sizeof(head) - 1);
    s = rawserver_start(bytes, len, RAW_CLOSE);
    for (size_t t = 0; t < COUNT(transports); t++) {
        struct proc_result r = proc_run(
            ARGS("run", s.url, "--show", "--transport", transports[t]));

        proc_expect(&r, 0);
        must_say(r.out, "xxx\n< ... 100019 bytes in all\n");
        assert_true(strlen(r.out) < 70000);
    }
    rawserver_stop(&s);
    free(bytes);
}

TEST(nobody_there_is_3)
{
    char *url = keepf("http://127.0.0.1:%d/", refusing_port());

    for (size_t t = 0; t < COUNT(transports); t++) {
        struct proc_result r =
            proc_run(ARGS("run", url, "--show", "--transport", transports[t]));

        proc_expect(&r, 3);
        must_say(r.err, "Connection refused");
    }
}

TEST(the_stub_beside_can_be_shown)
{
    static const char text[] = "stub: {service: none}\nload: {rate: 5}\n";
    char *file = tmpdir_write("s.yaml", text, strlen(text));
    struct proc_result r = proc_run(ARGS("run", file, "--show"));

    proc_expect(&r, 0);
    must_say(r.out, "> x-tailgate-id: 000000000000000000\n");
    must_say(r.out, "outcome    ok, HTTP status 200\n");
}

/* ---- --wait-ready ---- */

static const struct echo_setup late_ones[] = {
    {.delay_ns = NS_PER_S},
    {.first_status = 503, .n_first = 2},
    {.first_status = 502, .n_first = 1},
    {.status = 404, .first_status = 504, .n_first = 1},
};

TEST(late_servers_are_waited_for)
{
    for (size_t i = 0; i < COUNT(late_ones) * COUNT(transports); i++) {
        const struct echo_setup *setup = &late_ones[i / COUNT(transports)];
        const char *transport = transports[i % COUNT(transports)];
        int status = setup->status ? 1 : 0;
        char *dir = keepf("%s/late-%zu", tmpdir_root(), i);
        struct echoserver s = echoserver_start(setup);
        struct proc_result r =
            proc_run(ARGS("run", "-v", s.url, "--wait-ready", "60s", "--rate",
                          "50", "-n", "5", "--body", "x", "--transport",
                          transport, "--no-preflight", "-q", "-o", dir));

        run_expect(&r, dir, status);
        must_say(r.out, "scheduled 5 = issued 5 + unsent 0");
        must_say(r.out, status ? "ok 0 + failed 5" : "ok 5 + failed 0");
        echoserver_stop(&s);
    }
}

/* They were asked with a GET that has no body. */
TEST(the_question_has_no_body)
{
    char *log = tmpdir_path("log");
    struct echoserver s = echoserver_start(
        &(struct echo_setup){.first_status = 503, .n_first = 1, .log = log});
    struct proc_result r =
        proc_run(ARGS("run", s.url, "--show", "--wait-ready", "60s", "--body",
                      "text", "-H", "x-team: me"));
    char bytes[2048] = "";
    FILE *file = fopen(log, "rb");

    proc_expect(&r, 0);
    assert_non_null(file);
    assert_true(fread(bytes, 1, sizeof(bytes) - 1, file) > 0);
    fclose(file);
    assert_memory_equal(bytes, "GET / HTTP/1.1\r\n", 16);
    must_say(bytes, "x-team: me\r\n\r\nGET / HTTP/1.1\r\n");
    must_say(bytes, "x-team: me\r\n\r\nPOST / HTTP/1.1\r\n");
    must_say(bytes, "\r\n\r\ntext");
    echoserver_stop(&s);
}

TEST(all_targets_must_be_ready)
{
    struct echoserver first = echoserver_start(&(struct echo_setup){0});
    struct echoserver second =
        echoserver_start(&(struct echo_setup){.status = 503});
    struct proc_result r =
        proc_run(ARGS("run", first.url, second.url, "--rate", "50", "-n", "4",
                      "--wait-ready", "2s", "-o", tmpdir_path("two")));
    char *want =
        keepf("tailgate: %s: not ready within 2s: HTTP status 503", second.url);

    proc_expect(&r, 3);
    must_say(r.err, want);
    echoserver_stop(&first);
    echoserver_stop(&second);
}

/* Asked again after half a second, it says nothing until the time is over: what
 * it said before is told. */
TEST(the_last_answer_is_told)
{
    struct echoserver s = echoserver_start(&(struct echo_setup){
        .first_status = 503, .n_first = 1, .goes_mute = true});
    struct proc_result r;

    r = proc_run(ARGS("run", s.url, "-c1", "--wait-ready", "2s", "-o",
                      tmpdir_path("mute")));
    proc_expect(&r, 3);
    must_say(r.err, ": not ready within 2s: HTTP status 503\n");
    echoserver_stop(&s);
}

TEST(a_server_that_never_comes_is_3)
{
    char *url = keepf("http://127.0.0.1:%d/", refusing_port());
    char *want =
        keepf("tailgate: %s: not ready within 1s: Connection refused\n", url);
    char *dir = tmpdir_path("never");
    struct stat st;

    for (int i = 0; i < 4; i++) {
        struct proc_result r = proc_run(
            ARGS("run", url, "-c1", "--transport", transports[i % 2],
                 "--wait-ready", "1s", "-o", dir, i < 2 ? "-q" : "--show"));

        proc_expect(&r, 3);
        if (i % 2 == 0)
            assert_string_equal(r.err, want);
        must_say(r.err, "not ready within 1s: ");
        assert_int_equal(stat(dir, &st), -1);
    }
}

/* Wrong settings are said at once. */
TEST(nobody_waits_for_what_cannot_run)
{
    static const char *const wrong[][2] = {
        {"--body", "@/no/such"},
        {"-H", "content-length: 1"},
        {"--auth-env", "NO_SUCH_VARIABLE"},
        {"--streams", "2"},
    };

    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct proc_result r =
            proc_run(ARGS("run", "http://127.0.0.1:1/", "-c1", "--wait-ready",
                          "1h", wrong[i][0], wrong[i][1]));

        proc_expect(&r, 2);
    }
}

TEST(waiting_can_be_interrupted)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct rawserver silent = rawserver_start("", 0, RAW_HOLD);
    char *refused = keepf("http://127.0.0.1:%d/", refusing_port());
    const char *urls[] = {refused, silent.url};

    for (size_t i = 0; i < 4; i++) {
        struct proc p =
            proc_start(ARGS("run", urls[i / 2], "-c1", "-o", tmpdir_path("cut"),
                            "--wait-ready", "1h"));
        struct proc_result r;

        wait_for_handler(&p, signals[i % 2]); /* it waits, or is about to */
        assert_int_equal(kill(p.pid, signals[i % 2]), 0);
        r = proc_wait(&p);
        proc_expect(&r, 128 + signals[i % 2]);
        must_say(r.err, "interrupted while waiting");
    }
    rawserver_stop(&silent);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
