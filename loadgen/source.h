/* source.h - which request is due next, and when.
 *
 * The open loop draws due times from an arrival process and never learns how
 * the server is doing.  The closed loop has N clients: the next request of a
 * client is due when its last one ended.
 */
#ifndef LOADGEN_SOURCE_H
#define LOADGEN_SOURCE_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct load_settings;

/* No request is due at any time that is known now. */
#define DUE_UNKNOWN INT64_MAX

struct due {
    int64_t seq;   /* from 0, in order */
    int64_t at_ns; /* after the start of the run; never decreasing */
};

/* The caller allocates state_size zeroed bytes and hands them to every call as
 * `self`; calls come from one thread and must not block. */
struct source_ops {
    const char *name;
    size_t state_size;

    /* Required. */
    int (*init)(void *self, const struct load_settings *load, struct err *err);

    /* When the next request is due; DUE_UNKNOWN if none is.  Required. */
    int64_t (*peek_ns)(void *self);

    /* Take it.  Only after a peek that was not DUE_UNKNOWN.  Required. */
    struct due (*take)(void *self);

    /* A request that was taken is over.  Optional. */
    void (*ended)(void *self, int64_t end_ns);

    /* Every request due before this has been given out, once peek_ns() has
     * said DUE_UNKNOWN and none is in flight.  Required. */
    int64_t (*due_end_ns)(void *self);

    /* Release what init took; safe after an init that failed.  Optional. */
    void (*fini)(void *self);
};

extern const struct source_ops source_open;
extern const struct source_ops source_closed;

/* The one that fits the scenario. */
const struct source_ops *source_for(const struct load_settings *load);

#endif
