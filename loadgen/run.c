#include "loadgen/run.h"

#include <stdio.h>

#include "common/clk.h"
#include "common/err.h"
#include "common/files.h"
#include "common/recording/dir.h"
#include "common/recording/failures.h"
#include "common/settings.h"
#include "common/stop.h"
#include "loadgen/recorder.h"
#include "loadgen/target.h"
#include "loadgen/transport/transport.h"
#include "loadgen/watch.h"
#include "loadgen/worker.h"

/* Between writing the manifest and the first request that can be due. */
#define LEAD_NS (100 * NS_PER_MS)
#define POLL_NS (20 * NS_PER_MS)
#define SPARE_FILES                                                            \
    INT64_C(64) /* of the limit, for everything but connections */

struct run {
    struct settings *settings;
    const struct run_options *options;
    struct target target;
    struct recorder *recorder;
    struct worker *worker;
    struct manifest manifest;
    struct watch watch;
    int64_t start_ns;
    int stopped_by; /* the signal that made us cut it; 0: none */
};

/* As many as the process may open; raised as far as it goes. */
static int64_t connection_bound(void)
{
    int64_t files = files_raise_limit();

    return files > 2 * SPARE_FILES ? files - SPARE_FILES : SPARE_FILES;
}

static int64_t max_connections(const struct settings *s)
{
    int64_t bound = connection_bound();
    int64_t asked = s->client.connections;

    return asked > 0 && asked < bound ? asked : bound;
}

/* Everything that can fail is tried before anything is written. */
static int prepare(struct run *run, struct err *err)
{
    struct engine_env env;

    if (target_init(&run->target, &run->settings->target, err))
        return -1;
    env = (struct engine_env){
        .settings = run->settings,
        .target = &run->target,
        .transport = transport_find(run->target.url.scheme),
        .clk = &clk_monotonic,
        .max_connections = max_connections(run->settings),
    };
    if (worker_new(&run->worker, &env, err))
        return -1;
    if (!run->options->has_dir &&
        recording_make_dir(run->options->dir, run->options->force, err))
        return -1;
    if (recorder_new(&run->recorder, run->options->dir, 1, err))
        return -1;
    return watch_init(&run->watch, run->settings, run->options, run->recorder,
                      err);
}

static int begin(struct run *run, struct err *err)
{
    struct run_start start = {
        .monotonic_ns = clk_now(&clk_monotonic) + LEAD_NS,
        .realtime_ns = clk_realtime_ns() + LEAD_NS,
        .argv = run->options->argv,
        .settings_file = run->options->settings_file,
    };

    run->start_ns = start.monotonic_ns;
    manifest_init(&run->manifest, run->settings, &start);
    if (manifest_save(&run->manifest, run->options->dir, err))
        return -1;
    return worker_start(run->worker, recorder_shard(run->recorder, 0),
                        run->start_ns, err);
}

/* Does somebody, the disk or load.abort_on say stop? */
static bool is_to_be_cut(struct run *run)
{
    int64_t at_ns = clk_now(&clk_monotonic) - run->start_ns;

    return watch_look(&run->watch, at_ns) || atomic_load(&stop_signal) ||
           recorder_has_failed(run->recorder);
}

/* Until the worker is done, or is told to be.  A signal that comes after the
 * end stops nothing. */
static int wait_for_end(struct run *run, struct err *err)
{
    bool is_cut = false;

    while (!worker_is_done(run->worker)) {
        clk_sleep_ns(POLL_NS);
        if (is_cut || !is_to_be_cut(run))
            continue;
        run->stopped_by = atomic_load(&stop_signal);
        worker_cut(run->worker);
        is_cut = true;
    }
    return worker_join(run->worker, err);
}

/* Whatever failed, what was recorded is closed; the first error stands. */
static int conclude(struct run *run, struct run_end *end, struct err *err)
{
    const struct engine *engine = worker_engine(run->worker);
    struct engine_counts c = engine_counts(engine);
    int rc = recorder_finish(run->recorder, err);

    run->recorder = NULL;
    *end = (struct run_end){
        .stopped_by = run->stopped_by,
        .due_end_ns = engine_due_end_ns(engine),
        .scheduled = c.issued + c.unsent,
        .issued = c.issued,
        .unsent = c.unsent,
    };
    snprintf(end->aborted, sizeof(end->aborted), "%s", run->watch.why);
    if (rc)
        return -1;
    manifest_complete(&run->manifest, end, engine_failures(engine));
    return manifest_save(&run->manifest, run->options->dir, err);
}

int run_load(struct settings *settings, const struct run_options *options,
             struct run_end *end, struct err *err)
{
    struct run run = {.settings = settings, .options = options};
    struct err ignored = {0};
    int rc = prepare(&run, err);

    if (rc == 0)
        rc = begin(&run, err);
    if (rc == 0) {
        rc = wait_for_end(&run, err);
        rc = conclude(&run, end, rc ? &ignored : err) ? -1 : rc;
    }
    recorder_finish(run.recorder, &(struct err){0});
    watch_fini(&run.watch);
    worker_free(run.worker);
    target_fini(&run.target);
    manifest_fini(&run.manifest);
    return rc;
}
