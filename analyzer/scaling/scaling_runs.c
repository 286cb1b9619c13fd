#include "analyzer/scaling/scaling_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare/matched.h"
#include "analyzer/compare/run_conditions.h"
#include "analyzer/scaling/scaling.h"
#include "analyzer/search/search_read.h"
#include "analyzer/stats/order_stats.h"
#include "analyzer/studies/study_recordings.h"
#include "analyzer/tally/summary.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/study_set.h"
#include "common/stats/stats.h"
#include "common/text/units.h"

#define MAX_TRIALS   10000
#define MAX_ENDS     20000000 /* answers whose end times are sorted */
#define MAX_FAILED   0.001    /* share above which the job was not done */
#define MAX_REPLICAS 1000000

/* ---- K ---- */

/* The number of replicas by the settings of a run; refused if they contradict
 * each other. */
static bool find_k(struct scaling *s, const char *dir,
                   const struct settings *settings, int64_t *k)
{
    const char *label = strmap_get(&settings->conditions, "replicas");
    struct err ignored = {0};

    if (!label || units_parse_count(label, k, &ignored))
        *k = settings->has_stub ? settings->stub.replicas
                                : settings->cost.replicas;
    if (*k >= 1 && *k <= MAX_REPLICAS &&
        (!settings->has_stub || settings->stub.replicas == *k))
        return true;
    scaling_say(&s->refusals,
                "%s: conditions.replicas is %lld, but the stub server of the "
                "run has %lld",
                dir, (long long)*k, (long long)settings->stub.replicas);
    return false;
}

/* ---- may it be used? ---- */

/* Of a set of trials, those that cannot be trusted are discarded. */
static bool is_usable(struct scaling *s, const char *dir, bool is_in_set,
                      const struct settings *settings,
                      const struct summary *sum)
{
    double failed = (double)(sum->failed + sum->unsent);
    char why[RUN_OBSTACLE];

    run_obstacle(sum, why);
    if (s->ask.regime == SCALE_CAPACITY)
        scaling_say(&s->refusals,
                    "%s: a run has no capacity; tailgate search finds one",
                    dir);
    else if (settings->load.scenario != SCENARIO_OFFLINE)
        scaling_say(&s->refusals,
                    "%s: the length of %s is not a T(K); record offline runs "
                    "(load.scenario: offline), or compare the capacities of "
                    "searches (--capacity)",
                    dir,
                    scenario_is_open(settings->load.scenario)
                        ? "an open loop"
                        : "this scenario");
    else if (is_in_set && run_is_discarded(sum, why))
        scaling_say(&s->notes, "%s: discarded: %s", dir, why);
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

static int take_drain(struct scale_point *p, struct recording *rec,
                      const struct summary *sum, struct err *err)
{
    size_t max = (size_t)sum->ok;
    const struct facts *rows;
    double *ends;
    size_t len = 0;
    size_t n;
    int rc;

    if (sum->ok < 1 || sum->ok > MAX_ENDS)
        return 0;
    ends = xcalloc(max, sizeof(*ends));
    rc = recording_rewind(rec, err);
    while (rc == 0 && (rc = recording_next(rec, &rows, &n, err)) > 0) {
        for (size_t i = 0; i < n && len < max; i++) {
            if (rows[i].outcome == OUTCOME_OK)
                ends[len++] = (double)rows[i].end / 1e9 - sum->window_start_s;
        }
        rc = 0;
    }
    if (rc == 0) {
        struct drain d;

        order_sort(ends, len);
        d = drain_of(ends, len);
        drain_add(&p->drain, &d);
    }
    free(ends);
    return rc;
}

/* NAN: too few requests, or among the failures. */
static double milliseconds(int64_t ns)
{
    return ns >= 0 ? (double)ns / 1e6 : NAN;
}

/* The model computes prompts, except for what a cache holds, and output.  A
 * server that does not count the prompts of all answers leaves the sum of the
 * run unknown. */
static void take_tokens(struct scale_point *p, const struct summary *sum)
{
    const struct tokens *t = &sum->tokens;
    double prompt = t->requests > 0 && t->prompt.n == t->requests
                        ? (double)(t->prompt.sum - t->cached.sum)
                        : NAN;
    double output = !sum->has_tokens ? NAN
                    : tokens_have_output(t)
                        ? sum->output_tokens_per_s * sum->window_length_s
                        : 0;

    scale_blend(&p->prompt_tokens, &p->weights.prompt_tokens, prompt, 1);
    scale_blend(&p->output_tokens, &p->weights.output_tokens, output, 1);
    p->tokens = p->prompt_tokens + p->output_tokens;
}

static void take_targets(struct scale_point *p, const struct target_rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        const struct target_row *row = &rows->items[i];
        struct scale_target *t = scale_point_target(p, row->name);

        t->n += row->n;
        t->ok += row->ok;
        t->good += row->good;
        t->p50_ms = running_mean(t->p50_ms, (double)t->runs,
                                 milliseconds(row->e2e_ns[TARGET_P50]), 1);
        t->p99_ms = running_mean(t->p99_ms, (double)t->runs,
                                 milliseconds(row->e2e_ns[TARGET_P99]), 1);
        t->slower = running_mean(t->slower, (double)t->runs, row->slower, 1);
        t->runs++;
        t->straggler_in += row->is_straggler;
    }
}

