#include "cli/record.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/report/render/render_trackers.h"
#include "analyzer/report/report.h"
#include "cli/cli.h"
#include "cli/live.h"
#include "cli/plan.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/recording/manifest.h"
#include "common/settings/settings.h"
#include "common/spec/calibration.h"
#include "common/text/url.h"
#include "common/wire/api_names.h"
#include "listen/listen.h"
#include "loadgen/engine/run.h"
#include "loadgen/engine/run_limits.h"
#include "study/launch/launchers.h"
#include "study/study_point.h"

/* Models take long to load. */
#define RESTART_WAIT_NS (300 * NS_PER_S)

#define MAX_NAME 64

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- flags ---- */

#define AT(field) offsetof(struct record_args, field)

/* clang-format off */
static const struct opt opts[] = {
    {FLAG("out", text, out), .letter = 'o', .group = GROUP_OUTPUT,
     .help = "directory to record into (default tailgate-runs/TIME-NAME)"},
    {FLAG("force", switch, force),
     .help = "replace a recording or study that exists there"},
    {FLAG("resume", switch, resume),
     .help = "continue an interrupted search, sweep or study with variants; "
             "what it has recorded is not repeated"},
    {FLAG("quiet", switch, quiet), .letter = 'q', .group = GROUP_OUTPUT,
     .help = "do not print progress, notes or warnings"},
    {FLAG("format", choice, output.format), .names = report_doc_names,
     .initial = "text",
     .help = "what is printed: text, json, full (text and all JSON values), md "
             "(Markdown), bencher, github-smaller, github-bigger or llm-d "
             "(numbers for trackers of results)"},
    SHOW_FLAGS,
    JSON_FLAG(""),
    MD_FLAG(""),
    JUNIT_FLAG("", "the verdict, SLO terms and trust checks"),
    HTML_FLAG("", "; it needs no other file and no network"),
    {FLAG("listen", text, listen),
     .help = "serve a page that updates itself, /metrics, /summary.json and "
             "/healthz at this address while it runs: 127.0.0.1:9100; port 0 "
             "takes a free one"},
    {FLAG("listen-token-env", text, listen_token_env),
     .help = "environment variable with the token that clients of --listen "
             "must send; required for an address beyond loopback"},
    {FLAG("listen-linger", duration, listen_linger_ns),
     .help = "keep serving this long after the end, for a last scrape"},
    {FLAG("metrics-file", text, metrics_file),
     .help = "replace this file with the metrics once per second, for a "
             "collector of text files"},
    {FLAG("wait-ready", duration, wait_ready_ns), .is_positive = true,
     .help = "before the run, wait until the target answers, at most this "
             "long"},
    {FLAG("launch", text, launch),
     .help = "make each recording by several processes, each of which sends "
             "its share, and merge their recordings: local:N, "
             "ssh:HOST,HOST..., srun[:N], mpirun:N, mpi:N, kubectl:N, or a "
             "command of your own (docs/distributed.md)"},
    {FLAG("shards", count, shards), .is_positive = true,
     .help = "with --launch: the number of processes, if the launcher does "
             "not say it"},
    {FLAG("launch-lead", duration, launch_lead_ns), .is_positive = true,
     .help = "with --launch: time from the launch to the common start, in "
             "which all processes must become ready (default 1s local, 60s "
             "kubectl, 10s a command, 5s others)"},
    {FLAG("launch-limit", duration, launch_limit_ns), .is_positive = true,
     .help = "with --launch: time limit of the first attempt (default: the "
             "length of the run plus a minute)"},
};
/* clang-format on */

const struct opt_block record_args_block = {"recording", opts, COUNT(opts)};

int record_args_check_format(const struct record_args *args, struct err *err)
{
    enum doc_format ignored;

    return report_format(&args->output, report_doc_names, &ignored, err);
}

enum doc_format record_args_format(const struct record_args *args)
{
    enum doc_format format = DOC_AS_TEXT;

    report_format(&args->output, report_doc_names, &format, &(struct err){0});
    return format;
}

int record_args_check_study(const struct record_args *args, bool is_pair,
                            struct err *err)
{
    enum doc_format format = record_args_format(args);
    const char *name = report_doc_names[args->output.format];

    if (record_args_check_format(args, err))
        return -1;
    if (format == DOC_AS_LLM_D)
        return err_set(err, ERR_USAGE, "--format %s requires a single run",
                       name);
    if (is_pair && doc_is_for_trackers(format))
        return err_set(err, ERR_USAGE,
                       "--format %s cannot be combined with --against: use "
                       "'tailgate report DIR/a --format %s' afterwards",
                       name, name);
    return 0;
}

int record_args_check_resume(const struct record_args *args, struct err *err)
{
    if (args->force && args->resume)
        return err_set(err, ERR_USAGE,
                       "--resume cannot be combined with --force");
    if (args->resume && !args->out)
        return err_set(err, ERR_USAGE,
                       "--resume requires the directory of the study (-o DIR)");
    return 0;
}

