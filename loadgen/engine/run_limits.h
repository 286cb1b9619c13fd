/* run_limits.h - what "auto" becomes when a run starts, and whether this
 * machine can do what was asked.  Pure. */
#ifndef LOADGEN_ENGINE_RUN_LIMITS_H
#define LOADGEN_ENGINE_RUN_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct load_settings;
struct settings;

#define PLAN_MAX_IN_FLIGHT 32768 /* unless told otherwise */
#define PLAN_MAX_RPS       1e7

/* What the machine has. */
struct machine {
    int64_t cores;
    int64_t files;  /* that this process may have open */
    int64_t memory; /* bytes that it may use */
};

/* Replace OPT_AUTO in client.threads, client.max_in_flight and client.memory.
 * ERR_CONFIG for
 * what contradicts itself, ERR_IO with the number for what the limit of open
 * files does not allow. */
int plan_client(struct settings *s, struct machine machine, struct err *err);

/* Requests that one arrival comes to on average: turns of a session.  1 where
 * only the data set knows. */
double plan_turns(const struct load_settings *load);

/* The highest rate of requests that the schedule comes to. */
double plan_peak_rps(const struct load_settings *load);

/* May the kernel be asked of every answer when it received it?  At rates where
 * that costs nothing that matters. */
bool plan_stamps_all(const struct load_settings *load);

/* For how short a wait it is cheaper to poll than to sleep.  With one core the
 * server may need it. */
int64_t plan_short_wait_ns(struct machine machine);

#endif
