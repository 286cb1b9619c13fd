#include "cli/trials_run.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/study_doc.h"
#include "analyzer/studies/trials.h"
#include "cli/cli.h"
#include "cli/report_out.h"
#include "cli/settings_args.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/json.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "study/study_point.h"
#include "study/study_points.h"
#include "study/trials_study.h"

#define MAX_REPORT ((size_t)16 << 20)

/* One side: where it goes, and the words that its settings are read from. */
struct side {
    char *dir;
    const char **argv; /* owned, its texts borrowed */
    struct settings_args base;
};

struct drive {
    const struct trials_how *how;
    struct side sides[TRIALS_SIDES];
    struct trials trials;
    bool is_again;
};

/* ---- settings ---- */

/* The same words, with `word` for the settings file or URL among them. */
static const char **argv_with(const char *const *argv, const char *old,
                              const char *word)
{
    size_t n = 0;
    const char **out;

    while (argv[n])
        n++;
    out = xcalloc(n + 1, sizeof(*out));
    for (size_t i = 0; i < n; i++)
        out[i] = word && strcmp(argv[i], old) == 0 ? word : argv[i];
    return out;
}

static void describe(struct drive *d, int i)
{
    struct settings *s = &d->sides[i].base.settings;
    struct trial_set *set = &d->trials.sides[i].set;

    *set = (struct trial_set){.asked = d->trials.n,
                              .seeds = trial_seeds(s->load.seed, d->trials.n),
                              .launched_by = points_launched_by(s)};
    study_hash(s, set->settings_hash);
    if (d->trials.n_sides > 1)
        snprintf(set->against, sizeof(set->against), "../%c", 'b' - i);
    d->trials.sides[i].dir = d->sides[i].dir;
    d->trials.sides[i].study = &s->study;
}

/* ---- one trial ---- */

int trials_note_result(void *arg, const struct summary *s, struct err *err)
{
    (void)arg;
    (void)err;
    log_note("           %s, %.6g/s done, attainment %.6g%%",
             verdict_name(s->verdict), s->throughput_rps, 100 * s->attainment);
    return 0;
}

static void note_trial(const struct drive *d, struct trial_place place,
                       const struct settings *s)
{
    log_note("trial      %s%lld of %lld, seed %llu",
             d->trials.n_sides > 1 ? (place.side == 0 ? "A " : "B ") : "",
             (long long)place.number, (long long)d->trials.n,
             (unsigned long long)s->load.seed);
}

/* A run changes its settings; each trial reads them anew. */
static int run_trial(void *arg, struct trial_place place, const char *dir,
                     struct err *err)
{
    struct drive *d = arg;
    struct settings_args a;
    char hash[STUDY_HASH];
    int rc = d->how->read(d->sides[place.side].argv, &a, err);

    if (rc == 0) {
        study_hash(&a.settings, hash);
        if (strcmp(hash, d->trials.sides[place.side].set.settings_hash) != 0)
            rc = err_set(err, ERR_CONFIG,
                         "the settings changed between two trials");
    }
    if (rc == 0) {
        trial_reseed(&a.settings, place.number);
        note_trial(d, place, &a.settings);
        rc = d->how->record(d->how->arg, &a, dir, d->is_again, err);
        d->is_again = true;
    }
    if (rc == 0)
        rc = point_sum_up(dir, trials_note_result, NULL, err);
    settings_args_fini(&a);
    return rc;
}

/* ---- the report ---- */

static int save_set(const struct trials_summary *s, const char *dir,
                    struct err *err)
{
    struct doc *d = trials_doc(s);
    int rc = report_save_doc(d, dir, err);

    doc_free(d);
    return rc;
}

int trials_sum_up(const char *dir, struct err *err)
{
    struct trials_summary s;
    int rc = trials_read(&s, dir, NULL, NULL, err);

    if (rc == 0)
        rc = save_set(&s, dir, err);
    trials_summary_fini(&s);
    return rc;
}

int trials_report(const char *dir, const struct strlist *slo,
                  const struct cost_ask *cost, enum doc_format format,
                  struct err *err)
{
    struct trials_summary s;
    int rc = trials_read(&s, dir, slo, cost, err);

    if (rc == 0)
        rc =
            report_print_doc(trials_doc(&s), format, trials_exit_code(&s), err);
    trials_summary_fini(&s);
    return rc;
}

