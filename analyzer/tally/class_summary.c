#include "analyzer/tally/class_summary.h"

#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"

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
        c->throughput_rps = (double)t->ok_inside / window_s;
        c->goodput_rps = (double)t->good / window_s;
    }
    for (int m = 0; m < MEASURE_COUNT; m++) {
        bool has_it = c->is_streamed || !measure_is_of_stream((enum measure)m);

        c->spread[m] = spread_of(has_it ? &t->hist[m][VIEW_DUE] : &nothing);
    }
    tally_add_unknown(t, lost);
    judge(t, window_s, &c->judgement);
    tiers_take_class(&c->tiers, &all->tiers[i], window_s, lost);
}
