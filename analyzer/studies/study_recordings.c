#include "analyzer/studies/study_recordings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/xalloc.h"
#include "common/recording/study_set.h"

static struct listed_one *add_take(struct listed *l, char *dir, double value)
{
    l->list = xrealloc(l->list, l->n + 1, sizeof(*l->list));
    l->list[l->n] = (struct listed_one){.dir = dir, .value = value};
    return &l->list[l->n++];
}

static int list_trials(struct listed *l, const char *dir, struct err *err)
{
    struct study_set set;
    int rc = study_set_load_kind(&set, dir, STUDY_TRIALS, err);

    for (int64_t i = 1; rc == 0 && i <= set.recorded; i++)
        add_take(l, study_trial_path(dir, i), NAN);
    study_set_fini(&set);
    return rc;
}

static int list_points(struct listed *l, const char *dir, struct err *err)
{
    struct study_set set;
    int rc = study_set_load(&set, dir, err);

    snprintf(l->key, sizeof(l->key), "%s", set.key);
    snprintf(l->unit, sizeof(l->unit), "%s", set.unit);
    for (size_t i = 0; rc == 0 && i < set.len; i++) {
        if (set.points[i].is_recorded)
            add_take(l, study_point_path(dir, &set.points[i]),
                     set.points[i].value)
                ->at = set.points[i];
    }
    study_set_fini(&set);
    return rc;
}

int listed_read(struct listed *l, const char *dir, enum study_kind kind,
                struct err *err)
{
    *l = (struct listed){0};
    return kind == STUDY_TRIALS ? list_trials(l, dir, err)
                                : list_points(l, dir, err);
}

void listed_fini(struct listed *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->list[i].dir);
    free(l->list);
    *l = (struct listed){0};
}
