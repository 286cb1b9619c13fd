#include "analyzer/scaling/scaling_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare/conditions.h"
#include "analyzer/compare/matched.h"
#include "analyzer/compare/run_conditions.h"
#include "analyzer/read/reader.h"
#include "analyzer/scaling/scaling.h"
#include "analyzer/scaling/scaling_searches.h"
#include "analyzer/stats/order_stats.h"
#include "analyzer/tally/summary.h"
#include "common/base/err.h"
#include "common/base/units.h"
#include "common/base/xalloc.h"
#include "common/recording/study_set.h"

#define MAX_TRIALS   10000
#define MAX_ENDS     20000000 /* answers whose ends are looked at */
#define MAX_FAILED   0.001    /* share: beyond it the job was not done */
#define P50          0        /* of summary_quantile */
#define P99          3
#define MAX_REPLICAS 1000000

/* ---- K ---- */

/* What a run says of its number of replicas, the first that does. */
static int64_t replicas_of(const struct settings *settings)
{
    const char *label = strmap_get(&settings->conditions, "replicas");
    struct err ignored = {0};
    int64_t k;

    if (label && units_parse_count(label, &k, &ignored) == 0)
        return k;
    return settings->has_stub ? settings->stub.replicas
                              : settings->cost.replicas;
}

bool scale_runs_k(struct scaling *s, const char *dir,
                  const struct settings *settings, int64_t *k)
{
    *k = replicas_of(settings);
    if (*k >= 1 && *k <= MAX_REPLICAS &&
        (!settings->has_stub || settings->stub.replicas == *k))
        return true;
    scaling_say(&s->refusals,
                "%s: conditions.replicas says %lld, the stub beside the run "
                "has %lld",
                dir, (long long)*k, (long long)settings->stub.replicas);
    return false;
}

/* ---- may it be used? ---- */

static bool is_usable(struct scaling *s, const char *dir,
                      const struct settings *settings,
                      const struct summary *sum)
{
    double failed = (double)(sum->failed + sum->unsent);
    char why[RUN_CARD_WHY];

    run_card_obstacle(sum, why);
    if (s->ask.regime == SCALE_CAPACITY)
        scaling_say(&s->refusals,
                    "%s: a run has no capacity; tailgate search finds one",
                    dir);
    else if (settings->load.scenario != SCENARIO_OFFLINE)
        scaling_say(&s->refusals,
                    "%s: %s: how long it lasts is no T(K); measure the "
                    "makespan of an offline set (load.scenario: offline), or "
                    "search for capacities (--capacity)",
                    dir,
                    scenario_is_open(settings->load.scenario)
                        ? "an open loop"
                        : "not an offline set");
    else if (why[0])
        scaling_say(&s->refusals, "%s: %s", dir, why);
    else if (failed > MAX_FAILED * (double)sum->scheduled)
        scaling_say(&s->refusals,
                    "%s: %.0f of %lld requests failed: the job was not done",
                    dir, failed, (long long)sum->scheduled);
    else
        return true;
    return false;
}

/* ---- one run ---- */

static int read_ends(struct recording *rec, double start_s, double *ends,
                     size_t *len, size_t max, struct err *err)
{
    const struct facts *rows;
    size_t n;
    int rc = recording_rewind(rec, err);

    *len = 0;
    while (rc == 0 && (rc = recording_next(rec, &rows, &n, err)) > 0) {
        for (size_t i = 0; i < n && *len < max; i++) {
            if (rows[i].outcome == OUTCOME_OK)
                ends[(*len)++] = (double)rows[i].end / 1e9 - start_s;
        }
        rc = 0;
    }
    return rc;
}

static int take_drain(struct scale_point *p, struct recording *rec,
                      const struct summary *sum, struct err *err)
{
    size_t max = (size_t)sum->ok;
    struct drain d;
    double *ends;
    size_t n;
    int rc;

    if (sum->ok < 1 || sum->ok > MAX_ENDS)
        return 0;
    ends = xcalloc(max, sizeof(*ends));
    rc = read_ends(rec, sum->window_start_s, ends, &n, max, err);
    if (rc == 0) {
        order_sort(ends, n);
        d = drain_of(ends, n);
        drain_add(&p->drain, &d);
    }
    free(ends);
    return rc;
}

/* Pooled over runs, by how much each of them says. */
static void take_quality(struct scale_point *p, const struct quality *q)
{
    double before = isnan(p->quality_n) ? 0 : p->quality_n;

    if (q->checked == 0)
        return;
    p->quality = ((isnan(p->quality) ? 0 : p->quality * before) +
                  q->share * q->n_effective) /
                 (before + q->n_effective);
    p->quality_n = before + q->n_effective;
}

/* The mean over the runs of a point, of which this is the last. */
static void average(double *mean, double x, size_t runs)
{
    *mean = runs < 2 ? x : *mean + (x - *mean) / (double)runs;
}

