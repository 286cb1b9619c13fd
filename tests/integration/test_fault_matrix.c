/* What servers, networks and clients do wrong: each is counted under its own
 * name, and nothing is lost.
 *
 * load_summary() checks the identity of the counts each time. */
#include <arpa/inet.h>
#include <jansson.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clk.h"
#include "common/recording/schema.h"
#include "common/xalloc.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/rawserver.h"
#include "tests/support/table.h"
#include "tests/support/tmpdir.h"

#define HEAD    "HTTP/1.1 200 OK\r\n"
#define CHUNKED HEAD "Transfer-Encoding: chunked\r\n\r\n"

static const struct {
    const char *bytes;
    enum raw_ending ending;
    const char *outcome; /* "ok" or a kind of failure ... */
    const char *text;    /* ... and what it says */
} responses[] = {
    {HEAD "Content-Length: 2\r\n\r\nhi", RAW_CLOSE, "ok", ""},
    {HEAD "\r\nuntil the end", RAW_CLOSE, "ok", ""},
    {"HTTP/1.0 200 OK\nContent-Length: 2\n\nhi", RAW_CLOSE, "ok", ""},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 None\r\n\r\n", RAW_CLOSE, "ok",
     ""},
    {CHUNKED "2;x=y\r\nhi\r\n0\r\nt: v\r\n\r\n", RAW_CLOSE, "ok", ""},
    {"HTTP/1.1 429 Slow down\r\nContent-Length: 0\r\n\r\n", RAW_CLOSE, "status",
     "HTTP status 429"},
    {"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy", RAW_CLOSE, "status",
     "HTTP status 503"},
    {"HTTP/1.1 404 None\r\nContent-Length: 0\r\n\r\n", RAW_CLOSE, "status",
     "HTTP status 404"},
    {"", RAW_CLOSE, "reset", "closed before any response"},
    {"", RAW_RESET, "reset", "Connection reset by peer"},
    {HEAD "Content-Le", RAW_RESET, "reset", "Connection reset by peer"},
    {HEAD "Content-Length: 9\r\n\r\nhi", RAW_RESET, "reset",
     "Connection reset by peer"},
    {HEAD "Content-Length: 9\r\n\r\nhi", RAW_CLOSE, "truncated",
     "closed inside the response"},
    {HEAD "Content-Le", RAW_CLOSE, "truncated", "closed inside the response"},
    {CHUNKED "5\r\nhi", RAW_CLOSE, "truncated", "closed inside the response"},
    {CHUNKED "zz\r\nhi", RAW_CLOSE, "malformed", "a damaged chunk"},
    {CHUNKED "2\r\nhi, and more\r\n", RAW_CLOSE, "malformed",
     "a damaged chunk"},
    {HEAD "Content-Length: 99999999999999999999\r\n\r\nhi", RAW_CLOSE,
     "malformed", "Content-Length is not one number"},
    {HEAD "Content-Length: 1000000000000000\r\n\r\nhi", RAW_HOLD, "malformed",
     "longer than target.max_response"},
    {"SSH-2.0-OpenSSH_9.2\r\n", RAW_CLOSE, "malformed",
     "not an HTTP/1 start line"},
    {"", RAW_HOLD, "timeout", "no answer within the timeout"},
    {HEAD "Content-Le", RAW_HOLD, "timeout", "no answer within the timeout"},
    {HEAD "Content-Length: 9\r\n\r\nhi", RAW_HOLD, "timeout",
     "no answer within the timeout"},
    {CHUNKED "5\r\nhi", RAW_HOLD, "timeout", "no answer within the timeout"},
};

/* Four requests, one after the other, all of which must end so, whichever
 * transport carries them. */
static void four_end_on(const char *transport, const struct rawserver *server,
                        const char *timeout, const char *outcome,
                        const char *text)
{
    bool is_ok = strcmp(outcome, "ok") == 0;
    const char *dir = tmpdir_path("four");
    struct proc run = proc_start(
        ARGS("run", server->url, "--transport", transport, "-c", "1", "-n", "4",
             "--timeout", timeout, "-q", "--force", "-o", dir));
    json_t *summary;

    run_must_end(&run, dir, is_ok ? 0 : 1);
    summary = load_summary(dir);
    if (is_ok ? number_at(summary, "requests.ok") != 4
              : failures_of(summary, outcome) != 4 ||
                    failures_saying(summary, outcome, text) != 4)
        fail_msg("%s: not 4 %s: %s", transport, outcome, text);
    json_decref(summary);
}

