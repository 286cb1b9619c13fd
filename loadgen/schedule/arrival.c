#include "loadgen/schedule/arrival.h"

#include "loadgen/schedule/arrival_impl.h"

static const struct arrival_ops *const processes[] = {
    [ARRIVAL_POISSON] = &arrival_poisson,
    [ARRIVAL_CONSTANT] = &arrival_constant,
    [ARRIVAL_GAMMA] = &arrival_gamma,
};

_Static_assert(sizeof(processes) / sizeof(processes[0]) == ARRIVAL_COUNT,
               "a process for each name in the settings");

const struct arrival_ops *arrival_of(enum arrival arrival)
{
    return processes[arrival];
}
