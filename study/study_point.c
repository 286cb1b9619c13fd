#include "study/study_point.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/read/reader.h"
#include "analyzer/report/report.h"
#include "analyzer/tally/summary.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/settings/settings.h"
#include "loadgen/engine/run.h"
#include "loadgen/prepare/preflight.h"
#include "loadgen/prepare/show.h"
#include "server-stub/stub.h"
#include "study/child.h"
#include "study/study_server.h"

#define RETRY_NS NS_PER_S
#define NAP_NS   (20 * NS_PER_MS)

void point_aim(struct settings *s, const struct child *stub)
{
    const char *given = settings_url(s);
    const char *path = strstr(given, "://");
    char *url;

    if (path)
        path = strchr(path + strlen("://"), '/');
    url = xasprintf("%s%s", child_url_for(stub, given), path ? path : "/");
    strlist_fini(&s->target.urls);
    strlist_add(&s->target.urls, url);
    free(url);
    s->target.request_id = true; /* so that its truth can be joined */
    for (size_t i = 0; i < s->classes.len; i++)
        point_aim(s->classes.items[i].settings, stub);
    for (size_t i = 0; i < s->warmup.len; i++)
        point_aim(s->warmup.items[i].settings, stub);
}

static int start_stub(struct child *stub, struct run_plan *plan,
                      struct run_options *options, struct err *err)
{
    struct settings *s = &plan->used;
    char *truth = xasprintf("%s/truth.tgr", options->dir);
    int rc = stub_check(&s->stub, err);

    if (rc == 0)
        rc = recording_make_dir(options->dir, options->force, err);

    options->has_dir = true;
    if (rc == 0)
        rc = child_start_stub(stub, s, truth, err);
    if (rc == 0)
        point_aim(s, stub);
    free(truth);
    return rc;
}

#define PROCESS_TEXT 32

/* Whose memory is read, if it is that of what was started. */
static void meter_process(const struct settings *s, const char *whose,
                          const char text[static PROCESS_TEXT],
                          struct run_options *options)
{
    if (s->cost.memory_of && strcmp(s->cost.memory_of, whose) == 0)
        options->memory_of = text;
}

/* The stub, if there is one, ends before its truth is read. */
static int drive_stub(struct run_plan *plan, struct run_options *options,
                      struct err *err)
{
    char process[PROCESS_TEXT];
    struct child stub = {0};
    struct err late = {0};
    struct run_end end;
    int rc = start_stub(&stub, plan, options, err);

    bool has_started = rc == 0;

    snprintf(process, sizeof(process), "pid %ld", (long)stub.pid);
    meter_process(&plan->used, "stub", process, options);
    if (rc == 0)
        rc = run_load(plan, options, &end, err);
    options->memory_of = NULL;
    if (child_stop(&stub, &late))
        log_error("%s", late.msg); /* what it did to the load is recorded */
    /* The directory was made for its truth; nothing else came. */
    if (has_started && rc && !recording_is_at(options->dir))
        recording_remove(options->dir, &(struct err){0});
    return rc;
}

/* A server that is gone, and whoever else may end the run. */
struct watched {
    struct server *server;
    const struct run_judge *judge; /* NULL: nobody */
};

static bool is_enough(void *arg, const struct run_look *look)
{
    const struct watched *w = arg;

    return server_has_ended(w->server) ||
           (w->judge && w->judge->is_enough(w->judge->arg, look));
}

/* A server that dies leaves requests that fail, which say nothing of it. */
static int drive_server(struct run_plan *plan, struct run_options *options,
                        struct err *err)
{
    char process[PROCESS_TEXT];
    struct server server = {0};
    struct watched watched = {&server, options->judge};
    const struct run_judge judge = {is_enough, &watched};
    struct run_end end;
    int rc = recording_make_dir(options->dir, options->force, err);

    if (rc)
        return -1;
    options->has_dir = true;
    options->judge = &judge;
    rc = server_start(&server, plan, options->dir, err);
    snprintf(process, sizeof(process), "group %ld", (long)server.process.pid);
    meter_process(&plan->used, "server", process, options);
    if (rc == 0)
        rc = run_load(plan, options, &end, err);
    if (rc == 0 && server_has_ended(&server))
        rc = server_blame_end(&server, "during the run", err);
    options->judge = watched.judge;
    options->memory_of = NULL;
    server_stop(&server);
    return rc;
}

static int drive(struct run_plan *plan, struct run_options *options,
                 struct err *err)
{
    struct run_end end;

    if (plan->used.has_stub)
        return drive_stub(plan, options, err);
    return plan->used.server.start ? drive_server(plan, options, err)
                                   : run_load(plan, options, &end, err);
}

int point_record(const struct settings *s, struct run_options *options,
                 struct err *err)
{
    struct run_plan plan;
    int rc;

    run_plan_init(&plan, s);
    rc = drive(&plan, options, err);
    run_plan_fini(&plan);

    if (rc && atomic_load(&stop_signal) && err->code != ERR_STOPPED) {
        *err = (struct err){0}; /* whatever the signal made fail */
        err_set(err, ERR_STOPPED, "interrupted before the run began");
    }
    return rc;
}

static int save(const struct summary *s, const char *dir, struct err *err)
{
    struct buf out;
    int rc;

    buf_init(&out, POINT_MAX_REPORT);
    report_json.render(s, &out);
    rc = file_replace_in(dir, "summary.json", &out, err);
    buf_fini(&out);
    return rc;
}

int point_sum_up(const char *dir,
                 int (*see)(void *arg, const struct summary *s,
                            struct err *err),
                 void *arg, struct err *err)
{
    struct recording rec;
    struct summary s;
    int rc;

    if (recording_open(&rec, dir, err))
        return -1;
    rc = summary_make(&s, &rec, NULL, err);
    if (rc == 0)
        rc = save(&s, dir, err);
    if (rc == 0 && see)
        rc = see(arg, &s, err);
    recording_close(&rec);
    return rc;
}

/* True: it is answered, or nobody can ask. */
static bool is_answered(const struct settings *s, struct err *err)
{
    struct exchange x = {0};
    bool is = show_request(s, &x, err) || x.facts.outcome == OUTCOME_OK;

    exchange_fini(&x);
    return is;
}

int point_wait_calm(const struct settings *s, int64_t longest_ns,
                    struct err *err)
{
    int64_t until = clk_now(&clk_monotonic) + longest_ns;
    struct err ignored = {0}; /* the recording that follows will say */

    while (!atomic_load(&stop_signal) && !is_answered(s, &ignored) &&
           clk_now(&clk_monotonic) < until)
        point_settle(RETRY_NS);
    return atomic_load(&stop_signal)
               ? err_set(err, ERR_STOPPED, "interrupted between recordings")
               : 0;
}

void point_settle(int64_t ns)
{
    int64_t until = clk_now(&clk_monotonic) + ns;
    int64_t left;

    while (!atomic_load(&stop_signal) &&
           (left = until - clk_now(&clk_monotonic)) > 0)
        clk_sleep_ns(left < NAP_NS ? left : NAP_NS);
}
