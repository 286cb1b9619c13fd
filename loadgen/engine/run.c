/* The walk of a run: prepare() does everything that can fail before anything is
 * written, begin() writes the manifest and starts the workers, wait_for_end()
 * follows them, conclude() closes the recording.  What a worker does is in
 * engine.c.
 */
#include "loadgen/engine/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/hash.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/recording/failures.h"
#include "common/settings/settings.h"
#include "common/spec/calibration.h"
#include "common/spec/shard_id.h"
#include "loadgen/api/api.h"
#include "loadgen/engine/progress.h"
#include "loadgen/engine/run_limits.h"
#include "loadgen/engine/worker.h"
#include "loadgen/observe/host.h"
#include "loadgen/observe/meter.h"
#include "loadgen/observe/scrape.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/discover.h"
#include "loadgen/prepare/preflight.h"
#include "loadgen/prepare/preflight_request.h"
#include "loadgen/prepare/ready.h"
#include "loadgen/prepare/secret.h"
#include "loadgen/record/answers.h"
#include "loadgen/record/recorder.h"
#include "loadgen/schedule/window_limits.h"
#include "loadgen/transport/transport.h"

/* Between writing the manifest and the first request that can be due. */
#define LEAD_NS (100 * NS_PER_MS)
#define POLL_NS (20 * NS_PER_MS)

/* A common start is waited for twice: this long before it workers open their
 * connections, since idle ones do not last; COMMON_LEAD_NS before it they
 * start. Later than LATE_NS before it they would not be ready in time.  On a
 * busy machine a process may get no CPU for 50 ms, so there is more in between.
 */
#define CONNECT_NS     (2 * NS_PER_S)
#define COMMON_LEAD_NS (300 * NS_PER_MS)
#define LATE_NS        (50 * NS_PER_MS)

#define MAX_NOTE ((size_t)64 << 10)

struct run {
    const struct settings *settings; /* those of the plan */
    const struct run_options *options;
    struct run_plan *plan;
    struct workload workload;
    struct strlist endpoints; /* tried before the run, and what they said */
    struct meter *meter;      /* NULL: nothing is measured */
    struct scrape *scrape;    /* NULL: the server does not say how it is */
    bool has_dir;             /* made, or taken over */
    struct recorder *recorder;
    struct worker **workers;
    int64_t n_workers; /* that were made */
    struct phases phases;
    struct manifest manifest;
    struct answers answers;
    struct monitor monitor;
    char settings_sha256[SHA256_TEXT]; /* of those asked for; shards only */
    int64_t start_at_ns;     /* the common start, by this clock; 0: none */
    int64_t clock_offset_ns; /* this clock less that of the party */
    int64_t start_ns;
    int64_t started_ns; /* its realtime, by the clock as it was then; 0: not yet
                         */
    int stopped_by;     /* the signal that made us cut it; 0: none */
};

/* A client of a closed loop keeps a connection to each place if the limit of
 * open files allows it: else every request to another place would need a new
 * connection. */
static int make_workers(struct run *run, struct err *err)
{
    const struct client_settings *c = &run->settings->client;
    bool has_schedule = scenario_has_schedule(run->settings->load.scenario);
    int64_t ways = has_schedule ? 1 : (int64_t)run->workload.n_places;
    int64_t files = run->plan->machine.files / 2 / c->threads;
    struct shard_id shard = shard_id_of(c->shard);
    struct shard_layout layout = {shard.count, c->probe_shard};

    if (!has_schedule)
        workload_set_lanes(&run->workload, shard.count * c->threads);
    phases_init(&run->phases, &run->settings->load, c->threads);
    run->workers = xcalloc((size_t)c->threads, sizeof(struct worker *));
    for (int64_t i = 0; i < c->threads; i++) {
        struct lane lane = lane_of_shard(shard.index, layout, i, c->threads);
        int64_t room = lane_share(c->max_in_flight, lane);
        bool has_files = ways < 2 || room * ways < files || room > files;
        struct engine_env env = {
            .settings = run->settings,
            .workload = &run->workload,
            .transport = run->plan->transport,
            .clk = &clk_monotonic,
            .lane = lane,
            .phases = &run->phases,
            .max_connections = has_files ? room * ways : files,
            .max_in_flight = room,
            .preconnect = lane_share(c->preconnect, lane),
            .stamps_all = plan_stamps_all(&run->settings->load),
            .short_wait_ns = plan_short_wait_ns(run->plan->machine),
            .observe_ns = run->options->observe_ns,
            .answers = run->settings->data.accuracy ? &run->answers : NULL,
        };

        if (worker_new(&run->workers[i], &env, err))
            return -1;
        run->n_workers++;
    }
    return 0;
}

