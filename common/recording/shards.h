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
    int64_t start_ns;       /* when it really began, since 1970, by its own
                               clock; 0: unknown */
    int64_t clock_error_ns; /* upper bound by its kernel; 0: unknown */
    bool is_synchronised;   /* something keeps its clock right */

    /* Its clock minus that of the launcher, which asked for the time, and an
     * upper bound of the error, above 0; 0: it did not ask. */
    int64_t clock_offset_ns;
    int64_t offset_error_ns;
    bool is_corrected; /* it started by that clock, not by its own ... */
    double drift_ppm;  /* ... which was faster by this */
};

/* A run on one machine: of 1, and empty. */
struct shard_list {
    int64_t of;               /* shards of the run */
    int64_t start_at_ns;      /* the common start since 1970; 0: there is none,
                                 or it is not known */
    bool is_merged;           /* else it is one shard alone */
    struct shard_info *items; /* owned; those that are there, by index */
    size_t len;
};

void shard_list_read(struct shard_list *list, const struct manifest *m);
void shard_list_fini(struct shard_list *list);

#endif