/* Of a pair as JSON both sides are one object, which is printed at the end. */
static int conclude_side(const char *dir, bool json, json_t *both,
                         const char *name, struct err *err)
{
    struct trials_summary s;
    int rc = trials_read(&s, dir, NULL, NULL, err);

    if (rc == 0)
        rc = save_set(&s, dir, err);
    if (rc == 0 && both) {
        struct doc *d = trials_doc(&s);

        json_object_set_new(both, name, doc_to_json(d));
        doc_free(d);
        rc = trials_exit_code(&s);
    } else if (rc == 0) {
        rc = report_print_doc(trials_doc(&s), json ? DOC_AS_JSON : DOC_AS_TEXT,
                              trials_exit_code(&s), err);
    }
    trials_summary_fini(&s);
    if (rc >= 0)
        log_note("trials     %s", dir);
    return rc;
}

/* Codes rank as they are numbered, 2 and 3 apart, which are errors. */
static int conclude_sides(const struct drive *d, json_t *both, struct err *err)
{
    static const char *const names[] = {"a", "b"};
    int worst = 0;

    for (int i = 0; i < TRIALS_SIDES; i++) {
        int rc = 0;

        if (d->trials.sides[i].set.recorded > 0)
            rc = conclude_side(d->sides[i].dir, d->how->json, both, names[i],
                               err);
        if (rc < 0)
            return -1;
        if (rc > worst)
            worst = rc;
    }
    return worst;
}

static int conclude(const struct drive *d, struct err *err)
{
    json_t *both = d->how->json && d->trials.n_sides > 1 ? json_object() : NULL;
    int worst = conclude_sides(d, both, err);
    struct buf out;

    if (worst < 0 || !both) {
        json_decref(both);
        return worst;
    }
    buf_init(&out, MAX_REPORT);
    json_print(both, &out);
    if (cli_print(buf_text(&out), err))
        worst = -1;
    buf_fini(&out);
    json_decref(both);
    return worst;
}

/* ---- the set, or the pair ---- */

static int make_pair_dirs(const struct drive *d, struct err *err)
{
    char *order = trials_order(d->trials.n, d->trials.n_sides);
    int rc = trial_set_save_pair(d->how->dir, order, err);

    for (int i = 0; rc == 0 && i < d->trials.n_sides; i++)
        rc = recording_make_place(d->sides[i].dir, err);
    free(order);
    return rc;
}

static int prepare_side(struct drive *d, int i, const char *old,
                        struct err *err)
{
    const struct trials_how *how = d->how;
    struct side *side = &d->sides[i];

    side->dir = d->trials.n_sides > 1 ? xasprintf("%s/%c", how->dir, 'a' + i)
                                      : xstrdup(how->dir);
    side->argv = argv_with(how->argv, old, i == 1 ? how->against : NULL);
    if (how->read(side->argv, &side->base, err))
        return -1;
    if (side->base.settings.study.trials != d->trials.n)
        return err_set(err, ERR_CONFIG,
                       "--against: %s asks for %lld trials, not %lld; say how "
                       "many with --trials",
                       how->against,
                       (long long)side->base.settings.study.trials,
                       (long long)d->trials.n);
    describe(d, i);
    return 0;
}

static int run_all(struct drive *d, struct err *err)
{
    int rc = study_make_dir(d->how->dir, d->how->force, err);

    if (rc == 0 && d->trials.n_sides > 1)
        rc = make_pair_dirs(d, err);
    if (rc)
        return -1;
    stop_catch_signals();
    rc = trials_run(&d->trials, err);
    if (d->trials.sides[0].set.recorded == 0) {
        study_remove(d->how->dir, &(struct err){0});
        if (rc == 0)
            rc = err_set(err, ERR_STOPPED, "interrupted before the run began");
        return rc;
    }
    if (rc)
        conclude(d, &(struct err){0}); /* the error is what it comes to */
    return rc ? -1 : conclude(d, err);
}

int trials_drive(const struct settings_args *a, const struct trials_how *how,
                 struct err *err)
{
    const char *old = a->file ? a->file : a->first_url;
    struct drive d = {
        .how = how,
        .trials = {.n = a->settings.study.trials,
                   .n_sides = how->against ? 2 : 1,
                   .run = run_trial},
    };
    int rc = 0;

    d.trials.arg = &d;
    if (how->against && !old)
        rc = err_set(err, ERR_USAGE,
                     "--against: takes the place of a settings file or URL, "
                     "and none was given");
    for (int i = 0; rc == 0 && i < d.trials.n_sides; i++)
        rc = prepare_side(&d, i, old, err);
    if (rc == 0)
        rc = run_all(&d, err);
    for (int i = 0; i < TRIALS_SIDES; i++) {
        free(d.sides[i].dir);
        free((void *)d.sides[i].argv);
        settings_args_fini(&d.sides[i].base);
        trial_set_fini(&d.trials.sides[i].set);
    }
    return rc;
}
