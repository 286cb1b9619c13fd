/* batching_policy.h - which of the waiting requests join the batch, and when.
 *
 * A policy is a pure function of what it sees; the simulation asks it whenever
 * the server has come to the end of an iteration, a request has arrived at an
 * idle server, or the time has come at which the policy wanted to be asked
 * again.
 */
#ifndef SERVER_STUB_SIM_BATCHING_POLICY_H
#define SERVER_STUB_SIM_BATCHING_POLICY_H

#include <stddef.h>
#include <stdint.h>

struct err;

#define POLICY_MAX_PREFERRED 8

struct policy_settings {
    int64_t max_batch;
    int64_t max_delay_ns; /* longest that a request waits for company */
    int64_t preferred[POLICY_MAX_PREFERRED]; /* sizes, rising */
    size_t n_preferred;
    int64_t max_running; /* of continuous batching */
};

struct policy_view {
    int64_t now_ns;
    int64_t waiting;
    int64_t oldest_ns; /* arrival of the one that waits longest, if any does */
    int64_t running;   /* in the batch already */
};

struct policy_ops {
    const char *name;
    const char *help;

    /* How many of the waiting join now, at most all.  If 0, *again_ns is when
     * to ask again if nothing else happens; it is INT64_MAX on entry.
     * Required. */
    int64_t (*admit)(const struct policy_settings *s,
                     const struct policy_view *view, int64_t *again_ns);
};

extern const struct policy_ops policy_none;
extern const struct policy_ops policy_static;
extern const struct policy_ops policy_dynamic;
extern const struct policy_ops policy_continuous;

/* NULL if there is none of that name. */
const struct policy_ops *policy_find(const char *name);

#endif
