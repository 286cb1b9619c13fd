/* meter_source.h - something that can be read beside a run: a server's memory,
 * or energy that was used up.
 *
 * A source is asked by one thread, a few times a second; a read may block for
 * less than that.
 */
#ifndef LOADGEN_OBSERVE_METER_SOURCE_H
#define LOADGEN_OBSERVE_METER_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct target_settings;

/* What a source is given; borrowed while it is open. */
struct meter_place {
    const char *root; /* of /proc and /sys: "" but in tests */
    const char *arg;  /* what stands behind its name; "" */
    const struct target_settings *target; /* for what is asked over HTTP */
};

struct meter_ops {
    const char *name; /* the first word of the setting */
    const char *help; /* the whole of it */
    bool is_memory;   /* bytes; else microjoules since some time */
    size_t state_size;

    /* State is zeroed.  ERR_CONFIG if it is not what it should be, ERR_IO if it
     * is not here. */
    int (*open)(void *self, const struct meter_place *place, struct err *err);

    /* TIME_ABSENT: it does not tell, this time. */
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

/* By the first word of a setting, of memory or of energy; ERR_CONFIG.  *arg is
 * what follows, within `text`. */
const struct meter_ops *meter_find(const char *text, bool is_memory,
                                   const char **arg, struct err *err);

#endif
