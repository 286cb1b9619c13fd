/* cost.h - what good requests and tokens cost in money and energy, and the
 * memory of the server's host if it was measured. */
#ifndef ANALYZER_VERDICT_COST_H
#define ANALYZER_VERDICT_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/tally/window.h"
#include "common/recording/schema.h"

struct cost_settings;
struct err;
struct prices;
struct settings;

/* ---- money ---- */

/* Prices that replace those of the recording; 0 and NULL keep them. */
struct cost_ask {
    double usd_per_hour; /* of one replica */
    int64_t replicas;    /* of the recording */
    double usd_per_gb_egress;
    double usd_per_gb_month;
    double storage_gb;           /* of all replicas */
    const struct prices *prices; /* instead of usd_per_hour */
    const char *machine;         /* of one replica, a name in `prices` */
};

/* What was delivered in the window. */
struct delivered {
    double window_s;
    int64_t good;
    double good_tokens; /* output of good requests; below 0: unknown */
    double tokens; /* output that arrived in the window; below 0: unknown */
    double egress_bytes; /* sent by the server, of requests that ended in the
                            window */
};

struct cost {
    bool is_there; /* a price was given */

    /* For the window, all replicas: usd = machines + storage + egress. */
    double usd;
    double usd_machines;
    double usd_storage;
    double usd_egress;
    double usd_per_hour; /* of all replicas, with storage, without egress */

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

#define COST_GB          1e9 /* bytes */
#define COST_MONTH_HOURS 730

/* What it costs to store `gb` for some time. */
double cost_of_storage(double usd_per_gb_month, double gb, double seconds);

/* ---- energy and memory ---- */

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
