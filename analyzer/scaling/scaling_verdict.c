/* Red flags, the checklist of a report, and up to which K it pays. */
#include <math.h>
#include <stdio.h>

#include "analyzer/scaling/scaling.h"

#define TOO_GOOD    0.98  /* efficiency that workers hardly ever have */
#define AS_PRINTED  0.005 /* S = K to the digits that people print */
#define BEND_LEAST  4     /* a K up to which no bend need show */
#define FEW_REPEATS 5

/* ---- red flags ---- */

static struct red_flag *flag_new(struct scaling *s, const char *name)
{
    struct red_flag *f = &s->flags[s->n_flags++];

    f->name = name;
    return f;
}

/* The point above K = 1 that uses its workers best. */
static const struct scale_point *best_used(const struct scaling *s)
{
    const struct scale_point *best = &s->points[1];

    for (size_t i = 2; i < s->n; i++) {
        if (s->points[i].efficiency.value > best->efficiency.value)
            best = &s->points[i];
    }
    return best;
}

static void flag_efficiency(struct scaling *s, const struct scale_point *p)
{
    double e = p->efficiency.value;
    struct red_flag *f;

    if (e >= TOO_GOOD) {
        f = flag_new(s, "efficiency of 0.98 or more");
        snprintf(f->says, sizeof(f->says),
                 "%.3f at K = %lld: is T(1) the best that one worker can do?",
                 e, (long long)p->k);
    }
    if (e > 1) {
        f = flag_new(s, "superlinear speedup");
        snprintf(f->says, sizeof(f->says),
                 "%.2f at K = %lld%s: a weak baseline, another job, %s",
                 p->speedup.value, (long long)p->k,
                 p->efficiency.has_range && p->efficiency.range.low <= 1
                     ? ", within its interval"
                     : "",
                 s->ask.regime == SCALE_CAPACITY
                     ? "or one queue for all, which waits less than K of them"
                     : "or caches that fit");
    }
}

static void flag_equal(struct scaling *s)
{
    for (size_t i = 1; i < s->n; i++) {
        const struct scale_point *p = &s->points[i];
        struct red_flag *f;

        if (fabs(p->efficiency.value - 1) >= AS_PRINTED)
            continue;
        f = flag_new(s, "a speedup equal to K");
        snprintf(f->says, sizeof(f->says),
                 "%.2f at K = %lld: nothing was lost, or the baseline was "
                 "slower than it need be",
                 p->speedup.value, (long long)p->k);
        return;
    }
}

static void flag_no_bend(struct scaling *s)
{
    const struct scale_point *last = &s->points[s->n - 1];
    struct red_flag *f;

    if (s->bend.k != 0 || last->k < BEND_LEAST)
        return;
    f = flag_new(s, "a curve without a bend");
    snprintf(f->says, sizeof(f->says),
             "efficiency is still %.3f at K = %lld: the same job at each K, "
             "and the same baseline? Then measure further",
             last->efficiency.value, (long long)last->k);
}

static void flag_quality(struct scaling *s)
{
    for (size_t i = 1; i < s->n; i++) {
        const struct scale_point *p = &s->points[i];
        struct red_flag *f;

        if (p->handoff.verdict != QUALITY_HELD ||
            !(p->handoff.drift.value > s->ask.tolerance))
            continue;
        f = flag_new(s, "quality rises");
        snprintf(f->says, sizeof(f->says),
                 "by %.3f at K = %lld: is it the same model and data?",
                 p->handoff.drift.value, (long long)p->k);
        return;
    }
}

void scaling_raise_flags(struct scaling *s)
{
    flag_efficiency(s, best_used(s));
    flag_equal(s);
    flag_no_bend(s);
    flag_quality(s);
}

/* ---- the checklist ---- */

static void say_baseline(const struct scaling *s, struct scale_item *item)
{
    item->is_present = true;
    snprintf(item->says, sizeof(item->says), "K = 1 at %.120s",
             s->points[0].where);
}

static void say_work(const struct scaling *s, struct scale_item *item)
{
    size_t known = 0;

    for (size_t i = 0; i < s->n; i++)
        known += isnan(s->points[i].work) ? 0 : 1;
    item->is_present = known == s->n || s->ask.regime == SCALE_CAPACITY;
    if (s->ask.regime == SCALE_CAPACITY)
        snprintf(item->says, sizeof(item->says), "%s",
                 "capacities are of one load and objective, if their searches "
                 "were");
    else if (!item->is_present)
        snprintf(item->says, sizeof(item->says), "%s",
                 "nobody says how much was done at each K (a column work, or "
                 "--work)");
    else
        snprintf(item->says, sizeof(item->says), "%.10g %ss at K = 1%s%s",
                 s->points[0].work, s->unit,
                 s->ask.regime == SCALE_WEAK ? ", K times that at K"
                                             : " and at every K",
                 s->is_work_declared ? ", as declared" : "");
}

