/* A study with variants, read from disk: every recording of every variant, by
 * what was varied. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/compare/conditions.h"
#include "analyzer/read/reader.h"
#include "analyzer/studies/short_run_median.h"
#include "analyzer/studies/study_recordings.h"
#include "analyzer/studies/variant_reading.h"
#include "analyzer/studies/variants.h"
#include "analyzer/tally/summary.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/variant_settings.h"

#define MAX_LINE   8192
#define CONFIDENCE 0.95

/* ---- one recording ---- */

/* By what most people judge: the first term that is about a time. */
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

static double tail_of(const struct summary *s, enum measure m)
{
    int q = 0;

    while (q < SUMMARY_QUANTILES - 1 && summary_quantile[q] != 0.99)
        q++;
    return (double)s->spread[m][VIEW_DUE].quantile_ns[q];
}

static const char *why_not(const struct summary *s)
{
    if (s->stopped_by)
        return "interrupted";
    if (s->integrity.was_killed)
        return "killed before its end";
    if (s->aborted)
        return "aborted before its end";
    for (size_t i = 0; !s->trust.valid && i < s->trust.len; i++) {
        if (!s->trust.checks[i].ok && s->trust.checks[i].is_fatal)
            return s->trust.checks[i].name;
    }
    return s->trust.valid ? NULL : "not to be trusted";
}

static void take(struct variants_summary *out, const struct summary *s,
                 struct reading *r)
{
    const char *why = why_not(s);
    enum measure m = out->measure;

    r->counts = !why;
    /* A search has its own rules, and made again what did not count. */
    if (why && out->set.of != STUDY_SEARCH &&
        !out->list[r->variant].distrust[0])
        snprintf(out->list[r->variant].distrust,
                 sizeof(out->list[r->variant].distrust), "%s", why);
    r->is_overloaded = summary_is_overloaded(s);
    r->verdict = s->verdict;
    r->latency_ns = median_within(s, m);
    r->x[READ_TAIL] = tail_of(s, m);
    r->x[READ_OFFERED] = s->offered_rps;
    r->x[READ_THROUGHPUT] = s->throughput_rps;
    r->x[READ_GOODPUT] = s->goodput_rps;
    r->window_s = s->window_length_s;
    r->x[READ_ATTAINMENT] = s->attainment;
    r->attainment_ci95 = s->attainment_ci95;
    r->x[READ_TOKENS] = s->output_tokens_per_s;
    r->x[READ_USD] = s->cost.is_there ? s->cost.usd_per_1000_good : -1;
    out->has_tokens |= s->has_tokens;
    out->has_cost |= s->cost.is_there;
}

/* "stub.batching static, stub.max_batch 16" */
static void describe(struct variant *v, struct recording *rec,
                     const struct summary *s)
{
    const struct strlist *keys = &rec->settings.varied;
    struct strmap card;
    struct buf line;

    if (v->says)
        return;
    conditions_make(&card, rec, s);
    buf_init(&line, MAX_LINE);
    for (size_t i = 0; i < keys->len; i++) {
        const char *value = strmap_get(&card, keys->items[i]);

        if (strcmp(keys->items[i], "conditions." VARIANTS_CONDITION) != 0)
            buf_addf(&line, "%s%s %s", line.len ? ", " : "", keys->items[i],
                     value ? value : "");
    }
    v->says = xstrdup(buf_text(&line));
    buf_fini(&line);
    strmap_fini(&card);
}

static void describe_study(struct variants_summary *out,
                           const struct recording *rec, const struct summary *s)
{
    struct buf line;

    if (out->title)
        return;
    out->measure = choose_measure(&s->slo);
    out->has_slo = s->slo.len > 0;
    out->title = xstrdup(rec->settings.name ? rec->settings.name : "");
    buf_init(&line, MAX_LINE);
    for (size_t i = 0; i < s->slo.len; i++)
        buf_addf(&line, "%s%s", i ? ", " : "", s->slo.terms[i].text);
    out->terms = xstrdup(buf_text(&line));
    buf_fini(&line);
}

/* The value stays as every other report has it. */
static int read_latencies(struct recording *rec, const struct summary *s,
                          enum measure m, struct reading *r, struct err *err)
{
    struct uncertain u;

    if (blocked_read(rec, s, m, &r->latencies, err))
        return -1;
    if (r->latency_ns.has_range)
        return 0;
    u = blocked_median_of(&r->latencies, CONFIDENCE);
    r->latency_ns.has_range = u.has_range;
    r->latency_ns.range = u.range;
    return 0;
}

static void replace_slo(struct settings *s, const struct strlist *slo)
{
    strlist_fini(&s->slo);
    for (size_t i = 0; i < slo->len; i++)
        strlist_add(&s->slo, slo->items[i]);
}

static int read_one(struct variants_summary *out, const struct listed_one *one,
                    struct readings *all, struct reading *r, struct err *err)
{
    struct recording rec;
    struct summary *s;
    int rc;

