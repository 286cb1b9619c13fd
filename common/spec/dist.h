/* dist.h - a distribution, as people write it: "exponential 2ms", "lognormal
 * 512 256".
 */
#ifndef COMMON_SPEC_DIST_H
#define COMMON_SPEC_DIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct rng;
struct dist_ops;

#define DIST_MAX_POINTS 16

/* Tokens of a prompt or an answer, wherever they are said: more than any model
 * takes, and few enough for a body to hold them. */
#define DIST_MAX_TOKENS INT64_C(3000000)

struct dist {
    const struct dist_ops *ops;
    double mean;
    double sd;
    double low; /* of a uniform one */
    double high;
    bool is_whole;   /* its values are whole numbers, ... */
    bool is_tokens;  /* ... and none is above DIST_MAX_TOKENS */
    size_t n_points; /* of a quantile table, in rising order */
    double share[DIST_MAX_POINTS];
    double value[DIST_MAX_POINTS];
    double *values; /* of a file of them; owned */
    size_t n_values;
};

/* Of durations, in nanoseconds; "none" is always 0. */
int dist_parse(const char *text, struct dist *dist, struct err *err);

/* Of whole numbers, such as tokens. */
int dist_parse_counts(const char *text, struct dist *dist, struct err *err);

/* Of tokens: the same, or "empirical @FILE": a number a line.  A bound or a
 * mean above DIST_MAX_TOKENS is refused, and a tail ends there.  dist_fini()
 * may follow either way. */
int dist_parse_lengths(const char *text, struct dist *dist, struct err *err);
void dist_fini(struct dist *dist);

/* For an option table. */
int dist_check(const char *text, struct err *err);
int dist_check_counts(const char *text, struct err *err);
int dist_check_lengths(const char *text, struct err *err);

/* Never negative. */
int64_t dist_draw_ns(const struct dist *dist, struct rng *rng);

/* At least 1, at most 2^40, of tokens at most DIST_MAX_TOKENS. */
int64_t dist_draw_count(const struct dist *dist, struct rng *rng);

/* What many draws come to on average. */
double dist_mean(const struct dist *dist);

#endif
