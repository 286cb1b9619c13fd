/* TLS, HTTP/2, proxies and unix sockets against nginx, with certificates made
 * here: what works, and what can go wrong, each under its own name.
 *
 * load_summary() checks the identity of the counts each time. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/xalloc.h"
#include "tests/support/certs.h"
#include "tests/support/nginx.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/proxy.h"
#include "tests/support/rawserver.h"
#include "tests/support/tmpdir.h"

enum site {
    PLAIN,
    TLS,
    TWO, /* HTTP/2 */
    EXPIRED,
    SELF_SIGNED,
    OTHER_HOST,
    CLIENT_CERT, /* asks for one */
    OLD,         /* speaks what nobody else does any more */
    MUTE,        /* closes instead of answering */
    MUTE_TWO,
    SITES,
};

static struct nginx nginx;
static char *ca; /* its file */

static int setup(void **state)
{
    struct nginx_site sites[SITES] = {
        [PLAIN] = {0},
        [TLS] = {.cert = "server"},
        [TWO] = {.cert = "server", .listen = "http2"},
        [EXPIRED] = {.cert = "expired"},
        [SELF_SIGNED] = {.cert = "self"},
        [OTHER_HOST] = {.cert = "other-host"},
        [CLIENT_CERT] = {.cert = "server"},
        [OLD] = {.cert = "server", .settings = "ssl_protocols TLSv1.1;"},
        [MUTE] = {.cert = "server", .location = "return 444;"},
        [MUTE_TWO] = {.cert = "server",
                      .listen = "http2",
                      .location = "return 444;"},
    };
    char *asks;

    if (tmpdir_setup(state))
        return -1;
    certs_make();
    ca = xstrdup(tmpdir_path("ca.pem"));
    asks = xasprintf("ssl_verify_client on; ssl_client_certificate %s;", ca);
    sites[CLIENT_CERT].settings = asks;
    nginx = nginx_start(sites, SITES);
    free(asks);
    return 0;
}

static int teardown(void **state)
{
    nginx_stop(&nginx);
    free(ca);
    return tmpdir_teardown(state);
}

/* ---- runs ---- */

#define REQUESTS 40

/* A few clients, and so many requests.  The caller owns the summary. */
#define RUN(status, ...)                                                       \
    run_summary(status, ARGS("run", "-c", "4", "-n", "40", "-q", "--force",    \
                             "-o", tmpdir_path("run"), __VA_ARGS__))

static json_t *run_summary(int status, const char *const *argv)
{
    struct proc run = proc_start(argv);
    char *dir = xstrdup(tmpdir_path("run"));
    json_t *summary;

    run_must_end(&run, dir, status);
    summary = load_summary(dir);
    free(dir);
    return summary;
}

static void must_be_ok(json_t *summary)
{
    assert_true(number_at(summary, "requests.ok") == REQUESTS);
    json_decref(summary);
}

static void must_all_say(json_t *summary, const char *outcome, const char *text)
{
    if (failures_of(summary, outcome) != REQUESTS ||
        failures_saying(summary, outcome, text) != REQUESTS) {
        char *said = json_dumps(json_object_get(summary, "failures"), 0);

        print_error("not '%s: %s': %s\n", outcome, text, said);
        free(said);
        fail();
    }
    json_decref(summary);
}

/* Libraries word things differently; the part that says it all. */
static void must_all_mention(json_t *summary, const char *outcome,
                             const char *part)
{
    const json_t *kind =
        json_array_get(json_object_get(summary, "failures"), 0);
    const char *text = json_string_value(json_object_get(kind, "text"));

    assert_non_null(text);
    if (!strstr(text, part))
        print_error("'%s' does not say '%s'\n", text, part);
    assert_non_null(strstr(text, part));
    must_all_say(json_incref(summary), outcome, text);
    json_decref(summary);
}

/* No run, and nothing recorded. */
static void must_not_start(const char *part, const char *const *argv)
{
    struct proc_result r = proc_run(argv);

    proc_expect(&r, 3);
    if (!strstr(r.err, part))
        print_error("'%s' does not say '%s'\n", r.err, part);
    assert_non_null(strstr(r.err, part));
    assert_int_equal(access(tmpdir_path("never"), F_OK), -1);
    proc_result_fini(&r);
}

