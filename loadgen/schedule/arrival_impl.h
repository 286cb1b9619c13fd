/* arrival_impl.h - the built-in processes; for this folder only. */
#ifndef LOADGEN_SCHEDULE_ARRIVAL_IMPL_H
#define LOADGEN_SCHEDULE_ARRIVAL_IMPL_H

#include "loadgen/schedule/arrival.h"

extern const struct arrival_ops arrival_constant;
extern const struct arrival_ops arrival_gamma;
extern const struct arrival_ops arrival_poisson;

#endif
