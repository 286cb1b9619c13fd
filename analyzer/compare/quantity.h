/* quantity.h - what is compared: rates, shares, and percentiles of measures.
 * Pure. */
#ifndef ANALYZER_COMPARE_QUANTITY_H
#define ANALYZER_COMPARE_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/measure/measure.h"

struct err;
struct slo;
struct strlist;

enum quantity_kind {
    QUANTITY_THROUGHPUT,
    QUANTITY_GOODPUT,
    QUANTITY_TOKENS, /* of the output, that arrived */
    QUANTITY_ATTAINMENT,
    QUANTITY_QUALITY,
    QUANTITY_ERRORS,
    QUANTITY_COST, /* dollars of a thousand good requests */
    QUANTITY_QUANTILE,
};

struct quantity {
    enum quantity_kind kind;
    enum measure measure; /* of a quantile */
    double q;             /* likewise: 0.99 */
    char name[40];        /* "ttft p99" */
};

#define QUANTITIES_MAX 32

/* Those that were asked for stand first. */
struct quantities {
    struct quantity list[QUANTITIES_MAX];
    size_t len;
    size_t asked;
};

/* "ttft p99", "throughput", "errors"; ERR_USAGE. */
int quantity_parse(const char *text, struct quantity *out, struct err *err);

/* For an option table. */
int quantity_check(const char *text, struct err *err);

bool quantity_more_is_better(const struct quantity *q);

/* Of requests, from 0 to 1. */
bool quantity_is_share(const struct quantity *q);

/* Of a difference; a quantile is in ns. */
const char *quantity_unit(const struct quantity *q);

/* Asked for are `on`, or where it is empty what the objective speaks of, or e2e
 * p99 and throughput; the rest is what every comparison shows.  ERR_USAGE. */
int quantities_make(struct quantities *qs, const struct strlist *on,
                    const struct slo *slo, struct err *err);

#endif