#define REFUSED(part, ...)                                                     \
    must_not_start(part, ARGS("run", "-c", "4", "-n", "40", "-q", "-o",        \
                              tmpdir_path("never"), __VA_ARGS__))

/* ---- what works ---- */

static void https(void **state)
{
    json_t *summary = RUN(0, nginx.urls[TLS], "--cacert", ca);

    (void)state;
    assert_true(number_at(summary, "requests.opened_connection") <= 4);
    assert_true(number_at(summary, "measures.connect.n") ==
                number_at(summary, "requests.opened_connection"));
    assert_true(number_at(summary, "measures.tls.n") ==
                number_at(summary, "requests.opened_connection"));
    assert_true(number_at(summary, "measures.tls.mean_ms") > 0);
    assert_true(number_at(summary, "requests.reuse") >= 0.9);
    must_be_ok(summary);
}

/* The name in the URL is what the certificate must be for, whatever address it
 * has. */
static void https_by_name(void **state)
{
    char *url = xasprintf("https://localhost:%d/", nginx.ports[TLS]);

    (void)state;
    must_be_ok(RUN(0, url, "--cacert", ca));
    free(url);
}

static void what_the_report_says_of_tls(void **state)
{
    struct proc_result r =
        proc_run(ARGS("run", nginx.urls[SELF_SIGNED], "--insecure", "-c", "2",
                      "-n", "40", "-q", "--force", "-o", tmpdir_path("run")));

    (void)state;
    run_expect(&r, tmpdir_path("run"), 0);
    assert_non_null(strstr(r.out, "\ntls "));
    assert_non_null(strstr(r.out, " reused one (95%)"));
    assert_non_null(
        strstr(r.out, "INSECURE: the server's certificate was not verified"));
    proc_result_fini(&r);
}

static void a_client_certificate(void **state)
{
    char *cert = xstrdup(tmpdir_path("client.pem"));
    char *key = xstrdup(tmpdir_path("client.key"));

    (void)state;
    must_be_ok(RUN(0, nginx.urls[CLIENT_CERT], "--cacert", ca, "--cert", cert,
                   "--key", key));
    /* nginx ends the handshake, and then says what it lacks */
    must_all_say(RUN(1, nginx.urls[CLIENT_CERT], "--cacert", ca), "status",
                 "HTTP status 400");
    free(key);
    free(cert);
}

static void a_unix_socket(void **state)
{
    (void)state;
    must_be_ok(
        RUN(0, "http://nowhere.invalid/", "--unix-socket", nginx.socket_path));
    REFUSED("unix socket /nowhere/at/all: No such file or directory",
            "http://nowhere.invalid/", "--unix-socket", "/nowhere/at/all");
}

/* ---- HTTP/2 ---- */

/* A site before the stub, which answers after 50 ms. */
static struct nginx front_start(const char *stub_url, const char *settings)
{
    char *location = xasprintf("proxy_pass %s;", stub_url);
    struct nginx front = nginx_start(&(struct nginx_site){.cert = "server",
                                                          .listen = "http2",
                                                          .settings = settings,
                                                          .location = location},
                                     1);

    free(location);
    return front;
}

/* 20 are on their way at any time, on one connection. */
static void many_streams_on_a_connection(void **state)
{
    char *dir = xstrdup(tmpdir_path("streams"));
    char *url;
    struct proc stub = stub_start(ARGS("stub", "--delay", "50ms"), &url);
    struct nginx front = front_start(url, "");
    struct proc run = proc_start(ARGS(
        "run", front.urls[0], "--http2", "--cacert", ca, "--arrival",
        "constant", "--rate", "400", "-n", "200", "-t", "1", "-q", "-o", dir));
    json_t *summary;

    (void)state;
    run_must_end(&run, dir, 0);
    summary = load_summary(dir);
    nginx_stop(&front);
    stub_stop(&stub);
    assert_true(number_at(summary, "requests.ok") == 200);
    assert_true(number_at(summary, "requests.opened_connection") <= 2);
    json_decref(summary);
    free(url);
    free(dir);
}

