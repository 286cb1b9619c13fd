#include "study/trials_study.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "study/child.h"
#include "study/study_point.h"

#define SEED_BITS 48 /* so many of them any reader of numbers can hold */

uint64_t trial_seed(uint64_t seed, int64_t number)
{
    struct rng rng = rng_stream(seed, RNG_TRIAL);

    for (int64_t i = 1; i < number; i++)
        seed = rng_next(&rng) >> (64 - SEED_BITS);
    return seed;
}

uint64_t *trial_seeds(uint64_t seed, int64_t n)
{
    uint64_t *seeds = xcalloc((size_t)n, sizeof(*seeds));

    for (int64_t i = 0; i < n; i++)
        seeds[i] = trial_seed(seed, i + 1);
    return seeds;
}

/* Each has a copy of what the run says. */
static void reseed_classes(struct classes *classes, int64_t number)
{
    for (size_t i = 0; i < classes->len; i++)
        trial_reseed(classes->items[i].settings, number);
}

void trial_reseed(struct settings *s, int64_t number)
{
    s->load.seed = trial_seed(s->load.seed, number);
    if (s->load.seeds == SEEDS_MLPERF)
        s->load.schedule_seed = trial_seed(s->load.schedule_seed, number);
    if (s->load.seeds == SEEDS_MLPERF && s->data.file) {
        s->load.qsl_seed = trial_seed(s->load.qsl_seed, number);
        s->load.sample_index_seed =
            trial_seed(s->load.sample_index_seed, number);
    }
    if (s->data.nonce != 0) /* else each run draws its own */
        s->data.nonce = trial_seed(s->data.nonce, number);
    s->stub.seed = trial_seed(s->stub.seed, number);
    reseed_classes(&s->classes, number);
    reseed_classes(&s->warmup, number);
}

struct trial_place trials_place(int64_t i, int n_sides)
{
    int64_t pair = i / n_sides;
    int place = (int)(i % n_sides);

    return (struct trial_place){
        .side = pair % 2 ? n_sides - 1 - place : place,
        .number = pair + 1,
    };
}

char *trials_order(int64_t n, int n_sides)
{
    size_t len = (size_t)n * (size_t)n_sides;
    char *order = xcalloc(len + 1, 1);

    for (size_t i = 0; i < len; i++)
        order[i] = (char)('A' + trials_place((int64_t)i, n_sides).side);
    return order;
}

static int prepare(const struct study_settings *study, bool is_first,
                   struct err *err)
{
    if (!is_first)
        point_settle(study->settle_ns);
    if (atomic_load(&stop_signal))
        return err_set(err, ERR_STOPPED, "interrupted between trials");
    return study->restart ? child_run_command(study->restart, "study.restart",
                                              CHILD_PATIENCE_NS, err)
                          : 0;
}

static int run_one(const struct trials *t, struct trial_place place,
                   bool is_first, struct err *err)
{
    const struct trials_side *side = &t->sides[place.side];
    char *dir = trial_set_path(side->dir, place.number);
    int rc = prepare(side->study, is_first, err);

    if (rc == 0)
        rc = t->run(t->arg, place, dir, err);
    free(dir);
    return rc;
}

static int save(const struct trials *t, struct err *err)
{
    for (int i = 0; i < t->n_sides; i++) {
        if (trial_set_save(&t->sides[i].set, t->sides[i].dir, err))
            return -1;
    }
    return 0;
}

/* Why there will be no more. */
static void note_end(struct trials *t, const struct err *why)
{
    for (int i = 0; i < t->n_sides; i++) {
        struct trial_set *set = &t->sides[i].set;

        set->stopped_by = atomic_load(&stop_signal);
        if (set->stopped_by == 0)
            snprintf(set->failed, sizeof(set->failed), "%s", why->msg);
    }
}

int trials_run(struct trials *t, struct err *err)
{
    int64_t total = t->n * t->n_sides;
    struct err why = {0};
    bool is_over = false;
    int rc = save(t, err);

    for (int64_t i = 0; rc == 0 && !is_over && i < total; i++) {
        struct trial_place place = trials_place(i, t->n_sides);
        int made = run_one(t, place, i == 0, &why);

        if (made == 0)
            t->sides[place.side].set.recorded++;
        is_over = made != 0 || (atomic_load(&stop_signal) && i + 1 < total);
        if (is_over)
            note_end(t, &why);
        rc = save(t, err);
    }
    if (rc == 0 && why.code != ERR_NONE && why.code != ERR_STOPPED) {
        *err = why;
        rc = -1;
    }
    return rc;
}
