#include "analyzer/scaling/scaling.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/scaling/scaling_runs.h"
#include "analyzer/studies/baseline.h"
#include "analyzer/verdict/cost.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/text/units.h"

#define MAX_LINE 512
#define SAME     1e-6 /* relative: the precision of written units */

const char *scale_regime_name(enum scale_regime regime)
{
    static const char *const names[] = {[SCALE_STRONG] = "strong",
                                        [SCALE_WEAK] = "weak",
                                        [SCALE_CAPACITY] = "capacity"};

    return names[regime];
}

void scaling_say(struct strlist *list, const char *fmt, ...)
{
    char line[MAX_LINE];
    va_list args;

    va_start(args, fmt);
    vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    strlist_add(list, line);
}

struct scale_point *scaling_point(struct scaling *s, int64_t k,
                                  const char *config, const char *where)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->points[i].k == k && strcmp(s->points[i].config, config) == 0)
            return &s->points[i];
    }
    s->points = xrealloc(s->points, s->n + 1, sizeof(*s->points));
    scale_point_init(&s->points[s->n], k, config, where);
    return &s->points[s->n++];
}

/* Do the points come from recordings, which have conditions? */
static bool is_recorded(const struct scaling *s)
{
    return s->n > 0 && s->points[0].conditions.keys.len > 0;
}

/* ---- a sealed baseline (docs/baseline.md) ---- */

/* The baseline as the point at K = 1.  Its spread is not that of runs, so
 * speedups have no interval. */
static void add_baseline_point(struct scaling *s, const struct baseline *b,
                               const char *path)
{
    const char *requests = strmap_get(&b->conditions, "load.requests");
    bool has_conditions = is_recorded(s);
    struct scale_point *p = scaling_point(s, 1, "", path);
    struct err ignored = {0};
    int64_t n;

    p->mean_s = b->amounts[BASELINE_TIME].median;
    if (requests && units_parse_count(requests, &n, &ignored) == 0)
        p->work = (double)n;
    if (b->amounts[BASELINE_QUALITY].is_present)
        p->quality = b->amounts[BASELINE_QUALITY].median;
    p->is_warm = SCALE_YES; /* else it would not have been sealed */
    for (size_t i = 0; has_conditions && i < b->conditions.keys.len; i++)
        strmap_put(&p->conditions, b->conditions.keys.items[i],
                   b->conditions.values.items[i]);
}

/* If the study has no K = 1 of its own, the baseline takes its place; else a
 * note compares the two.  An altered baseline, or one of another job, is
 * refused. */
static int use_sealed_baseline(struct scaling *s, const char *path,
                               struct err *err)
{
    struct baseline b = {0};
    const struct baseline_amount *time = &b.amounts[BASELINE_TIME];
    char why[BASELINE_WHY];
    char *apart = NULL;
    size_t own = 0;
    int rc = baseline_load(&b, path, why, err);

    if (rc == 0 && is_recorded(s))
        apart = scale_runs_mismatch(s, &b.conditions, &s->points[0].conditions);
    while (own < s->n && s->points[own].k != 1)
        own++;
    if (rc == 1) {
        scaling_say(&s->refusals, "%.400s", why);
    } else if (rc == 0 && !time->is_present) {
        scaling_say(&s->refusals, "%s: the baseline has no time: %s", path,
                    time->note);
    } else if (rc == 0) {
        if (apart)
            scaling_say(&s->refusals, "%s: the baseline is for another job: %s",
                        path, apart);
        scaling_say(&s->notes,
                    "sealed baseline: '%s' of %s, seal %.16s, T(1) = %.6g s, "
                    "the median of %lld",
                    b.name, b.frozen, b.seal, time->median, (long long)time->n);
        if (own < s->n)
            scaling_say(&s->notes,
                        "K = 1 of this study is %.3f times as fast as the "
                        "sealed baseline",
                        time->median / s->points[own].mean_s);
        else
            add_baseline_point(s, &b, path);
    }
    free(apart);
    baseline_fini(&b);
    return rc < 0 ? -1 : 0;
}

/* ---- the points in order ---- */

/* By K; for the same K the fastest first. */
static int by_k(const void *a, const void *b)
{
    const struct scale_point *x = a;
    const struct scale_point *y = b;

    if (x->k != y->k)
        return x->k < y->k ? -1 : 1;
    return x->mean_s < y->mean_s ? -1 : x->mean_s > y->mean_s;
}