/* After 20 requests nginx says GOAWAY, with others on their way and to come. */
static void goaway(void **state)
{
    char *dir = xstrdup(tmpdir_path("goaway"));
    char *url;
    struct proc stub = stub_start(ARGS("stub", "--delay", "50ms"), &url);
    struct nginx front = front_start(url, "keepalive_requests 20;");
    struct proc run = proc_start(
        ARGS("run", front.urls[0], "--http2", "--cacert", ca, "--arrival",
             "constant", "--rate", "400", "-n", "400", "-q", "-o", dir));
    json_t *summary;

    (void)state;
    run_must_end(&run, dir, 0);
    summary = load_summary(dir);
    nginx_stop(&front);
    stub_stop(&stub);
    assert_true(number_at(summary, "requests.scheduled") == 400);
    assert_true(number_at(summary, "requests.unsent") == 0);
    assert_true(number_at(summary, "requests.ok") == 400);
    assert_true(number_at(summary, "requests.opened_connection") >= 10);
    json_decref(summary);
    free(url);
    free(dir);
}

static void a_server_that_lacks_http2(void **state)
{
    (void)state;
    must_all_say(RUN(1, nginx.urls[TLS], "--http2", "--cacert", ca), "connect",
                 "the server does not speak HTTP/2");
}

static void no_http2_without_tls(void **state)
{
    struct proc_result r =
        proc_run(ARGS("run", nginx.urls[PLAIN], "--http2", "-c", "1"));

    (void)state;
    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "target.http2: over TLS only"));
    proc_result_fini(&r);
}

/* ---- no handshake ---- */

static const struct {
    enum site site;
    const char *part;
} distrusted[] = {
    {EXPIRED, "expired"},
    {SELF_SIGNED, "self-signed certificate"},
    {OTHER_HOST, "matches target host name '127.0.0.1'"},
};

static void certificates_that_prove_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(distrusted) / sizeof(distrusted[0]); i++) {
        const char *url = nginx.urls[distrusted[i].site];

        REFUSED(distrusted[i].part, url, "--cacert", ca);
        must_be_ok(RUN(0, url, "--insecure"));
    }
    REFUSED("certificate", nginx.urls[TLS]);
}

static void versions_that_have_nothing_in_common(void **state)
{
    (void)state;
    must_all_mention(RUN(1, nginx.urls[OLD], "--cacert", ca), "connect",
                     "alert");
}

/* Servers that do something else where a handshake is due. */
static const struct {
    const char *bytes;
    enum raw_ending ending;
    const char *part;
} no_tls[] = {
    {"HTTP/1.1 400 Bad Request\r\n\r\n", RAW_CLOSE, "wrong version number"},
    {"", RAW_CLOSE, ""},
    {"", RAW_RESET, "Connection reset by peer"},
    {"\x16\x03\x03", RAW_CLOSE, ""},
    {"", RAW_HOLD, "not connected within the connect timeout"},
};

static void servers_that_break_the_handshake_off(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(no_tls) / sizeof(no_tls[0]); i++) {
        struct rawserver server = rawserver_start(
            no_tls[i].bytes, strlen(no_tls[i].bytes), no_tls[i].ending);
        char *url = xasprintf("https%s", server.url + strlen("http"));

        must_all_mention(RUN(1, url, "--connect-timeout",
                             no_tls[i].ending == RAW_HOLD ? "50ms" : "10s"),
                         "connect", no_tls[i].part);
        rawserver_stop(&server);
        free(url);
    }
}

static void files_that_are_not_there(void **state)
{
    static const char *const flags[] = {"--cacert", "--cert", "--key"};

    (void)state;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        struct proc_result r =
            proc_run(ARGS("run", nginx.urls[TLS], "--cacert", ca, "--cert", ca,
                          "--key", ca, flags[i], "/nowhere/at/all", "-c", "1"));

        proc_expect(&r, 2);
        assert_non_null(strstr(r.err, "/nowhere/at/all: No such file"));
        proc_result_fini(&r);
    }
}

/* ---- after the handshake ---- */

#define HEAD "HTTP/1.1 200 OK\r\n"