static enum scale_answer slo_answer(const struct summary *sum)
{
    return sum->answer == VERDICT_PASS   ? SCALE_YES
           : sum->answer == VERDICT_FAIL ? SCALE_NO
                                         : SCALE_UNKNOWN;
}

/* NAN: too few, or among the failures. */
static double milliseconds(int64_t ns)
{
    return ns >= 0 ? (double)ns / 1e6 : NAN;
}

static void take_numbers(struct scale_point *p, const struct settings *settings,
                         const struct summary *sum)
{
    const int64_t *e2e_ns = sum->spread[MEASURE_E2E][VIEW_DUE].quantile_ns;
    enum scale_answer slo = slo_answer(sum);

    scale_point_add_time(p, sum->window_length_s);
    p->work = (double)sum->scheduled;
    average(&p->p50_ms, milliseconds(e2e_ns[P50]), p->n_times);
    average(&p->p99_ms, milliseconds(e2e_ns[P99]), p->n_times);
    if (sum->has_tokens)
        average(&p->tokens, sum->output_tokens_per_s * sum->window_length_s,
                p->n_times);
    if (sum->metered.has_energy)
        average(&p->joules, sum->metered.joules, p->n_times);
    if (settings->cost.usd_per_hour > 0)
        p->usd_per_hour = settings->cost.usd_per_hour * (double)p->k;
    p->keeps_slo = p->keeps_slo > slo ? p->keeps_slo : slo;
    take_quality(p, &sum->quality);
}

/* ---- do two of them differ in more than K? ---- */

static bool is_among(const char *key, const char *const *keys)
{
    while (*keys && strcmp(*keys, key) != 0)
        keys++;
    return *keys != NULL;
}

/* K itself, how it is made, and what is checked elsewhere; of weak scaling what
 * grows with it, of capacities what a search chooses. */
static bool is_of_k(const char *key, enum scale_regime regime)
{
    static const char *const always[] = {"conditions.replicas",
                                         "cost.replicas",
                                         "stub.replicas",
                                         "stub.speed",
                                         "server.start",
                                         "load.requests",
                                         NULL};
    static const char *const of_regime[][8] = {
        [SCALE_STRONG] = {NULL},
        [SCALE_WEAK] = {"client.connections", NULL},
        [SCALE_CAPACITY] = {"load.rate", "load.duration", "load.warmup",
                            "load.max_duration", "load.drain", NULL},
    };

    return is_among(key, always) || is_among(key, of_regime[regime]);
}

/* The first difference that must not be there; NULL: none. */
static const struct difference *mismatch(const struct differences *d,
                                         enum scale_regime regime)
{
    for (size_t i = 0; i < d->len; i++) {
        if (d->list[i].kind == DIFFERENCE_MUST &&
            !is_of_k(d->list[i].key, regime))
            return &d->list[i];
    }
    return NULL;
}

char *scale_runs_apart(const struct scaling *s, const struct strmap *a,
                       const struct strmap *b)
{
    const struct match match = {.ignores_slo = s->ask.slo != NULL,
                                .is_must = true};
    struct differences d = {0};
    const struct difference *x;
    char *why = NULL;

    matched_find(&d, a, b, &match);
    x = mismatch(&d, s->ask.regime);
    if (x)
        why = xasprintf("%s: %.80s | %.80s: %s", x->key, x->a, x->b, x->why);
    differences_fini(&d);
    return why;
}

/* Runs of one K that match, their number of requests included, are repeats. */
static bool is_repeat(const struct scaling *s, const struct scale_point *p,
                      int64_t k, const struct strmap *card)
{
    char *why;

    if (p->k != k)
        return false;
    why = scale_runs_apart(s, &p->card, card);
    free(why);
    return !why;
}

struct scale_point *scale_runs_point(struct scaling *s, const char *dir,
                                     int64_t k, struct strmap *conditions_taken)
{
    struct scale_point *p;
    bool is_first = true;

    for (size_t i = 0; i < s->n; i++) {
        if (is_repeat(s, &s->points[i], k, conditions_taken)) {
            strmap_fini(conditions_taken);
            return &s->points[i];
        }
        is_first = is_first && s->points[i].k != k;
    }
    p = scaling_point(s, k, is_first ? "" : dir, dir);
    p->card = *conditions_taken;
    return p;
}

/* A recording, and whether the server was warm when it began. */
struct run {
    const char *dir;
    bool is_warm;
};

static int take(struct scaling *s, struct recording *rec, const struct run *run,
                const struct summary *sum, struct err *err)
{
    const char *dir = run->dir;
    int64_t k;
    struct strmap card = {0};
    struct scale_point *p;

    if (!is_usable(s, dir, &rec->settings, sum) ||
        !scale_runs_k(s, dir, &rec->settings, &k))
        return 0;
    conditions_make(&card, rec, sum);
    p = scale_runs_point(s, dir, k, &card);
    if (!isnan(p->work) && p->work != (double)sum->scheduled)
        scaling_say(&s->refusals,
                    "%s: %lld requests, where another run of K = %lld has %.0f",
                    dir, (long long)sum->scheduled, (long long)p->k, p->work);
    p->is_warm = run->is_warm && p->is_warm != SCALE_NO ? SCALE_YES : SCALE_NO;
    take_numbers(p, &rec->settings, sum);
    return take_drain(p, rec, sum, err);
}

