#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/report.h"
#include "analyzer/tally/summary.h"
#include "cli/cli.h"
#include "cli/plan.h"
#include "cli/record.h"
#include "cli/record_args.h"
#include "cli/repeated.h"
#include "cli/report_out.h"
#include "cli/run_lanes.h"
#include "cli/settings_args.h"
#include "cli/show_view.h"
#include "cli/trials_run.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "loadgen/prepare/ready.h"
#include "loadgen/prepare/show.h"
#include "server-stub/stub.h"
#include "study/child.h"
#include "study/study_point.h"

/* Both sides, every byte of them escaped. */
#define MAX_SHOWN (10 * SHOW_KEPT)

struct run_args {
    struct record_args to;
    bool show;
    bool dry_run;
    char *against;
};

#define AT(field) offsetof(struct run_args, field)

static const struct opt opts[] = {
    {.flag = "show",
     .type = &opt_switch,
     .offset = AT(show),
     .group = GROUP_OUTPUT,
     .help = "send one request, print it and its answer, and record nothing"},
    {.flag = "dry-run",
     .type = &opt_switch,
     .offset = AT(dry_run),
     .group = GROUP_OUTPUT,
     .help = "print the plan and send nothing"},
    {.flag = "against",
     .type = &opt_text,
     .offset = AT(against),
     .help = "with --trials: second settings file whose trials alternate with "
             "the first (A B B A ...); recorded in DIR/a and DIR/b"},
};

static const struct opt_block block = {"run", opts,
                                       sizeof(opts) / sizeof(opts[0])};

/* The command's own flags, of which settings_args.h wants a list. */
struct run_sets {
    struct opt_set list[3];
};

static struct run_sets run_args_init(struct run_args *own)
{
    struct run_sets sets = {{{&record_args_block, &own->to}, {&block, own}}};

    opt_init(&sets.list[0]);
    opt_init(&sets.list[1]);
    return sets;
}

static void run_args_fini(const struct run_sets *sets)
{
    opt_fini(&sets->list[0]);
    opt_fini(&sets->list[1]);
}

static int print_run(void *arg, const struct summary *s, struct err *err)
{
    const bool *json = arg;

    return report_print(s, *json ? &report_json : &report_text, err)
               ? -1
               : exit_status_of_run(s);
}

static int conclude(const char *dir, bool json, struct err *err)
{
    int rc = point_sum_up(dir, print_run, &json, err);

    if (rc >= 0)
        log_note("recording  %s", dir);
    return rc;
}

static int record_trial(void *arg, struct settings_args *a, const char *dir,
                        bool is_again, struct err *err)
{
    struct record_how how = *(const struct record_how *)arg;

    how.is_again = is_again;
    return record(a, &how, dir, err);
}

/* The command's own flags were read before. */
static int read_again(const char *const *argv, struct settings_args *a,
                      struct err *err)
{
    struct run_args ignored;
    struct run_sets sets = run_args_init(&ignored);
    int rc = settings_args_read(a, sets.list, argv, err);

    run_args_fini(&sets);
    return rc;
}

static int drive(struct settings_args *a, const struct run_args *own,
                 const char *const *argv, struct err *err)
{
    char *dir = record_args_dir(&own->to, a->settings.name);
    struct record_how one = {.argv = argv,
                             .force = own->to.force,
                             .quiet = own->to.quiet,
                             .no_colour = own->to.no_colour,
                             .wait_ready_ns = own->to.wait_ready_ns};
    const struct trials_how many = {
        .dir = dir,
        .against = own->against,
        .argv = argv,
        .force = own->to.force,
        .json = own->to.json,
        .read = read_again,
        .record = record_trial,
        .arg = &one,
    };
    int rc;

    if (a->settings.study.trials > 1) {
        rc = trials_drive(a, &many, err);
    } else {
        stop_catch_signals();
        rc = record(a, &one, dir, err);
        if (rc == 0)
            rc = conclude(dir, own->to.json, err);
        if (rc >= 0 && a->is_recording)
            repeated_note(a->file, dir);
    }
    free(dir);
    return rc;
}

/* ---- variants ---- */

static int read_variant(const char *const *argv, size_t i,
                        struct settings_args *a, struct err *err)
{
    struct run_args ignored;
    struct run_sets sets = run_args_init(&ignored);
    int rc = settings_args_parse(a, sets.list, argv, err);

    if (rc == 0)
        rc = settings_args_resolve_variant(a, i, err);
    run_args_fini(&sets);
    return rc;
}

static int drive_variants(const struct settings_args *a,
                          const struct run_args *own, const char *const *argv,
                          struct err *err)
{
    char *dir = record_args_dir(&own->to,
                                a->settings.name ? a->settings.name : "study");
    struct run_lanes with = {
        .read = read_variant,
        .how = {.argv = argv,
                .quiet = own->to.quiet,
                .no_colour = own->to.no_colour,
                .wait_ready_ns = own->to.wait_ready_ns},
    };
    const struct lanes_how how = {
        .ops = &run_lane_ops,
        .arg = &with,
        .a = a,
        .dir = dir,
        .force = own->to.force,
        .resumes = own->to.resume,
        .json = own->to.json,
    };
    int rc = lanes_drive(&how, err);

