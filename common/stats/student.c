#include "common/stats/student.h"

#include <math.h>

#include "common/stats/intervals.h"

double normal_upper_tail(double z)
{
    return erfc(z / M_SQRT2) / 2;
}

double student_upper_tail(double t, double freedom)
{
    double half = stats_beta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;

    return t > 0 ? half : 1 - half;
}

static double normal_tail(double z, double unused)
{
    (void)unused;
    return normal_upper_tail(z);
}

/* The point above 0 beyond which `share`, at most a half, lies. */
static double beyond(double (*tail)(double, double), double freedom,
                     double share)
{
    double low = 0;
    double high = 1;

    while (tail(high, freedom) > share)
        high *= 2;
    while (high - low > 1e-13 * high) {
        double middle = low + (high - low) / 2;

        if (tail(middle, freedom) > share)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Both distributions are symmetric. */
static double quantile(double (*tail)(double, double), double freedom, double p)
{
    if (p < 0.5)
        return -beyond(tail, freedom, p);
    return p > 0.5 ? beyond(tail, freedom, 1 - p) : 0;
}

double normal_quantile(double p)
{
    return quantile(normal_tail, 0, p);
}

double student_quantile(double p, double freedom)
{
    if (!(freedom > 0))
        return NAN;
    return quantile(student_upper_tail, freedom, p);
}

double student_reach(double confidence, double freedom)
{
    if (!(freedom > 0))
        return NAN;
    return beyond(student_upper_tail, freedom, (1 - confidence) / 2);
}
