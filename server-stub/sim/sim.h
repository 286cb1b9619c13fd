/* sim.h - the simulated server: replicas, queues and batches in virtual time.
 *
 * Pure: it knows no clock and no socket.  What happens follows from arrivals
 * and drawn demands alone, so that a late caller delays nothing: events have
 * the time at which they were to happen.
 */
#ifndef SERVER_STUB_SIM_SIM_H
#define SERVER_STUB_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server-stub/sim/batching_policy.h"
#include "server-stub/sim/model.h"
#include "server-stub/sim/router.h"
#include "server-stub/sim/stalls.h"

struct job;
struct sim;

#define SIM_MAX_REPLICAS 64
#define SIM_BATCH_SIZES  10 /* 1, 2, 3-4, 5-8, ... */

struct sim_settings {
    const struct model_ops *model;
    struct model_settings model_settings;
    const struct policy_ops *policy;
    struct policy_settings policy_settings;
    const struct router_ops *router; /* NULL: one queue for all replicas */
    size_t replicas;
    double speed[SIM_MAX_REPLICAS]; /* 0: 1 */
    int64_t queue_max;              /* waiting, a queue; 0: no bound */
    bool by_priority;               /* else first come, first served */
    int64_t kv_tokens;              /* a replica; 0: no bound */
    struct stalls stalls;
    int64_t cold_jobs;    /* the first so many ... */
    double cold_factor;   /* ... take so many times as long; 0: 1 */
    double drift_per_min; /* 0.1: 10 % slower each minute */
    uint64_t seed;
};

/* Called from sim_advance() and sim_arrive(), in order of time.  A hook may
 * not call the simulation. */
struct sim_hooks {
    /* An output token is there; of a plain model: the whole answer.  Optional.
     */
    void (*token)(void *arg, struct job *job, int64_t at_ns);

    /* It is done and not the simulation's any more.  Required. */
    void (*finished)(void *arg, struct job *job);
};

/* arrived = served + refused + waiting + running. */
struct sim_counts {
    int64_t arrived;
    int64_t served;
    int64_t refused;
    int64_t waiting;
    int64_t running;
    int64_t kv_used;                      /* tokens, of all replicas */
    int64_t tokens;                       /* made in all */
    int64_t started;                      /* left the queue in all ... */
    int64_t queued_ns;                    /* ... after so long in it, summed */
    int64_t prompt_tokens;                /* theirs */
    int64_t batches;                      /* begun in all */
    int64_t batched;                      /* jobs in them, as they began */
    int64_t batch_sizes[SIM_BATCH_SIZES]; /* of them, by size: 2^(i-1)+1..2^i */
    int64_t running_max;                  /* most at once in one replica */
    int64_t kv_max;
};

enum sim_reply {
    SIM_TAKEN,
    SIM_FULL,      /* the queue is */
    SIM_TOO_LARGE, /* more than the KV budget of an idle replica */
};

struct sim *sim_new(const struct sim_settings *settings,
                    const struct sim_hooks *hooks, void *arg);

/* Jobs that it still has are forgotten.  Accepts NULL. */
void sim_free(struct sim *sim);

/* Hand every job that it still has to `take`, in no particular order, and
 * forget it. */
void sim_drain(struct sim *sim, void (*take)(void *arg, struct job *job),
               void *arg);

/* Hand in a job at its arrival, which is not before any earlier call's time.
 * It stays the caller's to free, after `finished` or a refusal. */
enum sim_reply sim_arrive(struct sim *sim, struct job *job);

/* When something happens next; INT64_MAX if nothing does. */
int64_t sim_next_ns(const struct sim *sim);

/* Let everything happen that is due by `now_ns`. */
void sim_advance(struct sim *sim, int64_t now_ns);

struct sim_counts sim_counts(const struct sim *sim);

#endif
