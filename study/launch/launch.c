#include "study/launch/launch.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/recording/manifest.h"
#include "common/recording/merge.h"
#include "common/spec/shard_id.h"
#include "common/text/units.h"
#include "loadgen/engine/run.h"
#include "loadgen/prepare/preflight.h"
#include "study/child.h"
#include "study/launch/clock_exchange.h"
#include "study/launch/launchers.h"
#include "study/launch/ranks.h"
#include "study/launch/shard_plan.h"
#include "study/supervise.h"

#define POLL_NS    (20 * NS_PER_MS)
#define MAX_SCRIPT ((size_t)64 << 10)
#define MAX_PATH   4096

/* From SIGTERM to SIGKILL: requests in flight are waited for, the recording is
 * written and fetched. */
#define GRACE_NS (20 * NS_PER_S)

/* ---- how long it may take ---- */

int64_t launch_limit_ns(const struct settings *s, int64_t lead_ns,
                        int64_t wait_ready_ns)
{
    const struct load_settings *load = &s->load;
    int64_t longest_ns = load_longest_ns(load);
    double counted =
        (double)(load->requests + load->min_requests + load->warmup_requests);
    int64_t drain_ns =
        load->drain_ns > 0 ? load->drain_ns : s->target.timeout_ns;

    if (load->stages.len > 0 || load->scenario == SCENARIO_TRACE ||
        (longest_ns == 0 && !(load->rate_rps > 0)) ||
        (longest_ns == 0 && counted <= 0))
        return CHILD_PATIENCE_NS;
    if (longest_ns == 0) /* twice as long as expected */
        longest_ns = (int64_t)(2e9 * counted / load->rate_rps);
    else if (load->warmup_requests > 0 && load->rate_rps > 0)
        longest_ns +=
            (int64_t)(2e9 * (double)load->warmup_requests / load->rate_rps);
    return lead_ns + wait_ready_ns + load->warmup_ns + longest_ns +
           load_cooldown_ns(load) + drain_ns + s->target.timeout_ns +
           LAUNCH_SPARE_NS;
}

/* ---- one attempt ---- */

/* Is the recording of a shard there?  Else it is lost. */
enum presence { LOST, PARTIAL, COMPLETE };

struct launch {
    struct run_plan *plan;
    const struct run_options *options;
    const struct launcher *how;
    char *place;   /* DIR.shards; owned, as are ... */
    char *file;    /* ... the plan in it */
    char *first;   /* ... and DIR.shards.first: what the first attempt left */
    bool replaces; /* DIR has a recording, which the new one will replace */
    int64_t lead_ns;
    int64_t start_at_ns;
    bool has_place;
    enum presence shards[SHARD_ID_MAX]; /* after the last attempt */
};

