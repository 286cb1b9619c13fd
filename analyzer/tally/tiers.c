#include "analyzer/tally/tiers.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "common/settings/classes.h"

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

/* ---- while the recording is read ---- */

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

void cohort_init(struct cohort *c, const struct slo *slo,
                 const struct cohort_plan *plan)
{
    tally_init(&c->tally, plan->window, slo);
    tally_set_good(&c->tally, &c->good);
    tally_set_sequences(&c->tally, plan->sequences);
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

static void take_tier(struct tier_summary *t, const struct cohort *w,
                      double window_s)
{
    judge(&w->tally, window_s, &t->judgement);
    t->verdict = t->judgement.verdict;
    t->good = w->tally.good;
    t->attainment = tally_attainment(&w->tally, &t->attainment_ci95);
    t->fluid = fluid_sum_up(&w->stream.fluid, window_s);
    if (!(window_s > 0))
        return;
    t->goodput_rps = (double)w->tally.good / window_s;
    t->goodput_tokens_per_s = (double)w->tally.tokens.good_output / window_s;
}

void tiers_take(struct tiers *t, const struct tier_works *w, double window_s)
{
    for (size_t i = 0; i < w->len; i++)
        take_tier(&t->items[i], &w->items[i], window_s);
}

/* Counts include only requests known to be of the class; the judgement allows
 * for the unknown ones. */
void tiers_take_class(struct tiers *t, struct tier_works *w, double window_s,
                      int64_t unknown)
{
    tiers_take(t, w, window_s);
    for (size_t i = 0; i < w->len; i++) {
        tally_add_unknown(&w->items[i].tally, unknown);
        judge(&w->items[i].tally, window_s, &t->items[i].judgement);
        t->items[i].verdict = t->items[i].judgement.verdict;
    }
}