static int wait_until_ready(const struct run *run, struct err *err)
{
    int64_t wait_ns = run->options->wait_ready_ns;
    const struct classes *all = &run->settings->classes;
    int rc = 0;

    if (wait_ns > 0 && all->len == 0)
        rc = ready_wait(&run->settings->target, wait_ns, err);
    for (size_t i = 0; wait_ns > 0 && i < all->len && rc == 0; i++)
        rc = ready_wait(&all->items[i].settings->target, wait_ns, err);
    return rc;
}

static enum run_order order_of(const struct run *run)
{
    struct run_party *party = run->options->party;

    return party ? (enum run_order)atomic_load(&party->order) : RUN_GOES_ON;
}

/* Wait until ahead_ns before the common start, if there is one.  The clock may
 * be set meanwhile. */
static int wait_for_start(const struct run *run, int64_t ahead_ns,
                          struct err *err)
{
    int64_t until_ns = run->start_at_ns - ahead_ns;
    int64_t left_ns = until_ns - clk_realtime_ns();

    if (run->start_at_ns == 0)
        return 0;
    if (left_ns > NS_PER_S)
        log_note("the run starts in %.1f s",
                 (double)(left_ns + ahead_ns) / 1e9);
    while ((left_ns = until_ns - clk_realtime_ns()) > 0) {
        if (atomic_load(&stop_signal) || order_of(run) != RUN_GOES_ON)
            return err_set(err, ERR_STOPPED,
                           "interrupted while it waited for its start");
        clk_sleep_ns(left_ns < POLL_NS ? left_ns : POLL_NS);
    }
    return 0;
}

/* The prompts of all shards must be those of one run, and no other run may have
 * had them: the nonce follows from the settings, which include the seed, and
 * the start. */
static int choose_nonce(const struct run *run, struct settings *s,
                        struct err *err)
{
    bool is_fresh = s->data.unique != UNIQUE_FALSE;
    char text[SHA256_TEXT + 32];
    char hash[SHA256_TEXT];

    if (!s->client.shard || s->data.nonce > 0)
        return 0;
    if (run->options->start_at_ns == 0 && is_fresh)
        return err_set(err, ERR_CONFIG,
                       "client.shard requires a common start (--start-at TIME) "
                       "or data.nonce: the prompts of all shards follow from "
                       "it");
    snprintf(text, sizeof(text), "%s %lld", run->settings_sha256,
             is_fresh ? (long long)run->options->start_at_ns : 0);
    sha256_bytes(text, strlen(text), hash);
    hash[13] = '\0'; /* small enough for a JSON number, and not 0 */
    s->data.nonce = strtoull(hash, NULL, 16) + 1;
    return 0;
}

/* Also notes what the files of a trace and of a data set come to. */
static int look_ahead(struct run *run, struct err *err)
{
    const struct settings *s = run->settings;
    struct buf text;

    if (preflight(run->plan, err))
        return -1;
    budget_set(s->client.memory);
    buf_init(&text, MAX_NOTE);
    if (s->load.scenario == SCENARIO_TRACE)
        survey_describe(&run->plan->trace, &s->load, &text);
    preflight_describe_data(run->plan, &text);
    for (char *line = text.data, *end; line && (end = strchr(line, '\n'));
         line = end + 1)
        log_note("%.*s", (int)(end - line), line);
    buf_fini(&text);
    if (run->options->foresee)
        run->options->foresee(run->options->foresee_arg, run->plan);
    return 0;
}

