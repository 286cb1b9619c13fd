/* TLS against nginx, with certificates made here: what works, and what can go
 * wrong, each under its own name.
 *
 * load_summary() checks the identity of the counts each time. */
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "tests/support/certs.h"
#include "tests/support/forty.h"
#include "tests/support/h2server.h"
#include "tests/support/keep.h"
#include "tests/support/nginx.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/rawserver.h"
#include "tests/support/rendered.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"
#include "tests/support/tool.h"

enum site {
    TLS,
    SELF_SIGNED,
    CLIENT_CERT, /* asks for one */
    OLD,         /* speaks versions that are no longer supported */
    MUTE,        /* closes instead of answering */
    MUTE_TWO,
    SITES,
};

static struct nginx nginx;

static int setup(void **state)
{
    struct nginx_site sites[SITES] = {
        [TLS] = {.cert = "server",
                 .settings = "ssl_protocols TLSv1.2 TLSv1.3;"},
        [SELF_SIGNED] = {.cert = "self"},
        [CLIENT_CERT] = {.cert = "server"},
        [OLD] = {.cert = "server", .settings = "ssl_protocols TLSv1.1;"},
        [MUTE] = {.cert = "server", .location = "return 444;"},
        [MUTE_TWO] = {.cert = "server",
                      .listen = "http2",
                      .location = "return 444;"},
    };
    char *asks;

    if (certs_setup(state))
        return -1;
    asks = keepf("ssl_verify_client on; ssl_client_certificate %s;",
                 tmpdir_path("ca.pem"));
    sites[CLIENT_CERT].settings = asks;
    nginx = nginx_start(sites, SITES);
    return 0;
}

static int teardown(void **state)
{
    nginx_stop(&nginx);
    return tmpdir_teardown(state);
}

/* ---- what works ---- */

TEST(https)
{
    json_t *summary = RUN(0, nginx.urls[TLS], "--cacert", nginx.ca);

    assert_true(number_at(summary, "requests.opened_connection") <= 4);
    assert_true(number_at(summary, "measures.connect.n") ==
                number_at(summary, "requests.opened_connection"));
    assert_true(number_at(summary, "measures.tls.n") ==
                number_at(summary, "requests.opened_connection"));
    assert_true(number_at(summary, "measures.tls.mean_ms") > 0);
    assert_true(number_at(summary, "requests.reuse") >= 0.9);
    must_be_ok(summary);
}

/* All handshakes but the first ones of the run, while they are under way. */
TEST(sessions_are_resumed)
{
    static const char *const transports[] = {"native", "curl"};

    for (size_t i = 0; i < COUNT(transports); i++) {
        json_t *summary =
            RUN(0, nginx.urls[TLS], "--cacert", nginx.ca, "--no-keepalive",
                "--threads", "1", "--transport", transports[i]);
        const char *protocol =
            json_string_value(part_at(summary, "tls/protocol"));

        assert_string_equal(protocol, "TLSv1.3 TLS_AES_256_GCM_SHA384");
        assert_true(number_at(summary, "tls.handshakes") == FORTY);
        assert_true(number_at(summary, "tls.resumed") >= FORTY - 4);
        must_be_ok(summary);
        summary =
            RUN(0, nginx.urls[TLS], "--cacert", nginx.ca, "--no-keepalive",
                "--tls-resume", "off", "--transport", transports[i]);
        assert_true(number_at(summary, "tls.resumed") == 0);
        must_be_ok(summary);
    }
}

/* The name in the URL is what the certificate must be for, whatever address it
 * has. */
TEST(https_by_name)
{
    char *url = keepf("https://localhost:%d/", nginx.ports[TLS]);

    must_be_ok(RUN(0, url, "--cacert", nginx.ca));
}

TEST(what_the_report_says_of_tls)
{
    struct proc_result r = proc_run(
        ARGS("run", "-v", nginx.urls[SELF_SIGNED], "--insecure", "-c", "2",
             "-n", "40", "-q", "--force", "-o", tmpdir_path("run")));
    struct proc_result brief = proc_run(ARGS("report", tmpdir_path("run")));

    run_expect(&r, tmpdir_path("run"), 0);
    assert_non_null(strstr(r.out, "\ntls "));
    assert_non_null(strstr(r.out, ", share of reuse 95%"));
    assert_non_null(
        strstr(r.out, "INSECURE: the server's certificate was not verified"));
    assert_non_null(strstr(brief.out, "INSECURE: the server's certificate was "
                                      "not verified"));
}

