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

static int begin_work(struct tier_work *w, const struct tier_summary *tier,
                      const struct tier_plan *p, struct err *err)
{
    const char *name = tier_name(tier);

    if (good_table_init_tier(&w->good, of_run(p->run, name), p->classes, name,
                             err))
        return -1;
    tally_init(&w->tally, p->window, &tier->slo);
    tally_set_good(&w->tally, &w->good);
    tally_set_sequences(&w->tally, p->sequences);
    stream_init(&w->stream, &w->tally);
    queries_init(&w->queries, &w->tally, p->query_size);
    return 0;
}

int tier_works_init(struct tier_works *w, const struct tiers *tiers,
                    const struct tier_plan *plan, struct err *err)
{
    *w = (struct tier_works){0};
    if (tiers->len == 0)
        return 0;
    w->items = xcalloc(tiers->len, sizeof(*w->items));
    for (size_t i = 0; i < tiers->len; i++) {
        w->len++;
        if (begin_work(&w->items[i], &tiers->items[i], plan, err))
            return -1;
    }
    return 0;
}

void tier_works_fini(struct tier_works *w)
{
    for (size_t i = 0; i < w->len; i++) {
        tally_fini(&w->items[i].tally);
        good_table_fini(&w->items[i].good);
    }
    free(w->items);
    *w = (struct tier_works){0};
}

void tier_works_add(struct tier_works *w, const struct facts *f)
{
    for (size_t i = 0; i < w->len; i++) {
        tally_add(&w->items[i].tally, f);
        queries_add(&w->items[i].queries, f);
        stream_see(&w->items[i].stream, f);
    }
}

void tier_works_add_events(struct tier_works *w, const struct event_rows *e)
{
    for (size_t i = 0; i < w->len; i++) {
        if (e->is_after_damage)
            stream_break(&w->items[i].stream);
        stream_add(&w->items[i].stream, e->shard, e->rows, e->n);
    }
}

void tier_works_end_run(struct tier_works *w, int64_t lost, int64_t expected)
{
    for (size_t i = 0; i < w->len; i++) {
        stream_finish(&w->items[i].stream);
        tally_add_lost(&w->items[i].tally, lost);
        queries_finish(&w->items[i].queries, expected);
    }
}

static void take_tier(struct tier_summary *t, const struct tier_work *w,
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
