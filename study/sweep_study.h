/* sweep_study.h - what a sweep is to record: values, how often, in which order.
 * Pure. */
#ifndef STUDY_SWEEP_STUDY_H
#define STUDY_SWEEP_STUDY_H

#include <stdint.h>

struct err;
struct point_set;
struct sweep_settings;

/* Fill in key, unit and points; in random order by the seed, where that is
 * asked.  ERR_CONFIG, ERR_USAGE if nothing is to be varied. */
int sweep_plan(struct point_set *set, const struct sweep_settings *sweep,
               uint64_t seed, struct err *err);

#endif
