/* run.h - one run: settings in, a recording on disk out. */
#ifndef LOADGEN_ENGINE_RUN_H
#define LOADGEN_ENGINE_RUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/base/clk.h"
#include "common/recording/manifest.h"
#include "common/spec/abort_rule.h"
#include "loadgen/engine/progress.h"

struct calibration;
struct err;
struct facts;
struct observation;
struct run_plan;

#define RUN_PROGRESS_NS (250 * NS_PER_MS)

/* What is known of a run in progress.  Times count from its start. */
struct run_look {
    int64_t start_ns; /* of the window; INT64_MAX: not known yet */
    int64_t end_ns;

    /* Requests that have ended since the last call, in any order, including
     * those of the warm-up; borrowed. */
    const struct facts *rows;
    size_t n;
    unsigned shard;                 /* the worker that sent them, and ... */
    const struct observation *seen; /* ... what it says about itself, once per
                                       second; NULL: nothing this time */

    /* At least `issued` requests had been sent by issued_ns, and every request
     * that ended before followed_ns has been passed.  0: not all workers have
     * reported yet. */
    int64_t issued;
    int64_t issued_ns;
    int64_t followed_ns;
};

/* May end a run before its time. */
struct run_judge {
    /* Called in the recorder's thread, at least once per second, until it
     * returns true: then the run ends early. */
    bool (*is_enough)(void *arg, const struct run_look *look);
    void *arg;
};

/* Sees what is recorded, as it is recorded. */
struct run_watch {
    /* Called in the recorder's thread, at least once per second and worker.
     * The workers do not wait for it unless it takes longer than their buffers
     * last. */
    void (*saw)(void *arg, const struct run_look *look);
    void *arg;
};

/* A run that several processes make at the same time. */
enum run_order {
    RUN_GOES_ON,
    RUN_END_LOAD, /* what is in flight is waited for */
    RUN_ENOUGH,   /* cut it: more would not change the result */
    RUN_CUT,      /* cut it, as for the signal run_party.signal */
};

struct run_party {
    /* Called once, when everything else is ready: wait for the others.  Sets
     * the common start, since 1970 by the common clock, and the clock of this
     * machine minus that one.  Fails with any error. */
    int (*meet)(void *arg, int64_t *start_at_ns, int64_t *clock_offset_ns,
                struct err *err);
    void *arg;

    atomic_int order; /* enum run_order; set by any thread */
    int signal;
    char why[ABORT_TEXT]; /* the run was aborted; "": it was not.  Both are set
                             before the order */
};

struct run_options {
    const char *dir;             /* made here, unless the caller has made it */
    bool has_dir;                /* the caller has */
    bool force;                  /* replace a recording that is there */
    const char *const *argv;     /* for the manifest */
    const char *settings_file;   /* the same; NULL: none */
    const char *settings_sha256; /* its hash; NULL: none */
    int64_t wait_ready_ns;       /* for the targets to answer; 0: do not wait */

    /* Send a request before the run, unless target.no_preflight is set
     * (loadgen/prepare/preflight_request.h). */
    bool has_preflight;

    /* When the clock of the run starts, since 1970, so that several machines
     * start together; 0: when everything is ready.  With a party its start
     * counts, and this only makes the nonce of the run different from others.
     */
    int64_t start_at_ns;
    bool start_is_own; /* it was counted from now: other machines have another
                        */
    struct run_party *party; /* NULL: none */

    /* The calibration of this client, for the manifest; run_load() checks
     * whether it applies to this host.  NULL: not calibrated. */
    const struct calibration *calibration;

    /* The process whose memory is read, if it was started for this run ("pid
     * 12", "group 12").  NULL: the one that cost.memory_of names. */
    const char *memory_of;

    const struct run_judge *judge; /* NULL: the run does not end early */
    const struct run_watch *watch; /* NULL: none */

    int64_t observe_ns; /* time between two observations; 0: 1 s */

    /* Called once, before any server is contacted, with what is known by then.
     * Optional. */
    void (*foresee)(void *arg, const struct run_plan *plan);
    void *foresee_arg;

    /* Called every RUN_PROGRESS_NS from the calling thread.  Optional. */
    void (*progress)(void *arg, const struct run_progress *progress);
    void *arg;
};

/* Drive the load of the plan's settings, which were not planned further yet
 * (run_plan_init()), and record it; returns when every request has ended, or
 * soon after common/base/stop.h's flag was set or load.abort_on came true. *end
 * says how it went.  ERR_CONFIG, ERR_IO, ERR_STOPPED before it began; after a
 * disk that failed mid-run what was recorded is kept. */
int run_load(struct run_plan *plan, const struct run_options *options,
             struct run_end *end, struct err *err);

/* The part of run_load() before the clock starts that asks the targets: wait
 * until they are ready, and send the preflight request.  For a run that several
 * processes make; the plan stays as it is.  Errors as run_load(). */
int run_ask_targets(const struct run_plan *plan,
                    const struct run_options *options, struct err *err);

#endif
