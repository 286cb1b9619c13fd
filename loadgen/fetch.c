#include "loadgen/fetch.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/settings.h"
#include "common/xalloc.h"
#include "loadgen/api/api.h"
#include "loadgen/exchange.h"
#include "loadgen/target.h"
#include "loadgen/transport/transport.h"

#define TIMEOUT_NS (10 * NS_PER_S)

/* Takes any body. */
static int read_any(const struct api *api, const struct response_head *head,
                    const char *data, size_t len, struct piece *p)
{
    (void)api;
    (void)head;
    (void)data;
    p->has_content = len > 0;
    return 0;
}

static const struct api_ops any = {.kind = API_HTTP, .read_whole = read_any};

static int judge(const struct exchange *x, json_t **json, struct err *err)
{
    json_error_t problem;

    if (x->facts.outcome != OUTCOME_OK)
        return err_set(err, ERR_IO, "%.200s", x->why);
    *json = json_loadb(buf_text(&x->body), x->body.len, 0, &problem);
    return *json ? 0 : err_set(err, ERR_IO, "the answer is no JSON");
}

static int run(const struct targets *ts, const struct settings *s,
               json_t **json, struct err *err)
{
    const struct api api = {
        .ops = &any, .settings = s, .success = statuses_range(200, 300)};
    struct exchange_plan plan = {
        .targets = ts,
        .settings = &s->target,
        .api = &api,
        .transport = transport_choose(&s->target, ts->items[0].url.scheme, err),
        .timeout_ns = TIMEOUT_NS,
    };
    struct exchange x;
    int rc;

    if (!plan.transport)
        return -1;
    rc = exchange_run(&x, &plan, err);
    if (rc == 0)
        rc = judge(&x, json, err);
    exchange_fini(&x);
    return rc;
}

/* The URL with another path. */
static char *url_at(const char *url, const char *path)
{
    const char *host = strstr(url, "://") + 3;

    return xasprintf("%.*s%s", (int)(host + strcspn(host, "/?#") - url), url,
                     path);
}

int fetch_json(const struct target_settings *s, const char *path,
               struct json_t **json, struct err *err)
{
    char *url = url_at(s->urls.items[0], path);
    char method[] = "GET";
    struct settings settings = {.target = *s};
    struct targets ts;
    int rc;

    settings.target.urls = (struct strlist){.items = &url, .len = 1};
    settings.target.method = method;
    settings.target.body = NULL;
    rc = targets_init(&ts, &settings.target, NULL, err);
    if (rc == 0)
        rc = run(&ts, &settings, json, err);
    targets_fini(&ts);
    free(url);
    return rc ? err_context(err, "GET %s", path) : 0;
}
