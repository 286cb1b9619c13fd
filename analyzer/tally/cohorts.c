#include "analyzer/tally/cohorts.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"

/* ---- one cohort ---- */

void cohort_init(struct cohort *c, const struct slo *slo,
                 const struct cohort_plan *plan)
{
    tally_init(&c->tally, plan->window, slo);
    tally_set_good(&c->tally, &c->good);
    tally_set_sequences(&c->tally, plan->sequences);
    tally_set_shard(&c->tally, plan->shard);
    stream_init(&c->stream, &c->tally);
    queries_init(&c->queries, &c->tally, plan->query_size);
}

void cohort_fini(struct cohort *c)
{
    tally_fini(&c->tally);
    good_table_fini(&c->good);
}

void cohort_add(struct cohort *c, const struct facts *f)
{
    tally_add(&c->tally, f);
    stream_see(&c->stream, f);
    queries_add(&c->queries, f);
}

void cohort_add_events(struct cohort *c, const struct event_rows *e)
{
    if (e->is_after_damage)
        stream_break(&c->stream);
    stream_add(&c->stream, e->shard, e->rows, e->n);
}

int64_t cohort_end(struct cohort *c, int64_t lost, int64_t expected)
{
    int64_t inside;

    stream_finish(&c->stream);
    inside = tally_add_lost(&c->tally, lost);
    queries_finish(&c->queries, expected);
    return inside;
}

/* ---- tiers ---- */

const char *tier_name(const struct tier_summary *t)
{
    return t->slo.terms[0].tier;
}

int tiers_begin(struct tiers *t, const struct strlist *texts, struct err *err)
{
    const char *names[SLO_MAX_TIERS];
    struct slo all;

    *t = (struct tiers){0};
    if (slo_parse_all(texts, &all, err))
        return -1;
    t->len = slo_tiers(&all, names);
    t->items = t->len > 0 ? xcalloc(t->len, sizeof(*t->items)) : NULL;
    for (size_t i = 0; i < t->len; i++)
        slo_of_tier(&all, names[i], &t->items[i].slo);
    return 0;
}

void tiers_fini(struct tiers *t)
{
    free(t->items);
    *t = (struct tiers){0};
}

const struct tier_summary *tiers_best(const struct tiers *t)
{
    for (size_t i = 0; i < t->len; i++) {
        if (t->items[i].verdict == VERDICT_PASS)
            return &t->items[i];
    }
    return NULL;
}

/* The terms of the tier of this name of the run; empty if it has none. */
static const struct slo *of_run(const struct tiers *run, const char *name)
{
    static const struct slo nothing;

    for (size_t i = 0; i < run->len; i++) {
        if (strcmp(tier_name(&run->items[i]), name) == 0)
            return &run->items[i].slo;
    }
    return &nothing;
}

int tier_works_init(struct tier_works *w, const struct tiers *tiers,
                    const struct cohort_plan *plan, struct err *err)
{
    *w = (struct tier_works){0};
    if (tiers->len == 0)
        return 0;
    w->items = xcalloc(tiers->len, sizeof(*w->items));
    for (size_t i = 0; i < tiers->len; i++) {
        const char *name = tier_name(&tiers->items[i]);

        w->len++;
        if (good_table_init_tier(&w->items[i].good, of_run(plan->run, name),
                                 plan->classes, name, err))
            return -1;
        cohort_init(&w->items[i], &tiers->items[i].slo, plan);
    }
    return 0;
}

void tier_works_fini(struct tier_works *w)
{
    for (size_t i = 0; i < w->len; i++)
        cohort_fini(&w->items[i]);
    free(w->items);
    *w = (struct tier_works){0};
}

void tier_works_add(struct tier_works *w, const struct facts *f)
{
    for (size_t i = 0; i < w->len; i++)
        cohort_add(&w->items[i], f);
}

void tier_works_add_events(struct tier_works *w, const struct event_rows *e)
{
    for (size_t i = 0; i < w->len; i++)
        cohort_add_events(&w->items[i], e);
}

void tier_works_end_run(struct tier_works *w, int64_t lost, int64_t expected)
{
    for (size_t i = 0; i < w->len; i++)
        cohort_end(&w->items[i], lost, expected);
}

/* Counts include only requests known to be of the tier's class; the judgement
 * allows for the unknown ones. */
