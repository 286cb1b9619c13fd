/* client_log.h - what the client observed of itself and its host: one pass over
 * client.tgr.  Only client_read() does I/O.
 *
 * Counters run from the start of the run, so the window is the difference
 * between its first and last observation.  What was not recorded, as in
 * recordings of an older version, is unknown.
 */
#ifndef ANALYZER_READ_CLIENT_LOG_H
#define ANALYZER_READ_CLIENT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/tally/window.h"
#include "common/recording/schema.h"

/* A counter at its first and last observation. */
struct counter {
    int64_t from_ns;
    int64_t from;
    int64_t to_ns;
    int64_t to;
    bool is_seen;
};

/* One worker; counters are in the window. */
struct client_shard {
    bool is_absent; /* there is no such worker */
    bool is_seen;
    int64_t observations; /* in the window */
    int64_t last_ns;      /* time of the last one of the run */
    int64_t scheduled;    /* requests taken from the schedule by then */
    struct counter taken;
    struct counter cap_waits;
    struct counter cpu;
    struct counter spun;
    struct counter record_wait;
    struct counter cpu_wait;
    struct counter cpu_turns;
};

/* One machine; counters are in the window. */
struct client_host {
    bool is_seen;
    int64_t suspended_max_ns; /* in the whole run; TIME_ABSENT: unknown */
    int64_t asleep_ns;        /* the system was suspended, in the whole run */
    struct counter ticks;
    struct counter steal;
    struct counter throttled;
    struct counter pressure;
};

/* Worker i is on machine i % n_hosts. */
struct client {
    struct window window;
    int n_shards;
    struct client_shard shards[RECORDING_MAX_SHARDS];
    int n_hosts;
    struct client_host hosts[RECORDING_MAX_SHARDS];
    int only;      /* answers are about this machine alone; -1: about all */
    int64_t first; /* worker w of the file is worker first + n_hosts * w, ... */
    bool is_part;  /* ... if the file is of one machine of several */
};

/* n_shards as in the settings; below 1 is 1. */
void client_init(struct client *c, struct window window, int64_t n_shards);

/* After that, for a run on several machines; nothing happens for one. */
struct shard_list;
void client_set_machines(struct client *c, const struct shard_list *list);
void client_add(struct client *c, unsigned shard,
                const struct observation *seen);

/* Add every row of DIR/client.tgr; none if there is no such file. */
void client_read(struct client *c, const char *dir);

/* Requests that a worker, or all of them, took from the schedule. */
int64_t client_scheduled(const struct client *c, int shard);
int64_t client_scheduled_in_all(const struct client *c);

/* The earliest of the workers' last observations; 0: none.  Afterwards a worker
 * may have taken requests that were not recorded, so the window of a killed run
 * must not extend beyond it unless its rows do. */
int64_t client_known_until_ns(const struct client *c);

/* The longest time that a worker was suspended; TIME_ABSENT: unknown.  And that
 * the system of a machine was. */
int64_t client_suspended_max_ns(const struct client *c);
int64_t client_asleep_ns(const struct client *c);

/* ---- shares, 0 to 1, in the window; false: unknown ---- */

/* Observed seconds of the window, of the worker with the fewest. */
bool client_observed(const struct client *c, double *share);

/* Time that the busiest worker ran or waited for a CPU, without spinning. */
bool client_busy(const struct client *c, double *share);

/* Time that a worker waited for the recorder, the maximum of all workers. */
bool client_record_wait(const struct client *c, double *share);

/* Time that a worker was ready to run but had no CPU, the maximum of all
 * workers; and how often per second that worker got a CPU. */
bool client_cpu_wait(const struct client *c, double *share, double *turns_hz);

/* Requests that the connection cap delayed. */
bool client_held_back(const struct client *c, double *share);

/* Of several machines the largest share counts in each of the following. */

/* Ticks of the host that the hypervisor gave to other guests. */
bool client_stolen(const struct client *c, double *share);

/* Time that the client's cgroup was throttled, summed over its CPUs. */
bool client_throttled(const struct client *c, double *share);

/* Time that some task waited for a CPU. */
bool client_pressed(const struct client *c, double *share);

#endif
