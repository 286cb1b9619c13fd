#include "tests/support/sided.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"
#include "common/recording/failures.h"
#include "common/recording/manifest.h"
#include "common/recording/schema.h"
#include "common/recording/study_set.h"
#include "tests/support/ondisk.h"
#include "tests/support/tmpdir.h"

#define WARMUP 100 /* requests */

/* When this number of requests was due. */
static int64_t after(const struct sided *s, size_t n)
{
    double gap_ms = s->gap_ms > 0 ? s->gap_ms : 10;

    return (int64_t)((double)n * gap_ms * (double)NS_PER_MS);
}

static struct facts row_of(const struct sided *s, size_t i, double e2e_ms)
{
    int64_t due = after(s, i);
    int64_t issued = due + s->lag_ms * NS_PER_MS + 1000;
    int64_t done = due + (int64_t)(e2e_ms * (double)NS_PER_MS);
    struct facts f = facts_unknown((int64_t)i, due);

    f.issued = issued;
    f.sent = issued + 1000;
    f.head = f.first = f.last = f.end = done;
    f.outcome = OUTCOME_OK;
    f.status = 200;
    if (s->failed_every && i % s->failed_every == 0) {
        f.outcome = OUTCOME_STATUS;
        f.detail = f.status = 503;
    }
    if (s->tokens) {
        f.output_tokens = s->tokens;
        f.token_source = TOKENS_USAGE;
    }
    if (s->wrong_every)
        f.check = i % s->wrong_every == 0 ? CHECK_FAILED : CHECK_PASSED;
    return f;
}

static void write_rows(const char *dir, const struct sided *s, size_t n)
{
    struct facts *rows = xcalloc(n, sizeof(*rows));
    struct rng rng = rng_stream(s->seed + 1, RNG_SERVICE);

    for (size_t i = 0; i < n; i++)
        rows[i] = row_of(s, i,
                         s->e2e_ms + s->spread_ms * rng_exponential(&rng) +
                             s->growth_ms * (double)i / (double)n +
                             (i < n / 6 ? s->cold_ms : 0));
    table_write(dir, "requests.tgr", &schema_requests, rows, n, TGR_MAX_ROWS);
    free(rows);
}

static void write_manifest(const char *dir, const struct sided *s, size_t n)
{
    static const struct failures none;
    const struct run_start start = {.monotonic_ns = 1,
                                    .realtime_ns = s->at_s * NS_PER_S};
    const struct run_end end = {.due_end_ns = after(s, n),
                                .scheduled = (int64_t)n,
                                .issued = (int64_t)n};
    struct settings settings;
    struct manifest manifest;
    struct err err = {0};

    settings_init(&settings);
    strlist_add(&settings.target.urls, "http://127.0.0.1:1/");
    settings.load.scenario = s->is_closed ? SCENARIO_CLOSED : SCENARIO_SERVER;
    settings.load.rate_rps = s->rate > 0 ? s->rate : 100;
    settings.load.warmup_ns = after(s, WARMUP);
    settings.load.duration_ns = after(s, n) - after(s, WARMUP);
    if (s->planned > 0) {
        settings.load.stop = STOP_DECIDED;
        settings.load.duration_ns =
            (int64_t)(s->planned * (double)settings.load.duration_ns);
    }
    settings.load.seed = s->seed;
    if (s->slo)
        strlist_add(&settings.slo, s->slo);
    if (s->batching)
        strmap_put(&settings.conditions, "batching", s->batching);
    if (s->replicas)
        strmap_put(&settings.conditions, "replicas", s->replicas);
    manifest_init(&manifest, &settings, &start);
    if (!s->was_killed)
        manifest_complete(&manifest, &end, &none);
    assert_int_equal(manifest_save(&manifest, dir, &err), 0);
    manifest_fini(&manifest);
    settings_fini(&settings);
}

char *sided_write(const char *name, const struct sided *s)
{
    char *dir = tmpdir_path(name);
    size_t n = (s->n ? s->n : 6000) + WARMUP;

    assert_int_equal(mkdir(dir, 0777), 0);
    write_rows(dir, s, n);
    write_manifest(dir, s, n);
    return dir;
}

