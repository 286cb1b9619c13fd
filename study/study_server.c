#include "study/study_server.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/base/str.h"
#include "common/base/units.h"
#include "common/base/url.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/prepare/preflight.h"
#include "loadgen/prepare/ready.h"
#include "loadgen/prepare/target.h"
#include "study/child.h"

#define SLICE_NS   (1 * NS_PER_S) /* of a wait, between looks at the process */
#define NAP_NS     (50 * NS_PER_MS)
#define PORT_TRIES 10
#define TAIL       4096

/* ---- the port ---- */

/* With the port in place of {port}; owned by the caller. */
static char *fill_in(const char *text, int port)
{
    char number[16];

    snprintf(number, sizeof(number), "%d", port);
    return str_replace(text, URL_PORT, number);
}

/* Does anybody take connections at one of its addresses? */
static bool is_taken_at(const struct addrinfo *at)
{
    const struct timeval patience = {.tv_sec = 1};
    int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, 0);
    bool is_taken;

    if (fd < 0)
        return false;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    is_taken = connect(fd, at->ai_addr, at->ai_addrlen) == 0;
    close(fd);
    return is_taken;
}

static bool is_taken(const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    bool taken = false;

    if (getaddrinfo(host, port, &hints, &list) != 0)
        return false; /* asked again once the server is there */
    for (const struct addrinfo *at = list; at && !taken; at = at->ai_next)
        taken = is_taken_at(at);
    freeaddrinfo(list);
    return taken;
}

/* Whoever answers there already is not what we start, and would pass for it. */
static int check_place(const struct settings *s, struct err *err)
{
    for (size_t i = 0; i < s->target.urls.len; i++) {
        struct url url;

        if (url_parse(s->target.urls.items[i], &url, err))
            return -1;
        if (!s->target.unix_socket && is_taken(url.host, url.port))
            return err_set(err, ERR_IO,
                           "another server listens on %s:%s; end it, or let "
                           "this one have a free port (" URL_PORT
                           " in target.url and server.start)",
                           url.host, url.port);
    }
    return 0;
}

/* Free, and free in a moment: what the kernel hands out once it does not hand
 * out again soon. */
static int find_port(struct err *err)
{
    char text[8];

    for (int i = 0; i < PORT_TRIES; i++) {
        int port = supervise_free_port();

        snprintf(text, sizeof(text), "%d", port);
        if (port > 0 && !is_taken("127.0.0.1", text))
            return port;
    }
    return err_set(err, ERR_IO, "no free port for the server");
}

/* ---- what it says ---- */

/* The last line of its output that is not empty, cut to what a message holds.
 */
static void last_line(const char *log, char line[static TAIL])
{
    FILE *file = fopen(log, "r");
    size_t n = 0;
    char *from;

    line[0] = '\0';
    if (!file)
        return;
    if (fseek(file, -(TAIL - 1), SEEK_END) < 0)
        rewind(file);
    n = fread(line, 1, TAIL - 1, file);
    fclose(file);
    while (n > 0 && (unsigned char)line[n - 1] <= ' ')
        n--;
    line[n] = '\0';
    from = strrchr(line, '\n');
    if (from)
        memmove(line, from + 1, strlen(from + 1) + 1);
}

static int blame(const struct server *server, const char *what, struct err *err)
{
    char line[TAIL];

    last_line(server->log, line);
    return line[0] ? err_set(err, ERR_IO, "%.200s; it said: %.160s", what, line)
                   : err_set(err, ERR_IO, "%.200s; it said nothing", what);
}

int server_blame_end(struct server *server, const char *when, struct err *err)
{
    char end[64];
    char what[128];

    supervise_describe_end(&server->process, end, sizeof(end));
    snprintf(what, sizeof(what), "server.start: the server ended %s: %s", when,
             end);
    return blame(server, what, err);
}

bool server_has_ended(struct server *server)
{
    return supervise_has_ended(&server->process);
}

/* ---- ready? ---- */

/* Ask for a while; 1: it is. */
static int ask_url(struct server *server, const struct settings *s, int64_t ns,
                   struct err *err)
{
    struct target_settings target = s->target;
    struct err why = {0};

    if (server->ready)
        target_aim(&target, &s->target, &server->ready);
    if (ready_wait(&target, ns, &why) == 0)
        return 1;
    if (why.code == ERR_IO)
        return 0;
    *err = why;
    return -1;
}

static int ask_command(const char *command, int64_t ns, struct err *err)
{
    struct err why = {0};

    if (child_run_command(command, "server.ready", ns, &why) == 0)
        return 1;
    if (why.code == ERR_STOPPED) {
        *err = why;
        return -1;
    }
    clk_sleep_ns(NAP_NS);
    return 0;
}

/* A command may have one among its words. */
static bool is_url(const char *text)
{
    const char *scheme = strstr(text, "://");

    return scheme && strcspn(text, " \t\n") > (size_t)(scheme - text);
}

static int ask(struct server *server, const struct settings *s, int64_t left_ns,
               struct err *err)
{
    if (server->ready && !is_url(server->ready))
        return ask_command(server->ready, left_ns, err);
    return ask_url(server, s, left_ns < SLICE_NS ? left_ns : SLICE_NS, err);
}

static int refuse_late(const struct server *server, int64_t ns, struct err *err)
{
    char text[UNITS_TEXT];
    char what[128];

    snprintf(what, sizeof(what), "server.ready: not ready within %s",
             units_print_duration(ns, text));
    return blame(server, what, err);
}

static int wait_until_ready(struct server *server, const struct settings *s,
                            struct err *err)
{
    int64_t until_ns = clk_now(&clk_monotonic) + s->server.ready_ns;
    int rc = 0;

    while (rc == 0) {
        int64_t left_ns = until_ns - clk_now(&clk_monotonic);

        if (left_ns <= 0)
            return refuse_late(server, s->server.ready_ns, err);
        rc = ask(server, s, left_ns, err);
        if (rc >= 0 && server_has_ended(server))
            return server_blame_end(server, "before it was ready", err);
        if (rc >= 0 && atomic_load(&stop_signal))
            return err_set(err, ERR_STOPPED,
                           "interrupted while the server started");
    }
    return rc < 0 ? -1 : 0;
}

/* ---- its life ---- */

static int launch(struct server *server, const struct settings *s, int port,
                  struct err *err)
{
    char *start = fill_in(s->server.start, port);
    char *stop = s->server.stop ? fill_in(s->server.stop, port) : NULL;
    const struct supervise_how how = {.start = start,
                                      .stop = stop,
                                      .log = server->log,
                                      .port = port,
                                      .grace_ns = s->server.grace_ns};
    int rc = supervise_start(&server->process, &how, err);

    free(start);
    free(stop);
    return rc;
}

int server_start(struct server *server, struct run_plan *plan, const char *dir,
                 struct err *err)
{
    struct settings *s = &plan->used;
    int port = find_port(err);

    *server = (struct server){.log = xasprintf("%s/server.log", dir)};
    if (port < 0)
        return -1;
    settings_put_port(s, port);
    plan->server_port = port;
    if (s->server.ready)
        server->ready = fill_in(s->server.ready, port);
    if (check_place(s, err) || launch(server, s, port, err))
        return -1;
    return wait_until_ready(server, s, err);
}

void server_stop(struct server *server)
{
    supervise_stop(&server->process);
    free(server->log);
    free(server->ready);
    *server = (struct server){0};
}
