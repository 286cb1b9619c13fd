#include "cli/plan.h"

#include <stdio.h>

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
static void warn(const char *file, const char *key, const struct settings *s,
                 double requests)
{
    struct err ignored = {0};
    struct buf doubt;
    struct slo slo;

    if (slo_parse_all(&s->slo, &slo, &ignored))
        return; /* one that is none is somebody else's to refuse */
    buf_init(&doubt, MAX_DOUBT);
    for (size_t i = 0; i < slo.len; i++) {
        const char *text = s->slo.items[i];
        size_t line = file ? settings_line_of(file, key, text) : 0;

        buf_reset(&doubt);
        plan_doubt(s, &slo.terms[i], requests, &doubt);
        if (doubt.len > 0 && line > 0)
            log_note("warning: %s:%zu: %s: %s: %s", file, line, key, text,
                     buf_text(&doubt));
        else if (doubt.len > 0)
            log_note("warning: %s: %s: %s", key, text, buf_text(&doubt));
    }
    buf_fini(&doubt);
}

/* Each class has its share of the requests. */
static void warn_all(const struct settings_args *a, double requests)
{
    const struct classes *all = &a->settings.classes;

    warn(a->file, "slo", &a->settings, requests);
    for (size_t i = 0; i < all->len; i++) {
        const struct class_settings *c = &all->items[i];
        char key[96];

        snprintf(key, sizeof(key), "classes: %.64s: slo", c->name);
        warn(a->file, key, c->settings, requests * classes_share(all, i));
    }
}

void plan_warn(void *arg, const struct preflight *known)
{
    const struct settings_args *a = arg;

    warn_all(a, plan_requests(&a->settings, known));
}

int plan_print(struct settings_args *a, struct err *err)
{
    struct settings *s = &a->settings;
    struct preflight known;
    struct slo slo;
    struct buf out;
    int rc;

    if (slo_parse_all(&s->slo, &slo, err) ||
        (s->has_stub && stub_check(&s->stub, err)))
        return -1;
    buf_init(&out, MAX_PLAN);
    rc = preflight(s, &known, err);
    if (rc == 0) {
        plan_view(s, &known, &slo, &out);
        warn_all(a, plan_requests(s, &known));
        rc = cli_print(buf_text(&out), err);
    }
    preflight_fini(&known);
    buf_fini(&out);
    return rc;
}