/* One shard asks for all.  A common start is not missed for it.  With ids the
 * server's log is joined with the recording, and no id may be there twice. */
static int ask_first(const struct run *run, struct err *err)
{
    int64_t timeout_ns = INT64_MAX;

    if (!run->options->has_preflight || run->settings->target.no_preflight ||
        run->settings->target.request_id ||
        shard_id_of(run->settings->client.shard).index > 0)
        return 0;
    if (run->start_at_ns > 0)
        timeout_ns = run->start_at_ns - clk_realtime_ns() - CONNECT_NS;
    return timeout_ns > 0
               ? preflight_request(&run->workload, run->settings,
                                   run->plan->transport, timeout_ns, err)
               : 0;
}

/* Everything that can fail is tried before anything is written. */
static int prepare(struct run *run, struct err *err)
{
    const struct settings *s = run->settings;

    if (look_ahead(run, err) || wait_until_ready(run, err) ||
        choose_nonce(run, &run->plan->used, err) ||
        discover(&run->plan->used, err) ||
        workload_init(&run->workload, s, &run->endpoints, err) ||
        ask_first(run, err) ||
        scrape_new(&run->scrape, /* the server of the first class */
                   s->classes.len > 0 ? s->classes.items[0].settings : s,
                   run->workload.classes[0].targets, err) ||
        meter_new(&run->meter, s, run->options->memory_of, err) ||
        wait_for_start(run, CONNECT_NS, err) || make_workers(run, err))
        return -1;
    if (!run->options->has_dir &&
        recording_make_dir(run->options->dir, run->options->force, err))
        return -1;
    run->has_dir = true;
    if (run->settings->data.accuracy &&
        answers_open(&run->answers, run->options->dir,
                     run->workload.classes[0].targets, &run->settings->target,
                     err))
        return -1;
    if (recorder_new(&run->recorder, run->options->dir, (int)run->n_workers,
                     run->workload.streams, err))
        return -1;
    return monitor_init(&run->monitor, run->settings, run->options,
                        &run->phases, run->recorder, err);
}

static void note_server(struct run *run)
{
    if (run->scrape) {
        const struct server_source source = scrape_source(run->scrape);

        manifest_set_server(&run->manifest, &source);
    }
}

/* What prompts are made of. */
static void record_data(struct run *run)
{
    const struct classes *all = &run->settings->classes;

    for (size_t i = 0; i < run->workload.len; i++) {
        const struct api *api = workload_api(&run->workload, i);
        const struct dataset *d = api->sampler.data;
        const struct data_seen seen = {
            .source = api->sampler.ops->name,
            .format = d ? d->format : NULL,
            .sha256 = d ? d->sha256 : NULL,
            .samples = sampler_count(&api->sampler),
            .left_out = d ? d->left_out : 0,
            .has_lengths = d && dataset_has_lengths(d),
            .cached_share = api_cached_share(api),
        };

        if (!api->makes_bodies)
            continue;
        if (&run->workload.classes[i] == run->workload.warmup)
            manifest_add_class_data(&run->manifest, CLASSES_WARMUP, &seen);
        else if (all->len > 0)
            manifest_add_class_data(&run->manifest, all->items[i].name, &seen);
        else
            manifest_set_data(&run->manifest, &seen);
    }
}

/* Without a common start, soon. */
static int find_start(struct run *run, struct run_start *start, struct err *err)
{
    struct run_party *party = run->options->party;
    int64_t common_ns = run->options->start_at_ns;
    int64_t ahead_ns = LEAD_NS;

    if (party &&
        party->meet(party->arg, &common_ns, &run->clock_offset_ns, err))
        return -1;
    if (party)
        run->start_at_ns = common_ns + run->clock_offset_ns;
    if (wait_for_start(run, COMMON_LEAD_NS, err))
        return -1;
    start->monotonic_ns = clk_now(&clk_monotonic) + ahead_ns;
    start->realtime_ns = clk_realtime_at(start->monotonic_ns);
    if (run->start_at_ns > 0) {
        start->monotonic_ns += run->start_at_ns - start->realtime_ns;
        start->realtime_ns = common_ns;
        ahead_ns = start->monotonic_ns - clk_now(&clk_monotonic);
    }
    if (ahead_ns < LATE_NS)
        return err_set(err, ERR_IO,
                       "too late for the common start: ready %.3f s after the "
                       "last possible moment; choose a later --start-at",
                       (double)(LATE_NS - ahead_ns) / 1e9);
    return 0;
}