static const struct {
    const char *bytes;
    enum raw_ending ending;
    const char *outcome;
    const char *text;
} upstreams[] = {
    {HEAD "Content-Length: 9\r\n\r\nhi", RAW_CLOSE, "truncated",
     "closed inside the response"},
    {HEAD "Content-Length: 9\r\n\r\nhi", RAW_RESET, "truncated",
     "closed inside the response"},
    {HEAD "Transfer-Encoding: chunked\r\n\r\n5\r\nhi", RAW_CLOSE, "truncated",
     "closed inside the response"},
    {HEAD "Content-Length: 9\r\n\r\nhi", RAW_HOLD, "timeout",
     "no answer within the timeout"},
    {"", RAW_HOLD, "timeout", "no answer within the timeout"},
    {"", RAW_CLOSE, "status", "HTTP status 502"},
};

#define STREAM_RESET "the server reset the HTTP/2 stream"

/* nginx passes on what the server behind it breaks off: in HTTP/1.1 by closing
 * the connection, in HTTP/2 by a reset of the stream. */
static void answers_that_break_off(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(upstreams) / sizeof(upstreams[0]); i++) {
        struct rawserver server =
            rawserver_start(upstreams[i].bytes, strlen(upstreams[i].bytes),
                            upstreams[i].ending);
        struct nginx front = front_start(server.url, "");
        const char *outcome = upstreams[i].outcome;
        const char *text = upstreams[i].text;
        const char *timeout = strcmp(outcome, "timeout") == 0 ? "100ms" : "20s";
        bool is_cut = strcmp(outcome, "truncated") == 0;

        must_all_say(
            RUN(1, front.urls[0], "--cacert", ca, "--timeout", timeout),
            outcome, text);
        must_all_say(RUN(1, front.urls[0], "--cacert", ca, "--timeout", timeout,
                         "--http2"),
                     is_cut ? "reset" : outcome, is_cut ? STREAM_RESET : text);
        nginx_stop(&front);
        rawserver_stop(&server);
    }
}

static void servers_that_do_not_answer(void **state)
{
    (void)state;
    must_all_say(RUN(1, nginx.urls[MUTE], "--cacert", ca), "reset",
                 "closed before any response");
    must_all_say(RUN(1, nginx.urls[MUTE_TWO], "--cacert", ca, "--http2"),
                 "reset", STREAM_RESET);
}

/* ---- proxies ---- */

/* The proxy leads to nginx whatever is asked for, so that whoever gets an
 * answer from nowhere.invalid went through it. */
static void through_a_proxy(void **state)
{
    struct proxy plain = proxy_start(nginx.ports[PLAIN]);
    struct proxy tls = proxy_start(nginx.ports[TLS]);
    char *plain_url = xasprintf("http://127.0.0.1:%d", plain.port);
    char *tls_url = xasprintf("http://localhost:%d", tls.port);

    (void)state;
    must_be_ok(RUN(0, "http://nowhere.invalid/", "--proxy", plain_url));
    must_be_ok(
        RUN(0, "https://localhost:1/", "--proxy", tls_url, "--cacert", ca));
    setenv("no_proxy", "*", 1);
    must_be_ok(RUN(0, "http://nowhere.invalid/", "--proxy", plain_url));
    unsetenv("no_proxy");
    free(tls_url);
    free(plain_url);
    proxy_stop(&tls);
    proxy_stop(&plain);
}

static void a_proxy_that_is_not_there(void **state)
{
    int port = free_port();
    char *proxy = xasprintf("http://user:planted@127.0.0.1:%d", port);
    char *want =
        xasprintf("tailgate: proxy 127.0.0.1:%d: Connection refused\n", port);

    (void)state;
    REFUSED(want, "http://nowhere.invalid/", "--proxy", proxy);
    REFUSED(want, "https://nowhere.invalid/", "--proxy", proxy);
    free(want);
    free(proxy);
}

static const char *const ambient[] = {"http_proxy", "https_proxy", "ALL_PROXY"};

static void set_ambient(bool is_set)
{
    char proxy[40];

    snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", free_port());
    for (size_t i = 0; i < sizeof(ambient) / sizeof(ambient[0]); i++) {
        if (is_set)
            setenv(ambient[i], proxy, 1);
        else
            unsetenv(ambient[i]);
    }
}