/* The last part keeps runs apart that start within a second. */
char *record_args_dir(const struct record_args *args, const char *name)
{
    int64_t now_ns = clk_realtime_ns();
    char time[32];
    char *dir;

    if (args->out)
        return xstrdup(args->out);
    clk_format_utc(now_ns, CLK_NAME_FORMAT, time, sizeof(time));
    dir = xasprintf(RECORDING_RUNS "/%s-%.*s-%04x", time, MAX_NAME, name,
                    (unsigned)((uint64_t)now_ns / 1000 ^ (uint64_t)getpid()) &
                        0xffff);
    for (char *p = dir + strlen(RECORDING_RUNS "/"); *p; p++) {
        if (!isalnum((unsigned char)*p) && *p != '-' && *p != '_')
            *p = '-';
    }
    return dir;
}

/* ---- notes before the first ---- */

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value && value[0];
}

/* Proxies of the environment are not used. */
static void note_proxies(const struct target_settings *target)
{
    static const char *const names[] = {"http_proxy",  "HTTP_PROXY",
                                        "https_proxy", "HTTPS_PROXY",
                                        "all_proxy",   "ALL_PROXY"};
    static const char *const exceptions[] = {"no_proxy", "NO_PROXY"};

    for (size_t i = 0; i < COUNT(names) && !target->proxy; i++) {
        if (is_set(names[i]))
            log_note("%s is set and ignored; use --proxy", names[i]);
    }
    for (size_t i = 0; i < COUNT(exceptions); i++) {
        if (is_set(exceptions[i]))
            log_note("%s is set and ignored", exceptions[i]);
    }
}

/* The API may have been taken from the URL, and affects every number; where the
 * URL is not clear, the guess may be wrong. */
static void note_api(const struct settings *s)
{
    const char *hint = NULL;
    struct url url;

    if (s->target.api != API_HTTP) {
        log_note("api        %s", api_names[s->target.api]);
        return;
    }
    if (url_parse(settings_url(s), &url, &(struct err){0}) == 0)
        api_detect(url.path, &hint);
    if (hint)
        log_note(
            "api        http; if the server's API is %s, set it with --api",
            hint);
}

/* ---- the recording ---- */

/* Other rules were checked when the settings were resolved. */
static void refuse_shard(void *arg, const char *subject, const char *unmet)
{
    struct err *err = arg;

    if (!err->code && strcmp(subject, "client.shard") == 0)
        err_set(err, ERR_CONFIG, "--launch %s", unmet);
}

static int find_launcher(const struct record_args *args, struct launcher *l,
                         struct err *err)
{
    const struct launch_ask ask = {.text = args->launch,
                                   .shards = args->shards,
                                   .lead_ns = args->launch_lead_ns,
                                   .limit_ns = args->launch_limit_ns};

    if (args->launch)
        return launcher_find(l, &ask, err);
    if (args->shards > 0 || args->launch_lead_ns > 0 ||
        args->launch_limit_ns > 0)
        return err_set(err, ERR_USAGE,
                       "--shards, --launch-lead and --launch-limit require "
                       "--launch");
    return 0;
}

/* What a shard cannot do, several processes cannot do together. */
static int check_launch(const struct settings *s, const struct record_how *how,
                        const struct launcher *l, struct err *err)
{
    struct settings shard;
    struct err why = {0};

    if (how->start_at_ns > 0 || s->client.shard)
        return err_set(err, ERR_USAGE,
                       "--launch cannot be combined with --start-at and "
                       "--shard");
    if (l->ops->is_remote && s->has_stub)
        return err_set(err, ERR_USAGE,
                       "--launch %s: the stub of the settings would listen on "
                       "this machine only; start it with 'tailgate stub "
                       "--bind ADDRESS', and give its URL",
                       l->ops->name);
    if (l->ops->is_remote && s->cost.memory_of &&
        strcmp(s->cost.memory_of, "server") == 0)
        return err_set(err, ERR_USAGE,
                       "--launch %s: cost.memory_of: server is a process of "
                       "this machine, which shards elsewhere cannot read",
                       l->ops->name);
    settings_clone(&shard, s);
    shard.client.shard = xstrdup("0/1");
    shard.has_stub = false;  /* it is started once for all */
    if (l->ops->is_resident) /* they are told when it is decided */
        shard.load.stop = STOP_END;
    free(shard.server.start);
    shard.server.start = NULL;
    if (s->study.trials > 1 || l->ops->is_resident) { /* as well; or by us */
        free(shard.study.until);
        shard.study.until = NULL;
    }
    shard.study.trials = 1;
    settings_each_unmet(&shard, false, refuse_shard, &why);
    /* The last ones have the least. */
    for (int64_t i = l->n < 2 ? 0 : l->n - 2; !why.code && i < l->n; i++) {
        const struct machine any = {
            .cores = 1, .files = INT32_MAX, .memory = INT32_MAX};

        struct settings one;

        settings_init(&one);
        settings_copy(&one, &shard); /* the plan changes it */
        free(one.client.shard);
        one.client.shard =
            xasprintf("%lld/%lld", (long long)i, (long long)l->n);
        if (plan_client(&one, any, &why))
            err_context(&why, "--launch");
        settings_fini(&one);
    }
    settings_fini(&shard);
    if (why.code)
        *err = why;
    return why.code ? -1 : 0;
}

