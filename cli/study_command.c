#include "cli/study_command.h"

#include <jansson.h>
#include <stdlib.h>

#include "analyzer/html/page.h"
#include "analyzer/report/study_doc.h"
#include "cli/cli.h"
#include "cli/exit_status.h"
#include "cli/listening.h"
#include "cli/record.h"
#include "cli/report_html.h"
#include "cli/report_out.h"
#include "cli/settings_args.h"
#include "cli/study_report.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/text/json.h"
#include "listen/listen.h"
#include "listen/listen_state.h"
#include "study/launch/ranks.h"
#include "study/study.h"

#define MAX_REPORT ((size_t)16 << 20)

/* What others see of the study is not read again if that took longer. */
#define SLOW_NS NS_PER_S

/* ---- reports ---- */

/* For what was just recorded. */
static struct study_ask ask_of(const struct record_args *args)
{
    return (struct study_ask){.format = record_args_format(args),
                              .output = &args->output,
                              .saves = true};
}

/* Save the summary of one side, and add it to `both` under its name. */
static int add_side(const struct study_arm *arm, json_t *both,
                    enum conclusion *conclusion, struct err *err)
{
    int64_t stopped_by = 0;
    struct doc *d = study_doc_of(arm->dir, STUDY_TRIALS,
                                 &(struct study_doc_ask){0}, &stopped_by, err);
    int rc;

    if (!d)
        return -1;
    json_object_set_new(both, arm->name, doc_to_json(d));
    *conclusion = doc_conclusion(d);
    rc = report_save_doc(d, arm->dir, err)
             ? -1
             : exit_status_of(*conclusion, stopped_by);
    doc_free(d);
    return rc;
}

/* As JSON both sides are one object, printed at the end.  The worse of the two
 * conclusions counts. */
static int conclude_pair(const struct study *study, const struct study_ask *ask,
                         struct err *err)
{
    json_t *both = ask->format == DOC_AS_JSON ? json_object() : NULL;
    enum conclusion worst = CONCLUSION_YES;
    int64_t stopped_by = 0;
    int rc = 0;

    for (size_t i = 0; rc >= 0 && i < study->n; i++) {
        const struct study_arm *arm = &study->arms[i];
        enum conclusion one = CONCLUSION_YES;
        struct study_ask of_side = *ask;

        if (arm->set.recorded == 0)
            continue;
        of_side.conclusion = &one;
        rc = both ? add_side(arm, both, &one, err)
                  : study_report(arm->dir, STUDY_TRIALS, &of_side, err);
        if (rc >= 0 && ask->format != DOC_AS_BRIEF)
            log_note("trials     %s", arm->dir);
        if (rc > EXIT_SIGNAL)
            stopped_by = rc - EXIT_SIGNAL;
        worst = one > worst ? one : worst;
    }
    if (rc >= 0)
        rc = exit_status_of(worst, stopped_by);
    if (rc >= 0 && both) {
        struct buf out;

        buf_init(&out, MAX_REPORT);
        json_print(both, &out);
        rc = cli_print_report(&out, rc, err);
        buf_fini(&out);
    }
    json_decref(both);
    return rc;
}

/* Of a study that is not in turns. */
static enum study_kind kind_of(const struct study *study)
{
    return study->form == STUDY_OF_VARIANTS ? STUDY_VARIANTS
                                            : study->policy->kind;
}

/* Also appends the page to `page`, unless that is NULL. */
static int conclude(const struct study *study, const struct record_args *args,
                    struct buf *page, struct err *err)
{
    struct study_ask ask = ask_of(args);
    int rc;

    if (study->form == STUDY_TURNS)
        return conclude_pair(study, &ask, err);
    ask.page = page;
    rc = study_report(study->dir, kind_of(study), &ask, err);
    if (rc >= 0 && ask.format != DOC_AS_BRIEF)
        log_note("%-10s %s",
                 study->form == STUDY_OF_VARIANTS ? "study"
                                                  : study->policy->name,
                 study->dir);
    return rc;
}

/* ---- recording ---- */

/* A study that is being recorded, and shown to others meanwhile. */
struct recorded {
    const struct study_command *c;
    const struct study *study;
    struct ranks *ranks;   /* owned; stay for all recordings */
    struct listen *listen; /* NULL: not shown */
    bool is_slow;          /* reading it again would delay the next recording */
};

/* Nothing is shown of a study in turns until its sides are compared. */
static void show_so_far(struct recorded *now)
{
    const struct study *study = now->study;
    int64_t begun_ns = clk_now(&clk_monotonic);
    struct err ignored = {0}; /* such as a variant without a recording yet */
    int64_t stopped_by;
    struct doc *d;

    if (!now->listen || now->is_slow || study->made == 0 ||
        study->form == STUDY_TURNS)
        return;
    d = study_doc_of(study->dir, kind_of(study), &(struct study_doc_ask){0},
                     &stopped_by, &ignored);
    if (d)
        listen_study(now->listen, d);
    doc_free(d);
    now->is_slow = clk_now(&clk_monotonic) - begun_ns > SLOW_NS;
}