static char *shard_dir(const struct launch *l, int64_t i)
{
    return xasprintf("%s/%lld", l->place, (long long)i);
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

/* Whatever a launcher has left there. */
static void clean_up(const char *place)
{
    nftw(place, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* An empty place that only we can read: the plan may hold API keys. */
static int make_place(struct launch *l, struct err *err)
{
    clean_up(l->place);
    memset(l->shards, 0, sizeof(l->shards));
    if (mkdir(l->place, 0700) < 0)
        return err_set(err, ERR_IO, "%s: %s", l->place, strerror(errno));
    l->has_place = true;
    return 0;
}

/* Recordings that could not be merged may be there. */
static int check_place(const struct launch *l, struct err *err)
{
    const char *const places[] = {l->place, l->first};

    for (size_t i = 0; i < 2 && !l->options->force; i++) {
        if (access(places[i], F_OK) == 0 &&
            recording_holds_anything(places[i], &(struct err){0}))
            return err_set(err, ERR_USAGE,
                           "%s: is left from an earlier launch; merge the "
                           "recordings in it or remove it, or replace it with "
                           "--force",
                           places[i]);
    }
    return 0;
}

static int64_t count_shards(const struct launch *l, enum presence min)
{
    int64_t n = 0;

    for (int64_t i = 0; i < l->how->n; i++)
        n += l->shards[i] >= min;
    return n;
}

static void add_variable(struct strlist *list, const char *name,
                         const char *value)
{
    char *text = xasprintf("TAILGATE_%s=%s", name, value);

    strlist_add(list, text);
    free(text);
}

/* The program that runs.  If its file was replaced since then, the new one. */
static void find_program(char exe[static MAX_PATH])
{
    static const char gone[] = " (deleted)";
    ssize_t len = readlink("/proc/self/exe", exe, MAX_PATH - 1);
    ssize_t kept = len - (ssize_t)strlen(gone);

    if (len <= 0)
        len = snprintf(exe, MAX_PATH, "tailgate");
    exe[len] = '\0';
    if (kept > 0 && strcmp(exe + kept, gone) == 0)
        exe[kept] = '\0';
}

/* Ranks are another program, which is there if MPI was when this was built. */
static int check_program(const struct launcher *how, struct err *err)
{
    char exe[MAX_PATH];
    char *ranks;
    int rc;

    if (!how->ops->is_resident)
        return 0;
    find_program(exe);
    ranks = xasprintf("%s-mpi", exe);
    rc = access(ranks, X_OK) == 0
             ? 0
             : err_set(err, ERR_CONFIG,
                       "--launch %s requires %s, which is built where MPI is "
                       "installed; without it, use mpirun:N",
                       how->ops->name, ranks);
    free(ranks);
    return rc;
}

static void make_environment(const struct launch *l, struct strlist *out)
{
    char exe[MAX_PATH];
    char at[64];
    char n[32];

    find_program(exe);
    snprintf(at, sizeof(at), "@%lld.%09lld",
             (long long)(l->start_at_ns / NS_PER_S),
             (long long)(l->start_at_ns % NS_PER_S));
    snprintf(n, sizeof(n), "%lld", (long long)l->how->n);
    add_variable(out, "PLAN", l->file);
    add_variable(out, "SHARDS", n);
    add_variable(out, "START_AT", at);
    add_variable(out, "OUT", l->place);
    add_variable(out, "EXE", exe);
    add_variable(out, "LAUNCH", l->how->rest);
}

/* Wait for the end of the launcher.  A signal that we got is passed on, so that
 * the shards end their run.  "" or why it failed. */
static void follow(struct supervised *s, int64_t limit_ns, char *why,
                   size_t size)
{
    int64_t until_ns = clk_now(&clk_monotonic) + limit_ns;
    char end[64];
    char text[UNITS_TEXT];
    bool is_told = false;

    why[0] = '\0';
    while (!supervise_has_ended(s)) {
        int64_t now_ns = clk_now(&clk_monotonic);

        if (atomic_load(&stop_signal) && !is_told && s->pid > 0) {
            kill(-s->pid, SIGTERM);
            is_told = true;
            if (until_ns > now_ns + GRACE_NS)
                until_ns = now_ns + GRACE_NS;
        }
        if (now_ns > until_ns) {
            snprintf(why, size, "it did not end within %s",
                     units_show_span(limit_ns, text));
            return;
        }
        clk_sleep_ns(POLL_NS);
    }
    if (s->is_orphan || s->failed || s->status != 0)
        snprintf(why, size, "%s", supervise_describe_end(s, end, sizeof(end)));
}

static int run_script(const struct launch *l, int64_t limit_ns, char *why,
                      size_t size, struct err *err)
{
    struct strlist environment = {0};
    struct supervised s;
    struct buf script;
    struct supervise_how how = {.grace_ns = GRACE_NS,
                                .environment = &environment};
    int rc;

    buf_init(&script, MAX_SCRIPT);
    launcher_script(l->how, &script);
    how.start = buf_text(&script);
    make_environment(l, &environment);
    if (l->how->ops->is_resident) {
        const struct ranks_job job = {.script = how.start,
                                      .environment = &environment,
                                      .n = (int)l->how->n,
                                      .out = l->place,
                                      .lead_ns = l->lead_ns,
                                      .limit_ns = limit_ns,
                                      .settings = &l->plan->used,
                                      .options = l->options};

        rc = ranks_run(l->how->ranks, &job, why, size, err);
    } else if ((rc = supervise_start(&s, &how, err)) == 0) {
        follow(&s, limit_ns, why, size);
        supervise_stop(&s);
    }
    strlist_fini(&environment);
    buf_fini(&script);
    return rc;
}

/* What the launcher found out about the clock of a shard becomes a part of its
 * manifest, and so of the merged one.  False: nothing. */
static bool note_clock(const struct launch *l, int64_t i, struct manifest *m)
{
    struct manifest_clock found = {0};

    if (l->how->ops->is_resident) {
        struct rank_offset of = ranks_clock(l->how->ranks, i);

        found = (struct manifest_clock){of.offset_ns, of.error_ns, true,
                                        of.drift_ppm};
    } else {
        char *path = xasprintf("%s/%lld.clock", l->place, (long long)i);
        struct clock_offset of = {0};

        clock_offset_read(path, &of, &(struct err){0});
        found = (struct manifest_clock){.offset_ns = of.offset_ns,
                                        .error_ns = of.error_ns};
        free(path);
    }
    if (found.error_ns > 0)
        manifest_set_clock(m, &found);
    return found.error_ns > 0;
}

/* What is there once the launcher has ended.  A shard that a signal ended
 * although we were not interrupted counts as killed, and so does a rank that
 * was lost, even if it went on and completed its recording. */
static int take_stock(struct launch *l, struct err *err)
{
    bool is_ours = atomic_load(&stop_signal);
    int rc = 0;

    for (int64_t i = 0; rc == 0 && i < l->how->n; i++) {
        char *dir = shard_dir(l, i);
        struct manifest m = {0};
        struct run_end end = {0};
        bool is_there = manifest_load(&m, dir, &(struct err){0}) == 0;
        bool has_end = is_there && manifest_end(&m, &end);
        bool is_cut =
            has_end &&
            ((end.stopped_by && !is_ours) ||
             (l->how->ops->is_resident && ranks_has_lost(l->how->ranks, i)));

        if (is_cut)
            manifest_reopen(&m);
        if (is_there && (note_clock(l, i, &m) || is_cut))
            rc = manifest_save(&m, dir, err);
        l->shards[i] = !is_there            ? LOST
                       : has_end && !is_cut ? COMPLETE
                                            : PARTIAL;
        manifest_fini(&m);
        free(dir);
    }
    return rc;
}

/* Returns how many shards are complete; -1.  `why` is "" if all are. */
static int64_t attempt(struct launch *l, char *why, size_t size,
                       struct err *err)
{
    const char *file = l->how->ops->file;
    int64_t limit_ns = l->how->limit_ns > 0 /* its start may be later */
                           ? l->how->limit_ns + l->lead_ns - l->how->lead_ns
                           : launch_limit_ns(&l->plan->used, l->lead_ns,
                                             l->options->wait_ready_ns);
    int64_t n;

    if (make_place(l, err))
        return -1;
    l->start_at_ns = clk_realtime_ns() + l->lead_ns;
    if (shard_plan_write(l->file, l->plan, l->options, l->how->n,
                         l->start_at_ns, err))
        return -1;
    if (file) {
        char *path = xasprintf("%s/job.template", l->place);
        int rc = file_replace(path, file, strlen(file), err);

        free(path);
        if (rc)
            return -1;
    }
    if (run_script(l, limit_ns, why, size, err))
        return -1;
    unlink(l->file);
    if (take_stock(l, err))
        return -1;
    n = count_shards(l, COMPLETE);
    if (n < l->how->n && !why[0])
        snprintf(why, size, "it left %lld of %lld complete recordings",
                 (long long)n, (long long)l->how->n);
    if (n == l->how->n && !l->how->ops->is_resident)
        why[0] = '\0'; /* whatever its status */
    return n;
}

/* ---- the recordings ---- */

/* The signal that ended us may have reached the shards as another one, or they
 * were killed and could not say so. */
static int note_signal(const char *dir, bool has_flaws, struct err *err)
{
    int number = atomic_load(&stop_signal);
    struct run_end end = {0};
    struct manifest m = {0};
    int rc = manifest_load(&m, dir, err);

    if (rc == 0)
        manifest_end(&m, &end);
    if (rc == 0 && number && (has_flaws || end.stopped_by)) {
        manifest_set_stopped(&m, number);
        rc = manifest_save(&m, dir, err);
    }
    manifest_fini(&m);
    return rc;
}

static int merge_all(const struct launch *l, struct err *err)
{
    const char *out = l->options->dir;
    struct strlist dirs = {0};
    struct merge_result result = {0};
    int rc;

    for (int64_t i = 0; i < l->how->n; i++) {
        char *dir = shard_dir(l, i);

        if (l->shards[i] != LOST)
            strlist_add(&dirs, dir);
        free(dir);
    }
    rc = merge_recordings(&dirs, out, l->replaces ? MERGE_REPLACE : MERGE_INTO,
                          &result, err);
    for (size_t i = 0; i < result.flaws.len; i++)
        log_error("--launch: %s: its missing requests count as unfinished",
                  result.flaws.items[i]);
    if (rc == 0)
        rc = note_signal(out, result.flaws.len > 0, err);
    if (rc)
        err_context(err, "--launch: the recordings of the shards are in %s",
                    l->place);
    merge_result_fini(&result);
    strlist_fini(&dirs);
    return rc;
}

/* The time that it took beyond the load itself. */
static void note_overhead(const struct launch *l, int64_t began_ns,
                          int64_t merging_ns)
{
    int64_t now_ns = clk_now(&clk_monotonic);
    int64_t lead_ns = l->lead_ns;
    struct manifest m = {0};
    struct run_end end = {0};

    if (manifest_load(&m, l->options->dir, &(struct err){0}) == 0)
        manifest_end(&m, &end);
    manifest_fini(&m);
    if (l->how->ops->is_resident && ranks_starting_ns(l->how->ranks) > 0)
        lead_ns = ranks_starting_ns(l->how->ranks);
    log_note("launch     %s, %lld shards: start %.1f s after the launch, "
             "merged in %.2f s; overhead %.1f s of %.1f s",
             l->how->ops->name, (long long)l->how->n, (double)lead_ns / 1e9,
             (double)(now_ns - merging_ns) / 1e9,
             (double)(now_ns - began_ns - end.due_end_ns) / 1e9,
             (double)(now_ns - began_ns) / 1e9);
}

/* Two attempts, if the first one does not leave all shards.  What the first one
 * left counts if the second one leaves nothing, as when a host has vanished.
 * Returns how many shards are complete; -1. */
static int64_t try_all(struct launch *l, char *why, size_t size,
                       struct err *err)
{
    enum presence left[SHARD_ID_MAX];
    int64_t n = attempt(l, why, size, err);

    if (n < 0 || n == l->how->n || atomic_load(&stop_signal) ||
        (l->how->ops->is_resident && ranks_were_lost(l->how->ranks)))
        return n;
    log_error("--launch: %s; starting all shards again", why);
    clean_up(l->first);
    if (rename(l->place, l->first) < 0)
        return err_set(err, ERR_IO, "%s: %s", l->first, strerror(errno));
    memcpy(left, l->shards, sizeof(left));
    l->lead_ns = l->how->second_lead_ns;
    n = attempt(l, why, size, err);
    if (count_shards(l, PARTIAL) > 0) {
        clean_up(l->first);
        return n;
    }
    clean_up(l->place);
    if (rename(l->first, l->place) < 0)
        return err_set(err, ERR_IO, "%s: %s", l->first, strerror(errno));
    memcpy(l->shards, left, sizeof(left));
    return n < 0 ? -1 : count_shards(l, COMPLETE);
}

/* Merge what is there.  As launch_record(). */
static int conclude(const struct launch *l, const char *why, int64_t began_ns,
                    struct err *err)
{
    int64_t merging_ns = clk_now(&clk_monotonic);

    if (count_shards(l, PARTIAL) == 0) {
        if (atomic_load(&stop_signal))
            return err_set(err, ERR_STOPPED,
                           "interrupted, and no shard has left a recording");
        err_set(err, ERR_IO, "--launch failed twice: %s", why);
        return 1;
    }
    if (why[0])
        log_error("--launch: %s", why);
    if (merge_all(l, err)) /* the launcher left others than it should */
        return err->code == ERR_FORMAT || err->code == ERR_CONFIG ? 1 : -1;
    note_overhead(l, began_ns, merging_ns);
    return 0;
}

int launch_record(struct run_plan *plan, const struct run_options *options,
                  const struct launcher *launcher, struct err *err)
{
    struct launch l = {.plan = plan,
                       .options = options,
                       .how = launcher,
                       .place = xasprintf("%s.shards", options->dir),
                       .first = xasprintf("%s.shards.first", options->dir),
                       .file = xasprintf("%s.shards/plan.json", options->dir),
                       .lead_ns = launcher->lead_ns};
    int64_t began_ns = clk_now(&clk_monotonic);
    bool has_made = false;
    char why[200] = "";
    int rc = check_program(launcher, err) || check_place(&l, err) ? -1 : 0;

    /* What --force replaces stays until there is something to replace it. */
    l.replaces = rc == 0 && !options->has_dir && options->force &&
                 recording_is_at(options->dir);
    if (rc == 0 && !options->has_dir && !l.replaces) {
        rc = recording_make_dir(options->dir, options->force, err);
        has_made = rc == 0;
    }
    /* For all of the shards; others may see a target that we do not. */
    if (rc == 0 && options->has_preflight && !launcher->ops->is_remote)
        rc = run_ask_targets(plan, options, err);
    if (rc == 0 && try_all(&l, why, sizeof(why), err) < 0)
        rc = -1;
    if (rc == 0)
        rc = conclude(&l, why, began_ns, err);
    if (l.has_place && (rc == 0 || count_shards(&l, PARTIAL) == 0))
        clean_up(l.place);
    if (has_made && rc && count_shards(&l, PARTIAL) == 0)
        recording_remove(options->dir, &(struct err){0});
    free(l.file);
    free(l.first);
    free(l.place);
    return rc;
}
