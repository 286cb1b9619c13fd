/* client_log.h - what the client saw of itself and of its host: one pass over
 * client.tgr.  Pure but for client_read().
 *
 * Counters run from the start of the run, so that what happened in the window
 * is the difference between the first and the last look in it.  What nobody
 * wrote down, as in recordings of an older version, is not known, and says so.
 */
#ifndef ANALYZER_READ_CLIENT_LOG_H
#define ANALYZER_READ_CLIENT_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/tally/window.h"
#include "common/recording/schema.h"

/* A counter, at the first and the last look at it. */
struct counter {
    int64_t from_ns;
    int64_t from;
    int64_t to_ns;
    int64_t to;
    bool is_seen;
};

/* One worker. */
struct client_shard {
    bool is_seen;
    int64_t looks;        /* at itself, in the window */
    int64_t last_ns;      /* when it last looked at itself ... */
    int64_t scheduled;    /* ... and how many requests it had taken by then */
    struct counter taken; /* the rest in the window */
    struct counter cap_waits;
    struct counter cpu;
    struct counter spun;
    struct counter record_wait;
    struct counter cpu_wait;
    struct counter cpu_turns;
};

struct client {
    struct window window;
    int n_shards;
    struct client_shard shards[RECORDING_MAX_SHARDS];
    int64_t suspended_max_ns; /* in the whole run; TIME_ABSENT: not known */
    int64_t asleep_ns;        /* the system was suspended, in the whole run */

    /* Of the host, in the window. */
    struct counter ticks;
    struct counter steal;
    struct counter throttled;
    struct counter pressure;
};

/* n_shards as the settings have them; below 1 is 1. */
void client_init(struct client *c, struct window window, int64_t n_shards);
void client_add(struct client *c, unsigned shard,
                const struct observation *seen);

/* Every row of DIR/client.tgr; none if there is no such file. */
void client_read(struct client *c, const char *dir);

/* How many requests a worker had taken from the schedule, as far as is known;
 * and all of them. */
int64_t client_scheduled(const struct client *c, int shard);
int64_t client_scheduled_in_all(const struct client *c);

/* Up to when all of them are known to have been followed; 0: nothing is.  It is
 * the least of the workers' last looks.  After that a worker may have taken
 * requests that nobody wrote down, and a window that went on would lack them;
 * what the others did take later is in the counts, and their rows extend the
 * window. */
int64_t client_known_until_ns(const struct client *c);

/* Shares of one, in the window.  False: too little is known. */

/* Of the window's seconds, of how many there is a look of the worker that has
 * the fewest. */
bool client_observed(const struct client *c, double *share);

/* Of its time, that the busiest worker was on a CPU or waited for one, spinning
 * left out. */
bool client_busy(const struct client *c, double *share);

/* Of its time, that the worker most held up waited for the recorder. */
bool client_record_wait(const struct client *c, double *share);

/* Of its time, that the worker which waited most was ready to run and had no
 * CPU; and how often in a second it got one. */
bool client_cpu_wait(const struct client *c, double *share, double *turns_hz);

/* Of the requests, that the connection cap held back. */
bool client_held_back(const struct client *c, double *share);

/* Of the host's ticks, that the hypervisor took. */
bool client_stolen(const struct client *c, double *share);

/* Of the time, that our cgroup was throttled, summed over its CPUs; and that
 * some task waited for a CPU. */
bool client_throttled(const struct client *c, double *share);
bool client_pressed(const struct client *c, double *share);

#endif