static void take_numbers(struct scale_point *p, const struct settings *settings,
                         const struct summary *sum)
{
    const int64_t *e2e_ns = sum->spread[MEASURE_E2E][VIEW_DUE].quantile_ns;
    const struct quality *q = &sum->quality;
    struct scale_weights *w = &p->weights;
    enum scale_answer slo = sum->answer == VERDICT_PASS   ? SCALE_YES
                            : sum->answer == VERDICT_FAIL ? SCALE_NO
                                                          : SCALE_UNKNOWN;

    scale_point_add_time(p, sum->window_length_s);
    p->work = (double)sum->scheduled;
    /* A run whose quantile is among the failures must not be left out. */
    p->p50_ms = running_mean(p->p50_ms, p->runs - 1,
                             milliseconds(e2e_ns[SUMMARY_P50]), 1);
    p->p99_ms = running_mean(p->p99_ms, p->runs - 1,
                             milliseconds(e2e_ns[SUMMARY_P99]), 1);
    take_tokens(p, sum);
    take_targets(p, &sum->targets);
    if (sum->metered.has_energy)
        scale_blend(&p->joules, &w->joules, sum->metered.joules, 1);
    if (settings->cost.usd_per_hour > 0)
        p->usd_per_hour = settings->cost.usd_per_hour * (double)p->k;
    if (sum->cost.usd_storage > 0)
        scale_blend(&p->usd_storage, &w->usd_storage, sum->cost.usd_storage, 1);
    if (sum->cost.usd_egress > 0)
        scale_blend(&p->usd_egress, &w->usd_egress, sum->cost.usd_egress, 1);
    p->keeps_slo = p->keeps_slo > slo ? p->keeps_slo : slo;
    if (q->checked > 0) {
        scale_blend(&p->quality, &w->quality, q->share, q->n_effective);
        p->quality_n = w->quality;
    }
}

/* ---- do two runs differ in more than K? ---- */

static bool is_among(const char *key, const char *const *keys)
{
    while (*keys && strcmp(*keys, key) != 0)
        keys++;
    return *keys != NULL;
}

/* May this condition differ with K?  K itself, settings that implement it, and
 * those checked elsewhere; for weak scaling also what grows with K, and for
 * capacities what a search chooses. */
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

char *scale_runs_mismatch(const struct scaling *s, const struct strmap *a,
                          const struct strmap *b)
{
    const struct match match = {.ignores_slo = s->ask.slo != NULL,
                                .is_must = true};
    struct differences d = {0};
    char *why = NULL;

    matched_find(&d, a, b, &match);
    for (size_t i = 0; i < d.len && !why; i++) {
        const struct difference *x = &d.list[i];

        if (x->kind == DIFFERENCE_MUST && !is_of_k(x->key, s->ask.regime))
            why =
                xasprintf("%s: %.80s | %.80s: %s", x->key, x->a, x->b, x->why);
    }
    differences_fini(&d);
    return why;
}

