#include "analyzer/profile/values.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/stats/order.h"
#include "common/stats.h"
#include "common/xalloc.h"

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

static double linear(const struct values *v, double q)
{
    double place = q * (double)(v->len - 1);
    size_t below = (size_t)place;
    size_t above = below + 1 < v->len ? below + 1 : below;

    return v->items[below] +
           (place - (double)below) * (v->items[above] - v->items[below]);
}

double values_percentile(const struct values *v, enum percentile_rule rule,
                         double q)
{
    size_t index;

    if (v->len == 0)
        return NAN;
    if (rule == PERCENTILE_LINEAR)
        return linear(v, q);
    index = rule == PERCENTILE_NEAREST
                ? (size_t)stats_rank(q, (int64_t)v->len) - 1
                : (size_t)(q * (double)v->len);
    return v->items[index < v->len ? index : v->len - 1];
}

double values_mean(const struct values *v)
{
    double sum = 0;

    for (size_t i = 0; i < v->len; i++)
        sum += v->items[i];
    return v->len > 0 ? sum / (double)v->len : NAN;
}

double values_deviation(const struct values *v)
{
    double mean = values_mean(v);
    double sum = 0;

    for (size_t i = 0; i < v->len; i++)
        sum += (v->items[i] - mean) * (v->items[i] - mean);
    return v->len > 0 ? sqrt(sum / (double)v->len) : NAN;
}
