#include "tests/support/nginx.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "tests/support/keep.h"
#include "tests/support/tmpdir.h"
#include "tests/support/tool.h"

#define MAX_CONFIG ((size_t)64 << 10)

static const char *or_none(const char *text)
{
    return text ? text : "";
}

static void add_site(struct buf *out, const struct nginx *n, size_t i,
                     const struct nginx_site *site)
{
    const char *root = tmpdir_root();
    const char *location = site->location;

    if (!location)
        location = "return 200 '{\"pad\":\"xxxxxxxxxxxxxxxxxxxxxx\"}';";
    buf_addf(out, "server {\nlisten 127.0.0.1:%d reuseport%s %s;\n",
             n->ports[i], site->cert ? " ssl" : "", or_none(site->listen));
    if (i == 0)
        buf_addf(out, "listen unix:%s;\n", n->socket_path);
    if (site->cert)
        buf_addf(out,
                 "ssl_certificate %s/%s.pem;\n"
                 "ssl_certificate_key %s/%s.key;\n",
                 root, site->cert, root, site->cert);
    buf_addf(out, "%s\nlocation / { default_type application/json; %s }\n}\n",
             or_none(site->settings), location);
}

static void add_head(struct buf *out, const char *name)
{
    static const char *const places[] = {"client_body", "proxy", "fastcgi",
                                         "uwsgi", "scgi"};
    const char *root = tmpdir_root();

    buf_addf(out,
             "daemon off;\nmaster_process off;\nworker_processes 1;\n"
             "pid %s/%s.pid;\nerror_log %s/%s.log;\n"
             "events { worker_connections 1000; }\n"
             "http {\naccess_log off;\nproxy_buffering off;\n",
             root, name, root, name);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        buf_addf(out, "%s_temp_path %s/%s-%s;\n", places[i], root, name,
                 places[i]);
}

/* A free port, and a socket that keeps it free for those that share it: nginx
 * cannot be told to take any. */
static int reserve(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)),
                     0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static void wait_for(const char *path)
{
    for (int tries = 0; access(path, F_OK) < 0 && tries < 1000; tries++)
        clk_sleep_ns(10 * NS_PER_MS);
    if (access(path, F_OK) < 0)
        print_error("nginx does not start\n");
    assert_int_equal(access(path, F_OK), 0);
}

static void start(struct nginx *n, const char *name, const char *config)
{
    const char *root = tmpdir_root();
    char *log = keepf("%s/%s.out", root, name);
    char *pid_file = keepf("%s/%s.pid", root, name);

    n->pid =
        tool_start(TOOL("nginx", "-p", root, "-e", log, "-c", config), log);
    wait_for(pid_file); /* written once it listens */
}

struct nginx nginx_start(const struct nginx_site *sites, size_t n_sites)
{
    static int count;
    struct nginx n = {.n_sites = n_sites};
    int fds[NGINX_MAX_SITES];
    struct buf config;
    char name[24];
    char file[32];

    assert_true(n_sites <= NGINX_MAX_SITES);
    snprintf(name, sizeof(name), "nginx%d", count++);
    snprintf(file, sizeof(file), "%s.conf", name);
    snprintf(n.socket_path, sizeof(n.socket_path), "%s/%s.sock", tmpdir_root(),
             name);
    snprintf(n.ca, sizeof(n.ca), "%s/ca.pem", tmpdir_root());
    buf_init(&config, MAX_CONFIG);
    add_head(&config, name);
    for (size_t i = 0; i < n_sites; i++) {
        fds[i] = reserve(&n.ports[i]);
        snprintf(n.urls[i], sizeof(n.urls[i]), "http%s://127.0.0.1:%d",
                 sites[i].cert ? "s" : "", n.ports[i]);
        add_site(&config, &n, i, &sites[i]);
    }
    buf_adds(&config, "}\n");
    start(&n, name, tmpdir_write(file, config.data, config.len));
    for (size_t i = 0; i < n_sites; i++)
        close(fds[i]);
    buf_fini(&config);
    return n;
}

struct nginx nginx_before(const char *url, const char *settings)
{
    char *location = keepf("proxy_pass %s;", url);
    struct nginx front = nginx_start(&(struct nginx_site){.cert = "server",
                                                          .listen = "http2",
                                                          .settings = settings,
                                                          .location = location},
                                     1);

    return front;
}

void nginx_stop(struct nginx *n)
{
    tool_stop(n->pid);
}
