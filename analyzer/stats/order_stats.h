/* order_stats.h - order statistics of arrays.  Pure.  Values may be INFINITY
 * but not NAN. */
#ifndef ANALYZER_STATS_ORDER_STATS_H
#define ANALYZER_STATS_ORDER_STATS_H

#include <stddef.h>

/* Ascending. */
void order_sort(double *x, size_t n);

/* The rank-th smallest value, from 1 to n.  Reorders the values.  O(n). */
double order_select(double *x, size_t n, size_t rank);

/* Nearest rank ceil(q n), as everywhere; n at least 1.  Reorders the values. */
double order_quantile(double *x, size_t n, double q);

/* The mean of the two middle values if n is even; n at least 1.  Reorders the
 * values. */
double order_median(double *x, size_t n);

#endif