/* The point of a recording with these conditions, which are taken.  Runs of one
 * K with matching conditions are repeats. */
static struct scale_point *point_of(struct scaling *s, const char *dir,
                                    int64_t k, struct strmap *taken)
{
    struct scale_point *p;
    bool is_first = true;

    for (size_t i = 0; i < s->n; i++) {
        char *why;

        if (s->points[i].k != k)
            continue;
        why = scale_runs_mismatch(s, &s->points[i].conditions, taken);
        free(why);
        if (!why) {
            strmap_fini(taken);
            return &s->points[i];
        }
        is_first = false;
    }
    p = scaling_point(s, k, is_first ? "" : dir, dir);
    p->conditions = *taken;
    return p;
}

/* `is_warm`: the server was warm when the run began.  *used counts the runs of
 * a set that are not discarded; NULL: it is not in one. */
static int read_run(struct scaling *s, const char *dir, bool is_warm,
                    size_t *used, struct err *err)
{
    struct strmap conditions = {0};
    const struct summary *sum;
    struct scale_point *p;
    struct study_run run;
    char why[RUN_OBSTACLE];
    int64_t k;
    int rc = 0;

    if (study_run_open(&run, dir, s->ask.slo, s->ask.cost, err))
        return -1;
    sum = run.summary;
    if (used)
        *used += !run_is_discarded(sum, why);
    if (is_usable(s, dir, used != NULL, &run.rec.settings, sum) &&
        find_k(s, dir, &run.rec.settings, &k)) {
        run_conditions_make(&conditions, &run.rec, sum);
        p = point_of(s, dir, k, &conditions);
        if (!isnan(p->work) && p->work != (double)sum->scheduled)
            scaling_say(&s->refusals,
                        "%s: %lld requests, but another run at K = %lld has "
                        "%.0f",
                        dir, (long long)sum->scheduled, (long long)k, p->work);
        p->is_warm = is_warm && p->is_warm != SCALE_NO ? SCALE_YES : SCALE_NO;
        take_numbers(p, &run.rec.settings, sum);
        rc = take_drain(p, &run.rec, sum, err);
    }
    study_run_close(&run);
    return rc;
}

/* ---- a search ---- */

static void take_capacity(struct scaling *s, const struct study_run *run,
                          const struct search_summary *ss, int64_t k,
                          struct strmap *conditions_taken)
{
    const struct interval *ci = &ss->answer.ci;
    const struct settings *settings = &run->rec.settings;
    struct scale_point *p = point_of(s, ss->dir, k, conditions_taken);

    if (!isnan(p->mean_s)) {
        scaling_say(&s->refusals, "%s: there is another search at K = %lld",
                    ss->dir, (long long)k);
        return;
    }
    p->mean_s = 1 / ss->answer.capacity;
    /* Half the width of the interval on logarithms, as the standard deviation
     * of a normal distribution. */
    if (ci->low > 0 && ci->high > ci->low)
        p->known_error = log(ci->high / ci->low) / 2 /
                         normal_quantile((1 + SEARCH_CONFIDENCE) / 2);
    p->work = 1;
    p->keeps_slo = SCALE_YES; /* by definition of a capacity */
    p->is_warm = run->summary->warmup_requests > 0 ? SCALE_YES : SCALE_NO;
    if (settings->cost.usd_per_hour > 0)
        p->usd_per_hour = settings->cost.usd_per_hour * (double)k;
}

/* The conditions of all probes are the same, except for the rate. */
static int read_first_probe(struct scaling *s, const struct search_summary *ss,
                            struct err *err)
{
    struct strmap conditions = {0};
    struct study_run run;
    size_t first = 0;
    char *path;
    int64_t k;
    int rc;

    while (ss->probes[first].is_lost) /* one has a recording */
        first++;
    path = study_point_path(ss->dir, ss->probes[first].at);
    rc = study_run_open(&run, path, s->ask.slo, s->ask.cost, err);

    free(path);
    if (rc)
        return -1;
    if (find_k(s, ss->dir, &run.rec.settings, &k)) {
        run_conditions_make(&conditions, &run.rec, run.summary);
        take_capacity(s, &run, ss, k, &conditions);
    }
    study_run_close(&run);
    return 0;
}

