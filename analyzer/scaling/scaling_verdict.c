/* Red flags, the checklist of a report, and up to which K scaling pays. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "analyzer/scaling/scaling.h"

#define TOO_GOOD    0.98  /* efficiency that is hardly ever reached */
#define AS_PRINTED  0.005 /* S equals K in the digits that people print */
#define BEND_MIN    4     /* K from which on a bend should show */
#define FEW_REPEATS 5

/* ---- red flags ---- */

__attribute__((format(printf, 3, 4))) static void
flag(struct scaling *s, const char *name, const char *fmt, ...)
{
    struct red_flag *f = &s->flags[s->n_flags++];
    va_list args;

    f->name = name;
    va_start(args, fmt);
    vsnprintf(f->says, sizeof(f->says), fmt, args);
    va_end(args);
}

static void flag_efficiency(struct scaling *s, const struct scale_point *best)
{
    double e = best->efficiency.value;

    if (e >= TOO_GOOD)
        flag(s, "efficiency of 0.98 or more",
             "%.3f at K = %lld: is T(1) the best that one worker can do?", e,
             (long long)best->k);
    if (e > 1)
        flag(s, "superlinear speedup",
             "%.2f at K = %lld%s: a weak baseline, another job, %s",
             best->speedup.value, (long long)best->k,
             best->efficiency.has_range && best->efficiency.range.low <= 1
                 ? ", within its interval"
                 : "",
             s->ask.regime == SCALE_CAPACITY
                 ? "or one shared queue, which waits less than K separate ones"
                 : "or caches that fit");
}

void scaling_raise_flags(struct scaling *s)
{
    const struct scale_point *best = &s->points[1]; /* by efficiency */
    const struct scale_point *equal = NULL;
    const struct scale_point *better = NULL;
    const struct scale_point *last = &s->points[s->n - 1];

    for (size_t i = s->n - 1; i > 0; i--) {
        const struct scale_point *p = &s->points[i];
        const struct quality_check *q = &p->quality_check;

        best = p->efficiency.value >= best->efficiency.value ? p : best;
        if (fabs(p->efficiency.value - 1) < AS_PRINTED)
            equal = p;
        if (q->verdict == QUALITY_HELD && q->drift.value > s->ask.tolerance)
            better = p;
    }
    flag_efficiency(s, best);
    if (equal)
        flag(s, "a speedup equal to K",
             "%.2f at K = %lld: nothing was lost, or the baseline was slower "
             "than necessary",
             equal->speedup.value, (long long)equal->k);
    if (s->bend.k == 0 && last->k >= BEND_MIN)
        flag(s, "a curve without a bend",
             "efficiency is still %.3f at K = %lld: if the job and the "
             "baseline are the same at each K, measure at a larger K",
             last->efficiency.value, (long long)last->k);
    if (better)
        flag(s, "quality rises",
             "by %.3f at K = %lld: is it the same model and data?",
             better->quality_check.drift.value, (long long)better->k);
}

/* ---- the checklist ---- */

__attribute__((format(printf, 4, 5))) static void
item(struct scaling *s, size_t i, bool is_present, const char *fmt, ...)
{
    static const char *const names[SCALE_ITEMS] = {
        "baseline",         "fixed workload",
        "warm-up excluded", "repeats and variance",
        "regime",           "efficiency"};
    struct scale_item *to = &s->items[i];
    va_list args;

    to->name = names[i];
    to->is_present = is_present;
    va_start(args, fmt);
    vsnprintf(to->says, sizeof(to->says), fmt, args);
    va_end(args);
}

static void list_work(struct scaling *s, size_t known)
{
    if (s->ask.regime == SCALE_CAPACITY)
        item(s, 1, true, "%s",
             "capacities are for one load and SLO, if their searches were");
    else if (known < s->n)
        item(s, 1, false, "%s",
             "unknown: how much was done at each K (give a column work, or "
             "--work)");
    else
        item(s, 1, true, "%.10g %ss at K = 1%s%s", s->points[0].work, s->unit,
             s->ask.regime == SCALE_WEAK ? ", K times that at K"
                                         : " and at every K",
             s->is_work_declared ? ", as declared" : "");
}

