/* meter.h - the server's memory, and energy, read beside a run.
 *
 * A thread of its own reads what was asked for five times a second and writes
 * meter.tgr.  It takes CPU from what is measured: whoever wants times makes
 * another run without it.
 */
#ifndef LOADGEN_OBSERVE_METER_H
#define LOADGEN_OBSERVE_METER_H

#include <stdint.h>

struct err;
struct meter;
struct settings;

/* *meter is NULL if nothing is asked for, or energy "auto" finds nothing.  The
 * settings are borrowed; `memory_of`, unless NULL, stands for theirs.
 * ERR_CONFIG, ERR_IO. */
int meter_new(struct meter **meter, const struct settings *s,
              const char *memory_of, struct err *err);

/* Write DIR/meter.tgr from start_ns of the monotonic clock on.  ERR_IO. */
int meter_start(struct meter *meter, const char *dir, int64_t start_ns,
                struct err *err);

/* A last look; end the thread and close the file.  Accepts NULL, and may be
 * called twice. */
void meter_stop(struct meter *meter);

/* Stops as well.  Accepts NULL. */
void meter_free(struct meter *meter);

#endif
