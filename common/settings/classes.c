#include "common/settings/classes.h"

#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/xalloc.h"
#include "common/settings/settings_file.h"
#include "common/spec/slo.h"

void classes_fini(struct classes *c)
{
    for (size_t i = 0; i < c->len; i++) {
        struct class_settings *one = &c->items[i];

        if (one->settings)
            settings_fini(one->settings);
        free(one->settings);
        free(one->name);
        free(one->said);
    }
    free(c->items);
    *c = (struct classes){0};
}

static double total_weight(const struct classes *c)
{
    double total = 0;

    for (size_t i = 0; i < c->len; i++)
        total += c->items[i].weight;
    return total;
}

double classes_share(const struct classes *c, size_t i)
{
    return c->items[i].weight / total_weight(c);
}

/* Each key has its own random stream, so its class does not depend on others.
 * The arrivals of a class are a random selection of the run's: those of a
 * Poisson process are again a Poisson process. */
size_t classes_draw(const struct classes *c, uint64_t seed, int64_t key)
{
    struct rng rng = rng_at(seed, RNG_CLASS, key);
    double at = rng_uniform(&rng) * total_weight(c);

    for (size_t i = 0; i + 1 < c->len; i++) {
        at -= c->items[i].weight;
        if (at <= 0)
            return i;
    }
    return c->len - 1;
}

bool settings_some(bool (*does)(const struct settings *s),
                   const struct settings *run)
{
    bool some = run->classes.len == 0 && does(run);

    for (size_t i = 0; i < run->classes.len; i++)
        some |= does(run->classes.items[i].settings);
    return some;
}

/* ---- overriding the run ---- */

bool class_has_said(const struct class_settings *c, const struct opt *opt)
{
    for (size_t i = 0; i < c->n_said; i++) {
        if (c->said[i]->offset == opt->offset)
            return true;
    }
    return false;
}

bool settings_says(const struct settings *s, const struct opt *opt)
{
    return !s->data.workload ||
           class_has_said(&s->data.workload->items[s->data.class], opt);
}

/* The entries of the run, overridden by those of the class. */
static void merge_map(const struct opt_set *set, const void *run,
                      const struct opt *opt)
{
    struct strmap *map = opt_field(set, opt);
    struct strmap own = *map;

    *map = (struct strmap){0};
    opt_copy(set, run, opt);
    for (size_t i = 0; i < own.keys.len; i++)
        strmap_put(map, own.keys.items[i], own.values.items[i]);
    strmap_fini(&own);
}

static void overlay(struct class_settings *c, const struct settings *run)
{
    for (int b = 0; b < BLOCK_COUNT; b++) {
        struct opt_set set = settings_set(c->settings, (enum settings_block)b);

        for (size_t i = 0; i < set.block->len; i++) {
            const struct opt *opt = &set.block->opts[i];

            if (opt->offset == offsetof(struct settings, slo))
                continue; /* the SLO of the run is about all classes together */
            if (!class_has_said(c, opt))
                opt_copy(&set, run, opt);
            else if (opt->type->kind == OPT_MAP)
                merge_map(&set, run, opt);
        }
    }
    c->settings->has_stub = run->has_stub;
    c->settings->texts = run->texts;
    c->settings->load.stop = STOP_END; /* only the run as a whole stops early */
    free(c->settings->name);
    c->settings->name = xstrdup(c->name);
}

void classes_overlay(struct settings *run)
{
    struct classes *all = &run->classes;

    for (size_t i = 0; i < all->len; i++) {
        struct data_settings *data = &all->items[i].settings->data;

        overlay(&all->items[i], run);
        data->workload = all;
        data->class = i;
    }
    for (size_t i = 0; i < run->warmup.len; i++)
        overlay(&run->warmup.items[i], run);
    if (all->len > 0 && run->target.urls.len == 0) {
        const struct opt_set set = settings_set(run, BLOCK_TARGET);

        opt_copy(&set, all->items[0].settings, opt_by_key(set.block, "url"));
    }
}

/* ---- checks ---- */

static int resolve(const struct class_settings *c, struct err *err)
{
    const struct settings *s = c->settings;
    struct slo slo;

    if (settings_resolve(c->settings, err))
        return -1;
    for (size_t i = 0; s->load.scenario == SCENARIO_TRACE && i < block_data.len;
         i++) {
        const struct opt *opt = &block_data.opts[i];

        if (opt->key && class_has_said(c, opt))
            return err_set(err, ERR_CONFIG,
                           "data.%s of a class cannot be combined with "
                           "load.scenario: trace",
                           opt->key);
    }
    if (slo_parse_all(&s->slo, &slo, err))
        return err_context(err, "slo");
    for (size_t i = 0; i < slo.len; i++) {
        const struct slo_term *term = &slo.terms[i];

        /* Some measures belong to several requests at once, so to no class. */
        if ((term->kind == SLO_QUANTILE || term->kind == SLO_LIMIT) &&
            measure_is_pooled(term->measure))
            return err_set(err, ERR_CONFIG,
                           "slo: %s: %s is measured over all requests; only "
                           "the SLO of the run can use it",
                           term->text, measure_name(term->measure));
    }
    if (s->data.accuracy)
        return err_set(err, ERR_CONFIG,
                       "data.accuracy cannot be combined with classes");
    return 0;
}

/* What applies to all requests of a run, or to none. */
static int check_common(const struct settings *run,
                        const struct class_settings *c, struct err *err)
{
    const struct settings *s = c->settings;

    if (s->load.scenario != run->load.scenario)
        return err_set(err, ERR_CONFIG,
                       "data.turns: all classes must have sessions, or none; "
                       "set data.turns or load.turns for the run");
    if (s->data.cache_check)
        return err_set(err, ERR_CONFIG,
                       "data.cache_check cannot be combined with classes");
    if (s->load.seeds == SEEDS_MLPERF && s->data.file)
        return err_set(err, ERR_CONFIG,
                       "load.seeds: mlperf with data.file cannot be combined "
                       "with classes");
    return 0;
}

int classes_resolve(const struct settings *run, struct err *err)
{
    const struct class_settings *warmup = run->warmup.items;

    for (size_t i = 0; i < run->classes.len; i++) {
        const struct class_settings *c = &run->classes.items[i];

        if (resolve(c, err) || check_common(run, c, err))
            return err_context(err, "classes: %s", c->name);
        if (run->load.stop == STOP_DECIDED && c->settings->slo.len > 0)
            return err_set(err, ERR_CONFIG,
                           "load.stop: decided applies to the SLO of the run "
                           "only, but the class %s has its own",
                           c->name);
    }
    if (run->warmup.len == 0)
        return 0;
    if (resolve(warmup, err))
        return err_context(err, CLASSES_WARMUP);
    if (warmup->settings->load.scenario != run->load.scenario)
        return err_set(err, ERR_CONFIG,
                       CLASSES_WARMUP ": data.turns: session requires "
                                      "load.scenario: sessions; the scenario "
                                      "is %s",
                       scenario_names[run->load.scenario]);
    if (warmup->settings->data.cache_check && !run->data.cache_check)
        return err_set(err, ERR_CONFIG,
                       CLASSES_WARMUP ": data.cache_check must also be set "
                                      "for the run");
    return 0;
}