/* Number of points at K = 1. */
static size_t at_one(const struct scaling *s)
{
    size_t n = 0;

    while (n < s->n && s->points[n].k == 1)
        n++;
    return n;
}

/* Is its quality no worse than that of any other at K = 1? */
static bool holds_quality(const struct scaling *s, size_t i, size_t n)
{
    struct quality_of mine = {s->points[i].quality, s->points[i].quality_n};

    for (size_t k = 0; k < n; k++) {
        struct quality_of other = {s->points[k].quality,
                                   s->points[k].quality_n};
        struct quality_check g = quality_judge(other, mine, s->ask.tolerance);

        if (!quality_allows(&g) && other.share > mine.share)
            return false;
    }
    return true;
}

/* The strongest configuration at K = 1: the fastest that holds quality. */
static void choose_baseline(struct scaling *s)
{
    size_t n = at_one(s);
    size_t best = 0;

    if (n < 2)
        return;
    while (best + 1 < n && !holds_quality(s, best, n))
        best++;
    scaling_say(&s->notes,
                "baseline: '%s', the fastest of %zu at K = 1 that holds "
                "quality (%.6g s)",
                s->points[best].config, n, s->points[best].mean_s);
    for (size_t i = n; i-- > 0;) {
        if (i == best)
            continue;
        scale_point_fini(&s->points[i]);
        s->n--;
        memmove(&s->points[i], &s->points[i + 1],
                (s->n - i) * sizeof(s->points[0]));
    }
}

static void refuse_twice(struct scaling *s)
{
    for (size_t i = 1; i < s->n; i++) {
        const struct scale_point *a = &s->points[i - 1];
        const struct scale_point *b = &s->points[i];

        if (a->k == b->k)
            scaling_say(
                &s->refusals,
                "K = %lld was measured with '%s' and with '%s': a curve "
                "must have one configuration",
                (long long)a->k, a->config, b->config);
    }
}

static bool is_same(double a, double b)
{
    return fabs(a - b) <= SAME * fabs(b);
}

static void refuse_work(struct scaling *s)
{
    for (size_t i = 1; i < s->n; i++) {
        const struct scale_point *p = &s->points[i];
        double times = p->work / s->points[0].work; /* NAN: unknown */
        double want = s->ask.regime == SCALE_WEAK ? (double)p->k : 1;

        if (isnan(times) || is_same(times, want))
            continue;
        scaling_say(
            &s->refusals,
            "not %s scaling: K = %lld does %.10g %ss, but %s is %.10g "
            "(K = 1 does %.10g)%s",
            scale_regime_name(s->ask.regime), (long long)p->k, p->work, s->unit,
            s->ask.regime == SCALE_WEAK ? "K times the job" : "the one job",
            want * s->points[0].work, s->points[0].work,
            is_same(times, (double)p->k) ? "; that is weak scaling"
            : is_same(times, 1)          ? "; that is strong scaling"
                                         : "");
    }
}

/* Points from tables; recordings have conditions. */
static void refuse_machines(struct scaling *s)
{
    const char *base = s->n > 0 ? s->points[0].machine : NULL;

    for (size_t i = 1; base && i < s->n; i++) {
        const struct scale_point *p = &s->points[i];

        if (p->machine && strcmp(p->machine, base) != 0)
            scaling_say(&s->refusals,
                        "K = %lld does not match K = 1: machine: %.80s | "
                        "%.80s: other hardware means another worker (%s)",
                        (long long)p->k, base, p->machine, p->where);
    }
}

/* Sort the points, choose the baseline, and refuse what is not scaling of this
 * regime: if the job changes between points, the ratio means nothing. */
static void order(struct scaling *s)
{
    if (s->n > 0)
        qsort(s->points, s->n, sizeof(s->points[0]), by_k);
    if (is_recorded(s))
        scale_runs_match(s);
    choose_baseline(s);
    if (at_one(s) == 0)
        scaling_say(&s->refusals, "K = 1 is missing: a speedup is relative "
                                  "to it");
    else if (s->n < 2)
        scaling_say(
            &s->refusals, "only K = 1 was measured: nothing is scaled%s",
            is_recorded(s) ? "; give K of each run with --label replicas=K"
                           : "");
    if (s->n > LAWS_MAX_POINTS)
        scaling_say(&s->refusals, "more than %d points", LAWS_MAX_POINTS);
    refuse_twice(s);
    refuse_machines(s);
    if (s->ask.regime != SCALE_CAPACITY && s->n > 0)
        refuse_work(s);
}

/* ---- what follows from the measurements ---- */

