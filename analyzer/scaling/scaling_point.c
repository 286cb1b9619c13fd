#include "analyzer/scaling/scaling_point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "common/stats/stats.h"

#define MANY 1e9 /* degrees of freedom: as good as known */

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
        .work = NAN,
        .tokens = NAN,
        .usd_per_hour = NAN,
        .joules = NAN,
        .quality = NAN,
        .quality_n = NAN,
        .p50_ms = NAN,
        .p99_ms = NAN,
        .usd = NAN,
        .usd_per_unit = NAN,
        .units_per_usd = NAN,
        .joules_per_unit = NAN,
        .units_per_s = NAN,
        .mfu = NAN,
        .law_speedup = NAN,
        .usl_speedup = NAN,
    };
}

void scale_point_fini(struct scale_point *p)
{
    strmap_fini(&p->card);
    free(p->times_s);
    free(p->machine);
    free(p->where);
    free(p->config);
    *p = (struct scale_point){0};
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

/* The value, and as far to both sides as `reach` errors go: of a time as they
 * are, of a ratio on logarithms. */
static struct uncertain time_of(const struct scale_point *p)
{
    struct uncertain u = {.value = p->mean_s};
    double error = scale_point_error(p);
    double half;

    if (!isfinite(error))
        return u;
    half = student_reach(SCALE_CONFIDENCE, scale_point_freedom(p)) * error *
           p->mean_s;
    u.has_range = true;
    u.range.low = p->mean_s - half;
    u.range.high = p->mean_s + half;
    return u;
}

static double welch_freedom(const struct scale_point *x,
                            const struct scale_point *y)
{
    /* As shares of the larger, so that no square runs over. */
    double most = fmax(scale_point_error(x), scale_point_error(y));
    double a = pow(scale_point_error(x) / most, 2);
    double b = pow(scale_point_error(y) / most, 2);

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
    u.has_range = isfinite(u.range.high); /* else it bounds nothing */
    return u;
}

void scale_point_rate(struct scale_point *p, const struct scale_point *base,
                      enum scale_regime regime)
{
    double k = (double)p->k;

    p->time_s = time_of(p);
    p->speedup = speedup_of(p, base, regime == SCALE_WEAK ? k : 1);
    p->efficiency = p->speedup;
    p->efficiency.value /= k;
    p->efficiency.range.low /= k;
    p->efficiency.range.high /= k;
}