static int read_run(struct scaling *s, const struct run *run, struct err *err)
{
    struct recording rec;
    struct summary *sum;
    int rc;

    if (recording_open(&rec, run->dir, err))
        return -1;
    sum = xcalloc(1, sizeof(*sum));
    rc = summary_make_priced(sum, &rec, s->ask.slo, s->ask.cost, err);
    if (rc == 0)
        rc = take(s, &rec, run, sum, err);
    free(sum);
    recording_close(&rec);
    return rc;
}

/* ---- many runs ---- */

/* Trials before the others warm a server that goes on. */
static int find_warm(const struct scaling *s, const char *dir, bool *is_warm,
                     struct err *err)
{
    struct study_set set = {0};

    *is_warm = s->ask.warmup_trials > 0;
    if (!*is_warm || !study_is_at(dir))
        return 0;
    if (study_set_load_kind(&set, dir, STUDY_TRIALS, err))
        return -1;
    *is_warm = set.launched_by == LAUNCHED_ONCE;
    study_set_fini(&set);
    return 0;
}

/* The first so many of a set are its warm-up. */
static int read_trials(struct scaling *s, const char *dir, struct err *err)
{
    int64_t first = 1 + s->ask.warmup_trials;
    bool is_warm;
    int rc = find_warm(s, dir, &is_warm, err);

    if (rc == 0 && !study_has_trial(dir, first))
        return err_set(err, ERR_CONFIG,
                       "%s: nothing is left behind %lld trial(s) of warm-up",
                       dir, (long long)s->ask.warmup_trials);
    for (int64_t i = first;
         rc == 0 && i <= MAX_TRIALS && study_has_trial(dir, i); i++) {
        char *path = study_trial_path(dir, i);

        rc = read_run(s, &(struct run){path, is_warm}, err);
        free(path);
    }
    return rc;
}

static int read_variants(struct scaling *s, const char *dir, struct err *err)
{
    struct variant_set set = {0};
    int rc = variant_set_load(&set, dir, err);

    for (size_t i = 0; rc == 0 && i < set.n; i++) {
        char *path = variant_set_path(dir, &set.list[i]);

        if (set.list[i].failed[0])
            scaling_say(&s->refusals, "%s: %.200s", path, set.list[i].failed);
        else
            rc = set.of == STUDY_TRIALS ? read_trials(s, path, err)
                                        : scale_runs_read(s, path, err);
        free(path);
    }
    variant_set_fini(&set);
    return rc;
}

static int refuse_study(struct scaling *s, const char *dir,
                        enum study_kind kind)
{
    scaling_say(&s->refusals, "%s: a study of kind %s: %s", dir,
                study_kind_name(kind),
                s->ask.regime == SCALE_CAPACITY
                    ? "it has no capacity; tailgate search finds one"
                    : "it has no T(K); scale takes offline sets, as trials or "
                      "as variants");
    return 0;
}

int scale_runs_read(struct scaling *s, const char *dir, struct err *err)
{
    enum study_kind kind;

    if (!study_is_at(dir))
        return study_has_trial(dir, 1)
                   ? read_trials(s, dir, err)
                   : read_run(s, &(struct run){dir, false}, err);
    if (study_kind_at(dir, &kind, err))
        return -1;
    if (kind == STUDY_TRIALS)
        return read_trials(s, dir, err);
    if (kind == STUDY_VARIANTS)
        return read_variants(s, dir, err);
    if (kind == STUDY_SEARCH && s->ask.regime == SCALE_CAPACITY)
        return scale_search_read(s, dir, err);
    return refuse_study(s, dir, kind);
}

/* ---- all of them ---- */

/* Like one of those at K = 1; else why not like the first. */
static char *why_unlike(const struct scaling *s, const struct scale_point *p)
{
    char *first = NULL;

    for (size_t i = 0; i < s->n && s->points[i].k == 1; i++) {
        char *why = scale_runs_apart(s, &s->points[i].card, &p->card);

        if (!why) {
            free(first);
            return NULL;
        }
        if (first)
            free(why);
        else
            first = why;
    }
    return first;
}

void scale_runs_match(struct scaling *s)
{
    for (size_t i = 0; i < s->n; i++) {
        char *why = s->points[i].k > 1 ? why_unlike(s, &s->points[i]) : NULL;

        if (why)
            scaling_say(&s->refusals,
                        "K = %lld is not matched with K = 1: %s (%s)",
                        (long long)s->points[i].k, why, s->points[i].where);
        free(why);
    }
}