static void four_end(const struct rawserver *server, const char *timeout,
                     const char *outcome, const char *text)
{
    four_end_on("native", server, timeout, outcome, text);
    four_end_on("curl", server, timeout, outcome, text);
}

static void wrong_responses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(responses) / sizeof(responses[0]); i++) {
        bool times_out = strcmp(responses[i].outcome, "timeout") == 0;
        struct rawserver server =
            rawserver_start(responses[i].bytes, strlen(responses[i].bytes),
                            responses[i].ending);

        four_end(&server, times_out ? "100ms" : "20s", responses[i].outcome,
                 responses[i].text);
        rawserver_stop(&server);
    }
}

/* The client hangs up after 64 kB of it, and keeps none. */
static void a_header_of_100_mb(void **state)
{
    static const char start[] = HEAD "x: ";
    size_t len = (size_t)100 << 20;
    char *bytes = xcalloc(1, len);
    struct rawserver server;

    (void)state;
    memset(bytes, 'a', len);
    memcpy(bytes, start, sizeof(start) - 1);
    server = rawserver_start(bytes, len, RAW_CLOSE);
    four_end(&server, "20s", "malformed", "headers too long");
    rawserver_stop(&server);
    free(bytes);
}

static void a_name_that_does_not_resolve(void **state)
{
    /* No name can have such a label, so nobody is asked for it. */
    static const char url[] =
        "http://a234567890123456789012345678901234567890123456789012345678"
        "901234.invalid/";
    const char *dir = tmpdir_path("unnamed");
    struct proc_result r =
        proc_run(ARGS("run", url, "--rate", "10", "-q", "-o", dir));

    (void)state;
    proc_expect(&r, 3);
    assert_non_null(strstr(r.err, ".invalid: "));
    assert_int_equal(access(dir, F_OK), -1);
    proc_result_fini(&r);
}

/* Nobody accepts: a few connections fit into the backlog and are never
 * answered, the others are never established. */
static void a_server_that_does_not_accept(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const char *dir = tmpdir_path("deaf");
    char url[40];
    struct proc run;
    json_t *summary;

    (void)state;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 3), 0);
    getsockname(listener, (struct sockaddr *)&address, &size);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", ntohs(address.sin_port));
    run = proc_start(ARGS("run", url, "--arrival", "constant", "--rate", "1000",
                          "-n", "20", "--connect-timeout", "300ms", "--timeout",
                          "600ms", "-q", "-o", dir));
    run_must_end(&run, dir, 1);
    close(listener);
    summary = load_summary(dir);
    assert_true(failures_of(summary, "timeout") > 0);
    assert_true(failures_saying(summary, "connect",
                                "not connected within the connect timeout") >
                0);
    assert_true(failures_of(summary, "timeout") +
                    failures_of(summary, "connect") ==
                20);
    json_decref(summary);
}

/* The first connections are looked at 200 ms late: the clock runs from due. */
static void slow_accept(void **state)
{
    const char *dir = tmpdir_path("slow");
    char *url;
    struct proc stub =
        stub_start(ARGS("stub", "--fault", "slow-accept=200ms"), &url);
    struct proc run = proc_start(ARGS("run", url, "--rate", "100", "-n", "20",
                                      "-q", "--no-keepalive", "-o", dir));
    json_t *summary;

    (void)state;
    run_must_end(&run, dir, 0);
    stub_stop(&stub);
    summary = load_summary(dir);
    assert_true(number_at(summary, "requests.ok") == 20);
    assert_true(number_at(summary, "requests.opened_connection") == 20);
    assert_true(number_at(summary, "measures.e2e.mean_ms") >= 200);
    json_decref(summary);
    free(url);
}

/* One in four, reset when its service is over: each is a failure, none is sent
 * again.  Over a warm connection, and where others are between two requests. */
static void resets_are_failures_however_soon(void **state)
{
    static const char *const services[] = {"none", "fixed 5ms", "fixed 20ms"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const char *dir = tmpdir_path("soon");
        char *url;
        struct proc stub =
            stub_start(ARGS("stub", "--fault", "reset every=4", "--replicas",
                            "16", "--service", services[i]),
                       &url);
        struct proc run = proc_start(ARGS("run", url, "--rate", "100", "-n",
                                          "100", "--transport", "native", "-q",
                                          "--force", "-o", dir));
        json_t *summary;

        run_must_end(&run, dir, 0);
        stub_stop(&stub);
        summary = load_summary(dir);
        assert_true(failures_of(summary, "reset") == 25);
        assert_true(number_at(summary, "requests.retried") == 0);
        json_decref(summary);
        free(url);
    }
}