/* Storage and egress count if they have a price. */
static void price(const struct scaling *s, struct scale_point *p)
{
    double seconds = p->mean_s;
    double per_unit;

    p->units_per_s = p->work / seconds;
    p->usd = p->usd_per_hour * (seconds / 3600);
    p->usd += isnan(p->usd_storage) ? 0 : p->usd_storage;
    p->usd += isnan(p->usd_egress) ? 0 : p->usd_egress;
    p->usd_per_unit = p->usd / p->work;
    p->units_per_usd = p->work / p->usd;
    p->joules_per_unit = p->joules / p->work;
    per_unit = s->points[0].joules / s->points[0].work;
    p->energy_ratio = p->joules_per_unit / per_unit;
    if (s->ask.energy_tolerance > 0 && !isnan(p->energy_ratio))
        p->keeps_energy =
            p->energy_ratio <= (1 + s->ask.energy_tolerance) * (1 + SAME)
                ? SCALE_YES
                : SCALE_NO;
    if (s->ask.regime == SCALE_CAPACITY)
        p->usd = NAN; /* a capacity has no run */
    if (s->ask.flops_per_token > 0 && s->ask.peak_flops > 0)
        p->mfu = p->tokens / seconds * s->ask.flops_per_token /
                 (s->ask.peak_flops * (double)p->k);
}

static void judge_quality(struct scaling *s, struct scale_point *p)
{
    const struct scale_point *base = &s->points[0];

    p->quality_check = quality_judge(
        (struct quality_of){base->quality, base->quality_n},
        (struct quality_of){p->quality, p->quality_n}, s->ask.tolerance);
    if (p->quality_check.verdict == QUALITY_UNKNOWN)
        return;
    if (p == base)
        p->quality_check =
            (struct quality_check){.verdict = QUALITY_HELD, .needed = NAN};
    s->has_quality = true;
    s->largest_drift =
        fmax(s->largest_drift, fabs(p->quality_check.drift.value));
}

/* Measured communication times count as they are; else those of the fit do. */
static void fit_communication(struct scaling *s, const struct law_data *laws)
{
    double *seconds = xcalloc(s->n, sizeof(*seconds));
    double *comm_s = xcalloc(s->n, sizeof(*comm_s));
    const struct comm_data d = {
        .k = laws->k,
        .seconds = seconds,
        .comm_s = comm_s,
        .n = s->n,
        .is_weak = s->ask.regime == SCALE_WEAK,
        .error2 = laws->error2,
        .freedom = laws->freedom,
        .threshold = s->ask.threshold,
    };

    for (size_t i = 0; i < s->n; i++) {
        seconds[i] = s->points[i].mean_s;
        comm_s[i] = s->points[i].comm_s;
    }
    s->comm = comm_fit(&d);
    for (size_t i = 0; i < s->n; i++) {
        struct scale_point *p = &s->points[i];

        if (!isnan(p->comm_s)) {
            p->communication_s = p->comm_s;
            p->computation_s = p->mean_s - p->comm_s;
        } else if (s->comm.is_fitted) {
            p->communication_s = comm_seconds_at(&s->comm, d.k[i]);
            p->computation_s = comm_computation_at(&s->comm, d.k[i]);
        }
    }
    free(comm_s);
    free(seconds);
}

static void fit_laws(struct scaling *s)
{
    double *k = xcalloc(s->n, sizeof(*k));
    double *speedup = xcalloc(s->n, sizeof(*speedup));
    struct law_data d = {.k = k, .speedup = speedup, .n = s->n};
    bool is_weak = s->ask.regime == SCALE_WEAK;

    for (size_t i = 0; i < s->n; i++) {
        double error = scale_point_error(&s->points[i]);

        k[i] = (double)s->points[i].k;
        speedup[i] = s->points[i].speedup.value;
        d.error2 += error * error / (double)s->n; /* NAN: without repeats */
        d.freedom += scale_point_freedom(&s->points[i]);
    }
    if (s->ask.regime != SCALE_CAPACITY)
        fit_communication(s, &d);
    s->law = is_weak ? law_gustafson(&d) : law_amdahl(&d);
    s->usl = law_usl(&d);
    for (size_t i = 0; i < s->n; i++) {
        struct scale_point *p = &s->points[i];

        if (s->law.is_fitted)
            p->law_speedup =
                (is_weak ? gustafson_at : amdahl_at)(s->law.serial.value, k[i]);
        if (s->usl.is_fitted)
            p->usl_speedup = usl_at(&s->usl, k[i]);
    }
    free(speedup);
    free(k);
}

