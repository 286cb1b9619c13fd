/* simprobe.h - the probes of a search on simulated servers, in virtual time.
 *
 * Servers begin empty, as one that has drained does; what that does to a probe
 * is for its warm-up to take away.  The objective has one term on e2e.
 */
#ifndef TESTS_SUPPORT_SIMPROBE_H
#define TESTS_SUPPORT_SIMPROBE_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/search/search.h"
#include "common/base/rng.h"

#define SIMQUEUE_BATCH 64 /* largest batch */

enum simserver_kind {
    SIM_MM1,      /* exponential service, one at a time */
    SIM_MD1,      /* constant service */
    SIM_BATCHING, /* a batch when it is full, or its oldest has waited enough */
    SIM_CLIFF,    /* nothing misses up to its capacity, and beyond it all;
                     requests come evenly */
};

struct simserver {
    enum simserver_kind kind;
    double service_s; /* mean; of a batch the part that is always there */
    double each_s;    /* of a batch, for each request in it */
    double delay_s;   /* that the oldest waits for others */
    size_t batch;     /* at most; at most SIMQUEUE_BATCH */
    double limit_s;   /* a request that takes as long misses */
    double capacity;  /* of a cliff */
    double flapping;  /* chance that all of a probe misses */
    double client;    /* what the client can do; 0: anything */
};

/* Requests that come at random to such a server. */
struct simqueue {
    const struct simserver *server; /* borrowed */
    double rate_rps;
    struct rng arrivals;
    struct rng services;
    double now;     /* of the next arrival that is drawn */
    double free_at; /* when the server is done with what it has taken */

    /* Of a batching server: arrivals that were drawn, and of those at the front
     * that are in the batch being told, the end. */
    double due[SIMQUEUE_BATCH];
    size_t drawn;
    size_t told;
    size_t in_batch;
};

struct simqueue simqueue_start(const struct simserver *server, double rate_rps,
                               uint64_t seed);

/* When the next request came, and how long it took. */
double simqueue_next(struct simqueue *q, double *due);

/* A run as asked for, which ends when it is hopeless; or a look, of as many
 * answers as are enough. */
void simprobe_run(const struct simserver *server, const struct search *s,
                  const struct search_ask *ask, uint64_t seed,
                  struct search_result *result);

/* The share of misses in a number of seconds, of which the first tenth is
 * warm-up; adds all requests. */
double simprobe_share(const struct simserver *server, double rate_rps,
                      double seconds, uint64_t seed, int64_t *requests);

/* Where that is `allowed`, by bisection of one long run with the same numbers
 * drawn at each rate, between two rates. */
double simprobe_scan(const struct simserver *server, double allowed, double low,
                     double high, double seconds);

#endif
