#include "cli/study_command.h"

#include <jansson.h>
#include <stdlib.h>

#include "analyzer/report/study_doc.h"
#include "analyzer/studies/trials.h"
#include "analyzer/studies/variants.h"
#include "cli/cli.h"
#include "cli/record.h"
#include "cli/report_html.h"
#include "cli/report_out.h"
#include "cli/settings_args.h"
#include "cli/study_report.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/json.h"
#include "common/base/log.h"
#include "study/study.h"

#define MAX_REPORT ((size_t)16 << 20)

/* ---- reports ---- */

int trials_report(const char *dir, const struct study_ask *ask,
                  enum doc_format format, struct err *err)
{
    struct trials_summary s;
    int rc = trials_read(&s, dir, ask->slo, ask->cost, err);

    if (ask->require > 0)
        s.require_shown = ask->require - 1 == REQUIRE_SHOWN;
    if (rc == 0)
        rc = report_doc(trials_doc(&s),
                        &(struct report_to){.format = format,
                                            .html = ask->html,
                                            .svg = ask->svg,
                                            .command = "report",
                                            .words = dir},
                        exit_status_of_trials(&s), err);
    trials_summary_fini(&s);
    return rc;
}

/* Save the summary of trials that were just made, and print it; with `both`,
 * add it there under `name` instead. */
static int conclude_trials(const char *dir, const struct record_args *args,
                           json_t *both, const char *name, struct err *err)
{
    const struct study_ask ask = {
        .json = args->json, .saves = true, .html = args->html};
    struct trials_summary s;
    int rc = trials_read(&s, dir, NULL, NULL, err);

    if (rc == 0 && both) {
        struct doc *d = trials_doc(&s);

        json_object_set_new(both, name, doc_to_json(d));
        rc = report_save_doc(d, dir, err) ? -1 : exit_status_of_trials(&s);
        doc_free(d);
    } else if (rc == 0) {
        rc = study_print(trials_doc(&s), dir, &ask, exit_status_of_trials(&s),
                         err);
    }
    trials_summary_fini(&s);
    return rc;
}

int variants_report(const char *dir, const struct study_ask *ask,
                    struct err *err)
{
    struct variants_summary s;
    int rc = variants_read(&s, dir, ask->slo, ask->cost, err);

    if (rc == 0)
        rc = study_print(variants_doc(&s), dir, ask,
                         exit_status_of_variants(&s), err);
    variants_summary_fini(&s);
    return rc;
}

/* As JSON both sides are one object, printed at the end.  The exit status is
 * the higher one: 2 and 3 are errors, and not among them. */
static int conclude_pair(const struct study *study,
                         const struct record_args *args, struct err *err)
{
    json_t *both = args->json ? json_object() : NULL;
    int worst = 0;

    for (size_t i = 0; worst >= 0 && i < study->n; i++) {
        const struct study_arm *arm = &study->arms[i];
        int rc = 0;

        if (arm->set.recorded > 0) {
            rc = conclude_trials(arm->dir, args, both, arm->name, err);
            if (rc >= 0)
                log_note("trials     %s", arm->dir);
        }
        worst = rc < 0 ? rc : rc > worst ? rc : worst;
    }
    if (worst >= 0 && both) {
        struct buf out;

        buf_init(&out, MAX_REPORT);
        json_print(both, &out);
        worst = cli_print_report(&out, worst, err);
        buf_fini(&out);
    }
    json_decref(both);
    return worst;
}

static int conclude(const struct study *study, const struct record_args *args,
                    struct err *err)
{
    const struct study_ask ask = {
        .json = args->json, .saves = true, .html = args->html};
    const char *name = study->policy->name;
    int rc;

    if (study->form == STUDY_TURNS)
        return conclude_pair(study, args, err);
    if (study->form == STUDY_OF_VARIANTS) {
        name = "study";
        rc = variants_report(study->dir, &ask, err);
    } else if (study->policy->kind == STUDY_SWEEP) {
        rc = sweep_report(study->dir, &ask, err);
    } else if (study->policy->kind == STUDY_SEARCH) {
        rc = search_report(study->dir, &ask, err);
    } else {
        rc = conclude_trials(study->dir, args, NULL, NULL, err);
    }
    if (rc >= 0)
        log_note("%-10s %s", name, study->dir);
    return rc;
}

/* ---- recording ---- */

static int record_point(void *arg, const struct settings *s,
                        const struct study_recording *r, struct err *err)
{
    const struct study_command *c = arg;
    const struct record_how how = {
        .args = c->args,
        .argv = c->argv,
        .file = r->arm->source.file,
        .dir = r->dir,
        .is_again = !r->is_first,
        .title = r->title,
        .judge = r->judge,
    };

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

static int run(struct study *study, const struct record_args *args,
               struct err *err)
{
    int rc = study_run(study, err);

    if (rc == 0)
        return conclude(study, args, err);
    if (study_has_recorded(study)) /* what there is; the error is the result */
        conclude(study, args, &(struct err){0});
    return -1;
}

int study_command(const struct study_command *c, struct err *err)
{
    struct study study = {
        .policy = c->policy,
        .force = c->args->force,
        .resume = c->args->resume,
        .record = record_point,
        .arg = (void *)c,
    };
    char *dir = NULL;
    int rc;

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
        rc = run(&study, c->args, err);
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
    struct record_args args;
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
    if (rc == 0)
        rc = study_command(&c, err);
    settings_args_fini(&a);
    opt_fini(&sets[0]);
    return rc;
}