/* Targets that are slower than the others at their K. */
static void name_stragglers(struct scaling *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct scale_point *p = &s->points[i];

        for (size_t k = 0; k < p->n_targets; k++) {
            const struct scale_target *t = &p->targets[k];

            if (scale_target_is_straggler(t))
                scaling_say(&s->notes,
                            "straggler at K = %lld: %.200s takes %.3g times as "
                            "long as the others, in %lld of %lld runs",
                            (long long)p->k, t->name, t->slower,
                            (long long)t->straggler_in, (long long)t->runs);
        }
    }
}

void scaling_work_out(struct scaling *s)
{
    order(s);
    if (s->refusals.len > 0)
        return;
    for (size_t i = 0; i < s->n; i++) {
        struct scale_point *p = &s->points[i];

        scale_point_rate(p, &s->points[0], s->ask.regime);
        p->is_below = p->efficiency.value < s->ask.threshold;
        price(s, p);
        judge_quality(s, p);
    }
    fit_laws(s);
    s->bend = bend_find(s->points, s->n,
                        fmin(s->law.is_fitted ? s->law.residual : NAN,
                             s->usl.is_fitted ? s->usl.residual : NAN));
    name_stragglers(s);
    scaling_raise_flags(s);
    scaling_fill_checklist(s);
    scaling_decide(s);
}

/* ---- all of it ---- */

static bool is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int read_sources(struct scaling *s, struct err *err)
{
    const struct strlist *sources = s->ask.sources;
    int rc = 0;

    if (sources->len == 1 && !is_directory(sources->items[0]))
        return scale_table_read(s, sources->items[0], err);
    for (size_t i = 0; rc == 0 && i < sources->len; i++) {
        if (is_directory(sources->items[i]))
            rc = scale_runs_read(s, sources->items[i], err);
        else
            rc = err_set(err, ERR_USAGE,
                         "%s: scale takes one CSV file, or directories of "
                         "recordings",
                         sources->items[i]);
    }
    return rc;
}

/* Storage and egress of a table; recordings have theirs. */
static void price_data(struct scale_point *p, const struct cost_ask *cost)
{
    double storage_gb;

    if (!cost)
        return;
    storage_gb = isnan(p->storage_gb) ? cost->storage_gb : p->storage_gb;
    if (isnan(p->usd_storage) && cost->usd_per_gb_month > 0)
        p->usd_storage =
            cost_of_storage(cost->usd_per_gb_month, storage_gb, p->mean_s);
    if (isnan(p->usd_egress) && cost->usd_per_gb_egress > 0)
        p->usd_egress = cost->usd_per_gb_egress * p->egress_gb;
}

int scaling_make(struct scaling *s, const struct scale_ask *ask,
                 struct err *err)
{
    *s = (struct scaling){.ask = *ask};
    if (read_sources(s, err) ||
        (ask->baseline && use_sealed_baseline(s, ask->baseline, err))) {
        scaling_fini(s);
        return -1;
    }
    /* Recordings and capacities count requests. */
    s->unit =
        xstrdup(ask->unit                                         ? ask->unit
                : is_recorded(s) || ask->regime == SCALE_CAPACITY ? "request"
                                                                  : "unit");
    for (size_t i = 0; i < s->n; i++) {
        struct scale_point *p = &s->points[i];

        if (isnan(p->work) && ask->work > 0) {
            p->work =
                ask->work * (ask->regime == SCALE_WEAK ? (double)p->k : 1);
            s->is_work_declared = true;
        }
        if (isnan(p->usd_per_hour) && ask->usd_per_hour > 0)
            p->usd_per_hour = ask->usd_per_hour * (double)p->k;
        price_data(p, ask->cost);
    }
    scaling_work_out(s);
    return 0;
}

void scaling_fini(struct scaling *s)
{
    for (size_t i = 0; i < s->n; i++)
        scale_point_fini(&s->points[i]);
    free(s->points);
    strlist_fini(&s->notes);
    strlist_fini(&s->refusals);
    free(s->unit);
    *s = (struct scaling){0};
}

enum conclusion scaling_conclusion(const struct scaling *s)
{
    if (s->refusals.len > 0)
        return CONCLUSION_INVALID;
    if (s->ask.deadline_s > 0)
        return s->verdict.deadline.fits > 0 ? CONCLUSION_YES : CONCLUSION_NO;
    return s->verdict.recommended_k > 1 ? CONCLUSION_YES : CONCLUSION_NO;
}
