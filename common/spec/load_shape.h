/* load_shape.h - a rate that changes over time.
 *
 * A stage is a part of the load, "50/s 30s", or "10/s..100/s 1m" for a rate
 * that changes linearly.  A shape has a name and becomes several stages:
 *
 *   ramp 10/s 100/s over 5m hold 10m     up, or down, and then constant
 *   step 10/s 100/s by 10/s every 30s    stairs
 *   spike 50/s 500/s at 1m for 10s of 3m
 *   bursts 50/s 500/s every 1m for 5s of 10m
 *   soak 50/s for 8h ramp 5m             up from 0, and then constant
 *
 * A rate table is a file of rates, such as those of a day; it becomes stages,
 * too:
 *
 *   # time,rate
 *   0:00,12
 *   6:30,40/s
 *   24:00,12
 *
 * Times are clock times (H:MM, H:MM:SS), durations (90m) or seconds.  The load
 * begins at the first row and ends at the last.  The rate changes linearly from
 * row to row; two rows with the same time are a step.
 */
#ifndef COMMON_SPEC_LOAD_SHAPE_H
#define COMMON_SPEC_LOAD_SHAPE_H

#include <stddef.h>
#include <stdint.h>

#include "common/text/units.h"

struct err;
struct strlist;

struct load_stage {
    double from_rps;
    double to_rps; /* the same for a constant rate */
    int64_t length_ns;
};

/* ERR_CONFIG. */
int load_stage_parse(const char *text, struct load_stage *stage,
                     struct err *err);

/* Add the stages of a shape.  ERR_CONFIG. */
int load_shape_expand(const char *text, struct strlist *stages,
                      struct err *err);

#define RATETABLE_MAX ((size_t)8 << 20) /* bytes of its file */

/* Add the stages of a rate table, `speed` times as fast; the rates stay the
 * same.  The text is changed; `name` is that of the file.  ERR_CONFIG
 * "file:line: ...". */
int ratetable_parse(const char *name, char *text, double speed,
                    struct strlist *stages, struct err *err);

/* For an option table. */
int load_stage_check(const char *text, struct err *err);
int load_shape_check(const char *text, struct err *err);

#endif
