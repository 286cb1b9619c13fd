/* Reads a study with variants from disk: every recording of every variant, by
 * the value of the varied setting. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare/run_conditions.h"
#include "analyzer/stats/order_stats.h"
#include "analyzer/studies/study_recordings.h"
#include "analyzer/studies/valid_runs.h"
#include "analyzer/studies/variants.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/recording/schema.h"
#include "common/settings/variant_settings.h"

#define MAX_LINE   8192
#define CONFIDENCE 0.95

/* What is taken from one recording. */
struct variant_run {
    size_t variant;
    double value;
    bool counts;
    struct trial trial;
    struct uncertain latency_ns; /* within this run */
    double window_s;
    struct interval attainment_ci95;
    struct variant_round round;
    struct server_parts parts;
};

struct variant_runs {
    const struct strlist *slo;   /* NULL: that of the recordings */
    const struct cost_ask *cost; /* NULL: prices of the recordings */
    struct variant_run *list;
    size_t n;
    struct capacity_sums sums; /* of the variant being read */
    double usd_per_hour;       /* of the variant being read; 0: unknown */
};

/* ---- time in the server ---- */

static const struct server_parts no_parts = {PARTS_NONE, -1, -1, -1};

const char *parts_from_name(enum parts_from from)
{
    static const char *const names[] = {"", "truth", "metrics"};

    return names[from];
}

struct truth_sums {
    struct window window; /* by the stub's clock */
    struct server_parts sum;
    double count;
};

/* Requests that arrived in the window. */
static void add_truth(void *arg, unsigned shard, const void *data)
{
    const struct truth *row = data;
    struct truth_sums *t = arg;

    (void)shard;
    if (!window_holds(&t->window, row->arrival) || row->start == TIME_ABSENT ||
        row->finish == TIME_ABSENT)
        return;
    t->sum.queue_ns += (double)(row->start - row->arrival);
    t->sum.work_ns += (double)(row->finish - row->start);
    t->sum.batch += (double)row->batch;
    t->count++;
}

static struct server_parts parts_from_truth(const struct recording *rec,
                                            const struct summary *s)
{
    int64_t start_ns = manifest_start_monotonic_ns(&rec->manifest);
    struct truth_sums t = {summary_window(s), {PARTS_TRUTH, 0, 0, 0}, 0};

    t.window.start_ns += start_ns;
    t.window.end_ns += start_ns;
    tgr_each(rec->dir, "truth.tgr", &schema_truth, add_truth, &t);
    if (!(t.count > 0))
        return no_parts;
    t.sum.queue_ns /= t.count;
    t.sum.work_ns /= t.count;
    t.sum.batch /= t.count;
    return t.sum;
}

static struct server_parts read_parts(const struct recording *rec,
                                      const struct summary *s)
{
    struct server_parts parts = parts_from_truth(rec, s);

    if (parts.from != PARTS_NONE || !s->server.is_there ||
        (s->server.queue_mean_ns < 0 && s->server.running_mean < 0))
        return parts;
    return (struct server_parts){PARTS_METRICS, s->server.queue_mean_ns, -1,
                                 s->server.running_mean};
}

/* ---- one recording ---- */

/* The measure of the first SLO term that is about a time. */
static enum measure choose_measure(const struct slo *slo)
{
    for (size_t i = 0; i < slo->len; i++) {
        const struct slo_term *t = &slo->terms[i];

        if ((t->kind == SLO_QUANTILE || t->kind == SLO_LIMIT) &&
            !measure_is_pooled(t->measure))
            return t->measure;
    }
    return MEASURE_E2E;
}

static double latency_or(int64_t ns)
{
    if (ns >= 0)
        return (double)ns;
    return ns == HIST_BEYOND || ns == HIST_OUT_OF_RANGE ? INFINITY : NAN;
}

/* The largest quantile of an SLO term as a share of its limit; NAN: there is
 * none, or one has too few requests.  Also notes which terms these are. */
