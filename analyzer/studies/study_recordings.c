#include "analyzer/studies/study_recordings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/tally/summary.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/recording/study_set.h"
#include "common/text/redact.h"

int study_run_open(struct study_run *run, const char *dir,
                   const struct strlist *slo, const struct cost_ask *cost,
                   struct err *err)
{
    struct strlist *own = &run->rec.settings.slo;

    if (recording_open(&run->rec, dir, err))
        return -1;
    if (slo) {
        strlist_fini(own);
        for (size_t i = 0; i < slo->len; i++)
            strlist_add(own, slo->items[i]);
    }
    run->summary = xcalloc(1, sizeof(*run->summary));
    if (summary_make_priced(run->summary, &run->rec, NULL, cost, err) == 0)
        return 0;
    study_run_close(run);
    return -1;
}

void study_run_close(struct study_run *run)
{
    summary_fini(run->summary);
    free(run->summary);
    recording_close(&run->rec);
}

char *study_title(const struct settings *s, const char *fallback)
{
    char *url = redact_url(settings_url(s));
    char *title = xasprintf(
        "%s: %s%s", s->name ? s->name : fallback, url,
        s->target.insecure ? " (INSECURE: certificate not verified)" : "");

    free(url);
    return title;
}

static struct study_recording *add_take(struct study_recordings *l, char *dir,
                                        double value)
{
    l->list = xrealloc(l->list, l->n + 1, sizeof(*l->list));
    l->list[l->n] = (struct study_recording){.dir = dir, .value = value};
    return &l->list[l->n++];
}

int study_recordings_list(struct study_recordings *l, const char *dir,
                          enum study_kind kind, struct err *err)
{
    struct study_set points;
    struct study_set trials;
    int rc;

    *l = (struct study_recordings){0};
    if (kind == STUDY_TRIALS) {
        rc = study_set_load_kind(&trials, dir, STUDY_TRIALS, err);
        for (int64_t i = 1; rc == 0 && i <= trials.recorded; i++)
            add_take(l, study_trial_path(dir, i), NAN);
        study_set_fini(&trials);
        return rc;
    }
    rc = study_set_load(&points, dir, err);
    snprintf(l->key, sizeof(l->key), "%s", points.key);
    snprintf(l->unit, sizeof(l->unit), "%s", points.unit);
    for (size_t i = 0; rc == 0 && i < points.len; i++) {
        const struct study_point *p = &points.points[i];

        if (p->is_recorded && p->role != POINT_LOOK)
            add_take(l, study_point_path(dir, p), p->value)->point = *p;
    }
    study_set_fini(&points);
    return rc;
}

void study_recordings_fini(struct study_recordings *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->list[i].dir);
    free(l->list);
    *l = (struct study_recordings){0};
}
