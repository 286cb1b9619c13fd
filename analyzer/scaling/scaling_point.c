#include "analyzer/scaling/scaling_point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "common/stats/stats.h"

#define MANY 1e9 /* degrees of freedom of a known error */

/* ---- quality ---- */

/* Qualities are decimals: 0.871 - 0.866 must not exceed 0.005. */
#define ROUNDING 1e-9

#define MAX_ANSWERS 1e9

/* Newcombe 1998, his method 10. */
static struct interval difference(struct quality_of base,
                                  struct quality_of point)
{
    struct interval b = stats_share_interval(base.share, base.n);
    struct interval r = stats_share_interval(point.share, point.n);
    double drift = point.share - base.share;

    return (struct interval){
        .low = drift - hypot(point.share - r.low, b.high - base.share),
        .high = drift + hypot(r.high - point.share, base.share - b.low),
    };
}

static enum quality_verdict by_range(const struct interval *r, double tolerance)
{
    if (r->low >= -tolerance - ROUNDING)
        return QUALITY_HELD;
    return r->high < -tolerance - ROUNDING ? QUALITY_DRIFTED
                                           : QUALITY_NOT_SHOWN;
}

static bool would_hold(struct quality_of base, struct quality_of point,
                       double n, double tolerance)
{
    struct interval r;

    base.n = n;
    point.n = n;
    r = difference(base, point);
    return by_range(&r, tolerance) == QUALITY_HELD;
}

/* The same number on both sides; by bisection, to one percent. */
static double needed(struct quality_of base, struct quality_of point,
                     double tolerance)
{
    double few = 1;
    double enough = 2;

    while (!would_hold(base, point, enough, tolerance)) {
        few = enough;
        enough *= 2;
        if (enough > MAX_ANSWERS)
            return NAN;
    }
    while (enough > 1.01 * few && enough - few > 1) {
        double n = floor((few + enough) / 2);

        if (would_hold(base, point, n, tolerance))
            enough = n;
        else
            few = n;
    }
    return enough;
}

struct quality_check quality_judge(struct quality_of base,
                                   struct quality_of point, double tolerance)
{
    struct quality_check g = {.needed = NAN,
                              .drift.value = point.share - base.share};

    if (isnan(g.drift.value))
        return g;
    if (!(base.n > 0) || !(point.n > 0)) {
        g.verdict = g.drift.value >= -tolerance - ROUNDING ? QUALITY_HELD
                                                           : QUALITY_DRIFTED;
        return g;
    }
    g.drift.range = difference(base, point);
    g.drift.has_range = true;
    g.verdict = by_range(&g.drift.range, tolerance);
    if (g.verdict == QUALITY_NOT_SHOWN)
        g.needed = needed(base, point, tolerance);
    return g;
}

bool quality_allows(const struct quality_check *check)
{
    return check->verdict == QUALITY_HELD || check->verdict == QUALITY_UNKNOWN;
}

/* ---- the end of a fixed set of requests ---- */

static double at(const double *ends_s, size_t n, double share)
{
    return ends_s[(size_t)ceil(share * (double)n) - 1];
}

struct drain drain_of(const double *ends_s, size_t n)
{
    double tenth, half, last, end;
    struct drain d = {0};

    if (n < DRAIN_MIN)
        return d;
    tenth = at(ends_s, n, 0.1);
    half = at(ends_s, n, 0.5);
    last = at(ends_s, n, 1 - DRAIN_LAST);
    end = ends_s[n - 1];
    if (!(half > tenth) || !(end > last))
        return d; /* a single batch has no rate */
    d.runs = 1;
    d.bulk_rps = 0.4 * (double)n / (half - tenth);
    d.uneven = fmax(0, 1 - (tenth + 0.9 * (double)n / d.bulk_rps) / end);
    d.last_rps = DRAIN_LAST * (double)n / (end - last);
    return d;
}

double running_mean(double mean, double before, double x, double weight)
{
    return before > 0 ? mean + (x - mean) * weight / (before + weight) : x;
}

void scale_blend(double *mean, double *weight, double x, double added)
{
    if (isnan(x))
        return;
    *mean = running_mean(*mean, *weight, x, added);
    *weight += added;
}

void drain_add(struct drain *all, const struct drain *run)
{
    double before = (double)all->runs;

    if (run->runs == 0)
        return;
    all->runs++;
    all->bulk_rps = running_mean(all->bulk_rps, before, run->bulk_rps, 1);
    all->uneven = running_mean(all->uneven, before, run->uneven, 1);
    all->last_rps = running_mean(all->last_rps, before, run->last_rps, 1);
}

/* ---- a point ---- */

