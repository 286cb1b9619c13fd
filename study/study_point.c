#include "study/study_point.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "analyzer/read/reader.h"
#include "analyzer/report/report.h"
#include "analyzer/tally/summary.h"
#include "analyzer/verdict/mlperf_accuracy.h"
#include "analyzer/verdict/precision.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/settings/settings.h"
#include "common/text/units.h"
#include "common/text/url.h"
#include "loadgen/engine/run.h"
#include "loadgen/prepare/preflight.h"
#include "loadgen/prepare/ready.h"
#include "loadgen/prepare/show.h"
#include "loadgen/prepare/target.h"
#include "server-stub/stub.h"
#include "study/child.h"
#include "study/launch/launch.h"
#include "study/supervise.h"

#define RETRY_NS   NS_PER_S
#define SETTLE_NS  (20 * NS_PER_MS)
#define SLICE_NS   (1 * NS_PER_S) /* of a wait, between checks of the process */
#define NAP_NS     (50 * NS_PER_MS)
#define PORT_TRIES 10
#define TAIL       4096

/* The server of a run (settings: server): started on a free port, waited for,
 * and ended with everything that it has started. */
struct server {
    struct supervised process;
    char *log;   /* owned, as is ... */
    char *ready; /* ... the URL or command that tells; NULL: the target */
};

/* ---- the port of the server ---- */

/* With the port in place of {port}; owned by the caller. */
static char *fill_in(const char *text, int port)
{
    char number[16];

    snprintf(number, sizeof(number), "%d", port);
    return str_replace(text, URL_PORT, number);
}

/* Does a server accept connections at this address? */
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
        return false; /* tried again once the server runs */
    for (const struct addrinfo *at = list; at && !taken; at = at->ai_next)
        taken = is_taken_at(at);
    freeaddrinfo(list);
    return taken;
}

/* A server that already listens there would be taken for the one we start. */
static int check_place(const struct settings *s, struct err *err)
{
    for (size_t i = 0; i < s->target.urls.len; i++) {
        struct url url;

        if (url_parse(s->target.urls.items[i], &url, err))
            return -1;
        if (!s->target.unix_socket && is_taken(url.host, url.port))
            return err_set(err, ERR_IO,
                           "another server listens on %s:%s; stop it, or use "
                           "a free port (" URL_PORT
                           " in target.url and server.start)",
                           url.host, url.port);
    }
    return 0;
}

/* The kernel does not give the same free port to another process soon. */
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

/* ---- the output of the server ---- */

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
    return line[0] ? err_set(err, ERR_IO, "%.200s; its last output: %.160s",
                             what, line)
                   : err_set(err, ERR_IO, "%.200s; it printed nothing", what);
}

/* The error for a server that has ended; `when` such as "during the run". */
static int server_blame_end(struct server *server, const char *when,
                            struct err *err)
{
    char end[64];
    char what[128];

    supervise_describe_end(&server->process, end, sizeof(end));
    snprintf(what, sizeof(what), "server.start: the server ended %s: %s", when,
             end);
    return blame(server, what, err);
}

/* ---- is the server ready? ---- */

/* Wait for a while; 1: it is ready. */
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

/* A command may contain a URL. */
static bool is_url(const char *text)
{
    const char *scheme = strstr(text, "://");

    return scheme && strcspn(text, " \t\n") > (size_t)(scheme - text);
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
    bool is_command = server->ready && !is_url(server->ready);
    int rc = 0;

    while (rc == 0) {
        int64_t left_ns = until_ns - clk_now(&clk_monotonic);

        if (left_ns <= 0)
            return refuse_late(server, s->server.ready_ns, err);
        rc = is_command ? ask_command(server->ready, left_ns, err)
                        : ask_url(server, s,
                                  left_ns < SLICE_NS ? left_ns : SLICE_NS, err);
        if (rc >= 0 && atomic_load(&stop_signal))
            return err_set(err, ERR_STOPPED,
                           "interrupted while the server started");
        if (rc >= 0 && supervise_has_ended(&server->process))
            return server_blame_end(server, "before it was ready", err);
    }
    return rc < 0 ? -1 : 0;
}

/* ---- start and end of the server ---- */

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