static double share_of_limit(const struct summary *s,
                             struct variants_summary *out)
{
    double worst = NAN;
    size_t n = 0;

    for (size_t c = 0; c <= s->n_classes; c++) {
        const struct judgement *j =
            c == 0 ? &s->judgement : &s->classes[c - 1].judgement;

        for (size_t i = 0; i < j->len; i++) {
            const struct term_judgement *t = &j->terms[i];
            double ns = t->counts.n < stats_min_n(t->term->quantile)
                            ? NAN
                            : latency_or(t->measured_ns);
            double share = ns / (double)t->term->limit_ns;

            if (t->term->kind != SLO_QUANTILE)
                continue;
            worst = n > 0 && !(share > worst) && !isnan(share) ? worst : share;
            out->limit_ns = n++ == 0 ? t->term->limit_ns : 0;
            snprintf(out->ranked, sizeof(out->ranked), "%s p%.6g",
                     measure_name(t->term->measure), 100 * t->term->quantile);
        }
    }
    if (n > 1)
        snprintf(out->ranked, sizeof(out->ranked),
                 "the SLO term closest to its limit");
    return worst;
}

static struct uncertain median_within(const struct summary *s, enum measure m)
{
    struct uncertain u = {.value =
                              (double)s->spread[m][VIEW_DUE].quantile_ns[0]};

    for (size_t i = 0; i < s->steady.n_within; i++) {
        const struct within *w = &s->steady.within[i];

        if (w->measure != m || strcmp(w->name, summary_quantile_name[0]) != 0 ||
            w->section.verdict != SECTION_KNOWN)
            continue;
        u.range = w->section.quantile.range;
        u.has_range = true;
    }
    return u;
}

static void take(struct variants_summary *out, const struct summary *s,
                 struct variant_run *r)
{
    char *distrust = out->list[r->variant].distrust;
    char why[RUN_OBSTACLE];

    trial_take(&r->trial, s);
    run_obstacle(s, why);
    r->counts = !why[0];
    /* A search has its own rules and repeats what did not count. */
    if (out->set.of != STUDY_SEARCH && !distrust[0])
        memcpy(distrust, why, sizeof(why));
    r->round = (struct variant_round){
        .seed = s->settings->load.seed,
        .value = {
            [RANKED_BY_SLO] = share_of_limit(s, out),
            [RANKED_BY_MEDIAN] = latency_or(
                s->spread[out->measure][VIEW_DUE].quantile_ns[SUMMARY_P50]),
            [RANKED_BY_THROUGHPUT] = 1 / s->throughput_rps,
        }};
    r->latency_ns = median_within(s, out->measure);
    r->window_s = s->window_length_s;
    r->attainment_ci95 = s->attainment_ci95;
    out->has_tokens |= s->has_tokens;
    out->has_cost |= s->cost.is_there;
}

/* "stub.batching static, stub.max_batch 16" */
static void describe(struct variant *v, struct recording *rec,
                     const struct summary *s)
{
    const struct strlist *keys = &rec->settings.varied;
    struct strmap conditions;
    struct buf line;

    if (v->says)
        return;
    run_conditions_make(&conditions, rec, s);
    buf_init(&line, MAX_LINE);
    for (size_t i = 0; i < keys->len; i++) {
        const char *value = strmap_get(&conditions, keys->items[i]);

        if (strcmp(keys->items[i], "conditions." VARIANTS_CONDITION) != 0)
            buf_addf(&line, "%s%s %s", line.len ? ", " : "", keys->items[i],
                     value ? value : "");
    }
    v->says = xstrdup(buf_text(&line));
    buf_fini(&line);
    strmap_fini(&conditions);
}

