#include "listen/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "analyzer/html/page.h"
#include "analyzer/tally/run_bins.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "listen/listen_http.h"
#include "listen/listen_metrics.h"
#include "listen/listen_page.h"
#include "listen/listen_state.h"
#include "loadgen/engine/run.h"

#define NAP_NS (20 * NS_PER_MS)

/* A page as a JSON string takes at most twice its size, but for markup alone.
 */
#define MAX_EVENT (2 * PAGE_MAX)

struct listen {
    struct listen_http *http;
    struct listen_state *state;
    struct run_watch watch;
    char *token;        /* owned; NULL: none is needed */
    char *metrics_file; /* owned; NULL: none */
    bool has_file_failed;

    pthread_mutex_t lock; /* for what follows */
    struct buf study;     /* a section of the page */
    bool is_over;
    bool has_told; /* the open pages, of the end */
    struct buf page;
    struct buf summary;
};

/* ---- who may ask ---- */

/* Takes as long for any text of the same length. */
static bool is_same(const char *a, const char *b)
{
    size_t n = strlen(a);
    unsigned char differs = strlen(b) != n;

    for (size_t i = 0; i < n; i++)
        differs |= (unsigned char)(a[i] ^ (strlen(b) == n ? b[i] : 0));
    return differs == 0;
}

/* As a bearer, or as the password of anybody: browsers ask for that. */
static bool has_token(const struct listen *l, const char *authorization)
{
    struct buf plain;
    const char *colon;
    bool has;

    if (!l->token)
        return true;
    if (strncasecmp(authorization, "Bearer ", 7) == 0)
        return is_same(authorization + 7, l->token);
    if (strncasecmp(authorization, "Basic ", 6) != 0)
        return false;
    buf_init(&plain, LISTEN_MAX_VALUE);
    has = base64_decode(authorization + 6, strlen(authorization + 6), &plain) ==
          0;
    colon = has ? strchr(buf_text(&plain), ':') : NULL;
    has = colon && is_same(colon + 1, l->token);
    buf_fini(&plain);
    return has;
}

/* Without a token, a page of another site must not reach us under a name of its
 * own that leads here. */
static bool is_our_host(const struct listen *l, const char *host)
{
    size_t len = strcspn(host, ":");

    return l->token || host[0] == '[' || strspn(host, "0123456789.") == len ||
           (len == 9 && strncasecmp(host, "localhost", 9) == 0);
}

/* ---- answers, on the server's thread ---- */

static void reply_text(struct listen_conn *conn, int status, const char *text)
{
    listen_reply(conn, &(struct listen_answer){.status = status,
                                               .body = text,
                                               .len = strlen(text)});
}

static void reply_buf(struct listen_conn *conn, const char *type,
                      const char *headers, const struct buf *body)
{
    listen_reply(conn, &(struct listen_answer){.status = 200,
                                               .type = type,
                                               .headers = headers,
                                               .body = buf_text(body),
                                               .len = body->len});
}

static void get_metrics(struct listen *l, struct listen_conn *conn,
                        const struct listen_request *r)
{
    bool is_open = listen_wants_open(r->accept);
    struct listen_view view;
    struct buf out;

    buf_init(&out, LISTEN_MAX_TEXT);
    listen_state_view(l->state, false, &view);
    listen_metrics(&view, is_open, &out);
    reply_buf(conn, is_open ? LISTEN_OPEN_TYPE : LISTEN_TEXT_TYPE, NULL, &out);
    listen_view_fini(&view);
    buf_fini(&out);
}

static void get_summary(struct listen *l, struct listen_conn *conn,
                        const struct listen_request *r)
{
    struct listen_view view;
    struct buf out;

    (void)r;
    buf_init(&out, LISTEN_MAX_TEXT);
    pthread_mutex_lock(&l->lock);
    if (l->is_over && l->summary.len > 0)
        buf_add(&out, l->summary.data, l->summary.len);
    pthread_mutex_unlock(&l->lock);
    if (out.len == 0) {
        listen_state_view(l->state, true, &view);
        listen_summary(&view, &out);
        listen_view_fini(&view);
    }
    reply_buf(conn, "application/json", NULL, &out);
    buf_fini(&out);
}

/* The page, or an event for those that are open.  After the end both are the
 * report. */
