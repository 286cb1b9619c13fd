/* The ways to a server: proxies, unix sockets, another place than the URL's. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/certs.h"
#include "tests/support/forty.h"
#include "tests/support/keep.h"
#include "tests/support/nginx.h"
#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/proxy.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

enum site {
    PLAIN,
    TLS,
    NAMED, /* says which Host was asked for, and which name in TLS */
    SITES,
};

static struct nginx nginx;

static int setup(void **state)
{
    static const struct nginx_site sites[SITES] = {
        [PLAIN] = {.location = "if ($http_host !~ ^(127|localhost|nowhere)) "
                               "{ return 400; } return 200;"},
        [TLS] = {.cert = "server"},
        [NAMED] = {.cert = "other-host",
                   .location = "if ($http_host != elsewhere.invalid:1) "
                               "{ return 400; } "
                               "if ($ssl_server_name != elsewhere.invalid) "
                               "{ return 401; } return 200;"},
    };

    if (certs_setup(state))
        return -1;
    nginx = nginx_start(sites, SITES);
    return 0;
}

static int teardown(void **state)
{
    nginx_stop(&nginx);
    return tmpdir_teardown(state);
}

TEST(a_unix_socket)
{
    must_be_ok(
        RUN(0, "http://nowhere.invalid/", "--unix-socket", nginx.socket_path));
    REFUSED("unix socket /nowhere/at/all: No such file or directory",
            "http://nowhere.invalid/", "--unix-socket", "/nowhere/at/all");
}

/* ---- another place ---- */

static char *place_of(enum site site)
{
    return keepf("localhost:%d", nginx.ports[site]);
}

/* The name and the port of the URL lead nowhere; they are what is asked for. */
TEST(another_place)
{
    char *plain = place_of(PLAIN);
    char *named = place_of(NAMED);

    must_be_ok(RUN(0, "http://nowhere.invalid:1/", "--connect-to", plain,
                   "--transport", "native"));
    must_be_ok(RUN(0, "http://nowhere.invalid:1/", "--connect-to", plain,
                   "--transport", "curl"));
    must_be_ok(RUN(0, "https://elsewhere.invalid:1/", "--connect-to", named,
                   "--cacert", nginx.ca));
}

/* ---- proxies ---- */

/* The proxy leads to nginx whatever is asked for, so that a client that gets an
 * answer from nowhere.invalid went through it. */
TEST(through_a_proxy)
{
    struct proxy plain = proxy_start(nginx.ports[PLAIN]);
    struct proxy tls = proxy_start(nginx.ports[TLS]);
    char *plain_url = keepf("http://127.0.0.1:%d", plain.port);
    char *tls_url = keepf("http://localhost:%d", tls.port);

    must_be_ok(RUN(0, "http://nowhere.invalid/", "--proxy", plain_url));
    must_be_ok(RUN(0, "https://localhost:1/", "--proxy", tls_url, "--cacert",
                   nginx.ca));
    setenv("no_proxy", "*", 1);
    must_be_ok(RUN(0, "http://nowhere.invalid/", "--proxy", plain_url));
    unsetenv("no_proxy");
    proxy_stop(&tls);
    proxy_stop(&plain);
}

TEST(a_proxy_that_is_not_there)
{
    int port = refusing_port();
    char *proxy = keepf("http://user:planted@127.0.0.1:%d", port);
    char *want =
        keepf("tailgate: proxy 127.0.0.1:%d: Connection refused\n", port);

    REFUSED(want, "http://nowhere.invalid/", "--proxy", proxy);
    REFUSED(want, "https://nowhere.invalid/", "--proxy", proxy);
}

static const char *const ambient[] = {"http_proxy", "https_proxy", "ALL_PROXY",
                                      "no_proxy"};

static void set_ambient(bool is_set)
{
    char proxy[40];

    snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", refusing_port());
    for (size_t i = 0; i < sizeof(ambient) / sizeof(ambient[0]); i++) {
        if (is_set)
            setenv(ambient[i], proxy, 1);
        else
            unsetenv(ambient[i]);
    }
}

TEST(proxies_of_the_environment)
{
    struct proc_result r;

    set_ambient(true);
    must_be_ok(RUN(0, nginx.urls[PLAIN], "--transport", "native"));
    must_be_ok(RUN(0, nginx.urls[PLAIN], "--transport", "curl"));
    must_be_ok(RUN(0, nginx.urls[TLS], "--cacert", nginx.ca));
    r = proc_run(ARGS("run", nginx.urls[TLS], "--cacert", nginx.ca, "-c", "1",
                      "-n", "40", "--force", "-o", tmpdir_path("run")));
    set_ambient(false);
    run_expect(&r, tmpdir_path("run"), 0);
    for (size_t i = 0; i < sizeof(ambient) / sizeof(ambient[0]); i++) {
        char *note =
            keepf("%s is set and ignored%s\n", ambient[i],
                  strcmp(ambient[i], "no_proxy") == 0 ? "" : "; use --proxy");

        assert_non_null(strstr(r.err, note));
    }
}

/* Before anybody waits, and without a word of the password. */
TEST(proxies_that_are_none)
{
    static const char *const proxies[] = {
        "pigeon://me:planted@127.0.0.1:1", "http://me:planted@127.0.0.1:99999",
        "http://me:planted@127.0.0.1:x",   "http://me:planted@",
        "http://me:planted@a b:1",         "me:plan/ted@127.0.0.1:1",
        "http://me:plan@ted@127.0.0.1:1",  "http://me:planted@[zz]:1",
    };

    for (size_t i = 0; i < sizeof(proxies) / sizeof(proxies[0]); i++) {
        struct proc_result r =
            proc_run(ARGS("run", "http://nowhere.invalid/", "--proxy",
                          proxies[i], "-c", "1", "--wait-ready", "60s"));

        proc_expect(&r, 2);
        assert_non_null(strstr(r.err, "not a proxy"));
        assert_null(strstr(r.err, "plan"));
    }
}

TEST(a_proxy_whose_name_does_not_resolve)
{
    REFUSED("proxy nowhere.invalid:1: Could not resolve proxy",
            nginx.urls[PLAIN], "--proxy",
            "http://me:planted@nowhere.invalid:1");
}

GROUP_FIXTURE(setup, teardown)
