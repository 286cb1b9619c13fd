#include "analyzer/studies/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/read/reader.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/redact.h"
#include "common/base/xalloc.h"

#define MAX_TITLE ((size_t)64 << 10)

/* ---- over the runs at a value ---- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* One that is not known leaves the whole unknown. */
static double median(double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(values[i]))
            return NAN;
    }
    qsort(values, n, sizeof(*values), by_size);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The same of times, of which some may be beyond all that can be measured; one
 * that its samples cannot bound leaves the whole unknown. */
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

/* The runs that count, at this value. */
struct runs {
    const struct trial **list; /* owned */
    size_t n;
};

static struct runs runs_at(const struct sweep_summary *s, struct sweep_value *v)
{
    struct runs runs = {.list = xcalloc(s->n + 1, sizeof(struct trial *))};

    for (size_t i = 0; i < s->n; i++) {
        const struct sweep_point *p = &s->points[i];

        if (p->at->value != v->value)
            continue;
        v->runs++;
        if (p->counts)
            runs.list[runs.n++] = &p->run;
    }
    return runs;
}

static void take_medians(struct sweep_value *v, const struct runs *runs)
{
    double *values = xcalloc(runs->n, sizeof(*values));

    for (int r = 0; r < TRIAL_RATES; r++) {
        for (size_t i = 0; i < runs->n; i++)
            values[i] = runs->list[i]->rate[r];
        v->rate[r] = median(values, runs->n);
    }
    for (int m = 0; m < MEASURE_COUNT; m++) {
        for (int q = 0; q < SUMMARY_QUANTILES; q++) {
            for (size_t i = 0; i < runs->n; i++)
                values[i] = runs->list[i]->quantile_ns[m][q];
            v->quantile_ns[m][q] = median_ns(values, runs->n);
        }
    }
    free(values);
}

/* More than half of them say so; else nothing is sure. */
static enum verdict common_verdict(const struct runs *runs)
{
    size_t count[VERDICT_INVALID + 1] = {0};

    for (size_t i = 0; i < runs->n; i++)
        count[runs->list[i]->verdict]++;
    for (int v = 0; v <= VERDICT_INVALID; v++) {
        if (2 * count[v] > runs->n)
            return (enum verdict)v;
    }
    return VERDICT_UNDECIDED;
}

static void make_value(const struct sweep_summary *s, struct sweep_value *v)
{
    struct runs runs = runs_at(s, v);
    size_t overloaded = 0;

    v->counted = runs.n;
    if (runs.n > 0) {
        take_medians(v, &runs);
        v->verdict = common_verdict(&runs);
        for (size_t i = 0; i < runs.n; i++)
            overloaded += runs.list[i]->was_overloaded;
        v->is_overloaded = 2 * overloaded >= runs.n;
    }
    free(runs.list);
}

static int by_value(const void *a, const void *b)
{
    return by_size(&((const struct sweep_value *)a)->value,
                   &((const struct sweep_value *)b)->value);
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

/* Kleinrock's power: what is delivered for the time it takes. */
static double power(const struct sweep_value *v)
{
    double ns = v->quantile_ns[MEASURE_E2E][0];

    return v->counted > 0 && ns > 0 ? v->rate[TRIAL_THROUGHPUT] / ns : 0;
}

static bool has_fallen_behind(const struct sweep_summary *s,
                              const struct sweep_value *v)
{
    if (v->counted == 0)
        return false;
    if (s->has_rate)
        return v->is_overloaded || v->rate[TRIAL_THROUGHPUT] <
                                       SWEEP_KEEPS_UP * v->rate[TRIAL_OFFERED];
    return v->rate[TRIAL_THROUGHPUT] >= SWEEP_KEEPS_UP * s->most_rps;
}

static void find_marks(struct sweep_summary *s)
{
    bool is_missed = s->terms.len == 0;

    for (size_t i = 0; i < s->n_values; i++) {
        const struct sweep_value *v = &s->values[i];

        if (v->counted == 0)
            continue;
        if (s->is_load && (!s->knee || power(v) > power(s->knee)))
            s->knee = v;
        if (s->is_load && !s->saturation && has_fallen_behind(s, v))
            s->saturation = v;
        if (!s->best || v->rate[TRIAL_GOODPUT] > s->best->rate[TRIAL_GOODPUT])
            s->best = v;
        is_missed |= v->verdict != VERDICT_PASS;
        if (!is_missed)
            s->within = v;
    }
}

void sweep_work_out(struct sweep_summary *s)
{
    list_values(s);
    for (size_t i = 0; i < s->n; i++)
        s->withdrawn += !s->points[i].counts;
    for (size_t i = 0; i < s->n_values; i++) {
        struct sweep_value *v = &s->values[i];

        make_value(s, v);
        if (v->counted > 0 && v->rate[TRIAL_THROUGHPUT] > s->most_rps)
            s->most_rps = v->rate[TRIAL_THROUGHPUT];
    }
    find_marks(s);
}

int sweep_exit_code(const struct sweep_summary *s)
{
    if (s->set.stopped_by)
        return 128 + (int)s->set.stopped_by;
    for (size_t i = 0; i < s->n_values; i++) {
        if (s->values[i].counted == 0)
            return 4;
    }
    return s->n_values > 0 ? 0 : 4;
}

/* ---- from disk ---- */

/* What all points have in common, of the first that was recorded. */
static void keep_common(struct sweep_summary *s, const struct summary *of)
{
    char *url = redact_url(settings_url(of->settings));
    struct buf text;

    buf_init(&text, MAX_TITLE);
    buf_addf(&text, "%s: %s", of->settings->name ? of->settings->name : "sweep",
             url);
    s->title = xstrdup(buf_text(&text));
    buf_reset(&text);
    settings_describe_load(&of->settings->load, &text);
    s->load =
        xasprintf("%.*s", (int)strcspn(buf_text(&text), "\n"), buf_text(&text));
    buf_fini(&text);
    free(url);
    for (size_t i = 0; i < of->slo.len; i++)
        strlist_add(&s->terms, of->slo.terms[i].text);
    s->is_streamed = of->is_streamed;
    s->has_tokens = of->has_tokens;
    s->has_cost = of->cost.is_there;
}

static bool is_to_be_trusted(const struct trial *t)
{
    return trial_is_whole(t) && !t->distrust[0] && !t->was_aborted;
}

static int read_point(struct sweep_summary *s, const struct study_point *at,
                      const struct strlist *slo, const struct cost_ask *cost,
                      struct err *err)
{
    struct sweep_point *p = &s->points[s->n];
    char *dir = study_point_path(s->dir, at);
    struct recording rec;
    struct summary of;
    int rc = recording_open(&rec, dir, err);

    free(dir);
    if (rc)
        return -1;
    rc = summary_make_priced(&of, &rec, slo, cost, err);
    if (rc == 0) {
        p->at = at;
        trial_take(&p->run, &of);
        p->run.seed = rec.settings.load.seed;
        p->counts = is_to_be_trusted(&p->run);
        if (s->n++ == 0)
            keep_common(s, &of);
    }
    recording_close(&rec);
    return rc;
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
    free(s->load);
    free(s->points);
    free(s->values);
    *s = (struct sweep_summary){0};
}