/* What the clock starts with is found out before it does. */
static int begin_manifest(struct run *run, struct err *err)
{
    const struct run_options *options = run->options;
    const struct calibration_place here = calibration_here();
    const struct calibration_stamp calibration =
        calibration_stamp_of(options->calibration, &here,
                             calibrated_name(run->plan->transport->name,
                                             settings_uses_tls(run->settings)));
    struct strmap environment = {0};
    struct strlist targets = {0};
    /* git obeys the configuration that it finds where a file is, and a
     * recording may come from somebody else. */
    char *git =
        options->settings_file && !recording_is_at(options->settings_file)
            ? git_state(options->settings_file)
            : NULL;
    struct shard_start shard = {
        .id = shard_id_of(run->settings->client.shard),
        .settings_sha256 = run->settings_sha256,
        .start_at_ns = options->start_is_own ? 0 : options->start_at_ns};
    int rc;
    struct run_start start = {
        .argv = options->argv,
        .settings_file = options->settings_file,
        .settings_sha256 = options->settings_sha256,
        .settings_git = git,
        .environment = &environment,
        .has_stub = run->settings->has_stub,
        .server_port = run->plan->server_port,
        .endpoints = &run->endpoints,
        .targets = &targets,
        .transport = run->plan->transport->name,
        .calibration = &calibration,
        .shard = run->settings->client.shard ? &shard : NULL,
    };

    workload_name_places(&run->workload, &targets);
    environment_read(&environment, "");
    rc = find_start(run, &start, err);
    run->start_ns = start.monotonic_ns;
    if (options->party) /* the start that it gave, not the planned one */
        shard.start_at_ns = start.realtime_ns;
    if (rc == 0)
        manifest_init(&run->manifest, run->settings, &start);
    strlist_fini(&targets);
    strmap_fini(&environment);
    free(git);
    return rc;
}

static int begin(struct run *run, struct err *err)
{
    const struct shard_id shard = shard_id_of(run->settings->client.shard);
    const struct cpus *cpus = &run->plan->cpus;
    const struct survey *s = &run->plan->trace;
    const struct trace_seen trace = {
        .format = s->format,
        .rows = s->rows,
        .damaged = s->all.damaged,
        .failed = s->all.failed,
        .tied = s->tied,
        .has_blocks = s->has_blocks,
        .hash = s->hash,
        .damage = &s->damage,
    };

    if (begin_manifest(run, err))
        return -1;
    if (run->settings->load.scenario == SCENARIO_TRACE)
        manifest_set_trace(&run->manifest, &trace);
    record_data(run);
    note_server(run);
    if (manifest_save(&run->manifest, run->options->dir, err))
        return -1;
    if (run->scrape &&
        scrape_start(run->scrape, run->options->dir, run->start_ns, err))
        return -1;
    if (run->meter &&
        meter_start(run->meter, run->options->dir, run->start_ns, err))
        return -1;
    for (int64_t i = 0; i < run->n_workers; i++) {
        /* Shards on one machine use different CPUs as far as possible. */
        size_t n = (size_t)(shard.index * run->n_workers + i);
        int cpu = cpus->len > 0 ? cpus->cpu[n % cpus->len] : WORKER_ANY_CPU;

        if (worker_start(run->workers[i], recorder_shard(run->recorder, (int)i),
                         run->start_ns, cpu, err))
            return -1;
    }
    return 0;
}

static void cut_workers(const struct run *run)
{
    for (int64_t i = 0; i < run->n_workers; i++)
        worker_cut(run->workers[i]);
}