static void say_warmup(const struct scaling *s, struct scale_item *item)
{
    size_t warm = 0;
    size_t cold = 0;

    for (size_t i = 0; i < s->n; i++) {
        warm += s->points[i].is_warm == SCALE_YES;
        cold += s->points[i].is_warm == SCALE_NO;
    }
    item->is_present = warm == s->n;
    snprintf(item->says, sizeof(item->says), "%s",
             item->is_present ? "warm-up and setup are not in the times"
             : cold > 0
                 ? "some times have warm-up in them (of sets of trials of one "
                   "server: --warmup-trials 1)"
                 : "nobody says whether warm-up is in the times");
}

static void say_repeats(const struct scaling *s, struct scale_item *item)
{
    double least = INFINITY;
    bool has_spread = true;
    bool is_known = true;

    for (size_t i = 0; i < s->n; i++) {
        least = fmin(least, isnan(s->points[i].runs) ? 1 : s->points[i].runs);
        has_spread = has_spread && !isnan(s->points[i].std_s);
        is_known = is_known && !isnan(s->points[i].known_error);
    }
    item->is_present = is_known || (has_spread && least >= 2);
    if (is_known)
        snprintf(item->says, sizeof(item->says), "%s",
                 "each capacity with the interval of its search");
    else if (!item->is_present)
        snprintf(item->says, sizeof(item->says), "%s",
                 "single runs, or no standard deviation: no interval, and a "
                 "lucky run would not show");
    else
        snprintf(item->says, sizeof(item->says),
                 "at least %.0f runs a point, with their standard deviation%s",
                 least,
                 least < FEW_REPEATS ? " (five or more are better)" : "");
}

static void say_regime(const struct scaling *s, struct scale_item *item)
{
    static const char *const says[] = {
        [SCALE_STRONG] = "strong: one job, more workers",
        [SCALE_WEAK] = "weak: K times the job on K workers",
        [SCALE_CAPACITY] = "capacity efficiency: capacity(K) / (K capacity(1))",
    };

    item->is_present = true;
    snprintf(item->says, sizeof(item->says), "%s", says[s->ask.regime]);
}

static void say_efficiency(const struct scaling *s, struct scale_item *item)
{
    const struct scale_point *last = &s->points[s->n - 1];

    item->is_present = true;
    snprintf(item->says, sizeof(item->says), "at every K; %.3f at K = %lld",
             last->efficiency.value, (long long)last->k);
}

void scaling_fill_checklist(struct scaling *s)
{
    static const struct {
        const char *name;
        void (*say)(const struct scaling *s, struct scale_item *item);
    } items[SCALE_ITEMS] = {
        {"baseline", say_baseline},       {"fixed workload", say_work},
        {"warm-up excluded", say_warmup}, {"repeats and variance", say_repeats},
        {"regime", say_regime},           {"efficiency", say_efficiency},
    };

    for (size_t i = 0; i < SCALE_ITEMS; i++) {
        s->items[i].name = items[i].name;
        items[i].say(s, &s->items[i]);
    }
}

/* ---- the verdict ---- */

/* Less is better; 0 if it is not known of all that may be ranked. */
static int64_t least_k(const struct scaling *s, size_t offset)
{
    double least = INFINITY;
    int64_t k = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct scale_point *p = &s->points[i];
        double value = scale_point_number(p, offset);

        if (!quality_allows(&p->handoff))
            continue;
        if (isnan(value))
            return 0;
        if (value < least) {
            least = value;
            k = p->k;
        }
    }
    return k;
}

static void consider(struct scale_verdict *v, const struct scale_point *p,
                     double threshold)
{
    if (p->is_below && v->first_below == 0)
        v->first_below = p->k;
    if (p->is_below || !quality_allows(&p->handoff))
        return;
    v->efficient_k = p->k;
    if (p->keeps_slo == SCALE_NO)
        return;
    v->recommended_k = p->k;
    v->is_shown = p->k == 1 || (p->efficiency.has_range &&
                                p->efficiency.range.low >= threshold);
}

void scaling_decide(struct scaling *s)
{
    struct scale_verdict *v = &s->verdict;

    *v = (struct scale_verdict){0};
    for (size_t i = 0; i < s->n; i++)
        consider(v, &s->points[i], s->ask.threshold);
    v->cheapest_k = least_k(s, offsetof(struct scale_point, usd_per_unit));
    if (v->cheapest_k == 0 && s->ask.regime == SCALE_STRONG) /* one job */
        v->cheapest_k = least_k(s, offsetof(struct scale_point, usd));
    v->thriftiest_k = least_k(s, offsetof(struct scale_point, joules_per_unit));
}
