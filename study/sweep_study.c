#include "study/sweep_study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/base/units.h"
#include "common/recording/pointset.h"
#include "common/settings/settings.h"

/* The values as text; what they are of goes into the set. */
static const char *find_values(struct point_set *set,
                               const struct sweep_settings *sweep)
{
    const char *equals = sweep->vary ? strchr(sweep->vary, '=') : NULL;

    if (equals) {
        snprintf(set->key, sizeof(set->key), "%.*s",
                 (int)(equals - sweep->vary), sweep->vary);
        return equals + 1;
    }
    snprintf(set->key, sizeof(set->key), "%s",
             sweep->rates ? "load.rate" : "load.clients");
    return sweep->rates ? sweep->rates : sweep->concurrencies;
}

static void swap(struct study_point *a, struct study_point *b)
{
    struct study_point kept = *a;

    *a = *b;
    *b = kept;
}

/* Fisher and Yates.  Names are numbered as they are made. */
static void shuffle(struct point_set *set, uint64_t seed)
{
    struct rng rng = rng_stream(seed, RNG_SWEEP);

    for (size_t i = set->len; i > 1; i--)
        swap(&set->points[i - 1],
             &set->points[(size_t)floor(rng_uniform(&rng) * (double)i)]);
    for (size_t i = 0; i < set->len; i++)
        set->points[i].number = (int64_t)i + 1;
}

int sweep_plan(struct point_set *set, const struct sweep_settings *sweep,
               uint64_t seed, struct err *err)
{
    const char *text = find_values(set, sweep);
    struct numlist values;

    if (!text)
        return err_set(err, ERR_USAGE,
                       "what is to be varied? --rates 10,20,40..200, "
                       "--concurrencies 1,2,4 or --vary KEY=VALUES");
    if (numlist_parse(&values, text, err)) {
        numlist_fini(&values);
        return -1;
    }
    memcpy(set->unit, values.unit, sizeof(set->unit));
    for (int64_t r = 1; r <= sweep->repeats; r++) {
        for (size_t i = 0; i < values.len; i++)
            point_set_add(set, POINT_OF_SWEEP, values.items[i])->repeat = r;
    }
    numlist_fini(&values);
    if (sweep->order == ORDER_RANDOM)
        shuffle(set, seed);
    return 0;
}