void scaling_fill_checklist(struct scaling *s)
{
    static const char *const regimes[] = {
        [SCALE_STRONG] = "strong: one job, more workers",
        [SCALE_WEAK] = "weak: K times the job on K workers",
        [SCALE_CAPACITY] = "capacity efficiency: capacity(K) / (K capacity(1))",
    };
    const struct scale_point *last = &s->points[s->n - 1];
    size_t warm = 0, cold = 0, works = 0, spreads = 0, errors = 0;
    double min_runs = INFINITY;

    for (size_t i = 0; i < s->n; i++) {
        const struct scale_point *p = &s->points[i];

        warm += p->is_warm == SCALE_YES;
        cold += p->is_warm == SCALE_NO;
        works += isnan(p->work) ? 0 : 1;
        spreads += isnan(p->std_s) ? 0 : 1;
        errors += isnan(p->known_error) ? 0 : 1;
        min_runs = fmin(min_runs, isnan(p->runs) ? 1 : p->runs);
    }
    item(s, 0, true, "K = 1 at %.120s", s->points[0].where);
    list_work(s, works);
    item(s, SCALE_ITEM_WARM, warm == s->n, "%s",
         warm == s->n ? "the times exclude warm-up and setup"
         : cold > 0
             ? "some times include warm-up (for sets of trials on one server "
               "use --warmup-trials 1)"
             : "unknown: the input does not say whether warm-up is included");
    if (errors == s->n)
        item(s, 3, true, "%s", "each capacity has the interval of its search");
    else if (spreads < s->n || min_runs < 2)
        item(s, 3, false, "%s",
             "single runs, or no standard deviation: there is no interval, and "
             "a lucky run would not show");
    else
        item(s, 3, true,
             "at least %.0f runs per point, with their standard deviation%s",
             min_runs,
             min_runs < FEW_REPEATS ? " (five or more are better)" : "");
    item(s, 4, true, "%s", regimes[s->ask.regime]);
    item(s, 5, true, "at every K; %.3f at K = %lld", last->efficiency.value,
         (long long)last->k);
}

/* ---- the verdict ---- */

/* The K with the minimum of a value; 0 if it is unknown for a point that may be
 * ranked. */
static int64_t min_k(const struct scaling *s, size_t offset)
{
    double min = INFINITY;
    int64_t k = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct scale_point *p = &s->points[i];
        double value = scale_point_number(p, offset);

        if (!quality_allows(&p->quality_check))
            continue;
        if (isnan(value))
            return 0;
        if (value < min) {
            min = value;
            k = p->k;
        }
    }
    return k;
}

/* Does it keep quality, SLO and, if it is a gate, energy?  Unknown energy does
 * not pass a gate. */
static bool is_allowed(const struct scaling *s, const struct scale_point *p)
{
    return quality_allows(&p->quality_check) && p->keeps_slo != SCALE_NO &&
           (!(s->ask.energy_tolerance > 0) || p->keeps_energy == SCALE_YES);
}

static void consider(struct scaling *s, const struct scale_point *p)
{
    struct scale_verdict *v = &s->verdict;

    if (p->is_below && v->first_below == 0)
        v->first_below = p->k;
    if (p->is_below || !quality_allows(&p->quality_check))
        return;
    v->efficient_k = p->k;
    if (!is_allowed(s, p))
        return;
    v->recommended_k = p->k;
    v->is_shown = p->k == 1 || (p->efficiency.has_range &&
                                p->efficiency.range.low >= s->ask.threshold);
}

/* What a job costs; K times the job costs more, so per unit of work there. */
static double cost_at(const struct scaling *s, const struct scale_point *p)
{
    return s->ask.regime == SCALE_STRONG ? p->usd : p->usd_per_unit;
}

static void decide_deadline(struct scaling *s)
{
    struct scale_deadline *d = &s->verdict.deadline;
    enum scale_deadline_on on = s->ask.deadline_on;
    double fastest_s = INFINITY;
    double min_usd = INFINITY;

    d->is_priced = true;
    for (size_t i = 0; i < s->n; i++) {
        const struct scale_point *p = &s->points[i];
        double delay_s = scale_point_delay(p, on);

        if (!is_allowed(s, p) || isnan(delay_s))
            continue;
        if (delay_s < fastest_s) {
            fastest_s = delay_s;
            d->fastest_k = p->k;
        }
        if (delay_s > s->ask.deadline_s)
            continue;
        d->fits++;
        d->is_priced = d->is_priced && !isnan(cost_at(s, p));
        if (cost_at(s, p) < min_usd) {
            min_usd = cost_at(s, p);
            d->k = p->k;
            d->is_shown = on == DEADLINE_TIME && p->time_s.has_range &&
                          p->time_s.range.high <= s->ask.deadline_s;
        }
    }
    if (!d->is_priced || d->fits == 0)
        *d =
            (struct scale_deadline){.fits = d->fits, .fastest_k = d->fastest_k};
}

void scaling_decide(struct scaling *s)
{
    struct scale_verdict *v = &s->verdict;

    *v = (struct scale_verdict){0};
    for (size_t i = 0; i < s->n; i++)
        consider(s, &s->points[i]);
    if (s->ask.deadline_s > 0)
        decide_deadline(s);
    v->cheapest_k = min_k(s, offsetof(struct scale_point, usd_per_unit));
    if (v->cheapest_k == 0 && s->ask.regime == SCALE_STRONG) /* one job */
        v->cheapest_k = min_k(s, offsetof(struct scale_point, usd));
    v->thriftiest_k = min_k(s, offsetof(struct scale_point, joules_per_unit));
}
