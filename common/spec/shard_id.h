/* shard_id.h - which share of a run one machine sends: "2/8", the third of
 * eight shards.  The number and the count may come from the launcher's
 * environment: "auto", or "auto/8" if it knows only the number. */
#ifndef COMMON_SPEC_SHARD_ID_H
#define COMMON_SPEC_SHARD_ID_H

#include <stdbool.h>
#include <stdint.h>

struct err;

#define SHARD_ID_MAX  1024 /* shards of a run */
#define SHARD_ID_TEXT 32

struct shard_id {
    int64_t index; /* from 0 */
    int64_t count; /* 1: the whole run */
};

/* NULL is the whole run.  "auto" reads OMPI_COMM_WORLD_RANK and _SIZE,
 * PMIX_RANK, SLURM_PROCID and SLURM_NTASKS, or JOB_COMPLETION_INDEX; the first
 * that is set counts.  ERR_CONFIG. */
int shard_id_parse(const char *text, struct shard_id *out, struct err *err);

/* The same for a text that was parsed before. */
struct shard_id shard_id_of(const char *text);

/* Is it a shard id?  The environment is not read.  For an option table. */
int shard_id_check(const char *text, struct err *err);

/* ---- who sends which request ----
 *
 * Without a probe shard, shard i of n sends the requests i + k * n.  With one,
 * the last shard sends only one request in `probe_every`, and the others take
 * turns for the rest. */

struct shard_layout {
    int64_t count;
    int64_t probe_every; /* 0: no probe shard */
};

static inline bool shard_is_probe(struct shard_layout l, int64_t shard)
{
    return l.probe_every > 0 && shard == l.count - 1;
}

/* Shards that take turns with this one. */
static inline int64_t shard_peers(struct shard_layout l, int64_t shard)
{
    return l.probe_every == 0         ? l.count
           : shard_is_probe(l, shard) ? 1
                                      : l.count - 1;
}

/* The sequence number of request `turn` of those that a shard and its peers
 * send: the probe shard has the last of each group of probe_every. */
static inline int64_t shard_turn_seq(struct shard_layout l, int64_t shard,
                                     int64_t turn)
{
    if (l.probe_every == 0)
        return turn;
    return shard_is_probe(l, shard) ? (turn + 1) * l.probe_every - 1
                                    : turn + turn / (l.probe_every - 1);
}

/* Which of n shards sends a request. */
int64_t shard_of_seq(struct shard_layout l, int64_t seq);

/* The place of a request among those of its shard, and the reverse. */
int64_t shard_place(struct shard_layout l, int64_t seq);
int64_t shard_seq(struct shard_layout l, int64_t shard, int64_t place);

/* How many of the first `total` requests a shard sends. */
int64_t shard_share(struct shard_layout l, int64_t shard, int64_t total);

/* "2/8".  Returns `out`. */
const char *shard_id_print(struct shard_id id, char out[static SHARD_ID_TEXT]);

#endif
