#include "study/search_study.h"

#include <stdlib.h>

#include "analyzer/search/probe_watch.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/units.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "loadgen/engine/run.h"

static bool is_enough(void *arg, const struct run_look *look)
{
    struct probe_progress sight = {.start_ns = look->start_ns,
                                   .rows = look->rows,
                                   .n = look->n,
                                   .issued = look->issued,
                                   .issued_ns = look->issued_ns,
                                   .followed_ns = look->followed_ns};

    return probe_watch_see(arg, &sight);
}

static void add_time(struct strlist *over, const char *key, int64_t ns)
{
    char text[UNITS_TEXT];
    char *assignment = xasprintf("%s=%s", key, units_print_duration(ns, text));

    strlist_add(over, assignment);
    free(assignment);
}

static void list_overrides(const struct point_set *set,
                           const struct search_ask *ask, struct strlist *over)
{
    char *value = points_assignment(set, ask->value);

    strlist_add(over, value);
    strlist_add(over, "load.stop=end");
    add_time(over, "load.duration", ask->window_ns);
    add_time(over, "load.warmup", ask->warmup_ns);
    free(value);
}

/* What one probe leaves behind the next must not find. */
static bool leaves_backlog(const struct search_result *r)
{
    return r->ended_early || r->is_overloaded;
}

static int read_back(struct search_drive *d, const struct study_point *at,
                     struct err *err)
{
    char *dir = point_set_path(d->points.dir, at);
    int rc = search_read_one(dir, at, &d->terms, &d->last, err);

    if (rc == 0)
        search_feed(&d->machine, &d->last);
    free(dir);
    return rc;
}

/* What was asked for last and not recorded is asked for again, or is not. */
static void drop_unrecorded(struct point_set *set)
{
    while (set->len > 0 && !set->points[set->len - 1].is_recorded)
        set->len--;
}

int search_drive_init(struct search_drive *d, struct err *err)
{
    struct point_set *set = d->points.set;

    search_init(&d->machine, &d->config);
    drop_unrecorded(set);
    for (size_t i = 0; i < set->len; i++) {
        if (read_back(d, &set->points[i], err))
            return -1;
    }
    return 0;
}

void search_drive_fini(struct search_drive *d)
{
    search_fini(&d->machine);
}

/* One more recording, and what came of it.  1; 0: somebody said stop; -1. */
static int probe(struct search_drive *d, const struct search_ask *ask,
                 struct err *err)
{
    struct point_set *set = d->points.set;
    struct probe_watch watch;
    const struct run_judge judge = {.is_enough = is_enough, .arg = &watch};
    struct strlist over = {0};
    struct point point = {
        .set = &over,
        .number = (int64_t)set->len + 1,
        .judge = ask->may_end_early ? &judge : NULL,
        .is_after_backlog = leaves_backlog(&d->last),
    };
    int rc;

    point_set_add(set,
                  ask->step == SEARCH_CONFIRM ? POINT_CONFIRM : POINT_PROBE,
                  ask->value);
    list_overrides(set, ask, &over);
    rc = probe_watch_init(&watch, &d->machine, ask, &d->terms,
                          &d->settings->classes, err);
    if (rc == 0)
        rc = points_make(&d->points, set->len - 1, &point, err);
    if (rc > 0)
        rc = read_back(d, &set->points[set->len - 1], err) ? -1 : 1;
    if (rc > 0 && d->after)
        d->after(d->arg, &d->last);
    probe_watch_fini(&watch);
    strlist_fini(&over);
    return rc;
}

int search_step(struct search_drive *d, struct err *err)
{
    struct search_answer so_far;
    struct search_ask ask;

    search_next(&d->machine, &ask);
    if (ask.step == SEARCH_DONE)
        return 0;
    search_answer(&d->machine, &so_far);
    if (d->before)
        d->before(d->arg, &ask, &so_far);
    return probe(d, &ask, err);
}