char *sided_write_trials(const char *name, const struct sided *s, size_t trials)
{
    char *dir = tmpdir_path(name);
    struct sided one = *s;

    assert_int_equal(mkdir(dir, 0777), 0);
    for (size_t k = 1; k <= trials; k++) {
        char trial[160];

        one.seed = s->seed + k;
        snprintf(trial, sizeof(trial), "%s/trial-%zu", name, k);
        free(sided_write(trial, &one));
    }
    return dir;
}

/* ---- offline sets ---- */

static double ms_of(const struct fixed_set *set, size_t server, size_t trial)
{
    double ms = set->service_ms * (1 + 0.001 * (double)trial);

    if (server == 0 && set->slow > 0)
        ms *= set->slow;
    if (trial == 1 && set->first_slow > 0)
        ms *= set->first_slow;
    return ms;
}

/* When the last answer came. */
static int64_t write_fixed_rows(const struct fixed_set *set, size_t trial,
                                const char *dir)
{
    struct facts *rows = xcalloc(set->n, sizeof(*rows));
    struct rng rng = rng_stream(trial, RNG_SERVICE);
    double free_ms[FIXED_SET_SERVERS] = {0};
    int64_t last = 0;

    for (size_t i = 0; i < set->n; i++) {
        size_t at = set->by_chance
                        ? (size_t)(rng_uniform(&rng) * (double)set->servers)
                        : i % set->servers;
        struct facts f = facts_unknown((int64_t)i, 0);

        free_ms[at] += ms_of(set, at, trial);
        f.issued = 1000;
        f.sent = 2000;
        f.head = f.first = f.last = f.end =
            (int64_t)(free_ms[at] * (double)NS_PER_MS);
        f.outcome = OUTCOME_OK;
        f.status = 200;
        if (set->is_checked)
            f.check = CHECK_PASSED;
        if (set->has_targets)
            f.target = (int64_t)at;
        rows[i] = f;
        last = f.end > last ? f.end : last;
    }
    table_write(dir, "requests.tgr", &schema_requests, rows, set->n,
                TGR_MAX_ROWS);
    free(rows);
    return last;
}

static void write_fixed_run(const struct fixed_set *set, size_t trial,
                            const char *dir)
{
    static const struct failures none;
    struct strlist targets = {0};
    const struct run_start start = {.monotonic_ns = (int64_t)trial,
                                    .targets = &targets};
    struct run_end end = {.scheduled = (int64_t)set->n,
                          .issued = (int64_t)set->n};
    struct settings settings;
    struct manifest manifest;
    struct err err = {0};

    assert_int_equal(mkdir(dir, 0777), 0);
    end.due_end_ns = write_fixed_rows(set, trial, dir) + 1;
    settings_init(&settings);
    if (settings_load(
            &settings,
            tmpdir_write("fixed.yaml", set->settings, strlen(set->settings)),
            &err))
        fail_msg("%s", err.msg);
    if (settings.target.urls.len == 0)
        strlist_add(&settings.target.urls, "http://127.0.0.1:1/");
    settings.load.scenario = SCENARIO_OFFLINE;
    settings.load.requests = (int64_t)set->n;
    settings.load.seed = trial;
    for (size_t i = 0; set->has_targets && i < set->servers; i++) {
        char name[64];

        snprintf(name, sizeof(name), "http://server-%zu/", i);
        strlist_add(&targets, name);
    }
    manifest_init(&manifest, &settings, &start);
    manifest_complete(&manifest, &end, &none);
    assert_int_equal(manifest_save(&manifest, dir, &err), 0);
    manifest_fini(&manifest);
    settings_fini(&settings);
    strlist_fini(&targets);
}

char *fixed_set_write(const char *name, const struct fixed_set *set)
{
    char *dir = tmpdir_path(name);
    struct study_set trials = {
        .asked = (int64_t)set->trials,
        .recorded = (int64_t)set->trials,
        .launched_by = set->one_launch ? LAUNCHED_ONCE : LAUNCHED_STUB,
    };
    struct err err = {0};

    assert_int_equal(mkdir(dir, 0777), 0);
    for (size_t k = 1; k <= set->trials; k++) {
        char *trial = study_trial_path(dir, (int64_t)k);

        *study_set_add(&trials, POINT_TRIAL, 0) = (struct study_point){
            .role = POINT_TRIAL,
            .number = (int64_t)k,
            .seed = k,
            .is_recorded = true,
        };
        write_fixed_run(set, k, trial);
        free(trial);
    }
    assert_int_equal(study_set_save(&trials, dir, &err), 0);
    study_set_fini(&trials);
    return dir;
}