    if (recording_open(&rec, one->dir, err))
        return -1;
    if (all->slo)
        replace_slo(&rec.settings, all->slo);
    s = xcalloc(1, sizeof(*s));
    rc = summary_make_priced(s, &rec, NULL, all->cost, err);
    if (rc == 0) {
        if (isnan(r->value))
            r->value = rec.settings.load.rate_rps > 0
                           ? rec.settings.load.rate_rps
                           : (double)rec.settings.load.clients;
        describe_study(out, &rec, s);
        describe(&out->list[r->variant], &rec, s);
        take(out, s, r);
        r->parts = parts_read(&rec, s);
        all->usd_per_hour = s->cost.is_there ? s->cost.usd_per_hour : 0;
        if (out->set.of == STUDY_SWEEP && r->counts)
            capacity_add(&all->sums, &rec, s, &one->at);
    }
    if (rc == 0 && r->counts)
        rc = read_latencies(&rec, s, out->measure, r, err);
    summary_fini(s);
    free(s);
    recording_close(&rec);
    return rc;
}

/* ---- all of them ---- */

static int read_variant(struct variants_summary *s, size_t i,
                        struct readings *all, struct err *err)
{
    char *dir = variant_set_path(s->dir, &s->set.list[i]);
    struct listed listed = {0};
    int rc = study_is_at(dir) ? listed_read(&listed, dir, s->set.of, err) : 0;

    if (listed.key[0]) {
        snprintf(s->key, sizeof(s->key), "%s", listed.key);
        snprintf(s->unit, sizeof(s->unit), "%s", listed.unit);
    }
    for (size_t k = 0; rc == 0 && k < listed.n; k++) {
        struct reading r = {.variant = i, .value = listed.list[k].value};

        rc = read_one(s, &listed.list[k], all, &r, err);
        if (rc) {
            latencies_fini(&r.latencies);
            break;
        }
        all->list = xrealloc(all->list, all->n + 1, sizeof(*all->list));
        all->list[all->n++] = r;
    }
    if (rc == 0 && s->set.of == STUDY_SEARCH && listed.n > 0)
        rc = capacity_read(&s->list[i].capacity, dir, all->slo,
                           all->usd_per_hour, err);
    else if (rc == 0)
        capacity_of_sums(&all->sums, &s->list[i].capacity);
    capacity_sums_fini(&all->sums);
    listed_fini(&listed);
    free(dir);
    return rc;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static void list_values(struct variants_summary *s, const struct readings *all)
{
    s->values = xcalloc(all->n + 1, sizeof(*s->values));
    for (size_t i = 0; i < all->n; i++)
        s->values[i] = all->list[i].value;
    qsort(s->values, all->n, sizeof(*s->values), by_value);
    for (size_t i = 0; i < all->n; i++) {
        if (s->n_values == 0 || s->values[s->n_values - 1] != s->values[i])
            s->values[s->n_values++] = s->values[i];
    }
}

int variants_read(struct variants_summary *s, const char *dir,
                  const struct strlist *slo, const struct cost_ask *cost,
                  struct err *err)
{
    struct readings all = {.slo = slo, .cost = cost};
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
    if (rc == 0) {
        list_values(s, &all);
        readings_make_cells(s, &all);
        variants_work_out(s);
    }
    for (size_t i = 0; i < all.n; i++)
        latencies_fini(&all.list[i].latencies);
    free(all.list);
    return rc;
}

void variants_summary_fini(struct variants_summary *s)
{
    for (size_t i = 0; s->list && i < s->set.n; i++) {
        for (size_t k = 0; s->list[i].cells && k < s->n_values; k++)
            latencies_fini(&s->list[i].cells[k].latencies);
        free(s->list[i].says);
        free(s->list[i].cells);
    }
    for (size_t i = 0; i < s->n_crossings; i++)
        free(s->crossings[i].why);
    free(s->crossings);
    free(s->places);
    free(s->capacities);
    free(s->values);
    free(s->list);
    free(s->title);
    free(s->terms);
    variant_set_fini(&s->set);
    *s = (struct variants_summary){0};
}

/* Of a search single probes may fail; what counts is its answer. */
static bool has_gap(const struct variants_summary *s, const struct variant *v)
{
    if (s->set.of == STUDY_SEARCH)
        return !v->capacity.is_there ||
               (v->capacity.outcome != SEARCH_FOUND &&
                v->capacity.outcome != SEARCH_ESTIMATED &&
                v->capacity.outcome != SEARCH_AT_LEAST &&
                v->capacity.outcome != SEARCH_NEVER);
    for (size_t i = 0; i < s->n_values; i++) {
        if (v->cells[i].runs > 0 && v->cells[i].counted == 0)
            return true;
    }
    return false;
}

enum conclusion variants_conclusion(const struct variants_summary *s)
{
    enum conclusion all = s->n_values == 0 ? CONCLUSION_OPEN : CONCLUSION_YES;

    for (size_t i = 0; i < s->set.n; i++) {
        if (s->set.list[i].failed[0])
            return CONCLUSION_FAILED;
        if (has_gap(s, &s->list[i]))
            all = CONCLUSION_OPEN;
    }
    return all;
}
