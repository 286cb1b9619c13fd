/* launch.h - one recording by several processes of this machine: each sends a
 * shard of the run, and their recordings are merged.
 *
 * The processes are copies of this one, made before it has a thread, so that
 * they need no settings file.  They start together (run_options.start_at_ns).
 */
#ifndef STUDY_LAUNCH_H
#define STUDY_LAUNCH_H

#include <stdint.h>

struct err;
struct run_options;
struct run_plan;

#define LAUNCH_LOCAL "local:"

/* "local:4".  ERR_CONFIG. */
int launch_parse(const char *text, int64_t *n, struct err *err);

/* run_load() by n processes.  options->judge and options->progress are not
 * used.  If a process fails, all are started once more; ERR_IO if one fails
 * again.  The shards are recorded in DIR.shards, which is removed at the end.
 */
int launch_local(struct run_plan *plan, const struct run_options *options,
                 int64_t n, struct err *err);

#endif
