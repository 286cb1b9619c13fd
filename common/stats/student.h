/* student.h - tails and quantiles of the normal and of Student's t
 * distribution.  Pure.  By bisection: for a handful of intervals, not for a hot
 * path.  Good to ten digits with up to some thousand degrees of freedom, to six
 * with 10^9. */
#ifndef COMMON_STATS_STUDENT_H
#define COMMON_STATS_STUDENT_H

/* P(Z >= z), of a normal variable. */
double normal_upper_tail(double z);

/* z with P(Z <= z) = p; p above 0 and below 1. */
double normal_quantile(double p);

/* P(T >= t); `freedom` above 0, whole or not. */
double student_upper_tail(double t, double freedom);

/* t with P(T <= t) = p; p above 0 and below 1.  NAN, here and below, where
 * freedom is not above 0. */
double student_quantile(double p, double freedom);

/* How many deviations an interval of that confidence reaches to either side:
 * 2.776 for 0.95 and 4 degrees of freedom. */
double student_reach(double confidence, double freedom);

#endif