static void proxies_of_the_environment(void **state)
{
    struct proc_result r;

    (void)state;
    set_ambient(true);
    must_be_ok(RUN(0, nginx.urls[PLAIN], "--transport", "native"));
    must_be_ok(RUN(0, nginx.urls[PLAIN], "--transport", "curl"));
    must_be_ok(RUN(0, nginx.urls[TLS], "--cacert", ca));
    r = proc_run(ARGS("run", nginx.urls[TLS], "--cacert", ca, "-c", "1", "-n",
                      "40", "--force", "-o", tmpdir_path("run")));
    set_ambient(false);
    run_expect(&r, tmpdir_path("run"), 0);
    for (size_t i = 0; i < sizeof(ambient) / sizeof(ambient[0]); i++) {
        char *note =
            xasprintf("%s is set and ignored; use --proxy\n", ambient[i]);

        assert_non_null(strstr(r.err, note));
        free(note);
    }
    proc_result_fini(&r);
}

/* ---- the two transports ---- */

#define SAMPLES 1000

/* A fresh stub draws the same times again. */
static json_t *against_the_slow_stub(const char *transport)
{
    const char *dir = tmpdir_path("slow");
    char *url;
    struct proc stub = stub_start(
        ARGS("stub", "--service", "exponential 20ms", "--replicas", "64"),
        &url);
    struct proc run =
        proc_start(ARGS("run", url, "--transport", transport, "--rate", "250",
                        "-n", "1000", "--force", "-q", "-o", dir));
    json_t *summary;

    run_must_end(&run, dir, 0);
    summary = load_summary(dir);
    stub_stop(&stub);
    free(url);
    return summary;
}

/* At 250/s some 5 of the 64 servers are busy, so nobody waits and e2e is the
 * service: exponential.  Its p-quantile from n samples has the standard error
 * sqrt(p(1-p)/n) / density = mean * sqrt(p / (1-p) / n), the difference of two
 * sqrt(2) times that.  Five of these would be chance in 10^6 if the draws were
 * independent; they are the same, so the bound is wide. */
static void both_transports_measure_the_same(void **state)
{
    static const struct {
        const char *path;
        double p;
    } quantiles[] = {{"measures.e2e.p50_ms", 0.5},
                     {"measures.e2e.p90_ms", 0.9}};
    json_t *native = against_the_slow_stub("native");
    json_t *curl = against_the_slow_stub("curl");

    (void)state;
    for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
        double p = quantiles[i].p;
        double bound = 5 * sqrt(2) * 20 * sqrt(p / (1 - p) / SAMPLES);
        double ours = number_at(native, quantiles[i].path);
        double its = number_at(curl, quantiles[i].path);

        print_message("%s: native %.2f, curl %.2f, bound %.2f\n",
                      quantiles[i].path, ours, its, bound);
        assert_true(fabs(ours - its) < bound);
    }
    json_decref(curl);
    json_decref(native);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(https),
        cmocka_unit_test(https_by_name),
        cmocka_unit_test(what_the_report_says_of_tls),
        cmocka_unit_test(a_client_certificate),
        cmocka_unit_test(a_unix_socket),
        cmocka_unit_test(many_streams_on_a_connection),
        cmocka_unit_test(goaway),
        cmocka_unit_test(a_server_that_lacks_http2),
        cmocka_unit_test(no_http2_without_tls),
        cmocka_unit_test(certificates_that_prove_nothing),
        cmocka_unit_test(versions_that_have_nothing_in_common),
        cmocka_unit_test(servers_that_break_the_handshake_off),
        cmocka_unit_test(files_that_are_not_there),
        cmocka_unit_test(answers_that_break_off),
        cmocka_unit_test(servers_that_do_not_answer),
        cmocka_unit_test(through_a_proxy),
        cmocka_unit_test(a_proxy_that_is_not_there),
        cmocka_unit_test(proxies_of_the_environment),
        cmocka_unit_test(both_transports_measure_the_same),
    };

    return cmocka_run_group_tests_name("tls", tests, setup, teardown);
}
