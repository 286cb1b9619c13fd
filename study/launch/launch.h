/* launch.h - one recording by several processes, on this or on other machines:
 * a launcher (study/launch/launchers.h) starts them, each sends a shard of the
 * run, and their recordings are merged. */
#ifndef STUDY_LAUNCH_H
#define STUDY_LAUNCH_H

#include <stdint.h>

struct err;
struct launcher;
struct run_options;
struct run_plan;
struct settings;

/* run_load() by the launcher; options->judge, options->watch and
 * options->progress are used with resident processes only.  The shards are
 * recorded in DIR.shards, which is removed at the end, unless they could not be
 * merged.  A launch that fails, takes too long or leaves less than all shards
 * is repeated once; a shard that a signal ended is not complete, unless we were
 * interrupted.  If it fails again, what is there is merged: its missing
 * requests count as unfinished, and the run is invalid.  1: nothing is there,
 * and err says why; 0; -1: ERR_USAGE for a directory that is in use, ERR_IO,
 * ERR_STOPPED. */
int launch_record(struct run_plan *plan, const struct run_options *options,
                  const struct launcher *launcher, struct err *err);

/* The longest time from the launch to its end: the time to the start, that of
 * the run, and LAUNCH_SPARE_NS.  A run whose length is not known has a day. */
int64_t launch_limit_ns(const struct settings *s, int64_t lead_ns,
                        int64_t wait_ready_ns);

#define LAUNCH_SPARE_NS INT64_C(60000000000)

#endif
