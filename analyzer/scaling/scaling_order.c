/* The points of a study in order, its baseline, and whether it is the kind of
 * scaling that it is said to be: a job that changes between points gives a
 * ratio of two different things. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/scaling/scaling.h"
#include "analyzer/scaling/scaling_runs.h"

#define SAME 1e-6 /* as a share: what units are written with */

/* By K, and of one K the fastest first. */
static int by_k(const void *a, const void *b)
{
    const struct scale_point *x = a;
    const struct scale_point *y = b;

    if (x->k != y->k)
        return x->k < y->k ? -1 : 1;
    return x->mean_s < y->mean_s ? -1 : x->mean_s > y->mean_s;
}

static void drop(struct scaling *s, size_t i)
{
    scale_point_fini(&s->points[i]);
    s->n--;
    memmove(&s->points[i], &s->points[i + 1],
            (s->n - i) * sizeof(s->points[0]));
}

/* ---- the baseline ---- */

static size_t at_one(const struct scaling *s)
{
    size_t n = 0;

    while (n < s->n && s->points[n].k == 1)
        n++;
    return n;
}

/* No worse than the best of them. */
static bool holds_quality(const struct scaling *s, size_t i, size_t n)
{
    struct quality_of mine = {s->points[i].quality, s->points[i].quality_n};

    for (size_t k = 0; k < n; k++) {
        struct quality_of other = {s->points[k].quality,
                                   s->points[k].quality_n};
        struct quality_gate g = quality_judge(other, mine, s->ask.tolerance);

        if (!quality_allows(&g) && other.share > mine.share)
            return false;
    }
    return true;
}

/* The strongest configuration at K = 1: the fastest that holds quality. */
static void choose_baseline(struct scaling *s)
{
    size_t n = at_one(s);
    size_t best = 0;

    if (n < 2)
        return;
    while (best + 1 < n && !holds_quality(s, best, n))
        best++;
    scaling_say(&s->notes,
                "baseline: '%s', the fastest of %zu at K = 1 that holds "
                "quality (%.6g s)",
                s->points[best].config, n, s->points[best].mean_s);
    for (size_t i = n; i-- > 0;) {
        if (i != best)
            drop(s, i);
    }
}

/* ---- refusals ---- */

static void refuse_twice(struct scaling *s)
{
    for (size_t i = 1; i < s->n; i++) {
        const struct scale_point *a = &s->points[i - 1];
        const struct scale_point *b = &s->points[i];

        if (a->k == b->k)
            scaling_say(&s->refusals,
                        "K = %lld is there with '%s' and with '%s': one curve "
                        "is of one configuration",
                        (long long)a->k, a->config, b->config);
    }
}

static bool is_same(double a, double b)
{
    return fabs(a - b) <= SAME * fabs(b);
}

/* How many times the baseline's job a point is; NAN: nobody says. */
static double times_the_job(const struct scaling *s, size_t i)
{
    return s->points[i].work / s->points[0].work;
}

static void refuse_work(struct scaling *s)
{
    for (size_t i = 1; i < s->n; i++) {
        const struct scale_point *p = &s->points[i];
        double times = times_the_job(s, i);
        double want = s->ask.regime == SCALE_WEAK ? (double)p->k : 1;

        if (isnan(times) || is_same(times, want))
            continue;
        scaling_say(
            &s->refusals,
            "not %s scaling: K = %lld does %.10g %ss where %s is %.10g "
            "(K = 1 does %.10g)%s",
            scale_regime_name(s->ask.regime), (long long)p->k, p->work, s->unit,
            s->ask.regime == SCALE_WEAK ? "K times the job" : "the one job",
            want * s->points[0].work, s->points[0].work,
            is_same(times, (double)p->k) ? "; that is weak scaling"
            : is_same(times, 1)          ? "; that is strong scaling"
                                         : "");
    }
}

/* Other hardware is another worker; of recordings their conditions say so. */
static void refuse_machines(struct scaling *s)
{
    const char *base = s->n > 0 ? s->points[0].machine : NULL;

    for (size_t i = 1; base && i < s->n; i++) {
        const struct scale_point *p = &s->points[i];

        if (p->machine && strcmp(p->machine, base) != 0)
            scaling_say(&s->refusals,
                        "K = %lld is not matched with K = 1: machine: %.80s | "
                        "%.80s: other hardware is another worker (%s)",
                        (long long)p->k, base, p->machine, p->where);
    }
}

void scaling_order(struct scaling *s)
{
    if (s->n > 0)
        qsort(s->points, s->n, sizeof(s->points[0]), by_k);
    if (s->n > 0 && s->points[0].card.keys.len > 0)
        scale_runs_match(s);
    choose_baseline(s);
    if (at_one(s) == 0)
        scaling_say(&s->refusals, "there is no K = 1: a speedup needs its "
                                  "denominator");
    else if (s->n < 2)
        scaling_say(&s->refusals, "there is K = 1 alone: nothing is scaled%s",
                    s->points[0].card.keys.len > 0
                        ? "; runs say their K with --label replicas=K"
                        : "");
    if (s->n > LAWS_MAX_POINTS)
        scaling_say(&s->refusals, "more than %d points", LAWS_MAX_POINTS);
    refuse_twice(s);
    refuse_machines(s);
    if (s->ask.regime != SCALE_CAPACITY && s->n > 0)
        refuse_work(s);
}