/* Start it, with its output in DIR/server.log, and wait until it is ready.  Its
 * port replaces {port} in the target's URLs.  ERR_IO, with the last line of its
 * output, if it ends, is not ready in time, or if another server listens there;
 * ERR_STOPPED.  server_stop() in any case. */
static int server_start(struct server *server, struct run_plan *plan,
                        const char *dir, struct err *err)
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

static void server_stop(struct server *server)
{
    supervise_stop(&server->process);
    free(server->log);
    free(server->ready);
    *server = (struct server){0};
}

/* ---- a recording, with a stub or a server ---- */

void point_aim(struct settings *s, const struct child *stub)
{
    const char *given = settings_url(s);
    const char *path = strstr(given, "://");
    char *url;

    if (path)
        path = strchr(path + strlen("://"), '/');
    url = xasprintf("%s%s", child_url_for(stub, given), path ? path : "/");
    strlist_fini(&s->target.urls);
    strlist_add(&s->target.urls, url);
    free(url);
    s->target.request_id = true; /* so that its truth can be joined */
    for (size_t i = 0; i < s->classes.len; i++)
        point_aim(s->classes.items[i].settings, stub);
    for (size_t i = 0; i < s->warmup.len; i++)
        point_aim(s->warmup.items[i].settings, stub);
}

/* By this process, or by others. */
static int drive(struct run_plan *plan, const struct run_options *options,
                 const struct launcher *launcher, struct err *err)
{
    struct run_end end;

    return launcher ? launch_record(plan, options, launcher, err)
                    : run_load(plan, options, &end, err);
}

#define PROCESS_TEXT 32

/* Have the memory of the process read, if the settings ask for that. */
static void meter_process(const struct settings *s, const char *whose,
                          const char text[static PROCESS_TEXT],
                          struct run_options *options)
{
    if (s->cost.memory_of && strcmp(s->cost.memory_of, whose) == 0)
        options->memory_of = text;
}

/* The stub ends before its truth log is read.  There is no preflight request:
 * that log and the faults of the stub count every request. */
static int drive_stub(struct run_plan *plan, struct run_options *options,
                      const struct launcher *launcher, struct err *err)
{
    struct settings *s = &plan->used;
    char *truth = xasprintf("%s/truth.tgr", options->dir);
    char process[PROCESS_TEXT];
    struct child stub = {0};
    struct err late = {0};
    bool has_started;
    int rc = stub_check(&s->stub, err);

    if (rc == 0)
        rc = recording_make_dir(options->dir, options->force, err);
    options->has_dir = true;
    options->has_preflight = false;
    if (rc == 0)
        rc = child_start_stub(&stub, s, truth, err);
    has_started = rc == 0;
    if (has_started) {
        point_aim(s, &stub);
        snprintf(process, sizeof(process), "pid %ld", (long)stub.pid);
        meter_process(s, "stub", process, options);
        rc = drive(plan, options, launcher, err);
    }
    options->memory_of = NULL;
    if (child_stop(&stub, &late))
        log_error("%s", late.msg); /* its effect on the load is recorded */
    /* The directory was made for the truth log; nothing else is in it. */
    if (has_started && rc && !recording_is_at(options->dir))
        recording_remove(options->dir, &(struct err){0});
    free(truth);
    return rc;
}

/* What may end the run early: the end of the server, and the caller. */
struct watched {
    struct server *server;
    const struct run_judge *judge; /* NULL: none */
};

static bool is_enough(void *arg, const struct run_look *look)
{
    const struct watched *w = arg;

    return supervise_has_ended(&w->server->process) ||
           (w->judge && w->judge->is_enough(w->judge->arg, look));
}

/* Is the result as precise as study.until asks?  Requests of the warm-up are
 * passed before the window is known. */
static bool is_precise(void *arg, const struct run_look *look)
{
    struct precision *p = arg;

    p->start_ns = look->start_ns;
    p->end_ns = look->end_ns;
    for (size_t i = 0; i < look->n; i++)
        precision_add(p, &look->rows[i]);
    return precision_is_reached(p, look->followed_ns);
}

/* When the server dies, requests fail, which would say nothing about it.  A
 * signal may have been for both. */