static void take_tier(struct tier_summary *t, struct cohort *w, double window_s,
                      int64_t unknown)
{
    t->good = w->tally.good;
    t->attainment = tally_attainment(&w->tally, &t->attainment_ci95);
    t->fluid = fluid_sum_up(&w->stream.fluid, window_s);
    if (window_s > 0) {
        t->goodput_rps = (double)w->tally.good / window_s;
        t->goodput_tokens_per_s =
            (double)w->tally.tokens.good_output / window_s;
    }
    tally_add_unknown(&w->tally, unknown);
    judge(&w->tally, window_s, &t->judgement);
    t->verdict = t->judgement.verdict;
}

void tiers_take(struct tiers *t, const struct tier_works *w, double window_s,
                int64_t unknown)
{
    for (size_t i = 0; i < w->len; i++)
        take_tier(&t->items[i], &w->items[i], window_s, unknown);
}

/* ---- classes ---- */

int class_tallies_init(struct class_tallies *t,
                       const struct class_summary *classes, size_t n,
                       const struct good_table *good,
                       const struct cohort_plan *run, struct err *err)
{
    struct cohort_plan plan = *run;

    *t = (struct class_tallies){.len = n};
    if (n == 0)
        return 0;
    plan.sequences = 1;
    plan.query_size = 1;
    t->items = xcalloc(n, sizeof(*t->items));
    t->tiers = xcalloc(n, sizeof(*t->tiers));
    for (size_t i = 0; i < n; i++) {
        tally_init(&t->items[i], run->window, &classes[i].slo);
        tally_set_good(&t->items[i], good);
    }
    for (size_t i = 0; i < n; i++) {
        if (tier_works_init(&t->tiers[i], &classes[i].tiers, &plan, err))
            return -1;
    }
    return 0;
}

void class_tallies_fini(struct class_tallies *t)
{
    for (size_t i = 0; i < t->len; i++) {
        tally_fini(&t->items[i]);
        tier_works_fini(&t->tiers[i]);
    }
    free(t->items);
    free(t->tiers);
    *t = (struct class_tallies){0};
}

/* A damaged row may have an invalid class. */
void class_tallies_add(struct class_tallies *t, const struct facts *f)
{
    if (f->class < 0 || f->class >= (int64_t)t->len)
        return;
    tally_add(&t->items[f->class], f);
    tier_works_add(&t->tiers[f->class], f);
}

int class_summary_begin(struct class_summary *c, const struct classes *all,
                        size_t i, struct err *err)
{
    const struct class_settings *class = &all->items[i];

    *c = (struct class_summary){.name = class->name,
                                .share = classes_share(all, i)};
    if (slo_parse(&class->settings->slo, &c->slo, err) ||
        tiers_begin(&c->tiers, &class->settings->slo, err))
        return err_context(err, "classes: %s", class->name);
    return 0;
}

void class_summary_fini(struct class_summary *c)
{
    tiers_fini(&c->tiers);
}

void class_summary_take(struct class_summary *c,
                        const struct class_tallies *all, size_t i,
                        bool asked_stream, int64_t lost)
{
    static const struct hist nothing;
    struct tally *t = &all->items[i];
    double window_s = (double)(t->window.end_ns - t->window.start_ns) / 1e9;

    c->is_streamed = asked_stream || t->events > 0;
    c->scheduled = t->due;
    c->unsent = t->outcome[OUTCOME_UNSENT];
    c->issued = c->scheduled - c->unsent;
    c->ok = t->outcome[OUTCOME_OK];
    c->failed = c->issued - c->ok;
    c->good = t->good;
    c->attainment = tally_attainment(t, &c->attainment_ci95);
    if (window_s > 0) {
        c->offered_rps = (double)t->due / window_s;
        c->completed_rps = (double)c->ok / window_s;
        c->goodput_rps = (double)t->good / window_s;
        c->throughput_rps = (double)t->ok_inside / window_s;
    }
    for (int m = 0; m < MEASURE_COUNT; m++) {
        bool has_it = c->is_streamed || !measure_is_of_stream((enum measure)m);

        c->spread[m] = spread_of(has_it ? &t->hist[m][VIEW_DUE] : &nothing);
    }
    tally_add_unknown(t, lost);
    judge(t, window_s, &c->judgement);
    tiers_take(&c->tiers, &all->tiers[i], window_s, lost);
}
