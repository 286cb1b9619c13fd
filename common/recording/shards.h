/* shards.h - the machines of which a manifest tells: those whose recordings
 * were merged, or the one that sent a share of a run. */
#ifndef COMMON_RECORDING_SHARDS_H
#define COMMON_RECORDING_SHARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct manifest;

#define SHARD_HOST_TEXT 64

struct shard_info {
    int64_t index;
    int64_t threads;
    char host[SHARD_HOST_TEXT]; /* "": unknown */
    bool was_killed;
    int64_t damaged;        /* bytes that could not be merged */
    int64_t start_ns;       /* since 1970, by its own clock; 0: unknown */
    int64_t clock_error_ns; /* upper bound by its kernel; 0: unknown */
    bool is_synchronised;   /* something keeps its clock right */
};

/* A run on one machine: of 1, and empty. */
struct shard_list {
    int64_t of;               /* shards of the run */
    bool is_merged;           /* else it is one shard alone */
    struct shard_info *items; /* owned; those that are there, by index */
    size_t len;
};

void shard_list_read(struct shard_list *list, const struct manifest *m);
void shard_list_fini(struct shard_list *list);

#endif
