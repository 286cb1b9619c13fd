/* cost.h - what good requests and tokens cost.  Pure. */
#ifndef ANALYZER_VERDICT_COST_H
#define ANALYZER_VERDICT_COST_H

#include <stdbool.h>
#include <stdint.h>

struct cost_settings;
struct err;
struct prices;
struct settings;

/* Prices that replace those of the recording; 0 and NULL keep them. */
struct cost_ask {
    double usd_per_hour;         /* of one replica */
    int64_t replicas;            /* of the recording */
    const struct prices *prices; /* instead of usd_per_hour */
    const char *machine;         /* of one replica, a name in `prices` */
};

/* What was delivered in the window. */
struct delivered {
    double window_s;
    int64_t good;
    double good_tokens; /* output of good requests; below 0: unknown */
    double tokens; /* output that arrived in the window; below 0: unknown */
};

struct cost {
    bool is_there;       /* a price was given */
    double usd;          /* for the window, all replicas */
    double usd_per_hour; /* of all replicas */

    /* Below 0: there is nothing to divide by. */
    double usd_per_1000_good;
    double usd_per_million_good_tokens;
    double usd_per_million_tokens;
};

/* Store the prices in the settings of a recording; `ask` may be NULL.
 * ERR_CONFIG if `prices` does not have the machine. */
int cost_ask_apply(const struct cost_ask *ask, struct settings *s,
                   struct err *err);

struct cost cost_of(const struct cost_settings *price,
                    const struct delivered *d);

#endif
