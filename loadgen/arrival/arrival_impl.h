/* arrival_impl.h - the built-in processes; for arrival.c only. */
#ifndef LOADGEN_ARRIVAL_ARRIVAL_IMPL_H
#define LOADGEN_ARRIVAL_ARRIVAL_IMPL_H

#include "loadgen/arrival/arrival.h"

extern const struct arrival_ops arrival_constant;
extern const struct arrival_ops arrival_poisson;

/* What every process with one mean rate needs: its mean gap. */
int arrival_mean_gap(double rate_rps, double *gap_ns, struct err *err);

#endif