static int read_search(struct scaling *s, const char *dir, struct err *err)
{
    struct search_summary *ss = xcalloc(1, sizeof(*ss));
    int rc = search_read(ss, dir, s->ask.slo, err);
    const struct search_answer *a = &ss->answer;
    bool is_found =
        rc == 0 && ss->has_rate && ss->n > 0 && isfinite(a->capacity) &&
        (a->outcome == SEARCH_FOUND || a->outcome == SEARCH_ESTIMATED);

    if (is_found)
        rc = read_first_probe(s, ss, err);
    else if (rc == 0)
        scaling_say(&s->refusals, "%s: no capacity: %s", dir,
                    !ss->has_rate ? "a search by concurrency has no rate"
                    : ss->n == 0  ? "no probe was recorded"
                                  : a->why);
    search_summary_fini(ss);
    free(ss);
    return rc;
}

/* ---- many runs ---- */

/* The first trials of a set may be its warm-up, if all use one launch. */
static int read_trials(struct scaling *s, const char *dir, struct err *err)
{
    int64_t first = 1 + s->ask.warmup_trials;
    bool is_warm = s->ask.warmup_trials > 0;
    struct study_set set = {0};
    size_t asked = 0;
    size_t used = 0;
    size_t n = 0;
    int rc = 0;

    if (study_is_at(dir)) {
        rc = study_set_load_kind(&set, dir, STUDY_TRIALS, err);
        is_warm = is_warm && set.launched_by == LAUNCHED_ONCE;
        if (set.asked > s->ask.warmup_trials)
            asked = (size_t)(set.asked - s->ask.warmup_trials);
        study_set_fini(&set);
    }
    if (rc == 0 && !study_has_trial(dir, first))
        return err_set(err, ERR_CONFIG,
                       "%s: no trial is left after %lld warm-up trial(s)", dir,
                       (long long)s->ask.warmup_trials);
    for (int64_t i = first;
         rc == 0 && i <= MAX_TRIALS && study_has_trial(dir, i); i++) {
        char *path = study_trial_path(dir, i);

        rc = read_run(s, path, is_warm, &used, err);
        free(path);
        n++;
    }
    if (rc == 0 && used < n && used < valid_runs_needed(asked > 0 ? asked : n))
        scaling_say(&s->refusals, "%s: too few of its trials can be trusted",
                    dir);
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

int scale_runs_read(struct scaling *s, const char *dir, struct err *err)
{
    enum study_kind kind;

    if (!study_is_at(dir))
        return study_has_trial(dir, 1) ? read_trials(s, dir, err)
                                       : read_run(s, dir, false, NULL, err);
    if (study_kind_at(dir, &kind, err))
        return -1;
    if (kind == STUDY_TRIALS)
        return read_trials(s, dir, err);
    if (kind == STUDY_VARIANTS)
        return read_variants(s, dir, err);
    if (kind == STUDY_SEARCH && s->ask.regime == SCALE_CAPACITY)
        return read_search(s, dir, err);
    scaling_say(&s->refusals, "%s: a study of kind %s: %s", dir,
                study_kind_name(kind),
                s->ask.regime == SCALE_CAPACITY
                    ? "it has no capacity; tailgate search finds one"
                    : "it has no T(K); scale requires trials or variants of "
                      "offline runs");
    return 0;
}

/* ---- all points ---- */

/* NULL if the point matches one at K = 1; else how it differs from the first of
 * those. */
static char *mismatch_with_one(const struct scaling *s,
                               const struct scale_point *p)
{
    char *first = NULL;

    for (size_t i = 0; i < s->n && s->points[i].k == 1; i++) {
        char *why =
            scale_runs_mismatch(s, &s->points[i].conditions, &p->conditions);

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
        const struct scale_point *p = &s->points[i];
        char *why = p->k > 1 ? mismatch_with_one(s, p) : NULL;

        if (why)
            scaling_say(&s->refusals, "K = %lld does not match K = 1: %s (%s)",
                        (long long)p->k, why, p->where);
        free(why);
    }
}