static bool are_done(const struct run *run)
{
    for (int64_t i = 0; i < run->n_workers; i++) {
        if (!worker_is_done(run->workers[i]))
            return false;
    }
    return true;
}

/* Fails with the error of the first worker that failed. */
static int join_workers(struct run *run, struct err *err)
{
    struct err ignored = {0};
    int rc = 0;

    for (int64_t i = 0; i < run->n_workers; i++) {
        if (worker_join(run->workers[i], rc ? &ignored : err))
            rc = -1;
    }
    return rc;
}

/* The clock may have been set or slewed since the start was planned. */
static void note_start(struct run *run)
{
    if (run->started_ns == 0 && clk_now(&clk_monotonic) >= run->start_ns)
        run->started_ns = clk_realtime_at(run->start_ns) - run->clock_offset_ns;
}

/* Wait until the workers are done; cut the run before if the monitor, a signal
 * or a disk that failed demands it.  Once the SLO is decided, the load ends,
 * and what is in flight is waited for. */
static int wait_for_end(struct run *run, struct err *err)
{
    bool is_stopped = false;
    bool is_cut = false;

    while (!are_done(run)) {
        enum run_order order = order_of(run);

        clk_sleep_ns(POLL_NS);
        note_start(run);
        if (!is_stopped && !is_cut &&
            (atomic_load(&run->monitor.is_decided) || order == RUN_END_LOAD)) {
            for (int64_t i = 0; i < run->n_workers; i++)
                worker_stop(run->workers[i]);
            is_stopped = true;
        }
        if (is_cut || !(monitor_poll(&run->monitor,
                                     clk_now(&clk_monotonic) - run->start_ns) ||
                        order > RUN_END_LOAD || atomic_load(&stop_signal) ||
                        recorder_has_failed(run->recorder)))
            continue;
        run->stopped_by = order == RUN_CUT ? run->options->party->signal
                                           : atomic_load(&stop_signal);
        cut_workers(run);
        is_cut = true;
    }
    return join_workers(run, err);
}

/* If workers were cut, the earliest end counts: after it the recording does not
 * have everything that was due.  Workers agree on the window's times, as far as
 * they know them. */
static struct run_end sum_up(const struct run *run, struct failures *failures)
{
    struct run_end end = {.stopped_by = run->stopped_by,
                          .due_end_ns = TIME_ABSENT,
                          .was_enough = atomic_load(&run->monitor.is_enough) ||
                                        order_of(run) == RUN_ENOUGH};
    const char *why =
        order_of(run) == RUN_CUT ? run->options->party->why : run->monitor.why;
    const struct err *schedule_error = NULL;
    bool was_cut = false;

    for (int64_t i = 0; i < run->n_workers; i++) {
        const struct engine *engine = worker_engine(run->workers[i]);
        struct engine_counts c = engine_counts(engine);
        struct engine_end e = engine_end(engine);

        end.scheduled += c.issued + c.unsent;
        end.issued += c.issued;
        end.unsent += c.unsent;
        if (i == 0 || (e.was_cut && !was_cut) ||
            (e.was_cut == was_cut &&
             (e.was_cut ? e.due_end_ns < end.due_end_ns
                        : e.due_end_ns > end.due_end_ns)))
            end.due_end_ns = e.due_end_ns;
        was_cut |= e.was_cut;
        if (e.window_start_ns != DUE_UNKNOWN)
            end.window_start_ns = e.window_start_ns;
        if (e.window_end_ns != DUE_UNKNOWN)
            end.window_end_ns = e.window_end_ns;
        if (e.path.rtt_floor_ns > 0 &&
            (end.rtt_floor_ns == 0 || e.path.rtt_floor_ns < end.rtt_floor_ns))
            end.rtt_floor_ns = e.path.rtt_floor_ns;
        end.segments += e.path.segments;
        end.retransmits += e.path.retransmits;
        end.tls_handshakes += e.path.tls.handshakes;
        end.tls_resumed += e.path.tls.resumed;
        if (e.path.tls.handshakes > 0)
            snprintf(end.tls, sizeof(end.tls), "%s %s", e.path.tls.version,
                     e.path.tls.cipher);
        failures_merge(failures, engine_failures(engine));
        if (!schedule_error)
            schedule_error = engine_schedule_error(engine);
    }
    snprintf(end.aborted, sizeof(end.aborted), "%.*s",
             (int)sizeof(end.aborted) - 1,
             schedule_error ? schedule_error->msg : why);
    return end;
}

