/* meter.h - reads the server's memory and the energy used during a run.
 *
 * A thread of its own reads them five times a second and writes meter.tgr.  It
 * takes CPU time from what is measured: measure latencies in a run without it.
 */
#ifndef LOADGEN_OBSERVE_METER_H
#define LOADGEN_OBSERVE_METER_H

#include <stdint.h>

struct err;
struct meter;
struct settings;

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

#endif
