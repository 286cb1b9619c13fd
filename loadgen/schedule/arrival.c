#include "loadgen/schedule/arrival.h"

#include <math.h>
#include <stdbool.h>

#include "common/base/err.h"
#include "common/base/rng.h"

/* ---- Poisson: independent users, exponential gaps ---- */

static double poisson_gap(void *self, struct rng *rng)
{
    (void)self;
    return rng_exponential(rng);
}

/* ---- constant: equal gaps; the first request is due at once ---- */

static double constant_gap(void *self, struct rng *rng)
{
    bool *has_begun = self;
    double gap = *has_begun ? 1 : 0;

    (void)rng;
    *has_begun = true;
    return gap;
}

/* ---- gamma: more regular than Poisson below a coefficient of variation of 1,
 * clustered above it ---- */

struct gamma {
    double shape; /* 1 / cv^2 */
};

static int gamma_init(void *self, const struct load_settings *load,
                      struct err *err)
{
    struct gamma *g = self;

    if (!(load->cv >= 0.01 && load->cv <= 100))
        return err_set(err, ERR_CONFIG, "load.cv must be between 0.01 and 100");
    g->shape = 1 / (load->cv * load->cv);
    return 0;
}

/* Marsaglia and Tsang's rejection method, for a shape of 1 or more. */
static double gamma_draw(double shape, struct rng *rng)
{
    double d = shape - 1.0 / 3;
    double c = 1 / sqrt(9 * d);

    for (;;) {
        double x = rng_normal(rng);
        double root = 1 + c * x;
        double v = root * root * root;
        double u = rng_uniform(rng);

        if (v <= 0)
            continue;
        if (u < 1 - 0.0331 * x * x * x * x) /* saves the logarithms below */
            return d * v;
        if (log(u) < x * x / 2 + d - d * v + d * log(v))
            return d * v;
    }
}

/* For a shape below 1: draw with shape + 1, multiply by a power of a uniform.
 */
static double gamma_gap(void *self, struct rng *rng)
{
    const struct gamma *g = self;
    double k = g->shape;

    if (k >= 1)
        return gamma_draw(k, rng) / k;
    return gamma_draw(k + 1, rng) * pow(rng_uniform(rng), 1 / k) / k;
}

/* ---- the registry ---- */

static const struct arrival_ops processes[] = {
    [ARRIVAL_POISSON] = {"poisson", 1, NULL, poisson_gap},
    [ARRIVAL_CONSTANT] = {"constant", sizeof(bool), NULL, constant_gap},
    [ARRIVAL_GAMMA] = {"gamma", sizeof(struct gamma), gamma_init, gamma_gap},
};

_Static_assert(sizeof(processes) / sizeof(processes[0]) == ARRIVAL_COUNT,
               "one process for each name in the settings");

const struct arrival_ops *arrival_of(enum arrival arrival)
{
    return &processes[arrival];
}