/* The server had them for 20 ms and then reset the connection: each is a
 * failure, none is sent again, whoever carries them. */
static void resets_in_service_are_failures(void **state)
{
    static const char *const transports[] = {"native", "curl"};
    char *url;
    struct proc stub = stub_start(
        ARGS("stub", "--delay", "20ms", "--fault", "reset every=4"), &url);

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char *dir = xstrdup(tmpdir_path(transports[i]));
        struct proc run =
            proc_start(ARGS("run", url, "--transport", transports[i], "-c", "1",
                            "-n", "40", "-q", "-o", dir));
        json_t *summary;

        run_must_end(&run, dir, 0);
        summary = load_summary(dir);
        assert_true(failures_of(summary, "reset") == 10);
        assert_true(number_at(summary, "requests.retried") == 0);
        json_decref(summary);
        free(dir);
    }
    stub_stop(&stub);
    free(url);
}

/* ---- killed and restarted ---- */

static int port_of(const char *url)
{
    return (int)strtol(strrchr(url, ':') + 1, NULL, 10);
}

/* Where the last request of the schedule got to. */
static int64_t last_outcome(const char *dir)
{
    char *path = xasprintf("%s/requests.tgr", dir);
    size_t n;
    struct facts *rows = table_read(path, &schema_requests, &n);
    const struct facts *last = rows;
    int64_t outcome;

    for (size_t i = 1; i < n; i++) {
        if (rows[i].seq > last->seq)
            last = &rows[i];
    }
    outcome = last->outcome;
    free(rows);
    free(path);
    return outcome;
}

static void a_server_killed_and_restarted(void **state)
{
    char *dir = xstrdup(tmpdir_path("restarted"));
    char *url;
    char *again;
    char port[8];
    struct proc stub = stub_start(ARGS("stub"), &url);
    struct proc run = proc_start(
        ARGS("run", url, "--rate", "200", "--duration", "4s", "-q", "-o", dir));
    json_t *summary;

    (void)state;
    wait_for_rows(dir);
    kill(stub.pid, SIGKILL);
    must_end(&stub, 128 + SIGKILL);
    clk_sleep_ns(100 * NS_PER_MS); /* so that some find nobody */
    snprintf(port, sizeof(port), "%d", port_of(url));
    stub = stub_start(ARGS("stub", "--port", port), &again);
    run_must_end(&run, dir, 0);
    stub_stop(&stub);
    summary = load_summary(dir);
    assert_true(failures_saying(summary, "connect", "Connection refused") > 0);
    assert_true(number_at(summary, "requests.unsent") == 0);
    assert_int_equal(last_outcome(dir), OUTCOME_OK);
    json_decref(summary);
    free(again);
    free(url);
    free(dir);
}

/* ---- the client itself ---- */

/* It says so, and does not throw its backlog at the server. */
static void a_client_that_was_stopped(void **state)
{
    char *dir = xstrdup(tmpdir_path("stopped"));
    char *url;
    struct proc stub = stub_start(ARGS("stub"), &url);
    struct proc run =
        proc_start(ARGS("run", url, "--rate", "400", "--duration", "3s",
                        "--max-burst", "10", "-q", "-o", dir));
    json_t *summary;

    (void)state;
    wait_for_rows(dir);
    kill(run.pid, SIGSTOP);
    clk_sleep_ns(800 * NS_PER_MS);
    kill(run.pid, SIGCONT);
    must_end(&run, 4);
    stub_stop(&stub);
    summary = load_summary(dir);
    assert_true(check_failed(summary, "suspended"));
    assert_true(check_failed(summary, "unsent"));
    assert_true(number_at(summary, "requests.unsent") > 100);
    assert_true(number_at(summary, "requests.ok") > 100);
    json_decref(summary);
    free(url);
    free(dir);
}

/* Nor does a closed loop pass its own absence off as the server's: stopped in
 * its first second, or between two observations. */
