#include "cli/record.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "cli/ignored_environment.h"
#include "cli/live.h"
#include "cli/plan.h"
#include "cli/settings_args.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/url.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/spec/calibration.h"
#include "common/wire/api_names.h"
#include "loadgen/engine/run.h"
#include "study/study_point.h"

/* Models take long to load. */
#define RESTART_WAIT_NS (300 * NS_PER_S)

#define MAX_NAME 64

/* The last part keeps runs apart that start within a second. */
char *record_default_dir(const char *name)
{
    int64_t now_ns = clk_realtime_ns();
    char time[32];
    char *dir;

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

/* One that cannot be read is no reason not to run. */
static bool load_calibration(struct calibration *c)
{
    struct err err = {0};
    int rc = calibration_load(c, &err);

    if (rc < 0)
        log_error("the calibration is not used: %s", err.msg);
    return rc == 1;
}

/* It may have been taken from the URL, and shows in every number; where that is
 * not clear, it may be another. */
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
        log_note("api        http, or is this %s? (--api)", hint);
}

static void note_apis(const struct settings *s)
{
    if (s->classes.len == 0)
        note_api(s);
    for (size_t i = 0; i < s->classes.len; i++)
        note_api(s->classes.items[i].settings);
}

/* A server that was just started anew is waited for. */
static int64_t wait_of(const struct settings *s, const struct record_how *how)
{
    return how->wait_ready_ns == 0 && s->study.restart ? RESTART_WAIT_NS
                                                       : how->wait_ready_ns;
}

int record(struct settings_args *a, const struct record_how *how,
           const char *dir, struct err *err)
{
    struct calibration calibration;
    struct live live;
    struct run_options options = {
        .dir = dir,
        .force = how->force,
        .argv = how->argv,
        .settings_file = a->file,
        .settings_sha256 = a->text.path ? a->text.sha256 : NULL,
        .wait_ready_ns = wait_of(&a->settings, how),
        .foresee = how->is_again || how->title ? NULL : plan_warn,
        .foresee_arg = a,
        .judge = how->judge,
    };
    int rc;

    if (!how->quiet) {
        live_init(&live, how->no_colour, how->title);
        options.progress = live_show;
        options.arg = &live;
    }
    if (load_calibration(&calibration))
        options.calibration = &calibration;
    if (!how->is_again) {
        ignored_environment_note_proxy(&a->settings.target);
        note_apis(&a->settings);
    }
    rc = point_record(&a->settings, &options, err);
    if (!how->quiet)
        live_end(&live);
    return rc;
}
