/* shard_id.h - which share of a run one machine sends: "2/8", the third of
 * eight shards.  The number and the count may come from the launcher's
 * environment: "auto", or "auto/8" if it knows only the number. */
#ifndef COMMON_SPEC_SHARD_ID_H
#define COMMON_SPEC_SHARD_ID_H

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

/* "2/8".  Returns `out`. */
const char *shard_id_print(struct shard_id id, char out[static SHARD_ID_TEXT]);

#endif
