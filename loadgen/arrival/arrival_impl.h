/* arrival_impl.h - the built-in processes; for this folder only. */
#ifndef LOADGEN_ARRIVAL_ARRIVAL_IMPL_H
#define LOADGEN_ARRIVAL_ARRIVAL_IMPL_H

#include "loadgen/arrival/arrival.h"

extern const struct arrival_ops arrival_constant;
extern const struct arrival_ops arrival_gamma;
extern const struct arrival_ops arrival_poisson;

#endif