static int drive_server(struct run_plan *plan, struct run_options *options,
                        const struct launcher *launcher, struct err *err)
{
    char process[PROCESS_TEXT];
    struct server server = {0};
    struct watched watched = {&server, options->judge};
    const struct run_judge judge = {is_enough, &watched};
    int rc = recording_make_dir(options->dir, options->force, err);

    if (rc)
        return -1;
    options->has_dir = true;
    options->judge = &judge;
    rc = server_start(&server, plan, options->dir, err);
    snprintf(process, sizeof(process), "group %ld", (long)server.process.pid);
    meter_process(&plan->used, "server", process, options);
    if (rc == 0) {
        bool has_ended;

        rc = drive(plan, options, launcher, err);
        has_ended =
            supervise_has_ended(&server.process) && !atomic_load(&stop_signal);
        if (has_ended && (rc == 0 || launcher))
            rc = server_blame_end(&server, "during the run", err);
        else if (rc && launcher && !recording_is_at(options->dir))
            recording_remove(options->dir, &(struct err){0});
    }
    options->judge = watched.judge;
    options->memory_of = NULL;
    server_stop(&server);
    return rc;
}

int point_record(const struct settings *s, const struct run_options *asked,
                 const struct launcher *launcher, struct err *err)
{
    struct run_options options = *asked;
    struct precision precision = {0};
    const struct run_judge judge = {is_precise, &precision};
    struct run_plan plan;
    struct until until;
    int rc;

    /* In a set, each trial goes on to its end: the number of trials varies. */
    if (s->study.until && s->study.trials < 2 && !options.judge) {
        if (until_parse(s->study.until, &until, err))
            return -1;
        precision_init(&precision, &until, INT64_MAX, INT64_MAX);
        options.judge = &judge;
    }
    run_plan_init(&plan, s);
    rc = s->has_stub       ? drive_stub(&plan, &options, launcher, err)
         : s->server.start ? drive_server(&plan, &options, launcher, err)
                           : drive(&plan, &options, launcher, err);
    run_plan_fini(&plan);
    precision_fini(&precision);
    if (rc && atomic_load(&stop_signal) && err->code != ERR_STOPPED &&
        !recording_is_at(options.dir)) {
        *err = (struct err){0}; /* caused by the signal */
        rc = err_set(err, ERR_STOPPED, "interrupted before the run began");
    }
    return rc;
}

int point_sum_up(const char *dir, struct run_bins *bins,
                 int (*see)(void *arg, const struct summary *s,
                            const struct recording *rec, struct err *err),
                 void *arg, struct err *err)
{
    struct recording rec;
    struct summary s;
    struct buf out;
    int rc;

    if (recording_open(&rec, dir, err))
        return -1;
    buf_init(&out, POINT_MAX_REPORT);
    rc = summary_make_keeping(&s, &rec, NULL,
                              &(struct summary_extras){.bins = bins}, err);
    if (rc == 0)
        rc = mlperf_link_accuracy(&s, &rec, NULL, err);
    if (rc == 0) {
        report_json.render(&s, &out);
        rc = file_replace_in(dir, "summary.json", &out, err);
    }
    buf_fini(&out);
    if (rc == 0 && see)
        rc = see(arg, &s, &rec, err);
    summary_fini(&s);
    recording_close(&rec);
    return rc;
}

/* True: it is answered, or it cannot be sent. */
static bool is_answered(const struct settings *s, struct err *err)
{
    struct exchange x = {0};
    bool is = show_request(s, &x, err) || x.facts.outcome == OUTCOME_OK;

    exchange_fini(&x);
    return is;
}

int point_wait_calm(const struct settings *s, int64_t longest_ns,
                    struct err *err)
{
    int64_t until = clk_now(&clk_monotonic) + longest_ns;
    struct err ignored = {0}; /* the recording that follows tells */

    while (!atomic_load(&stop_signal) && !is_answered(s, &ignored) &&
           clk_now(&clk_monotonic) < until)
        point_settle(RETRY_NS);
    return atomic_load(&stop_signal)
               ? err_set(err, ERR_STOPPED, "interrupted between recordings")
               : 0;
}

void point_settle(int64_t ns)
{
    int64_t until = clk_now(&clk_monotonic) + ns;
    int64_t left;

    while (!atomic_load(&stop_signal) &&
           (left = until - clk_now(&clk_monotonic)) > 0)
        clk_sleep_ns(left < SETTLE_NS ? left : SETTLE_NS);
}
