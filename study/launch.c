#include "study/launch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "common/base/units.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/recording/merge.h"
#include "common/spec/shard_id.h"
#include "loadgen/engine/run.h"
#include "loadgen/prepare/preflight.h"

#define POLL_NS (20 * NS_PER_MS)

/* From the first process to the common start.  A process is ready after 20 to
 * 300 ms unless it has data to load; the second attempt waits longer. */
#define ATTEMPTS 2
static const int64_t lead_ns[ATTEMPTS] = {NS_PER_S, 10 * NS_PER_S};

int launch_parse(const char *text, int64_t *n, struct err *err)
{
    struct err ignored = {0};

    if (strncmp(text, LAUNCH_LOCAL, strlen(LAUNCH_LOCAL)) == 0 &&
        units_parse_count(text + strlen(LAUNCH_LOCAL), n, &ignored) == 0 &&
        *n > 0 && *n <= SHARD_ID_MAX)
        return 0;
    return err_set(err, ERR_CONFIG,
                   "--launch: '%s' is not a launcher: expected " LAUNCH_LOCAL
                   "N with "
                   "N up to %d",
                   text, SHARD_ID_MAX);
}

/* One of the processes. */
struct launched {
    pid_t pid; /* 0: it has ended */
    char *dir; /* owned */
};

static _Noreturn void become_shard(struct run_plan *plan,
                                   const struct run_options *options,
                                   struct shard_id id, const char *dir,
                                   int64_t start_at_ns, pid_t parent)
{
    struct run_options own = *options;
    char text[SHARD_ID_TEXT];
    struct err err = {0};
    struct run_end end;
    int rc;

    /* Also told of the end of our parent; too late if that has come already. */
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent)
        _exit(127);
    own.dir = dir;
    own.has_dir = false;
    own.force = true;
    own.judge = NULL;
    own.progress = NULL;
    own.start_at_ns = start_at_ns;
    if (id.index > 0)
        own.foresee = NULL; /* what it says is the same for all */
    plan->used.client.shard = xstrdup(shard_id_print(id, text));
    rc = run_load(plan, &own, &end, &err);
    if (rc)
        log_error("shard %s: %s", text, err.msg);
    _exit(rc ? 1 : 0);
}

/* Wait until all have ended; a signal that we got is passed on.  Returns how
 * many failed. */
static int64_t wait_for_all(struct launched *all, int64_t n)
{
    bool is_told = false;
    int64_t failed = 0;
    int64_t left = n;

    while (left > 0) {
        int caught = atomic_load(&stop_signal);

        for (int64_t i = 0; i < n; i++) {
            int status = 0;

            if (all[i].pid == 0)
                continue;
            if (caught && !is_told)
                kill(all[i].pid, caught);
            if (waitpid(all[i].pid, &status, WNOHANG) == 0)
                continue;
            failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
            all[i].pid = 0;
            left--;
        }
        is_told |= caught != 0;
        if (left > 0)
            clk_sleep_ns(POLL_NS);
    }
    return failed;
}

/* Returns how many failed; -1: they cannot be started. */
static int64_t attempt(struct run_plan *plan, const struct run_options *options,
                       struct launched *all, int64_t n, int64_t lead,
                       struct err *err)
{
    int64_t start_at_ns = clk_realtime_ns() + lead;
    pid_t parent = getpid();
    int64_t started = 0;

    while (started < n) {
        pid_t pid = fork();

        if (pid == 0)
            become_shard(plan, options, (struct shard_id){started, n},
                         all[started].dir, start_at_ns, parent);
        if (pid < 0)
            break;
        all[started++].pid = pid;
    }
    if (started < n) {
        err_set(err, ERR_IO, "--launch: cannot start a process: %s",
                strerror(errno));
        for (int64_t i = 0; i < started; i++)
            kill(all[i].pid, SIGTERM);
    }
    n = wait_for_all(all, started);
    return err->code ? -1 : n;
}

static int merge_all(const struct launched *all, int64_t n,
                     const struct run_options *options, struct err *err)
{
    struct strlist dirs = {0};
    struct merge_result result;
    int rc;

    for (int64_t i = 0; i < n; i++)
        strlist_add(&dirs, all[i].dir);
    rc = merge_recordings(&dirs, options->dir,
                          options->has_dir ? MERGE_INTO
                          : options->force ? MERGE_REPLACE
                                           : MERGE_NEW,
                          &result, err);
    merge_result_fini(&result);
    strlist_fini(&dirs);
    return rc;
}

int launch_local(struct run_plan *plan, const struct run_options *options,
                 int64_t n, struct err *err)
{
    struct launched *all = xcalloc((size_t)n, sizeof(*all));
    char *place = xasprintf("%s.shards", options->dir);
    int64_t began_ns = clk_now(&clk_monotonic);
    int64_t lead = 0;
    int64_t failed = 1;
    int rc = recording_make_place(place, err);

    for (int64_t i = 0; i < n; i++)
        all[i].dir = xasprintf("%s/%lld", place, (long long)i);
    for (int i = 0; rc == 0 && i < ATTEMPTS && failed > 0; i++) {
        if (i > 0)
            log_error("--launch: %lld of %lld shards failed; starting all of "
                      "them again",
                      (long long)failed, (long long)n);
        lead = lead_ns[i];
        failed = attempt(plan, options, all, n, lead, err);
        rc = failed < 0 ? -1 : 0;
        if (failed > 0 && atomic_load(&stop_signal))
            rc = err_set(err, ERR_STOPPED, "interrupted before the run began");
    }
    if (rc == 0 && failed > 0)
        rc = err_set(err, ERR_IO, "--launch: %lld of %lld shards failed twice",
                     (long long)failed, (long long)n);
    if (rc == 0) {
        int64_t merging_ns = clk_now(&clk_monotonic);

        rc = merge_all(all, n, options, err);
        log_note("launch     %lld shards; start %.1f s after the launch, "
                 "merged in %.2f s, %.1f s in all",
                 (long long)n, (double)lead / 1e9,
                 (double)(clk_now(&clk_monotonic) - merging_ns) / 1e9,
                 (double)(clk_now(&clk_monotonic) - began_ns) / 1e9);
    }
    for (int64_t i = 0; i < n; i++) {
        recording_remove(all[i].dir, &(struct err){0});
        free(all[i].dir);
    }
    rmdir(place);
    free(place);
    free(all);
    return rc;
}