static int record_point(void *arg, const struct settings *s,
                        const struct study_recording *r, struct err *err)
{
    struct recorded *now = arg;
    const struct study_command *c = now->c;
    const struct listen_point point = {.dir = r->dir,
                                       .variant = r->arm->name,
                                       .title = r->title,
                                       .value = r->value,
                                       .met = r->met,
                                       .missed = r->missed};
    const struct record_how how = {
        .args = c->args,
        .argv = c->argv,
        .file = r->arm->source.file,
        .dir = r->dir,
        .is_again = !r->is_first,
        .has_preflight = r->meets_server,
        .title = r->is_plain ? NULL : r->title,
        .judge = r->judge,
        .ranks = now->ranks,
        .listen = now->listen,
        .point = &point,
    };

    show_so_far(now);
    return record(s, &how, err);
}

static int check_sides(const struct study *study,
                       const struct settings_args *against, struct err *err)
{
    long long first = (long long)study->arms[0].set.asked;
    long long second = (long long)study->arms[1].set.asked;

    return first == second
               ? 0
               : err_set(err, ERR_CONFIG,
                         "--against: %s has %lld trials, the first settings "
                         "%lld; set the number for both with --trials",
                         against->file.path, second, first);
}

static void add_arms(struct study *study, const struct study_command *c)
{
    const struct classes *variants = &c->a->settings.variants;
    struct study_source source = settings_args_source(c->a);

    if (c->against) {
        struct study_source second = settings_args_source(c->against);

        study->form = STUDY_TURNS;
        study_add(study, "a", &source);
        study_add(study, "b", &second);
        return;
    }
    if (variants->len == 0)
        study_add(study, NULL, &source);
    else
        study->form = STUDY_OF_VARIANTS;
    for (size_t i = 0; i < variants->len; i++) {
        source.variant = i + 1;
        study_add(study, variants->items[i].name, &source);
    }
}

static int run(struct study *study, const struct study_command *c,
               struct err *err)
{
    const struct record_args *args = c->args;
    struct recorded now = {.c = c, .study = study};
    struct buf page;
    int rc;

    if (listening_start(&now.listen, args, study->dir, err))
        return -1;
    buf_init(&page, PAGE_MAX);
    study->arg = &now;
    now.ranks = ranks_new();
    rc = study_run(study, err);
    ranks_free(now.ranks);
    study->arg = NULL;
    if (rc == 0)
        rc = conclude(study, args, now.listen ? &page : NULL, err);
    else if (study_has_result(study)) /* the error is the result */
        conclude(study, args, now.listen ? &page : NULL, &(struct err){0});
    listening_stop(now.listen, args, study->dir, &page);
    buf_fini(&page);
    return rc;
}

int study_command(const struct study_command *c, struct err *err)
{
    struct study study = {
        .policy = c->policy,
        .force = c->args->force,
        .resume = c->args->resume,
        .record = record_point,
    };
    char *dir = NULL;
    int rc;

    if (record_args_check_study(c->args, c->against != NULL, err))
        return -1;
    add_arms(&study, c);
    rc = study_plan(&study, err);
    if (rc == 0 && study.arms[0].settings.client.shard)
        rc = err_set(err, ERR_CONFIG,
                     "client.shard requires a single run, not a study");
    if (rc == 0 && c->against)
        rc = check_sides(&study, c->against, err);
    if (rc == 0) {
        const char *name = study.form == STUDY_OF_VARIANTS
                               ? c->a->settings.name
                               : study.arms[0].settings.name;

        dir = record_args_dir(c->args, name ? name : "study");
        study.dir = dir;
        rc = run(&study, c, err);
    }
    if (rc < 0 && study.form != STUDY_OF_VARIANTS)
        settings_args_blame(c->a, err);
    study_fini(&study);
    free(dir);
    return rc;
}

int study_command_by_flags(const struct study_policy *policy,
                           enum settings_block block, const char *const *argv,
                           struct err *err)
{
    struct record_args args = {0};
    const struct opt_set sets[] = {{&record_args_block, &args}, {0}};
    struct settings_args a;
    const struct study_command c = {
        .policy = policy, .args = &args, .argv = argv, .a = &a};
    int rc;

    opt_init(&sets[0]);
    rc = settings_args_parse(&a, sets, block, argv, err);
    if (args.quiet)
        log_set_level(LOG_QUIET);
    if (rc == 0)
        rc = record_args_check_resume(&args, err);
    /* A settings file may be for several commands, a flag is for this one. */
    if (rc == 0 && strmap_get(&a.file.given, "study.trials"))
        rc = err_set(err, ERR_USAGE,
                     policy->kind == STUDY_SWEEP
                         ? "%s cannot be used with sweep; use --repeats for "
                           "the number of runs at each value"
                         : "%s cannot be used with search, which decides how "
                           "often it probes",
                     strmap_get(&a.file.given, "study.trials"));
    if (rc == 0)
        rc = study_command(&c, err);
    settings_args_fini(&a);
    opt_fini(&sets[0]);
    return rc;
}
