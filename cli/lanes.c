#include "cli/lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/study_doc.h"
#include "analyzer/studies/variants.h"
#include "cli/cli.h"
#include "cli/settings_args.h"
#include "cli/study_make.h"
#include "cli/study_report.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/stop.h"
#include "common/base/units.h"
#include "common/base/xalloc.h"
#include "common/recording/variantset.h"
#include "study/turns.h"

#define MAX_REPORT ((size_t)16 << 20)
#define MAX_TITLE  256

struct lanes;

struct lane {
    struct lanes *all;
    const char *name; /* borrowed from the settings */
    char *dir;
    void *state; /* of the command */
    bool is_open;
};

struct lanes {
    const struct lanes_how *how;
    const struct lane_ops *ops;
    struct lane *list;
    struct turn *turns;
    size_t n;
    struct variant_set set;
    size_t steps; /* of this time: */
    int64_t took_ns;
};

/* ---- a turn ---- */

static size_t made(void *arg)
{
    const struct lane *lane = arg;

    return lane->all->ops->made(lane->state);
}

/* About how long the rest will take; 0: nobody knows yet. */
static int64_t time_left(const struct lanes *all)
{
    int64_t each_ns = all->steps > 0 ? all->took_ns / (int64_t)all->steps : 0;
    int64_t left_ns = 0;

    for (size_t i = 0; i < all->n; i++) {
        if (!all->turns[i].failed[0] && !all->turns[i].is_done)
            left_ns += all->ops->left_ns(all->list[i].state, each_ns);
    }
    return left_ns;
}

static void make_title(const struct lane *lane, char out[static MAX_TITLE])
{
    int64_t left_ns = time_left(lane->all);
    char text[UNITS_TEXT];

    snprintf(out, MAX_TITLE, "variant    %s", lane->name);
    if (left_ns > 0)
        snprintf(out + strlen(out), MAX_TITLE - strlen(out), ", about %s left",
                 units_show_span(left_ns, text));
}

static int step(void *arg, struct err *err)
{
    struct lane *lane = arg;
    struct lanes *all = lane->all;
    int64_t begun_ns = clk_now(&clk_monotonic);
    char title[MAX_TITLE];
    int rc;

    make_title(lane, title);
    rc = all->ops->step(lane->state, title, err);
    if (rc > 0) {
        all->took_ns += clk_now(&clk_monotonic) - begun_ns;
        all->steps++;
    }
    if (rc < 0 && !atomic_load(&stop_signal))
        log_error("variant %s: %s", lane->name, err->msg);
    return rc;
}

static int save(void *arg, struct err *err)
{
    struct lanes *all = arg;

    for (size_t i = 0; i < all->n; i++)
        memcpy(all->set.list[i].failed, all->turns[i].failed,
               sizeof(all->set.list[i].failed));
    all->set.stopped_by = atomic_load(&stop_signal);
    return variant_set_save(&all->set, all->how->dir, err);
}

/* ---- before the first ---- */

static int prepare(struct lanes *all, struct err *err)
{
    const struct classes *variants = &all->how->a->settings.variants;

    for (size_t i = 0; i < all->n; i++) {
        struct lane *lane = &all->list[i];

        lane->all = all;
        lane->name = variants->items[i].name;
        lane->dir = xasprintf("%s/%s", all->how->dir, lane->name);
        lane->state = xcalloc(1, all->ops->size);
        all->turns[i] = (struct turn){.made = made, .step = step, .arg = lane};
        variant_set_add(&all->set, lane->name);
        if (all->ops->prepare(lane->state, all->how->arg, i, err))
            return -1;
    }
    return 0;
}

static bool has_same_variants(const struct variant_set *a,
                              const struct variant_set *b)
{
    if (a->of != b->of || a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        if (strcmp(a->list[i].name, b->list[i].name) != 0)
            return false;
    }
    return true;
}

