/* batching.h - batching policies: which waiting requests join the batch, and
 * when.
 *
 * A policy is a pure function.  The simulation calls it at the end of every
 * iteration, when a request arrives at an idle server, and at the time that the
 * policy asked for.
 */
#ifndef SERVER_STUB_SIM_BATCHING_H
#define SERVER_STUB_SIM_BATCHING_H

#include <stddef.h>
#include <stdint.h>

#define POLICY_MAX_PREFERRED 8

struct policy_settings {
    int64_t max_batch;
    int64_t max_delay_ns; /* how long a request may wait for others */
    int64_t preferred[POLICY_MAX_PREFERRED]; /* batch sizes, ascending */
    size_t n_preferred;
    int64_t max_running; /* continuous batching only */
};

struct policy_view {
    int64_t now_ns;
    int64_t waiting;
    int64_t oldest_ns; /* earliest arrival of the waiting requests, if any */
    int64_t running;   /* already in the batch */
};

struct policy_ops {
    const char *name;
    const char *help;

    /* Returns how many of the waiting requests join now.  If that is 0,
     * *again_ns may be set to the time of the next call should nothing else
     * happen; it is INT64_MAX on entry.  Required. */
    int64_t (*admit)(const struct policy_settings *s,
                     const struct policy_view *view, int64_t *again_ns);
};

/* The policy of that name (none, static, dynamic, continuous), or NULL. */
const struct policy_ops *policy_find(const char *name);

#endif
