/* meter_counters.h - counters of a Prometheus page that only grow, and what
 * they have grown by since they were seen last.  Pure. */
#ifndef LOADGEN_OBSERVE_METER_COUNTERS_H
#define LOADGEN_OBSERVE_METER_COUNTERS_H

#include <stddef.h>

struct prom_sample;

/* What comes behind so many is not counted. */
#define COUNTERS_MAX 4096

/* Of one series, told apart by their labels.  Zeroed to begin with. */
struct counters {
    struct counter *list; /* owned */
    size_t n;
    size_t next; /* pages mostly have them in one order */
};

/* One that fell has started anew, from 0; one that is new has not been seen to
 * grow; one that is missing from a page goes on where it was. */
double counters_grown(struct counters *c, const struct prom_sample *sample);
void counters_fini(struct counters *c);

#endif
