/* run_limits.h - the values of "auto" when a run starts, and whether this
 * machine can do what the settings ask for.  Pure. */
#ifndef LOADGEN_ENGINE_RUN_LIMITS_H
#define LOADGEN_ENGINE_RUN_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct load_settings;
struct settings;

#define PLAN_MAX_IN_FLIGHT 32768 /* default */
#define PLAN_MAX_RPS       1e7

/* What the machine has. */
struct machine {
    int64_t cores;
    int64_t files;  /* that this process may open */
    int64_t memory; /* bytes that it may use */
};

/* Replace OPT_AUTO in client.threads, client.max_in_flight and client.memory,
 * and "auto" in client.shard.  Limits are of all shards together; a shard has
 * its share of them (lane_of_shard()).
 * ERR_CONFIG for contradictions, ERR_IO with the number of files if the limit
 * of open files is too low. */
int plan_client(struct settings *s, struct machine machine, struct err *err);

/* Average requests per arrival: the turns of a session.  1 if only the data set
 * knows. */
double plan_turns(const struct load_settings *load);

/* The highest rate of requests in the schedule. */
double plan_peak_rps(const struct load_settings *load);

/* Can every answer have a kernel receive timestamp?  Only at rates where their
 * cost does not matter. */
bool plan_stamps_all(const struct load_settings *load);

/* Waits shorter than this are cheaper by polling than by sleeping.  0 with one
 * core, which the server may need. */
int64_t plan_short_wait_ns(struct machine machine);

#endif
