#include "common/dist.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/rng.h"
#include "common/units.h"

struct dist_ops {
    const char *name;
    bool has_mean;
    int64_t (*draw_ns)(const struct dist *dist, struct rng *rng);
};

static int64_t draw_mean(const struct dist *dist, struct rng *rng)
{
    (void)rng;
    return dist->mean_ns;
}

static int64_t draw_exponential(const struct dist *dist, struct rng *rng)
{
    /* A mean of centuries must not turn into a time before now. */
    return llround(fmin(rng_exponential(rng) * (double)dist->mean_ns, 0x1p62));
}

static const struct dist_ops kinds[] = {
    {"none", false, draw_mean},
    {"fixed", true, draw_mean},
    {"exponential", true, draw_exponential},
};

int dist_parse(const char *text, struct dist *dist, struct err *err)
{
    char name[24] = "";
    char mean[24] = "";
    char extra[2];
    int n = sscanf(text, "%23s %23s %1s", name, mean, extra);

    *dist = (struct dist){0};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].name, name) != 0 || n != 1 + kinds[i].has_mean)
            continue;
        dist->ops = &kinds[i];
        return n == 2 ? units_parse_duration(mean, &dist->mean_ns, err) : 0;
    }
    return err_set(err, ERR_CONFIG,
                   "'%s' is not a distribution; write 'none', 'fixed 2ms' or "
                   "'exponential 2ms'",
                   text);
}

int dist_check(const char *text, struct err *err)
{
    struct dist dist;

    return dist_parse(text, &dist, err);
}

int64_t dist_draw_ns(const struct dist *dist, struct rng *rng)
{
    return dist->ops->draw_ns(dist, rng);
}
