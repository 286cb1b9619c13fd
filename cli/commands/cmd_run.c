#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/html/page.h"
#include "analyzer/html/run_page.h"
#include "analyzer/read/reader.h"
#include "analyzer/report/run_doc.h"
#include "analyzer/tally/run_bins.h"
#include "analyzer/tally/summary.h"
#include "cli/cli.h"
#include "cli/listening.h"
#include "cli/plan.h"
#include "cli/record.h"
#include "cli/report_html.h"
#include "cli/report_out.h"
#include "cli/settings_args.h"
#include "cli/show_view.h"
#include "cli/study_command.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/text/units.h"
#include "listen/listen.h"
#include "listen/listen_state.h"
#include "loadgen/prepare/ready.h"
#include "loadgen/prepare/show.h"
#include "server-stub/stub.h"
#include "study/child.h"
#include "study/launch/ranks.h"
#include "study/study.h"
#include "study/study_point.h"

/* Request and response, every byte escaped. */
#define MAX_SHOWN (10 * SHOW_KEPT)

struct run_args {
    struct record_args to;
    bool show;
    bool dry_run;
    char *against;
    char *start_at;
};

#define AT(field) offsetof(struct run_args, field)

/* clang-format off */
static const struct opt opts[] = {
    {FLAG("show", switch, show), .group = GROUP_OUTPUT,
     .help = "send one request and print it with its answer; nothing is recorded"},
    {FLAG("dry-run", switch, dry_run), .group = GROUP_OUTPUT,
     .help = "print the plan and send nothing"},
    {FLAG("against", text, against),
     .help = "with --trials: second settings file whose trials alternate with "
             "the first (A B B A ...); recorded in DIR/a and DIR/b"},
    {FLAG("start-at", text, start_at),
     .help = "start the run at this time, so that several machines start "
             "together: 2026-12-31T23:59:59Z, @SECONDS since 1970, or +10s; "
             "a run that is not ready in time ends with exit status 3"},
};
/* clang-format on */

static const struct opt_block block = {"run", opts,
                                       sizeof(opts) / sizeof(opts[0])};

/* The command line. */
struct given {
    const char *const *argv;
    struct run_args own;
    struct settings_args a;
};

/* The command's own flags are accepted next to those of the settings. */
static int parse(struct run_args *own, struct settings_args *a,
                 const char *const *argv, struct err *err)
{
    const struct opt_set sets[] = {
        {&record_args_block, &own->to}, {&block, own}, {0}};

    opt_init(&sets[0]);
    opt_init(&sets[1]);
    return settings_args_parse(a, sets, BLOCK_COUNT, argv, err);
}

static void run_args_fini(struct run_args *own)
{
    opt_fini(&(struct opt_set){&record_args_block, &own->to});
    opt_fini(&(struct opt_set){&block, own});
}

/* ---- one run ---- */

/* Where the report of a run goes. */
struct run_output {
    struct report_to to;
    const char *html;      /* also write this page; NULL: none */
    struct err no_page;    /* why it could not be written ... */
    bool lacks_page;       /* ... if it could not */
    struct listen *listen; /* NULL: no --listen */
    bool lingers;          /* a page may still be opened after the end */
    struct buf page;       /* for the clients of --listen; may be empty */
    struct run_bins bins;  /* for both pages */
};

static int show_run(void *arg, const struct summary *s,
                    const struct recording *rec, struct err *err)
{
    struct run_output *output = arg;
    const struct run_page page = {
        .s = s, .bins = &output->bins, .manifest = &rec->manifest};
    int rc;

    if (output->html)
        output->lacks_page =
            report_html_run(s, &output->bins, rec, NULL, output->html,
                            &output->no_page) != 0;
    /* The report comes last, so that its verdict is seen. */
    rc = report_doc(run_doc(s), &output->to, exit_status_of_run(s), err);
    if (rc < 0 || !output->listen ||
        !(output->lingers || listen_is_watched(output->listen)))
        return rc;
    run_page_render(&page, &output->page);
    if (output->page.overflowed)
        buf_reset(&output->page);
    return rc;
}

