#include "analyzer/stats/order_stats.h"

#include <stdlib.h>

#include "common/stats/stats.h"

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

void order_sort(double *x, size_t n)
{
    qsort(x, n, sizeof(*x), compare);
}

static void swap(double *a, double *b)
{
    double t = *a;

    *a = *b;
    *b = t;
}

/* Median of three: sorted input is as fast as any other. */
static double pivot_of(const double *x, size_t low, size_t high)
{
    double a = x[low];
    double b = x[low + (high - low) / 2];
    double c = x[high];

    if (a > b)
        swap(&a, &b);
    return c < a ? a : (c > b ? b : c);
}

/* Hoare's selection: after a pass all values up to j are at most the pivot, all
 * others at least the pivot, and both sides are smaller than before. */
double order_select(double *x, size_t n, size_t rank)
{
    size_t k = rank - 1;
    size_t low = 0;
    size_t high = n - 1;

    while (low < high) {
        double pivot = pivot_of(x, low, high);
        size_t i = low;
        size_t j = high;

        for (;;) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i >= j)
                break;
            swap(&x[i++], &x[j--]);
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    return x[k];
}

double order_quantile(double *x, size_t n, double q)
{
    return order_select(x, n, (size_t)stats_rank(q, (int64_t)n));
}

double order_median(double *x, size_t n)
{
    double high = order_select(x, n, n / 2 + 1);
    double low = high;

    if (n % 2 == 0)
        low = order_select(x, n, n / 2);
    return low < high ? low + (high - low) / 2 : low; /* both may be INFINITY */
}
