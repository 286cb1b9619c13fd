#include "loadgen/prepare/preflight_request.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/settings/settings.h"
#include "common/text/redact.h"
#include "common/wire/status.h"
#include "loadgen/api/api.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/exchange.h"
#include "loadgen/prepare/secret.h"
#include "loadgen/trace/trace_replay.h"
#include "loadgen/transport/transport.h"

/* An answer that has begun well is not waited for longer than this. */
#define CUT_NS NS_PER_S

/* Nor is one that has not begun: the run measures slow servers. */
#define MAX_WAIT_NS (30 * NS_PER_S)

/* Added to the nonce, so that the prompts differ from those of the run.  The
 * nonces of the run are below, except one that the user chose. */
#define OTHER_NONCE (UINT64_C(1) << 53)

bool preflight_is_refusal(const struct facts *f)
{
    /* 400 and 413 may be about this prompt alone, 429 and 5xx about load. */
    static const int64_t refusals[] = {401,
                                       403,
                                       404,
                                       405,
                                       415,
                                       422,
                                       RPC_INVALID_ARGUMENT,
                                       RPC_NOT_FOUND,
                                       RPC_PERMISSION_DENIED,
                                       RPC_UNIMPLEMENTED,
                                       RPC_UNAUTHENTICATED};

    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        if (f->outcome == OUTCOME_STATUS && f->detail == refusals[i])
            return true;
    }
    return false;
}

/* Of an answer that the run does not read, only the status counts. */
static bool has_failed(const struct class *c, const struct facts *f)
{
    return c->api
               ? f->outcome != OUTCOME_OK
               : f->outcome == OUTCOME_CONNECT || f->outcome == OUTCOME_RESET ||
                     f->outcome == OUTCOME_TIMEOUT ||
                     f->outcome == OUTCOME_STATUS;
}

static int judge(const struct class *c, const struct target *t,
                 struct exchange *x, struct err *err)
{
    struct strlist secrets = {0};
    char *url = redact_url(t->text);
    int rc = 0;

    secrets_find(c->targets, c->settings, &secrets);
    secrets_cross_out(&secrets, x->why, strlen(x->why));
    if (x->facts.outcome == OUTCOME_UNFINISHED)
        rc = err_set(err, ERR_STOPPED, "interrupted before the run began");
    else if (preflight_is_refusal(&x->facts))
        rc = err_set(err, ERR_IO,
                     "%s: the server refuses requests: %s; --no-preflight runs "
                     "anyway",
                     url, x->why);
    else if (has_failed(c, &x->facts))
        log_note("warning: %s: the preflight request failed: %s%s", url, x->why,
                 x->facts.outcome == OUTCOME_RESET &&
                         strncmp(url, "http:", 5) == 0
                     ? " (does the server expect https?)"
                     : "");
    strlist_fini(&secrets);
    free(url);
    return rc;
}

static int ask_class(const struct class *c, struct exchange_plan *plan,
                     struct err *err)
{
    for (size_t i = 0; i < c->targets->len; i++) {
        struct exchange x;
        int rc;

        plan->seq = (int64_t)i; /* selects the target */
        rc = exchange_run(&x, plan, err);
        if (rc == 0)
            rc = judge(c, &c->targets->items[i], &x, err);
        exchange_fini(&x);
        if (rc)
            return -1;
    }
    return 0;
}

int preflight_request(const struct workload *workload, const struct settings *s,
                      const struct transport_ops *transport, int64_t timeout_ns,
                      struct err *err)
{
    size_t drawn = workload->len - (workload->warmup ? 1 : 0);
    struct row row = {0};
    int rc;

    if (transport == &transport_null)
        return 0;
    if (timeout_ns > MAX_WAIT_NS)
        timeout_ns = MAX_WAIT_NS;
    rc = replay_first(&s->load, &row, err);
    for (size_t i = 0; rc == 0 && i < drawn; i++) {
        const struct class *c = &workload->classes[i];
        struct api api = *workload_api(workload, i); /* all is borrowed */
        struct exchange_plan plan = {
            .targets = c->targets,
            .settings = c->settings,
            .api = &api,
            .transport = transport,
            .row = &row,
            .timeout_ns = c->settings->timeout_ns < timeout_ns
                              ? c->settings->timeout_ns
                              : timeout_ns,
            .cut_ns = CUT_NS,
        };

        api.sampler.nonce += OTHER_NONCE;
        rc = ask_class(c, &plan, err);
        if (rc && s->classes.len > 0)
            err_context(err, "classes: %s", s->classes.items[i].name);
    }
    row_fini(&row);
    return rc;
}
