/* shard_plan.h - all that a process on another machine needs to know to send a
 * shard of a run: a file that holds the resolved settings, the number of shards
 * and the common start.  `tailgate shard` reads it.
 *
 * The file may hold secrets (headers, URLs), so only its owner can read it, and
 * it is removed after the launch. */
#ifndef STUDY_SHARD_PLAN_H
#define STUDY_SHARD_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/str.h"
#include "common/settings/settings.h"
#include "common/spec/shard_id.h"

struct err;
struct run_options;
struct run_plan;

struct shard_plan {
    struct settings settings; /* resolved; must not be moved */
    int64_t shards;
    int64_t start_at_ns; /* since 1970 */
    int64_t wait_ready_ns;
    int server_port;     /* as in struct run_plan */
    bool warns;          /* the first shard prints warnings about the run */
    struct strlist argv; /* these as in struct run_options */
    char *settings_file;
    char *settings_sha256;
    char *memory_of;
};

/* Write the plan of n shards to `path`.  ERR_IO. */
int shard_plan_write(const char *path, const struct run_plan *plan,
                     const struct run_options *options, int64_t n,
                     int64_t start_at_ns, struct err *err);

/* Read it; "-" is standard input, which need not end after it.  ERR_CONFIG if
 * there is none, ERR_FORMAT if it is damaged or of another version of tailgate.
 * shard_plan_fini() in any case. */
int shard_plan_read(struct shard_plan *p, const char *path, struct err *err);
void shard_plan_fini(struct shard_plan *p);

/* Send one shard and record it in `out`, as a directory with its number as the
 * name.  The rest of `how` is as for run_load(), which may fail; its errors
 * name the shard and this host. */
int shard_run(struct shard_plan *p, struct shard_id id, const char *out,
              const struct run_options *how, struct err *err);

#endif
