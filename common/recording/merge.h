/* merge.h - one recording from the shards of a run.
 *
 * Blocks of rows are copied as they are, in the order in which they were
 * complete, so that memory does not grow with the recordings and a merged one
 * is like that of a run with many workers.  The result depends only on the set
 * of shards: the order of the directories does not matter, and merged
 * recordings can be merged again.
 *
 * The sequence numbers of shard i of n are i + k * n.  What a missing or a
 * killed shard should have sent is counted as scheduled, so that its requests
 * are missing in the recording. */
#ifndef COMMON_RECORDING_MERGE_H
#define COMMON_RECORDING_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/str.h"

struct err;

/* Shards without a common start (--start-at TIME) start within this time. */
#define MERGE_MAX_SKEW_NS INT64_C(1000000000)

enum merge_out {
    MERGE_NEW,     /* the directory must not exist, or be empty */
    MERGE_REPLACE, /* a recording that exists there is replaced */
    MERGE_INTO,    /* the caller has made it; a failure leaves it there */
};

struct merge_result {
    int64_t of;           /* shards of the run */
    int64_t n;            /* of those, merged */
    int64_t requests;     /* in the recording */
    struct strlist flaws; /* what is missing, was killed or is damaged */
};

/* Merge the recordings in `dirs` into `out`.  ERR_USAGE if it cannot be used
 * as `how` says; ERR_CONFIG for a directory that is not a recording
 * of a shard; ERR_FORMAT for shards that do not belong together or occur twice;
 * ERR_IO.  merge_result_fini() in any case. */
int merge_recordings(const struct strlist *dirs, const char *out,
                     enum merge_out how, struct merge_result *result,
                     struct err *err);
void merge_result_fini(struct merge_result *result);

#endif
