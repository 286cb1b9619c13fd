#include "analyzer/scaling/scaling.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/scaling/scaling_baseline.h"
#include "analyzer/scaling/scaling_runs.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"

#define MAX_LINE 512

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

/* ---- what was measured, filled in ---- */

/* What one worker's job comes to at this point. */
static double times_of(const struct scaling *s, const struct scale_point *p)
{
    return s->ask.regime == SCALE_WEAK ? (double)p->k : 1;
}

static void fill_in(struct scaling *s, struct scale_point *p)
{
    if (isnan(p->work) && s->ask.work > 0) {
        p->work = s->ask.work * times_of(s, p);
        s->is_work_declared = true;
    }
    if (isnan(p->usd_per_hour) && s->ask.usd_per_hour > 0)
        p->usd_per_hour = s->ask.usd_per_hour * (double)p->k;
}

/* ---- what follows ---- */

static void price(const struct scaling *s, struct scale_point *p)
{
    double seconds = p->mean_s;

    p->units_per_s = p->work / seconds;
    p->usd = p->usd_per_hour * (seconds / 3600);
    p->usd_per_unit = p->usd / p->work;
    p->units_per_usd = p->work / p->usd;
    p->joules_per_unit = p->joules / p->work;
    if (s->ask.regime == SCALE_CAPACITY)
        p->usd = NAN; /* there is no run */
    if (s->ask.flops_per_token > 0 && s->ask.peak_flops > 0)
        p->mfu = p->tokens / seconds * s->ask.flops_per_token /
                 (s->ask.peak_flops * (double)p->k);
}

static void judge_quality(struct scaling *s, struct scale_point *p)
{
    const struct scale_point *base = &s->points[0];
    double drift;

    p->handoff = quality_judge(
        (struct quality_of){base->quality, base->quality_n},
        (struct quality_of){p->quality, p->quality_n}, s->ask.tolerance);
    if (p == base && p->handoff.verdict != QUALITY_UNKNOWN)
        p->handoff =
            (struct quality_gate){.verdict = QUALITY_HELD, .needed = NAN};
    drift = fabs(p->handoff.drift.value);
    if (p->handoff.verdict == QUALITY_UNKNOWN)
        return;
    s->has_quality = true;
    s->largest_drift = fmax(s->largest_drift, drift);
}

/* The relative errors of the times, where all have repeats. */
static void take_errors(const struct scaling *s, struct law_data *d)
{
    d->error2 = 0;
    for (size_t i = 0; i < s->n; i++) {
        double error = scale_point_error(&s->points[i]);

        d->error2 += error * error / (double)s->n;
        d->freedom += scale_point_freedom(&s->points[i]);
    }
}

static void fit_laws(struct scaling *s)
{
    double *k = xcalloc(s->n, sizeof(*k));
    double *speedup = xcalloc(s->n, sizeof(*speedup));
    struct law_data d = {.k = k, .speedup = speedup, .n = s->n};
    bool is_weak = s->ask.regime == SCALE_WEAK;

    for (size_t i = 0; i < s->n; i++) {
        k[i] = (double)s->points[i].k;
        speedup[i] = s->points[i].speedup.value;
    }
    take_errors(s, &d);
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

static double best_residual(const struct scaling *s)
{
    return fmin(s->law.is_fitted ? s->law.residual : NAN,
                s->usl.is_fitted ? s->usl.residual : NAN);
}

void scaling_work_out(struct scaling *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct scale_point *p = &s->points[i];

        scale_point_rate(p, &s->points[0], s->ask.regime);
        p->is_below = p->efficiency.value < s->ask.threshold;
        price(s, p);
        judge_quality(s, p);
    }
    fit_laws(s);
    s->bend = bend_find(s->points, s->n, best_residual(s));
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
                         "%s: scale takes one CSV, or directories of "
                         "recordings",
                         sources->items[i]);
    }
    return rc;
}

/* Recordings and capacities count requests. */
static const char *usual_unit(const struct scaling *s)
{
    bool is_recorded = s->n > 0 && s->points[0].card.keys.len > 0;

    return is_recorded || s->ask.regime == SCALE_CAPACITY ? "request" : "unit";
}

int scaling_make(struct scaling *s, const struct scale_ask *ask,
                 struct err *err)
{
    *s = (struct scaling){.ask = *ask};
    if (read_sources(s, err) ||
        (ask->baseline && scale_sealed_use(s, ask->baseline, err))) {
        scaling_fini(s);
        return -1;
    }
    s->unit = xstrdup(ask->unit ? ask->unit : usual_unit(s));
    for (size_t i = 0; i < s->n; i++)
        fill_in(s, &s->points[i]);
    scaling_order(s);
    if (s->refusals.len == 0)
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
        return CONCLUSION_OPEN;
    return s->verdict.recommended_k > 1 ? CONCLUSION_YES : CONCLUSION_NO;
}
