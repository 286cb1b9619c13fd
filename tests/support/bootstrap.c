#include "tests/support/bootstrap.h"

#include <math.h>
#include <string.h>

#include "analyzer/stats/order_stats.h"
#include "common/base/rng.h"
#include "common/stats/stats.h"

double boot_mean(double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

double boot_median(double *x, size_t n)
{
    return order_median(x, n);
}

size_t boot_scratch(size_t resamples, size_t n_a, size_t n_b)
{
    return resamples + n_a + n_b;
}

static size_t draw(struct rng *rng, size_t n)
{
    return (size_t)(rng_next(rng) % n);
}

/* The statistic on the scale of the contrast, of values in scratch. */
static double scaled(const struct boot *s, double *x, size_t n)
{
    return contrast_scale(s->contrast, s->statistic(x, n));
}

static double of_all(const struct boot *s, const double *x, size_t n,
                     double *room)
{
    memcpy(room, x, n * sizeof(*x));
    return scaled(s, room, n);
}

static double of_resample(const struct boot *s, const double *x, size_t n,
                          double *room)
{
    for (size_t i = 0; i < n; i++)
        room[i] = x[draw(s->rng, n)];
    return scaled(s, room, n);
}

/* Sums of values that lie around 0. */
struct sums {
    double sum;
    double sum2;
    double n;
};

static double note(struct sums *s, double x)
{
    s->n++;
    s->sum += x;
    s->sum2 += x * x;
    return x;
}

static double variance_of(const struct sums *s)
{
    return fmax(0, s->sum2 / s->n - s->sum / s->n * (s->sum / s->n));
}

/* The error of one side, and what it adds to Welch's freedom. */
struct side {
    double seen;  /* variance over the resamples */
    double error; /* what it would be without their shortfall */
    double loss;
};

static struct side side_of(const struct sums *s, size_t n)
{
    struct side side = {.seen = variance_of(s)};

    side.error = side.seen * (double)n / (double)(n - 1);
    side.loss = side.error * side.error / (double)(n - 1);
    return side;
}

/* How much of the resamples' distribution lies beyond each end. */
static double tail_of(const struct boot *s, struct side a, struct side b)
{
    double error = a.error + b.error;
    double reach =
        student_reach(s->confidence, error * error / (a.loss + b.loss));

    return normal_upper_tail(reach * sqrt(error / (a.seen + b.seen)));
}

static struct uncertain expanded(const struct boot *s, double value,
                                 double *drawn, struct side a, struct side b)
{
    struct uncertain u = {.value = contrast_back(s->contrast, value)};
    double rank;

    if (!isfinite(a.error + b.error + value))
        return u;
    if (!(a.loss + b.loss > 0)) { /* all alike */
        u.range = (struct interval){u.value, u.value};
        u.has_range = true;
        return u;
    }
    rank = floor(tail_of(s, a, b) * (double)(s->resamples + 1));
    if (rank < 1)
        return u;
    u.has_range = true;
    u.range.low = contrast_back(
        s->contrast, order_select(drawn, s->resamples, (size_t)rank));
    u.range.high = contrast_back(
        s->contrast,
        order_select(drawn, s->resamples, s->resamples + 1 - (size_t)rank));
    return u;
}

struct uncertain boot_contrast(const struct boot *s, const double *a,
                               size_t n_a, const double *b, size_t n_b)
{
    double *drawn = s->scratch;
    double *room = drawn + s->resamples;
    struct sums of_a = {0};
    struct sums of_b = {0};
    struct uncertain u = {0};
    double value;
    double centre;

    if (n_a == 0 || n_b == 0)
        return u;
    centre = of_all(s, a, n_a, room);
    value = of_all(s, b, n_b, room) - centre;
    u.value = contrast_back(s->contrast, value);
    if (n_a < BOOT_LEAST_TRIALS || n_b < BOOT_LEAST_TRIALS || !isfinite(value))
        return u;
    for (size_t i = 0; i < s->resamples; i++) {
        double t_a = of_resample(s, a, n_a, room) - centre;
        double t_b = of_resample(s, b, n_b, room) - centre;

        drawn[i] = note(&of_b, t_b) - note(&of_a, t_a);
    }
    return expanded(s, value, drawn, side_of(&of_a, n_a), side_of(&of_b, n_b));
}

static double of_pairs(const struct boot *s, const double *a, const double *b,
                       size_t n, double *room)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = draw(s->rng, n);

        room[i] = a[k];
        room[n + i] = b[k];
    }
    return scaled(s, room + n, n) - scaled(s, room, n);
}

struct uncertain boot_paired(const struct boot *s, const double *a,
                             const double *b, size_t n)
{
    double *drawn = s->scratch;
    double *room = drawn + s->resamples;
    struct sums sums = {0};
    struct uncertain u = {0};
    double value;

    if (n == 0)
        return u;
    value = of_all(s, b, n, room) - of_all(s, a, n, room);
    u.value = contrast_back(s->contrast, value);
    if (n < BOOT_LEAST_PAIRS || !isfinite(value))
        return u;
    for (size_t i = 0; i < s->resamples; i++) {
        double drawn_value = of_pairs(s, a, b, n, room) - value;

        drawn[i] = note(&sums, drawn_value) + value;
    }
    return expanded(s, value, drawn, side_of(&sums, n), (struct side){0});
}
