#include "analyzer/profile/profile_values.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/stats/order_stats.h"
#include "common/base/xalloc.h"
#include "common/stats/stats.h"

#define FIRST_ROOM 256

void values_add(struct values *v, double value, int64_t count)
{
    while (count-- > 0) {
        if (v->len == v->cap) {
            v->cap = v->cap ? 2 * v->cap : FIRST_ROOM;
            v->items = xrealloc(v->items, v->cap, sizeof(*v->items));
        }
        v->items[v->len++] = value;
    }
}

void values_add_zeros(struct values *v, int64_t count)
{
    v->zeros += count;
}

size_t values_count(const struct values *v)
{
    return v->len + (size_t)v->zeros;
}

void values_sort(struct values *v)
{
    if (v->len > 0)
        order_sort(v->items, v->len);
}

void values_fini(struct values *v)
{
    free(v->items);
    *v = (struct values){0};
}

/* In ascending order, zeros included. */
static double value_at(const struct values *v, size_t i)
{
    return i < (size_t)v->zeros ? 0 : v->items[i - (size_t)v->zeros];
}

static double linear(const struct values *v, double q)
{
    size_t n = values_count(v);
    double place = q * (double)(n - 1);
    size_t below = (size_t)place;
    size_t above = below + 1 < n ? below + 1 : below;
    double low = value_at(v, below);

    return low + (place - (double)below) * (value_at(v, above) - low);
}

double values_percentile(const struct values *v, enum percentile_rule rule,
                         double q)
{
    size_t n = values_count(v);
    size_t index;

    if (n == 0)
        return NAN;
    if (rule == PERCENTILE_LINEAR)
        return linear(v, q);
    index = rule == PERCENTILE_NEAREST ? (size_t)stats_rank(q, (int64_t)n) - 1
                                       : (size_t)(q * (double)n);
    return value_at(v, index < n ? index : n - 1);
}

double values_mean(const struct values *v)
{
    size_t n = values_count(v);
    double sum = 0;

    for (size_t i = 0; i < v->len; i++)
        sum += v->items[i];
    return n > 0 ? sum / (double)n : NAN;
}

double values_deviation(const struct values *v)
{
    size_t n = values_count(v);
    double mean = values_mean(v);
    double sum = v->zeros > 0 ? (double)v->zeros * mean * mean : 0;

    for (size_t i = 0; i < v->len; i++)
        sum += (v->items[i] - mean) * (v->items[i] - mean);
    return n > 0 ? sqrt(sum / (double)n) : NAN;
}