/* Progress is for the terminal and for those who listen. */
struct shown_to {
    struct live *live;     /* NULL: quiet */
    struct listen *listen; /* NULL: no --listen */
};

static void show_progress(void *arg, const struct run_progress *p)
{
    const struct shown_to *to = arg;

    if (to->live)
        live_show(to->live, p);
    if (to->listen)
        listen_progress(to->listen, p);
}

/* A study that is continued repeats what was interrupted. */
static bool may_replace(const struct record_args *args)
{
    return args->force || args->resume;
}

int record(const struct settings *s, const struct record_how *how,
           struct err *err)
{
    const struct record_args *args = how->args;
    bool waits_for_restart = args->wait_ready_ns == 0 && s->study.restart;
    struct err no_calibration = {0};
    struct launcher launcher = {0};
    struct calibration calibration;
    struct live live = {0};
    struct shown_to to = {.live = args->quiet ? NULL : &live,
                          .listen = how->listen};
    struct run_options options = {
        .dir = how->dir,
        .force = may_replace(args),
        .argv = how->argv,
        .settings_file = how->file->path,
        .settings_sha256 = how->file->sha256[0] ? how->file->sha256 : NULL,
        .wait_ready_ns =
            waits_for_restart ? RESTART_WAIT_NS : args->wait_ready_ns,
        .foresee = how->is_again || how->title ? NULL : plan_warn,
        .foresee_arg = (void *)how->file,
        .has_preflight = how->has_preflight,
        .judge = how->judge,
        .start_at_ns = how->start_at_ns,
        .start_is_own = how->start_is_own,
    };
    int rc = calibration_load(&calibration, &no_calibration);

    if (rc < 0) /* no reason not to run */
        log_error("the calibration is not used: %s", no_calibration.msg);
    if (rc == 1)
        options.calibration = &calibration;
    if (!args->quiet)
        live_init(&live, args->output.no_colour, how->title);
    if (!args->quiet || how->listen) {
        options.progress = show_progress;
        options.arg = &to;
    }
    if (how->listen)
        options.watch = listen_watch(how->listen);
    if (!how->is_again) {
        note_proxies(&s->target);
        if (s->classes.len == 0)
            note_api(s);
        for (size_t i = 0; i < s->classes.len; i++)
            note_api(s->classes.items[i].settings);
        plan_warn_of_apis(how->file, s);
    }
    rc = find_launcher(args, &launcher, err);
    launcher.ranks = how->ranks;
    if (rc == 0 && launcher.ops)
        rc = check_launch(s, how, &launcher, err);
    if (rc == 0 && how->listen)
        rc = listen_begin(how->listen, s, how->point, err);
    if (rc == 0)
        rc = point_record(s, &options, launcher.ops ? &launcher : NULL, err);
    if (how->listen)
        listen_end(how->listen);
    if (!args->quiet)
        live_end(&live);
    return rc;
}

/* ---- a repetition ---- */

/* A value in a line; the caller frees it. */
static char *shown(const json_t *value)
{
    return value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
}

/* 1 if the values differ, else 0. */
static int note_pair(const char *part, const char *key, const json_t *old,
                     const json_t *new)
{
    char *before;
    char *after;

    if (old == new || json_equal(old, new))
        return 0;
    before = shown(old);
    after = shown(new);
    log_note("           %s%s%s: %s, now %s", part, key ? "." : "",
             key ? key : "", before ? before : "(not known)",
             after ? after : "(not known)");
    free(before);
    free(after);
    return 1;
}

static int note_part(const char *part, json_t *old, json_t *new)
{
    const char *key;
    json_t *value;
    int n = 0;

    if (!json_is_object(old) || !json_is_object(new))
        return note_pair(part, NULL, old, new);
    json_object_foreach(old, key, value)
    {
        n += note_pair(part, key, value, json_object_get(new, key));
    }
    json_object_foreach(new, key, value)
    {
        if (!json_object_get(old, key))
            n += note_pair(part, key, NULL, value);
    }
    return n;
}

void record_note_repeated(const char *old_dir, const char *new_dir)
{
    /* Parts of a manifest that should be the same in a repetition. */
    static const char *const parts[] = {"tailgate",  "environment", "endpoints",
                                        "transport", "data",        "trace"};
    struct manifest old = {0};
    struct manifest new = {0};
    struct err err = {0};
    int n = 0;

    if (manifest_load(&old, old_dir, &err) ||
        manifest_load(&new, new_dir, &err)) {
        log_error("%s", err.msg);
    } else {
        log_note("repeated   %s; conditions that differ:", old_dir);
        for (size_t i = 0; i < COUNT(parts); i++)
            n += note_part(parts[i], json_object_get(old.json, parts[i]),
                           json_object_get(new.json, parts[i]));
        if (n == 0)
            log_note("           none");
    }
    manifest_fini(&old);
    manifest_fini(&new);
}
