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
    QUANTITY_COMPLETED,  /* due in the window, and answered */
    QUANTITY_THROUGHPUT, /* answered in the window, whenever due; shown only if
                            requested */
    QUANTITY_GOODPUT,
    QUANTITY_TOKENS, /* output tokens received per second */
    QUANTITY_ATTAINMENT,
    QUANTITY_QUALITY,
    QUANTITY_ERRORS,
    QUANTITY_COST, /* dollars per thousand good requests */
    QUANTITY_QUANTILE,
};

struct quantity {
    enum quantity_kind kind;
    enum measure measure; /* for QUANTITY_QUANTILE */
    double q;             /* for QUANTITY_QUANTILE: 0.99 */
    char name[40];        /* "ttft p99" */
};

#define QUANTITIES_MAX 72

/* Requested quantities come first. */
struct quantities {
    struct quantity list[QUANTITIES_MAX];
    size_t len;
    size_t asked; /* number of requested ones */
    size_t shown; /* the rest of the list is only drawn, as a curve of
                     percentiles */
};

/* "ttft p99", "throughput", "errors"; ERR_USAGE. */
int quantity_parse(const char *text, struct quantity *out, struct err *err);

/* Check function for an option table. */
int quantity_check(const char *text, struct err *err);

bool quantity_more_is_better(const struct quantity *q);

/* Is it a share of requests, from 0 to 1? */
bool quantity_is_share(const struct quantity *q);

/* Unit of its values; quantiles are in ns. */
const char *quantity_unit(const struct quantity *q);

/* What people read: the name, but throughput is "finished in the window", since
 * it is not of the requests that were due in it. */
const char *quantity_label(const struct quantity *q);

/* The requested quantities are `on`; if that is empty, those the SLO is about;
 * without an SLO e2e p99, and throughput unless the load is an open loop: its
 * throughput is what was offered, and to ask for it costs power.  The rest are
 * shown in every comparison.  ERR_USAGE. */
int quantities_make(struct quantities *qs, const struct strlist *on,
                    const struct slo *slo, bool is_open_loop, struct err *err);

#define SHOW_TEXT 64

/* A value for people: 12.3ms, 50.1/s, 99.5%; "failed" for INFINITY. */
const char *show_value(const struct quantity *q, double value,
                       char out[static SHOW_TEXT]);

/* The same with a sign. */
const char *show_difference(const struct quantity *q, double value,
                            char out[static SHOW_TEXT]);

/* Name of a side: "A", "B", ..., "Z", "A1", ... */
const char *show_side(size_t side, char out[static SHOW_TEXT]);

/* What a side is called: the last parts of its directory, as many as tell it
 * from the other n - 1.  Its letter if they are the same. */
const char *show_side_name(const char *const *dirs, size_t n, size_t side,
                           char out[static SHOW_TEXT]);

#endif