static int record_one(const struct given *g, const struct settings *s,
                      struct err *err)
{
    char *dir = record_args_dir(&g->own.to, s->name);
    const struct listen_point point = {
        .dir = dir, .value = NAN, .met = NAN, .missed = NAN};
    struct record_how how = {.args = &g->own.to,
                             .argv = g->argv,
                             .file = &g->a.file,
                             .dir = dir,
                             .has_preflight = true,
                             .ranks = ranks_new(),
                             .point = &point};
    struct run_output *output = xcalloc(1, sizeof(*output));
    struct output_args files = g->own.to.output;
    int rc = record_args_check_format(&g->own.to, err);

    output->to = (struct report_to){.format = record_args_format(&g->own.to),
                                    .output = &files,
                                    .is_recorded = true,
                                    .command = "report",
                                    .words = dir};
    output->html = files.html;
    files.html = NULL; /* it is not made from the document */
    output->lingers = g->own.to.listen_linger_ns > 0;
    buf_init(&output->page, PAGE_MAX);
    stop_catch_signals();
    if (rc == 0)
        rc = listening_start(&how.listen, &g->own.to, dir, err);
    output->listen = how.listen;
    if (rc == 0 && g->own.start_at &&
        units_parse_instant(g->own.start_at, clk_realtime_ns(),
                            &how.start_at_ns, err))
        rc = err_context(err, "--start-at");
    how.start_is_own = g->own.start_at && g->own.start_at[0] == '+';
    if (rc == 0)
        rc = record(s, &how, err) ? -1 : 0;
    ranks_free(how.ranks);
    if (rc == 0 && g->a.is_recording)
        record_note_repeated(g->a.file.path, dir);
    if (rc == 0)
        rc =
            point_sum_up(dir, how.listen || output->html ? &output->bins : NULL,
                         show_run, output, err);
    if (rc >= 0 && output->to.format != DOC_AS_BRIEF)
        log_note("recording  %s", dir);
    listening_stop(how.listen, &g->own.to, dir, &output->page);
    run_bins_fini(&output->bins);
    buf_fini(&output->page);
    if (rc >= 0 && output->lacks_page) {
        *err = output->no_page;
        rc = -1;
    }
    free(output);
    free(dir);
    return rc < 0 ? settings_args_blame(&g->a, err) : rc;
}

/* ---- trials ---- */

/* The same words, with the second settings file in place of the first, or of
 * the URL. */
static int parse_against(const struct given *g, struct settings_args *other,
                         struct err *err)
{
    const char *old = g->a.file.path ? g->a.file.path : g->a.first_url;
    struct run_args ignored; /* as before */
    const char **words;
    size_t n = 0;
    int rc;

    while (g->argv[n])
        n++;
    words = xcalloc(n + 1, sizeof(*words));
    for (size_t i = 0; i < n; i++)
        words[i] =
            old && strcmp(g->argv[i], old) == 0 ? g->own.against : g->argv[i];
    rc = parse(&ignored, other, words, err);
    if (rc == 0 && !old)
        rc = err_set(err, ERR_USAGE,
                     "--against requires a settings file or a URL to compare "
                     "with");
    run_args_fini(&ignored);
    free((void *)words);
    return rc;
}

static int run_trials(const struct given *g, struct err *err)
{
    struct settings_args other;
    struct study_command c = {.policy = &study_trials,
                              .args = &g->own.to,
                              .argv = g->argv,
                              .a = &g->a};
    int rc;

    if (!g->own.against)
        return study_command(&c, err);
    c.against = &other;
    rc = parse_against(g, &other, err);
    if (rc == 0)
        rc = study_command(&c, err);
    settings_args_fini(&other);
    return rc;
}

/* ---- --show ---- */

static int show_target(const struct settings *s, int64_t wait_ready_ns,
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
        rc = cli_print_report(&out, show_exit_code(&x), err);
    }
    exchange_fini(&x);
    buf_fini(&out);
    return rc;
}

/* One request, or one of each class.  The stub, if there is one, is asked like
 * any server, and logs nothing. */
static int show(const struct settings *asked, int64_t wait_ready_ns,
                struct err *err)
{
    struct child stub = {0};
    struct err late = {0};
    struct settings s;
    int rc = 0;

    stop_catch_signals();
    settings_clone(&s, asked);
    if (s.has_stub) {
        rc = stub_check(&s.stub, err);
        if (rc == 0)
            rc = child_start_stub(&stub, &s, NULL, err);
        if (rc == 0)
            point_aim(&s, &stub);
    }
    if (rc == 0 && s.classes.len == 0)
        rc = show_target(&s, wait_ready_ns, err);
    for (size_t i = 0; i < s.classes.len && rc == 0; i++)
        rc = show_target(s.classes.items[i].settings, wait_ready_ns, err);
    if (child_stop(&stub, &late))
        log_error("%s", late.msg);
    settings_fini(&s);
    return rc;
}

