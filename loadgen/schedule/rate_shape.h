/* rate_shape.h - the rate as a function of time, and its inverse.
 *
 * A process with a mean of one arrival per unit becomes one with any rate r(t)
 * by a change of clock: the arrival at s units is due when the integral of r
 * reaches s.  The rate is piecewise linear. */
#ifndef LOADGEN_SCHEDULE_RATE_SHAPE_H
#define LOADGEN_SCHEDULE_RATE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct load_settings;

/* One linear piece of the rate. */
struct piece {
    double length_ns; /* INFINITY: forever */
    double from;      /* arrivals per nanosecond */
    double to;
};

struct shape {
    struct piece *pieces; /* owned */
    size_t len;
    bool repeats;    /* starts again after the last piece, forever */
    bool has_warmup; /* the first piece is a warm-up counted in requests */

    /* Where the last answer was found: the next one is usually close. */
    size_t at;
    double start_ns;
    double before; /* arrivals before this piece */
};

/* The shape for these settings.  ERR_CONFIG. */
int shape_init(struct shape *s, const struct load_settings *load,
               struct err *err);
void shape_fini(struct shape *s);

/* Set the length of a warm-up that is counted in requests.  Until then it does
 * not end.  No effect if the rate is constant. */
void shape_end_warmup(struct shape *s, double length_ns);

/* The time at which the integral of the rate reaches `arrivals`; INFINITY if it
 * never does.  Fast if calls go forward. */
double shape_when_ns(struct shape *s, double arrivals);

/* The integral of the rate from 0 to until_ns. */
double shape_arrivals(const struct shape *s, double until_ns);

#endif
