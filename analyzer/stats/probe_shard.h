/* probe_shard.h - do the clients queue?  A shard that sends few requests
 * measures what the server does; shards that send many also measure what
 * happens in themselves.  All requests belong to one schedule, so that both see
 * the same server, and latencies differ beyond chance only if the clients do.
 * Pure. */
#ifndef ANALYZER_STATS_PROBE_SHARD_H
#define ANALYZER_STATS_PROBE_SHARD_H

#include <stdbool.h>
#include <stdint.h>

struct hist;

struct probe_shard {
    bool is_known;        /* there were enough requests of both */
    double excess;        /* by how much the latencies of the others are longer,
                             at the quantile where that is most, as a share of
                             the probe's; 0: not significantly, or harmless */
    bool is_probe_slower; /* then it is the other way round */
    double quantile;      /* 0.5, 0.9 or 0.99 */
    int64_t probe_ns;     /* its value for the probe shard, ... */
    int64_t rest_ns;      /* ... and for the others */
};

/* Latencies of the probe shard and of the others. */
struct probe_shard probe_shard_compare(const struct hist *probe,
                                       const struct hist *rest);

#endif