/* One request needs no rate, but the settings need a load: one client. */
static void ask_for_one(struct load_settings *load)
{
    if (load->rate_rps == 0 && load->stages.len == 0 && !load->shape &&
        !load->rate_table && load->clients == 0 && !load->trace.file)
        load->clients = 1;
}

/* ---- all of it ---- */

static int run_variants(const struct given *g, struct err *err)
{
    if (g->own.against || g->own.show || g->own.start_at)
        return err_set(err, ERR_USAGE,
                       "--%s cannot be combined with settings that have "
                       "variants",
                       g->own.show      ? "show"
                       : g->own.against ? "against"
                                        : "start-at");
    if (record_args_check_resume(&g->own.to, err))
        return -1;
    return g->own.dry_run ? plan_print(&g->a, err) : run_trials(g, err);
}

static int check(const struct settings *s, const struct run_args *own,
                 struct err *err)
{
    const struct output_args *output = &own->to.output;
    const char *file = output->html    ? "html"
                       : output->md    ? "md"
                       : output->junit ? "junit"
                                       : NULL;

    if (own->to.resume)
        return err_set(err, ERR_USAGE,
                       "--resume requires settings with variants");
    if (record_args_check_format(&own->to, err))
        return -1;
    if (own->against && file)
        return err_set(err, ERR_USAGE,
                       "--%s cannot be combined with --against: use "
                       "'tailgate compare DIR/a DIR/b --%s FILE' afterwards",
                       file, file);
    if (own->start_at && s->study.trials > 1)
        return err_set(err, ERR_USAGE,
                       "--start-at cannot be combined with --trials");
    if (own->start_at && own->start_at[0] == '+' && s->client.shard &&
        s->data.nonce == 0 && s->data.unique != UNIQUE_FALSE)
        return err_set(err, ERR_USAGE,
                       "--start-at %s is another time on each machine: with "
                       "--shard use an absolute time, or set --nonce",
                       own->start_at);
    if (own->against && s->study.trials < 2)
        return err_set(err, ERR_USAGE, "--against requires --trials 2 or more");
    if (s->study.restart && s->study.trials < 2)
        return err_set(err, ERR_CONFIG,
                       "study.restart requires study.trials: 2 or more");
    return 0;
}

static int run_alone(struct given *g, struct err *err)
{
    struct settings s;
    int rc;

    if (g->own.show)
        ask_for_one(&g->a.settings.load);
    rc = settings_args_resolve(&g->a, &s, err);
    if (rc == 0)
        rc = check(&s, &g->own, err);
    if (rc == 0 && g->own.dry_run) {
        rc = plan_print(&g->a, err);
    } else if (rc == 0 && g->own.show) {
        rc = show(&s, g->own.to.wait_ready_ns, err);
        if (rc < 0)
            settings_args_blame(&g->a, err);
    } else if (rc == 0) {
        rc = s.study.trials > 1 ? run_trials(g, err) : record_one(g, &s, err);
    }
    settings_fini(&s);
    return rc;
}

static int run(const char *const *argv, struct err *err)
{
    struct given g = {.argv = argv};
    int rc = parse(&g.own, &g.a, argv, err);

    if (g.own.to.quiet)
        log_set_level(LOG_QUIET);
    if (rc == 0 && g.own.show && g.own.dry_run)
        rc =
            err_set(err, ERR_USAGE, "--show cannot be combined with --dry-run");
    if (rc == 0)
        rc = g.a.settings.variants.len > 0 ? run_variants(&g, err)
                                           : run_alone(&g, err);
    settings_args_fini(&g.a);
    run_args_fini(&g.own);
    return rc;
}

static const struct opt_block *const blocks[] = {
    &record_args_block, &block,       &settings_args_block, &block_top,
    &block_target,      &block_load,  &block_trace,         &block_data,
    &block_client,      &block_study, &block_cost,          NULL,
};

const struct command cmd_run = {
    .name = "run",
    .usage = "URL|SETTINGS.yaml [FLAGS]",
    .help =
        "make one run, or several trials, and print a report with a verdict",
    .run = run,
    .blocks = blocks,
};
