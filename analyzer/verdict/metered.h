/* metered.h - what was measured of the server's host beside a run: memory and
 * energy, and what that comes to.  What was not measured is not there. */
#ifndef ANALYZER_VERDICT_METERED_H
#define ANALYZER_VERDICT_METERED_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/tally/window.h"
#include "common/recording/schema.h"

struct err;

#define METERED_NOTE 96

struct metered {
    bool is_asked; /* something was to be measured */
    bool has_memory;
    int64_t peak_bytes; /* the most that was seen, of the whole run */

    bool has_energy;
    double joules;           /* in the window */
    double watts;            /* on average */
    char note[METERED_NOTE]; /* why there is no energy; "": nobody asked */

    /* Below 0: there is nothing to divide by. */
    double joules_per_good;
    double joules_per_token; /* of the output that arrived */
    double co2_g; /* of the window; below 0: the factor is not known */
};

/* What the energy is shared by. */
struct metered_share {
    int64_t good;
    double tokens; /* below 0: nobody counts them */
    double co2_g_per_kwh;
};

/* A counter of energy, or power over time, seen now and then. */
struct metered_energy {
    bool has_start; /* it is known what it was at the window's start, ... */
    double start_uj;
    bool has_end; /* ... and at its end */
    double end_uj;
    bool has_last;
    int64_t last_ns;
    double last_uj;
    bool has_moved;
};

/* The next look, in the order of time. */
void metered_add(struct metered_energy *e, const struct window *w,
                 int64_t at_ns, double uj);

/* Pure: into `m`, with the reason where it is none. */
void metered_take(struct metered *m, const struct metered_energy *e,
                  const struct window *w, const struct metered_share *share);

/* DIR/meter.tgr, if it is there. */
void metered_read(struct metered *m, const char *dir, const struct window *w,
                  const struct metered_share *share);

/* Instead of that, from a text that it cuts up: lines of "seconds since 1970,
 * watts", perhaps below a heading; the window is since 1970 too.  ERR_CONFIG
 * with the line. */
int metered_parse_watts(struct metered *m, const char *name, char *text,
                        const struct window *w,
                        const struct metered_share *share, struct err *err);

/* The same of a file, whose run began at start_ns since 1970.  ERR_IO too. */
int metered_read_file(struct metered *m, const char *path, int64_t start_ns,
                      const struct window *w, const struct metered_share *share,
                      struct err *err);

#endif