    free(dir);
    return rc;
}

/* ---- --show ---- */

static int show_target(struct settings *s, int64_t wait_ready_ns,
                       struct err *err)
{
    struct exchange x = {0};
    struct buf out;
    int rc = wait_ready_ns > 0 ? ready_wait(&s->target, wait_ready_ns, err) : 0;

    if (rc)
        return -1;
    buf_init(&out, MAX_SHOWN);
    rc = show_request(s, &x, err);
    if (rc == 0) {
        show_view(&x, &out);
        rc = cli_print(buf_text(&out), err);
    }
    if (rc == 0)
        rc = show_exit_code(&x);
    exchange_fini(&x);
    buf_fini(&out);
    return rc;
}

/* One request of each class. */
static int show_all(struct settings *s, int64_t wait_ready_ns, struct err *err)
{
    int rc = 0;

    if (s->classes.len == 0)
        return show_target(s, wait_ready_ns, err);
    for (size_t i = 0; i < s->classes.len && rc == 0; i++)
        rc = show_target(s->classes.items[i].settings, wait_ready_ns, err);
    return rc;
}

/* The stub, if there is one, is asked like any server, and logs nothing. */
static int show(struct settings *s, int64_t wait_ready_ns, struct err *err)
{
    struct child stub = {0};
    struct err late = {0};
    int rc = 0;

    stop_catch_signals();
    if (s->has_stub) {
        rc = stub_check(&s->stub, err);
        if (rc == 0)
            rc = child_start_stub(&stub, s, NULL, err);
        if (rc == 0)
            point_aim(s, &stub);
    }
    if (rc == 0)
        rc = show_all(s, wait_ready_ns, err);
    if (child_stop(&stub, &late))
        log_error("%s", late.msg);
    return rc;
}

/* One request takes no rate, but a run of it takes a client. */
static void ask_for_one(struct load_settings *load)
{
    if (load->rate_rps == 0 && load->stages.len == 0 && !load->shape &&
        !load->rate_table && load->clients == 0 && !load->trace.file)
        load->clients = 1;
}

static int act(struct settings_args *a, const struct run_args *own,
               const char *const *argv, struct err *err)
{
    int rc;

    if (own->dry_run)
        rc = plan_print(a, err);
    else if (own->show)
        rc = show(&a->settings, own->to.wait_ready_ns, err);
    else
        rc = drive(a, own, argv, err);
    return rc < 0 ? settings_args_blame(a, err) : rc;
}

static int act_variants(struct settings_args *a, const struct run_args *own,
                        const char *const *argv, struct err *err)
{
    if (own->against || own->show)
        return err_set(err, ERR_USAGE, "--%s cannot be combined with variants",
                       own->show ? "show" : "against");
    if (record_args_check_resume(&own->to, err))
        return -1;
    return own->dry_run ? plan_print_variants(a->settings.variants.len,
                                              read_variant, argv, err)
                        : drive_variants(a, own, argv, err);
}

static int act_alone(struct settings_args *a, const struct run_args *own,
                     const char *const *argv, struct err *err)
{
    if (own->show)
        ask_for_one(&a->settings.load);
    if (settings_args_resolve(a, err))
        return -1;
    if (own->to.resume)
        return err_set(err, ERR_USAGE,
                       "--resume requires settings with variants");
    if (own->against && a->settings.study.trials < 2)
        return err_set(err, ERR_USAGE, "--against requires --trials 2 or more");
    if (a->settings.study.restart && a->settings.study.trials < 2)
        return err_set(err, ERR_CONFIG,
                       "study.restart requires study.trials: 2 or more");
    return act(a, own, argv, err);
}

static int run(const char *const *argv, struct err *err)
{
    struct run_args own;
    struct run_sets sets = run_args_init(&own);
    struct settings_args a;
    int rc = settings_args_parse(&a, sets.list, argv, err);

    if (own.to.quiet)
        log_set_level(LOG_QUIET);
    if (rc == 0 && own.show && own.dry_run)
        rc =
            err_set(err, ERR_USAGE, "--show cannot be combined with --dry-run");
    if (rc == 0)
        rc = a.settings.variants.len > 0 ? act_variants(&a, &own, argv, err)
                                         : act_alone(&a, &own, argv, err);
    settings_args_fini(&a);
    run_args_fini(&sets);
    return rc;
}

static const struct opt_block *const blocks[] = {
    &record_args_block, &block,       &settings_args_block, &block_top,
    &block_target,      &block_load,  &block_trace,         &block_data,
    &block_client,      &block_study, &block_cost,          NULL,
};

const struct command cmd_run = {
    .name = "run",
    .usage = "SETTINGS|URL [FLAGS]",
    .help =
        "make one run, or several trials, and print a report with a verdict",
    .run = run,
    .blocks = blocks,
};
