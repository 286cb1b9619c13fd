/* enginerig.h - an engine on a clock that the test moves, with a transport
 * that the test ends and a recording that it reads back. */
#ifndef TESTS_SUPPORT_ENGINERIG_H
#define TESTS_SUPPORT_ENGINERIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/clk.h"
#include "common/base/rng.h"
#include "common/measure/measure.h"
#include "common/recording/schema.h"
#include "common/settings/settings.h"
#include "loadgen/engine/engine.h"
#include "loadgen/payload/workload.h"

#define RIG_MAX_FLIGHT 2048

struct event_base;
struct recorder;
struct request;
struct transport_env;

struct flight {
    struct request *request;
    int64_t end_ns; /* of a run in virtual time */
};

/* A transport without a network. */
struct fake {
    const struct transport_env *env;
    struct flight flights[RIG_MAX_FLIGHT]; /* in the order of their start */
    size_t len;
    bool ends_at_once;
    int64_t started;
    int64_t cancelled;
    int64_t service_mean_ns; /* drawn from 0 to twice this */
    struct rng rng;
};

struct setup {
    struct load_settings load;
    int64_t slots; /* connections */
    int64_t timeout_ns;
    int64_t max_in_flight; /* 0: no bound */
    int64_t max_burst;     /* 0: no bound */
    int64_t spin_ns;
    struct lane lane; /* 0, 0: the only one */
};

struct rig {
    struct settings settings;
    struct workload workload;
    struct clk_fake clk;
    struct event_base *base;
    struct recorder *recorder;
    struct engine *engine;
    struct fake *fake;
    char *dir;
    bool has_ended;
    struct lane lane;
    struct facts *rows; /* by place in the lane, once it was closed */
    size_t n;
};

/* A metronome from 0 on.  Nothing is cut at the end. */
struct load_settings rig_open_load(double rate_rps, int64_t n);

/* n = 0: for a second. */
struct load_settings rig_closed_load(int64_t clients, int64_t n);

/* Begun at 0, which is now. */
struct rig *rig_new(const struct setup *setup);
void rig_free(struct rig *rig);

/* Every timer that is set fires once, whatever time it is set to: too early
 * must do no harm. */
void rig_pass(struct rig *rig);
void rig_pass_at(struct rig *rig, int64_t at_ns);

/* The i-th in flight is answered now. */
void rig_end_flight(struct rig *rig, size_t i);

void rig_cut_at(struct rig *rig, int64_t at_ns);

/* The run is over: every request that was taken is in the recording, once. */
void rig_close(struct rig *rig);

/* The same with rows as they are on the disk, ranges in one. */
void rig_close_whole(struct rig *rig);

/* Of those in the recording. */
int64_t rig_count(const struct rig *rig, enum outcome outcome);

#endif
