#include "loadgen/show.h"

#include <string.h>

#include "common/err.h"
#include "common/settings.h"
#include "common/str.h"
#include "loadgen/api/api.h"
#include "loadgen/discover.h"
#include "loadgen/secret.h"
#include "loadgen/target.h"
#include "loadgen/transport/transport.h"

/* Names of headers get no longer, but "(redacted)" may be. */
#define SHOW_ROOM (4 * SHOW_KEPT)

static void redact_side(struct exchange_side *side,
                        const struct strlist *secrets)
{
    struct buf shown;

    buf_init(&shown, SHOW_ROOM);
    secrets_redact_http(secrets, &side->bytes, &shown);
    buf_fini(&side->bytes);
    side->bytes = shown;
}

static void redact(struct exchange *x, const struct targets *ts,
                   const struct target_settings *s)
{
    struct strlist secrets = {0};

    secrets_find(ts, s, &secrets);
    redact_side(&x->sent, &secrets);
    redact_side(&x->received, &secrets);
    secrets_cross_out(&secrets, x->why, strlen(x->why));
    strlist_fini(&secrets);
}

static int run(const struct targets *ts, const struct target_settings *s,
               const struct api *api, const struct transport_ops *transport,
               struct exchange *x, struct err *err)
{
    struct exchange_plan plan = {
        .targets = ts,
        .settings = s,
        .api = api,
        .transport = transport,
        .timeout_ns = s->timeout_ns,
        .keep = SHOW_KEPT,
    };

    if (exchange_run(x, &plan, err))
        return -1;
    if (x->facts.outcome == OUTCOME_UNFINISHED)
        return err_set(err, ERR_STOPPED, "interrupted before the answer came");
    redact(x, ts, s);
    return 0;
}

int show_request(struct settings *settings, struct exchange *x, struct err *err)
{
    const struct target_settings *s = &settings->target;
    const struct transport_ops *transport = NULL;
    struct strlist said = {0};
    struct targets ts = {0};
    struct api api = {0};
    int rc;

    *x = (struct exchange){0};
    rc = discover(settings, err) || api_init(&api, settings, err) ||
                 targets_init(&ts, s, api_if_needed(&api), err)
             ? -1
             : 0;
    if (rc == 0) {
        transport = transport_choose(s, ts.items[0].url.scheme, err);
        rc = transport ? targets_probe(&ts, s->connect_timeout_ns, &said, err)
                       : -1;
    }
    if (rc == 0)
        rc = run(&ts, s, api_if_needed(&api), transport, x, err);
    strlist_fini(&said);
    targets_fini(&ts);
    api_fini(&api);
    return rc;
}
