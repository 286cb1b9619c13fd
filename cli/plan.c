#include "cli/plan.h"

#include "cli/cli.h"
#include "cli/plan_view.h"
#include "cli/settings_args.h"
#include "common/buf.h"
#include "common/err.h"
#include "common/log.h"
#include "common/slo.h"
#include "loadgen/preflight.h"
#include "server-stub/stub.h"

#define MAX_PLAN  65536
#define MAX_DOUBT 256

/* "warning: chat.yaml:9: slo: ..." for each term that cannot be answered. */
static void warn(const struct settings_args *a, const struct slo *slo,
                 double requests)
{
    struct buf doubt;

    buf_init(&doubt, MAX_DOUBT);
    for (size_t i = 0; i < slo->len; i++) {
        const char *text = a->settings.slo.items[i];
        size_t line = a->file ? settings_line_of(a->file, "slo", text) : 0;

        buf_reset(&doubt);
        plan_doubt(&a->settings, &slo->terms[i], requests, &doubt);
        if (doubt.len > 0 && line > 0)
            log_note("warning: %s:%zu: slo: %s: %s", a->file, line, text,
                     buf_text(&doubt));
        else if (doubt.len > 0)
            log_note("warning: slo: %s: %s", text, buf_text(&doubt));
    }
    buf_fini(&doubt);
}

/* An SLO that is none is somebody else's to refuse. */
void plan_warn(void *arg, const struct preflight *known)
{
    const struct settings_args *a = arg;
    struct err ignored = {0};
    struct slo slo;

    if (slo_parse(&a->settings.slo, &slo, &ignored) == 0)
        warn(a, &slo, plan_requests(&a->settings, known));
}

int plan_print(struct settings_args *a, struct err *err)
{
    struct settings *s = &a->settings;
    struct preflight known;
    struct slo slo;
    struct buf out;
    int rc;

    if (slo_parse(&s->slo, &slo, err) ||
        (s->has_stub && stub_check(&s->stub, err)))
        return -1;
    buf_init(&out, MAX_PLAN);
    rc = preflight(s, &known, err);
    if (rc == 0) {
        plan_view(s, &known, &slo, &out);
        warn(a, &slo, plan_requests(s, &known));
        rc = cli_print(buf_text(&out), err);
    }
    preflight_fini(&known);
    buf_fini(&out);
    return rc;
}
