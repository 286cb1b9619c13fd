/* meter.h - reads the server's memory and the energy used during a run.
 *
 * A thread of its own reads them five times a second and writes meter.tgr.  It
 * takes CPU time from what is measured: measure latencies in a run without it.
 */
#ifndef LOADGEN_OBSERVE_METER_H
#define LOADGEN_OBSERVE_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct meter;
struct prom_sample;
struct settings;
struct target_settings;

/* *meter is NULL if the settings name nothing, or energy "auto" finds nothing.
 * The settings are borrowed; `memory_of`, unless NULL, replaces theirs.
 * ERR_CONFIG, ERR_IO. */
int meter_new(struct meter **meter, const struct settings *s,
              const char *memory_of, struct err *err);

/* Write DIR/meter.tgr from start_ns of the monotonic clock on.  ERR_IO. */
int meter_start(struct meter *meter, const char *dir, int64_t start_ns,
                struct err *err);

/* Read once more, end the thread and close the file.  Accepts NULL, and may be
 * called twice. */
void meter_stop(struct meter *meter);

/* Stops it first.  Accepts NULL. */
void meter_free(struct meter *meter);

/* ---- sources: a server's memory, or energy that was used ----
 *
 * A source is read by one thread, a few times a second; a read may block for
 * less than that.
 */

/* What a source is given; borrowed while it is open. */
struct meter_place {
    const char *root; /* of /proc and /sys; "" except in tests */
    const char *arg;  /* what follows the name in the setting; may be "" */
    const struct target_settings *target; /* for sources read over HTTP */
};

struct meter_ops {
    const char *name; /* the first word of the setting */
    bool is_memory;   /* bytes; else microjoules since some start */
    size_t state_size;

    /* State is zeroed.  ERR_CONFIG for a bad argument, ERR_IO if it is not
     * available here. */
    int (*open)(void *self, const struct meter_place *place, struct err *err);

    /* TIME_ABSENT: not available this time. */
    int64_t (*read)(void *self, int64_t now_ns);

    /* Safe after an open that failed. */
    void (*close)(void *self);
};

extern const struct meter_ops meter_pid;
extern const struct meter_ops meter_group;
extern const struct meter_ops meter_cgroup;
extern const struct meter_ops meter_rapl;
extern const struct meter_ops meter_nvml;
extern const struct meter_ops meter_series;

/* Find a memory or energy source by the first word of a setting; ERR_CONFIG.
 * *arg is what follows, within `text`. */
const struct meter_ops *meter_find(const char *text, bool is_memory,
                                   const char **arg, struct err *err);

/* Samples of a series beyond this many are not counted. */
#define COUNTERS_MAX 4096

/* Counters of one series, told apart by their labels.  Zeroed to begin with. */
struct counters {
    struct counter *list; /* owned */
    size_t n;
    size_t next; /* pages usually list them in the same order */
};

/* By how much the counter has grown since it was last seen.  A counter that
 * fell has restarted from 0; a new one has not grown yet; one that is missing
 * from a page keeps its last value. */
double counters_grown(struct counters *c, const struct prom_sample *sample);
void counters_fini(struct counters *c);

#endif
