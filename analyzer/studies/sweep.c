#include "analyzer/studies/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/stats/order_stats.h"
#include "analyzer/studies/study_recordings.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"

#define MAX_TITLE ((size_t)64 << 10)

/* ---- over the runs at a value ---- */

/* If one value is unknown, so is the median. */
static double median(double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(values[i]))
            return NAN;
    }
    return order_median(values, n);
}

/* The same for times, some of which may be beyond what can be measured.  If n
 * of one run cannot bound it, the median is unknown. */
static double median_ns(double *values, size_t n)
{
    double middle;

    for (size_t i = 0; i < n; i++) {
        if (values[i] == HIST_TOO_FEW || values[i] == HIST_EMPTY)
            return values[i];
        if (values[i] < 0)
            values[i] = INFINITY;
    }
    middle = median(values, n);
    return isfinite(middle) ? middle : HIST_BEYOND;
}

static void take_medians(struct sweep_value *v, const struct trial **runs,
                         size_t n)
{
    double *values = xcalloc(n, sizeof(*values));

    for (int r = 0; r < TRIAL_RATES; r++) {
        for (size_t i = 0; i < n; i++)
            values[i] = runs[i]->rate[r];
        v->rate[r] = median(values, n);
    }
    for (int m = 0; m < MEASURE_COUNT; m++) {
        for (int q = 0; q < SUMMARY_QUANTILES; q++) {
            for (size_t i = 0; i < n; i++)
                values[i] = runs[i]->quantile_ns[m][q];
            v->quantile_ns[m][q] = median_ns(values, n);
        }
    }
    for (size_t i = 0; i < n; i++)
        values[i] = runs[i]->e2e_p99_share;
    v->e2e_p99_share = order_median(values, n);
    free(values);
}

static void make_value(const struct sweep_summary *s, struct sweep_value *v)
{
    const struct trial **runs = xcalloc(s->n + 1, sizeof(struct trial *));
    size_t verdicts[VERDICT_INVALID + 1] = {0};
    size_t overloaded = 0;
    size_t judged = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct sweep_point *p = &s->points[i];

        if (p->at->value != v->value)
            continue;
        v->runs++;
        if (!p->counts)
            continue;
        runs[v->counted++] = &p->run;
        verdicts[p->run.verdict]++;
        overloaded += p->run.was_overloaded;
        judged += p->run.is_load_judged;
    }
    if (v->counted > 0) {
        take_medians(v, runs, v->counted);
        v->is_overloaded = 2 * overloaded >= v->counted;
        v->is_judged = 2 * judged >= v->counted;
        v->verdict = VERDICT_UNDECIDED; /* unless the majority agrees */
        for (int i = 0; i <= VERDICT_INVALID; i++) {
            if (2 * verdicts[i] > v->counted)
                v->verdict = (enum verdict)i;
        }
    }
    free((void *)runs);
}

static int by_value(const void *a, const void *b)
{
    double x = ((const struct sweep_value *)a)->value;
    double y = ((const struct sweep_value *)b)->value;

    return (x > y) - (x < y);
}

static void list_values(struct sweep_summary *s)
{
    s->values = xcalloc(s->n + 1, sizeof(*s->values));
    for (size_t i = 0; i < s->n; i++) {
        double value = s->points[i].at->value;
        size_t k = 0;

        while (k < s->n_values && s->values[k].value != value)
            k++;
        if (k == s->n_values)
            s->values[s->n_values++].value = value;
    }
    qsort(s->values, s->n_values, sizeof(*s->values), by_value);
}

/* ---- along the curve ---- */

/* Kleinrock's power: completed requests divided by latency. */
static double power(const struct sweep_value *v)
{
    double ns = v->quantile_ns[MEASURE_E2E][0];

    return v->counted > 0 && ns > 0 ? v->rate[TRIAL_COMPLETED] / ns : 0;
}

/* All requests are followed to their end, so answers that come after the window
 * do not make a server look saturated. */
static bool is_saturated(const struct sweep_summary *s,
                         const struct sweep_value *v)
{
    double rps = v->rate[TRIAL_COMPLETED];

    return s->has_rate ? v->is_overloaded ||
                             rps < SWEEP_KEEPS_UP * v->rate[TRIAL_OFFERED]
                       : rps >= SWEEP_KEEPS_UP * s->most_completed_rps;
}

/* No saturation is named if the window is not long against the latency at the
 * lowest load: neither the rates nor the number in flight settle in it.  The
 * latency of a saturated server says nothing, since it grows with the window.
 */
