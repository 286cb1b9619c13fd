#include "loadgen/prepare/fetch.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/text/redact.h"
#include "loadgen/api/api.h"
#include "loadgen/prepare/exchange.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/transport.h"

#define TIMEOUT_NS (10 * NS_PER_S)

struct fetch {
    char *url;
    struct settings settings; /* all but the URL is borrowed */
    struct targets targets;
    struct api api;
    const struct transport_ops *transport;
};

/* Accepts any body. */
static int read_any(const struct api *api, const struct response_head *head,
                    const char *data, size_t len, struct piece *p)
{
    (void)api;
    (void)head;
    (void)data;
    (void)len;
    p->has_content = true; /* an empty page is fine */
    return 0;
}

static const struct api_ops any = {.kind = API_HTTP, .read_whole = read_any};
static const struct api_ops any_grpc = {.kind = API_GRPC,
                                        .read_whole = read_any};

int fetch_new(struct fetch **fetch, const struct target_settings *s,
              const char *url, int64_t max_body, struct err *err)
{
    static char get[] = "GET";
    struct fetch *f = xcalloc(1, sizeof(*f));
    struct target_settings *t = &f->settings.target;

    f->url = xstrdup(url);
    target_aim(t, s, &f->url);
    t->method = get;
    t->body = NULL;
    t->no_keepalive = !url_is_grpc(f->url);
    t->request_id = false;
    t->max_response = max_body;
    f->api = (struct api){.ops = &any,
                          .settings = &f->settings,
                          .success = statuses_range(200, 300)};
    if (url_is_grpc(url)) {
        f->api.ops = &any_grpc;
        f->api.success = statuses_range(0, 1);
    }
    if (targets_init(&f->targets, t, NULL, err) == 0)
        f->transport = transport_choose(t, f->targets.items[0].url.scheme, err);
    if (!f->transport) {
        fetch_free(f);
        return -1;
    }
    *fetch = f;
    return 0;
}

void fetch_free(struct fetch *f)
{
    if (!f)
        return;
    targets_fini(&f->targets);
    free(f->url);
    free(f);
}

int fetch_probe(struct fetch *f, int64_t timeout_ns, struct err *err)
{
    struct strlist notes = {0};
    int rc;

    f->settings.target.connect_timeout_ns = timeout_ns;
    rc = targets_probe(&f->targets, &f->settings.target, &notes, err);
    strlist_fini(&notes);
    return rc;
}

/* `status` gets a status that is a failure; NULL: not wanted. */
static int run(struct fetch *f, int64_t timeout_ns, const atomic_bool *cancel,
               struct buf *body, int64_t *status, struct err *err)
{
    const struct exchange_plan plan = {
        .targets = &f->targets,
        .settings = &f->settings.target,
        .api = &f->api,
        .transport = f->transport,
        .timeout_ns = timeout_ns,
        .cancel = cancel,
    };
    struct exchange x;
    int rc = exchange_run(&x, &plan, err);

    if (rc == 0 && x.facts.outcome == OUTCOME_OK)
        buf_swap(body, &x.body);
    else if (rc == 0 && x.facts.outcome == OUTCOME_UNFINISHED)
        rc = err_set(err, ERR_STOPPED, "interrupted before the answer came");
    else if (rc == 0)
        rc = err_set(err, ERR_IO, "%.200s", x.why);
    if (status && x.facts.outcome == OUTCOME_STATUS)
        *status = x.facts.detail;
    exchange_fini(&x);
    return rc;
}

int fetch_page(struct fetch *f, int64_t timeout_ns, const atomic_bool *cancel,
               struct buf *body, struct err *err)
{
    return run(f, timeout_ns, cancel, body, NULL, err);
}

char *fetch_url(const struct target_settings *s, const char *path)
{
    const char *url = s->urls.items[0];
    const char *host = strstr(url, "://") + 3;

    return xasprintf("%.*s%s", (int)(host + strcspn(host, "/?#") - url), url,
                     path);
}

/* ---- gRPC ---- */

int fetch_message(const struct target_settings *s,
                  const struct fetch_message *m, struct err *err)
{
    char *url = fetch_url(s, m->method);
    struct fetch *f = NULL;
    int rc = fetch_new(&f, s, url, s->max_response, err);

    if (rc == 0) {
        buf_add(&f->targets.body, buf_text(m->message), m->message->len);
        rc = run(f, m->timeout_ns, NULL, m->reply, m->status, err);
    }
    fetch_free(f);
    free(url);
    return rc;
}

/* ---- JSON ---- */

int fetch_json(const struct target_settings *s, const char *path,
               const char *why, struct json_t **json, struct err *err)
{
    struct err problem = {0};
    char *url = fetch_url(s, path);
    char *shown = redact_url(url);
    struct fetch *f = NULL;
    struct buf body = {0};
    int rc = fetch_new(&f, s, url, s->max_response, err);

    if (rc == 0)
        rc = fetch_probe(f, s->connect_timeout_ns, err);
    if (rc == 0) {
        rc = fetch_page(f, TIMEOUT_NS, NULL, &body, &problem);
        if (rc == 0)
            *json = json_loadb(buf_text(&body), body.len, 0, NULL);
        if (rc == 0 && !*json)
            rc = err_set(&problem, ERR_IO, "the answer is not valid JSON");
        if (rc)
            err_set(err, problem.code, "GET %s: %s (called because %s)", shown,
                    problem.msg, why);
    }
    buf_fini(&body);
    fetch_free(f);
    free(shown);
    free(url);
    return rc;
}