static void describe_study(struct variants_summary *out,
                           const struct recording *rec, const struct summary *s)
{
    struct buf line;

    if (out->title)
        return;
    out->measure = choose_measure(&s->slo);
    out->smallest = rec->settings.study.smallest_difference;
    out->asked =
        (size_t)(out->set.of == STUDY_SWEEP ? rec->settings.sweep.repeats
                                            : rec->settings.study.trials);
    out->has_slo = s->slo.len > 0;
    out->title = xstrdup(rec->settings.name ? rec->settings.name : "");
    buf_init(&line, MAX_LINE);
    for (size_t i = 0; i < s->slo.len; i++)
        buf_addf(&line, "%s%s", i ? ", " : "", s->slo.terms[i].text);
    out->terms = xstrdup(buf_text(&line));
    buf_fini(&line);
}

static int read_one(struct variants_summary *out,
                    const struct study_recording *one, struct variant_runs *all,
                    struct variant_run *r, struct err *err)
{
    struct study_run run;
    const struct summary *s;

    if (study_run_open(&run, one->dir, all->slo, all->cost, err))
        return -1;
    s = run.summary;
    if (isnan(r->value))
        r->value = s->settings->load.rate_rps > 0
                       ? s->settings->load.rate_rps
                       : (double)s->settings->load.clients;
    describe_study(out, &run.rec, s);
    out->is_insecure |= s->settings->target.insecure;
    describe(&out->list[r->variant], &run.rec, s);
    take(out, s, r);
    r->parts = read_parts(&run.rec, s);
    all->usd_per_hour = s->cost.is_there ? s->cost.usd_per_hour : 0;
    if (out->set.of == STUDY_SWEEP && r->counts)
        capacity_add(&all->sums, &run.rec, s, &one->point);
    study_run_close(&run);
    return 0;
}

/* ---- one variant at one value ---- */

/* The runs of one variant at one value that count. */
struct group {
    struct variant_run **list;
    size_t n;
};

/* Mean over independent runs. */
static struct uncertain over_runs(const struct group *g, enum trial_rate rate)
{
    double *x = xcalloc(g->n, sizeof(*x));
    struct uncertain u;

    for (size_t i = 0; i < g->n; i++)
        x[i] = g->list[i]->trial.rate[rate];
    u = trials_mean_amount(x, g->n, CONFIDENCE);
    free(x);
    return u;
}

static struct uncertain latency_of(const struct group *g)
{
    double *x;
    struct uncertain u;

    if (g->n == 1)
        return g->list[0]->latency_ns;
    x = xcalloc(g->n, sizeof(*x));
    for (size_t i = 0; i < g->n; i++)
        x[i] = g->list[i]->latency_ns.value >= 0 ? g->list[i]->latency_ns.value
                                                 : INFINITY;
    u = trials_mean_amount(x, g->n, CONFIDENCE);
    if (!isfinite(u.value))
        u.value = HIST_BEYOND;
    free(x);
    return u;
}

/* The mean p99 of a measure, or HIST_BEYOND and the like. */
static double tail_of(const struct group *g, enum measure m)
{
    double sum = 0;

    for (size_t i = 0; i < g->n; i++) {
        double ns = g->list[i]->trial.quantile_ns[m][SUMMARY_P99];

        if (ns < 0)
            return ns;
        sum += ns;
    }
    return sum / (double)g->n;
}

/* The mean of the known parts. */
static struct server_parts parts_of(const struct group *g)
{
    double sum[3] = {0};
    double known[3] = {0};
    struct server_parts mean_parts = no_parts;

    for (size_t i = 0; i < g->n; i++) {
        const struct server_parts *p = &g->list[i]->parts;
        const double x[] = {p->queue_ns, p->work_ns, p->batch};

        if (p->from != PARTS_NONE)
            mean_parts.from = p->from;
        for (int k = 0; k < 3; k++) {
            sum[k] += x[k] >= 0 ? x[k] : 0;
            known[k] += x[k] >= 0;
        }
    }
    for (int k = 0; k < 3; k++)
        sum[k] = known[k] > 0 ? sum[k] / known[k] : -1;
    mean_parts.queue_ns = sum[0];
    mean_parts.work_ns = sum[1];
    mean_parts.batch = sum[2];
    return mean_parts;
}

