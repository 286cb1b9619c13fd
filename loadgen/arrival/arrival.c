#include "loadgen/arrival/arrival.h"

#include <math.h>

#include "common/err.h"
#include "common/settings.h"
#include "loadgen/arrival/arrival_impl.h"

static const struct arrival_ops *const processes[] = {
    [ARRIVAL_POISSON] = &arrival_poisson,
    [ARRIVAL_CONSTANT] = &arrival_constant,
};

_Static_assert(sizeof(processes) / sizeof(processes[0]) == ARRIVAL_COUNT,
               "a process for each name in the settings");

const struct arrival_ops *arrival_of(enum arrival arrival)
{
    return processes[arrival];
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
