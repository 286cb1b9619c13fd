/* dist.h - a distribution of durations, as people write it: "exponential 2ms".
 */
#ifndef COMMON_DIST_H
#define COMMON_DIST_H

#include <stdint.h>

struct err;
struct rng;
struct dist_ops;

struct dist {
    const struct dist_ops *ops;
    int64_t mean_ns;
};

/* "none" is always 0. */
int dist_parse(const char *text, struct dist *dist, struct err *err);

/* For an option table. */
int dist_check(const char *text, struct err *err);

int64_t dist_draw_ns(const struct dist *dist, struct rng *rng);

#endif
