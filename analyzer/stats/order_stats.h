/* order_stats.h - order statistics of plain arrays.  Pure; no NAN may be among
 * the values, INFINITY may. */
#ifndef ANALYZER_STATS_ORDER_STATS_H
#define ANALYZER_STATS_ORDER_STATS_H

#include <stddef.h>

/* Ascending. */
void order_sort(double *x, size_t n);

/* The rank-th smallest, from 1 to n; moves the values about.  O(n). */
double order_select(double *x, size_t n, size_t rank);

/* Nearest rank ceil(q n), as everywhere; n at least 1.  Moves the values. */
double order_quantile(double *x, size_t n, double q);

/* Of an even number the mean of the two in the middle; n at least 1.  Moves
 * the values. */
double order_median(double *x, size_t n);

#endif
