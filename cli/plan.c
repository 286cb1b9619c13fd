#include "cli/plan.h"

#include <stdio.h>

#include "cli/cli.h"
#include "cli/no_effect.h"
#include "cli/plan_view.h"
#include "cli/settings_args.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/settings/variant_settings.h"
#include "common/spec/slo.h"
#include "loadgen/payload/prompt_collisions.h"
#include "loadgen/prepare/preflight.h"
#include "server-stub/stub.h"

#define MAX_PLAN  65536
#define MAX_DOUBT 256

/* Ten parts of the window, and three of each kind in each
 * (analyzer/tally/cache_check.c gives no ratio of fewer). */
#define PLAN_LEAST_CACHE_CHECK 60

/* "warning: chat.yaml:9: slo: ..." for each term that cannot be answered. */
static void warn(const struct settings_file *file, const char *key,
                 const struct settings *s, double requests)
{
    struct err ignored = {0};
    struct buf doubt;
    struct slo slo;

    if (slo_parse_all(&s->slo, &slo, &ignored))
        return; /* one that is none is somebody else's to refuse */
    buf_init(&doubt, MAX_DOUBT);
    for (size_t i = 0; i < slo.len; i++) {
        const char *text = s->slo.items[i];
        size_t line = settings_line_of(file, key, text);

        buf_reset(&doubt);
        plan_doubt(s, &slo.terms[i], requests, &doubt);
        if (doubt.len > 0 && line > 0)
            log_note("warning: %s:%zu: %s: %s: %s", file->path, line, key, text,
                     buf_text(&doubt));
        else if (doubt.len > 0)
            log_note("warning: %s: %s: %s", key, text, buf_text(&doubt));
    }
    buf_fini(&doubt);
}

/* "warning: chat.yaml:9: data.limit: ..." */
static void warn_of(void *arg, const char *key, const char *why)
{
    const struct settings_args *a = arg;
    size_t line = settings_line_of(&a->text, key, NULL);

    if (line > 0)
        log_note("warning: %s:%zu: %s: %s", a->file, line, key, why);
    else
        log_note("warning: %s: %s", key, why);
}

static void warn_no_effect(void *arg, const char *key, const char *why)
{
    char text[MAX_DOUBT];

    snprintf(text, sizeof(text), "has no effect: %s", why);
    warn_of(arg, key, text);
}

static void warn_of_spread(struct settings_args *a, const struct survey *trace)
{
    char text[MAX_DOUBT];

    snprintf(text, sizeof(text),
             "wider than a step of the trace's clock: %lld of %lld rows are "
             "sent at once with the row before",
             (long long)trace->held, (long long)trace->rows);
    if (trace->held > 0)
        warn_of(a, "trace.spread", text);
}

/* Of prompts as short as that there are only so many. */
static void warn_of_repeats(struct settings_args *a, const char *key,
                            const struct settings *s, double requests)
{
    double repeats = prompt_collisions_expected(s, requests);
    char text[MAX_DOUBT];

    if (repeats < 1)
        return;
    snprintf(text, sizeof(text),
             "so short that about %.0f of %.0f prompts repeat by chance, and a "
             "cache may know them",
             repeats, requests);
    warn_of(a, key, text);
}

/* No SLO is judged in a cache check; each class has its share of the requests.
 */
static void warn_all(struct settings_args *a, const struct run_plan *known)
{
    const struct settings *s = &known->used;
    const struct classes *all = &s->classes;
    double requests = plan_requests(s, known);

    no_effect_find(s, known, warn_no_effect, a);
    warn_of_spread(a, &known->trace);
    if (s->data.cache_check) {
        if (requests > 0 && requests < PLAN_LEAST_CACHE_CHECK)
            warn_of(a, "data.cache_check",
                    "needs ten parts of the window with three requests of "
                    "either kind, so 60 at least");
        return;
    }
    warn(&a->text, "slo", s, requests);
    if (all->len == 0)
        warn_of_repeats(a, "data.input_tokens", s, requests);
    for (size_t i = 0; i < all->len; i++) {
        const struct class_settings *c = &all->items[i];
        char key[96];

        snprintf(key, sizeof(key), "classes: %.64s: slo", c->name);
        warn(&a->text, key, c->settings, requests * classes_share(all, i));
        snprintf(key, sizeof(key), "classes: %.64s: data.input_tokens",
                 c->name);
        warn_of_repeats(a, key, c->settings, requests * classes_share(all, i));
    }
}

void plan_warn(void *arg, const struct run_plan *known)
{
    warn_all(arg, known);
}

int plan_print(struct settings_args *a, struct err *err)
{
    const struct settings *s = &a->settings;
    struct run_plan known;
    struct slo slo;
    struct buf out;
    int rc;

    if (slo_parse_all(&s->slo, &slo, err) ||
        (s->has_stub && stub_check(&s->stub, err)))
        return -1;
    buf_init(&out, MAX_PLAN);
    run_plan_init(&known, s);
    rc = preflight(&known, err);
    if (rc == 0) {
        plan_view(&known.used, &known, &slo, &out);
        warn_all(a, &known);
        rc = cli_print(buf_text(&out), err);
    }
    run_plan_fini(&known);
    buf_fini(&out);
    return rc;
}

static int print_variant(struct settings_args *a, struct err *err)
{
    const char *name = strmap_get(&a->settings.conditions, VARIANTS_CONDITION);
    struct buf line;
    int rc;

    buf_init(&line, MAX_PLAN);
    buf_addf(&line, "variant    %s\n", name);
    rc = cli_print(buf_text(&line), err);
    buf_fini(&line);
    if (rc)
        return -1;
    return plan_print(a, err) ? settings_args_blame(a, err) : 0;
}

int plan_print_variants(size_t n,
                        int (*read)(const char *const *argv, size_t i,
                                    struct settings_args *a, struct err *err),
                        const char *const *argv, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < n; i++) {
        struct settings_args a;

        rc = read(argv, i, &a, err);
        if (rc == 0)
            rc = print_variant(&a, err);
        settings_args_fini(&a);
    }
    return rc;
}
