/* Gaps with a gamma distribution: more even than independent users below a
 * coefficient of variation of 1, in clusters above it. */
#include "loadgen/schedule/arrival_impl.h"

#include <math.h>

#include "common/base/err.h"
#include "common/base/rng.h"

struct gamma {
    double shape; /* 1 / cv^2 */
};

static int gamma_init(void *self, const struct load_settings *load,
                      struct err *err)
{
    struct gamma *g = self;

    if (!(load->cv >= 0.01 && load->cv <= 100))
        return err_set(err, ERR_CONFIG, "load.cv: 0.01 to 100");
    g->shape = 1 / (load->cv * load->cv);
    return 0;
}

/* Marsaglia and Tsang's rejection, for a shape of 1 or more. */
static double draw(double shape, struct rng *rng)
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
        if (u < 1 - 0.0331 * x * x * x * x) /* what the next would say too */
            return d * v;
        if (log(u) < x * x / 2 + d - d * v + d * log(v))
            return d * v;
    }
}

/* Below 1 one draws at shape + 1 and takes a power of a uniform off. */
static double gamma_gap(void *self, struct rng *rng)
{
    const struct gamma *g = self;
    double k = g->shape;

    if (k >= 1)
        return draw(k, rng) / k;
    return draw(k + 1, rng) * pow(rng_uniform(rng), 1 / k) / k;
}

const struct arrival_ops arrival_gamma = {
    .name = "gamma",
    .state_size = sizeof(struct gamma),
    .init = gamma_init,
    .gap = gamma_gap,
};