TEST(a_client_certificate)
{
    char *cert = tmpdir_path("client.pem");
    char *key = tmpdir_path("client.key");

    must_be_ok(RUN(0, nginx.urls[CLIENT_CERT], "--cacert", nginx.ca, "--cert",
                   cert, "--key", key));
    /* nginx ends the handshake, and then says what it lacks */
    must_all_say(RUN(1, nginx.urls[CLIENT_CERT], "--cacert", nginx.ca),
                 "status", "HTTP status 400");
}

/* Not for every connection. */
TEST(authorities_are_read_once)
{
    char *copy = keepf("%s.copy", nginx.ca);
    char *dir = tmpdir_path("read-once");
    struct proc run;
    json_t *summary;

    tool_run(TOOL("cp", nginx.ca, copy), tmpdir_path("cp.out"));
    run = proc_start(ARGS("run", nginx.urls[TLS], "--cacert", copy,
                          "--no-keepalive", "--rate", "100", "--duration",
                          "1500ms", "-q", "-o", dir));
    wait_for_rows(dir);
    assert_int_equal(unlink(copy), 0);
    run_must_end(&run, dir, 0);
    summary = load_summary(dir);
    assert_true(number_at(summary, "requests.failed") == 0);
    assert_true(number_at(summary, "requests.opened_connection") > 50);
}

TEST(a_file_without_authorities)
{
    const char *path = tmpdir_write("empty.pem", "none\n", 5);
    struct proc_result r =
        proc_run(ARGS("run", nginx.urls[TLS], "--cacert", path, "-c", "1"));

    proc_expect(&r, 2);
    assert_non_null(strstr(r.err, "empty.pem: no certificates in it"));
}

/* ---- no handshake ---- */

/* In the words of libcurl, which looks at servers before a run; those of the
 * native transport are the same (unit.tls). */
TEST(certificates_that_prove_nothing)
{
    for (size_t i = 0; i < n_cert_verdicts; i++) {
        const struct cert_verdict *v = &cert_verdicts[i];
        struct nginx_site site = {.cert = v->cert};
        struct nginx server = nginx_start(&site, 1);
        char *url = keepf("https://%s:%d/", v->host, server.ports[0]);
        char *ca = keepf("%s/%s.pem", tmpdir_root(), v->ca);

        if (v->why) {
            REFUSED(v->why, url, "--cacert", ca);
            must_be_ok(RUN(0, url, "--insecure"));
        } else {
            must_be_ok(RUN(0, url, "--cacert", ca));
            must_be_ok(RUN(0, url, "--cacert", ca, "--transport", "curl"));
        }
        nginx_stop(&server);
    }
    REFUSED("certificate", nginx.urls[TLS]);
}

TEST(versions_that_have_nothing_in_common)
{
    must_all_mention(RUN(1, nginx.urls[OLD], "--cacert", nginx.ca), "connect",
                     "alert");
}

/* TLS 1.3 tells the client so when its request is on its way already. */
TEST(a_server_that_wants_a_certificate)
{
    struct h2server server = h2server_start(H2_NOT_SERVED, 0);

    must_all_mention(RUN(1, server.url, "--cacert", nginx.ca), "connect",
                     "certificate required");
    must_all_mention(RUN(1, server.url, "--cacert", nginx.ca, "--cert",
                         tmpdir_path("foreign.pem"), "--key",
                         tmpdir_path("foreign.key")),
                     "connect", "alert unknown ca");
    h2server_stop(&server);
}

/* Less than libcurl's millisecond is one. */
TEST(a_very_short_connect_timeout)
{
    struct rawserver server = rawserver_start("", 0, RAW_HOLD);
    char *url = keepf("https%s", server.url + strlen("http"));

    must_all_say(RUN(1, url, "--connect-timeout", "100us"), "connect",
                 "not connected within the connect timeout");
    rawserver_stop(&server);
}

/* Servers that do something else where a handshake is due. */
static const struct {
    const char *bytes;
    enum raw_ending ending;
    const char *part;
} no_tls[] = {
    {"HTTP/1.1 400 Bad Request\r\n\r\n", RAW_CLOSE, "wrong version number"},
    {"", RAW_CLOSE, "closed inside the TLS handshake"},
    {"", RAW_RESET, "Connection reset by peer"},
    {"\x16\x03\x03", RAW_CLOSE, "closed inside the TLS handshake"},
    {"", RAW_HOLD, "not connected within the connect timeout"},
};

