#include "analyzer/variants/listed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/recording/trialset.h"
#include "common/xalloc.h"

static void add_take(struct listed *l, char *dir, double value)
{
    l->list = xrealloc(l->list, l->n + 1, sizeof(*l->list));
    l->list[l->n++] = (struct listed_one){dir, value};
}

static int list_trials(struct listed *l, const char *dir, struct err *err)
{
    struct trial_set set;
    int rc = trial_set_load(&set, dir, err);

    for (int64_t i = 1; rc == 0 && i <= set.recorded; i++)
        add_take(l, trial_set_path(dir, i), NAN);
    trial_set_fini(&set);
    return rc;
}

int listed_read(struct listed *l, const char *dir, enum study_kind kind,
                struct err *err)
{
    *l = (struct listed){0};
    (void)kind;
    return list_trials(l, dir, err);
}

void listed_fini(struct listed *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->list[i].dir);
    free(l->list);
    *l = (struct listed){0};
}
