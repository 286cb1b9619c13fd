/* progress.h - follows a run in progress: what can be shown of it, and
 * whether it should end early.
 *
 * The recorder's thread feeds it with what it writes, the calling thread reads
 * it; it costs the workers nothing.  They hand over at least once a second, and
 * that is how old the numbers may be.
 */
#ifndef LOADGEN_ENGINE_PROGRESS_H
#define LOADGEN_ENGINE_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/measure/decide.h"
#include "common/measure/measure.h"
#include "common/spec/abort_rule.h"
#include "common/spec/slo.h"

struct err;
struct observation;
struct phases;
struct progress;
struct recorder;
struct run_options;
struct settings;

/* Requests that ended in the last second, however few: nearest rank, ns, or
 * HIST_EMPTY, HIST_BEYOND (it failed) and the like. */
struct last_second {
    int64_t p50_ns;
    int64_t p99_ns;
    int64_t max_ns; /* lag only, including requests issued in that second */
};

enum phase { PHASE_WARMUP, PHASE_WINDOW, PHASE_COOLDOWN, PHASE_DRAIN };

#define PROGRESS_HISTORY 60 /* seconds */

/* How the run stands with one term of its SLO, so far. */
struct term_so_far {
    const char *text; /* NULL: no term can be judged yet */
    double missed;    /* share of the requests */
    double allowed;
};

/* A moment of a run.  issued = done + in flight, and outcome[] sums up to done
 * + unsent, except for what the workers have not handed over yet. */
struct run_progress {
    double elapsed_s;
    double planned_s;         /* without the drain; 0: not known */
    int64_t planned_requests; /* 0: as many as the time allows */
    bool has_phases;          /* a warm-up or a cool-down besides the window */
    enum phase phase;
    bool is_open_loop; /* a schedule determines the due times */
    bool is_offline;   /* everything was due at once: lag means nothing */
    double asked_rps;  /* due in the last second by the schedule, ... */
    double sent_rps;   /* ... sent ... */
    double done_rps;   /* ... and ended */

    int64_t issued;
    int64_t in_flight;
    int64_t unsent;
    int64_t outcome[OUTCOME_COUNT];

    bool has_slo;
    int64_t due;  /* requests of the window that have ended or are unsent */
    int64_t good; /* of those */
    struct term_so_far worst; /* closest to what it allows, or beyond it */

    struct last_second e2e;  /* failures are beyond every value */
    bool has_streams;        /* answers are requested as streams of events */
    struct last_second ttft; /* like e2e */
    struct last_second lag;

    /* p99 of ttft, or of e2e where there are no streams, of the last seconds,
     * the latest last. */
    int64_t history_ns[PROGRESS_HISTORY];
    int n_history;
};

/* Settings and phases are borrowed.  ERR_CONFIG. */
int progress_new(struct progress **progress, const struct settings *settings,
                 const struct phases *phases, int n_shards, struct err *err);

/* Accepts NULL. */
void progress_free(struct progress *progress);

/* Rows of a shard, and its observation or NULL.  The recorder's thread. */
void progress_add(struct progress *progress, unsigned shard,
                  const struct facts *rows, size_t n,
                  const struct observation *seen);

/* The state of the run `at_ns` after its start.  Any thread. */
void progress_read(struct progress *progress, int64_t at_ns,
                   struct run_progress *out);

/* Once per second: does load.abort_on end the run?  If so, `why` says why. */
bool progress_aborts(const struct run_progress *progress,
                     struct abort_window *window, char why[static ABORT_TEXT]);

/* Shows the progress of a run and says when it should end early. */
struct monitor {
    const struct run_options *options; /* borrowed */
    const struct phases *phases;       /* borrowed */
    struct progress *progress;         /* NULL: not needed */
    struct abort_window window; /* without a ring: nothing aborts the run */
    struct slo slo;
    struct decide decide;   /* the recorder's thread's; zeroed: not used */
    atomic_bool is_decided; /* load.stop: decided; the load can end */
    atomic_bool is_enough;  /* run_options.judge has said so */
    int64_t next_show_ns;
    int64_t next_second_ns;
    char why[ABORT_TEXT]; /* why the run is aborted; "" until then */
};

/* Follow what `recorder` writes, if the settings or options need it; before its
 * shards are filled.  All arguments are borrowed.  ERR_CONFIG. */
int monitor_init(struct monitor *monitor, const struct settings *settings,
                 const struct run_options *options, const struct phases *phases,
                 struct recorder *recorder, struct err *err);

/* After the recorder's end.  Accepts a zeroed one. */
void monitor_fini(struct monitor *monitor);

/* Call often, `at_ns` after the start of the run.  True when the run is to be
 * aborted, or the judge has seen enough. */
bool monitor_poll(struct monitor *monitor, int64_t at_ns);

#endif
