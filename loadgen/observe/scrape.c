#include "loadgen/observe/scrape.h"

#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/text/redact.h"
#include "common/wire/api_names.h"
#include "loadgen/observe/metrics_dialect.h"
#include "loadgen/prepare/fetch.h"
#include "loadgen/prepare/target.h"

#define TIMEOUT_NS (900 * NS_PER_MS)

/* Enough for about ten thousand series. */
#define MAX_PAGE ((int64_t)4 << 20)

/* The golden ratio: its multiples fill the second as evenly as possible. */
#define SPREAD 0.6180339887498949

struct scrape {
    struct fetch *fetch;
    struct server_source source; /* its dialect is the thread's while it runs */
    char *url;                   /* without secrets */
    const char *dir;
    int64_t start_ns;

    struct tgr_writer *table; /* made with the first row */
    struct buf page;
    pthread_t thread;
    bool has_thread;
    struct err err; /* of the file; the thread's while it runs */
    sem_t end;      /* posted once, to wake the thread up */
    atomic_bool is_ending;
};

int64_t scrape_due_ns(int64_t n)
{
    double phase = (double)n * SPREAD;

    return n * NS_PER_S + llround((phase - floor(phase)) * 1e9);
}

/* ---- the thread ---- */

/* *dialect is NULL for a page without known series.  Any text may hold a line
 * that can be read by chance: a tenth of the lines may be damaged. */
static int read_page(struct scrape *s, struct server_scrape *look,
                     const char **dialect, struct err *err)
{
    struct prom_counts counts;

    if (fetch_page(s->fetch, TIMEOUT_NS, &s->is_ending, &s->page, err))
        return -1;
    *dialect =
        metrics_dialect_read(buf_text(&s->page), s->page.len, look, &counts);
    return counts.damaged <= counts.samples / 10
               ? 0
               : err_set(err, ERR_IO, "not in Prometheus' text format");
}

static void scrape_once(struct scrape *s)
{
    int64_t began_ns = clk_now(&clk_monotonic);
    const char *dialect = NULL;
    struct server_scrape look;
    struct err err = {0};
    int64_t now_ns;

    if (read_page(s, &look, &dialect, &err)) {
        look = server_look_none();
        look.is_failed = 1;
    }
    if (err.code == ERR_STOPPED)
        return;
    if (!s->source.dialect)
        s->source.dialect = dialect;
    if (!s->source.dialect)
        return; /* some servers have no series before their first request */
    now_ns = clk_now(&clk_monotonic);
    look.at = now_ns - s->start_ns;
    look.took = now_ns - began_ns;
    if (!s->err.code && !s->table) { /* after an error nothing is written */
        char *path = xasprintf("%s/server.tgr", s->dir);

        tgr_create(&s->table, path, &schema_server, &s->err);
        free(path);
    }
    if (!s->err.code)
        tgr_append(s->table, 0, &look, 1, &s->err);
}

/* A scrape that takes longer than its second replaces those it overlaps. */
static void *scrape_main(void *arg)
{
    struct scrape *s = arg;

    for (int64_t n = 0;; n++) {
        int64_t due_ns = s->start_ns + scrape_due_ns(n);
        struct timespec until = {.tv_sec = due_ns / NS_PER_S,
                                 .tv_nsec = due_ns % NS_PER_S};

        if (n > 0 && due_ns < clk_now(&clk_monotonic))
            continue;
        while (!atomic_load(&s->is_ending) && clk_now(&clk_monotonic) < due_ns)
            sem_clockwait(&s->end, CLOCK_MONOTONIC, &until);
        if (atomic_load(&s->is_ending))
            return NULL;
        scrape_once(s);
    }
}

int scrape_start(struct scrape *s, const char *dir, int64_t start_ns,
                 struct err *err)
{
    s->dir = dir;
    s->start_ns = start_ns;
    if (pthread_create(&s->thread, NULL, scrape_main, s))
        return err_set(err, ERR_IO, "cannot start a thread");
    s->has_thread = true;
    return 0;
}

void scrape_stop(struct scrape *s)
{
    struct err ignored = {0};

    if (!s || !s->has_thread)
        return;
    atomic_store(&s->is_ending, true);
    sem_post(&s->end);
    pthread_join(s->thread, NULL);
    s->has_thread = false;
    tgr_finish(s->table, s->err.code ? &ignored : &s->err);
    s->table = NULL;
    if (s->err.code)
        log_note("server     %s", s->err.msg);
}

void scrape_free(struct scrape *s)
{
    if (!s)
        return;
    scrape_stop(s);
    sem_destroy(&s->end);
    fetch_free(s->fetch);
    buf_fini(&s->page);
    free(s->url);
    free(s);
}

struct server_source scrape_source(const struct scrape *s)
{
    return s->source;
}

/* ---- are there metrics? ---- */

static bool is_auto(const struct target_settings *t)
{
    return strcmp(t->metrics, "auto") == 0;
}

/* A server of models is expected to have metrics, other servers are not.  Over
 * gRPC there are none: their URL has to be set. */
static bool is_of_model(const struct target_settings *t)
{
    return t->api != API_HTTP && !api_is_grpc((enum api_kind)t->api);
}

static int find_metrics(struct scrape *s, const struct target_settings *t,
                        const char *url, struct err *err)
{
    struct server_scrape look;

    if (fetch_new(&s->fetch, t, url, MAX_PAGE, err) ||
        fetch_probe(s->fetch, TIMEOUT_NS, err) ||
        read_page(s, &look, &s->source.dialect, err))
        return err_context(err, "GET %s", s->url);
    if (!s->source.dialect && !is_of_model(t))
        return err_set(err, ERR_IO, "GET %s: the page has no known series",
                       s->url);
    log_note("server     metrics of %s at %s",
             s->source.dialect ? s->source.dialect : "an unknown server",
             s->url);
    return 0;
}

int scrape_new(struct scrape **scrape, const struct settings *settings,
               const struct targets *targets, struct err *err)
{
    const struct target_settings *t = &settings->target;
    struct err problem = {0};
    struct scrape *s;
    char *url;
    int rc;

    *scrape = NULL;
    if (strcmp(t->metrics, "off") == 0 || (is_auto(t) && !is_of_model(t)) ||
        targets->items[0].is_null)
        return 0;
    s = xcalloc(1, sizeof(*s));
    sem_init(&s->end, 0, 0);
    url = is_auto(t) ? fetch_url(t, "/metrics") : xstrdup(t->metrics);
    s->url = redact_url(url);
    s->source.url = s->url;
    s->source.is_partial = targets->n_endpoints > 1;
    rc = find_metrics(s, t, url, &problem);
    free(url);
    if (rc == 0) {
        *scrape = s;
        return 0;
    }
    scrape_free(s);
    if (!is_auto(t) || problem.code == ERR_STOPPED) {
        *err = problem;
        return -1;
    }
    log_note("server     no metrics: %s (%s)", problem.msg,
             t->api == API_KSERVE_HTTP || t->api == API_TRITON_GENERATE
                 ? "Triton has its metrics on port 8002: --metrics URL"
                 : "set the URL of the metrics with --metrics");
    return 0;
}