/* In the same words over all transports. */
TEST(servers_that_break_the_handshake_off)
{
    for (size_t i = 0; i < sizeof(no_tls) / sizeof(no_tls[0]); i++) {
        struct rawserver server = rawserver_start(
            no_tls[i].bytes, strlen(no_tls[i].bytes), no_tls[i].ending);
        char *url = keepf("https%s", server.url + strlen("http"));
        const char *timeout = no_tls[i].ending == RAW_HOLD ? "50ms" : "10s";
        json_t *summary = RUN(1, url, "--connect-timeout", timeout);
        char *text =
            keepf("%s", json_string_value(part_at(summary, "failures/0/text")));

        must_all_mention(summary, "connect", no_tls[i].part);
        must_all_say(RUN(1, url, "--connect-timeout", timeout, "--http2"),
                     "connect", text);
        must_all_say(
            RUN(1, url, "--connect-timeout", timeout, "--transport", "curl"),
            "connect", text);
        rawserver_stop(&server);
    }
}

TEST(files_that_are_not_there)
{
    static const char *const flags[] = {"--cacert", "--cert", "--key"};

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        struct proc_result r = proc_run(ARGS(
            "run", nginx.urls[TLS], "--cacert", nginx.ca, "--cert", nginx.ca,
            "--key", nginx.ca, flags[i], "/nowhere/at/all", "-c", "1"));

        proc_expect(&r, 2);
        assert_non_null(strstr(r.err, "/nowhere/at/all: No such file"));
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
    {"", RAW_CLOSE, "status", "HTTP status 502"},
};

#define STREAM_RESET "the server reset the HTTP/2 stream"

/* nginx passes on what the server behind it breaks off: in HTTP/1.1 by closing
 * the connection, in HTTP/2 by a reset of the stream. */
TEST(answers_that_break_off)
{
    for (size_t i = 0; i < sizeof(upstreams) / sizeof(upstreams[0]); i++) {
        struct rawserver server =
            rawserver_start(upstreams[i].bytes, strlen(upstreams[i].bytes),
                            upstreams[i].ending);
        struct nginx front = nginx_before(server.url, "");
        const char *outcome = upstreams[i].outcome;
        const char *text = upstreams[i].text;
        bool is_cut = strcmp(outcome, "truncated") == 0;

        must_all_say(RUN(1, front.urls[0], "--cacert", nginx.ca), outcome,
                     text);
        must_all_say(RUN(1, front.urls[0], "--cacert", nginx.ca, "--http2"),
                     is_cut ? "reset" : outcome, is_cut ? STREAM_RESET : text);
        nginx_stop(&front);
        rawserver_stop(&server);
    }
}

TEST(answers_that_do_not_end)
{
    static const struct {
        const char *beginning;
        const char *text;
    } cases[] = {
        {"", "no answer within the timeout"},
        {HEAD "Content-Length: 9\r\n\r\nhi",
         "the answer was not complete within the timeout"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rawserver server = rawserver_start(
            cases[i].beginning, strlen(cases[i].beginning), RAW_HOLD);
        struct nginx front = nginx_before(server.url, "");

        TIME_OUT(cases[i].text, front.urls[0], "--cacert", nginx.ca);
        TIME_OUT(cases[i].text, front.urls[0], "--cacert", nginx.ca, "--http2");
        nginx_stop(&front);
        rawserver_stop(&server);
    }
}

TEST(servers_that_do_not_answer)
{
    must_all_say(RUN(1, nginx.urls[MUTE], "--cacert", nginx.ca), "reset",
                 "closed before any response");
    must_all_say(RUN(1, nginx.urls[MUTE_TWO], "--cacert", nginx.ca, "--http2"),
                 "reset", STREAM_RESET);
}

/* ---- connections that the server closes ---- */

/* The second attempt is not late because its handshake takes long. */
TEST(a_goodbye_with_the_answer)
{
    struct h2server server = h2server_start(H1_GOODBYE, 20 * NS_PER_MS);
    const char *dir = tmpdir_path("goodbye");
    struct proc_result r =
        proc_run(ARGS("run", server.url, "--cacert", nginx.ca, "--clients", "1",
                      "-n", "10", "--no-preflight", "-q", "-o", dir));
    json_t *summary;

    run_expect(&r, dir, 0);
    summary = load_summary(dir);
    assert_true(number_at(summary, "requests.ok") == 10);
    assert_true(number_at(summary, "requests.opened_connection") == 10);
    assert_int_equal(atomic_load(server.requests), 10);
    h2server_stop(&server);
}

GROUP_FIXTURE(setup, teardown)