static int check_resumed(const struct lanes *all, struct err *err)
{
    const char *dir = all->how->dir;
    struct variant_set old;
    int rc = variant_set_load(&old, dir, err);

    if (rc == 0 && !has_same_variants(&old, &all->set))
        rc = err_set(err, ERR_USAGE, "--resume: %s has other variants", dir);
    variant_set_fini(&old);
    return rc;
}

static int open_all(struct lanes *all, struct err *err)
{
    const struct lanes_how *how = all->how;
    bool resumes = record_args_resumes(how->resumes, how->dir);
    int rc = resumes ? check_resumed(all, err)
                     : study_make_dir(how->dir, how->force, err);

    if (rc == 0)
        rc = save(all, err);
    for (size_t i = 0; rc == 0 && i < all->n; i++)
        rc = all->ops->open(all->list[i].state, all->list[i].dir, resumes, err);
    return rc;
}

/* ---- after the last ---- */

static bool is_empty(const struct lanes *all)
{
    for (size_t i = 0; i < all->n; i++) {
        if (all->ops->made(all->list[i].state) > 0 || all->turns[i].failed[0])
            return false;
    }
    return true;
}

int variants_report(const char *dir, const struct study_ask *ask,
                    struct err *err)
{
    struct variants_summary s;
    int rc = variants_read(&s, dir, ask->slo, ask->cost, err);

    if (rc == 0)
        rc = study_print(variants_doc(&s), dir, ask, variants_exit_code(&s),
                         err);
    variants_summary_fini(&s);
    return rc;
}

static int conclude(const struct lanes *all, struct err *err)
{
    const struct study_ask ask = {.json = all->how->json, .saves = true};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < all->n; i++) {
        if (all->ops->made(all->list[i].state) > 0)
            rc = all->ops->sum_up(all->list[i].state, err);
    }
    if (rc == 0)
        rc = variants_report(all->how->dir, &ask, err);
    if (rc >= 0)
        log_note("study      %s", all->how->dir);
    return rc;
}

static int take_turns(struct lanes *all, struct err *err)
{
    struct turns turns = {all->turns, all->n, save, all};

    stop_catch_signals();
    if (turns_take(&turns, err))
        return -1;
    if (!is_empty(all))
        return conclude(all, err);
    if (!all->how->resumes)
        study_remove(all->how->dir, &(struct err){0});
    return err_set(err, ERR_STOPPED,
                   "interrupted before a run came to its end");
}

int lanes_drive(const struct lanes_how *how, struct err *err)
{
    struct lanes all = {.how = how,
                        .ops = how->ops,
                        .n = how->a->settings.variants.len,
                        .set = {.of = how->ops->kind}};
    int rc;

    all.list = xcalloc(all.n, sizeof(*all.list));
    all.turns = xcalloc(all.n, sizeof(*all.turns));
    rc = prepare(&all, err);
    if (rc == 0)
        rc = open_all(&all, err);
    if (rc == 0)
        rc = take_turns(&all, err);
    for (size_t i = 0; i < all.n; i++) {
        if (all.list[i].state)
            how->ops->fini(all.list[i].state);
        free(all.list[i].state);
        free(all.list[i].dir);
    }
    variant_set_fini(&all.set);
    free(all.list);
    free(all.turns);
    return rc;
}

int study_lanes(struct study_make *m, struct record_args *own,
                const struct lane_ops *ops, void *arg, struct err *err)
{
    struct settings_args a;
    int rc = study_read_first(m, own, &a, err);

    if (rc == 0 && a.settings.variants.len == 0) {
        rc = STUDY_NO_LANES;
    } else if (rc == 0) {
        char *dir =
            record_args_dir(own, a.settings.name ? a.settings.name : "study");
        const struct lanes_how how = {.ops = ops,
                                      .arg = arg,
                                      .a = &a,
                                      .dir = dir,
                                      .force = own->force,
                                      .resumes = own->resume,
                                      .json = own->json};

        rc = lanes_drive(&how, err);
        free(dir);
    }
    settings_args_fini(&a);
    return rc;
}
