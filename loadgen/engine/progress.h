/* progress.h - what can be said of a run while it goes on.
 *
 * Fed by the recorder's thread with what it writes, read by whoever shows it:
 * the workers know nothing of it.  They hand over at least once a second, and
 * that is how old the numbers may be.
 */
#ifndef LOADGEN_ENGINE_PROGRESS_H
#define LOADGEN_ENGINE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/measure/measure.h"

struct err;
struct observation;
struct phases;
struct progress;
struct settings;

/* Of the requests that ended in the last second, however few: nearest rank, ns,
 * or HIST_EMPTY, HIST_BEYOND (it failed) and the like. */
struct last_second {
    int64_t p50_ns;
    int64_t p99_ns;
    int64_t max_ns; /* of lag, with those that were issued in it; of e2e and
                       ttft not given */
};

enum phase { PHASE_WARMUP, PHASE_WINDOW, PHASE_COOLDOWN, PHASE_DRAIN };

/* A moment of a run.  issued = done + in flight, and outcome[] sums up to done
 * + unsent, but for what the workers have not handed over yet. */
struct run_progress {
    double elapsed_s;
    double planned_s;         /* all but the drain; 0: not known */
    int64_t planned_requests; /* 0: as many as the time gives */
    bool has_phases;          /* a warm-up or a cool-down beside the window */
    enum phase phase;
    bool is_open_loop; /* a schedule asks for requests */
    bool is_offline;   /* all was due at once: there is no lag to speak of */
    double asked_rps;  /* in the last second, by that schedule */
    double sent_rps;   /* likewise */
    double done_rps;

    int64_t issued;
    int64_t in_flight;
    int64_t unsent;
    int64_t outcome[OUTCOME_COUNT];

    bool has_slo;
    int64_t due;  /* in the window, and have ended or are unsent */
    int64_t good; /* of those */

    struct last_second e2e;  /* failures beyond every value */
    bool has_streams;        /* answers are asked to come in events */
    struct last_second ttft; /* like e2e */
    struct last_second lag;
};

/* Settings and phases are borrowed.  ERR_CONFIG. */
int progress_new(struct progress **progress, const struct settings *settings,
                 const struct phases *phases, int n_shards, struct err *err);

/* Accepts NULL. */
void progress_free(struct progress *progress);

/* Rows of a shard, and what it saw of itself, or NULL; a watcher of the
 * recorder. */
void progress_add(void *progress, unsigned shard, const struct facts *rows,
                  size_t n, const struct observation *seen);

/* How it stands, `at_ns` after the start of the run.  Any thread. */
void progress_read(struct progress *progress, int64_t at_ns,
                   struct run_progress *out);

#endif