static void fill_cell(struct variant_cell *c, const struct group *g,
                      enum measure measure)
{
    struct variant_run *one = g->list[0];
    size_t overloaded = 0;
    double usd;

    c->counted = g->n;
    if (g->n == 0)
        return;
    c->rounds = xcalloc(g->n, sizeof(*c->rounds));
    for (size_t i = 0; i < g->n; i++)
        c->rounds[i] = g->list[i]->round;
    c->verdict = one->trial.verdict;
    for (size_t i = 0; i < g->n; i++) {
        enum verdict v = g->list[i]->trial.verdict;

        overloaded += g->list[i]->trial.was_overloaded;
        if (v == VERDICT_FAIL || c->verdict == VERDICT_FAIL)
            c->verdict = VERDICT_FAIL;
        else if (v != c->verdict)
            c->verdict = VERDICT_UNDECIDED;
    }
    usd = over_runs(g, TRIAL_USD).value;
    c->latency_ns = latency_of(g);
    c->tail_ns = tail_of(g, measure);
    c->goodput_rps = over_runs(g, TRIAL_GOODPUT);
    c->offered_rps = over_runs(g, TRIAL_OFFERED).value;
    c->completed_rps = over_runs(g, TRIAL_COMPLETED).value;
    c->throughput_rps = over_runs(g, TRIAL_THROUGHPUT);
    c->attainment = over_runs(g, TRIAL_ATTAINMENT).value;
    c->tokens_per_s = over_runs(g, TRIAL_TOKENS).value;
    c->usd_per_1000_good = isnan(usd) ? -1 : usd;
    c->is_overloaded = 2 * overloaded >= g->n;
    c->parts = parts_of(g);
    if (g->n == 1) {
        /* As if requests ended at random, which scatters more than a server
         * that is always busy. */
        double rps = c->throughput_rps.value;
        double reach = 1.96 * sqrt(rps / one->window_s);

        c->throughput_rps =
            (struct uncertain){rps, {fmax(0, rps - reach), rps + reach}, true};
        c->goodput_rps.has_range = true;
        c->goodput_rps.range =
            (struct interval){c->offered_rps * one->attainment_ci95.low,
                              c->offered_rps * one->attainment_ci95.high};
    }
}

static void make_cell(struct variants_summary *s, size_t variant, size_t value,
                      struct variant_runs *all)
{
    struct variant_cell *c = &s->list[variant].cells[value];
    struct group g = {xcalloc(all->n + 1, sizeof(struct variant_run *)), 0};

    for (size_t i = 0; i < all->n; i++) {
        struct variant_run *r = &all->list[i];

        if (r->variant != variant || r->value != s->values[value])
            continue;
        c->runs++;
        if (r->counts)
            g.list[g.n++] = r;
    }
    fill_cell(c, &g, s->measure);
    free((void *)g.list);
}

/* ---- all of them ---- */

static int read_variant(struct variants_summary *s, size_t i,
                        struct variant_runs *all, struct err *err)
{
    char *dir = variant_set_path(s->dir, &s->set.list[i]);
    struct study_recordings listed = {0};
    int rc = study_is_at(dir)
                 ? study_recordings_list(&listed, dir, s->set.of, err)
                 : 0;