static void find_saturation(struct sweep_summary *s)
{
    const struct sweep_value *lowest = NULL;  /* below saturation, ... */
    const struct sweep_value *highest = NULL; /* ... as well */

    for (size_t i = 0; i < s->n_values && !s->saturation; i++) {
        const struct sweep_value *v = &s->values[i];

        if (v->counted == 0)
            continue;
        if (is_saturated(s, v)) {
            s->saturation = v;
            continue;
        }
        lowest = lowest ? lowest : v;
        highest = v;
        if (v->e2e_p99_share > SWEEP_LONG && !s->slow)
            s->slow = v;
    }
    if (lowest && lowest == s->slow) {
        s->saturation = NULL;
        s->no_saturation = "not named: the window is too short for the latency";
    } else if (!s->saturation) {
        s->no_saturation = !highest ? "no run can be trusted"
                           : s->has_rate && !highest->is_judged
                               ? "not known: too few requests at the highest "
                                 "load to judge overload"
                               : "not reached";
    }
}

static void find_marks(struct sweep_summary *s)
{
    bool is_missed = s->terms.len == 0;

    for (size_t i = 0; i < s->n_values; i++) {
        const struct sweep_value *v = &s->values[i];

        if (v->counted == 0)
            continue;
        if (s->is_load && power(v) > (s->knee ? power(s->knee) : 0))
            s->knee = v;
        if (v->rate[TRIAL_GOODPUT] >
            (s->best ? s->best->rate[TRIAL_GOODPUT] : 0))
            s->best = v;
        is_missed |= v->verdict != VERDICT_PASS;
        if (!is_missed)
            s->within = v;
    }
    s->no_saturation = "not a load";
    if (s->is_load)
        find_saturation(s);
}

void sweep_work_out(struct sweep_summary *s)
{
    list_values(s);
    for (size_t i = 0; i < s->n; i++)
        s->withdrawn += !s->points[i].counts;
    for (size_t i = 0; i < s->n_values; i++) {
        struct sweep_value *v = &s->values[i];

        make_value(s, v);
        if (v->counted == 0)
            continue;
        s->most_rps = fmax(s->most_rps, v->rate[TRIAL_THROUGHPUT]);
        s->most_completed_rps =
            fmax(s->most_completed_rps, v->rate[TRIAL_COMPLETED]);
    }
    find_marks(s);
}

enum conclusion sweep_conclusion(const struct sweep_summary *s)
{
    for (size_t i = 0; i < s->n_values; i++) {
        if (s->values[i].counted == 0)
            return CONCLUSION_UNDECIDED;
    }
    return s->n_values > 0 ? CONCLUSION_YES : CONCLUSION_UNDECIDED;
}

/* ---- from disk ---- */

/* What all points have in common, from the first one. */
static void keep_common(struct sweep_summary *s, const struct summary *of)
{
    struct buf text;

    buf_init(&text, MAX_TITLE);
    settings_describe_load(&of->settings->load, &text);
    s->load =
        xasprintf("%.*s", (int)strcspn(buf_text(&text), "\n"), buf_text(&text));
    buf_fini(&text);
    s->title = study_title(of->settings, "sweep");
    s->name = xstrdup(of->settings->name ? of->settings->name : "");
    for (size_t i = 0; i < of->slo.len; i++)
        strlist_add(&s->terms, of->slo.terms[i].text);
    s->is_streamed = of->is_streamed;
    s->has_tokens = of->has_tokens;
    s->has_cost = of->cost.is_there;
}

static int read_point(struct sweep_summary *s, const struct study_point *at,
                      const struct strlist *slo, const struct cost_ask *cost,
                      struct err *err)
{
    struct sweep_point *p = &s->points[s->n];
    char *dir = study_point_path(s->dir, at);
    struct study_run run;
    int rc = study_run_open(&run, dir, slo, cost, err);

    free(dir);
    if (rc)
        return -1;
    p->at = at;
    trial_take(&p->run, run.summary);
    p->run.seed = run.rec.settings.load.seed;
    p->counts = trial_counts(&p->run) && !p->run.was_aborted;
    if (s->n++ == 0)
        keep_common(s, run.summary);
    study_run_close(&run);
    return 0;
}

int sweep_read(struct sweep_summary *s, const char *dir,
               const struct strlist *slo, const struct cost_ask *cost,
               struct err *err)
{
    int rc;

    *s = (struct sweep_summary){.dir = dir};
    rc = study_set_load_recorded(&s->set, dir, STUDY_SWEEP, err);
    if (rc)
        return -1;
    s->has_rate = strcmp(s->set.key, "load.rate") == 0;
    s->is_load = s->has_rate || strcmp(s->set.key, "load.clients") == 0;
    s->points = xcalloc(s->set.len, sizeof(*s->points));
    for (size_t i = 0; rc == 0 && i < s->set.len; i++) {
        if (s->set.points[i].is_recorded)
            rc = read_point(s, &s->set.points[i], slo, cost, err);
    }
    if (rc == 0)
        sweep_work_out(s);
    return rc;
}

void sweep_summary_fini(struct sweep_summary *s)
{
    study_set_fini(&s->set);
    strlist_fini(&s->terms);
    free(s->title);
    free(s->name);
    free(s->load);
    free(s->points);
    free(s->values);
    *s = (struct sweep_summary){0};
}
