#include "loadgen/arrival/arrival.h"

#include <math.h>
#include <string.h>

#include "common/err.h"
#include "loadgen/arrival/arrival_impl.h"

static const struct arrival_ops *const processes[] = {
    &arrival_poisson,
    &arrival_constant,
};

const struct arrival_ops *arrival_find(const char *name)
{
    for (size_t i = 0; i < sizeof(processes) / sizeof(processes[0]); i++) {
        if (strcmp(processes[i]->name, name) == 0)
            return processes[i];
    }
    return NULL;
}

int arrival_mean_gap(double rate_rps, double *gap_ns, struct err *err)
{
    if (!(rate_rps > 0))
        return err_set(err, ERR_CONFIG, "rate must be above 0, not %g",
                       rate_rps);
    if (isinf(rate_rps))
        return err_set(err, ERR_CONFIG, "rate must be finite, not %g",
                       rate_rps);
    *gap_ns = 1e9 / rate_rps;
    return 0;
}
