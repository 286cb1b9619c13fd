/* load_shape.h - shapes of load that have a name, as people write them:
 *
 *   ramp 10/s 100/s over 5m hold 10m     up, or down, and then stay
 *   step 10/s 100/s by 10/s every 30s    stairs
 *   spike 50/s 500/s at 1m for 10s of 3m
 *   bursts 50/s 500/s every 1m for 5s of 10m
 *   soak 50/s for 8h ramp 5m             up from nothing, and then stay
 *
 * Each becomes stages (common/spec/load_stage.h).  Pure.
 */
#ifndef COMMON_SPEC_LOAD_SHAPE_H
#define COMMON_SPEC_LOAD_SHAPE_H

struct err;
struct strlist;

/* Add the stages that the text comes to.  ERR_CONFIG. */
int load_shape_expand(const char *text, struct strlist *stages,
                      struct err *err);

/* For an option table. */
int load_shape_check(const char *text, struct err *err);

#endif
