#include "loadgen/prepare/ready.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/settings/settings.h"
#include "common/text/redact.h"
#include "common/text/units.h"
#include "loadgen/prepare/exchange.h"
#include "loadgen/prepare/grpc_ask.h"
#include "loadgen/prepare/secret.h"
#include "loadgen/prepare/target.h"
#include "loadgen/transport/transport.h"

#define PERIOD_NS (500 * NS_PER_MS)
#define SLICE_NS  (10 * NS_PER_MS)

/* One target that is waited for. */
struct wait {
    struct target_settings settings; /* a copy; pointers are borrowed */
    const struct transport_ops *transport;
    int64_t until_ns;
    int64_t timeout_ns; /* from the start to until_ns */
    char seen[512];     /* the result of the last attempt */
};

bool ready_is(int64_t status)
{
    return status > 0 && status != 502 && status != 503 && status != 504;
}

static int64_t time_left(const struct wait *w)
{
    return w->until_ns - clk_now(&clk_monotonic);
}

/* 1: it is ready; 0: not yet, and w->seen has the reason, unless the time was
 * cut short and there is an earlier one.  A library may quote the proxy's URL.
 */
static int ask_endpoint(struct wait *w, const struct targets *ts, size_t i,
                        struct err *err)
{
    int64_t left_ns = time_left(w);
    bool is_cut_short = left_ns < w->settings.timeout_ns;
    struct exchange_plan plan = {
        .targets = ts,
        .settings = &w->settings,
        .transport = w->transport,
        .seq = (int64_t)i,
        .timeout_ns = is_cut_short ? left_ns : w->settings.timeout_ns,
        .ends_at_head = true,
    };
    struct strlist secrets = {0};
    struct exchange x;
    int rc = exchange_run(&x, &plan, err);

    if (rc == 0) {
        rc = ready_is(x.facts.status);
        if (x.facts.status > 0) {
            snprintf(w->seen, sizeof(w->seen), "HTTP status %d",
                     (int)x.facts.status);
        } else if (!is_cut_short || x.facts.outcome != OUTCOME_TIMEOUT ||
                   !w->seen[0]) {
            snprintf(w->seen, sizeof(w->seen), "%s", x.why);
            secrets_find(ts, &w->settings, &secrets);
            secrets_cross_out(&secrets, w->seen, strlen(w->seen));
            strlist_fini(&secrets);
        }
    }
    exchange_fini(&x);
    return rc;
}

/* A name that does not resolve may do so later, so it is resolved each time. */
static int ask(struct wait *w, struct err *err)
{
    int64_t left_ns = time_left(w);
    int64_t max_ns = w->settings.timeout_ns;
    struct err problem = {0};
    struct targets ts;
    int rc;

    if (url_is_grpc(w->settings.urls.items[0]))
        return grpc_ask_ready(&w->settings, left_ns < max_ns ? left_ns : max_ns,
                              w->seen, sizeof(w->seen), err);
    rc = targets_init(&ts, &w->settings, NULL, &problem);
    if (rc && problem.code == ERR_IO) {
        snprintf(w->seen, sizeof(w->seen), "%s", problem.msg);
        rc = 0;
    } else if (rc) {
        *err = problem;
    }
    for (size_t i = 0; rc == 0 && i < ts.n_endpoints; i++)
        rc = ask_endpoint(w, &ts, i, err);
    targets_fini(&ts);
    return rc;
}

static int wait_for(struct wait *w, struct err *err)
{
    char text[UNITS_TEXT];

    for (;;) {
        int64_t next_ns = clk_now(&clk_monotonic) + PERIOD_NS;
        int rc = ask(w, err);

        if (rc < 0)
            return -1;
        if (atomic_load(&stop_signal))
            return err_set(err, ERR_STOPPED,
                           "interrupted while waiting: %.400s", w->seen);
        if (rc)
            return 0;
        if (next_ns > w->until_ns)
            next_ns = w->until_ns;
        while (clk_now(&clk_monotonic) < next_ns && !atomic_load(&stop_signal))
            clk_sleep_ns(SLICE_NS);
        if (time_left(w) <= 0)
            return err_set(err, ERR_IO, "not ready within %s: %.400s",
                           units_print_duration(w->timeout_ns, text), w->seen);
    }
}

int ready_wait(const struct target_settings *s, int64_t timeout_ns,
               struct err *err)
{
    struct wait w = {.until_ns = clk_now(&clk_monotonic) + timeout_ns,
                     .timeout_ns = timeout_ns};
    char method[] = "GET";
    struct err problem = {0};
    struct targets ts;
    struct url url;

    /* Report errors in the settings before waiting. */
    if (targets_init(&ts, s, NULL, &problem) && problem.code == ERR_CONFIG)
        *err = problem;
    targets_fini(&ts);
    if (err->code || url_parse(s->urls.items[0], &url, err))
        return -1;
    w.transport = transport_choose(s, url.scheme, err);
    if (!w.transport)
        return -1;
    if (w.transport == &transport_null)
        return 0;
    for (size_t i = 0; i < s->urls.len; i++) {
        w.seen[0] = '\0';
        target_aim(&w.settings, s, &s->urls.items[i]);
        w.settings.method = method;
        w.settings.body = NULL;
        if (wait_for(&w, err)) {
            char *shown = redact_url(s->urls.items[i]);

            if (err->code != ERR_CONFIG)
                err_context(err, "%s", shown);
            free(shown);
            return -1;
        }
    }
    return 0;
}