    if (listed.key[0]) {
        snprintf(s->key, sizeof(s->key), "%s", listed.key);
        snprintf(s->unit, sizeof(s->unit), "%s", listed.unit);
    }
    for (size_t k = 0; rc == 0 && k < listed.n; k++) {
        struct variant_run r = {.variant = i, .value = listed.list[k].value};

        rc = read_one(s, &listed.list[k], all, &r, err);
        if (rc)
            break;
        all->list = xrealloc(all->list, all->n + 1, sizeof(*all->list));
        all->list[all->n++] = r;
    }
    if (rc == 0 && s->set.of == STUDY_SEARCH && listed.n > 0)
        rc = capacity_read(&s->list[i].capacity, dir, all->slo,
                           all->usd_per_hour, err);
    else if (rc == 0)
        capacity_of_sums(&all->sums, &s->list[i].capacity);
    capacity_sums_fini(&all->sums);
    study_recordings_fini(&listed);
    free(dir);
    return rc;
}

static void make_cells(struct variants_summary *s, struct variant_runs *all)
{
    s->values = xcalloc(all->n + 1, sizeof(*s->values));
    for (size_t i = 0; i < all->n; i++)
        s->values[i] = all->list[i].value;
    order_sort(s->values, all->n);
    for (size_t i = 0; i < all->n; i++) {
        if (s->n_values == 0 || s->values[s->n_values - 1] != s->values[i])
            s->values[s->n_values++] = s->values[i];
    }
    for (size_t v = 0; v < s->set.n; v++) {
        s->list[v].cells = xcalloc(s->n_values + 1, sizeof(*s->list[v].cells));
        for (size_t i = 0; i < s->n_values; i++)
            make_cell(s, v, i, all);
    }
}

int variants_read(struct variants_summary *s, const char *dir,
                  const struct strlist *slo, const struct cost_ask *cost,
                  double smallest, struct err *err)
{
    struct variant_runs all = {.slo = slo, .cost = cost};
    int rc;

    *s = (struct variants_summary){.dir = dir};
    rc = variant_set_load(&s->set, dir, err);
    if (rc == 0)
        s->list = xcalloc(s->set.n, sizeof(*s->list));
    for (size_t i = 0; rc == 0 && i < s->set.n; i++) {
        s->list[i].entry = &s->set.list[i];
        rc = read_variant(s, i, &all, err);
    }
    s->is_rate = !s->key[0] || strcmp(s->key, "load.rate") == 0;
    if (smallest >= 0)
        s->smallest = smallest;
    if (rc == 0) {
        make_cells(s, &all);
        variants_work_out(s);
    }
    free(all.list);
    return rc;
}

void variants_summary_fini(struct variants_summary *s)
{
    for (size_t i = 0; s->list && i < s->set.n; i++) {
        for (size_t k = 0; s->list[i].cells && k < s->n_values; k++)
            free(s->list[i].cells[k].rounds);
        free(s->list[i].says);
        free(s->list[i].cells);
    }
    variants_results_fini(s);
    free(s->values);
    free(s->list);
    free(s->title);
    free(s->terms);
    variant_set_fini(&s->set);
    *s = (struct variants_summary){0};
}

/* Single probes of a search may fail; only its answer counts. */
static bool has_gap(const struct variants_summary *s, const struct variant *v)
{
    if (s->set.of == STUDY_SEARCH)
        return !v->capacity.is_present ||
               (v->capacity.outcome != SEARCH_FOUND &&
                v->capacity.outcome != SEARCH_ESTIMATED &&
                v->capacity.outcome != SEARCH_AT_LEAST &&
                v->capacity.outcome != SEARCH_NEVER);
    for (size_t i = 0; i < s->n_values; i++) {
        if (v->cells[i].runs > 0 &&
            v->cells[i].counted < valid_runs_needed(s->asked))
            return true;
    }
    return false;
}

enum conclusion variants_conclusion(const struct variants_summary *s)
{
    enum conclusion all =
        s->n_values == 0 ? CONCLUSION_UNDECIDED : CONCLUSION_YES;

    for (size_t i = 0; i < s->set.n; i++) {
        if (s->set.list[i].failed[0])
            return CONCLUSION_FAILED;
        if (has_gap(s, &s->list[i]))
            all = CONCLUSION_UNDECIDED;
    }
    return all;
}
