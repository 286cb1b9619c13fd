/* rate_shape.h - the rate as a function of time, and its inverse.
 *
 * A process with a mean of one arrival a unit becomes one with any rate r(t)
 * by a change of clock: the arrival at s units is due when the integral of r
 * has come to s.  Rates are straight lines, one after the other. */
#ifndef LOADGEN_SCHEDULE_RATE_SHAPE_H
#define LOADGEN_SCHEDULE_RATE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct load_settings;

/* A straight line of the rate. */
struct piece {
    double length_ns; /* INFINITY: for ever */
    double from;      /* arrivals a nanosecond */
    double to;
};

struct shape {
    struct piece *pieces; /* owned */
    size_t len;
    bool repeats;    /* from the first again, for ever */
    bool has_warmup; /* the first is one of so many requests */

    /* Where the last answer was found: the next is seldom far. */
    size_t at;
    double start_ns;
    double before; /* arrivals before this piece */
};

/* The shape that the settings ask for.  ERR_CONFIG. */
int shape_init(struct shape *s, const struct load_settings *load,
               struct err *err);
void shape_fini(struct shape *s);

/* A warm-up of so many requests took so long.  Until this is said it does not
 * end; where the rate does not change it makes no difference. */
void shape_end_warmup(struct shape *s, double length_ns);

/* When the integral of the rate comes to `arrivals`; INFINITY if it never does.
 * Quick if calls go forward. */
double shape_when_ns(struct shape *s, double arrivals);

/* The integral up to a time. */
double shape_arrivals(const struct shape *s, double until_ns);

#endif
