/* metered.h - memory and energy of the server's host, if they were measured
 * during a run, and energy per request and token. */
#ifndef ANALYZER_VERDICT_METERED_H
#define ANALYZER_VERDICT_METERED_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/tally/window.h"
#include "common/recording/schema.h"

struct err;

#define METERED_NOTE 96

struct metered {
    bool is_asked; /* a measurement was requested */
    bool has_memory;
    int64_t peak_bytes; /* maximum in the whole run */

    bool has_energy;
    double joules;           /* in the window */
    double watts;            /* mean */
    char note[METERED_NOTE]; /* why there is no energy; "": not requested */

    /* Below 0: there is nothing to divide by. */
    double joules_per_good;
    double joules_per_token; /* of output that arrived in the window */
    double co2_g;            /* in the window; below 0: the factor is unknown */
};

/* What energy is divided by. */
struct metered_share {
    int64_t good;
    double tokens; /* below 0: unknown */
    double co2_g_per_kwh;
};

/* Samples of an energy counter. */
struct metered_energy {
    bool has_start; /* its value at the start of the window is known */
    double start_uj;
    bool has_end; /* its value at the end of the window is known */
    double end_uj;
    bool has_last;
    int64_t last_ns;
    double last_uj;
    bool has_moved;
};

/* Add the next sample in order of time. */
void metered_add(struct metered_energy *e, const struct window *w,
                 int64_t at_ns, double uj);

/* Pure: set the energy in *m, or the note why there is none. */
void metered_take(struct metered *m, const struct metered_energy *e,
                  const struct window *w, const struct metered_share *share);

/* Read DIR/meter.tgr; all zero if there is none. */
void metered_read(struct metered *m, const char *dir, const struct window *w,
                  const struct metered_share *share);

/* Use a text instead, which is modified: lines of "seconds since 1970, watts",
 * with an optional heading.  The window is in ns since 1970 too.  ERR_CONFIG
 * with the line. */
int metered_parse_watts(struct metered *m, const char *name, char *text,
                        const struct window *w,
                        const struct metered_share *share, struct err *err);

/* The same for a file and a run that started at start_ns since 1970.  ERR_IO
 * too. */
int metered_read_file(struct metered *m, const char *path, int64_t start_ns,
                      const struct window *w, const struct metered_share *share,
                      struct err *err);

#endif