static void render(struct listen *l, bool is_event, struct buf *out)
{
    struct listen_view *view = xcalloc(1, sizeof(*view));

    listen_state_view(l->state, true, view);
    if (view->has_bins)
        run_bins_read_server(&view->bins, view->dir);
    pthread_mutex_lock(&l->lock);
    if (is_event && l->is_over)
        listen_end_event(&l->page, out);
    else if (l->is_over && l->page.len > 0)
        buf_add(out, l->page.data, l->page.len);
    else if (is_event)
        listen_page_event(view, &l->study, out);
    else
        listen_page(view, &l->study, out);
    pthread_mutex_unlock(&l->lock);
    listen_view_fini(view);
    free(view);
}

static void get_page(struct listen *l, struct listen_conn *conn,
                     const struct listen_request *r)
{
    struct buf out;

    (void)r;
    buf_init(&out, PAGE_MAX);
    render(l, false, &out);
    reply_buf(conn, "text/html; charset=utf-8", NULL, &out);
    buf_fini(&out);
}

/* A page that was just loaded has what is known: its first event is that of the
 * next second, which all pages get. */
static void get_events(struct listen *l, struct listen_conn *conn,
                       const struct listen_request *r)
{
    struct buf end;

    (void)r;
    buf_init(&end, MAX_EVENT);
    pthread_mutex_lock(&l->lock);
    if (l->is_over)
        listen_end_event(&l->page, &end);
    pthread_mutex_unlock(&l->lock);
    listen_stream(conn, &end);
    buf_fini(&end);
}

static void get_report(struct listen *l, struct listen_conn *conn,
                       const struct listen_request *r)
{
    (void)r;
    pthread_mutex_lock(&l->lock);
    if (l->page.len > 0)
        reply_buf(conn, "text/html; charset=utf-8",
                  "Content-Disposition: attachment; filename=report.html\r\n",
                  &l->page);
    else
        reply_text(conn, 404, "there is no report before the end\n");
    pthread_mutex_unlock(&l->lock);
}

static void get_health(struct listen *l, struct listen_conn *conn,
                       const struct listen_request *r)
{
    (void)l;
    (void)r;
    reply_text(conn, 200, "ok\n");
}

static const struct {
    const char *path;
    void (*get)(struct listen *l, struct listen_conn *conn,
                const struct listen_request *r);
    bool is_open; /* needs no token */
} routes[] = {
    {"/", get_page, false},
    {"/events", get_events, false},
    {"/metrics", get_metrics, false},
    {"/summary.json", get_summary, false},
    {"/report.html", get_report, false},
    {"/healthz", get_health, true},
};

static void on_get(void *arg, struct listen_conn *conn,
                   const struct listen_request *r)
{
    struct listen *l = arg;

    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        if (strcmp(r->path, routes[i].path) != 0)
            continue;
        if (!routes[i].is_open && !is_our_host(l, r->host))
            reply_text(conn, 403,
                       "ask by address or as localhost, not by a name\n");
        else if (!routes[i].is_open && !has_token(l, r->authorization))
            listen_reply(conn, &(struct listen_answer){
                                   .status = 401,
                                   .headers = "WWW-Authenticate: Basic "
                                              "realm=\"tailgate\"\r\n",
                                   .body = "a token is needed\n",
                                   .len = strlen("a token is needed\n")});
        else
            routes[i].get(l, conn, r);
        return;
    }
    reply_text(conn, 404,
               "here are /, /metrics, /summary.json, /report.html and "
               "/healthz\n");
}

/* ---- once per second ---- */

/* A reader sees the old file or the new one.  It is not synced: it is only of
 * use while the machine runs. */
static int replace_file(const char *path, const struct buf *text)
{
    char *temporary = xasprintf("%s.new-%ld", path, (long)getpid());
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    int rc = fd < 0 ? -1 : file_write_all(fd, buf_text(text), text->len);

    if (fd >= 0 && close(fd))
        rc = -1;
    if (rc == 0)
        rc = rename(temporary, path);
    if (rc && fd >= 0)
        unlink(temporary);
    free(temporary);
    return rc;
}

static void write_metrics(struct listen *l)
{
    struct listen_view view;
    struct buf out;

    if (!l->metrics_file)
        return;
    buf_init(&out, LISTEN_MAX_TEXT);
    listen_state_view(l->state, false, &view);
    listen_metrics(&view, false, &out);
    if (replace_file(l->metrics_file, &out) && !l->has_file_failed) {
        l->has_file_failed = true; /* said once */
        log_error("--metrics-file: %s: %s", l->metrics_file, strerror(errno));
    }
    listen_view_fini(&view);
    buf_fini(&out);
}

