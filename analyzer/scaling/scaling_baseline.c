#include "analyzer/scaling/scaling_baseline.h"

#include <stdlib.h>

#include "analyzer/scaling/scaling.h"
#include "analyzer/scaling/scaling_runs.h"
#include "analyzer/studies/baseline.h"
#include "common/base/err.h"
#include "common/base/units.h"

static const struct scale_point *own_baseline(const struct scaling *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->points[i].k == 1)
            return &s->points[i];
    }
    return NULL;
}

/* The points of a table have no conditions to compare. */
static void refuse_other_job(struct scaling *s, const struct baseline *b,
                             const char *path)
{
    char *why = NULL;

    if (s->n > 0 && s->points[0].card.keys.len > 0)
        why = scale_runs_apart(s, &b->conditions, &s->points[0].card);
    if (why)
        scaling_say(&s->refusals, "%s: the baseline is of another job: %s",
                    path, why);
    free(why);
}

static void copy_map(struct strmap *to, const struct strmap *from)
{
    for (size_t i = 0; i < from->keys.len; i++)
        strmap_put(to, from->keys.items[i], from->values.items[i]);
}

/* Its spread is not that of runs, so that speedups have no interval. */
static void take_its_place(struct scaling *s, const struct baseline *b,
                           const char *path)
{
    const char *requests = strmap_get(&b->conditions, "load.requests");
    bool is_recorded = s->n > 0 && s->points[0].card.keys.len > 0;
    struct scale_point *p = scaling_point(s, 1, "", path);
    struct err ignored = {0};
    int64_t n;

    p->mean_s = b->amounts[BASELINE_TIME].median;
    if (requests && units_parse_count(requests, &n, &ignored) == 0)
        p->work = (double)n;
    if (b->amounts[BASELINE_QUALITY].is_there)
        p->quality = b->amounts[BASELINE_QUALITY].median;
    p->is_warm = SCALE_YES; /* else it would not have been sealed */
    if (is_recorded)
        copy_map(&p->card, &b->conditions);
}

static void use(struct scaling *s, const struct baseline *b, const char *path)
{
    const struct baseline_amount *time = &b->amounts[BASELINE_TIME];
    const struct scale_point *own = own_baseline(s);

    if (!time->is_there) {
        scaling_say(&s->refusals, "%s: the baseline has no time: %s", path,
                    time->note);
        return;
    }
    refuse_other_job(s, b, path);
    scaling_say(&s->notes,
                "sealed baseline: '%s' of %s, seal %.16s, T(1) = %.6g s, the "
                "median of %lld",
                b->name, b->frozen, b->seal, time->median, (long long)time->n);
    if (own)
        scaling_say(&s->notes,
                    "K = 1 of this study is %.3f times as fast as the sealed "
                    "baseline",
                    time->median / own->mean_s);
    else
        take_its_place(s, b, path);
}

int scale_sealed_use(struct scaling *s, const char *path, struct err *err)
{
    struct baseline b = {0};
    char why[BASELINE_WHY];
    int rc = baseline_load(&b, path, why, err);

    if (rc == 0)
        use(s, &b, path);
    if (rc == 1)
        scaling_say(&s->refusals, "%.400s", why);
    baseline_fini(&b);
    return rc < 0 ? -1 : 0;
}
