/* mm1.h - an M/M/1 queue in virtual time, of which theory knows everything: the
 * time in the system is exponential with mean 1 / (mu - lambda).
 *
 * It begins in the steady state, so there is no warm-up to be rid of, and any
 * first part of a trial is a trial of its own.  Where there is no steady state
 * it begins empty.
 */
#ifndef TESTS_SUPPORT_MM1_H
#define TESTS_SUPPORT_MM1_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/rng.h"

struct mm1 {
    double gap;     /* mean between arrivals */
    double service; /* mean; below the gap, or there is no steady state */
    double wait;    /* of the next request */
    double now;     /* when it comes */
    struct rng arrivals;
    struct rng services;
};

struct mm1 mm1_start(uint64_t seed, double gap, double service);

/* The time in the system of the next request, and when it came (Lindley's
 * recursion). */
double mm1_next(struct mm1 *q, double *due);

/* The times of the next n. */
void mm1_draw(struct mm1 *q, double *times, size_t n);

/* What is true of it. */
double mm1_mean(const struct mm1 *q);
double mm1_quantile(const struct mm1 *q, double p);

#endif
