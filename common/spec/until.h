/* until.h - how precise a result is to be: "e2e p99 +- 5%".  Pure. */
#ifndef COMMON_SPEC_UNTIL_H
#define COMMON_SPEC_UNTIL_H

#include "common/measure/measure.h"

struct err;

/* The interval of a quantile, as a share of it to either side. */
struct until {
    enum measure measure;
    double quantile;
    double share; /* 0.05 */
};

/* A measure of requests, its quantile (p50, p90, p95, p99 or p99.9), one of
 * "±", "+-" and "+/-", and a share above 0 and below 100 %.  ERR_CONFIG. */
int until_parse(const char *text, struct until *out, struct err *err);

/* For an option table. */
int until_check(const char *text, struct err *err);

#endif
