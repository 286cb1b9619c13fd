/* watch.h - the eye on a run that goes on: shows how it stands, and says when
 * it is not worth going on with.  The calling thread's; costs the workers
 * nothing. */
#ifndef LOADGEN_ENGINE_WATCH_H
#define LOADGEN_ENGINE_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/measure/decide.h"
#include "common/spec/abort_rule.h"
#include "common/spec/slo.h"
#include "loadgen/engine/progress.h"

struct err;
struct phases;
struct recorder;
struct run_options;
struct settings;

/* How far a worker was when it last told. */
struct watch_shard {
    int64_t at_ns; /* 0: it has not yet */
    int64_t issued;
};

struct watch {
    const struct run_options *options; /* borrowed */
    const struct phases *phases;       /* borrowed */
    struct progress *progress;         /* NULL: nobody wants to know */
    struct watch_shard *shards;        /* owned; the recorder's thread's */
    int n_shards;
    struct abort_window window; /* without a ring: nothing aborts */
    struct slo slo;
    struct decide decide; /* the recorder's thread's; zeroed: it goes on */
    atomic_bool is_decided;
    atomic_bool is_enough; /* says run_options.judge */
    int64_t next_show_ns;
    int64_t next_second_ns;
    char why[ABORT_TEXT]; /* it was aborted; "" until then */
};

/* Watch what `recorder` writes, if anybody wants to know; before its shards are
 * filled.  All arguments are borrowed.  ERR_CONFIG. */
int watch_init(struct watch *watch, const struct settings *settings,
               const struct run_options *options, const struct phases *phases,
               struct recorder *recorder, struct err *err);

/* After the recorder's end.  Accepts a zeroed one. */
void watch_fini(struct watch *watch);

/* Often, `at_ns` after the start of the run.  True when it is to be aborted,
 * or need not go on. */
bool watch_look(struct watch *watch, int64_t at_ns);

#endif