static void a_closed_loop_that_was_stopped(void **state)
{
    static const int64_t after_ms[] = {400, 1300};
    char *url;
    struct proc stub = stub_start(ARGS("stub", "--delay", "1ms"), &url);

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const char *dir = tmpdir_path(i ? "stopped-later" : "stopped-early");
        struct proc run = proc_start(
            ARGS("run", url, "-c", "2", "--duration", "3s", "-q", "-o", dir));
        json_t *summary;

        clk_sleep_ns(after_ms[i] * NS_PER_MS);
        kill(run.pid, SIGSTOP);
        clk_sleep_ns(600 * NS_PER_MS);
        kill(run.pid, SIGCONT);
        must_end(&run, 4);
        summary =
            load_summary(tmpdir_path(i ? "stopped-later" : "stopped-early"));
        assert_true(check_failed(summary, "suspended"));
        json_decref(summary);
    }
    stub_stop(&stub);
    free(url);
}

/* Ten times what any client can do is not a latency. */
static void a_client_asked_for_too_much(void **state)
{
    const char *dir = tmpdir_path("much");
    char *url;
    struct proc stub = stub_start(ARGS("stub"), &url);
    struct proc run = proc_start(
        ARGS("run", url, "--rate", "2M", "--duration", "1s", "--timeout",
             "500ms", "--max-in-flight", "256", "-q", "-o", dir));
    json_t *summary;

    (void)state;
    must_end(&run, 4);
    stub_stop(&stub);
    summary = load_summary(dir);
    assert_true(check_failed(summary, "unsent"));
    assert_true(check_failed(summary, "lag p50"));
    json_decref(summary);
    free(url);
}

static void pin_to_first_cpu(void)
{
    cpu_set_t allowed;
    cpu_set_t first;
    size_t cpu = 0;

    CPU_ZERO(&first);
    sched_getaffinity(0, sizeof(allowed), &allowed);
    while (!CPU_ISSET(cpu, &allowed))
        cpu++;
    CPU_SET(cpu, &first);
    sched_setaffinity(0, sizeof(first), &first);
}

/* Its share of that CPU is a seventieth of the hog's. */
static void starve(void)
{
    pin_to_first_cpu();
    if (nice(19) < 0)
        _exit(99);
}

static pid_t hog_start(void)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(60);
    pin_to_first_cpu();
    for (;;)
        continue;
}

static void a_client_without_cpu(void **state)
{
    const char *dir = tmpdir_path("starved");
    char *url;
    struct proc stub = stub_start(ARGS("stub"), &url);
    pid_t hog = hog_start();
    struct proc run =
        proc_start_with(ARGS("run", url, "--rate", "5000", "--duration", "2s",
                             "--timeout", "1s", "-q", "-o", dir),
                        starve);
    struct proc_result r = proc_wait(&run);

    (void)state;
    kill(hog, SIGKILL);
    waitpid(hog, NULL, 0);
    stub_stop(&stub);
    proc_expect(&r, 4);
    assert_non_null(strstr(r.out, "INVALID"));
    proc_result_fini(&r);
    json_decref(load_summary(dir));
    free(url);
}

/* In a closed loop nothing is late, and libcurl's answers have no timestamps:
 * what is left is how long the client waited for a CPU. */
static void a_closed_loop_without_cpu(void **state)
{
    const char *dir = tmpdir_path("starved-closed");
    char *url;
    struct proc stub = stub_start(ARGS("stub"), &url);
    pid_t hog = hog_start();
    struct proc run =
        proc_start_with(ARGS("run", url, "-c", "4", "--duration", "2s",
                             "--transport", "curl", "-q", "-o", dir),
                        starve);
    struct proc_result r = proc_wait(&run);

    (void)state;
    kill(hog, SIGKILL);
    waitpid(hog, NULL, 0);
    stub_stop(&stub);
    proc_expect(&r, 4);
    assert_non_null(strstr(r.out, "  cpu wait       BAD "));
    assert_null(strstr(r.out, "harmless"));
    proc_result_fini(&r);
    json_decref(load_summary(dir));
    free(url);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_responses),
        cmocka_unit_test(a_header_of_100_mb),
        cmocka_unit_test(a_name_that_does_not_resolve),
        cmocka_unit_test(a_server_that_does_not_accept),
        cmocka_unit_test(slow_accept),
        cmocka_unit_test(resets_are_failures_however_soon),
        cmocka_unit_test(resets_in_service_are_failures),
        cmocka_unit_test(a_server_killed_and_restarted),
        cmocka_unit_test(a_client_that_was_stopped),
        cmocka_unit_test(a_closed_loop_that_was_stopped),
        cmocka_unit_test(a_client_asked_for_too_much),
        cmocka_unit_test(a_client_without_cpu),
        cmocka_unit_test(a_closed_loop_without_cpu),
    };

    return cmocka_run_group_tests_name("fault_matrix", tests, tmpdir_setup,
                                       tmpdir_teardown);
}
