/* sim.h - the simulated server: replicas, queues and batches in virtual time.
 *
 * Pure: no clock and no sockets.  What happens depends only on arrivals and
 * drawn demands.  Every event carries the time at which it is due, so a caller
 * that comes late delays nothing.
 */
#ifndef SERVER_STUB_SIM_SIM_H
#define SERVER_STUB_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server-stub/sim/batching.h"
#include "server-stub/sim/model.h"
#include "server-stub/sim/router.h"
#include "server-stub/sim/stalls.h"

struct sim;

#define SIM_MAX_REPLICAS 64
#define SIM_BATCH_SIZES  10 /* 1, 2, 3-4, 5-8, ... */

struct sim_settings {
    const struct model_ops *model;
    struct model_settings model_settings;
    const struct policy_ops *policy;
    struct policy_settings policy_settings;
    const struct router_ops *router; /* NULL: all replicas share one queue */
    size_t replicas;
    double speed[SIM_MAX_REPLICAS]; /* 0 means 1 */
    int64_t queue_max;              /* requests per queue; 0: no limit */
    bool by_priority;               /* else first come, first served */
    int64_t kv_tokens;              /* per replica; 0: no limit */
    struct stalls stalls;
    int64_t cold_jobs;    /* this many first jobs ... */
    double cold_factor;   /* ... take this many times as long; 0 means 1 */
    double drift_per_min; /* 0.1: 10 % slower each minute */
    uint64_t seed;
};

/* Called from sim_advance() and sim_arrive(), in the order of time.  A hook
 * must not call the simulation. */
struct sim_hooks {
    /* An output token is complete, or the whole answer of a model without
     * tokens.  Optional. */
    void (*token)(void *arg, struct job *job, int64_t at_ns);

    /* The job is complete and belongs to the caller again.  Required. */
    void (*finished)(void *arg, struct job *job);
};

/* arrived = served + refused + waiting + running. */
struct sim_counts {
    int64_t arrived;
    int64_t served;
    int64_t refused;
    int64_t waiting;
    int64_t running;
    int64_t kv_used;                      /* tokens in all replicas */
    int64_t tokens;                       /* output tokens in total */
    int64_t started;                      /* jobs that left the queue ... */
    int64_t queued_ns;                    /* ... the sum of their waits ... */
    int64_t prompt_tokens;                /* ... and of their prompts */
    int64_t batches;                      /* batches started */
    int64_t batched;                      /* jobs in them at the start */
    int64_t batch_sizes[SIM_BATCH_SIZES]; /* batches by size: 2^(i-1)+1..2^i */
    int64_t running_max;                  /* largest batch of one replica */
    int64_t kv_max;
};

enum sim_reply {
    SIM_TAKEN,
    SIM_FULL,      /* the queue is full */
    SIM_TOO_LARGE, /* exceeds the KV budget of an idle replica */
};

struct sim *sim_new(const struct sim_settings *settings,
                    const struct sim_hooks *hooks, void *arg);

/* Jobs that it still has are dropped.  Accepts NULL. */
void sim_free(struct sim *sim);

/* Give every job that it still has to `take`, in no particular order. */
void sim_drain(struct sim *sim, void (*take)(void *arg, struct job *job),
               void *arg);

/* Submit a job at its arrival time, which must not be before that of any
 * earlier call.  The caller still owns it, and may free it after `finished` or
 * a refusal. */
enum sim_reply sim_arrive(struct sim *sim, struct job *job);

/* Time of the next event, or INT64_MAX. */
int64_t sim_next_ns(const struct sim *sim);

/* Process everything that is due by `now_ns`. */
void sim_advance(struct sim *sim, int64_t now_ns);

struct sim_counts sim_counts(const struct sim *sim);

#endif
