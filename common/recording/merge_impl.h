/* merge_impl.h - what merge.c and merge_manifest.c share. */
#ifndef COMMON_RECORDING_MERGE_IMPL_H
#define COMMON_RECORDING_MERGE_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/recording/manifest.h"
#include "common/spec/shard_id.h"

struct err;
struct json_t;
struct tgr_reader;

/* What the rows of a shard say. */
struct merge_count {
    int64_t rows;    /* requests */
    int64_t unsent;  /* of those */
    int64_t events;  /* that the rows say, less those that are there */
    int64_t damaged; /* bytes that could not be read */
};

/* A directory to merge: a shard, or shards that were merged before. */
struct merge_input {
    const char *dir; /* borrowed */
    struct manifest manifest;
    bool is_merged;
    int64_t start_at_ns;    /* the common start; 0: none; -1: not known */
    struct shard_id id;     /* of its first shard */
    struct json_t *entries; /* owned; an object for each shard, in order */

    /* The table that is being read, block by block. */
    struct tgr_reader *reader; /* NULL: it has none, or it is at its end */
    int64_t key;               /* of its block: the largest time so far */
    int64_t shard;             /* of its block */
    unsigned tag;              /* of its block, in the merged recording */
};

struct merge {
    struct merge_input *inputs; /* owned; in the order of their first shards */
    size_t n_inputs;
    int64_t of;
    struct shard_layout layout;               /* who sends which request */
    const struct json_t *entry[SHARD_ID_MAX]; /* by shard; NULL: missing */
    struct merge_count count[SHARD_ID_MAX];
    int64_t max_seq; /* of all rows; -1: there is none */
};

/* Read the manifest of input->dir. */
int merge_input_open(struct merge_input *input, const char *dir,
                     struct err *err);

/* Do all inputs belong to one run, each shard once?  Fills in m->of and
 * m->entry.  ERR_FORMAT. */
int merge_check(struct merge *m, struct err *err);

/* The manifest of the merged recording; the caller owns it. */
int merge_manifest(const struct merge *m, struct manifest *out,
                   struct err *err);

/* Did the shard have this table ("server", "meter"), which is not merged? */
bool merge_entry_has(const struct json_t *entry, const char *table);

/* Its workers; 0: missing. */
int64_t merge_entry_threads(const struct json_t *entry);

/* Requests that it has scheduled; 0: not known, or it is missing. */
int64_t merge_entry_scheduled(const struct json_t *entry);

/* Did the shard end by itself? */
bool merge_entry_has_end(const struct json_t *entry);

#endif
