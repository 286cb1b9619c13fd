#include "loadgen/prepare/show.h"

#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/settings/settings.h"
#include "loadgen/api/api.h"
#include "loadgen/payload/dataset.h"
#include "loadgen/prepare/discover.h"
#include "loadgen/prepare/preflight.h"
#include "loadgen/prepare/secret.h"
#include "loadgen/prepare/target.h"
#include "loadgen/trace/trace_replay.h"

/* "(redacted)" may be longer than the value that it replaces. */
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

static int run(const struct exchange_plan *plan, struct exchange *x,
               struct err *err)
{
    const struct target_settings *s = plan->settings;
    const struct targets *ts = plan->targets;
    struct strlist secrets = {0};

    if (exchange_run(x, plan, err))
        return -1;
    if (x->facts.outcome == OUTCOME_UNFINISHED)
        return err_set(err, ERR_STOPPED, "interrupted before the answer came");
    secrets_find(ts, s, &secrets);
    redact_side(&x->sent, &secrets);
    redact_side(&x->received, &secrets);
    secrets_cross_out(&secrets, x->why, strlen(x->why));
    strlist_fini(&secrets);
    x->is_insecure = s->insecure && url_is_tls(ts->items[0].url.scheme);
    return 0;
}

int show_request(const struct settings *asked, struct exchange *x,
                 struct err *err)
{
    struct settings settings; /* with what the server says filled in */
    const struct target_settings *s = &settings.target;
    const struct transport_ops *transport;
    struct strlist said = {0};
    struct targets ts = {0};
    struct api api = {0};
    struct row row = {0};
    struct dataset *data = NULL;
    int rc;

    settings_clone(&settings, asked);
    transport = preflight_target(s, err);
    rc = transport ? 0 : -1;
    *x = (struct exchange){0};
    if (rc == 0 &&
        (replay_first(&settings.load, &row, err) ||
         preflight_data(&settings.data, &data, err) ||
         discover_check(&settings, err) || discover(&settings, err) ||
         api_init(&api, &settings, err) ||
         targets_init(&ts, s, api_if_needed(&api), err) ||
         targets_probe(&ts, s, &said, err)))
        rc = -1;
    if (rc == 0) {
        const struct exchange_plan plan = {
            .targets = &ts,
            .settings = s,
            .api = api_if_needed(&api),
            .transport = transport,
            .row = &row,
            .timeout_ns = s->timeout_ns,
            .keep = SHOW_KEPT,
        };

        rc = run(&plan, x, err);
    }
    row_fini(&row);
    strlist_fini(&said);
    targets_fini(&ts);
    api_fini(&api);
    dataset_free(data);
    settings_fini(&settings);
    return rc;
}
