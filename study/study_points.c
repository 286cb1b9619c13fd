#include "study/study_points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/base/str.h"
#include "common/base/units.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/recording/manifest.h"
#include "common/settings/settings.h"
#include "study/child.h"

enum launched_by points_launched_by(const struct settings *s)
{
    if (s->has_stub)
        return LAUNCHED_STUB;
    if (s->server.start)
        return LAUNCHED_SERVER;
    return s->study.restart ? LAUNCHED_RESTART : LAUNCHED_ONCE;
}

char *points_assignment(const struct point_set *set, double value)
{
    char text[UNITS_TEXT];

    return xasprintf("%s=%s%s", set->key, units_print_number(value, text),
                     set->unit);
}

/* A server that is started anew remembers nothing. */
static int prepare(struct points *p, struct err *err)
{
    if (p->has_begun && p->set->launched_by == LAUNCHED_ONCE)
        point_settle(p->study->settle_ns);
    if (atomic_load(&stop_signal))
        return err_set(err, ERR_STOPPED, "interrupted between two recordings");
    return p->study->restart
               ? child_run_command(p->study->restart, "study.restart",
                                   CHILD_PATIENCE_NS, err)
               : 0;
}

static int clear(const char *dir, struct err *err)
{
    return access(dir, F_OK) == 0 ? recording_remove(dir, err) : 0;
}

/* Did it come to its end, its own or the one that the study gave it? */
static bool is_whole(const char *dir)
{
    struct manifest m;
    struct run_end end;
    bool is = false;

    if (manifest_load(&m, dir, &(struct err){0}) == 0)
        is = manifest_end(&m, &end) && end.stopped_by == 0;
    manifest_fini(&m);
    return is;
}

static int note_end(struct points *p, size_t i, const struct err *why,
                    struct err *err)
{
    struct point_set *set = p->set;

    set->stopped_by = atomic_load(&stop_signal);
    if (set->stopped_by == 0) {
        snprintf(set->failed, sizeof(set->failed), "%s", why->msg);
        snprintf(set->points[i].failed, sizeof(set->points[i].failed), "%.*s",
                 (int)sizeof(set->points[i].failed) - 1, why->msg);
    }
    if (point_set_save(set, p->dir, err))
        return -1;
    if (set->stopped_by)
        return 0;
    *err = *why;
    return -1;
}

int points_make(struct points *p, size_t i, struct point *point,
                struct err *err)
{
    struct study_point *at = &p->set->points[i];
    char *dir = point_set_path(p->dir, at);
    int64_t begun_ns = clk_now(&clk_monotonic);
    struct err why = {0};
    int rc = clear(dir, &why) || prepare(p, &why) ? -1 : 0;

    point->dir = dir;
    if (rc == 0) {
        rc = p->maker.make(p->maker.arg, point, &why);
        p->has_begun = true;
    }
    at->is_recorded = rc == 0 && is_whole(dir);
    at->took_s = (double)(clk_now(&clk_monotonic) - begun_ns) / 1e9;
    free(dir);
    point->dir = NULL;
    if (!at->is_recorded)
        return note_end(p, i, &why, err);
    at->failed[0] = '\0';
    return point_set_save(p->set, p->dir, err) ? -1 : 1;
}

static int make_at_value(struct points *p, size_t i, struct err *err)
{
    char *text = points_assignment(p->set, p->set->points[i].value);
    struct strlist set = {0};
    struct point point = {.set = &set, .number = (int64_t)i + 1};
    int rc;

    strlist_add(&set, text);
    rc = points_make(p, i, &point, err);
    strlist_fini(&set);
    free(text);
    return rc;
}

int points_step(struct points *p, struct err *err)
{
    for (size_t i = 0; i < p->set->len; i++) {
        if (!p->set->points[i].is_recorded)
            return make_at_value(p, i, err);
    }
    return 0;
}

static int take_up(struct point_set *set, const char *dir, struct err *err)
{
    struct point_set old;
    int rc = point_set_load(&old, dir, err);

    if (rc == 0 && (old.kind != set->kind ||
                    strcmp(old.settings_hash, set->settings_hash) != 0))
        rc = err_set(err, ERR_USAGE,
                     "--resume: %s was begun with other settings", dir);
    if (rc) {
        point_set_fini(&old);
        return -1;
    }
    old.budget_ns = set->budget_ns; /* the one setting that may differ */
    point_set_fini(set);
    *set = old;
    set->stopped_by = 0;
    set->failed[0] = '\0';
    return 0;
}

int points_open(struct point_set *set, const char *dir, bool force,
                bool resumes, struct err *err)
{
    int rc = resumes && study_is_at(dir) ? take_up(set, dir, err)
                                         : study_make_dir(dir, force, err);

    return rc ? -1 : point_set_save(set, dir, err);
}
