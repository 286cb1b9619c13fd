/* madeserver.h - servers made up for a search: a share of misses as a function
 * of the load, with whatever goes wrong.  Nothing is queued, so that millions
 * of requests a second cost no more than two. */
#ifndef TESTS_SUPPORT_MADESERVER_H
#define TESTS_SUPPORT_MADESERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/search/search.h"
#include "common/base/rng.h"

#define MADE_TERMS 2

struct madeserver {
    double capacity[MADE_TERMS]; /* of each term */
    double slope;                /* of the share over the load; 0: a cliff */
    double least;       /* share of misses at any load, of what is allowed */
    double scatter;     /* between probes: deviation of the share's logarithm */
    double flapping;    /* chance that a probe misses all, at any load */
    double client;      /* what the client can do; 0: anything; ... */
    double client_long; /* ... and hold beyond 10 s; 0: the same */
    double client_blur; /* above 0: the odds of failing at it are 1, and grow
                           with this power of the load */
    double client_wander; /* above 0: it wanders about that, the deviation of
                             its logarithm, and is another after a minute */
    const char *client_aside; /* the check by which runs above it are set aside;
                                 NULL: lag */
    double disturbed; /* chance that a run of 5 s is set aside, and then misses
                         whatever comes */
    double disturbed_busy;  /* share of those in which the client seems busy */
    size_t disturbed_for;   /* runs that a disturbance lasts; 0: as drawn */
    bool drowns;            /* beyond its capacity nothing is answered */
    double answer_s;        /* time in flight; 0: 10 ms */
    double worse;           /* capacity of the first term from ... */
    size_t worse_from;      /* ... this run on; 0: never */
    double extra_s;         /* drain and settling after each run */
    double max_value;       /* out: the highest value that was asked for */
    size_t runs;            /* out */
    size_t disturbed_until; /* a run */
    double wandered;        /* in deviations; 0 at first */
    struct rng rng;
};

/* Of one term, with nothing that goes wrong. */
struct madeserver madeserver_of(double capacity, double slope, uint64_t seed);

/* The objective: 'e2e p99 < 50ms', and with two terms 'errors < 0.1%'. */
struct slo madeserver_slo(size_t terms);

/* One run. */
void madeserver_run(struct madeserver *m, const struct search *s,
                    const struct search_ask *ask, struct search_result *r);

/* What a search asks for next. */
struct search_ask madeserver_next(const struct search *s);

/* Run that, and feed what comes of it, set aside by this check unless NULL. */
void madeserver_feed(struct search *s, struct madeserver *m, const char *aside);

/* The whole search, of at most 120 runs; s is to be freed. */
void madeserver_search(struct madeserver *m, const struct search_config *config,
                       struct search *s, struct search_answer *a);

/* Its answer; without an slo one of one term. */
void madeserver_answer(struct madeserver *m, struct search_config config,
                       struct search_answer *a);

#endif
