/* profile_values.h - plain values, kept one by one, and percentiles as other
 * tools take them.  8 bytes per value: exact, unlike a histogram. */
#ifndef ANALYZER_PROFILE_PROFILE_VALUES_H
#define ANALYZER_PROFILE_PROFILE_VALUES_H

#include <stddef.h>
#include <stdint.h>

enum percentile_rule {
    PERCENTILE_LINEAR,  /* between neighbours, at q (n - 1): numpy's default */
    PERCENTILE_NEAREST, /* rank ceil(q n) */
    PERCENTILE_LOADGEN, /* the value at index floor(q n), from 0 */
};

struct values {
    double *items; /* owned */
    size_t len;
    size_t cap;
    int64_t zeros; /* values of 0 that are counted, not kept */
};

/* The same value `count` times. */
void values_add(struct values *v, double value, int64_t count);

/* Add zeros without storing them; no value may be below 0. */
void values_add_zeros(struct values *v, int64_t count);
void values_sort(struct values *v);
void values_fini(struct values *v);

/* All of them, zeros included. */
size_t values_count(const struct values *v);

/* Of sorted values; NAN without values. */
double values_percentile(const struct values *v, enum percentile_rule rule,
                         double q);
double values_mean(const struct values *v);

/* Root of the mean square deviation, over n and not n - 1. */
double values_deviation(const struct values *v);

#endif
