/* dist.h - a distribution, such as "exponential 2ms" or "lognormal 512 256";
 * and the service time of a simulated server, which is a distribution, "batch
 * 5ms 1ms" (base, per item) or "llm".
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

/* The largest number of tokens of a prompt or an answer: more than any model
 * accepts, and few enough to fit into a body. */
#define DIST_MAX_TOKENS INT64_C(3000000)

struct dist {
    const struct dist_ops *ops;
    double mean;
    double sd;
    double low; /* of a uniform distribution */
    double high;
    bool is_whole;   /* its values are whole numbers ... */
    bool is_tokens;  /* ... of at most DIST_MAX_TOKENS */
    size_t n_points; /* of a quantile table, in ascending order */
    double share[DIST_MAX_POINTS];
    double value[DIST_MAX_POINTS];
    double *values; /* of a file; owned */
    size_t n_values;
};

/* Durations, in nanoseconds; "none" is always 0.  ERR_CONFIG. */
int dist_parse(const char *text, struct dist *dist, struct err *err);

/* Whole numbers, such as tokens.  ERR_CONFIG. */
int dist_parse_counts(const char *text, struct dist *dist, struct err *err);

/* Tokens: the same, or "empirical @FILE" with one number per line.  A bound or
 * a mean above DIST_MAX_TOKENS is ERR_CONFIG, and tails are cut there.
 * dist_fini() may be called in both cases. */
int dist_parse_lengths(const char *text, struct dist *dist, struct err *err);
void dist_fini(struct dist *dist);

/* For an option table. */
int dist_check(const char *text, struct err *err);
int dist_check_counts(const char *text, struct err *err);
int dist_check_lengths(const char *text, struct err *err);

/* Never negative. */
int64_t dist_draw_ns(const struct dist *dist, struct rng *rng);

/* 1 to 2^40; tokens: 1 to DIST_MAX_TOKENS. */
int64_t dist_draw_count(const struct dist *dist, struct rng *rng);

/* The expected value. */
double dist_mean(const struct dist *dist);

enum service_kind { SERVICE_PLAIN, SERVICE_BATCH, SERVICE_LLM };

struct service {
    enum service_kind kind;
    struct dist dist;    /* plain */
    int64_t base_ns;     /* batch */
    int64_t per_item_ns; /* batch */
};

/* ERR_CONFIG. */
int service_parse(const char *text, struct service *service, struct err *err);

/* For an option table. */
int service_check(const char *text, struct err *err);

#endif