/* Close the recording whatever has failed; the first error counts. */
static int conclude(struct run *run, struct run_end *end, struct err *err)
{
    struct failures failures = {0};
    struct strlist secrets = {0};
    struct err ignored = {0};
    int64_t late_ns = 0;
    int rc;

    note_start(run);
    for (int64_t i = 0; i < run->n_workers; i++) {
        int64_t late = worker_late_ns(run->workers[i]);

        late_ns = late > late_ns ? late : late_ns;
    }
    if (run->started_ns > 0)
        manifest_set_started(&run->manifest, run->started_ns + late_ns);
    scrape_stop(run->scrape);
    meter_stop(run->meter);
    note_server(run);
    rc = recorder_finish(run->recorder, err);
    run->recorder = NULL;
    if (run->settings->data.accuracy &&
        answers_close(&run->answers, rc ? &ignored : err))
        rc = -1;
    *end = sum_up(run, &failures);
    for (size_t i = 0; i < run->workload.len; i++)
        secrets_find(run->workload.classes[i].targets,
                     run->workload.classes[i].settings, &secrets);
    secrets_redact_failures(&secrets, &failures);
    strlist_fini(&secrets);
    if (rc)
        return -1;
    manifest_complete(&run->manifest, end, &failures);
    return manifest_save(&run->manifest, run->options->dir, err);
}

int run_load(struct run_plan *plan, const struct run_options *options,
             struct run_end *end, struct err *err)
{
    struct run run = {.settings = &plan->used,
                      .plan = plan,
                      .options = options,
                      .start_at_ns = options->party ? 0 : options->start_at_ns,
                      .answers = {.fd = -1}};
    struct err ignored = {0};
    bool has_begun = false;
    int rc;

    if (run.settings->client.shard)
        manifest_hash_settings(run.settings, run.settings_sha256);
    rc = prepare(&run, err);
    if (rc == 0) {
        rc = begin(&run, err);
        has_begun = rc == 0;
    }
    if (has_begun) {
        rc = wait_for_end(&run, err);
        rc = conclude(&run, end, rc ? &ignored : err) ? -1 : rc;
    } else { /* some workers may be running */
        cut_workers(&run);
        join_workers(&run, &ignored);
    }
    scrape_free(run.scrape);
    meter_free(run.meter);
    recorder_finish(run.recorder, &ignored);
    answers_close(&run.answers, &ignored);
    monitor_fini(&run.monitor);
    for (int64_t i = 0; i < run.n_workers; i++)
        worker_free(run.workers[i]);
    free(run.workers);
    workload_fini(&run.workload);
    strlist_fini(&run.endpoints);
    manifest_fini(&run.manifest);
    if (!has_begun && run.has_dir)
        recording_remove(options->dir, &ignored);
    return rc;
}

int run_ask_targets(const struct run_plan *plan,
                    const struct run_options *options, struct err *err)
{
    struct run_plan own;
    struct run run = {.settings = &own.used,
                      .plan = &own,
                      .options = options,
                      .start_at_ns = options->start_at_ns};
    int rc;

    run_plan_init(&own, &plan->used);
    rc = preflight(&own, err);
    if (rc == 0 &&
        (wait_until_ready(&run, err) || discover(&own.used, err) ||
         workload_init(&run.workload, &own.used, &run.endpoints, err) ||
         ask_first(&run, err)))
        rc = -1;
    workload_fini(&run.workload);
    strlist_fini(&run.endpoints);
    run_plan_fini(&own);
    return rc;
}