void scale_point_init(struct scale_point *p, int64_t k, const char *config,
                      const char *where)
{
    *p = (struct scale_point){
        .k = k,
        .config = xstrdup(config),
        .where = xstrdup(where),
        .mean_s = NAN,
        .std_s = NAN,
        .runs = NAN,
        .known_error = NAN,
        .comm_s = NAN,
        .work = NAN,
        .tokens = NAN,
        .prompt_tokens = NAN,
        .output_tokens = NAN,
        .usd_per_hour = NAN,
        .egress_gb = NAN,
        .storage_gb = NAN,
        .joules = NAN,
        .quality = NAN,
        .quality_n = NAN,
        .p50_ms = NAN,
        .p99_ms = NAN,
        .usd = NAN,
        .usd_storage = NAN,
        .usd_egress = NAN,
        .usd_per_unit = NAN,
        .units_per_usd = NAN,
        .joules_per_unit = NAN,
        .energy_ratio = NAN,
        .units_per_s = NAN,
        .mfu = NAN,
        .law_speedup = NAN,
        .usl_speedup = NAN,
        .communication_s = NAN,
        .computation_s = NAN,
    };
}

struct scale_target *scale_point_target(struct scale_point *p, const char *name)
{
    for (size_t i = 0; i < p->n_targets; i++) {
        if (strcmp(p->targets[i].name, name) == 0)
            return &p->targets[i];
    }
    p->targets = xrealloc(p->targets, p->n_targets + 1, sizeof(*p->targets));
    p->targets[p->n_targets] = (struct scale_target){.name = xstrdup(name)};
    return &p->targets[p->n_targets++];
}

bool scale_target_is_straggler(const struct scale_target *t)
{
    return 2 * t->straggler_in > t->runs;
}

void scale_point_fini(struct scale_point *p)
{
    for (size_t i = 0; i < p->n_targets; i++)
        free(p->targets[i].name);
    free(p->targets);
    strmap_fini(&p->conditions);
    free(p->times_s);
    free(p->machine);
    free(p->where);
    free(p->config);
    *p = (struct scale_point){0};
}

const char *const scale_deadline_names[] = {
    [DEADLINE_TIME] = "time",
    [DEADLINE_P50] = "p50",
    [DEADLINE_P99] = "p99",
    NULL,
};

double scale_point_delay(const struct scale_point *p, enum scale_deadline_on on)
{
    return on == DEADLINE_P50   ? p->p50_ms / 1e3
           : on == DEADLINE_P99 ? p->p99_ms / 1e3
                                : p->mean_s;
}

double scale_point_number(const struct scale_point *p, size_t offset)
{
    double x;

    memcpy(&x, (const char *)p + offset, sizeof(x));
    return x;
}

void scale_point_add_time(struct scale_point *p, double seconds)
{
    double squares = 0;

    p->times_s = xrealloc(p->times_s, p->n_times + 1, sizeof(*p->times_s));
    p->times_s[p->n_times++] = seconds;
    p->runs = (double)p->n_times;
    p->mean_s = 0;
    for (size_t i = 0; i < p->n_times; i++)
        p->mean_s += p->times_s[i] / p->runs;
    for (size_t i = 0; i < p->n_times; i++)
        squares += (p->times_s[i] - p->mean_s) * (p->times_s[i] - p->mean_s);
    p->std_s = p->n_times > 1 ? sqrt(squares / (p->runs - 1)) : NAN;
}

double scale_point_error(const struct scale_point *p)
{
    if (!isnan(p->known_error))
        return p->known_error;
    return p->runs >= 2 ? p->std_s / sqrt(p->runs) / p->mean_s : NAN;
}

double scale_point_freedom(const struct scale_point *p)
{
    return isnan(p->known_error) ? p->runs - 1 : MANY;
}

static double welch_freedom(const struct scale_point *x,
                            const struct scale_point *y)
{
    /* Relative to the larger, so that no square overflows. */
    double max = fmax(scale_point_error(x), scale_point_error(y));
    double a = pow(scale_point_error(x) / max, 2);
    double b = pow(scale_point_error(y) / max, 2);

    return (a + b) * (a + b) /
           (a * a / scale_point_freedom(x) + b * b / scale_point_freedom(y));
}

static struct uncertain speedup_of(const struct scale_point *p,
                                   const struct scale_point *base, double times)
{
    struct uncertain u = {.value = times * base->mean_s / p->mean_s};
    double error = hypot(scale_point_error(base), scale_point_error(p));
    double reach = 0;

    if (p == base || !isfinite(error))
        return u;
    if (error > 0)
        reach = student_reach(SCALE_CONFIDENCE, welch_freedom(base, p));
    u.range.low = u.value * exp(-reach * error);
    u.range.high = u.value * exp(reach * error);
    u.has_range = isfinite(u.range.high); /* else it is useless */
    return u;
}

void scale_point_rate(struct scale_point *p, const struct scale_point *base,
                      enum scale_regime regime)
{
    double k = (double)p->k;
    double error = scale_point_error(p);

    p->time_s = (struct uncertain){.value = p->mean_s};
    if (isfinite(error)) {
        double half = student_reach(SCALE_CONFIDENCE, scale_point_freedom(p)) *
                      error * p->mean_s;

        p->time_s.has_range = true;
        p->time_s.range = (struct interval){p->mean_s - half, p->mean_s + half};
    }
    p->speedup = speedup_of(p, base, regime == SCALE_WEAK ? k : 1);
    p->efficiency = p->speedup;
    p->efficiency.value /= k;
    p->efficiency.range.low /= k;
    p->efficiency.range.high /= k;
}
