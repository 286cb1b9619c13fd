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
#include "common/base/redact.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/wire/api_names.h"
#include "loadgen/observe/metrics_dialect.h"
#include "loadgen/prepare/fetch.h"
#include "loadgen/prepare/target.h"

#define TIMEOUT_NS (900 * NS_PER_MS)

/* Enough for some ten thousand series. */
#define MAX_PAGE ((int64_t)4 << 20)

/* The golden ratio: its multiples fill the second as evenly as can be. */
#define SPREAD 0.6180339887498949

struct scrape {
    struct fetch *fetch;
    struct server_source source; /* its flavour is the thread's while it runs */
    char *url;                   /* as shown */
    const char *dir;
    int64_t start_ns;

    struct tgr_writer *table; /* made with the first row that says something */
    struct buf page;
    pthread_t thread;
    bool has_thread;
    struct err err; /* of writing, the thread's while it runs */
    sem_t end;      /* posted once, so that it does not sleep on */
    atomic_bool is_ending;
};

int64_t scrape_due_ns(int64_t n)
{
    double phase = (double)n * SPREAD;

    return n * NS_PER_S + llround((phase - floor(phase)) * 1e9);
}

/* ---- a look ---- */

/* A page of something else may hold a line that can be read by chance. */
static bool is_page(const struct prom_counts *c)
{
    return c->damaged <= c->samples / 10;
}

/* The flavour, NULL for a page without series that we know. */
static int ask(struct scrape *s, struct server_scrape *look,
               const char **dialect, struct err *err)
{
    struct prom_counts counts;

    if (fetch_page(s->fetch, TIMEOUT_NS, &s->is_ending, &s->page, err))
        return -1;
    *dialect =
        metrics_dialect_read(buf_text(&s->page), s->page.len, look, &counts);
    return is_page(&counts)
               ? 0
               : err_set(err, ERR_IO, "not in Prometheus' text format");
}

static int make_table(struct scrape *s, struct err *err)
{
    char *path = xasprintf("%s/server.tgr", s->dir);
    int rc = tgr_create(&s->table, path, &schema_server, err);

    free(path);
    return rc;
}

/* The first error is the last: the disk will not get better. */
static void write_row(struct scrape *s, const struct server_scrape *look)
{
    if (s->err.code || (!s->table && make_table(s, &s->err)))
        return;
    tgr_append(s->table, 0, look, 1, &s->err);
}

static void look_once(struct scrape *s)
{
    int64_t began_ns = clk_now(&clk_monotonic);
    const char *dialect = NULL;
    struct server_scrape look;
    struct err err = {0};
    int64_t now_ns;

    if (ask(s, &look, &dialect, &err)) {
        look = server_look_none();
        look.is_failed = 1;
    }
    if (err.code == ERR_STOPPED)
        return;
    if (!s->source.dialect)
        s->source.dialect = dialect;
    if (!s->source.dialect)
        return; /* a server that has nothing to say before its first request */
    now_ns = clk_now(&clk_monotonic);
    look.at = now_ns - s->start_ns;
    look.took = now_ns - began_ns;
    write_row(s, &look);
}

/* ---- the thread ---- */

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

/* False: it is to end. */
static bool sleep_until(struct scrape *s, int64_t ns)
{
    struct timespec until = timespec_of(ns);

    while (!atomic_load(&s->is_ending) && clk_now(&clk_monotonic) < ns)
        sem_clockwait(&s->end, CLOCK_MONOTONIC, &until);
    return !atomic_load(&s->is_ending);
}

/* What took longer than its second costs the looks that it ran over. */
static void *scrape_main(void *arg)
{
    struct scrape *s = arg;
    int64_t n = 0;

    while (sleep_until(s, s->start_ns + scrape_due_ns(n))) {
        look_once(s);
        do
            n++;
        while (s->start_ns + scrape_due_ns(n) < clk_now(&clk_monotonic));
    }
    return NULL;
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

/* ---- is there anything? ---- */

static bool is_auto(const struct target_settings *t)
{
    return strcmp(t->metrics, "auto") == 0;
}

/* Who speaks to a model expects its server to have metrics; of a server of
 * whatever kind nobody does.  Over gRPC there are none: where they are has to
 * be said. */
static bool is_of_model(const struct target_settings *t)
{
    return t->api != API_HTTP && !api_is_grpc((enum api_kind)t->api);
}

/* A server of anything else is not asked what nobody told us to. */
static bool is_wanted(const struct target_settings *t)
{
    return strcmp(t->metrics, "off") != 0 && (!is_auto(t) || is_of_model(t));
}

static const char *advice(const struct target_settings *t)
{
    return t->api == API_KSERVE_HTTP || t->api == API_TRITON_GENERATE
               ? "Triton has its metrics on port 8002: --metrics URL"
               : "--metrics URL says where";
}

static int try_it(struct scrape *s, const struct target_settings *t,
                  struct err *err)
{
    struct server_scrape look;

    if (fetch_probe(s->fetch, TIMEOUT_NS, err) ||
        ask(s, &look, &s->source.dialect, err))
        return -1;
    if (!s->source.dialect && !is_of_model(t))
        return err_set(err, ERR_IO, "no series that are known");
    return 0;
}

static int find(struct scrape *s, const struct settings *settings,
                const char *url, struct err *err)
{
    const struct target_settings *t = &settings->target;

    if (fetch_new(&s->fetch, t, url, MAX_PAGE, err) || try_it(s, t, err))
        return err_context(err, "GET %s", s->url);
    log_note("server     %s, by %s",
             s->source.dialect ? s->source.dialect
                               : "of a kind that is not known yet",
             s->url);
    return 0;
}

/* One that was asked for by name, or that is being stopped, must not be passed
 * over. */
static bool must_be_said(const struct target_settings *t, const struct err *err)
{
    return !is_auto(t) || err->code == ERR_STOPPED;
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
    if (!is_wanted(t) || targets->items[0].is_null)
        return 0;
    s = xcalloc(1, sizeof(*s));
    sem_init(&s->end, 0, 0);
    url = is_auto(t) ? fetch_url(t, "/metrics") : xstrdup(t->metrics);
    s->url = redact_url(url);
    s->source.url = s->url;
    s->source.is_partial = targets->n_endpoints > 1;
    rc = find(s, settings, url, &problem);
    free(url);
    if (rc == 0) {
        *scrape = s;
        return 0;
    }
    scrape_free(s);
    if (must_be_said(t, &problem)) {
        *err = problem;
        return -1;
    }
    log_note("server     not available: %s (%s)", problem.msg, advice(t));
    return 0;
}