static void on_tick(void *arg)
{
    struct listen *l = arg;
    bool is_over;
    bool has_told;
    struct buf event;

    pthread_mutex_lock(&l->lock);
    is_over = l->is_over;
    has_told = l->has_told;
    l->has_told = is_over;
    pthread_mutex_unlock(&l->lock);
    write_metrics(l);
    if (has_told || listen_n_streams(l->http) == 0)
        return;
    buf_init(&event, MAX_EVENT);
    render(l, true, &event);
    listen_broadcast(l->http, &event, is_over);
    buf_fini(&event);
}

/* ---- the caller's thread, and the recorder's ---- */

static void on_rows(void *arg, const struct run_look *look)
{
    listen_state_add(arg, look);
}

int listen_new(struct listen **made, const struct listen_ask *ask,
               struct err *err)
{
    const struct listen_hooks hooks = {on_get, on_tick,
                                       xcalloc(1, sizeof(struct listen))};
    struct listen *l = hooks.arg;
    struct listen_address at;
    int rc = 0;

    pthread_mutex_init(&l->lock, NULL);
    buf_init(&l->study, PAGE_MAX);
    buf_init(&l->page, PAGE_MAX);
    buf_init(&l->summary, LISTEN_MAX_TEXT);
    l->state = listen_state_new(ask->run);
    l->watch = (struct run_watch){on_rows, l->state};
    l->token = ask->token ? xstrdup(ask->token) : NULL;
    l->metrics_file = ask->metrics_file ? xstrdup(ask->metrics_file) : NULL;
    if (ask->address) {
        rc = listen_address_parse(ask->address, &at, err);
        if (rc == 0 && !at.is_loopback && !ask->token)
            rc = err_set(err, ERR_USAGE,
                         "--listen %s can be reached from other machines: it "
                         "requires --listen-token-env NAME, the environment "
                         "variable with a token that clients must send",
                         ask->address);
    }
    if (rc == 0)
        rc = listen_http_new(&l->http, ask->address ? &at : NULL, &hooks, err);
    if (rc == 0)
        rc = listen_http_start(l->http, err);
    if (rc) {
        listen_free(l);
        return -1;
    }
    *made = l;
    return 0;
}

const char *listen_url(const struct listen *l)
{
    return listen_http_url(l->http);
}

bool listen_is_watched(const struct listen *l)
{
    return listen_n_streams(l->http) > 0;
}

int listen_begin(struct listen *l, const struct settings *s,
                 const struct listen_point *point, struct err *err)
{
    return listen_state_begin(l->state, s, point, err);
}

const struct run_watch *listen_watch(const struct listen *l)
{
    return &l->watch;
}

void listen_progress(struct listen *l, const struct run_progress *progress)
{
    listen_state_progress(l->state, progress);
}

void listen_end(struct listen *l)
{
    listen_state_end(l->state, false);
    listen_http_wake(l->http);
}

void listen_study(struct listen *l, const struct doc *doc)
{
    pthread_mutex_lock(&l->lock);
    buf_reset(&l->study);
    listen_study_section(doc, &l->study);
    pthread_mutex_unlock(&l->lock);
}

void listen_finish(struct listen *l, const struct buf *page,
                   const struct buf *summary, int64_t linger_ns)
{
    int64_t until_ns = clk_now(&clk_monotonic) + linger_ns;

    listen_state_end(l->state, true);
    pthread_mutex_lock(&l->lock);
    l->is_over = true;
    buf_add(&l->page, buf_text(page), page->len);
    buf_add(&l->summary, buf_text(summary), summary->len);
    pthread_mutex_unlock(&l->lock);
    listen_http_wake(l->http);
    while (clk_now(&clk_monotonic) < until_ns && !atomic_load(&stop_signal))
        clk_sleep_ns(NAP_NS);
}

void listen_free(struct listen *l)
{
    if (!l)
        return;
    listen_http_free(l->http, LISTEN_GRACE_NS);
    listen_state_free(l->state);
    buf_fini(&l->study);
    buf_fini(&l->page);
    buf_fini(&l->summary);
    pthread_mutex_destroy(&l->lock);
    free(l->token);
    free(l->metrics_file);
    free(l);
}
